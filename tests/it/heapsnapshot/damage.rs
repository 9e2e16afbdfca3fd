//! Snapshots that are cut or damaged.

use crate::support::heapsnapshot::{Snapshot, world};
use crate::support::{info, records};
use dumptool::analysis::DominatorTree;
use dumptool::error::ErrorKind;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use serde_json::json;

#[test]
fn a_snapshot_cut_at_any_byte_gives_what_comes_before_and_the_offset() {
    let bytes = world().bytes();
    // Up to the brace after the counts, nothing can be read.
    let head = bytes.windows(10).position(|window| window == b",\n\"nodes\":").unwrap() - 1;
    let whole = bytes.iter().rposition(|byte| *byte == b'}').unwrap();
    let mut objects = 0;
    for cut in 0..bytes.len() {
        let loaded = input::load(Format::Heapsnapshot, &bytes[..cut], LoadOptions::default());
        if cut <= head {
            assert!(loaded.is_err(), "{cut}");
            continue;
        }
        let loaded = loaded.unwrap();
        assert_eq!(loaded.damage.is_none(), cut > whole, "{cut}");
        if let Some(damage) = &loaded.damage {
            assert_eq!(
                (damage.kind(), damage.offset()),
                (ErrorKind::Truncated, Some(cut as u64)),
                "{damage}"
            );
        }
        loaded.heap.check().unwrap();
        DominatorTree::new(&loaded.heap);
        assert!(loaded.heap.len() >= objects, "more bytes give no fewer objects");
        objects = loaded.heap.len();
        let (records, error) = records(Format::Heapsnapshot, &bytes[..cut]);
        assert_eq!(error.is_none(), cut > whole);
        let nodes = records.iter().filter(|record| record["record"] == "node").count();
        assert_eq!(nodes, loaded.heap.len());
        let info = info(Format::Heapsnapshot, &bytes[..cut]);
        assert_eq!(info["heap"]["snapshots"][0]["details"]["nodes"], json!(nodes));
    }
}

#[test]
fn strings_that_are_cut_off_are_called_by_their_numbers() {
    let bytes = world().bytes();
    let strings = bytes.windows(11).position(|window| window == b"\"strings\":[").unwrap();
    let loaded =
        input::load(Format::Heapsnapshot, &bytes[..strings], LoadOptions::default()).unwrap();
    let session = loaded.heap.find("#9").unwrap();
    assert!(loaded.heap.type_name(session).starts_with('#'), "{}", loaded.heap.type_name(session));
    assert!(!loaded.incomplete, "all references are there");
}

#[test]
fn edges_to_nodes_outside_the_snapshot_are_dropped_by_every_command() {
    let mut snapshot = Snapshot::new();
    let page = snapshot.object("Page", 32);
    snapshot.edge(1, "element", "1", page).edge(page, "property", "gone", 99);
    snapshot.edge(page, "property", "self", page);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.heapsnapshot");
    std::fs::write(&path, snapshot.bytes()).unwrap();
    for command in
        [&["top"][..], &["top", "--quick"], &["info"], &["tree"], &["path", "--type", "Page"]]
    {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = program.args(command).arg(&path).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let is_quick = command.contains(&"--quick");
        assert_eq!(
            output.status.code(),
            Some(if is_quick { 0 } else { 3 }),
            "{command:?}: {error}"
        );
        assert!(is_quick || error.starts_with("error: "), "{command:?}: {error}");
        assert!(!output.stdout.is_empty(), "{command:?}: {error}");
    }
}
