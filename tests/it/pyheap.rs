//! Heap dumps of Python programs.

use crate::support::pyheap::{APP, App, leaks};
use crate::support::{broken, fixture, json, read, records};
use dumptool::analysis::collections::Collections;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::histogram::{GroupBy, Scope};
use dumptool::analysis::verdict::{Surveyed, Suspect, Verdict};
use dumptool::analysis::{DominatorTree, Histogram, Waste, WasteKind};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::Redaction;
use dumptool::model::heap::{Heap, ObjectId, RootKind, Value};

fn load(bytes: &[u8]) -> Heap<'_> {
    let loaded = input::load(Format::Pyheap, bytes, LoadOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.heap
}

fn at(heap: &Heap<'_>, address: u64) -> ObjectId {
    heap.find(&format!("{address:#x}")).unwrap_or_else(|| panic!("no object {address}"))
}

#[test]
fn objects_have_the_types_names_and_values_that_python_gives_them() {
    let heap = load(APP.as_bytes());
    assert!(heap.warnings().is_empty(), "{:?}", heap.warnings());
    assert_eq!(heap.type_name(at(&heap, 400)), "app.Session");
    assert_eq!(heap.type_name(at(&heap, 200)), "dict");
    assert_eq!(heap.external_bytes(at(&heap, 810)), 77);
    let value = |address| heap.value(at(&heap, address));
    assert_eq!(value(500), Value::Text { text: "anné".into(), length: 4 });
    assert_eq!(value(510), Value::Text { text: "b".into(), length: 151 });
    assert_eq!(value(330), Value::Integer(17));
    assert_eq!(value(1030), Value::Name("app.Session".into()));
    let labels = |address| -> Vec<String> {
        let references = heap.references_of(at(&heap, address));
        references.map(|reference| reference.label.text(heap.names()).into_owned()).collect()
    };
    assert_eq!(labels(100), ["__dict__"]);
    assert_eq!(labels(200), ["key", "cache", "key", "Session"]);
    assert_eq!(labels(210), ["key", "value", "key", "value"]);
    assert_eq!(labels(400), ["class", "user"]);
    assert_eq!(labels(700), ["[0]"]);
}

#[test]
fn values_of_dicts_are_named_by_their_keys() {
    let heap = load(APP.as_bytes());
    let rows = heap.references().range(at(&heap, 210));
    let names: Vec<String> = rows.map(|row| heap.reference_text(row).into_owned()).collect();
    assert_eq!(names, ["key", "['k1']", "key", "[17]"]);
}

#[test]
fn modules_frames_and_native_code_are_roots_and_the_rest_is_garbage() {
    let heap = load(APP.as_bytes());
    let roots: Vec<(RootKind, String, String)> = heap
        .roots()
        .iter()
        .map(|root| (root.kind, root.text(heap.names()), heap.id(root.object)))
        .collect();
    let expected = [
        (RootKind::Frame, "work (app.py:9): rows", 810),
        (RootKind::Frame, "work (app.py:9)", 800),
        (RootKind::Global, "module app", 100),
        (RootKind::Native, "held by C", 600),
    ];
    let expected = expected.map(|(kind, text, at)| (kind, text.to_owned(), format!("{at:#x}")));
    assert_eq!(roots, expected);
    let tree = DominatorTree::new(&heap);
    let unreachable: Vec<String> = heap
        .objects()
        .filter(|object| !tree.is_live(*object))
        .map(|object| heap.id(object))
        .collect();
    assert_eq!(unreachable, ["0x2bc", "0x2c6"]);
}

/// Attributes of classes are read by name only; keys of dicts and what `setattr` makes are data.
#[test]
fn attributes_that_the_source_names_stay_when_a_heap_is_redacted() {
    let code = APP.replace(
        "{\"end\":true",
        "{\"type\":8,\"address\":1080,\"module\":\"builtins\",\"name\":\"code\",\"kind\":\"code\"}\n\
         {\"type\":9,\"address\":1090,\"module\":\"builtins\",\"name\":\"tuple\",\"kind\":\"tuple\"}\n\
         {\"names\":3,\"of\":[\"co_names\"]}\n\
         {\"o\":900,\"t\":8,\"s\":200,\"c\":1,\"n\":3,\"r\":[910]}\n\
         {\"o\":910,\"t\":9,\"s\":48,\"c\":1,\"i\":[920]}\n\
         {\"o\":920,\"t\":2,\"s\":53,\"c\":1,\"v\":\"user\"}\n{\"end\":true",
    );
    for (text, expected) in [(APP, "{1}"), (&code, "user")] {
        let mut heap = load(text.as_bytes());
        heap.redact(Redaction::Blank);
        let row = heap.fields_of(at(&heap, 400)).start;
        assert_eq!(heap.reference_text(row), expected);
        let key = heap.fields_of(at(&heap, 210)).start + 1;
        assert_eq!(heap.reference_text(key), "value");
    }
}

/// An instance of 48 bytes with one attribute has a table of 24 more; one with a slot has 40.
#[test]
fn instances_without_slots_and_empty_collections_are_waste() {
    let empty = APP.replace(r#""s":64,"c":1,"i":[500]"#, r#""s":88,"c":1"#);
    let heap = load(empty.as_bytes());
    let waste = Waste::of(&heap, &DominatorTree::new(&heap));
    let found = |kind| {
        let part = waste.parts.iter().find(|part| part.kind == kind).unwrap();
        (part.count, part.bytes)
    };
    assert_eq!(found(WasteKind::Slots), (2, 2 * 32));
    assert_eq!(found(WasteKind::EmptyCollection), (2, 88 + 1000 + 77));
}

fn suspects(dump: &str) -> Vec<Suspect> {
    let heap = load(dump.as_bytes());
    let graph = Graph::of(&heap);
    let tree = DominatorTree::of_graph(&heap, &graph);
    let measured = Surveyed { heap: &heap, graph: &graph, tree: &tree };
    Verdict::of(measured, &Collections::of(&heap)).suspects
}

/// The number of objects of each suspect, and their holder.
fn held(app: &mut App) -> Vec<(u64, String)> {
    let label = |found: Suspect| (found.count, found.holders[0].label.clone());
    suspects(&app.dump()).into_iter().map(label).collect()
}

#[test]
fn a_value_of_a_dict_is_named_by_its_key() {
    let mut app = App::default();
    let (blob, none) = (app.text("x", 1_000_000), app.list(&[]));
    let inner = app.dict(&[("a.b", blob)]);
    let dict = app.dict(&[("blob", inner), ("none", none)]);
    assert_eq!(held(app.variable("D", dict)), [(1, "app.D['blob']['a.b']".to_owned())]);
}

#[test]
fn a_list_is_named_and_not_the_dict_that_holds_it() {
    for others in 0..2 {
        let mut app = App::default();
        let rows: Vec<u64> = (0..1000).map(|_| app.text("row", 1000)).collect();
        let (rows, none) = (app.list(&rows), app.list(&[]));
        let dict = app.dict(&[("rows", rows), ("none", none)][..=others]);
        app.variable("CACHE", dict);
        assert_eq!(held(&mut app), [(1000, "app.CACHE['rows']".to_owned())]);
    }
}

#[test]
fn dicts_in_a_dict_are_told_apart_by_their_contents() {
    let mut app = App::default();
    let mut sessions = |many| {
        let entries: Vec<_> = (0..many).map(|_| ("key", app.session())).collect();
        app.dict(&entries)
    };
    let (some, more) = (sessions(400), sessions(600));
    let alike = app.dict(&[("a", some), ("b", more)]);
    assert_eq!(held(app.variable("REG", alike)), [(1000, "app.REG".to_owned())]);

    let mut app = App::default();
    let rows: Vec<_> = (0..1200).map(|_| ("key", app.text("row", 1000))).collect();
    let sessions: Vec<_> = (0..600).map(|_| ("key", app.session())).collect();
    let (rows, sessions, none) = (app.dict(&rows), app.dict(&sessions), app.dict(&[]));
    let unlike = app.dict(&[("a", rows), ("none", none), ("b", sessions)]);
    // The texts include the keys.
    let expected = [(2400, "app.REG['a']".to_owned()), (600, "app.REG['b']".to_owned())];
    assert_eq!(held(app.variable("REG", unlike)), expected);
}

#[test]
fn dicts_in_two_attributes_of_one_object_are_told_apart() {
    let mut app = App::default();
    let [nodes, edges] = [600, 400].map(|many| {
        let entries: Vec<_> = (0..many).map(|_| ("key", app.dict(&[]))).collect();
        app.dict(&entries)
    });
    let graph = app.session_with(&[("nodes", nodes), ("edges", edges)]);
    let held = held(app.variable("g", graph));
    let labels: Vec<&str> = held.iter().map(|(_, label)| &**label).collect();
    assert_eq!(labels, ["app.g.nodes", "app.g.edges"]);
}

#[test]
fn values_of_many_dicts_are_not_named_by_the_key_of_one() {
    let mut app = App::default();
    let shared: Vec<u64> = (0..1000).map(|_| app.text("row", 1000)).collect();
    let lists: Vec<u64> = (0..40).map(|_| app.list(&shared)).collect();
    let entries: Vec<(&str, u64)> = lists.iter().map(|list| ("key", *list)).collect();
    let dict = app.dict(&entries);
    assert_eq!(held(app.variable("D", dict))[0].1, "app.D");
}

/// An error that is kept keeps the variables of the calls that it passed.
#[test]
fn the_verdict_names_the_variable_of_a_call_that_a_traceback_keeps() {
    let suspects = suspects(&leaks());
    let words: Vec<_> = suspects
        .iter()
        .map(|found| {
            let holder = found.holders.first().map_or("", |holder| &*holder.label);
            (found.kind.name(), found.count, holder, found.via.as_deref().unwrap_or(""))
        })
        .collect();
    let via = "local rows of load (views.py:5) in the traceback of ValueError";
    let expected = [("collection", 2000, "app.last_error", via), ("cycles", 1000, "", "")];
    assert_eq!(words, expected);
}

#[test]
fn a_cut_dump_is_read_up_to_the_cut() {
    for end in (200..APP.len()).step_by(97) {
        let bytes = &APP.as_bytes()[..end];
        let loaded = input::load(Format::Pyheap, bytes, LoadOptions::default()).unwrap();
        assert_eq!(loaded.heap.check(), Ok(()), "{end}");
        let whole = APP[..end].ends_with('\n');
        assert_eq!(loaded.incomplete, !whole, "{end}");
    }
}

#[test]
fn what_a_dump_promises_is_checked() {
    assert_eq!(broken(Format::Pyheap, APP.as_bytes()), [""; 0]);
    for (from, to, rule) in [
        ("\"i\":[710]", "\"i\":[711]", "object.references"),
        ("\"app\",\"o\":[100]", "\"app\",\"o\":[101]", "root.references"),
        ("{\"o\":810,\"t\":4", "{\"o\":810,\"t\":44", "object.type"),
        ("\"n\":2", "\"n\":22", "object.names"),
        ("{\"o\":810,", "{\"o\":800,", "object.address"),
        ("{\"end\":true", "{\"note\":true", "line.json"),
    ] {
        assert!(APP.contains(from), "{from}");
        let rules = broken(Format::Pyheap, APP.replacen(from, to, 1).as_bytes());
        assert!(rules.iter().any(|broken| broken == rule), "{to}: {rules:?}");
    }
}

#[test]
fn records_are_the_lines() {
    let (records, damage) = records(Format::Pyheap, APP.as_bytes());
    assert!(damage.is_none(), "{damage:?}");
    assert_eq!(records.len(), APP.lines().count());
    assert_eq!(records[0]["record"], "header");
    assert_eq!(records[records.len() - 1]["record"], "end");
}

#[test]
fn the_fixture_is_what_python_makes_of_it() {
    let bytes = read(&fixture("pyheap/shop_python313.pyheap.zst"));
    let heap = load(&bytes);
    let truth = json(&fixture("pyheap/shop_python313.truth.json"));
    assert_eq!(heap.len() as u64, truth["objects"].as_u64().unwrap());
    let tree = DominatorTree::new(&heap);
    let histogram = Histogram::of(&heap, Some(&tree), GroupBy::Type, Scope::All);
    for row in truth["types"].as_array().unwrap() {
        let found = histogram.rows.iter().find(|found| found.name == row[0].as_str().unwrap());
        let found = found.unwrap_or_else(|| panic!("no type {row}"));
        assert_eq!(
            (found.sum.count, found.sum.shallow_bytes),
            (row[1].as_u64().unwrap(), row[2].as_u64().unwrap()),
            "{row}"
        );
    }
}

#[test]
fn a_large_dict_is_shown_in_linear_time_and_with_as_many_entries_as_requested() {
    let mut text = String::from("{\"pyheap\":1,\"python\":\"3.13.0\",\"pointer\":8}\n");
    for (number, kind) in ["dict", "str"].iter().enumerate() {
        text += &format!("{{\"type\":{number},\"address\":{number},\"module\":\"builtins\",");
        text += &format!("\"name\":\"{kind}\",\"kind\":\"{kind}\"}}\n");
    }
    let entries: Vec<String> = (1000..201_000).map(|address| address.to_string()).collect();
    text += &format!("{{\"o\":100,\"t\":0,\"s\":64,\"c\":1,\"k\":[{}]}}\n", entries.join(","));
    for address in &entries {
        text += &format!("{{\"o\":{address},\"t\":1,\"s\":50,\"c\":1,\"v\":\"{address}\"}}\n");
    }
    text +=
        "{\"root\":\"module\",\"name\":\"app\",\"o\":[100]}\n{\"end\":true,\"objects\":200001}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pyheap");
    std::fs::write(&path, text).unwrap();
    let mut show = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
    let show = show.arg("show").arg(&path).args(["0x64", "--entries", "5", "--timeout", "30"]);
    let output = show.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() < 60, "{} lines", text.lines().count());
    assert!(text.contains("showing 5 of 200 000 fields"), "{text}");
}
