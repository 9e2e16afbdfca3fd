//! `--spill`: large columns in files without names.
#![cfg(target_os = "linux")]

use crate::support::instances::{Id, Instances};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A dump of three objects in a circle. A table of addresses takes 2 MiB, which is large enough for a
/// file.
fn circle(folder: &Path) -> PathBuf {
    let mut heap = Instances::default();
    let ids = [heap.next(), heap.next(), heap.next()];
    for (place, id) in ids.into_iter().enumerate() {
        heap.object_at(id, "app.Link", &[("next", Id(ids[(place + 1) % ids.len()]))]);
    }
    let path = folder.join("circle.hprof");
    fs::write(&path, heap.finish_with_roots(&ids[..1])).unwrap();
    path
}

/// Runs `top` in a shell, after other commands.
fn top(before: &str, arguments: &[&Path]) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("{before} exec \"$0\" top --no-progress \"$@\""))
        .arg(env!("CARGO_BIN_EXE_dumptool"))
        .args(arguments)
        .output()
        .unwrap()
}

/// A folder with the dump, and one for files.
fn folders() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (dump, spill) = (circle(folder.path()), folder.path().join("spill"));
    fs::create_dir(&spill).unwrap();
    (folder, dump, spill)
}

#[test]
fn the_output_is_the_same_and_nothing_is_left() {
    let (_folder, dump, spill) = folders();
    let plain = top("", &[&dump]);
    let spilled = top("", &[Path::new("--spill"), &spill, &dump]);
    assert_eq!(plain.status.code(), Some(0), "{plain:?}");
    assert_eq!(spilled, plain);
    assert_eq!(fs::read_dir(&spill).unwrap().count(), 0);
}

#[test]
fn a_file_that_does_not_fit_ends_the_program_with_a_message() {
    let (_folder, dump, spill) = folders();
    let limit = "ulimit -f 100;";
    assert_eq!(top(limit, &[&dump]).status.code(), Some(0));
    let full = top(limit, &[Path::new("--spill"), &spill, &dump]);
    assert_eq!(full.status.code(), Some(3));
    let message = String::from_utf8(full.stderr).unwrap();
    assert!(
        message.starts_with("error: out of space: an allocation of 2097152 bytes"),
        "{message}"
    );
    assert!(full.stdout.is_empty());
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let (folder, dump, _) = folders();
    for wrong in [folder.path().join("absent"), dump.clone()] {
        let refused = top("", &[Path::new("--spill"), &wrong, &dump]);
        assert_eq!(refused.status.code(), Some(2));
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.starts_with(&format!("error: --spill {}: ", wrong.display())), "{message}");
    }
}

#[test]
fn columns_become_files_by_themselves_where_memory_is_short() {
    let folder = tempfile::tempdir().unwrap();
    let mut heap = Instances::default();
    let ids: Vec<u64> = (0..2_500_000).map(|_| heap.object("app.Link", &[])).collect();
    let dump = folder.path().join("many.hprof");
    let all = heap.array(&ids);
    fs::write(&dump, heap.finish_with_roots(&[all])).unwrap();
    let short = top("ulimit -d 75000;", &[Path::new("--threads=1"), &dump]);
    let message = String::from_utf8(short.stderr).unwrap();
    assert!(message.contains("large columns are kept in files in /"), "{message}");
    let table = String::from_utf8(short.stdout).unwrap();
    assert!(table.contains("2 500 000  app.Link"), "{table}");
}

/// A container's file system can be read-only.
#[test]
fn without_a_folder_for_temporary_files_small_inputs_are_in_memory() {
    let run = |script: &str, folder: &str| {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_dumptool")]);
        command.current_dir(fixtures).env("TMPDIR", folder).output().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    for script in [
        "\"$0\" top hprof/small_java17.hprof.zst",
        "\"$0\" top - < mvmheap/tiny-nqp.mvmheap",
        "cat mvmheap/tiny-nqp.mvmheap | \"$0\" top -",
    ] {
        let (without, with) =
            (run(script, "/nowhere"), run(script, folder.path().to_str().unwrap()));
        assert_eq!(without.status.code(), Some(0), "{script}: {without:?}");
        assert_eq!(without.stdout, with.stdout, "{script}");
    }
    let large = "{ echo '{\"pyheap\":1}'; yes '' | head -c 270000000; } | \"$0\" info -";
    let refused = run(large, "/nowhere");
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("set TMPDIR to a folder"), "{message}");
}
