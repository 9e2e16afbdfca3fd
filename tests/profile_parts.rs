//! Profiles that are loaded in parts say the same as whole ones.

mod support;

use dumptool::analysis::profile::{FrameBy, Selected, Top, TopBy, TopSums};
use dumptool::input::load::{Parts, ProfileOptions};
use dumptool::input::{self, Format};
use dumptool::model::profile::{Metric, Profile, ProfileNotes, Values};
use dumptool::model::stacks::{Selection, lend};
use dumptool::output::loss::LossKind;
use dumptool::output::spool::Spool;
use dumptool::output::{folded, pprof, speedscope};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::process::{Command, Output};
use support::Random;
use support::mojo::Mojo;

const WHOLE: usize = usize::MAX;

/// Loads a profile, and gives its parts to `each`, which is told the last one. Returns how many
/// there were.
fn load(bytes: &[u8], size: usize, mut each: impl FnMut(&mut Profile, bool)) -> usize {
    let mut count = 1;
    let mut take = |part: &mut Profile| {
        count += 1;
        each(part, false);
        ControlFlow::Continue(())
    };
    let parts = Parts::new(&mut take).size(size);
    let mut last =
        input::load_profile_in_parts(Format::Mojo, bytes, ProfileOptions::default(), parts)
            .unwrap()
            .profile;
    each(&mut last, true);
    count
}

/// What a profile says of itself in whichever parts it is loaded.
#[derive(Debug, PartialEq)]
struct Facts {
    total: Values,
    notes: ProfileNotes,
    threads: Vec<String>,
    metadata: Vec<(String, u64)>,
    metrics: Vec<Metric>,
}

fn facts(bytes: &[u8], size: usize) -> Facts {
    let mut facts = None;
    load(bytes, size, |part, _| {
        facts = Some(Facts {
            total: part.total.clone(),
            notes: part.notes,
            threads: part.threads.iter().map(|thread| thread.label(&part.names)).collect(),
            metadata: part
                .metadata
                .iter()
                .map(|metadatum| (metadatum.key.clone(), metadatum.before))
                .collect(),
            metrics: part.metrics(),
        });
    });
    facts.unwrap()
}

/// The sum of each folded stack, and what is said of them.
fn folded_sums(
    bytes: &[u8],
    size: usize,
    selection: &Selection,
) -> (BTreeMap<String, i64>, i64, Vec<LossKind>) {
    let (mut out, mut writer, mut written) = (Vec::new(), None, None);
    load(bytes, size, |part, is_last| {
        lend(part, "", selection, |stacks| {
            writer
                .get_or_insert_with(|| folded::FoldedWriter::new(stacks, 0))
                .part(stacks, &mut out)
                .unwrap();
            written = writer.take_if(|_| is_last).map(|writer| writer.finish(stacks));
        });
    });
    let (text, written) = (String::from_utf8(out).unwrap(), written.unwrap());
    assert_eq!(text.lines().count() as u64, written.stacks);
    let mut sums = BTreeMap::new();
    for line in text.lines() {
        let (stack, number) = line.rsplit_once(' ').unwrap();
        *sums.entry(stack.to_owned()).or_default() += number.parse::<i64>().unwrap();
    }
    // Stacks without a sum are counted in each part.
    let lost = written
        .lost
        .iter()
        .map(|lost| lost.what)
        .filter(|what| !matches!(what, LossKind::ZeroStacks | LossKind::NegativeStacks))
        .collect();
    (sums, written.sums[0].sum, lost)
}

type PprofSums = BTreeMap<(String, Vec<String>), BTreeMap<String, i64>>;

fn pprof_sums(bytes: &[u8], size: usize, selection: &Selection) -> (PprofSums, Vec<i64>) {
    let (mut out, mut writer, mut written) = (Vec::new(), None, None);
    load(bytes, size, |part, is_last| {
        lend(part, "", selection, |stacks| {
            writer
                .get_or_insert_with(|| pprof::PprofWriter::new(stacks))
                .part(stacks, &mut out)
                .unwrap();
            written =
                writer.take_if(|_| is_last).map(|writer| writer.finish(stacks, &mut out).unwrap());
        });
    });
    (support::pprof::sums(&out), written.unwrap().sums.iter().map(|sum| sum.sum).collect())
}

/// All that a document says besides the samples, and the sum of each stack of each profile.
type SpeedscopeSums = (Vec<Value>, BTreeMap<(String, Vec<String>), i64>);

fn speedscope_sums(document: &[u8]) -> SpeedscopeSums {
    let mut document: Value = serde_json::from_slice(document).unwrap();
    let mut frames = document["shared"]["frames"].take();
    let names: Vec<String> = frames.as_array().unwrap().iter().map(Value::to_string).collect();
    let mut sums = BTreeMap::new();
    for profile in document["profiles"].as_array_mut().unwrap() {
        let (samples, weights) = (profile["samples"].take(), profile["weights"].take());
        let (samples, weights) = (samples.as_array().unwrap(), weights.as_array().unwrap());
        assert_eq!(samples.len(), weights.len());
        for (sample, weight) in samples.iter().zip(weights) {
            let stack = sample
                .as_array()
                .unwrap()
                .iter()
                .map(|frame| names[frame.as_u64().unwrap() as usize].clone())
                .collect();
            *sums.entry((profile["name"].to_string(), stack)).or_default() +=
                weight.as_i64().unwrap();
        }
    }
    // Where the frame of empty stacks is depends on the part in which the first one is.
    frames.as_array_mut().unwrap().sort_by_key(Value::to_string);
    (vec![frames, document], sums)
}

fn speedscope(bytes: &[u8], size: usize, selection: &Selection) -> (Vec<u8>, Vec<i64>) {
    let folder = tempfile::tempdir().unwrap();
    let (mut out, mut writer, mut written) = (Vec::new(), None, None);
    load(bytes, size, |part, is_last| {
        lend(part, "", selection, |stacks| {
            let spool =
                || speedscope::SpeedscopeWriter::new(stacks, Spool::new(folder.path().to_owned()));
            writer.get_or_insert_with(spool).part(stacks).unwrap();
            written =
                writer.take_if(|_| is_last).map(|writer| writer.finish(stacks, &mut out).unwrap());
        });
    });
    (out, written.unwrap().sums.iter().map(|sum| sum.sum).collect())
}

fn speedscope_at_once(bytes: &[u8], selection: &Selection) -> (Vec<u8>, Vec<i64>) {
    let (mut out, mut sums) = (Vec::new(), Vec::new());
    load(bytes, WHOLE, |part, _| {
        lend(part, "", selection, |stacks| {
            sums = speedscope::write(stacks, &mut out)
                .unwrap()
                .sums
                .iter()
                .map(|sum| sum.sum)
                .collect();
        });
    });
    (out, sums)
}

mod svg {
    use super::*;
    use dumptool::output::flamegraph;
    use dumptool::output::written::Written;

    fn options() -> flamegraph::FlamegraphOptions {
        flamegraph::FlamegraphOptions::default()
    }

    pub(crate) fn in_parts(
        bytes: &[u8],
        size: usize,
        room: usize,
        selection: &Selection,
    ) -> (String, Written) {
        let (mut out, mut writer, mut written) = (Vec::new(), None, None);
        load(bytes, size, |part, is_last| {
            lend(part, "", selection, |stacks| {
                writer
                    .get_or_insert_with(|| {
                        flamegraph::FlamegraphWriter::with_room(stacks, 0, options(), room)
                    })
                    .part(stacks);
                written = writer
                    .take_if(|_| is_last)
                    .map(|writer| writer.finish(stacks, &mut out).unwrap());
            });
        });
        (String::from_utf8(out).unwrap(), written.unwrap())
    }

    pub(crate) fn at_once(bytes: &[u8], selection: &Selection) -> (String, Written) {
        let (mut out, mut written) = (Vec::new(), Written::default());
        load(bytes, WHOLE, |part, _| {
            lend(part, "", selection, |stacks| {
                written = flamegraph::write(stacks, 0, &options(), &mut out).unwrap()
            });
        });
        (String::from_utf8(out).unwrap(), written)
    }

    /// The value of each frame of a picture: frames with the same name together.
    pub(crate) fn widths(picture: &str) -> BTreeMap<String, i64> {
        let mut widths = BTreeMap::new();
        for text in picture.split("data-total=\"").skip(1) {
            let (total, rest) = text.split_once('"').unwrap();
            let name = rest.split_once("<title>").unwrap().1.split_once('\n').unwrap().0;
            *widths.entry(name.to_owned()).or_default() += total.parse::<i64>().unwrap();
        }
        widths
    }
}

fn top(bytes: &[u8], size: usize, selection: &Selection, by: TopBy) -> (Top, Values, Values) {
    let mut sums = TopSums::new(by);
    load(bytes, size, |part, _| sums.add(&Selected::of(part, selection)));
    let (total, without_frames) = (sums.total.clone(), sums.without_frames.clone());
    (sums.finish(), total, without_frames)
}

/// A recording of what numbers say: an event each.
fn recording(mode: &str, events: &[(u8, u8)]) -> Vec<u8> {
    let mut file = Mojo::new(4);
    file.metadata("mode", mode);
    file.string(5, "a.py").string(6, "f").string(7, "g").string(8, "lib.so").string(9, "h;i");
    for key in 0..6 {
        file.frame(10 + key, if key == 4 { 8 } else { 5 }, 6 + key % 4, 1 + key / 4);
    }
    for &(event, number) in events {
        let number = i128::from(number);
        match event {
            0..=3 => file.stack(1 + number % 2, 0, ["a", "b", "c"][number as usize % 3]),
            4..=11 => file.frame_ref(10 + number % 7),
            12 | 13 => file.time(number),
            14 => file.memory(number - 100),
            15 | 16 => file.id(13),
            17 => file.id(7),
            18 => file.id(8),
            19 => file.id(4),
            20 => file.id(6).text("sys"),
            21 => file.frame(10 + number % 7, 5, 6 + number % 4, number),
            22 => file.id(14).varint(1 + number % 2).varint(0).varint(number % 3),
            _ => file.metadata("key", "value"),
        };
    }
    file.0
}

proptest! {
    #[test]
    fn parts_add_up_to_the_whole(
        mode in prop::sample::select(vec!["wall", "cpu", "memory", "full"]),
        events in prop::collection::vec((0u8..24, any::<u8>()), 0..300),
        size in 0usize..60,
        pid in prop::option::of(1i128..3),
        kept in 0.5f64..1.5,
    ) {
        let mut bytes = recording(mode, &events);
        // Many recordings end in the middle of an event.
        bytes.truncate(((bytes.len() as f64 * kept) as usize).max(4));
        let (whole, parts) = (facts(&bytes, WHOLE), facts(&bytes, size));
        prop_assert_eq!(&parts, &whole);
        for metric in [Metric::TIME, Metric::CPU, Metric::MEMORY_GAINED, Metric::MEMORY_FREED, Metric::SAMPLES, Metric::GC] {
            let selection = Selection { metrics: vec![metric], pid, ..Selection::default() };
            prop_assert_eq!(folded_sums(&bytes, size, &selection), folded_sums(&bytes, WHOLE, &selection));
        }
        let selection = Selection { metrics: whole.metrics, pid, ..Selection::default() };
        prop_assert_eq!(pprof_sums(&bytes, size, &selection), pprof_sums(&bytes, WHOLE, &selection));
        let (at_once, sums) = speedscope_at_once(&bytes, &selection);
        prop_assert_eq!(&speedscope(&bytes, WHOLE, &selection), &(at_once.clone(), sums.clone()));
        let (in_parts, sums_in_parts) = speedscope(&bytes, size, &selection);
        prop_assert_eq!(speedscope_sums(&in_parts), speedscope_sums(&at_once));
        prop_assert_eq!(sums_in_parts, sums);
        {
            let (picture, written) = svg::at_once(&bytes, &selection);
            let (in_parts, written_in_parts) = svg::in_parts(&bytes, size, 1 << 20, &selection);
            prop_assert_eq!(in_parts, picture);
            prop_assert_eq!(written_in_parts.sums, written.sums);
        }
        for by in [FrameBy::Function, FrameBy::File, FrameBy::Line].map(TopBy::Frames).into_iter().chain([TopBy::Thread, TopBy::Process]) {
            prop_assert_eq!(top(&bytes, size, &selection, by), top(&bytes, WHOLE, &selection, by));
        }
    }
}

#[test]
fn a_stack_is_repeated_across_parts() {
    let mut file = Mojo::new(4);
    file.stack(1, 0, "a")
        .string(5, "a.py")
        .string(6, "f")
        .frame(1, 5, 6, 1)
        .frame_ref(1)
        .frame_ref(1)
        .time(1);
    file.stack(1, 0, "b").time(2).stack(1, 0, "a").id(13).frame_ref(1).time(4);
    let (sums, ..) =
        folded_sums(&file.0, 0, &Selection { metrics: vec![Metric::TIME], ..Selection::default() });
    let expected = [
        ("P1;T0:10;f (a.py);f (a.py)", 1),
        ("P1;T0:11", 2),
        ("P1;T0:10;f (a.py);f (a.py);f (a.py)", 4),
    ];
    assert_eq!(sums, expected.map(|(stack, sum)| (stack.to_owned(), sum)).into());
    assert!(load(&file.0, 0, |_, _| {}) > 2);
}

#[test]
fn stacks_that_are_too_deep_are_cut_in_each_part() {
    let mut file = Mojo::new(3);
    file.string(5, "a.py").string(6, "f").frame(1, 5, 6, 1).frame(2, 5, 6, 2);
    for time in [1, 2] {
        file.stack(1, 0, "a");
        (0..600).for_each(|_| _ = file.frame_ref(1));
        file.time(time).stack(1, 0, "a").frame_ref(2).time(4).stack(1, 0, "a").time(8);
        file.frame(3, 5, 6, 3).stack(1, 0, "a").frame_ref(3).time(16);
    }
    let selection = Selection::default();
    assert_eq!(pprof_sums(&file.0, 0, &selection), pprof_sums(&file.0, WHOLE, &selection));
    assert_eq!(folded_sums(&file.0, 0, &selection), folded_sums(&file.0, WHOLE, &selection));
}

#[test]
fn a_part_is_larger_than_what_is_done_anew_for_it() {
    let mut file = Mojo::new(3);
    file.string(5, "a.py").string(6, "f");
    for number in 0..4096 {
        file.frame(number, 5, 6, number)
            .stack(1, 0, &format!("t{number}"))
            .frame_ref(number)
            .time(1);
    }
    assert!(load(&file.0, 16, |_, _| {}) < 20);
}

/// A recording that draws each of 5 to 34 frames from three, so that hardly a stack comes again.
fn random(samples: usize, threads: usize) -> Mojo {
    let mut random = Random(7);
    let mut file = Mojo::new(3);
    file.metadata("mode", "wall").string(5, "a.py").stack(1, 0, "t0");
    (0..102).for_each(|frame| {
        _ = file.string(100 + frame, format!("f{frame}")).frame(frame, 5, 100 + frame, 1)
    });
    for _ in 0..samples {
        file.stack(1, 0, &format!("t{}", random.below(threads)));
        let depth = 5 + random.below(30);
        (0..depth).for_each(|level| _ = file.frame_ref((3 * level + random.below(3)) as i128));
        file.time(1 + random.below(200) as i128);
    }
    file
}

#[test]
fn stacks_that_hardly_come_again_are_not_looked_for() {
    let bytes = random(3000, 3).0;
    let (mut repeating, mut rows) = (Vec::new(), 0);
    let count = load(&bytes, 3200, |part, _| {
        repeating.push(part.stacks.may_repeat());
        rows += part.aggregate.len();
    });
    assert!(
        count > 50 && !repeating[0] && repeating[1..].iter().all(|repeats| *repeats),
        "{repeating:?}"
    );
    assert!(rows > 2900, "{rows}");
    for selection in
        [Selection::default(), Selection { thread: Some("t1".into()), ..Selection::default() }]
    {
        assert_eq!(
            folded_sums(&bytes, 3200, &selection).0,
            folded_sums(&bytes, WHOLE, &selection).0
        );
        assert_eq!(pprof_sums(&bytes, 3200, &selection), pprof_sums(&bytes, WHOLE, &selection));
        let (in_parts, at_once) =
            (speedscope(&bytes, 3200, &selection), speedscope_at_once(&bytes, &selection));
        assert_eq!(speedscope_sums(&in_parts.0), speedscope_sums(&at_once.0));
        assert_eq!(
            top(&bytes, 3200, &selection, TopBy::Frames(FrameBy::File)),
            top(&bytes, WHOLE, &selection, TopBy::Frames(FrameBy::File))
        );
        assert_eq!(
            svg::in_parts(&bytes, 3200, 1 << 20, &selection).0,
            svg::at_once(&bytes, &selection).0
        );
    }
}

#[test]
fn stacks_are_looked_for_when_they_come_again() {
    let mut file = random(1000, 1);
    for sample in 0..6000 {
        file.stack(1, 0, "t0");
        // 27 stacks, each four times in a row.
        let stack = sample / 4 % 27;
        (0..20).for_each(|level| {
            _ = file.frame_ref(3 * level + stack / 3i128.pow(level as u32 % 3) % 3)
        });
        file.time(1);
    }
    let mut repeating = Vec::new();
    load(&file.0, 3200, |part, _| repeating.push(part.stacks.may_repeat()));
    assert!(repeating[1] && !repeating[repeating.len() - 1], "{repeating:?}");
    assert!(
        repeating.len() < 200,
        "the stacks that come again are in one part: {}",
        repeating.len()
    );
    let selection = Selection::default();
    assert_eq!(pprof_sums(&file.0, 3200, &selection), pprof_sums(&file.0, WHOLE, &selection));
}

#[test]
fn what_is_put_into_callers_is_bounded_and_said() {
    let bytes = random(20_000, 3).0;
    let selection = Selection::default();
    let (whole, written) = svg::at_once(&bytes, &selection);
    let (folded, written_folded) = svg::in_parts(&bytes, 16_000, 20_000, &selection);
    assert_eq!(written_folded.sums, written.sums);
    let lost = |what: LossKind| {
        written_folded
            .lost
            .iter()
            .find(|lost| lost.what == what)
            .map_or(0, |lost| lost.count as i64)
    };
    let (stacks, put) = (lost(LossKind::NarrowStacks), lost(LossKind::NarrowMicroseconds));
    assert!(
        stacks > 10_000 && put > 0 && put <= written.sums[0].sum,
        "{stacks} stacks, {put} of {}",
        written.sums[0].sum
    );
    let (whole, folded) = (svg::widths(&whole), svg::widths(&folded));
    for (name, &width) in &whole {
        let found = folded.get(name).copied().unwrap_or(0);
        assert!(found <= width && width - found <= put, "{name}: {found} of {width}");
    }
    // Threads and their outermost frames are wide.
    for name in
        ["all", "P1", "T0:t0", "T0:t1", "T0:t2", "f0 (a.py)", "f1 (a.py)", "f2 (a.py)", "f3 (a.py)"]
    {
        assert_eq!(folded[name], whole[name], "{name}");
    }
    assert!(folded.len() > 20, "{folded:?}");
}

/// More stacks than a part of the command line has, the last of them met by the garbage collector.
fn large() -> Vec<u8> {
    let mut file = Mojo::of_new_stacks();
    file.stack(1, 0, "b").id(7).time(5);
    file.0
}

fn dumptool(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(arguments).output().unwrap()
}

#[test]
fn a_conversion_begins_again_when_a_value_appears_late() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (input, output) = (path("large.mojo"), path("large.pb.gz"));
    std::fs::write(&input, large()).unwrap();

    let converted = dumptool(&["convert", &input, &output]);
    let report = String::from_utf8(converted.stderr).unwrap();
    assert!(report.contains("60 001 samples") && report.contains("sums across parts"), "{report}");
    let mut message = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(&output).unwrap())
        .read_to_end(&mut message)
        .unwrap();
    assert_eq!(
        support::pprof::sums(&message),
        pprof_sums(&large(), WHOLE, &Selection::default()).0
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");

    let mut message = Vec::new();
    let piped = dumptool(&["convert", &input, "-", "--to", "pprof"]);
    assert!(
        piped.status.success(),
        "what is piped waits until all of it is there, so that it can be begun again"
    );
    flate2::read::GzDecoder::new(&*piped.stdout).read_to_end(&mut message).unwrap();
    assert_eq!(
        support::pprof::sums(&message),
        pprof_sums(&large(), WHOLE, &Selection::default()).0
    );
    let folded = dumptool(&["convert", &input, "-", "--to", "folded"]);
    assert!(folded.status.success(), "folded stacks have no garbage collections");
    let sum: i64 = String::from_utf8(folded.stdout)
        .unwrap()
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap())
        .sum();
    assert_eq!(sum, 60_005);
    assert_eq!(
        dumptool(&["convert", &input, "-", "--to", "folded", "--thread", "c"]).status.code(),
        Some(2)
    );

    let piped = dumptool(&["convert", &input, "-", "--to", "speedscope", "--aggregate"]);
    let report = String::from_utf8(piped.stderr).unwrap();
    assert!(
        report.contains("sums across parts"),
        "what waits for its place can be begun again: {report}"
    );
    let sums = speedscope_sums(&piped.stdout);
    let mut expected = speedscope_sums(&speedscope_at_once(&large(), &Selection::default()).0);
    expected.0[1]["name"] = "large.mojo".into();
    assert_eq!(sums, expected);
    let output = path("large.speedscope.json");
    assert!(dumptool(&["convert", &input, &output, "--aggregate"]).status.success());
    assert!(std::fs::read(&output).unwrap() == piped.stdout);
    {
        let piped = dumptool(&["convert", &input, "-", "--to", "svg"]);
        let report = String::from_utf8(piped.stderr).unwrap();
        assert!(!report.contains("sums across parts") && !report.contains("callers"), "{report}");
        assert_eq!(svg::widths(&String::from_utf8(piped.stdout).unwrap())["all"], 60_005);
    }
    let top = String::from_utf8(dumptool(&["top", &input]).stdout).unwrap();
    assert!(top.contains("60 001 samples in 2 threads, 1 without frames (5 µs)"), "{top}");
}
