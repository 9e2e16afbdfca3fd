//! All dumps of a folder against what an independent decoder says of them.

use dumptool::input::{self, Format, ReadOptions};
use dumptool::source::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The decoder's names of records where they differ from ours.
const RECORD_NAMES: &[(&str, &str)] = &[
    ("frame", "stack_frame"),
    ("osthread", "os_thread"),
    ("data", "data_segment"),
    ("bss", "bss_segment"),
    ("otherroot", "other_root"),
    ("queuedfinalizer", "queued_finalizer"),
    ("allocsample", "alloc_sample"),
    ("stackroot", "stack_root"),
    ("dataroot", "data_root"),
];

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn dumps_of_the_corpus_agree_with_an_independent_decoder() {
    let corpus = crate::support::corpus_folder("");
    let folder = Path::new(&corpus).join("go");
    let mut compared = 0;
    for entry in folder.read_dir().expect("the corpus has a folder go") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|extension| extension == "heapdump") {
            compare(&path, &truth_of(&path));
            compared += 1;
        }
    }
    assert!(compared > 0, "no dumps in {}", folder.display());
}

/// Dumps in old layouts have their truth in `old_NAME.json`.
pub(crate) fn truth_of(dump: &Path) -> Value {
    let name = dump.file_stem().unwrap().to_str().unwrap();
    let candidates: [PathBuf; 2] =
        [dump.with_file_name(format!("old_{name}.json")), dump.with_extension("json")];
    let path = candidates
        .iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no truth for {name}"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn compare(path: &Path, truth: &Value) {
    let source = Source::open(path).unwrap();
    let info = serde_json::to_value(
        input::info(Format::Go, source.bytes(), ReadOptions::default()).unwrap(),
    )
    .unwrap();
    let snapshot = &info["heap"]["snapshots"][0];
    let details = &snapshot["details"];
    let same = |what: &str, ours: &Value, truth: &Value| {
        assert_eq!(ours, truth, "{what} of {}", path.display())
    };

    same("complete", &info["complete"], &json!(true));
    same("damage", &info["damage"], &Value::Null);
    let version = match truth["format"].as_str().unwrap() {
        "draft" => "1.3-draft".to_owned(),
        digits => format!("1.{}", &digits[1..]),
    };
    same("format_version", &info["format_version"], &json!(version));
    same("objects", &snapshot["objects"], &truth["objects"]);
    same("shallow_bytes", &snapshot["shallow_bytes"], &truth["object_bytes"]);
    same("types", &snapshot["types"], &truth["types"]);
    same("references", &snapshot["references"], &Value::Null);
    same("external_bytes", &snapshot["external_bytes"], &json!(0));
    for (name, count) in truth["records"].as_object().unwrap() {
        let ours = RECORD_NAMES
            .iter()
            .find(|(theirs, _)| theirs == name)
            .map_or(name.as_str(), |(_, ours)| ours);
        same(ours, &info["records"][ours], count);
    }
    assert_eq!(
        info["records"].as_object().unwrap().len(),
        truth["records"].as_object().unwrap().len(),
        "{}",
        path.display()
    );

    same("phantom_objects", &details["phantom_objects"], &truth["phantom_objects"]);
    same("phantom_bytes", &details["phantom_bytes"], &truth["phantom_bytes"]);
    same("pointer_size", &details["pointer_size"], &truth["params"]["ptrsize"]);
    same("big_endian", &details["big_endian"], &json!(truth["params"]["bigendian"] == 1));
    same("ncpu", &details["ncpu"], &truth["params"]["ncpu"]);
    same("hchan_size", &details["hchan_size"], &truth["params"]["hchansize"]);
    if truth["params"]["arch"].is_string() {
        same("arch", &details["arch"], &truth["params"]["arch"]);
    }
    let experiment = &truth["params"]["experiment_or_version"];
    let ours = if details["go_version"].is_null() {
        &details["experiment"]
    } else {
        &details["go_version"]
    };
    same("experiment or version", ours, experiment);
    // Up to 1.3 the types have the fields, not the objects.
    if !info["format_version"].as_str().unwrap().starts_with("1.3") {
        same("pointer_fields", &details["pointer_fields"], &truth["pointer_fields"]);
    }
    same("malloc_headers", &details["malloc_headers"], &truth["header_objects"]);
    same("finalizers", &details["finalizers"], &truth["finalizers"]);
    same("queued_finalizers", &details["queued_finalizers"], &truth["queued_finalizers"]);
    let goroutines = truth["goroutines"].as_array().map_or(0, Vec::len);
    same("goroutines", &details["goroutines"]["count"], &json!(goroutines));
    match truth["memstats"].as_object() {
        None => same("memstats", &details["memstats"], &Value::Null),
        Some(memstats) => {
            for (name, value) in memstats {
                if value.is_number() {
                    same(name, &details["memstats"][name], value);
                }
            }
            same(
                "heap_objects_matches",
                &details["heap_objects_matches"],
                &json!(memstats["HeapObjects"] == truth["objects"]),
            );
            same(
                "heap_alloc_matches",
                &details["heap_alloc_matches"],
                &json!(memstats["HeapAlloc"] == truth["object_bytes"]),
            );
        }
    }
    for segment in truth["segments"].as_array().unwrap() {
        let ours = &details["segments"][segment[0].as_str().unwrap()];
        same("segment bytes", &ours["bytes"], &segment[2]);
        same("segment fields", &ours["pointer_fields"], &segment[3]);
    }
}
