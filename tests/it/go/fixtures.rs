//! Dumps of real programs, and of every old layout, with what is known of them (see
//! `fixtures/go/README.md`).

use dumptool::input::{self, Format, ReadOptions, check::Findings, info::Info};
use dumptool::source::Source;
use serde_json::{Value, json};
use std::path::Path;

/// The bytes of a fixture, decompressed.
pub(crate) fn fixture(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/go").join(name);
    Source::open(&path).unwrap()
}

fn info(name: &str) -> Info {
    input::info(Format::Go, fixture(name).bytes(), ReadOptions::default()).unwrap()
}

fn findings(name: &str) -> Findings {
    input::check(Format::Go, fixture(name).bytes(), ReadOptions::default()).unwrap()
}

/// Name, version, architecture, objects, bytes, phantoms, malloc headers, types.
type Truth = (&'static str, &'static str, Option<&'static str>, u64, u64, u64, u64, u64);

const TRUTHS: &[Truth] = &[
    ("draft13.heapdump", "1.3-draft", None, 9, 408, 0, 0, 2),
    ("draft13_32be.heapdump", "1.3-draft", None, 9, 236, 0, 0, 2),
    ("go13.heapdump", "1.3", Some("amd64"), 10, 448, 0, 0, 3),
    ("go13_32be.heapdump", "1.3", Some("386"), 10, 256, 0, 0, 3),
    ("go14.heapdump", "1.4", Some("amd64"), 10, 448, 0, 0, 3),
    ("go14_be.heapdump", "1.4", Some("s390x"), 10, 448, 0, 0, 3),
    ("go15_32.heapdump", "1.5", Some("386"), 10, 256, 0, 0, 3),
    ("go16.heapdump", "1.6", Some("amd64"), 10, 448, 0, 0, 3),
    ("go17_be.heapdump", "1.7", Some("s390x"), 10, 448, 0, 0, 3),
    ("tiny_go119.heapdump.zst", "1.7", Some("amd64"), 2026, 140168, 0, 0, 30),
    ("tiny_go127.heapdump.zst", "1.7", Some("amd64"), 2019, 161880, 195, 20, 66),
    ("panic_go127.heapdump.zst", "1.7", Some("amd64"), 2020, 161928, 195, 20, 66),
    ("mini_go127_386.heapdump.zst", "1.7", Some("386"), 165, 42552, 131, 25, 12),
    ("mini_go127_s390x.heapdump.zst", "1.7", Some("s390x"), 164, 61352, 149, 8, 12),
];

#[test]
fn fixtures_are_summarized_as_their_truth_says() {
    for (name, version, arch, objects, bytes, phantoms, headers, types) in TRUTHS {
        let info = serde_json::to_value(info(name)).unwrap();
        let snapshot = &info["heap"]["snapshots"][0];
        let details = &snapshot["details"];
        let ours = json!([
            info["format_version"],
            details["arch"],
            snapshot["objects"],
            snapshot["shallow_bytes"],
            details["phantom_objects"],
            details["malloc_headers"],
            snapshot["types"],
        ]);
        assert_eq!(
            ours,
            json!([version, arch, objects, bytes, phantoms, headers, types]),
            "{name}"
        );
        assert_eq!(info["complete"], json!(true), "{name}");
        let matches = if version.ends_with("draft") { Value::Null } else { json!(true) };
        assert_eq!(
            (&details["heap_objects_matches"], &details["heap_alloc_matches"]),
            (&matches, &matches),
            "{name}"
        );
        assert_eq!(info["warnings"], json!([]), "{name}");
    }
}

#[test]
fn fixtures_keep_every_invariant() {
    for (name, ..) in TRUTHS {
        let findings = findings(name);
        let broken: Vec<_> = findings.findings.iter().filter(|finding| !finding.ok).collect();
        assert!(broken.is_empty() && findings.damage.is_none(), "{name}: {broken:?}");
    }
}

#[test]
fn details_begin_with_the_keys_that_scripts_know_in_their_order() {
    let json = serde_json::to_string(&info("tiny_go127.heapdump.zst")).unwrap();
    let keys = [
        "phantom_objects",
        "phantom_bytes",
        "pointer_size",
        "big_endian",
        "arch",
        "go_version",
        "heap_objects_matches",
        "heap_alloc_matches",
        "memstats",
    ];
    let details = json.split_once("\"details\":").unwrap().1;
    let positions: Vec<_> =
        keys.iter().map(|key| details.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(positions.is_sorted(), "{positions:?}");
    assert!(json.contains("\"details\":{\"phantom_objects\":195,"));
}

#[test]
fn goroutines_are_counted_by_what_they_wait_for() {
    let details = serde_json::to_value(info("tiny_go127.heapdump.zst")).unwrap()["heap"]["snapshots"][0]["details"].take();
    assert_eq!(details["goroutines"]["count"], json!(16));
    assert_eq!(details["goroutines"]["by_status"], json!([{"name": "waiting", "count": 16}]));
    assert_eq!(details["stack_frames"], json!(80));
    assert_eq!(details["segments"]["bss"], json!({"bytes": 141_624, "pointer_fields": 10335}));
}
