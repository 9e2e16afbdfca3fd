//! Snapshots of the corpus against Chrome DevTools' own code, node by node.

use dumptool::analysis::DominatorTree;
use dumptool::analysis::histogram::Histogram;
use dumptool::input::load::{LoadOptions, NodeSizes};
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, Ids, ObjectId, TypeKind, Value as ObjectValue, WarningKind};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn snapshots_of_the_corpus_are_what_devtools_makes_of_them() {
    let folder = crate::support::corpus_folder("heapsnapshot");
    let mut compared = 0;
    for path in crate::support::files(&folder) {
        let Some(name) = path.to_str().and_then(|path| path.strip_suffix(".zst")) else { continue };
        let truth = Path::new(name).with_extension("truth.json");
        compare(&path, &crate::support::json(&truth));
        compared += 1;
    }
    assert!(compared > 0, "no snapshots in {}", folder.display());
}

fn compare(path: &Path, truth: &Value) {
    let bytes = crate::support::read(path);
    let name = path.display();
    compare_info(
        &crate::support::info(Format::Heapsnapshot, &bytes),
        &truth["file"],
        &name.to_string(),
    );
    assert_eq!(crate::support::broken(Format::Heapsnapshot, &bytes), [""; 0], "{name}");
    let devtools = &truth["devtools"];
    let file_sizes = rows(&devtools["nodes_with_file_sizes"]);
    let changed = rows(&devtools["nodes_as_devtools_shows_them_changed"]);
    for (sizes, sum, classes) in [
        (NodeSizes::File, "file_sizes", "classes_with_file_sizes"),
        (NodeSizes::Devtools, "devtools_sizes", "classes_as_devtools_shows_them"),
    ] {
        let loaded =
            input::load(Format::Heapsnapshot, &bytes, LoadOptions::default().sizes(sizes)).unwrap();
        assert!(
            loaded.damage.is_none()
                && loaded.heap.warnings().iter().all(|it| it.kind == WarningKind::UnheldObjects),
            "{name}: {:?}",
            loaded.heap.warnings()
        );
        let heap = loaded.heap;
        let tree = DominatorTree::new(&heap);
        let total: u64 = heap.objects().map(|object| heap.shallow_bytes(object)).sum();
        assert_eq!(json!(total), devtools["total_size"], "{name}");
        // What only cycles hold retains itself in DevTools, and node 0 retains everything.
        let retained = |object: ObjectId| match (object.0, tree.is_live(object)) {
            (0, _) => total,
            (_, false) => heap.shallow_bytes(object),
            (_, true) => tree.retained(object),
        };
        let sum_of_all: u64 = heap.objects().map(retained).sum();
        assert_eq!(
            json!(sum_of_all),
            devtools["sum_of_retained_over_all_nodes"][sum],
            "{name} {sum}"
        );
        let mut expected = file_sizes.clone();
        if sizes == NodeSizes::Devtools {
            expected.extend(changed.clone());
        }
        for (id, row) in expected {
            let object =
                heap.find(&format!("#{id}")).unwrap_or_else(|| panic!("{name}: no node {id}"));
            assert_eq!(heap.find(&format!("@{id}")), Some(object));
            let dominator = tree.dominator(object).unwrap_or(ObjectId(0));
            let ours =
                json!([id, heap.shallow_bytes(object), retained(object), number(&heap, dominator)]);
            assert_eq!(
                ours,
                json!([row[0], row[3], row[4], row[6]]),
                "{name} {sum}: id, shallow, retained, dominator of {row}"
            );
            compare_name(&heap, object, row);
        }
        compare_classes(&heap, &tree, &devtools[classes], &name.to_string());
    }
}

fn rows(table: &Value) -> HashMap<u64, &Value> {
    table.as_array().unwrap().iter().map(|row| (row[0].as_u64().unwrap(), row)).collect()
}

fn number(heap: &Heap<'_>, object: ObjectId) -> u64 {
    let Ids::Numbers(numbers) = heap.ids() else { panic!("nodes have numbers") };
    numbers.get(object.index())
}

fn compare_name(heap: &Heap<'_>, object: ObjectId, row: &Value) {
    let of = heap.type_of(object);
    assert!(of.kind == TypeKind::Root || row[1] == heap.names().text(of.namespace), "{row}");
    let name = row[2].as_str().unwrap();
    match heap.value(object) {
        // The parts of a text are joined; V8 names only some of such nodes.
        _ if row[1] == "concatenated string" => {}
        // The list has the beginning of texts.
        ObjectValue::Text { text, .. } => assert!(text.starts_with(name), "{text} {row}"),
        ObjectValue::Name(text) => assert!(text.starts_with(name), "{text} {row}"),
        _ => assert!(
            name.is_empty() || heap.type_name(object) == name || row[1] == "object",
            "{} {row}",
            heap.type_name(object)
        ),
    }
}

/// DevTools leaves nodes without size out.
fn compare_classes(heap: &Heap<'_>, tree: &DominatorTree, classes: &Value, name: &str) {
    let histogram = Histogram::by_type(heap, tree);
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    for object in
        heap.objects().filter(|object| heap.shallow_bytes(*object) > 0 && !heap.is_made_up(*object))
    {
        let count = counts.entry(heap.type_name(object)).or_default();
        *count = (count.0 + 1, count.1 + heap.shallow_bytes(object));
    }
    let mut compared = 0;
    for row in classes.as_array().unwrap() {
        let class = row[0].as_str().unwrap();
        if class == "(synthetic)" {
            continue;
        }
        assert_eq!(json!(counts.get(class)), json!([row[1], row[2]]), "{name}: {class}");
        let live_and_dead = histogram.unreachable.is_some_and(|unreachable| unreachable.count > 0);
        let ours: Vec<_> = histogram.rows.iter().filter(|row| row.name == class).collect();
        // In DevTools a node without size does not hide what it dominates. Cycles that are not
        // live, and classes of several types of nodes, are one row there.
        if let [ours] = ours[..]
            && !live_and_dead
            && ours.sum.count == counts[class].0
        {
            assert_eq!(json!(ours.retained_bytes), row[3], "{name}: retained by {class}");
            compared += 1;
        }
    }
    eprintln!("{name}: {compared} classes");
}

fn compare_info(info: &Value, truth: &Value, name: &str) {
    let snapshot = &info["heap"]["snapshots"][0];
    let details = &snapshot["details"];
    let synthetic = truth["nodes_by_type"]["synthetic"].as_u64().unwrap();
    assert_eq!(
        (&info["format_version"], &info["complete"]),
        (&json!(null), &json!(true)),
        "{name}"
    );
    assert_eq!(details["nodes"], truth["node_count"], "{name}");
    assert_eq!(
        snapshot["objects"],
        json!(truth["node_count"].as_u64().unwrap() - synthetic),
        "{name}"
    );
    assert_eq!(snapshot["references"], truth["edge_count"], "{name}");
    assert_eq!(snapshot["shallow_bytes"], truth["self_size_total"], "{name}");
    assert_eq!(details["strings"], truth["string_count"], "{name}");
    assert_eq!(details["by_node_type"], truth["nodes_by_type"], "{name}");
    assert_eq!(details["by_edge_type"], truth["edges_by_type"], "{name}");
    let detached = truth["detachedness"].get("2").cloned().unwrap_or(json!(0));
    assert_eq!(details["detached"], detached, "{name}");
}
