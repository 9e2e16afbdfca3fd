//! What a command may cost whatever it does, and what an output may be.
#![cfg(unix)]

use crate::support::{fixture, hostile};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn dumptool(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(words).output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn file(folder: &Path, name: &str, bytes: Vec<u8>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_command_ends_when_its_processor_time_is_used_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.pb.zst", hostile::small_samples());
    let out = folder.path().join("out.csv");
    let output = dumptool(&[
        "convert",
        "--timeout",
        "1",
        "--max-memory",
        "8GiB",
        text(&path),
        text(&out),
        "--table",
        "samples",
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(error(&output).contains("of processor time\n  hint: --timeout"), "{}", error(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_ends_when_it_needs_more_memory_than_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.heapsnapshot.zst", hostile::long_string());
    let output = dumptool(&["show", "--max-memory", "32MiB", text(&path), "#5"]);
    let message = "error: the command needs more memory than the limit of 32 MiB";
    assert!(error(&output).starts_with(message), "{}", error(&output));
    assert_eq!(output.status.code(), Some(2));
    let output = dumptool(&["show", "--max-memory", "1GiB", text(&path), "#5"]);
    assert!(output.status.success(), "{}", error(&output));
}

/// Each node is called by the same long name, which the file has once.
#[test]
fn a_command_prints_no_more_than_its_input_justifies() {
    let folder = tempfile::tempdir().unwrap();
    let files = hostile::files();
    let (name, bytes) =
        files.into_iter().find(|(name, _)| *name == "long-name.heapsnapshot").unwrap();
    let path = file(folder.path(), name, bytes);
    let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["cat", text(&path)])
        .stdout(File::create(folder.path().join("out")).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(error(&output).contains("the output would exceed 64 MiB"), "{}", error(&output));
    assert!(fs::metadata(folder.path().join("out")).unwrap().len() <= 64 << 20);
}

/// A copy of a fixture, uncompressed, with these permissions.
fn copy(folder: &Path, name: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, crate::support::read(&fixture("dart/tiny_derived_3.0.5.dartheap.zst")))
        .unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn no_input_is_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old.dartheap", "new.dartheap"].map(|name| copy(folder.path(), name, 0o644));
    let link = folder.path().join("link.svg");
    fs::hard_link(&old, &link).unwrap();
    let before = fs::read(&old).unwrap();
    let [old, new, link] = [text(&old), text(&new), text(&link)];
    let refused = |output: &Output| {
        assert_eq!(output.status.code(), Some(2), "{}", error(output));
        assert!(error(output).contains("the output file is also an input"), "{}", error(output));
        assert_eq!(fs::read(old).unwrap(), before);
    };
    refused(&dumptool(&["convert", old, link]));
    refused(&dumptool(&["convert", new, link, "--base", old]));
    refused(&dumptool(&["convert", new, old, "--to", "svg", "--base", link]));
    refused(&dumptool(&["report", old, new, "-o", link]));
    let stdin = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["convert", "-", link])
        .stdin(Stdio::from(File::open(old).unwrap()))
        .output();
    refused(&stdin.unwrap());
    let stdout = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["convert", new, "-", "--to", "svg", "--base", old])
        .stdout(Stdio::from(File::options().append(true).open(link).unwrap()))
        .output();
    refused(&stdout.unwrap());
}

#[test]
fn an_output_is_readable_by_nobody_who_cannot_read_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let new = copy(folder.path(), "new.dartheap", 0o644);
    let usual = {
        let path = folder.path().join("usual");
        File::create(&path).unwrap();
        mode(&path)
    };
    for (of_input, of_output) in [(0o600, 0o600), (0o640, usual & 0o640), (0o644, usual)] {
        let old = copy(folder.path(), "old.dartheap", of_input);
        for words in [
            &["convert", text(&old), "OUT"][..],
            &["convert", text(&old), "OUT", "--redact"],
            &["convert", text(&new), "OUT", "--base", text(&old)],
            &["report", text(&old), text(&new), "-o", "OUT"],
        ] {
            for before in [None, Some(0o644)] {
                let out = folder.path().join("out.svg");
                let _ = fs::remove_file(&out);
                if let Some(before) = before {
                    File::create(&out).unwrap();
                    fs::set_permissions(&out, Permissions::from_mode(before)).unwrap();
                }
                let words: Vec<_> = words
                    .iter()
                    .map(|&word| if word == "OUT" { text(&out) } else { word })
                    .collect();
                let output = dumptool(&words);
                assert!(output.status.success(), "{words:?}: {}", error(&output));
                assert_eq!(mode(&out), of_output, "{words:?} of {of_input:o}, before: {before:?}");
            }
        }
        // The parts of an output that is not complete, too.
        let parts = folder.path().join("parts/");
        let output =
            dumptool(&["convert", text(&old), &format!("{}/", text(&parts)), "--to", "csv"]);
        assert!(output.status.success(), "{}", error(&output));
        for table in fs::read_dir(&parts).unwrap() {
            assert_eq!(mode(&table.unwrap().path()), of_output);
        }
        fs::remove_dir_all(&parts).unwrap();
    }
}
