//! What holds what, in snapshots of a few nodes.

use super::support::heapsnapshot::{Snapshot, world};
use super::support::{broken, info, records};
use dumptool::analysis::{DominatorTree, Graph, Histogram, RootGroups};
use dumptool::input::load::{LoadOptions, NodeSizes};
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, ObjectId, RootKind, Value};
use serde_json::json;

fn load(bytes: &[u8]) -> Heap<'_> {
    let loaded = input::load(Format::Heapsnapshot, bytes, LoadOptions::default()).unwrap();
    assert!(
        loaded.damage.is_none() && loaded.heap.warnings().is_empty(),
        "{:?}",
        loaded.heap.warnings()
    );
    loaded.heap
}

/// The first object of a type.
fn object(heap: &Heap<'_>, name: &str) -> ObjectId {
    heap.objects()
        .find(|object| heap.type_name(*object) == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn an_object_retains_what_only_it_holds() {
    let bytes = world().bytes();
    let heap = load(&bytes);
    let tree = DominatorTree::new(&heap);
    let retained = |name: &str| tree.retained(object(&heap, name));
    // The first session has the detached tree, the second the secret; both share the list. What the
    // orphan, which only a weak reference leads to, has of the page, it does not hold.
    assert_eq!(
        (retained("Session"), retained("Orphan"), retained("Secret")),
        (64 + 200 + 10, 1000, 32)
    );
    let second = heap.find("#11").unwrap();
    assert_eq!((heap.type_name(second), tree.retained(second)), ("Session", 64 + 32));
    let list = object(&heap, "Array");
    assert_eq!((tree.dominator(list), tree.retained(list)), (heap.find("#7"), 16 + 48 + 56));
    let histogram = Histogram::by_type(&heap, &tree);
    assert_eq!(histogram.unreachable.map(|sum| (sum.count, sum.shallow_bytes)), Some((2, 12)));
    let synthetic = 3;
    assert_eq!(histogram.total.count + 2, heap.len() as u64 - synthetic);
}

#[test]
fn edges_from_the_virtual_machine_into_a_page_hold_nothing() {
    let mut snapshot = Snapshot::new();
    let machine = snapshot.node("hidden", "system / Cache", 8);
    let [window, object_of_page] = [snapshot.object("Window", 16), snapshot.object("Page", 32)];
    snapshot.edge(1, "element", "1", machine).edge(0, "shortcut", "1", window).edge(
        window,
        "property",
        "x",
        object_of_page,
    );
    snapshot
        .edge(machine, "property", "cache", object_of_page)
        .edge(machine, "shortcut", "y", window);
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let tree = DominatorTree::new(&heap);
    assert_eq!(
        (tree.dominator(object(&heap, "Page")), tree.retained(object(&heap, "Window"))),
        (heap.find("#7"), 48)
    );
    let weak: Vec<bool> =
        heap.references().of(ObjectId(2)).map(|reference| reference.weak).collect();
    assert_eq!(weak, [true, true]);
}

#[test]
fn detached_nodes_are_called_so_and_so_is_what_hangs_at_them() {
    let bytes = world().bytes();
    let heap = load(&bytes);
    let names: Vec<&str> = heap.types().iter().map(|of| heap.names().text(of.name)).collect();
    for name in ["<body>", "Detached <div>", "Detached Text"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert_eq!(
        info(Format::Heapsnapshot, &bytes)["heap"]["snapshots"][0]["details"]["detached"],
        json!(1)
    );
}

#[test]
fn sizes_move_to_their_only_owner_as_devtools_moves_them() {
    let bytes = world().bytes();
    let options = LoadOptions::default().sizes(NodeSizes::Devtools);
    let heap = input::load(Format::Heapsnapshot, &bytes, options).unwrap().heap;
    let bytes_of = |name: &str| heap.shallow_bytes(object(&heap, name));
    assert_eq!((bytes_of("Array"), bytes_of("(array)")), (16 + 48, 0));
    // The window has the table and the map for itself.
    assert_eq!(
        (bytes_of("(system)"), bytes_of("Window / https://shop.example.test")),
        (0, 40 + 96 + 80)
    );
}

#[test]
fn roots_are_grouped_by_what_holds_them() {
    let bytes = world().bytes();
    let heap = load(&bytes);
    let groups: Vec<(RootKind, &str)> =
        heap.roots().iter().map(|root| (root.kind, heap.names().text(root.group))).collect();
    assert_eq!(
        groups,
        [
            (RootKind::Runtime, "(root)"),
            (RootKind::Global, "global object"),
            (RootKind::Native, "(Global handles)"),
            (RootKind::Unowned, "(only weakly held)"),
        ]
    );
    let held = RootGroups::of(&heap, &Graph::of(&heap));
    let by = |name: &str| held.name(object(&heap, name)).to_owned();
    assert_eq!(
        (by("Session").as_str(), by("Orphan").as_str()),
        ("global object", "(only weakly held)")
    );
    assert_eq!((by("Handle").as_str(), by("Cycle").as_str()), ("(Global handles)", "nothing"));
}

#[test]
fn texts_and_names_are_those_of_the_strings() {
    let bytes = world().bytes();
    let heap = load(&bytes);
    let value = |name: &str| heap.value(object(&heap, name));
    assert_eq!(value("(string)"), Value::Text { text: "größe \"42\"\n".into(), length: 11 });
    assert_eq!(value("Function"), Value::Name("onClose".into()));
    assert_eq!(
        (value("(array)"), value("Session")),
        (Value::Name("(object elements)".into()), Value::None)
    );
}

#[test]
fn records_are_the_rows_of_the_file() {
    let bytes = world().bytes();
    let (records, error) = records(Format::Heapsnapshot, &bytes);
    assert!(error.is_none());
    let of =
        |name: &str| records.iter().filter(|record| record["record"] == name).collect::<Vec<_>>();
    let session = of("node").into_iter().find(|node| node["name"] == "Session").unwrap();
    assert_eq!(
        (&session["type"], &session["id"], &session["self_size"]),
        (&json!("object"), &json!(9), &json!(64))
    );
    let edge = of("edge").into_iter().find(|edge| edge["name"] == "first").unwrap();
    assert_eq!((&edge["from_node"], &edge["to_node"]), (&json!(3 * 6), &json!(4 * 6)));
    let tree: Vec<_> =
        of("trace_node").iter().map(|node| (node["id"].clone(), node["depth"].clone())).collect();
    assert_eq!(tree, [(json!(1), json!(0)), (json!(2), json!(1))]);
    assert_eq!(of("trace_function_info")[0]["script_name"], "shop.js");
    assert_eq!(
        (of("sample")[1]["last_assigned_id"].clone(), of("location")[0]["line"].clone()),
        (json!(9), json!(2))
    );
    let counts = &info(Format::Heapsnapshot, &bytes)["records"];
    for (name, count) in counts.as_object().unwrap() {
        assert_eq!(json!(of(name).len()), *count, "{name}");
        assert!(
            of(name).iter().all(|record| record["offset"].as_u64().unwrap() < bytes.len() as u64)
        );
    }
    let first = of("edge")[1]["offset"].as_u64().unwrap() as usize;
    assert!(bytes[first..].starts_with(b"5,"), "the offset is that of the row");
}

#[test]
fn members_may_have_any_order_and_white_space() {
    let bytes = world().bytes();
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    // serde_json sorts the members: edges come before nodes, and nodes before the meta data.
    let again = serde_json::to_vec_pretty(&document).unwrap();
    assert_eq!(
        dumptool::detect::detect(&again[..]).is_ok(),
        again[..4096.min(again.len())].windows(11).any(|w| w == b"node_fields")
    );
    let (one, other) = (load(&bytes), load(&again));
    let all = |heap: &Heap<'_>| {
        let tree = DominatorTree::new(heap);
        heap.objects()
            .map(|object| {
                (heap.id(object), heap.type_name(object).to_owned(), tree.retained(object))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(all(&one), all(&other));
}

#[test]
fn rules_of_the_format_are_checked() {
    let text = String::from_utf8(world().bytes()).unwrap();
    assert_eq!(broken(Format::Heapsnapshot, text.as_bytes()), [""; 0]);
    for (from, to, rule) in [
        ("\"node_count\":20", "\"node_count\":19", "snapshot.node_count"),
        ("\"edge_count\":26", "\"edge_count\":25", "snapshot.edge_count"),
        ("\"locations\":[6,", "\"locations\":[7,", "location.object_index"),
        ("\"edges\":[1,1,6", "\"edges\":[1,1,5", "edge.to_node"),
        ("\"edges\":[1,1,6", "\"edges\":[9,1,6", "edge.type"),
        ("\"nodes\":[0,2,0,1,", "\"nodes\":[0,3,0,1,", "node.edge_count"),
        ("\"nodes\":[0,2,0,1,", "\"nodes\":[3,2,0,1,", "node.detachedness"),
        ("\"nodes\":[0,2,0,1,", "\"nodes\":[0,2,0,3,", "node.id"),
        ("\"nodes\":[0,2,0,1,", "\"nodes\":[1,0,2,0,1,", "nodes.rows"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let rules = broken(Format::Heapsnapshot, text.replacen(from, to, 1).as_bytes());
        assert!(rules.iter().any(|broken| broken == rule), "{to}: {rules:?}, expected {rule}");
    }
}
