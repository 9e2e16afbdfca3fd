//! Heaps as heap snapshots of V8, tables, drawings and stacks: valid whatever is in them, and with
//! sums that are those of the heap.

use crate::support::{files, fixture, read};
use dumptool::Analyses;
use dumptool::analysis::dominator_stacks::{self, Counted};
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::histogram::Histogram;
use dumptool::analysis::live::live;
use dumptool::analysis::paths::shortest::Shortest;
use dumptool::detect::detect;
use dumptool::input::{
    self, Format,
    load::{LoadOptions, Loaded},
};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Ephemeron, Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};
use dumptool::output::Syntax;
use dumptool::output::dot::{self, Arrow, Drawing};
use dumptool::output::heapsnapshot::{
    self, HeapSnapshotObjects, HeapSnapshotOptions, HeapSnapshotReport,
};
use dumptool::output::loss::LossKind;
use dumptool::tables::{self, Table, TextLimit};
use serde_json::Value;
use std::collections::BTreeMap;

const NODE: usize = 7;
const EDGE: usize = 3;

fn snapshot(heap: &Heap<'_>, objects: HeapSnapshotObjects) -> (Value, HeapSnapshotReport) {
    let graph = Graph::of(heap);
    let mut out = Vec::new();
    let report = heapsnapshot::write(
        heap,
        &graph,
        &live(&graph),
        &HeapSnapshotOptions::default().objects(objects),
        &mut out,
    )
    .unwrap();
    let text = String::from_utf8(out).unwrap();
    let keys = [
        "snapshot",
        "nodes",
        "edges",
        "trace_function_infos",
        "trace_tree",
        "samples",
        "locations",
        "strings",
    ];
    let places: Vec<_> =
        keys.iter().map(|key| text.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "readers rely on the order of keys");
    (serde_json::from_str(&text).unwrap(), report)
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// Checks what every reader relies on, and returns nodes, edges and strings.
fn valid(
    snapshot: &Value,
    report: &HeapSnapshotReport,
) -> (Vec<Vec<u64>>, Vec<Vec<u64>>, Vec<String>) {
    let nodes: Vec<_> = numbers(&snapshot["nodes"]).chunks(NODE).map(<[u64]>::to_vec).collect();
    let edges: Vec<_> = numbers(&snapshot["edges"]).chunks(EDGE).map(<[u64]>::to_vec).collect();
    let strings: Vec<_> = snapshot["strings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    assert_eq!((nodes.len() as u64, edges.len() as u64), (report.nodes, report.edges));
    assert_eq!(snapshot["snapshot"]["node_count"], report.nodes);
    assert_eq!(snapshot["snapshot"]["edge_count"], report.edges);
    assert_eq!(nodes.iter().map(|node| node[4]).sum::<u64>(), report.edges, "edges of nodes");
    assert_eq!(nodes.iter().map(|node| node[3]).sum::<u64>(), report.bytes, "own sizes");
    assert!(
        nodes
            .iter()
            .all(|node| node.len() == NODE && node[0] < 16 && (node[1] as usize) < strings.len())
    );
    assert!(
        nodes
            .iter()
            .flatten()
            .chain(edges.iter().flatten())
            .all(|number| u32::try_from(*number).is_ok()),
        "32 bits"
    );
    let mut ids: Vec<_> = nodes.iter().map(|node| node[2]).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), nodes.len(), "ids are unique");
    for edge in &edges {
        assert!(
            edge[2] % NODE as u64 == 0 && edge[2] / (NODE as u64) < report.nodes,
            "edges lead to nodes"
        );
        assert!(
            [1, 4].contains(&edge[0]) || (edge[1] as usize) < strings.len(),
            "edges have names"
        );
    }
    (nodes, edges, strings)
}

/// The edges of a node as `type name -> id`.
fn edges_of(
    id: u64,
    (nodes, edges, strings): &(Vec<Vec<u64>>, Vec<Vec<u64>>, Vec<String>),
) -> Vec<String> {
    const TYPES: [&str; 7] =
        ["context", "element", "property", "internal", "hidden", "shortcut", "weak"];
    let row = nodes.iter().position(|node| node[2] == id).unwrap();
    let first: u64 = nodes[..row].iter().map(|node| node[4]).sum();
    let edge = |edge: &Vec<u64>| {
        let name = if [1, 4].contains(&edge[0]) {
            edge[1].to_string()
        } else {
            strings[edge[1] as usize].clone()
        };
        format!("{} {name} -> {}", TYPES[edge[0] as usize], nodes[edge[2] as usize / NODE][2])
    };
    edges[first as usize..(first + nodes[row][4]) as usize].iter().map(edge).collect()
}

/// The heap of `Main.cache → A; A.x → B; A.y → C; C.z → B`, with garbage, an ephemeron, weak
/// references and odd names.
fn odd() -> Heap<'static> {
    let mut builder = HeapBuilder::with_capacity(8, 8);
    let a = builder.add_type("A\"\n\u{1}\\;é", "one", TypeKind::Instance);
    let other = builder.add_type("A\"\n\u{1}\\;é", "two", TypeKind::Instance);
    let list = builder.add_type("List", "", TypeKind::Array);
    let group = builder.names().intern("main \"data\"\n");
    let (x, y) = (builder.names().intern("x"), builder.names().intern("y"));
    builder.add_object(a, 16);
    builder.add_reference(ObjectId(1), Label::field(x), false);
    builder.add_reference(ObjectId(2), Label::offset(24), false);
    builder.add_reference(ObjectId(5), Label::field(y), true);
    builder.add_object(other, 1000);
    builder.add_object(list, 24);
    builder.add_reference(ObjectId(1), Label::NONE, false);
    builder.add_reference(ObjectId(3), Label::index(7), true);
    builder.add_reference(ObjectId(4), Label::index(8), true);
    // The value of an ephemeron that is held by no other reference, and garbage that holds a live
    // object.
    builder.add_object(a, 5_000_000_000);
    builder.add_object(a, 8);
    builder.add_reference(ObjectId(5), Label::NONE, false);
    builder.add_reference(ObjectId(1), Label::field(x), false);
    builder.add_object(a, 8);
    builder.add_external(ObjectId(1), 5);
    builder.add_ephemeron(Ephemeron { holder: ObjectId(2), key: ObjectId(1), value: ObjectId(3) });
    builder.add_root(Root {
        label: Label::field(y),
        ..Root::new(ObjectId(0), RootKind::Global, group)
    });
    let heap = builder.finish(Ids::Rows(1), None);
    assert_eq!(heap.check(), Ok(()));
    heap
}

#[test]
fn a_heap_snapshot_says_what_the_heap_does() {
    let heap = odd();
    let (json, report) = snapshot(&heap, HeapSnapshotObjects::Live);
    let parts = valid(&json, &report);
    assert_eq!((report.nodes, report.bytes), (3 + 4, 16 + 1005 + 24 + u64::from(u32::MAX)));
    assert_eq!(edges_of(2, &parts), ["element 1 -> 4"]);
    assert_eq!(edges_of(4, &parts), ["element 1 -> 6"]);
    assert_eq!(edges_of(6, &parts), ["property y -> 1"]);
    // Weak references to garbage are left out; the place has a name.
    assert_eq!(edges_of(1, &parts), ["property x -> 3", "property +0x18 -> 5"]);
    // The holder holds the value of the ephemeron as well as it refers to it.
    assert!(edges_of(3, &parts).is_empty());
    assert_eq!(
        edges_of(5, &parts),
        ["element 0 -> 3", "weak [7] -> 7", "internal ephemeron value -> 7"]
    );
    let names: Vec<_> = parts.0.iter().map(|node| parts.2[node[1] as usize].as_str()).collect();
    let same = "A\"\n\u{1}\\;é";
    assert_eq!(
        names[1..],
        [
            "(GC roots)",
            "(main \"data\"\n)",
            &format!("{same} (one)"),
            &format!("{same} (two)"),
            "List",
            names[3]
        ]
    );
    let lost: Vec<_> = report.lost.iter().map(|loss| (loss.count, loss.bytes)).collect();
    assert_eq!(
        lost,
        [(2, Some(16)), (2, None), (1, Some(5_000_000_000 - u64::from(u32::MAX))), (1, Some(5))]
    );
}

#[test]
fn garbage_does_not_hold_live_objects() {
    let heap = odd();
    let (json, report) = snapshot(&heap, HeapSnapshotObjects::All);
    let parts = valid(&json, &report);
    assert_eq!(edges_of(2, &parts), ["element 1 -> 4", "element 2 -> 8"]);
    assert_eq!(edges_of(8, &parts), ["element 1 -> 9"], "one object of the garbage is enough");
    assert_eq!(edges_of(9, &parts), ["hidden 0 -> 11", "weak x -> 3"]);
    assert_eq!(edges_of(1, &parts), ["property x -> 3", "property +0x18 -> 5", "weak y -> 11"]);
    assert!(
        report.lost.iter().any(|loss| loss.what == LossKind::WeakenedReferences && loss.count == 1)
    );
}

#[test]
fn heaps_without_objects_or_roots_are_valid() {
    let empty = HeapBuilder::with_capacity(0, 0).finish(Ids::Rows(0), None);
    let mut builder = HeapBuilder::with_capacity(1, 0);
    let of = builder.add_type("", "", TypeKind::Text);
    builder.add_object(of, 3);
    for heap in [empty, builder.finish(Ids::Rows(0), None)] {
        for which in [HeapSnapshotObjects::Live, HeapSnapshotObjects::All] {
            let (json, report) = snapshot(&heap, which);
            valid(&json, &report);
        }
        let dominators = Dominators::of(&Graph::of(&heap));
        assert_eq!(
            dominator_stacks::of(&heap, &dominators, "", 0.0, Counted::Bytes).stacks.totals(),
            [0]
        );
        let loaded = Loaded::of(heap);
        for table in [Table::Objects, Table::References, Table::Roots, Table::Types, Table::Strings]
        {
            rows(&loaded, table);
        }
    }
}

/// A table as JSON, which is the same in CSV.
fn rows(loaded: &Loaded<'_>, table: Table) -> Vec<Value> {
    let analyses = Analyses::of(loaded);
    let relation = tables::of_heap(&analyses, table, TextLimit::default()).unwrap();
    let write = |syntax| {
        let mut out = Vec::new();
        let count = tables::write(&*relation, syntax, &mut out).unwrap();
        (out, count)
    };
    let ((json, count), (csv, csv_count)) = (write(Syntax::Jsonl), write(Syntax::Csv));
    let rows: Vec<Value> = String::from_utf8(json)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((rows.len() as u64, csv_count), (count, count));
    let mut reader = csv::Reader::from_reader(csv.as_slice());
    let columns = table.columns();
    assert!(reader.headers().unwrap().iter().eq(columns.iter().map(|column| &*column.name)));
    for (row, record) in rows.iter().zip(reader.records()) {
        let cells = columns.iter().map(|column| match &row[&*column.name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        assert!(record.unwrap().iter().eq(cells), "{row}");
        assert_eq!(row.as_object().unwrap().len(), columns.len());
    }
    rows
}

#[test]
fn tables_are_the_heap() {
    let heap = Loaded::of(odd());
    let objects = rows(&heap, Table::Objects);
    let column = |name: &str| objects.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(
        column("retained_bytes"),
        [5_000_001_045u64, 1005, 5_000_000_024, 5_000_000_000, 0, 0].map(Value::from)
    );
    assert_eq!(
        column("dominator"),
        [Value::Null, 0.into(), 0.into(), 2.into(), Value::Null, Value::Null]
    );
    assert_eq!(column("reachable"), [true, true, true, true, false, false].map(Value::from));
    assert_eq!(column("id")[5], "#6");
    assert_eq!(rows(&heap, Table::References).len(), 8);
    assert_eq!(rows(&heap, Table::Roots)[0]["name"], "main \"data\"\n: y");
    assert_eq!(rows(&heap, Table::Types)[0]["live_count"], 2);
}

#[test]
fn sums_of_fixtures_are_those_of_the_heap() {
    let mut count = 0;
    for path in ["go", "dart", "mvmheap", "hprof"].iter().flat_map(|folder| files(&fixture(folder)))
    {
        let bytes = read(&path);
        let Ok(format) = detect(&bytes) else { continue };
        assert_ne!(format, Format::Mojo);
        let loaded = input::load(format, &bytes, LoadOptions::default()).unwrap();
        let heap = &loaded.heap;
        let dominators = Dominators::of(&Graph::of(heap));
        let tree = DominatorTree::new(heap);
        let total = tree.live_bytes();
        tables_agree(&loaded, &tree);
        let (json, report) = snapshot(heap, HeapSnapshotObjects::Live);
        valid(&json, &report);
        assert_eq!(report.bytes, total, "{}", path.display());
        for share in [0.0, 0.01, 1.0] {
            let stacks =
                dominator_stacks::of(heap, &dominators, "", share, Counted::ObjectsAndBytes).stacks;
            let live = heap.objects().filter(|object| tree.counts(heap, *object)).count();
            assert_eq!(stacks.totals(), [live as i64, total as i64], "{}", path.display());
        }
        count += 1;
    }
    assert!(count > 20);
}

/// Nodes of V8 that represent roots have sizes, which some commands added to those of objects.
#[test]
fn the_live_heap_is_the_same_without_what_represents_roots() {
    let bytes = read(&fixture("heapsnapshot/sessions-node20-small.heapsnapshot.zst"));
    let loaded = input::load(Format::Heapsnapshot, &bytes, LoadOptions::default()).unwrap();
    let heap = &loaded.heap;
    let tree = DominatorTree::new(heap);
    let counted = heap.objects().filter(|object| tree.counts(heap, *object));
    let counted: u64 = counted.map(|object| heap.shallow_bytes(object)).sum();
    let all: u64 = heap.objects().map(|object| heap.shallow_bytes(object)).sum();
    assert!(counted < all, "{counted} {all}");
    assert_eq!(tree.live_bytes(), counted);
    let dominators = Dominators::of(&Graph::of(heap));
    let stacks = dominator_stacks::of(heap, &dominators, "", 0.01, Counted::ObjectsAndBytes).stacks;
    assert_eq!(stacks.totals()[1], counted as i64);
}

/// Distances are the lengths of paths, and what types retain is what the histogram says.
fn tables_agree(loaded: &Loaded<'_>, tree: &DominatorTree) {
    let heap = &loaded.heap;
    let shortest = Shortest::of(heap, &Graph::of(heap));
    for (object, row) in heap.objects().zip(rows(loaded, Table::Objects)) {
        let distance = shortest.path(object).map(|path| path.steps.len() - 1);
        assert_eq!(row["root_distance"], Value::from(distance), "{row}");
    }
    let mut retained = BTreeMap::<_, u64>::new();
    for row in rows(loaded, Table::Types) {
        let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        *retained.entry((name("type"), name("namespace"))).or_default() +=
            row["retained_bytes"].as_u64().unwrap();
    }
    for row in Histogram::by_type(heap, tree).rows {
        let expected = row.retained_bytes.unwrap_or(0);
        assert_eq!(retained[&(row.name, row.namespace)], expected);
    }
}

/// A list of nodes; every second one of another type if they alternate.
fn list(length: u32, alternate: bool) -> Heap<'static> {
    let mut builder = HeapBuilder::with_capacity(length as usize, length as usize);
    let types = [
        builder.add_type("Node", "", TypeKind::Instance),
        builder.add_type("Edge", "", TypeKind::Instance),
    ];
    let (next, group) = (builder.names().intern("next"), builder.names().intern("main"));
    for row in 0..length {
        builder.add_object(types[(alternate && row % 2 == 1) as usize], 16);
        if row + 1 < length {
            builder.add_reference(ObjectId(row + 1), Label::field(next), false);
        }
    }
    builder.add_root(Root::new(ObjectId(0), RootKind::Global, group));
    builder.finish(Ids::Rows(0), None)
}

#[test]
fn a_long_list_is_one_frame() {
    let heap = list(1_000_000, false);
    let dominators = Dominators::of(&Graph::of(&heap));
    let stacks = dominator_stacks::of(&heap, &dominators, "", 0.0, Counted::ObjectsAndBytes).stacks;
    assert_eq!((stacks.len(), stacks.totals()), (1, vec![1_000_000, 16_000_000]));
    let names: Vec<_> = stacks
        .stacks
        .frames(stacks.entry(0).stack)
        .map(|frame| stacks.function_name(frame))
        .collect();
    assert_eq!(names, ["Node", "main"]);
    let (json, report) = snapshot(&list(100_000, false), HeapSnapshotObjects::Live);
    valid(&json, &report);
}

#[test]
fn deep_stacks_are_cut_and_totals_stay() {
    let heap = list(100_000, true);
    let dominators = Dominators::of(&Graph::of(&heap));
    let stacks = dominator_stacks::of(&heap, &dominators, "", 0.0, Counted::ObjectsAndBytes).stacks;
    assert_eq!(stacks.totals(), [100_000, 1_600_000]);
    assert!(
        stacks.cut_entries > 0
            && stacks.iter().all(|entry| stacks.stacks.frames(entry.stack).count() <= 500)
    );
}

#[test]
fn pruned_subtrees_are_one_frame() {
    let heap = odd();
    let dominators = Dominators::of(&Graph::of(&heap));
    let tree = dominator_stacks::of(&heap, &dominators, "", 0.5, Counted::ObjectsAndBytes);
    let stacks = tree.stacks;
    let names = |stack| {
        stacks.stacks.frames(stack).map(|frame| stacks.function_name(frame)).next().unwrap()
    };
    assert!(
        stacks
            .iter()
            .any(|entry| names(entry.stack) == "(… 1 object, pruned)" && entry.values == [1, 1005])
    );
    assert_eq!((tree.pruned_objects, tree.pruned_bytes, stacks.totals()[0]), (1, 1005, 4));
}

#[test]
fn a_drawing_has_its_objects_and_names_escaped() {
    let heap = odd();
    let arrow = Arrow { from: ObjectId(0), to: ObjectId(1), label: Label::offset(24), weak: true };
    let drawing = Drawing {
        marked: vec![ObjectId(1)],
        roots: vec![("main \"data\"\n".to_owned(), ObjectId(0)); 2],
        references: vec![arrow, arrow],
    };
    assert_eq!(drawing.fits(), Ok(()));
    let mut out = Vec::new();
    dot::write(&heap, &drawing, |object| format!("{} B", heap.shallow_bytes(object)), &mut out)
        .unwrap();
    let expected = r#"digraph heap {
  rankdir=LR;
  node [shape=box, fontname="sans-serif"];
  root0 [label="main \"data\" ", shape=ellipse];
  n0 [label="A\"  \\;é\n#1\n16 B"];
  n1 [label="A\"  \\;é\n#2\n1000 B", style=bold];
  root0 -> n0;
  n0 -> n1 [label="+0x18", style=dashed];
}
"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let large = Drawing { marked: (0..201).map(ObjectId).collect(), ..Drawing::default() };
    assert_eq!(large.fits().unwrap_err().objects, 201);
}
