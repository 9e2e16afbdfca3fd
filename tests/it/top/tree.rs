//! Trees: every byte is in one place, and lists of any length are one line.

use super::sketches::typed;
use crate::support::heap::Sketch;
use crate::support::{fixture, read};
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::histogram::{GroupBy, Histogram, Scope};
use dumptool::analysis::root_groups::RootGroups;
use dumptool::analysis::tree::{
    TreeItem, TreeLine, TreeOptions, lines, lines_below, lines_below_object,
};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Heap, Ids, Label, ObjectId, Root, RootKind, TypeKind};
use dumptool::model::names::Names;

const ALL: TreeOptions =
    TreeOptions { min_share: 0.0, depth: u32::MAX, lines: usize::MAX, merge_types: false };

fn tree(heap: &Heap<'_>, options: TreeOptions) -> Vec<TreeLine> {
    let graph = Graph::of(heap);
    let tree = DominatorTree::of_graph(heap, &graph);
    lines(heap, &tree, &RootGroups::of(heap, &graph), options)
}

/// The lines immediately below a line.
fn below(lines: &[TreeLine], row: usize) -> impl Iterator<Item = &TreeLine> {
    let depth = lines[row].depth;
    lines[row + 1..]
        .iter()
        .take_while(move |line| line.depth > depth)
        .filter(move |line| line.depth == depth + 1)
}

#[test]
fn what_a_line_retains_is_its_own_what_is_below_it_and_what_is_left_out() {
    for seed in 0..3000 {
        let heap = typed(seed).heap;
        for merge_types in [false, true] {
            for options in [
                TreeOptions { merge_types, ..ALL },
                TreeOptions { merge_types, min_share: 0.2, ..ALL },
                TreeOptions { merge_types, depth: 2, ..ALL },
                TreeOptions { merge_types, lines: 4, ..ALL },
            ] {
                let lines = tree(&heap, options);
                assert!(lines.len() <= options.lines);
                for (row, line) in lines.iter().enumerate() {
                    let shown: u64 = below(&lines, row).map(|line| line.total_bytes).sum();
                    let sum = line.own_bytes + shown + line.omitted.bytes;
                    assert_eq!(
                        line.total_bytes, sum,
                        "seed {seed}, {options:?}, line {row} of {lines:#?}"
                    );
                    assert!(
                        below(&lines, row).map(|line| line.total_bytes).is_sorted_by(|a, b| a >= b),
                        "seed {seed}"
                    );
                    assert!(line.depth <= options.depth, "seed {seed}");
                }
            }
        }
    }
}

#[test]
fn a_tree_of_fewer_lines_has_those_with_the_lowest_ranks() {
    let shape = |line: &TreeLine| {
        (line.depth, line.what.clone(), line.count, line.own_bytes, line.total_bytes, line.rank)
    };
    for seed in 0..1000 {
        let heap = typed(seed).heap;
        let all = tree(&heap, ALL);
        for lines in [1, 2, 4, 7] {
            let fewer = tree(&heap, TreeOptions { lines, ..ALL });
            let lowest = all.iter().filter(|line| line.rank < lines);
            assert!(fewer.iter().map(shape).eq(lowest.map(shape)), "seed {seed}, {lines} lines");
        }
    }
}

#[test]
fn all_live_objects_stand_in_the_whole_tree() {
    for seed in 0..1000 {
        let of = typed(seed);
        let live = of.sketch.live_without(None);
        let expected = (0..live.len())
            .filter(|object| live[*object] && of.types[*object].is_some())
            .count() as u64;
        for merge_types in [false, true] {
            let lines = tree(&of.heap, TreeOptions { merge_types, ..ALL });
            let objects = |line: &&TreeLine| {
                !matches!(line.what, TreeItem::Heap | TreeItem::Root(_) | TreeItem::Part(_))
            };
            // Objects of size 0 below which there is nothing are left out, even of the whole tree.
            let left_out: u64 = lines
                .iter()
                .filter(|line| line.omitted.bytes == 0)
                .map(|line| line.omitted.count)
                .sum();
            let shown: u64 = lines.iter().filter(objects).map(|line| line.count).sum();
            assert!(
                shown <= expected && expected <= shown + left_out * expected,
                "seed {seed}: {shown} of {expected}"
            );
            assert_eq!(lines[0].count, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_list_is_one_line() {
    let length = 20_000;
    let references: Vec<_> = (1..length).map(|object| (object - 1, object)).collect();
    let heap = Sketch::of(length as usize, &references, &[0]).heap();
    let lines = tree(&heap, ALL);
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (lines[2].what.clone(), lines[2].count),
        (TreeItem::Chain(ObjectId(0)), u64::from(length))
    );
    assert_eq!((lines[2].own_bytes, lines[2].total_bytes), (u64::from(length), u64::from(length)));
}

#[test]
fn a_list_with_a_load_is_one_line_and_its_load_another() {
    // 0 → 1 → 2 … and each has an object of another type, which stands behind the list.
    let length = 1000;
    let list = (1..length).map(|object| (object - 1, object));
    let references: Vec<_> =
        list.chain((0..length).map(|object| (object, length + object))).collect();
    let mut builder =
        HeapBuilder::from_heap(Sketch::of(2 * length as usize, &references, &[0]).heap());
    let load = builder.add_type("Load", "", TypeKind::Instance);
    (length..2 * length).for_each(|object| builder.set_type(ObjectId(object), load));
    let heap = builder.finish_edited();
    let lines = tree(&heap, ALL);
    let shapes: Vec<_> =
        lines.iter().map(|line| (line.depth, line.what.clone(), line.count)).collect();
    assert_eq!(
        shapes[2..],
        [(2, TreeItem::Chain(ObjectId(0)), 1000), (3, TreeItem::Group(load), 1000),]
    );
}

#[test]
fn equal_siblings_are_one_line_and_large_ones_their_own() {
    // One object holds 300 of one byte and one of 500.
    let references: Vec<_> = (1..302).map(|object| (0, object)).collect();
    let mut sketch = Sketch::of(302, &references, &[0]);
    sketch.sizes[301] = 500;
    let heap = sketch.heap();
    let count = |merge_types| {
        let lines = tree(&heap, TreeOptions { merge_types, ..ALL });
        lines.iter().map(|line| (line.depth, line.count, line.total_bytes)).collect::<Vec<_>>()
    };
    // All are of one type: merged, they are one line with their owner.
    assert_eq!(count(true), [(0, 302, 801), (1, 302, 801), (2, 302, 801)]);
    assert_eq!(
        count(false),
        [(0, 302, 801), (1, 302, 801), (2, 1, 801), (3, 1, 500), (3, 300, 300)]
    );
}

/// The display text of a line that is not an object.
fn title(line: &TreeLine) -> Option<String> {
    match &line.what {
        TreeItem::Root(None) => Some("several".to_owned()),
        TreeItem::Root(Some((_, name))) => Some(name.clone()),
        TreeItem::Part(part) => Some(part.name.clone()),
        _ => None,
    }
}

#[test]
fn what_several_roots_hold_is_divided_by_their_kind() {
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    for size in [1, 10, 100, 1000] {
        builder.add_object(node, size);
    }
    let mut global = |variable: &str, object| {
        let label = Label::field(builder.names().intern(variable));
        let group = Names::EMPTY;
        builder.add_root(Root { label, ..Root::new(ObjectId(object), RootKind::Global, group) });
    };
    // 0 by one variable, 1 by two of one package, 2 by two of different packages, 3 by a variable
    // and a handle.
    for (variable, object) in
        [("main.a", 0), ("main.a", 1), ("main.b", 1), ("main.b", 2), ("log.c", 2), ("log.c", 3)]
    {
        global(variable, object);
    }
    let group = builder.names().intern("handles");
    let handle = Root::new(ObjectId(3), RootKind::Native, group);
    builder.add_root(handle);
    let heap = builder.finish(Ids::Rows(0), None);
    let lines = tree(&heap, ALL);
    let text: Vec<_> = lines
        .iter()
        .filter_map(|line| Some((line.depth, title(line)?, line.total_bytes, line.count)))
        .collect();
    let several = "several globals of main".to_owned();
    assert_eq!(
        text,
        [(1, "several".to_owned(), 1110, 3), (2, several, 10, 1), (1, "main.a".to_owned(), 1, 1)]
    );
}

#[test]
fn isolates_hold_the_same_in_the_tree_in_top_and_by_themselves() {
    for file in ["sass_idle_2.17.6_ia32", "synth_random_3k"] {
        let bytes = read(&fixture(&format!("dart/{file}.dartheap.zst")));
        let heap = input::load(Format::Dart, &bytes, LoadOptions::default()).unwrap().heap;
        let dominators = DominatorTree::new(&heap);
        let isolate = heap.threads()[0].object.unwrap();
        let histogram = Histogram::of(&heap, Some(&dominators), GroupBy::Type, Scope::Live);
        let row = histogram.rows.iter().find(|row| row.name == "Isolate").unwrap();
        assert_eq!(row.retained_bytes, Some(dominators.retained(isolate)), "{file}");
        let lines = tree(&heap, TreeOptions { min_share: 0.01, ..ALL });
        let is_isolate = |line: &&TreeLine| matches!(&line.what, TreeItem::Part(part) if part.object == Some(isolate));
        let line =
            lines.iter().find(is_isolate).expect("isolates are shown however little they hold");
        assert_eq!((line.depth, line.total_bytes), (1, dominators.retained(isolate)), "{file}");
    }
}

#[test]
fn class_objects_are_called_by_their_class() {
    let bytes = read(&fixture("hprof/small_java17.hprof.zst"));
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let names: Vec<_> = heap.classes().iter().map(|class| heap.shown_name(class.object)).collect();
    assert!(names.contains(&"class Small") && names.contains(&"class java.lang.String[]"));
    assert!(heap.classes().iter().all(|class| heap.type_name(class.object) == "java.lang.Class"));
    let lines = tree(&heap, TreeOptions { min_share: 0.01, ..ALL });
    let of = |line: &TreeLine| match line.what {
        TreeItem::Object(object) => heap.shown_name(object).to_owned(),
        _ => title(line).unwrap_or_default(),
    };
    let row = lines.iter().position(|line| of(line) == "class Small").expect("a line");
    assert!(
        lines[..row]
            .iter()
            .any(|line| of(line) == "class loader jdk.internal.loader.ClassLoaders$AppClassLoader")
    );
}

#[test]
fn a_subtree_is_what_its_objects_retain() {
    let mut several = 0;
    for seed in 0..1000 {
        let of = typed(seed);
        let dominators = DominatorTree::new(&of.heap);
        for object in of.heap.objects().filter(|object| !of.heap.is_made_up(*object)) {
            let lines = lines_below_object(&of.heap, &dominators, object, ALL);
            let selected = lines_below(&of.heap, &dominators, |other| other == object, ALL);
            assert_eq!(format!("{lines:?}"), format!("{selected:?}"));
            if dominators.is_live(object) {
                assert_eq!(
                    (lines[0].depth, lines[0].total_bytes),
                    (0, dominators.retained(object)),
                    "seed {seed}"
                )
            } else {
                assert!(lines.is_empty(), "seed {seed}")
            }
        }
        let histogram = Histogram::by_type(&of.heap, &dominators);
        for row in &histogram.rows {
            let lines = lines_below(
                &of.heap,
                &dominators,
                |object| of.heap.type_name(object) == row.name,
                ALL,
            );
            assert_eq!(Some(lines[0].total_bytes), row.retained_bytes, "seed {seed} {}", row.name);
            several += u64::from(lines[0].what == TreeItem::Selection);
        }
    }
    assert!(several > 100, "{several}");
}
