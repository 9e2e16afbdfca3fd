//! What holds what, in snapshots of a few nodes.

use crate::support::heapsnapshot::{Snapshot, world};
use crate::support::{broken, info, records};
use dumptool::analysis::collections::Collections;
use dumptool::analysis::paths::shortest_path;
use dumptool::analysis::waste::{Waste, WasteKind};
use dumptool::analysis::{DominatorTree, Graph, Histogram, RootGroups};
use dumptool::input::load::{LoadOptions, NodeSizes, PlainObjectTypes};
use dumptool::input::{self, Format};
use dumptool::model::heap::{FieldValue, Heap, ObjectId, RootKind, Value, WarningKind};
use serde_json::json;
use std::iter;
use std::time::{Duration, Instant};

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
    let weak: Vec<bool> = heap.references_of(ObjectId(2)).map(|reference| reference.weak).collect();
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
    let (held, tree) = (RootGroups::of(&heap, &Graph::of(&heap)), DominatorTree::new(&heap));
    let by = |name: &str| held.name(&tree.dominators, object(&heap, name)).to_owned();
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

/// The type of each plain object of a snapshot, in order; each has these properties.
fn types_of_plain_objects(objects: &[&[&str]], options: LoadOptions<'_>) -> Vec<String> {
    let mut snapshot = Snapshot::new();
    let value = snapshot.node("number", "heap number", 12);
    let first = value + 1;
    for (index, properties) in (1..).zip(objects) {
        let object = snapshot.object("Object", 32);
        snapshot.edge(1, "element", &index.to_string(), object);
        snapshot.edge(object, "internal", "map", value);
        for property in *properties {
            snapshot.edge(object, "property", property, value);
        }
    }
    let bytes = snapshot.bytes();
    let heap = input::load(Format::Heapsnapshot, &bytes, options).unwrap().heap;
    heap.objects().skip(first).map(|object| heap.type_name(object).to_owned()).collect()
}

#[test]
fn plain_objects_are_named_by_the_properties_that_several_have() {
    let long = ["a".repeat(70), "b".repeat(70)];
    let long: &[&str] = &[&long[0], &long[1]];
    let objects: &[&[&str]] = &[
        &["etag", "data"],
        &["data", "__proto__", "etag"],
        &["etag", "data"],
        &["old", "etag", "data"],
        &["x"],
        &[],
        &[],
        &["a,b"],
        &["a,b"],
        long,
        long,
        &["n", "n"],
        &["n", "n"],
        &["n"],
    ];
    let cut = format!("{{{}}}", long[0]);
    let expected = [
        "{etag, data}",
        "{etag, data}",
        "{etag, data}",
        "{etag, data}",
        "Object",
        "Object",
        "Object",
        "{\"a,b\"}",
        "{\"a,b\"}",
        &cut,
        &cut,
        "{n, n}",
        "{n, n}",
        "Object",
    ];
    assert_eq!(types_of_plain_objects(objects, LoadOptions::default()), expected);
    assert_eq!(types_of_plain_objects(objects, LoadOptions::default().bare(true)), expected);
    let joined = LoadOptions::default().plain_objects(PlainObjectTypes::One);
    assert_eq!(types_of_plain_objects(objects, joined), ["Object"; 14]);
}

#[test]
fn properties_that_one_object_in_a_thousand_has_make_no_type() {
    let rare: &[&[&str]] = &[&["rare"], &["rare"]];
    let common: &[&[&str]] = &vec![&["common"] as &[&str]; 1998];
    let types = types_of_plain_objects(&[rare, common].concat(), LoadOptions::default());
    assert_eq!((types[0].as_str(), types[1999].as_str()), ("{rare}", "{common}"));
    let types = types_of_plain_objects(&[rare, common, &[&[]]].concat(), LoadOptions::default());
    assert_eq!((types[0].as_str(), types[1999].as_str()), ("Object", "{common}"));
}

/// A string node with as many edges to numbers as are given: `length`, `hash`, `truncated`.
fn text(snapshot: &mut Snapshot, text: &str, numbers: &[(&str, &str, &str)]) -> usize {
    let node = snapshot.node("string", text, 2000);
    snapshot.edge(1, "element", &node.to_string(), node);
    for (label, kind, value) in numbers {
        let number = snapshot.node("number", kind, 0);
        let value = snapshot.node("string", value, 0);
        snapshot.edge(node, "internal", label, number).edge(number, "internal", "value", value);
    }
    node
}

/// V8 writes 1,024 characters of a text: 300 different texts once counted as 2.4 MiB of waste.
#[test]
fn texts_that_may_have_been_cut_are_not_equal() {
    let mut snapshot = Snapshot::new();
    let [cut, whole, emoji, known] =
        ["c".repeat(1024), "w".repeat(1023), "\u{f980}".repeat(600), "k".repeat(1024)];
    for _ in 0..2 {
        text(&mut snapshot, &cut, &[]);
        text(&mut snapshot, &whole, &[]);
        text(&mut snapshot, &emoji, &[]);
        text(&mut snapshot, &cut, &[("truncated", "bool", "false")]);
        text(&mut snapshot, &known, &[("length", "int", "3000"), ("hash", "int", "7")]);
    }
    text(&mut snapshot, &known, &[("length", "int", "3000"), ("hash", "int", "8")]);
    text(&mut snapshot, &known, &[("length", "int", "3001"), ("hash", "int", "7")]);
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let waste = Waste::of(&heap, &DominatorTree::new(&heap));
    let texts = waste.parts.iter().find(|part| part.kind == WasteKind::DuplicateText).unwrap();
    let mut found: Vec<(String, u64)> = texts
        .rows
        .iter()
        .map(|row| match heap.value(row.example) {
            Value::Text { text, .. } => (text[..1].to_owned(), row.count),
            _ => panic!("a text"),
        })
        .collect();
    found.sort();
    assert_eq!(found, [("c", 2), ("k", 2), ("w", 2)].map(|(text, count)| (text.to_owned(), count)));
}

#[test]
fn a_longer_text_says_that_the_limit_was_another_one() {
    let mut snapshot = Snapshot::new();
    let nodes = [1024, 5000, 5000].map(|length| text(&mut snapshot, &"t".repeat(length), &[]));
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let lengths = nodes.map(|node| match heap.value(ObjectId(node as u32)) {
        Value::Text { length, .. } => length,
        _ => panic!("a text"),
    });
    assert_eq!(lengths, [1024, Value::UNKNOWN_LENGTH, Value::UNKNOWN_LENGTH]);
}

#[test]
fn numbers_are_those_of_the_nodes_that_have_their_text() {
    let mut snapshot = Snapshot::new();
    let session = snapshot.object("Session", 32);
    snapshot.edge(1, "element", "1", session);
    for (name, text) in [("id", "40"), ("ratio", "40.5"), ("open", "true"), ("none", "NaN")] {
        let number = snapshot.node("number", "smi number", 0);
        let value = snapshot.node("string", text, 0);
        snapshot.edge(session, "property", name, number).edge(number, "internal", "value", value);
    }
    let unknown = snapshot.node("number", "heap number", 16);
    snapshot.edge(session, "property", "unknown", unknown);
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let field = |name| heap.field(object(&heap, "Session"), name);
    assert_eq!(field("id"), Some(FieldValue::Integer(40)));
    assert_eq!(field("ratio"), Some(FieldValue::Float(40.5)));
    assert_eq!(field("open"), Some(FieldValue::Boolean(true)));
    assert!(matches!(field("none"), Some(FieldValue::Float(value)) if value.is_nan()));
    assert_eq!(field("unknown"), Some(FieldValue::Object(ObjectId(unknown as u32))));
    assert_eq!(heap.value(object(&heap, "(number)")), Value::Integer(40));
}

#[test]
fn concatenated_strings_are_joined_within_bounds() {
    let mut snapshot = Snapshot::new();
    let [hello, world] = ["hel", "lo"].map(|text| snapshot.node("string", text, 16));
    let mut join = |first: usize| {
        let joined = snapshot.node("concatenated string", "(concatenated string)", 32);
        snapshot.edge(joined, "internal", "first", first).edge(joined, "internal", "second", world);
        snapshot.edge(1, "element", &joined.to_string(), joined);
        joined
    };
    let short = join(hello);
    let next = join(short);
    let long = (0..600).fold(next, |before, _| join(before));
    let deep = (0..600).fold(long, |before, _| join(before));
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let value = |node: usize| heap.value(ObjectId(node as u32));
    assert_eq!(value(short), Value::Text { text: "hello".into(), length: 5 });
    assert_eq!(value(next), Value::Text { text: "hellolo".into(), length: 7 });
    let Value::Text { text, length } = value(long) else { panic!("a text") };
    assert!(text.starts_with("hellolo") && text.len() < 1024, "{text}");
    assert_eq!(length, Value::UNKNOWN_LENGTH);
    assert_eq!(value(deep), Value::None);
}

#[test]
fn entries_of_maps_and_sets_are_found_in_their_tables() {
    let mut snapshot = Snapshot::new();
    let [map, set] = ["Map", "Set"].map(|name| snapshot.object(name, 32));
    // Two buckets and four entries: keys from element 5 on.
    let [entries, members] = [152, 120].map(|size| snapshot.node("array", "", size));
    let [key, other, value] = [("string", "sid-3"), ("string", "n"), ("object", "Session")]
        .map(|(of, name)| snapshot.node(of, name, 24));
    snapshot
        .edge(1, "element", "1", map)
        .edge(1, "element", "2", set)
        .edge(map, "internal", "table", entries)
        .edge(set, "internal", "table", members)
        .edge(entries, "internal", "5", key)
        .edge(entries, "internal", "6", value)
        .edge(entries, "internal", "8", other)
        .edge(members, "internal", "7", key);
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let collections = Collections::of(&heap);
    let entries = |node: usize| {
        let mut all = Vec::new();
        collections.entries(ObjectId(node as u32), |entry| {
            let key = entry.key.and_then(FieldValue::object);
            all.push((key, entry.value.object()));
            std::ops::ControlFlow::Continue(())
        });
        all
    };
    let [key, other, value] = [key, other, value].map(|node| Some(ObjectId(node as u32)));
    assert_eq!(entries(map), [(key, value), (other, None)]);
    assert_eq!(entries(set), [(None, key)]);
    let path = shortest_path(&heap, value.unwrap()).unwrap();
    let text = path.text(&heap);
    assert!(text.ends_with(" ['sid-3'] Session #17"), "{text}");
}

#[test]
fn classes_derived_from_map_and_set_are_collections() {
    let mut snapshot = Snapshot::new();
    // V8 names the prototype of a class after its base class: `class Cache extends Map`, `class Lru extends
    // Cache`, and `class Seats extends Desk` with a property of its own.
    let [of_lru, of_cache, of_tags, of_desk] =
        ["Cache", "Map", "Set", "Desk"].map(|name| snapshot.object(name, 24));
    let [lru, tags, seats] = ["Lru", "Tags", "Seats"].map(|name| snapshot.object(name, 32));
    let prototypes = [(lru, of_lru), (of_lru, of_cache), (tags, of_tags), (seats, of_desk)];
    for (object, prototype) in prototypes {
        snapshot.edge(object, "property", "__proto__", prototype);
    }
    for (number, object) in ["1", "2", "3"].into_iter().zip([lru, tags, seats]) {
        let table = snapshot.node("array", "", 152);
        snapshot.edge(1, "element", number, object).edge(object, "internal", "table", table);
    }
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let collections = Collections::of(&heap);
    let kind = |node: usize| collections.kind(ObjectId(node as u32)).map(|kind| kind.name());
    assert_eq!([kind(lru), kind(tags), kind(seats)], [Some("map"), Some("set"), None]);
}

#[test]
fn samples_of_a_recording_are_generations() {
    let mut snapshot = Snapshot::new();
    let nodes = [1, 2, 3, 4].map(|number| {
        let node = snapshot.object("Ticket", 16);
        snapshot.edge(1, "element", &number.to_string(), node);
        node
    });
    // Node k has the id 2k + 1, and the samples end with the ids 1 and 9: the last object is newer.
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let generations = nodes.map(|node| {
        let site = heap.sites().site_of(ObjectId(node as u32))?;
        heap.sites().sites[site as usize].generation
    });
    assert_eq!(generations, [Some(1), Some(1), Some(1), None]);
}

#[test]
fn a_snapshot_without_many_references_says_so() {
    let mut snapshot = Snapshot::new();
    (0..200).for_each(|_| _ = snapshot.object("Session", 16));
    let bytes = snapshot.bytes();
    let loaded = input::load(Format::Heapsnapshot, &bytes, LoadOptions::default()).unwrap();
    let warnings: Vec<_> = loaded.heap.warnings().iter().map(|it| (it.kind, it.count)).collect();
    assert_eq!(warnings, [(WarningKind::UnheldObjects, 200)]);
    assert!(!loaded.heap.warnings()[0].is_damage());
    let text = loaded.heap.warnings()[0].text();
    assert_eq!(info(Format::Heapsnapshot, &bytes)["warnings"], json!([text]));
}

/// A snapshot of Julia 1.13 has a type of nodes for each type of objects, hundreds of them.
#[test]
fn the_type_of_a_julia_object_is_its_name() {
    let fixed = ["synthetic", "jl_array_t", "String", "jl_sym_t", "jl_module_t", "jl_datatype_t"];
    let made = (fixed.len()..300).map(|row| format!("Main.T{row}"));
    let types: Vec<String> = fixed.map(str::to_owned).into_iter().chain(made).collect();
    let nodes = [
        (0, "", 0, 6),
        (1, "Core.Array{Any, 1}", 24, 0),
        (299, "Main.T299", 16, 0),
        (6, "Main.T6", 8, 0),
        (2, "a text", 6, 0),
        (4, "Base", 400, 0),
        (5, "Core.Array{Any, 1}", 64, 0),
    ];
    let rows = nodes.iter().zip(0..).flat_map(|(&(of, _, size, edges), row)| {
        [of, row, 0x7f00_0000_0000 + row * 16, size, edges, 0, 0]
    });
    let snapshot = json!({
        "snapshot": {
            "meta": {
                "node_fields": [
                    "type", "name", "id", "self_size", "edge_count", "trace_node_id",
                    "detachedness",
                ],
                "node_types": [types, "string", "number", "number", "number", "number", "number"],
                "edge_fields": ["type", "name_or_index", "to_node"],
                "edge_types": [["internal", "element"], "string_or_number", "from_node"],
            },
            "node_count": nodes.len(),
            "edge_count": 6,
            "trace_function_count": 0,
        },
        "nodes": rows.collect::<Vec<u64>>(),
        "edges": (1..7).flat_map(|row| [1, row, row * 7]).collect::<Vec<u64>>(),
        "strings": nodes.map(|(_, name, ..)| name),
    });
    let bytes = snapshot.to_string().into_bytes();
    let heap = load(&bytes);
    let names: Vec<_> = heap.objects().skip(1).map(|object| heap.type_name(object)).collect();
    let expected = ["Core.Array{Any, 1}", "Main.T299", "Main.T6", "String", "Module", "DataType"];
    assert_eq!(names, expected);
    assert!(matches!(heap.value(ObjectId(4)), Value::Text { text, .. } if text == "a text"));
    let details = &info(Format::Heapsnapshot, &bytes)["heap"]["snapshots"][0]["details"];
    assert_eq!(details["by_node_type"]["object"], 2, "{details}");
}

#[test]
fn a_glob_that_is_the_name_of_a_type_selects_it() {
    let mut snapshot = Snapshot::new();
    for _ in 0..30 {
        let [user, text] = [snapshot.object("Object", 3200), snapshot.node("string", "ann", 20)];
        snapshot.edge(1, "element", "1", user).edge(user, "property", "name", text);
        snapshot.edge(user, "property", "mail", text);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.heapsnapshot");
    std::fs::write(&path, snapshot.bytes()).unwrap();
    let run = |words: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = program.args(words).arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["top", "--suspects"]).contains("dumptool path --type '{name, mail}'"));
    for command in ["path", "top", "tree", "find"] {
        let text = run(&[command, "--type", "{name, mail}"]);
        assert!(text.contains("{name, mail}"), "{command}: {text}");
    }
}

/// `diff` and `report` ask where thousands of functions are. They took minutes for snapshots of 11 MiB
/// when the file was read again for each of them.
#[test]
fn the_places_of_many_functions_are_found_at_once() {
    const FUNCTIONS: usize = 20_000;
    let mut snapshot = Snapshot::new();
    let script = snapshot.node("code", "app.js", 40);
    let shared = snapshot.node("code", "f", 40);
    let name = snapshot.node("string", "/srv/app.js", 40);
    snapshot.edge(script, "internal", "name", name).edge(shared, "internal", "script", script);
    let nodes: Vec<_> = (0..FUNCTIONS).map(|_| snapshot.node("closure", "f", 32)).collect();
    snapshot.edge(nodes[0], "internal", "shared", shared);
    for line in iter::once(0).chain((1..FUNCTIONS).rev()) {
        snapshot.edge(1, "element", "1", nodes[line]);
        snapshot.location(nodes[line], [9 + line % 2, line, 3]);
        snapshot.location(nodes[line], [99, 0, 0]);
    }
    let bytes = snapshot.bytes();
    let heap = load(&bytes);
    let start = Instant::now();
    for (line, node) in nodes.iter().enumerate() {
        let location = heap.location(ObjectId(*node as u32)).unwrap();
        let file = if line % 2 == 0 { "/srv/app.js" } else { "script 10" };
        assert_eq!((&*location.file, location.line), (file, line as u64 + 1), "{node}");
        assert_eq!(location.column, 4);
    }
    assert_eq!(heap.location(ObjectId(0)), None);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
