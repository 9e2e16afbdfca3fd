//! Filters of profiles: what they leave out adds up to what they keep.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

const PROFILES: [&str; 5] = [
    "pprof/go127-cpu.pb.gz",
    "mojo/tiny-3.4.1-full-gc-mem.mojo",
    "jfr/shop_java17.jfr.zst",
    "v8-profiles/cpu-node24.cpuprofile",
    "folded/pyspy.folded",
];

fn run(words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_dumptool"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    program.current_dir(folder).args(words).output().unwrap()
}

fn top(file: &str, options: &[&str]) -> Value {
    let output = run(&[&["top", "--format", "json", "-n", "0", file], options].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{file} {options:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn total(file: &str, options: &[&str]) -> [i64; 2] {
    let document = top(file, options);
    ["value", "samples"].map(|key| document["total"][key].as_i64().unwrap())
}

fn sum(parts: &[[i64; 2]]) -> [i64; 2] {
    [0, 1].map(|at| parts.iter().map(|part| part[at]).sum())
}

#[test]
fn focus_and_ignore_divide_the_samples() {
    for file in PROFILES {
        let all = top(file, &[]);
        let empty = ["value", "samples"].map(|key| all["without_frames"][key].as_i64().unwrap());
        let functions = all["rows"].as_array().unwrap();
        for row in functions.iter().take(3) {
            let name = row["name"].as_str().unwrap();
            let parts = [total(file, &["--focus", name]), total(file, &["--ignore", name]), empty];
            assert_eq!(sum(&parts), total(file, &[]), "{file} {name}");
        }
    }
}

#[test]
fn windows_of_time_divide_the_samples() {
    let timed = [&PROFILES[1..4], &["perf-data/spin.perf.data", "perf-data/spin.script.txt"]];
    for file in timed.concat() {
        let parts = [
            total(file, &["--to-time", "50ms"]),
            total(file, &["--from-time", "50ms", "--to-time", "200ms"]),
            total(file, &["--from-time", "200ms"]),
        ];
        assert_eq!(sum(&parts), total(file, &[]), "{file}");
        assert!(parts.iter().filter(|part| part[1] > 0).count() > 1, "{file}: {parts:?}");
    }
    let refused = run(&["top", "pprof/go127-cpu.pb.gz", "--from-time", "1s"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no times of samples"));
}

#[test]
fn hidden_frames_cost_their_callers() {
    let file = "pprof/go127-cpu.pb.gz";
    let shown = top(file, &["--hide", "/^runtime/"]);
    let rows = shown["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| !row["name"].as_str().unwrap().starts_with("runtime")));
    assert_eq!(shown["filters"]["hide"], "/^runtime/");
    let only = top(file, &["--show", "main.*"]);
    let rows = only["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["name"].as_str().unwrap().starts_with("main.")));
}

#[test]
fn every_command_takes_the_same_filters() {
    let file = "pprof/go127-cpu.pb.gz";
    let filters = ["--focus", "main.sum"];
    let [value, _] = total(file, &filters);
    let folded = run(&[&["convert", file, "-", "--to", "folded"], &filters[..]].concat());
    let text = String::from_utf8(folded.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sums = lines.map(|line| line.rsplit(' ').next().unwrap().parse::<i64>().unwrap());
    assert_eq!(sums.sum::<i64>(), value);
    let tree =
        run(&[&["tree", "--invert", "--format", "json", file], &["--ignore", "main.fib"][..]]
            .concat());
    let tree: Value = serde_json::from_slice(&tree.stdout).unwrap();
    assert_eq!(tree["total"]["value"], total(file, &["--ignore", "main.fib"])[0]);
    assert_eq!(tree["inverted"], true);
    let rule = format!("total.total={}", value / 1_000_000 + 1);
    let gate = run(&[&["check", file, "--max", &format!("{rule}ms")], &filters[..]].concat());
    assert_eq!(gate.status.code(), Some(0), "{}", String::from_utf8_lossy(&gate.stdout));
}

#[test]
fn folded_stacks_without_threads_and_files_are_as_stackcollapse_prints_them() {
    let file = "mojo/tiny-3.4.1-full-gc-mem.mojo";
    let run = run(&["convert", file, "-", "--to", "folded", "--no-threads", "--no-files"]);
    let text = String::from_utf8(run.stdout).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(!line.contains('(') && !line.starts_with('P') && !line.starts_with(';'), "{line}");
    }
}

#[test]
fn a_wrong_expression_is_refused() {
    let refused = run(&["top", "pprof/go127-cpu.pb.gz", "--focus", "/(/"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--focus"));
}

#[test]
fn several_profiles_are_added_up() {
    let file = "pprof/go127-cpu.pb.gz";
    let [value, samples] = total(file, &[]);
    assert_eq!(total(file, &[file, file]), [value * 3, samples * 3]);
    let document = top(file, &[file, "--each"]);
    for row in document["rows"].as_array().unwrap() {
        let each = row["each"].as_array().unwrap();
        assert_eq!(each.len(), 2);
        assert_eq!(row["self"].as_i64(), each.iter().map(Value::as_i64).sum::<Option<i64>>());
    }
    let pattern = top("pprof/go127-c?u.pb.gz", &[]);
    assert_eq!(pattern["total"]["value"], value);
    for (other, why) in [
        ("pprof/go127-heap.pb.gz", "other metrics"),
        ("go/tiny_go127.heapdump.zst", "only profiles are added up"),
        ("pprof/no-*.pb.gz", "no file matches"),
    ] {
        let refused = run(&["top", file, other]);
        assert_eq!(refused.status.code(), Some(2), "{other}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(why), "{other}");
    }
}

/// What each function costs by itself and in total. pprof files have no stacks that cost nothing.
fn costs(files: &[&str]) -> BTreeMap<String, (i64, i64)> {
    let top = run(&[&["top", "--format", "json", "-n", "0"], files].concat()).stdout;
    let top: Value = serde_json::from_slice(&top).unwrap();
    let rows = top["rows"].as_array().unwrap().iter();
    let costs = rows.map(|row| {
        let of = |key: &str| row[key].as_i64().unwrap();
        (format!("{} {}", row["name"], row["namespace"]), (of("self"), of("total")))
    });
    costs.filter(|(_, costs)| *costs != (0, 0)).collect()
}

#[test]
fn the_sum_of_profiles_keeps_addresses_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sum.pb.gz").display().to_string();
    for name in ["synth-inline.pb.gz", "go127-mutex.pb.gz"] {
        let file = &format!("pprof/{name}");
        let inputs = tempfile::tempdir().unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file);
        for copy in ["a.pb.gz", "b.pb.gz"] {
            std::fs::copy(&fixture, inputs.path().join(copy)).unwrap();
        }
        let pattern = inputs.path().join("*.pb.gz").display().to_string();
        assert!(run(&["convert", &pattern, &out]).status.success());
        assert_eq!(costs(&[&out]), costs(&[file, file]), "{file}");
        let raw = |path: &str| {
            let cat = run(&["cat", path, "--record", "mapping"]).stdout;
            String::from_utf8(cat).unwrap().lines().count()
        };
        assert_eq!(raw(&out), raw(file), "{file}");
    }
}

#[test]
fn where_accepts_the_values_that_tag_lists() {
    let mojo = "mojo/tiny-3.4.1-full-gc-mem.mojo";
    let (jfr, pprof) = ("jfr/shop_java17.jfr.zst", "pprof/synth-inline.pb.gz");
    for (file, tag) in [(mojo, "thread"), (jfr, "thread"), (pprof, "thread"), (pprof, "bytes")] {
        for row in top(file, &["--tag", tag])["rows"].as_array().unwrap() {
            let value = format!("{tag}={}", row["name"].as_str().unwrap());
            let of_value = ["total", "samples_total"].map(|key| row[key].as_i64().unwrap());
            assert_eq!(total(file, &["--where", &value]), of_value, "{file} {value}");
        }
    }
    assert_eq!(total(jfr, &["--where", "thread=/^ma/"]), total(jfr, &["--where", "thread=main"]));
}

#[test]
fn a_filter_that_matches_nothing_does_not_deny_labels_and_threads() {
    let file = "pprof/synth-inline.pb.gz";
    let none = ["--where", "note=/no such note/"];
    assert_eq!(total(file, &[&none[..], &[file]].concat()), [0, 0]);
    let folded = ["convert", file, "-", "--to", "folded"];
    for options in [&none[..], &["--thread", "worker 1", "--focus", "no_such_function"]] {
        assert!(run(&[&folded[..], options].concat()).status.success(), "{options:?}");
    }
    // A label that one of the files has is enough.
    let other = "pprof/synth-plain.pb";
    let value = ["--where", "no_such_label=/x/"];
    let refused = run(&[&["top", file, other], &value[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has no label no_such_label"));
}
