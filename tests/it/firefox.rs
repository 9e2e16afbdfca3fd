//! Profiles of the Firefox Profiler, raw and processed, against their sums and against damage.

use crate::support::{broken, damage, fixture, info, records};
use assert_cmd::Command;
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{Profile, TimedEvent};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(&format!("firefox/{name}"))).unwrap()
}

fn load(bytes: &[u8]) -> Profile {
    assert_eq!(dumptool::detect::detect(bytes).unwrap(), Format::Firefox);
    let loaded = input::load_profile(Format::Firefox, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

/// The numbers by thread and stack, outermost first: `file:line function`.
fn sums(profile: &Profile) -> BTreeMap<(String, String), Vec<i64>> {
    let mut sums = BTreeMap::<_, Vec<i64>>::new();
    let metrics = profile.metrics_in_order();
    for row in profile.aggregate.iter() {
        let mut frames: Vec<String> = Vec::new();
        for frame in profile.stacks.frames(row.stack) {
            let frame = profile.frame(frame);
            let text = |name| profile.names.text(name);
            frames.push(format!("{}:{} {}", text(frame.file), frame.line, text(frame.function)));
        }
        frames.reverse();
        let thread = profile.names.text(profile.thread(row.thread).name).to_owned();
        let numbers = metrics.iter().map(|metric| row.values.get(metric)).collect();
        sums.insert((thread, frames.join(";")), numbers);
    }
    sums
}

fn row(thread: &str, stack: &str, numbers: &[i64]) -> ((String, String), Vec<i64>) {
    ((thread.to_owned(), stack.to_owned()), numbers.to_vec())
}

#[test]
fn a_raw_profile_has_the_stacks_of_all_processes() {
    let profile = load(&bytes("raw.json"));
    let render = ":0 (root);https://example.org/app.js:12 render";
    let layout = format!("{render};https://example.org/app.js:40 layout");
    let expected = [
        row("GeckoMain", &layout, &[2, 1_900_000]),
        row("GeckoMain", render, &[1, 10_000]),
        row("GeckoMain", "", &[1, 0]),
        row("GeckoMain", ":0 (root);:0 0x7f00dead", &[1, 0]),
        row("Web Content", "resource://a.js:3 onclick", &[2, 0]),
    ];
    assert_eq!(sums(&profile), BTreeMap::from(expected));
}

#[test]
fn threads_share_tables() {
    let profile = load(&bytes("shared.json"));
    let read = "app.py:3 main;lib.py:7 work;libc.so.6:0 read";
    let expected = [
        row("Worker", "app.py:3 main;lib.py:7 work", &[1, 0]),
        row("Worker", read, &[5, 0]),
        row("Worker 72", "app.py:3 main", &[1, 0]),
        row("Worker 72", "", &[1, 0]),
        row("Worker 72", read, &[0, 4096]),
        row("Worker 72", "app.py:3 main;lib.py:7 work", &[0, 100]),
    ];
    assert_eq!(sums(&profile), BTreeMap::from(expected));
    assert_eq!(info(Format::Firefox, &bytes("shared.json"))["format_version"], "58");
}

#[test]
fn what_is_written_for_the_profiler_reads_back() {
    let profiles = [
        "mojo/tiny-4.0.0-cpu-thr.mojo",
        "folded/pyspy.folded",
        "v8-profiles/cpu-node24.cpuprofile",
        "pprof/go127-heap.pb.gz",
    ];
    let folder = tempfile::tempdir().unwrap();
    for name in profiles {
        let written = folder.path().join("out.firefox.json");
        let mut convert = dumptool();
        convert.args(["convert", "--quiet"]).arg(fixture(name)).arg(&written);
        convert.assert().success();
        assert_eq!(shares(&written), shares(&fixture(name)), "{name}");
    }
}

fn dumptool() -> Command {
    Command::cargo_bin("dumptool").unwrap()
}

/// The own share of each function, in millionths of the total.
fn shares(file: &Path) -> BTreeMap<String, i64> {
    let top = dumptool().args(["top", "--format", "json", "-n", "0"]).arg(file).output().unwrap();
    let top: Value = serde_json::from_slice(&top.stdout).unwrap();
    let total = top["total"]["value"].as_f64().unwrap();
    let rows = top["rows"].as_array().unwrap().iter();
    let share = |row: &Value| (row["self"].as_f64().unwrap() * 1e6 / total).round() as i64;
    rows.map(|row| (format!("{} {}", row["name"], row["namespace"]), share(row))).collect()
}

#[test]
fn check_and_records_know_the_threads() {
    for (name, threads) in [("raw.json", 2), ("shared.json", 2)] {
        assert_eq!(broken(Format::Firefox, &bytes(name)), [""; 0]);
        let (records, error) = records(Format::Firefox, &bytes(name));
        assert_eq!((records.len(), error.is_none()), (threads, true), "{name}");
    }
}

#[test]
fn stacks_and_frames_that_do_not_exist_are_counted() {
    let text = String::from_utf8(bytes("shared.json")).unwrap();
    let wrong = text.replace(r#""prefix":[null,0,1]"#, r#""prefix":[null,9,1]"#);
    assert_eq!(broken(Format::Firefox, wrong.as_bytes()), ["references.defined"]);
}

#[test]
fn damage_gives_errors_and_what_came_before() {
    for name in ["raw.json", "shared.json"] {
        damage(Format::Firefox, &bytes(name), 200, 300);
    }
}

/// Microseconds from the first sample to each, with its thread and innermost function.
fn times(bytes: &[u8]) -> Vec<(i64, String, String)> {
    let options = ProfileOptions::default().keep_samples(true);
    let profile = input::load_profile(Format::Firefox, bytes, options).unwrap().profile;
    let samples = profile.events.iter().filter(|event| event.samples > 0);
    let time = |event: &TimedEvent| {
        let thread = profile.names.text(profile.thread(event.thread).name).to_owned();
        let frame = profile.stacks.leaf(event.stack);
        let function = frame.map_or("", |frame| profile.function_name(frame)).to_owned();
        (event.start, thread, function)
    };
    samples.map(time).collect()
}

#[test]
fn samples_keep_their_times() {
    let raw = String::from_utf8(bytes("raw.json")).unwrap();
    let expected = [
        (0, "GeckoMain", "layout"),
        (500, "Web Content", "onclick"),
        (1000, "GeckoMain", "layout"),
        (1500, "Web Content", "onclick"),
        (2000, "GeckoMain", "render"),
        (3000, "GeckoMain", ""),
        (4000, "GeckoMain", "0x7f00dead"),
    ];
    let owned = expected.map(|(time, thread, function)| (time, thread.into(), function.into()));
    assert_eq!(times(raw.as_bytes()), owned);
    // Each process counts from its own start.
    let later = raw.replace(r#"{"meta":{"version":30"#, r#"{"meta":{"startTime":100,"version":30"#);
    let later = later.replacen(r#""startTime":100"#, r#""startTime":90"#, 1);
    let last = times(later.as_bytes()).pop().unwrap();
    assert_eq!(last, (11_500, "Web Content".into(), "onclick".into()));
}

#[test]
fn a_process_that_samply_numbers_is_still_that_process() {
    let raw = String::from_utf8(bytes("raw.json")).unwrap();
    let profile = load(raw.replace(r#""pid":4711"#, r#""pid":"4711.1""#).as_bytes());
    assert_eq!(profile.threads[0].pid, 4711);
}

#[test]
fn a_converted_profile_keeps_times_and_sums() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let mut command = Command::cargo_bin("dumptool").unwrap();
    command.arg("convert").arg(fixture("firefox/raw.json")).arg(&out).args(["--to", "firefox"]);
    command.assert().code(0);
    let times_of =
        |bytes: &[u8]| -> Vec<i64> { times(bytes).into_iter().map(|(time, _, _)| time).collect() };
    assert_eq!(times_of(&std::fs::read(&out).unwrap()), times_of(&bytes("raw.json")));
}
