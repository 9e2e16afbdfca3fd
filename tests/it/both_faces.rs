//! The command `convert` and `Dump::convert` write the same bytes and report the same losses.

use crate::support::{files, fixture};
use dumptool::{Dump, Kind, OutputFormat};
use rayon::prelude::*;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Status, losses and bytes of the command.
fn by_command(input: &Path, target: OutputFormat) -> (i32, Value, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["convert", "--format", "json", "--to", target.name()])
        .args([input, &path])
        .output()
        .unwrap();
    let report = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default();
    let bytes = std::fs::read(&path).unwrap_or_default();
    (output.status.code().unwrap(), report["lost"].clone(), bytes)
}

fn compare(dump: &Dump, input: &Path, target: OutputFormat) {
    let what = format!("{} to {}", input.display(), target.name());
    let (status, lost, bytes) = by_command(input, target);
    let mut out = Vec::new();
    match dump.convert(target.name(), &mut out) {
        Ok(losses) => {
            assert!(matches!(status, 0 | 3), "{what}: status {status}");
            assert_eq!(lost, serde_json::to_value(losses).unwrap(), "{what}");
            assert!(bytes == out, "{what}: {} bytes, not {}", bytes.len(), out.len());
        }
        // The library refuses what the command writes up to the damage.
        Err(error) => assert_ne!(status, 0, "{what}: {error}"),
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: add --release")]
fn the_command_and_the_library_convert_alike() {
    let compared = files(&fixture("")).into_par_iter().map(|path| {
        // The heap of a dump is loaded once for all targets.
        let Ok(dump) = dumptool::open(&path) else { return 0 };
        let is_heap = dump.kind() == Kind::Heap;
        let takes = |target: &OutputFormat| {
            if is_heap { target.takes_heaps() } else { target.takes_profiles() }
        };
        let targets = OutputFormat::ALL.into_iter().filter(takes);
        targets.map(|target| compare(&dump, &path, target)).count()
    });
    let compared: usize = compared.sum();
    assert!(compared > 500, "{compared}");
}
