//! CPU profiles and sampling heap profiles of V8 against plain sums and Chrome DevTools' own model,
//! and against damage.

use crate::support::{broken, fixture, info, json, read, records};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::Profile;
use dumptool::model::stacks::Selection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn load(format: Format, bytes: &[u8]) -> Profile {
    let loaded =
        input::load_profile(format, bytes, ProfileOptions::default().keep_samples(true)).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folders =
        [Some(fixture("v8-profiles")), crate::support::corpus("v8-profiles")].into_iter().flatten();
    let files: Vec<_> = folders
        .flat_map(|folder| crate::support::files(&folder))
        .filter(|file| file.extension().is_some_and(|e| e == extension))
        .collect();
    assert!(!files.is_empty());
    files
}

/// The name that a file has for what is shown otherwise.
fn in_file(name: &str) -> &str {
    match name {
        "(anonymous)" => "",
        "<gc>" => "(garbage collector)",
        name => name,
    }
}

#[test]
fn samples_and_times_of_cpu_profiles_are_those_of_the_file() {
    for file in files("cpuprofile") {
        let (at, bytes) = (file.display(), read(&file));
        let truth = json(&file.with_extension("truth.json"));
        assert_eq!(dumptool::detect::detect(&bytes).unwrap(), Format::Cpuprofile, "{at}");
        let profile = load(Format::Cpuprofile, &bytes);
        let (mut counts, mut times) =
            (BTreeMap::<String, u64>::new(), BTreeMap::<String, i64>::new());
        let samples: Vec<_> = profile.samples.as_ref().unwrap().iter().collect();
        for (number, sample) in samples.iter().enumerate() {
            let name = profile
                .stacks
                .leaf(sample.stack)
                .map_or("(root)", |leaf| in_file(profile.function_name(leaf)))
                .to_owned();
            *counts.entry(name.clone()).or_default() += 1;
            // The truth leaves out the last one.
            if number + 1 < samples.len() {
                *times.entry(name).or_default() += sample.time.unwrap();
            }
        }
        let truth = &truth["file"];
        assert_eq!(serde_json::to_value(&counts).unwrap(), truth["samples_by_function"], "{at}");
        let expected: BTreeMap<String, i64> =
            serde_json::from_value(truth["microseconds_until_next_sample_by_function"].clone())
                .unwrap();
        times.retain(|name, _| expected.contains_key(name));
        assert_eq!(times, expected, "{at}");
        let number = |key: &str| truth[key].as_i64().unwrap();
        assert_eq!(profile.total.time() + number("first_delta_us"), number("duration_us"), "{at}");
        let shown = info(Format::Cpuprofile, &bytes);
        assert_eq!(
            (&shown["profile"]["samples"], &shown["records"]["node"]),
            (&truth["samples"], &truth["nodes"]),
            "{at}"
        );
        assert_eq!(broken(Format::Cpuprofile, &bytes), [""; 0], "{at}");
    }
}

/// DevTools gives each function its hits times the mean interval.
#[test]
fn hits_times_the_mean_are_the_times_of_devtools() {
    for file in files("cpuprofile") {
        let (at, bytes) = (file.display(), read(&file));
        let truth = &json(&file.with_extension("truth.json"));
        let nodes: Vec<Value> = records(Format::Cpuprofile, &bytes)
            .0
            .into_iter()
            .filter(|record| record["record"] == "node")
            .collect();
        let hits = |node: &Value| node["hit_count"].as_f64().unwrap();
        let mean =
            truth["file"]["duration_us"].as_f64().unwrap() / nodes.iter().map(hits).sum::<f64>();
        let mut own = BTreeMap::<_, f64>::new();
        for node in &nodes {
            let key =
                (node["function"].to_string(), node["url"].to_string(), node["line"].to_string());
            *own.entry(key).or_default() += hits(node) * mean;
        }
        for row in truth["devtools"]["functions"].as_array().unwrap() {
            let key = (row[0].to_string(), row[1].to_string(), row[2].to_string());
            let expected = row[3].as_f64().unwrap() * 1000.0;
            // DevTools moves samples of the program and the collector elsewhere.
            if key.0.contains('(') {
                continue;
            }
            let found = own.get(&key).copied().unwrap_or(f64::NAN);
            assert!(
                (found - expected).abs() < 1.0,
                "{key:?} in {at}: {found}, should be {expected}"
            );
        }
    }
}

#[test]
fn heap_profiles_have_the_sums_of_a_script() {
    for file in files("heapprofile") {
        let (at, bytes) = (file.display(), read(&file));
        let truth = json(&file.with_extension("truth.json"));
        assert_eq!(dumptool::detect::detect(&bytes).unwrap(), Format::Heapprofile, "{at}");
        let profile = load(Format::Heapprofile, &bytes);
        let metric = &profile.default_metric();
        assert_eq!(profile.total.get(metric), truth["self_bytes"], "{at}");
        let rows =
            top(&Selected::of(&profile, &Selection::default()), TopBy::Frames(FrameBy::Line)).rows;
        let sums: BTreeMap<_, _> = rows
            .iter()
            .map(|row| {
                let key = (
                    in_file(&row.label.name).to_owned(),
                    row.label.namespace.to_string(),
                    i64::from(row.label.line.unwrap()) - 1,
                );
                (key, (row.sums.own.get(metric), row.sums.total.get(metric)))
            })
            .collect();
        for row in truth["functions"].as_array().unwrap().iter().filter(|row| row[0] != "(root)") {
            let key = (
                row[0].as_str().unwrap().to_owned(),
                row[1].as_str().unwrap().to_owned(),
                row[2].as_i64().unwrap(),
            );
            let expected = (row[3].as_i64().unwrap(), row[4].as_i64().unwrap());
            // What cost nothing is not shown.
            assert_eq!(sums.get(&key).copied().unwrap_or_default(), expected, "{key:?} in {at}");
        }
        assert_eq!(info(Format::Heapprofile, &bytes)["records"]["node"], truth["nodes"], "{at}");
        assert_eq!(broken(Format::Heapprofile, &bytes), [""; 0], "{at}");
    }
}

#[test]
fn keys_may_come_in_any_order_and_nodes_may_be_nested() {
    let listed = br#"{"timeDeltas":[5,10,-3],"samples":[2,3,2],"endTime":120,"startTime":100,"nodes":[
        {"children":[2],"callFrame":{"functionName":"(root)"},"id":1},
        {"id":3,"parent":2,"callFrame":{"functionName":"(garbage collector)","url":"","lineNumber":-1}},
        {"id":2,"callFrame":{"functionName":"f","url":"a.js","lineNumber":4}}]}"#;
    let profile = load(Format::Cpuprofile, listed);
    let samples: Vec<_> = profile
        .samples
        .as_ref()
        .unwrap()
        .iter()
        .map(|sample| (sample.time.unwrap(), sample.gc))
        .collect();
    assert_eq!(samples, [(7, false), (3, false), (5, true)]);
    assert_eq!((profile.frames[0].line, profile.total.time(), profile.total.gc_time()), (5, 15, 5));
    let nested = br#"{"head":{"functionName":"(root)","id":1,"hitCount":0,"children":[
        {"children":[{"functionName":"g","id":3,"hitCount":1,"children":[]}],"functionName":"f","id":2,"hitCount":2}]},
        "startTime":1,"endTime":2,"samples":[2,2,3],"timestamps":[1,2,3]}"#;
    let profile = load(Format::Cpuprofile, nested);
    assert_eq!((profile.total.samples(), profile.stacks.len()), (3, 3));
}

#[test]
fn a_node_that_calls_itself_ends() {
    let bytes = br#"{"nodes":[{"id":1,"children":[2],"callFrame":{"functionName":"a"}},{"id":2,"children":[1],
        "callFrame":{"functionName":"b"}}],"samples":[1,2],"timeDeltas":[1,1],"startTime":0,"endTime":9}"#;
    assert_eq!(load(Format::Cpuprofile, bytes).total.samples(), 2);
}

#[test]
fn damage_gives_errors_and_what_could_be_read() {
    for (format, name) in [
        (Format::Cpuprofile, "cpu-node24.cpuprofile"),
        (Format::Heapprofile, "heap-node24.heapprofile"),
    ] {
        let bytes = read(&fixture(&format!("v8-profiles/{name}")));
        crate::support::damage(format, &bytes, 300, 300);
        let cut =
            input::load_profile(format, &bytes[..bytes.len() * 3 / 4], ProfileOptions::default())
                .unwrap();
        assert!(cut.damage.unwrap().offset().unwrap() <= bytes.len() as u64 * 3 / 4);
    }
}

#[test]
fn sums_do_not_become_samples() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("sums.cpuprofile");
    let node = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":"a.js"},"hitCount":2}]}"#;
    std::fs::write(&input, node).unwrap();
    for target in ["mojo", "austin"] {
        let output = folder.path().join("out").with_extension(target);
        let ended = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["convert".as_ref(), input.as_os_str(), output.as_os_str()])
            .output()
            .unwrap();
        let message = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{message}");
        assert!(message.contains("no samples") && message.contains("--to folded"), "{message}");
        assert!(!output.exists());
    }
}
