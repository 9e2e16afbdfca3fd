//! `growth`: what grows over several files.

use crate::support::mojo::Mojo;
use crate::support::ruby::SHOP;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn growth(files: &[&Path], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .arg("growth")
        .args(files)
        .args(arguments)
        .output()
        .unwrap()
}

fn json(files: &[&Path], arguments: &[&str]) -> Value {
    let output = growth(files, &[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A recording in which `f`, `g` and `h` take so long.
fn recorded(folder: &Path, number: usize, times: [i128; 3]) -> PathBuf {
    let mut file = Mojo::new(3);
    file.string(5, "a.py").string(6, "f").string(7, "g").string(8, "h");
    for (key, (name, time)) in (1..).zip([6, 7, 8].into_iter().zip(times)) {
        file.stack(1, 0, "t").frame(key, 5, name, 1).frame_ref(key).time(time);
    }
    let path = folder.join(format!("{number}.mojo"));
    std::fs::write(&path, &file.0).unwrap();
    path
}

#[test]
fn rows_have_every_value_and_a_peak_in_the_middle_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let times = [[10, 5, 50], [20, 90, 40], [30, 5, 30]];
    let files: Vec<PathBuf> = times
        .into_iter()
        .enumerate()
        .map(|(number, times)| recorded(folder.path(), number, times))
        .collect();
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let row = |document: &Value, at: usize| {
        let row = &document["rows"][at];
        (
            row["name"].as_str().unwrap().to_owned(),
            row["values"].clone(),
            row["slope"].as_i64().unwrap(),
            row["peak"].as_u64().unwrap(),
        )
    };
    let document = json(&files, &[]);
    assert_eq!(
        (&document["schema"], &document["unit"]),
        (&"dumptool/growth/1".into(), &"microseconds".into())
    );
    assert_eq!(document["files"].as_array().unwrap().len(), 3);
    assert_eq!(row(&document, 0), ("f".to_owned(), serde_json::json!([10, 20, 30]), 10, 30));
    assert_eq!(row(&document, 1), ("g".to_owned(), serde_json::json!([5, 90, 5]), 0, 90));
    assert_eq!(row(&document, 2).2, -10);
    assert_eq!(row(&json(&files, &["--sort", "peak"]), 0).0, "g");
    assert_eq!(row(&json(&files, &["--sort", "last", "-n", "1"]), 0).3, 50 - 20);
    let steady = json(&files, &["--steady"]);
    assert_eq!(steady["rows"].as_array().unwrap().len(), 1);
    assert_eq!(row(&json(&files, &["--type", "g"]), 0).0, "g");
}

#[test]
fn heaps_are_counted_as_top_counts_them() {
    let files = ["go/tiny_go119.heapdump.zst", "go/tiny_go127.heapdump.zst"].map(fixture);
    let document = json(&[&files[0], &files[1]], &["-n", "0"]);
    let quick = |file: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["top", "--quick", "--format", "json"])
            .arg(file)
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["total"]["shallow_bytes"]
            .as_u64()
            .unwrap()
    };
    for (at, file) in files.iter().enumerate() {
        let sum: u64 = document["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["values"][at].as_u64().unwrap())
            .sum();
        assert_eq!(sum, quick(file));
    }
}

#[test]
fn references_to_objects_that_a_heap_lacks_are_damage_as_in_top() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, flawed] = ["whole.json", "flawed.json"].map(|name| folder.path().join(name));
    std::fs::write(&whole, SHOP).unwrap();
    std::fs::write(&flawed, SHOP.replace(r#""0x220", "0x250""#, r#""0x220", "0x999""#)).unwrap();
    let error = "references to objects that are not in the file: 1";
    for files in [[&whole, &flawed], [&flawed, &whole]] {
        let output = growth(&files.map(PathBuf::as_path), &[]);
        assert_eq!(output.status.code(), Some(3));
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(told, format!("error: {}: {error}\n", flawed.display()));
    }
    assert_eq!(growth(&[&whole, &whole], &[]).status.code(), Some(0));
    assert_eq!(growth(&[&whole, &flawed], &["--lenient"]).status.code(), Some(0));
    assert_eq!(growth(&[&whole, &flawed], &["--quick"]).status.code(), Some(0), "counts alone");
}

#[test]
fn files_that_measure_different_things_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let profile = recorded(folder.path(), 0, [1, 2, 3]);
    let heap = fixture("go/tiny_go127.heapdump.zst");
    assert_eq!(growth(&[&heap, &profile], &[]).status.code(), Some(2));
    assert_eq!(growth(&[&heap], &[]).status.code(), Some(2), "one file does not grow");
}

#[test]
fn only_recordings_of_java_are_told_about_their_histograms() {
    let said = |name: &str| {
        let output = growth(&[&fixture(name)], &[]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let needs = "error: growth needs at least two files\n";
    assert_eq!(said("hprof/small_java17.hprof.zst"), needs);
    assert!(said("jfr/shop_java17.jfr.zst").contains("jdk.ObjectCount"));
}
