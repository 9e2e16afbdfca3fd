//! Every output of profiles, read again by a small reader of its own: the sums are those of the
//! profile.

use crate::support::mojo::Mojo;
use crate::support::pprof::{fields, packed};
use crate::support::{files, fixture, read};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{Metric, Mode, Profile, Values};
use dumptool::model::stacks::{Selection, WeightedStacks, of_profile};
use dumptool::output::loss::LossKind;
use dumptool::output::written::Written;
use dumptool::output::{Syntax, firefox, folded, hprof, mojo, pprof, speedscope, stack_rows};
use serde_json::Value;
use std::collections::BTreeMap;

fn load(bytes: &[u8], keep_samples: bool) -> Profile {
    let options = ProfileOptions::default().keep_samples(keep_samples);
    input::load_profile(Format::Mojo, bytes, options).unwrap().profile
}

/// All fixtures, and one whose names are as bad as names can be.
fn profiles() -> Vec<(String, Vec<u8>)> {
    let recordings = files(&fixture("mojo"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "mojo"));
    let mut all: Vec<_> = recordings
        .map(|path| (path.display().to_string(), read(&path)))
        .filter(|(_, bytes)| {
            input::load_profile(Format::Mojo, bytes, ProfileOptions::default()).is_ok()
        })
        .collect();
    all.push(("bad names".to_owned(), bad_names()));
    assert!(all.len() > 20);
    all
}

fn bad_names() -> Vec<u8> {
    let mut file = Mojo::new(3);
    file.metadata("mode", "full")
        .stack(7, 0, "a;b\n\"c\"")
        .string(5, b"a\xff;\"\n.py")
        .string(6, "f;g 12\\\t")
        .string(7, "");
    file.frame(1, 5, 6, 3).frame(2, 7, 7, 0).frame_ref(1).frame_ref(2).time(10).memory(-5);
    file.stack(7, 0, "a;b\n\"c\"").time(3).memory(0);
    file.stack(8, 0, "2").frame_ref(99).id(6).text("do;sys").id(7).time(4).id(8).memory(7);
    file.stack(8, 0, "2").id(4).time(6).memory(1).stack(8, 0, "2").frame_ref(99);
    file.0
}

fn stacks_of(profile: &Profile, metrics: Vec<Metric>, in_order: bool) -> WeightedStacks {
    of_profile(
        profile.clone(),
        "a \"title\"",
        &Selection { metrics, in_order, ..Selection::default() },
    )
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<Written>) -> (Vec<u8>, Written) {
    let mut out = Vec::new();
    let written = write(&mut out).unwrap();
    (out, written)
}

/// Where all numbers of a value are positive, what is written must add up to all of it.
fn sums_of(profile: &Profile) -> Vec<(Metric, i64)> {
    profile
        .metrics()
        .into_iter()
        .map(|metric| (metric.clone(), profile.total.get(&metric)))
        .collect()
}

#[test]
fn folded_stacks_add_up_for_inferno_too() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, false);
        for (metric, total) in sums_of(&profile) {
            let stacks = stacks_of(&profile, vec![metric.clone()], false);
            let (text, report) = written(|out| folded::write(&stacks, 0, out));
            let text = String::from_utf8(text).unwrap();
            let lines = || text.lines().filter(|line| !line.starts_with('#'));
            let mut sum = 0;
            for line in lines() {
                let (stack, number) = line.rsplit_once(' ').unwrap();
                assert!(
                    stack.split(';').count() >= 2
                        && stack.split(';').all(|frame| !frame.is_empty()),
                    "{name}: {line}"
                );
                sum += number.parse::<i64>().unwrap();
            }
            assert_eq!(
                (sum, report.sums[0].sum, lines().count() as u64),
                (total, total, report.stacks),
                "{name} {metric:?}"
            );
            if total > 0 {
                let mut svg = Vec::new();
                let mut options = inferno::flamegraph::Options::default();
                inferno::flamegraph::from_lines(&mut options, text.lines(), &mut svg).unwrap();
                let svg = String::from_utf8(svg).unwrap();
                let all = grouped(total);
                assert!(
                    svg.contains(&format!("<title>all ({all} samples, 100%)")),
                    "{name}: no {all}"
                );
            }
        }
    }
}

/// `12,345`, as inferno shows numbers.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}

#[test]
fn folded_functions_are_one_frame_whatever_their_line() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a")
        .string(5, "a.py")
        .string(6, "f")
        .frame(1, 5, 6, 1)
        .frame(2, 5, 6, 2)
        .frame_ref(1)
        .time(1);
    file.stack(1, 0, "a")
        .frame_ref(2)
        .time(2)
        .stack(1, 0, "b")
        .frame_ref(2)
        .time(4)
        .stack(1, 0, "a")
        .time(8);
    let (text, _) = written(|out| {
        folded::write(&stacks_of(&load(&file.0, false), vec![Metric::TIME], false), 0, out)
    });
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "# folded: time in microseconds\nP1;T0:10 8\nP1;T0:10;f (a.py) 3\nP1;T0:11;f (a.py) 4\n"
    );
}

#[test]
fn speedscope_profiles_add_up_and_keep_time() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, true);
        for in_order in [false, true] {
            let stacks = stacks_of(&profile, Vec::new(), in_order);
            let (json, report) = written(|out| speedscope::write(&stacks, out));
            let document: Value =
                serde_json::from_slice(&json).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut sums = BTreeMap::<String, i64>::new();
            for profile in document["profiles"].as_array().unwrap() {
                let weights: Vec<i64> = profile["weights"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|w| w.as_i64().unwrap())
                    .collect();
                let samples = profile["samples"].as_array().unwrap();
                assert_eq!(
                    (weights.len(), profile["endValue"].as_i64()),
                    (samples.len(), Some(weights.iter().sum())),
                    "{name}"
                );
                let frames = document["shared"]["frames"].as_array().unwrap().len() as u64;
                assert!(
                    samples
                        .iter()
                        .flat_map(|s| s.as_array().unwrap())
                        .all(|f| f.as_u64().unwrap() < frames),
                    "{name}"
                );
                assert!(
                    samples.iter().all(|s| !s.as_array().unwrap().is_empty()),
                    "{name}: speedscope would not count it"
                );
                let title = profile["name"].as_str().unwrap();
                let value = title.rsplit_once('(').unwrap().1.trim_end_matches(')');
                *sums.entry(value.to_owned()).or_default() += weights.iter().sum::<i64>();
            }
            for ((metric, total), sum) in sums_of(&profile).into_iter().zip(&report.sums) {
                assert_eq!(
                    (sums.get(metric.name()).copied().unwrap_or(0), sum.sum),
                    (total, total),
                    "{name} {metric:?}"
                );
            }
        }
    }
}

#[test]
fn pprof_samples_add_up_and_refer_to_what_is_there() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, false);
        let (message, _) =
            written(|out| pprof::write(&stacks_of(&profile, Vec::new(), false), out));
        let fields_of =
            |wanted: u64| fields(&message).into_iter().filter(move |(field, ..)| *field == wanted);
        let strings: Vec<&str> =
            fields_of(6).map(|(.., text)| std::str::from_utf8(text).unwrap()).collect();
        assert_eq!(strings[0], "");
        let types: Vec<&str> =
            fields_of(1).map(|(.., kind)| strings[fields(kind)[0].1 as usize]).collect();
        let ids = |field: u64| {
            fields_of(field).map(|(.., message)| fields(message)[0].1).collect::<Vec<_>>()
        };
        let (locations, functions) = (ids(4), ids(5));
        for (.., location) in fields_of(4) {
            let (.., line) = fields(location).into_iter().find(|(field, ..)| *field == 4).unwrap();
            assert!(functions.contains(&fields(line)[0].1), "{name}");
        }
        let mut sums = vec![0; types.len()];
        for (.., sample) in fields_of(2) {
            let sample = fields(sample);
            let stack = packed(sample[0].2);
            assert!(
                !stack.is_empty() && stack.iter().all(|id| locations.contains(&(*id as u64))),
                "{name}"
            );
            sums.iter_mut().zip(packed(sample[1].2)).for_each(|(sum, value)| *sum += value);
        }
        for (metric, total) in sums_of(&profile) {
            let index = types.iter().position(|kind| *kind == metric.name()).unwrap();
            assert_eq!(sums[index], total, "{name} {metric:?}");
        }
        assert_eq!(types[0], "samples", "counts come first");
    }
}

#[test]
fn firefox_profiles_add_up() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, true);
        for in_order in [false, true] {
            let (json, _) =
                written(|out| firefox::write(&stacks_of(&profile, Vec::new(), in_order), out));
            let document: Value =
                serde_json::from_slice(&json).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut sum = 0.0;
            for thread in document["threads"].as_array().unwrap() {
                for table in ["samples", "stackTable", "frameTable", "funcTable", "markers"] {
                    let length = thread[table]["length"].as_u64().unwrap() as usize;
                    for (column, values) in thread[table].as_object().unwrap() {
                        assert!(
                            values.as_array().is_none_or(|values| values.len() == length),
                            "{name}: {table}.{column}"
                        );
                    }
                }
                sum += thread["samples"]["weight"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|w| w.as_f64().unwrap())
                    .sum::<f64>();
                let stacks = thread["stackTable"]["length"].as_u64().unwrap();
                for (stack, prefix) in
                    thread["stackTable"]["prefix"].as_array().unwrap().iter().enumerate()
                {
                    assert!(
                        prefix.as_u64().is_none_or(|prefix| prefix < stack as u64),
                        "{name}: callers come first"
                    );
                }
                let referred = thread["samples"]["stack"].as_array().unwrap();
                assert!(
                    referred.iter().all(|stack| stack.as_u64().is_none_or(|stack| stack < stacks)),
                    "{name}"
                );
            }
            let (metric, total) = sums_of(&profile)[0].clone();
            let factor = if metric == Metric::MEMORY_GAINED { 1.0 } else { 1000.0 };
            assert_eq!((sum * factor).round() as i64, total, "{name}");
        }
    }
}

#[test]
fn tables_add_up() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, true);
        for in_order in [false, true] {
            let stacks = stacks_of(&profile, Vec::new(), in_order);
            let (json, _) = written(|out| stack_rows::write(&stacks, Syntax::Jsonl, out));
            let json: Vec<Value> = String::from_utf8(json)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let (table, _) = written(|out| stack_rows::write(&stacks, Syntax::Csv, out));
            let mut reader = csv::Reader::from_reader(table.as_slice());
            let headers = reader.headers().unwrap().clone();
            let table: Vec<csv::StringRecord> =
                reader.records().map(|record| record.unwrap()).collect();
            assert_eq!((json.len(), table.len()), (stacks.len(), stacks.len()), "{name}");
            for (metric, total) in sums_of(&profile) {
                let column = headers.iter().position(|header| header == metric.name()).unwrap();
                let of_table: i64 =
                    table.iter().map(|row| row[column].parse::<i64>().unwrap()).sum();
                let of_json: i64 =
                    json.iter().map(|row| row[metric.name()].as_i64().unwrap()).sum();
                assert_eq!((of_table, of_json), (total, total), "{name} {metric:?}");
            }
            let frames: usize = json.iter().map(|row| row["stack"].as_array().unwrap().len()).sum();
            assert_eq!(
                frames,
                stacks.iter().map(|entry| stacks.stacks.frames(entry.stack).count()).sum::<usize>(),
                "{name}"
            );
        }
    }
}

/// Sums by thread and stack, in words.
fn in_words(profile: &Profile) -> BTreeMap<(String, String), Values> {
    let mut words = BTreeMap::<_, Values>::new();
    for row in profile.aggregate.iter() {
        let frames: Vec<_> = profile
            .stacks
            .frames(row.stack)
            .map(|id| {
                let frame = profile.frame(id);
                let (function, file) =
                    (profile.names.text(frame.function), profile.names.text(frame.file));
                format!("{function} {file} {} {:?}", frame.line, frame.kind)
            })
            .collect();
        let thread = profile.thread(row.thread);
        let thread = format!(
            "{} {:?} {}",
            thread.pid,
            thread.interpreter.unwrap_or(0),
            thread.id(&profile.names)
        );
        words.entry((thread, frames.join("\n"))).or_default().add(&row.values);
    }
    words
}

#[test]
fn mojo_comes_back() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, true);
        let (out, report) = written(|out| mojo::write(&profile, &|_| true, false, out));
        let again = load(&out, true);
        assert_eq!(again.total, profile.total, "{name}");
        assert_eq!(in_words(&again), in_words(&profile), "{name}");
        assert_eq!(again.metadata, profile.metadata, "{name}");
        assert_eq!(
            again.samples.as_ref().unwrap().len(),
            profile.samples.as_ref().unwrap().len(),
            "{name}"
        );
        assert_eq!(report.stacks, profile.total.samples(), "{name}");
        assert_eq!(again.notes.unresolved, 0, "{name}: all keys are defined by their process");
        let findings = input::check(Format::Mojo, &bytes, input::ReadOptions::default()).unwrap();
        assert!(
            findings.damage.is_some()
                || crate::support::broken(Format::Mojo, &out).len()
                    <= crate::support::broken(Format::Mojo, &bytes).len()
        );

        let (merged, _) = written(|out| mojo::write(&profile, &|_| true, true, out));
        let merged = load(&merged, true);
        assert!(merged.total.samples() <= profile.total.samples(), "{name}");
        let without_counts = |words: BTreeMap<(String, String), Values>| -> BTreeMap<_, _> {
            let drop_counts = |v: Values| {
                [
                    v.time(),
                    v.idle_time(),
                    v.gc_time(),
                    v.get(&Metric::MEMORY_GAINED),
                    v.get(&Metric::MEMORY),
                ]
            };
            words.into_iter().map(|(key, values)| (key, drop_counts(values))).collect()
        };
        assert_eq!(without_counts(in_words(&merged)), without_counts(in_words(&profile)), "{name}");
    }
}

#[test]
fn only_the_threads_that_are_wanted_are_written() {
    let profile = load(&read(&fixture("mojo/tiny-3.5.0-children-mp.mojo")), true);
    let pids: std::collections::BTreeSet<i128> =
        profile.threads.iter().map(|thread| thread.pid).collect();
    assert!(pids.len() > 1);
    let mut sum = 0;
    for &pid in &pids {
        let selection =
            Selection { metrics: vec![Metric::TIME], pid: Some(pid), ..Selection::default() };
        sum += of_profile(profile.clone(), "", &selection).totals()[0];
        let (out, _) = written(|out| {
            mojo::write(&profile, &|thread| profile.threads[thread].pid == pid, false, out)
        });
        assert!(load(&out, false).threads.iter().all(|thread| thread.pid == pid));
    }
    assert_eq!(sum, profile.total.time());
    let thread = profile.threads[0].id(&profile.names).to_owned();
    let selection = Selection { thread: Some(thread.clone()), ..Selection::default() };
    assert!(
        of_profile(profile.clone(), "", &selection)
            .tracks
            .iter()
            .all(|track| track.thread.as_ref() == Some(&thread))
    );
}

#[test]
fn what_is_replaced_or_left_out_is_counted() {
    let profile = load(&bad_names(), true);
    assert_eq!(
        (profile.notes.replaced, profile.notes.unresolved, profile.notes.without_metric),
        (1, 2, 1)
    );
    let stacks = stacks_of(&profile, vec![Metric::TIME], false);
    let (_, report) = written(|out| folded::write(&stacks, 0, out));
    let lost: BTreeMap<_, _> = report.lost.iter().map(|lost| (lost.what, lost.count)).collect();
    assert_eq!(lost[&LossKind::ReplacedSeparators], 3);
    assert_eq!(lost[&LossKind::ZeroStacks], 1, "{lost:?}");
}

/// Sums that hprof has a place for: samples, and memory that came into use and what of it stays.
fn in_hprof(values: &Values, memory: bool) -> (u64, u64, u64) {
    if memory {
        (
            values.samples(),
            values.memory_gained(),
            values.memory_gained().saturating_sub(values.memory_freed()),
        )
    } else {
        (values.samples(), 0, 0)
    }
}

#[test]
fn hprof_comes_back_as_a_profile() {
    for (name, bytes) in profiles() {
        let profile = load(&bytes, false);
        let (out, report) = written(|out| hprof::write_profile(&profile, &|_| true, None, out));
        if profile.aggregate.len() == 0 {
            continue;
        }
        assert_eq!(input::kind(Format::Hprof, &out), input::Kind::Profile, "{name}");
        let again = input::load_profile(Format::Hprof, &out, ProfileOptions::default()).unwrap();
        assert!(again.damage.is_none(), "{name}");
        let (again, memory) = (again.profile, matches!(profile.mode, Mode::Memory | Mode::Full));
        assert_eq!(again.mode, if memory { Mode::Memory } else { Mode::Samples }, "{name}");
        // Threads without an interpreter, and with interpreter 0, are the same in these words.
        let numbers = |profile: &Profile| -> BTreeMap<_, _> {
            in_words(profile)
                .into_iter()
                .map(|(key, values)| (key, in_hprof(&values, memory)))
                .collect()
        };
        assert_eq!(numbers(&again), numbers(&profile), "{name}");
        assert_eq!(report.sums[0].sum as u64, profile.total.samples(), "{name}");
        assert_eq!(again.notes.unresolved, 0, "{name}");
        let info = input::info(Format::Hprof, &out, input::ReadOptions::default()).unwrap();
        assert!(
            info.complete
                && info.heap.is_none()
                && info.profile.is_some_and(|p| p.samples == profile.total.samples())
        );
        assert_eq!(crate::support::broken(Format::Hprof, &out), Vec::<String>::new(), "{name}");
    }
}

/// A profile of one metric as hprof, its report, and the profile and sum that hprof has.
fn as_hprof(profile: &Profile, metric: &Metric) -> (Vec<u8>, Written, Profile, u64) {
    let (out, report) =
        written(|out| hprof::write_profile(profile, &|_| true, Some(metric.clone()), out));
    let again =
        input::load_profile(Format::Hprof, &out, ProfileOptions::default()).unwrap().profile;
    let total = &again.total;
    let sum = if *metric == Metric::TIME { total.samples() } else { total.memory_gained() };
    (out, report, again, sum)
}

#[test]
fn a_metric_of_hprof_may_need_more_than_32_bits() {
    let mut file = Mojo::new(3);
    file.metadata("mode", "full")
        .stack(1, 0, "a")
        .id(6)
        .text("do_sys")
        .time(i128::from(u32::MAX) * 3 + 5)
        .memory(1 << 33);
    let profile = load(&file.0, false);
    for (metric, sum) in [(Metric::TIME, u64::from(u32::MAX) * 3 + 5), (Metric::MEMORY, 1 << 33)] {
        let (_, report, again, read) = as_hprof(&profile, &metric);
        assert_eq!(
            (read, report.sums[0].sum as u64, again.aggregate.len()),
            (sum, sum, 1),
            "{metric:?}"
        );
    }
}

/// 47 bytes became 25 GiB: a sum of 2⁶² in numbers of 32 bits.
#[test]
fn a_sum_of_hprof_has_no_more_parts_than_there_is_room_for() {
    let mut file = Mojo::new(3);
    file.metadata("mode", "full")
        .stack(1, 0, "a")
        .id(6)
        .text("do_sys")
        .time(1 << 62)
        .memory(1 << 62);
    file.stack(1, 0, "b").id(6).text("do_sys").time(7).memory(1 << 33);
    let profile = load(&file.0, false);
    for metric in [Metric::TIME, Metric::MEMORY] {
        let (out, report, _, read) = as_hprof(&profile, &metric);
        assert!((1 << 19..3 << 20).contains(&out.len()), "{metric:?}: {}", out.len());
        let cut = report.lost.iter().find(|loss| loss.what == LossKind::CutSums).expect("a loss");
        assert_eq!(cut.count, 1, "the small sum is whole");
        assert!(read > 1 << 47 && read == report.sums[0].sum as u64, "{metric:?}: {read}");
    }
}

/// A tree of stacks is small where its stacks, one by one, are not.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes long in a debug build: add --release")]
fn traces_of_hprof_have_no_more_frames_than_there_is_room_for() {
    const DEPTH: usize = 20_000;
    let mut recording = String::from("# mode: wall\n");
    (1..=DEPTH).step_by(10).for_each(|depth| {
        recording.push_str("P1;T0:1");
        (0..depth)
            .for_each(|frame| recording.push_str(if frame % 2 == 0 { ";a:f:1" } else { ";a:g:2" }));
        recording.push_str(" 1\n");
    });
    let loaded =
        input::load_profile(Format::Austin, recording.as_bytes(), ProfileOptions::default())
            .unwrap();
    let (out, report) = written(|out| hprof::write_profile(&loaded.profile, &|_| true, None, out));
    let budget = (4 << 20) + 256 * (DEPTH / 10);
    assert!((8 * budget / 4..4 * budget + (1 << 20)).contains(&out.len()), "{}", out.len());
    let all: u64 = (1..=DEPTH as u64).step_by(10).sum();
    let cut =
        report.lost.iter().find(|loss| loss.what == LossKind::CutFrames).expect("a loss").count;
    assert!(cut >= all - budget as u64 && cut < all, "{cut} of {all}");
}

#[test]
fn a_cut_hprof_profile_gives_what_was_read() {
    let profile = load(&read(&fixture("mojo/tiny-3.6.0-memory-mem.mojo")), false);
    let (whole, _) = written(|out| hprof::write_profile(&profile, &|_| true, None, out));
    for length in (31..whole.len()).step_by(whole.len() / 97 + 1) {
        let cut = &whole[..length];
        for bytes in [
            cut.to_vec(),
            [cut, &[0x0d, 0, 0, 0, 0, 0, 0, 0, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]
                .concat(),
        ] {
            if let Ok(loaded) =
                input::load_profile(Format::Hprof, &bytes, ProfileOptions::default())
            {
                assert!(loaded.profile.total.samples() <= profile.total.samples());
            }
        }
    }
}

/// What every output says it has written is the total of the profile: all recordings at hand.
#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn corpus_outputs_have_the_sums_of_the_truth() {
    let corpus = crate::support::corpus_folder("mojo");
    let mut count = 0;
    for path in
        files(&corpus).into_iter().filter(|path| path.extension().is_some_and(|e| e == "json"))
    {
        let Ok(truth) = serde_json::from_slice::<Value>(&read(&path)) else { continue };
        let recording = path.with_extension("mojo");
        let recording =
            if recording.exists() { recording } else { path.with_extension("mojo.zst") };
        if !recording.exists() || truth["totals"].is_null() {
            continue;
        }
        let name = recording.display().to_string();
        let profile = load(&read(&recording), true);
        let [time, samples] =
            ["time", "samples"].map(|sum| truth["totals"][sum].as_i64().unwrap_or(0));
        assert!(time != 0 || profile.mode == Mode::Memory || samples == 0, "{name}");
        assert_eq!(
            (profile.total.time(), profile.total.samples() as i64),
            (time, samples),
            "{name}"
        );
        let expected: BTreeMap<String, i64> = sums_of(&profile)
            .into_iter()
            .map(|(metric, sum)| (metric.name().to_owned(), sum))
            .collect();
        let stacks = stacks_of(&profile, Vec::new(), false);
        let in_order = stacks_of(&profile, Vec::new(), true);
        for (output, report) in [
            ("pprof", written(|out| pprof::write(&stacks, out)).1),
            ("speedscope", written(|out| speedscope::write(&stacks, out)).1),
            ("speedscope in order", written(|out| speedscope::write(&in_order, out)).1),
            ("firefox", written(|out| firefox::write(&in_order, out)).1),
            ("csv", written(|out| stack_rows::write(&in_order, Syntax::Csv, out)).1),
            ("jsonl", written(|out| stack_rows::write(&stacks, Syntax::Jsonl, out)).1),
        ] {
            for sum in report.sums {
                assert_eq!(
                    Some(&sum.sum),
                    expected.get(&sum.value),
                    "{name} as {output}: {}",
                    sum.value
                );
            }
        }
        for (value, (metric, sum)) in sums_of(&profile).into_iter().enumerate() {
            let (_, report) = written(|out| folded::write(&stacks, value, out));
            assert_eq!(report.sums[0].sum, sum, "{name} folded: {metric:?}");
        }
        let (again, _) = written(|out| mojo::write(&profile, &|_| true, false, out));
        assert_eq!(load(&again, false).total, profile.total, "{name} as mojo");
        let (_, report) = written(|out| hprof::write_profile(&profile, &|_| true, None, out));
        assert_eq!(report.sums[0].sum, samples, "{name} as hprof");
        count += 1;
    }
    assert!(count > 30, "{count} recordings with truth");
}
