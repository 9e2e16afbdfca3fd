//! The reader of folded stacks against an independent script, its own writer, and damage.

use crate::support::{fixture, info, json, read, records};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{FrameKind, Profile};
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn load(bytes: &[u8]) -> Profile {
    let loaded = input::load_profile(Format::Folded, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

/// Writes a profile as folded stacks.
fn written(profile: &Profile) -> String {
    let selection = Selection { metrics: vec![profile.default_metric()], ..Selection::default() };
    let mut out = Vec::new();
    output::folded::write(&of_profile(profile.clone(), "", &selection), 0, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn sums_self_and_total_are_those_of_a_script() {
    let folders = [Some(fixture("folded")), crate::support::corpus("stacks")].into_iter().flatten();
    let files: Vec<_> = folders
        .flat_map(|folder| crate::support::files(&folder))
        .filter(|file| file.to_string_lossy().ends_with(".folded"))
        .collect();
    assert!(files.len() >= 2);
    for file in files {
        let truth = &json(&file.with_extension("folded.truth.json"))["values"][0];
        let bytes = read(&file);
        assert_eq!(dumptool::detect::detect(&bytes).unwrap(), Format::Folded, "{}", file.display());
        let profile = load(&bytes);
        let metric = &profile.default_metric();
        assert_eq!(profile.total.get(metric), truth["sum"], "{}", file.display());
        assert_eq!(profile.aggregate.len(), truth["different_stacks"], "{}", file.display());
        assert_eq!(profile.total.samples(), truth["rows"], "{}", file.display());
        let rows =
            top(&Selected::of(&profile, &Selection::default()), TopBy::Frames(FrameBy::Function))
                .rows;
        let sums: BTreeMap<_, _> = rows
            .iter()
            .map(|row| (&*row.label.name, (row.sums.own.get(metric), row.sums.total.get(metric))))
            .collect();
        for row in truth["functions"].as_array().unwrap() {
            let name = row[0].as_str().unwrap();
            let found = sums.get(name.trim_end_matches("_[k]")).copied();
            assert_eq!(
                found,
                Some((row[1].as_i64().unwrap(), row[2].as_i64().unwrap())),
                "{name} in {}",
                file.display()
            );
        }
        assert_eq!(info(Format::Folded, &bytes)["profile"]["metrics"][0]["total"], truth["sum"]);
    }
}

#[test]
fn folded_from_folded_is_the_input_sorted_and_merged() {
    for name in ["pyspy", "edge"] {
        let bytes = read(&fixture(&format!("folded/{name}.folded")));
        let mut sums = BTreeMap::<String, i64>::new();
        for line in String::from_utf8(bytes.clone())
            .unwrap()
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let (stack, number) = line.rsplit_once(' ').unwrap();
            *sums.entry(stack.to_owned()).or_default() += number.parse::<i64>().unwrap();
        }
        let mut expected: Vec<_> = sums
            .into_iter()
            .filter(|(_, sum)| *sum > 0)
            .map(|(stack, sum)| format!("{stack} {sum}"))
            .collect();
        let mut found: Vec<_> = written(&load(&bytes)).lines().map(str::to_owned).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn numbers_marks_and_threads_are_understood() {
    let of = |text: &str| {
        let profile = load(text.as_bytes());
        let metrics = profile.metrics_in_order();
        metrics
            .iter()
            .map(|metric| {
                (
                    metric.name().to_owned(),
                    metric.unit().name().to_owned(),
                    profile.total.get(metric),
                )
            })
            .collect::<Vec<_>>()
    };
    let one = |unit: &str, sum| vec![("samples".to_owned(), unit.to_owned(), sum)];
    assert_eq!(of("a;b 3\r\na;c\t-1\n"), one("count", 2));
    assert_eq!(of("a;b 0.5\na 1e-3\n"), one("millionths", 501_000));
    let both =
        [("before".to_owned(), "count".to_owned(), 4), ("after".to_owned(), "count".to_owned(), 6)];
    assert_eq!(of("a;b 1 2\na;c 3 4\n"), both);
    let profile = load(b"P7;T0:16;main;sys_[k] 5\n");
    assert_eq!(profile.threads[0].label(&profile.names), "P7;T0:16");
    let kinds: Vec<_> = profile
        .frames
        .iter()
        .map(|frame| (profile.names.text(frame.function), frame.kind))
        .collect();
    assert_eq!(kinds, [("main", FrameKind::Code), ("sys", FrameKind::Kernel)]);
    assert_eq!(written(&profile), "P7;T0:16;main;sys_[k] 5\n");
}

/// py-spy writes samples without frames as ` 7`; programs name their functions in any encoding.
#[test]
fn recordings_with_idle_threads_and_strange_names_are_detected() {
    let text = b"main (app.py:3);caf\xe9 (app.py:7) 12\n 7\nmain (app.py:3) 1\n";
    assert_eq!(dumptool::detect::detect(text).unwrap(), Format::Folded);
    let profile = load(text);
    assert_eq!((profile.total.get(&profile.default_metric()), profile.notes.replaced), (20, 1));
    let prose: &[u8] = b"Chapters; pages 12\nTwo 7\nThe end.\n";
    let binary: &[u8] = b"\x01\x02;\x03 7\n";
    let script: &[u8] = b"a;b 1\n\t7f00 main (a.so) 3\n";
    for other in [prose, binary, script] {
        assert!(dumptool::detect::detect(other).is_err(), "{}", String::from_utf8_lossy(other));
    }
}

/// Bytes were read back as microseconds: folded stacks of a thread were taken for Austin's text.
#[test]
fn a_round_trip_keeps_unit_and_threads() {
    let bytes = read(&fixture("mojo/tiny-3.6.0-memory-mem.mojo"));
    let profile =
        input::load_profile(Format::Mojo, &bytes, ProfileOptions::default()).unwrap().profile;
    let text = written(&profile);
    assert!(text.starts_with("# folded: memory_gained in bytes\nP"), "{text}");
    assert_eq!(dumptool::detect::detect(text.as_bytes()).unwrap(), Format::Folded);
    let again = load(text.as_bytes());
    let (metric, expected) = (again.default_metric(), profile.default_metric());
    assert_eq!((metric.name(), metric.unit()), (expected.name(), expected.unit()));
    assert_eq!(again.total.get(&metric), profile.total.get(&expected));
    let labels = |profile: &Profile| -> Vec<_> {
        profile.threads.iter().map(|thread| thread.label(&profile.names)).collect()
    };
    assert_eq!(labels(&again), labels(&profile));
    assert_eq!(written(&again), text);
}

/// The first number was a part of the innermost name.
#[test]
fn a_difference_of_threads_has_two_numbers() {
    let text = b"P7;T0:16;main (a.py);f (a.py) 3 5\nP7;T0:16;main (a.py) 4 0\n";
    assert_eq!(dumptool::detect::detect(text).unwrap(), Format::Folded);
    let profile = load(text);
    let sums =
        profile.metrics_in_order().iter().map(|of| profile.total.get(of)).collect::<Vec<_>>();
    assert_eq!((sums, profile.threads.len()), (vec![7, 5], 1));
    let [before, after] = ["P7;T0:16;main 3\n", "P7;T0:16;main 5\n"]
        .map(|line| format!("# folded: time in microseconds\n{line}"));
    let mut difference = Vec::new();
    let options = inferno::differential::Options::default();
    inferno::differential::from_readers(
        options,
        before.as_bytes(),
        after.as_bytes(),
        &mut difference,
    )
    .unwrap();
    assert_eq!(difference, b"P7;T0:16;main 3 5\n", "others skip the comment");
    let austin = b"P7;T0:16 9\nP7;T0:16;a.py:f:3 5\n";
    assert_eq!(dumptool::detect::detect(austin).unwrap(), Format::Austin);
}

#[test]
fn a_cut_file_gives_what_it_has() {
    let bytes = read(&fixture("folded/pyspy.folded"));
    for cut in 0..bytes.len() {
        let (shown, error) = records(Format::Folded, &bytes[..cut]);
        let loaded =
            input::load_profile(Format::Folded, &bytes[..cut], ProfileOptions::default()).unwrap();
        assert_eq!(loaded.profile.total.samples(), shown.len() as u64, "{cut}");
        assert_eq!(
            loaded.damage.and_then(|damage| damage.offset()),
            error.and_then(|error| error.offset()),
            "{cut}"
        );
    }
    crate::support::damage(Format::Folded, &bytes, 300, 500);
}

proptest! {
    #[test]
    fn what_was_written_is_the_same_profile(
        lines in prop::collection::vec((prop::collection::vec("[a-zα-γ<> ()]{0,3}[a-z]", 1..6), 1i64..1 << 40), 1..30)
    ) {
        let text: String = lines.iter().map(|(frames, number)| format!("{} {number}\n", frames.join(";"))).collect();
        let profile = load(text.as_bytes());
        prop_assert_eq!(profile.total.get(&profile.default_metric()), lines.iter().map(|(_, number)| number).sum::<i64>());
        let first = written(&profile);
        let again = load(first.as_bytes());
        prop_assert_eq!(written(&again), first);
        prop_assert_eq!(again.total.get(&again.default_metric()), profile.total.get(&profile.default_metric()));
        prop_assert_eq!(again.aggregate.len(), profile.aggregate.len());
    }
}

/// A line that begins with `#` is a comment to every reader.
#[test]
fn a_first_frame_that_begins_with_a_hash_does_not_become_a_comment() {
    let speedscope = br##"{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{"frames":[{"name":"run"}]},
        "profiles":[{"type":"sampled","name":"# folded: T","unit":"none","startValue":0,
        "endValue":1,"samples":[[0]],"weights":[1]}]}"##;
    let options = ProfileOptions::default();
    let loaded = input::load_profile(Format::Speedscope, speedscope, options).unwrap();
    let text = written(&loaded.profile);
    let again = load(text.as_bytes());
    assert_eq!(again.total.samples(), loaded.profile.total.samples(), "{text}");
}
