//! `source`: the source of functions with the values of their lines.

use crate::support::fixture;
use crate::support::mojo::Mojo;
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn source(args: &[&str], file: &Path, function: &str) -> (String, String) {
    let mut command = Command::cargo_bin("dumptool").unwrap();
    let output = command.arg("source").arg(file).arg(function).args(args).assert().code(0);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.get_output().stdout), text(&output.get_output().stderr))
}

#[test]
fn lines_have_their_values_and_other_versions_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut mojo = Mojo::new(3);
    mojo.metadata("mode", "wall").string(5, "/home/me/app/lib/a.py").string(6, "slow");
    mojo.frame(7, 5, 6, 2).frame(8, 5, 6, 3);
    mojo.stack(1, 0, "t").frame_ref(7).time(150);
    mojo.stack(1, 0, "t").frame_ref(7).frame_ref(8).time(50);
    let profile = folder.path().join("p.mojo");
    std::fs::write(&profile, &mojo.0).unwrap();
    let dir = folder.path().to_str().unwrap();
    let (text, warning) = source(&[], &profile, "slow");
    assert!(text.starts_with("slow in /home/me/app/lib/a.py: self 200 µs"), "{text}");
    assert!(warning.contains("no source of slow"), "{warning}");

    let path = folder.path().join("lib/a.py");
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    std::fs::write(&path, "def slow():\n\tone()\n\ttwo()\n").unwrap();
    let at = |seconds| {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    at(1_000_000_000);
    let (text, warning) = source(&["--source", dir], &profile, "slow");
    assert!(!warning.contains("version"), "{warning}");
    let lines: Vec<Vec<_>> =
        text.lines().skip(2).take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], [".", ".", "1", "def", "slow():"]);
    assert_eq!(lines[1].join(" "), "150 µs 200 µs 2 one()");
    assert_eq!(lines[2].join(" "), "50 µs 50 µs 3 two()");
    at(4_000_000_000);
    let (_, warning) = source(&["--source", dir], &profile, "slow");
    assert!(warning.contains("may be a newer version than the one profiled"), "{warning}");
    std::fs::write(&path, "def slow():\n").unwrap();
    let (_, warning) = source(&["--source", dir], &profile, "slow");
    assert!(warning.contains("it has 1 line, slow has samples in line 3"), "{warning}");
}

#[test]
fn source_maps_have_the_sources_of_bundles() {
    let maps = fixture("names");
    let args = ["--format", "json", "--source-maps", maps.to_str().unwrap()];
    let (text, _) = source(&args, &fixture("names/app.min.cpuprofile"), "*sortNumbers*");
    let document: Value = serde_json::from_str(&text).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let with_text: Vec<_> = rows.iter().filter_map(|row| row["text"].as_str()).collect();
    assert!(with_text.iter().any(|text| text.contains("sortNumbers")), "{text}");
}
