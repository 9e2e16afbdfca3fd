//! MoarVM heap snapshots: every block and dialect from the builder, real files with their truth, damaged files.

mod support;

use dumptool::error::{Error, ErrorKind};
use dumptool::input::mvmheap::{Records, check, for_each_record, info};
use dumptool::input::{Options, Visitor};
use dumptool::model::fields::{FieldSink, Record};
use dumptool::source::Source;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use support::mvmheap::{Dialect, Snapshot, Writer, row, version_2, world};

fn info_json(bytes: &[u8]) -> Value {
    serde_json::to_value(info(bytes, Options::default()).unwrap()).unwrap()
}

/// Collects what `cat` would show, as JSON.
struct Cat {
    rows: Vec<Value>,
    contents: bool,
}

struct Fields(serde_json::Map<String, Value>, bool);

impl FieldSink for Fields {
    fn unsigned(&mut self, name: &'static str, value: u64) {
        self.0.insert(name.into(), value.into());
    }
    fn signed(&mut self, name: &'static str, value: i128) {
        self.0.insert(name.into(), value.to_string().into());
    }
    fn address(&mut self, name: &'static str, value: u64) {
        self.0.insert(name.into(), format!("{value:#x}").into());
    }
    fn float(&mut self, name: &'static str, value: f64) {
        self.0.insert(name.into(), value.into());
    }
    fn boolean(&mut self, name: &'static str, value: bool) {
        self.0.insert(name.into(), value.into());
    }
    fn text(&mut self, name: &'static str, value: &[u8]) {
        self.0.insert(name.into(), String::from_utf8_lossy(value).into());
    }
    fn contents(&mut self, name: &'static str, value: &[u8]) {
        self.0.insert(name.into(), value.into());
    }
    fn list<T>(&mut self, name: &'static str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self)) {
        let item = |item| {
            let mut fields = Self(serde_json::Map::new(), self.1);
            each(item, &mut fields);
            Value::Object(fields.0)
        };
        let items: Vec<_> = items.map(item).collect();
        self.0.insert(name.into(), items.into());
    }
    fn wants_contents(&self) -> bool {
        self.1
    }
}

impl Visitor for Cat {
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
        let mut fields = Fields(serde_json::Map::new(), self.contents);
        record.fields(&mut fields);
        fields.0.insert("offset".into(), offset.into());
        fields.0.insert("record".into(), record.name().into());
        self.rows.push(Value::Object(fields.0));
        ControlFlow::Continue(())
    }
}

fn cat(bytes: &[u8], contents: bool) -> (Vec<Value>, Option<Error>) {
    let mut visitor = Cat { rows: Vec::new(), contents };
    let error = for_each_record(bytes, Options::default(), &mut visitor).err();
    (visitor.rows, error)
}

/// Compares `info` with the answer of an independent decoder, for all samples of the folder that the variable names.
#[test]
fn corpus() {
    let Some(corpus) = std::env::var_os("DUMPTOOL_CORPUS") else {
        eprintln!("DUMPTOOL_CORPUS is not set; no sample was compared");
        return;
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(Path::new(&corpus).join("mvmheap")).unwrap() {
        let path = entry.unwrap().path();
        let truth = path.with_extension("json");
        if path.extension().is_none_or(|extension| extension != "mvmheap") || !truth.exists() {
            continue;
        }
        let truth: Value = serde_json::from_slice(&std::fs::read(truth).unwrap()).unwrap();
        compare(&path.display().to_string(), &info_json(Source::open(&path).unwrap().bytes()), &truth);
        compared += 1;
    }
    assert!(compared >= 4, "only {compared} samples");
}

/// Compares every number that both know.
fn compare(name: &str, info: &Value, truth: &Value) {
    let version = truth["version"].as_u64().or(truth["scan"]["version"].as_u64()).unwrap();
    // Where both readings of the decoder agree, only the one through the table of contents lists the snapshots.
    let listed = if truth["toc"]["snapshots"].is_null() { &truth["scan"]["snapshots"] } else { &truth["toc"]["snapshots"] };
    let expected = if listed.is_null() { &truth["snapshots"] } else { listed };
    let truth = if truth["scan"].is_null() { truth } else { &truth["scan"] };
    assert_eq!(info["format_version"], if version == 2 { "2" } else { "3.1" }, "{name}");
    if let Some(good_until) = truth.get("good_until") {
        assert_eq!(info["complete"], false, "{name}");
        assert!(info["damage"]["offset"].as_u64() >= good_until.as_u64(), "{name}");
    } else {
        assert_eq!(info["damage"], Value::Null, "{name}");
    }
    if let Some(blocks) = truth["blocks"].as_u64() {
        let counted: u64 = info["records"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(counted, blocks, "{name}");
    }
    if let Some(sections) = truth["sections"].as_array() {
        let counted: u64 = info["records"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(counted, sections.len() as u64 + 1, "{name}");
    }
    let start_time = truth["filemeta"]["start_time"].as_u64();
    let snapshots = info["heap"]["snapshots"].as_array().unwrap();
    let expected = expected.as_array().unwrap();
    assert!(snapshots.len() >= expected.len().min(truth["num_snapshots"].as_u64().unwrap() as usize), "{name}");
    for (i, (snapshot, truth)) in snapshots.iter().zip(expected).enumerate() {
        let name = format!("{name}, snapshot {i}");
        let (details, kinds) = (&snapshot["details"], &truth["by_kind"]);
        if kinds.is_null() {
            assert_eq!(snapshot["complete"], false, "{name}");
            continue;
        }
        let kind = |kind: &str| kinds[kind].as_u64().unwrap_or(0);
        let by_kind = json!({
            "object": kind("object"), "type_object": kind("type_object"), "stable": kind("stable"), "frame": kind("frame"),
            "permanent_roots": kind("perm_roots"), "instance_roots": kind("instance_roots"), "c_stack_roots": kind("cstack_roots"),
            "thread_roots": kind("thread_roots"), "root": kind("root"), "inter_generational_roots": kind("intergen_roots"),
            "call_stack_roots": kind("callstack_roots"),
        });
        assert_eq!(details["by_kind"], by_kind, "{name}");
        assert_eq!(snapshot["index"], i, "{name}");
        let objects = kind("object") + kind("type_object") + kind("stable") + kind("frame");
        assert_eq!(snapshot["objects"], objects, "{name}");
        assert_eq!(snapshot["references"], truth["references"], "{name}");
        assert_eq!(snapshot["shallow_bytes"], truth["managed"], "{name}");
        assert_eq!(snapshot["external_bytes"], truth["unmanaged"], "{name}");
        let largest = &truth["top_objects_by_size"][0];
        let shown = format!("{} [{}]", details["biggest_type"]["name"].as_str().unwrap(), details["biggest_type"]["repr"].as_str().unwrap());
        assert_eq!(json!([shown, details["biggest_type"]["bytes"]]), *largest, "{name}");
        if let Some(sizes) = truth["tables_after"].as_array() {
            assert_eq!(json!([details["strings"], snapshot["types"], details["frames"]]), json!(sizes), "{name}");
        }
        for (key, value) in truth["snapmeta"].as_object().into_iter().flatten() {
            assert_eq!(details[key], *value, "{name}");
        }
        let time = truth["snapmeta"]["snap_time"].as_u64().zip(start_time).map(|(time, start)| time - start);
        assert_eq!(snapshot["time_us"].as_u64(), time, "{name}");
    }
    for (ours, theirs) in [("strings", "strings"), ("frames", "static_frames")] {
        if let Some(last) = snapshots.last().filter(|last| last["complete"] == true) {
            assert_eq!(last["details"][ours], truth[theirs], "{name}");
        }
    }
}
