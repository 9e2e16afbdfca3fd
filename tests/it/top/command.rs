//! The commands on fixtures: the same for any number of threads, sums that fit, statuses.

use crate::support::{files, fixture};
use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("dumptool").unwrap().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> Value {
    let (_, text, errors) = run(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}{errors}"))
}

fn heaps() -> Vec<PathBuf> {
    let is_dump = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        [".heapdump", ".dartheap", ".hprof", ".mvmheap", ".data"].iter().any(|of| name.contains(of))
    };
    let folders = ["go", "dart", "hprof", "mvmheap"].map(|folder| files(&fixture(folder)));
    let heaps: Vec<_> = folders.concat().into_iter().filter(is_dump).collect();
    assert!(heaps.len() > 20);
    heaps
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for path in heaps().iter().step_by(4) {
        let path = text(path);
        for command in [
            vec!["top", "-n", "0", path],
            vec!["top", "--by", "root", path],
            vec!["tree", path],
            vec!["diff", path, path],
        ] {
            let with = |threads| run(&[command.as_slice(), &["--threads", threads]].concat());
            assert_eq!(with("1"), with("2"), "{command:?}");
        }
    }
}

#[test]
fn sums_of_top_fit_together() {
    for path in heaps() {
        let path = text(&path);
        let live = json(&["top", "-n", "3", path]);
        let sum = |rows: &Value, name: &str| {
            rows.as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>()
        };
        for name in ["count", "shallow_bytes"] {
            let parts = sum(&live["rows"], name) + live["omitted"][name].as_u64().unwrap();
            assert_eq!(parts, live["total"][name].as_u64().unwrap(), "{name} of {path}");
        }
        let number = |of: &Value, name: &str| of[name].as_u64().unwrap();
        let all = json(&["top", "--objects", "all", "-n", "0", path]);
        let unreachable = json(&["top", "--objects", "unreachable", path]);
        let (of_live, dead) =
            (number(&live["total"], "count"), number(&live["unreachable"], "count"));
        assert_eq!(number(&all["total"], "count"), of_live + dead, "{path}");
        assert_eq!(number(&unreachable["total"], "count"), dead, "{path}");
        assert_eq!(sum(&unreachable["rows"], "retained_bytes"), 0, "{path}");
        let by_root = json(&["top", "--by", "root", "-n", "0", path]);
        let total =
            number(&live["total"], "shallow_bytes") + number(&live["total"], "external_bytes");
        assert_eq!(sum(&by_root["rows"], "retained_bytes"), total, "{path}");
        let tree = json(&["tree", "-n", "1", path]);
        assert_eq!(number(&tree["nodes"][0], "total"), total, "{path}");
        let quick = json(&["top", "--quick", "-n", "0", path]);
        assert_eq!(
            (&quick["unreachable"], &quick["objects"]),
            (&Value::Null, &Value::from("all")),
            "{path}"
        );
        assert_eq!(quick["total"], all["total"], "{path}");
    }
}

#[test]
fn a_heap_is_the_same_as_itself() {
    for path in heaps() {
        let difference = json(&["diff", text(&path), text(&path)]);
        assert_eq!(difference["rows"], Value::Array(Vec::new()), "{}", path.display());
        assert!(difference["unchanged"].as_u64().unwrap() > 0, "{}", path.display());
    }
}

#[test]
fn rules_that_are_broken_give_status_1() {
    let path = fixture("mvmheap/tiny-nqp.mvmheap");
    let check = |rules: &[&str]| run(&[&["check", text(&path)], rules].concat());
    assert_eq!(check(&["--max", "NQPArray.count=31"]).0, 0);
    let (status, out, _) = check(&["--max", "NQPArray.count=30", "--max", "total.shallow=1GiB"]);
    assert_eq!(status, 1);
    assert!(out.starts_with("FAIL  NQPArray.count = 31, limit 30\n      largest: #"), "{out}");
    assert!(out.ends_with("1 of 2 rules failed\n"), "{out}");
    assert_eq!(check(&["--none", "NoSuchType"]).0, 0);
    assert_eq!(check(&["--none", "SpeshLog"]).0, 1);
    let against = ["--against", text(&path)];
    assert_eq!(check(&[&["--max-growth", "SpeshLog.retained=0%"], &against[..]].concat()).0, 0);
    assert_eq!(
        run(&[
            "check",
            text(&path),
            "--snapshot",
            "0",
            "--max-growth",
            "total.count=0",
            "--against",
            text(&path)
        ])
        .0,
        0
    );
    for wrong in
        ["SpeshLog", "SpeshLog=3", "SpeshLog.size=3", "SpeshLog.count=x", "SpeshLog.count=5%"]
    {
        let (status, out, error) = check(&["--max", wrong]);
        assert_eq!((status, out.as_str()), (2, ""), "{wrong}: {error}");
        assert!(error.contains("write TYPE.COLUMN=LIMIT"), "{error}");
    }
}

/// They were sorted by a column of zeros, and by what is in the managed heap alone.
#[test]
fn where_nothing_is_retained_the_largest_come_first() {
    let nqp = fixture("mvmheap/tiny-nqp.mvmheap");
    let first = |arguments: &[&str]| {
        let (status, out, error) = run(arguments);
        assert_eq!(status, 0, "{error}");
        let lines: Vec<String> = out
            .lines()
            .take(2)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        lines
    };
    let top = first(&["top", "--quick", text(&nqp)]);
    assert_eq!(
        top,
        ["SIZE SHARE SHALLOW EXTERNAL COUNT TYPE", "384.1 KiB 53.9 % 80 B 384.0 KiB 1 SpeshLog"]
    );
    assert!(
        first(&["top", "--quick", "--sort", "shallow", text(&nqp)])[0]
            .starts_with("SHALLOW SHARE EXTERNAL COUNT")
    );
    let random = fixture("dart/synth_random_3k.dartheap.zst");
    let top = first(&["top", "--objects", "unreachable", text(&random)]);
    assert_eq!(top[0], "SIZE SHARE SHALLOW EXTERNAL COUNT TYPE NAMESPACE");
    assert!(top[1].starts_with("86.5 KiB 85.7 % 32 B 86.5 KiB 1 _ExternalUint8Array"), "{top:?}");
    assert!(
        first(&["top", "--objects", "unreachable", "--sort", "retained", text(&random)])[1]
            .starts_with("0 B 0.0 %")
    );
    let find = first(&["find", "--unreachable", text(&random)]);
    assert_eq!(find[0], "SHALLOW EXTERNAL OBJECT TYPE");
    assert!(find[1].starts_with("32 B 86.5 KiB #2857 _ExternalUint8Array"), "{find:?}");
}

/// The table showed it, programs had to ask `show` for each.
#[test]
fn found_objects_come_with_their_value() {
    let random = fixture("dart/synth_random_3k.dartheap.zst");
    let arguments = ["find", "--value", "4a000000", "-n", "1", text(&random), "--format"];
    let (_, json, _) = run(&[&arguments[..], &["json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["objects"][0]["value"]["value"], "sé,\"4a000000");
    let (_, csv, _) = run(&[&arguments[..], &["csv"]].concat());
    assert_eq!(
        csv.lines().nth(1),
        Some("#174,_OneByteString,dart:core,32,32,0,\"sé,\"\"4a000000\"")
    );
}

#[test]
fn damage_is_told_and_what_was_read_is_shown() {
    let path = fixture("mvmheap/tiny-nqp-cut-snap3.mvmheap");
    for command in ["top", "tree"] {
        let (status, out, error) = run(&[command, text(&path)]);
        assert_eq!(status, 3, "{error}");
        assert!(out.contains("SpeshLog") && error.contains("0xf000"), "{out}{error}");
        assert_eq!(run(&[command, "--lenient", text(&path)]).0, 0);
    }
}

#[test]
fn too_much_memory_is_refused_before_the_work() {
    let path = fixture("mvmheap/tiny-nqp.mvmheap");
    for command in ["top", "tree"] {
        let (status, out, error) = run(&[command, "--max-memory", "100KiB", text(&path)]);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(
            error.contains("for 3 162 objects, the limit is 100.0 KiB")
                && error.contains("--quick"),
            "{error}"
        );
    }
    assert_eq!(run(&["top", "--quick", "--max-memory", "100KiB", text(&path)]).0, 0);
}

#[test]
fn a_filter_that_matches_no_type_is_an_error_of_every_command() {
    let path = fixture("dart/tiny_derived_3.0.5.dartheap.zst");
    let path = text(&path);
    for command in [
        &["top", path][..],
        &["top", "--quick", path],
        &["tree", path],
        &["find", path],
        &["diff", path, path],
        &["diff", "--quick", path, path],
        &["diff", "--objects", path, path],
        &["diff", path, path, path],
        &["growth", path, path],
    ] {
        for filter in ["--type", "--namespace"] {
            let (status, _, error) = run(&[command, &[filter, "Nope*"]].concat());
            assert_eq!(status, 2, "{command:?} {filter}: {error}");
            assert!(error.starts_with("error: no type matches Nope*\n"), "{command:?}: {error}");
        }
    }
    let (status, _, error) = run(&["path", path, "--type", "Nope*"]);
    assert!(status == 2 && error.starts_with("error: no type matches Nope*\n"), "{error}");
}
