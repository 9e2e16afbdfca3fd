//! The reader of folded stacks against an independent script, its own writer, and damage.

mod support;

use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{FrameKind, Profile};
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output;
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{fixture, info, json, read, records};

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
    let folders = [Some(fixture("folded")), support::corpus("stacks")].into_iter().flatten();
    let files: Vec<_> = folders
        .flat_map(|folder| support::files(&folder))
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
    support::damage(Format::Folded, &bytes, 300, 500);
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
