//! The reader of speedscope's JSON against an independent script, its own writer, and damage.

use crate::support::{broken, fixture, info, read, records};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{
    FrameKind, Metric, Mode, Profile, ProfileBuilder, ProfileFrame, ProfileSample, StackId, Unit,
    ValueType, Values,
};
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output;
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn load(bytes: &[u8]) -> Profile {
    let options = ProfileOptions::default().keep_samples(true);
    let loaded = input::load_profile(Format::Speedscope, bytes, options).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

fn written(profile: &Profile, in_order: bool) -> Vec<u8> {
    let selection = Selection { in_order, ..Selection::default() };
    let mut out = Vec::new();
    output::speedscope::write(&of_profile(profile.clone(), "", &selection), &mut out).unwrap();
    out
}

/// Nanoseconds, or whatever else the unit is.
fn fine(metric: &Metric, number: i64) -> i64 {
    number * metric.unit().nanoseconds().unwrap_or(1) as i64
}

#[test]
fn sums_self_and_total_are_those_of_a_script() {
    for name in ["evented", "pyspy"] {
        let bytes = read(&fixture(&format!("speedscope/{name}.speedscope.json")));
        assert_eq!(dumptool::detect::detect(&bytes).unwrap(), Format::Speedscope, "{name}");
        let profile = load(&bytes);
        let truth = crate::support::json(&fixture(&format!("speedscope/{name}.truth.json")));
        for (number, of) in truth["profiles"].as_array().unwrap().iter().enumerate() {
            let metrics = profile.metrics_in_order();
            let metric = &metrics[if profile.value_types.is_empty() { 0 } else { number }];
            let thread = Some(of["name"].as_str().unwrap().to_owned());
            let selection = Selection { thread, ..Selection::default() };
            let selected = Selected::of(&profile, &selection);
            assert_eq!(fine(metric, selected.total.get(metric)), of["sum"], "{name} {number}");
            // The script does not tell lines apart.
            let stacks: BTreeSet<Vec<_>> = profile
                .aggregate
                .iter()
                .filter(|row| selection.has(&profile, profile.thread(row.thread)))
                .filter(|row| row.values.get(metric) != 0)
                .map(|row| {
                    let mut frames = Vec::new();
                    profile.stacks.outermost_first(row.stack, &mut frames);
                    frames.iter().map(|frame| profile.function_name(*frame)).collect()
                })
                .collect();
            assert_eq!(stacks.len(), of["different_stacks"], "{name} {number}");
            let rows = top(&selected, TopBy::Frames(FrameBy::Function)).rows;
            // The same function may be in several files, which the script does not tell apart.
            let mut sums = BTreeMap::<_, i64>::new();
            for row in &rows {
                *sums.entry(&*row.label.name).or_default() += row.sums.own.get(metric);
            }
            for row in of["functions"].as_array().unwrap() {
                let found = sums.get(row[0].as_str().unwrap()).map(|own| fine(metric, *own));
                assert_eq!(found, row[1].as_i64(), "{row} in {name} {number}");
            }
        }
        assert_eq!(broken(Format::Speedscope, &bytes), [""; 0], "{name}");
        // It speaks of profiles, too, but has none.
        let truth = read(&fixture(&format!("speedscope/{name}.truth.json")));
        assert!(dumptool::detect::detect(&truth).is_err(), "{name}");
        let shown = info(Format::Speedscope, &bytes);
        assert_eq!(shown["records"]["profile"], 2, "{shown}");
    }
}

fn totals(text: &serde_json::Value) -> Vec<(String, String, i64)> {
    let profile = load(text.to_string().as_bytes());
    let metrics = profile.metrics_in_order();
    metrics
        .iter()
        .map(|metric| {
            (metric.name().to_owned(), metric.unit().name().to_owned(), profile.total.get(metric))
        })
        .collect()
}

#[test]
fn units_decide_what_numbers_are() {
    let file = |unit: &str, weights: serde_json::Value| {
        let samples: Vec<_> = weights.as_array().unwrap().iter().map(|_| [0]).collect();
        totals(&json!({"shared": {"frames": [{"name": "f"}]}, "profiles": [{
            "type": "sampled", "name": "t", "unit": unit, "startValue": 0, "endValue": 1,
            "samples": samples, "weights": weights}]}))
    };
    let of = |name: &str, unit: &str, sum| (name.to_owned(), unit.to_owned(), sum);
    assert_eq!(
        file("seconds", json!([0.005, 1])),
        [of("time", "microseconds", 1_005_000), of("samples", "count", 2)]
    );
    let fine = file("milliseconds", json!([0.0015, 2]));
    assert_eq!(fine, [of("time", "nanoseconds", 2_001_500)]);
    assert_eq!(file("bytes", json!([3, 1e2])), [of("memory", "bytes", 103)]);
    assert_eq!(file("none", json!([3, -1])), [of("samples", "count", 2)]);
    assert_eq!(file("none", json!([0.5, 1])), [of("samples", "millionths", 1_500_000)]);
    assert_eq!(file("pages", json!([7])), [of("pages", "pages", 7)]);
}

#[test]
fn events_that_do_not_close_in_order_are_found() {
    let profile = |events: &str| {
        format!(
            r#"{{"profiles":[{{"type":"evented","name":"t","unit":"microseconds","startValue":0,"endValue":9,
            "events":[{events}]}}],"shared":{{"frames":[{{"name":"f"}},{{"name":"g"}}]}}}}"#
        )
    };
    let event = |kind: &str, frame: u32, at: u32| {
        format!(r#"{{"type":"{kind}","frame":{frame},"at":{at}}}"#)
    };
    let crossed = [event("O", 0, 0), event("O", 1, 2), event("C", 0, 5), event("C", 1, 4)];
    let text = profile(&crossed.join(","));
    assert_eq!(broken(Format::Speedscope, text.as_bytes()), ["events.at", "events.nested"]);
    let loaded = load(text.as_bytes());
    assert_eq!((loaded.total.time(), loaded.mode), (9, Mode::Wall));
    let unknown = profile(&[event("O", 7, 0), event("C", 7, 2)].join(","));
    assert_eq!(broken(Format::Speedscope, unknown.as_bytes()), ["frames.number"]);
    assert_eq!(
        load(unknown.as_bytes()).function_name(dumptool::model::profile::FrameId(2)),
        "<unresolved>"
    );
}

#[test]
fn a_cut_file_gives_what_it_has() {
    for name in ["evented", "pyspy"] {
        let bytes = read(&fixture(&format!("speedscope/{name}.speedscope.json")));
        let bytes = bytes.trim_ascii_end();
        let whole = load(bytes).total;
        let mut last = 0;
        for cut in (0..bytes.len()).step_by(if name == "pyspy" { 331 } else { 1 }) {
            let (_, error) = records(Format::Speedscope, &bytes[..cut]);
            let loaded =
                input::load_profile(Format::Speedscope, &bytes[..cut], ProfileOptions::default())
                    .unwrap();
            let damage = loaded.damage.expect("a cut is damage");
            assert_eq!(damage.offset(), error.unwrap().offset(), "{cut}");
            assert!(damage.offset().is_some_and(|offset| offset <= cut as u64), "{cut}");
            // A sample may be there before its weight.
            let samples = loaded.profile.total.samples();
            assert!(samples >= last && samples <= whole.samples(), "{cut}: {samples}");
            last = samples;
        }
        assert!(last > 0);
        crate::support::damage(Format::Speedscope, bytes, 60, 150);
    }
}

/// A thread, and the frames of a stack: function, file, line and kind.
type NamedStack = (String, Vec<(String, String, u32, FrameKind)>);

/// Every stack with its numbers, by names.
fn sums(profile: &Profile) -> BTreeMap<NamedStack, Vec<i64>> {
    let metrics = profile.metrics_in_order();
    let text = |name| profile.names.text(name).to_owned();
    let mut sums = BTreeMap::new();
    for row in profile.aggregate.iter() {
        let mut frames = Vec::new();
        profile.stacks.outermost_first(row.stack, &mut frames);
        let frames = frames.iter().map(|&frame| {
            let frame = profile.frame(frame);
            (text(frame.function), text(frame.file), frame.line, frame.kind)
        });
        let thread = profile.thread(row.thread).label(&profile.names);
        let numbers = metrics.iter().map(|metric| row.values.get(metric)).collect();
        let before = sums.insert((thread, frames.collect()), numbers);
        assert!(before.is_none(), "a stack is there once");
    }
    sums
}

/// The samples of each thread in the order of time, neighbours with the same stack in one.
fn in_order(profile: &Profile) -> BTreeMap<String, Vec<(Vec<u32>, i64, u64)>> {
    let mut threads = BTreeMap::<_, Vec<(Vec<u32>, i64, u64)>>::new();
    for sample in profile.samples.as_ref().unwrap().iter() {
        let mut frames = Vec::new();
        profile.stacks.outermost_first(sample.stack, &mut frames);
        let lines = frames.iter().map(|frame| profile.frame(*frame).line).collect();
        let thread = profile.thread(sample.thread).label(&profile.names);
        let row = threads.entry(thread).or_default();
        match row.last_mut() {
            Some((last, time, count)) if *last == lines => {
                *time += sample.time.unwrap();
                *count += 1;
            }
            _ => row.push((lines, sample.time.unwrap(), 1)),
        }
    }
    threads
}

type Drawn = (u8, Vec<u8>, i64);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec((0u8..3, prop::collection::vec(0u8..6, 0..5), 1i64..1 << 40), 1..40)
}

fn stack(builder: &mut ProfileBuilder, frames: &[u8]) -> StackId {
    frames.iter().fold(StackId::EMPTY, |stack, &number| {
        let kind = if number == 5 { FrameKind::Kernel } else { FrameKind::Code };
        let function =
            builder.name(["main", "ä \"b\"", "c d", "e", "f", "sys"][number as usize].as_bytes());
        let file = builder.name(if number == 4 { b"" } else { b"a.py" });
        let frame = builder.frame(ProfileFrame { function, file, line: number.into(), kind });
        builder.push(stack, frame)
    })
}

proptest! {
    /// Samples with times are the same samples again, in the same order.
    #[test]
    fn recordings_come_back_as_they_were(samples in drawn()) {
        let mut builder = ProfileBuilder::new(true);
        for (thread, frames, time) in &samples {
            let name = builder.name(format!("{thread:x}").as_bytes());
            let thread = builder.thread(7, (*thread == 2).then_some(0), name);
            let stack = stack(&mut builder, frames);
            builder.sample(&ProfileSample { thread, stack, time: Some(*time), memory: None, idle: false, gc: false });
        }
        let profile = builder.finish();
        let again = load(&written(&profile, true));
        prop_assert!(again.value_types.is_empty());
        prop_assert_eq!(sums(&again), sums(&profile));
        prop_assert_eq!(in_order(&again), in_order(&profile));
        prop_assert_eq!(written(&again, true), written(&profile, true));
    }

    /// Sums of any value types are the same sums again.
    #[test]
    fn sums_come_back_as_they_were(rows in drawn()) {
        let mut builder = ProfileBuilder::new(false);
        let of = |name: &'static str, unit: &str| ValueType { name: name.into(), unit: Unit::named(unit) };
        builder.set_value_types(vec![of("cpu", "nanoseconds"), of("inuse_space", "bytes"), of("objects", "count")], 0);
        for (thread, frames, number) in &rows {
            let name = builder.name(format!("{thread:x}").as_bytes());
            let thread = builder.thread(7, None, name);
            let stack = stack(&mut builder, frames);
            builder.add(thread, stack, &Values::of_types(1, &[*number, number % 3 + 1, 1]));
        }
        let profile = builder.finish();
        let again = load(&written(&profile, false));
        prop_assert_eq!(&again.value_types, &profile.value_types);
        prop_assert_eq!(sums(&again), sums(&profile));
        prop_assert_eq!(written(&again, false), written(&profile, false));
    }
}
