//! The model of profiles against the truth of real recordings, and against the stream of samples.

use crate::support::mojo::Mojo;
use crate::support::{Random, corpus, files, fixture, read};
use dumptool::input::load::ProfileOptions;
use dumptool::input::mojo::samples::for_each_sample;
use dumptool::input::mojo::symbols::Lookup;
use dumptool::input::{self, Format, ReadOptions};
use dumptool::model::profile::{FrameKind, Profile, TaskChange, Values};
use dumptool::model::sample::{Sample, SampleFrame, SampleSink, SampleThread};
use dumptool::model::stacks::{Selection, of_profile};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

fn load(bytes: &[u8], keep_samples: bool) -> Profile {
    input::load_profile(Format::Mojo, bytes, ProfileOptions::default().keep_samples(keep_samples))
        .unwrap()
        .profile
}

/// Sums in the words of the truth files, as far as those have them.
fn in_words_of_truth(values: &Values, words: &Value) -> Value {
    let all = json!({
        "samples": values.samples(), "time": values.time(), "cpu_time": values.time() - values.idle_time(),
        "idle_samples": values.idle_samples(), "idle_time": values.idle_time(),
        "mem": values.memory_gained() as i64 - values.memory_freed() as i64, "mem_pos": values.memory_gained(), "mem_neg": values.memory_freed(),
        "gc_samples": values.gc_samples(), "gc_time": values.gc_time(),
    });
    let words = words.as_object().unwrap();
    words
        .keys()
        .map(|word| (word.clone(), all[word].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Self and total of each function, named as the truth names them.
fn functions(profile: &Profile) -> BTreeMap<String, (Values, Values)> {
    let name = |frame| {
        let frame = profile.frame(frame);
        let code = matches!(frame.kind, FrameKind::Code | FrameKind::Native);
        code.then(|| {
            format!("{} ({})", profile.names.text(frame.function), profile.names.text(frame.file))
        })
    };
    let mut functions = BTreeMap::<String, (Values, Values)>::new();
    for row in profile.aggregate.iter() {
        if let Some(name) = profile.stacks.leaf(row.stack).and_then(name) {
            functions.entry(name).or_default().0.add(&row.values);
        }
        let once: BTreeSet<String> = profile.stacks.frames(row.stack).filter_map(name).collect();
        once.into_iter().for_each(|name| functions.entry(name).or_default().1.add(&row.values));
    }
    functions
}

fn assert_truth(path: &Path, truth: &Value) {
    let profile = load(&read(path), false);
    let at = path.display();
    assert_eq!(in_words_of_truth(&profile.total, &truth["totals"]), truth["totals"], "{at}");
    let mut threads = BTreeMap::<String, Values>::new();
    for row in profile.aggregate.iter() {
        threads
            .entry(profile.thread(row.thread).label(&profile.names))
            .or_default()
            .add(&row.values);
    }
    let expected = truth["threads"].as_object().unwrap();
    assert_eq!(
        threads.keys().collect::<BTreeSet<_>>(),
        expected.keys().collect::<BTreeSet<_>>(),
        "{at}"
    );
    for (thread, values) in &threads {
        assert_eq!(
            in_words_of_truth(values, &expected[thread]),
            expected[thread],
            "{thread} of {at}"
        );
    }
    let functions = functions(&profile);
    for (which, list) in [(0, &truth["top_self"]), (1, &truth["top_total"])] {
        for row in list.as_array().unwrap() {
            let (own, total) = functions
                .get(row[0].as_str().unwrap())
                .unwrap_or_else(|| panic!("no {row} in {at}"));
            let values = if which == 0 { own } else { total };
            assert_eq!(in_words_of_truth(values, &row[1]), row[1], "{row} of {at}");
        }
    }
}

fn recording(stem: &str) -> PathBuf {
    let paths = [".mojo", ".mojo.zst"].map(|extension| PathBuf::from(format!("{stem}{extension}")));
    paths
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no recording for {stem}"))
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn sums_equal_the_truth_of_the_corpus() {
    let folder = crate::support::corpus_folder("mojo");
    let mut compared = 0;
    for path in files(&folder) {
        if let Some(stem) = path.to_string_lossy().strip_suffix(".json") {
            assert_truth(&recording(stem), &crate::support::json(&path));
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn sums_equal_the_truth_of_the_fixtures() {
    for path in files(&fixture("mojo")) {
        let name = path.to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".truth.json") else { continue };
        let (truth, profile) = (crate::support::json(&path), load(&read(&recording(stem)), false));
        for (word, actual) in [
            ("samples", json!(profile.total.samples())),
            ("empty_samples", json!(profile.notes.empty_samples)),
            ("invalid_samples", json!(profile.notes.invalid_samples)),
            ("time", json!(profile.total.time())),
            ("cpu_time", json!(profile.total.time() - profile.total.idle_time())),
            (
                "memory",
                json!(profile.total.memory_gained() as i64 - profile.total.memory_freed() as i64),
            ),
            ("gc_samples", json!(profile.total.gc_samples())),
            ("gc_time", json!(profile.total.gc_time())),
        ] {
            assert!(truth[word].is_null() || truth[word] == actual, "{word} of {name}: {actual}");
        }
    }
}

/// A sample in words: thread, frames, metrics.
type Line = (String, Vec<(String, String, u32, FrameKind)>, Option<i64>, Option<i64>, bool, bool);

/// The slow and simple way.
#[derive(Default)]
struct Naive(Vec<Line>);

impl<'a> SampleSink<'a> for Naive {
    type Error = Infallible;

    fn metadata(&mut self, _: &'a [u8], _: &'a [u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn sample(&mut self, sample: &Sample<'a, '_>) -> Result<(), Infallible> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let frames = sample.frames.iter().filter_map(|frame| match *frame {
            SampleFrame::Code { file, function, line } => {
                let file = text(file);
                let kind =
                    if file.starts_with("native@") { FrameKind::Native } else { FrameKind::Code };
                Some((
                    text(function),
                    file,
                    u32::try_from(line).unwrap_or(if line < 0 { 0 } else { u32::MAX }),
                    kind,
                ))
            }
            SampleFrame::Kernel(symbol) => {
                Some((text(symbol), String::new(), 0, FrameKind::Kernel))
            }
            SampleFrame::Invalid => Some((String::new(), String::new(), 0, FrameKind::Invalid)),
            SampleFrame::GarbageCollector => None,
        });
        let narrow = |value: i128| {
            i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
        };
        let thread = match sample.thread {
            SampleThread::Id(id) => id.to_string(),
            SampleThread::Name(name) => text(name),
        };
        self.0.push((
            format!("{} {:?} {thread}", sample.pid, sample.interpreter),
            frames.collect(),
            sample.time.map(narrow),
            sample.memory.map(narrow),
            sample.idle,
            sample.frames.contains(&SampleFrame::GarbageCollector),
        ));
        Ok(())
    }
}

fn lines(profile: &Profile) -> Vec<Line> {
    let text = |name| profile.names.text(name).to_owned();
    let samples = profile.samples.as_ref().expect("samples are kept");
    let lines = samples.iter().map(|sample| {
        let thread = profile.thread(sample.thread);
        let mut frames = Vec::new();
        profile.stacks.outermost_first(sample.stack, &mut frames);
        let frames = frames.into_iter().map(|frame| profile.frame(frame));
        (
            format!("{} {:?} {}", thread.pid, thread.interpreter, text(thread.name)),
            frames
                .map(|frame| (text(frame.function), text(frame.file), frame.line, frame.kind))
                .collect(),
            sample.time,
            sample.memory,
            sample.idle,
            sample.gc,
        )
    });
    lines.collect()
}

fn assert_same_as_stream(bytes: &[u8], what: &str) {
    let mut naive = Naive::default();
    let (streamed, _) = for_each_sample(bytes, Lookup::Robust, ReadOptions::default(), &mut naive);
    let profile = load(bytes, true);
    let mut lines = lines(&profile);
    // The loader also takes a sample that is complete but for what follows; the stream does not.
    assert!(lines.len() - naive.0.len() <= 1, "{what}");
    lines.truncate(naive.0.len());
    assert!(lines == naive.0, "{what}: samples differ");
    assert!(profile.notes.unresolved == 0 || streamed.unresolved > 0, "{what}");
    let mut sum = Values::default();
    profile.aggregate.iter().for_each(|row| sum.add(&row.values));
    assert_eq!(sum, profile.total, "{what}");
}

#[test]
fn samples_are_those_of_the_stream() {
    let mut recordings = files(&fixture("mojo"));
    recordings.extend(corpus("mojo").iter().flat_map(|folder| files(folder)));
    let mut random = Random(7);
    for path in recordings.iter().filter(|path| path.to_string_lossy().contains(".mojo")) {
        let bytes = read(path);
        if dumptool::detect::detect(&bytes).is_err() || bytes.len() > 10_000_000 {
            continue;
        }
        assert_same_as_stream(&bytes, &path.display().to_string());
        for _ in 0..20 {
            let mut damaged = bytes[..random.below(bytes.len()).max(4)].to_vec();
            let at = 4 + random.below(damaged.len());
            damaged.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << (random.next() % 8));
            assert_same_as_stream(&damaged, &format!("{} with changes at {at}", path.display()));
        }
    }
}

#[test]
fn sums_without_samples_are_the_same() {
    let bytes = read(&fixture("mojo/tiny-3.5.0-full-thr.mojo"));
    let (with, without) = (load(&bytes, true), load(&bytes, false));
    assert_eq!((with.total, with.aggregate), (without.total, without.aggregate));
    assert!(without.samples.is_none());
}

#[test]
fn a_run_of_references_means_what_its_keys_mean_now() {
    let mut file = Mojo::new(3);
    let refs = |file: &mut Mojo| (1..=9).for_each(|key| _ = file.frame_ref(key));
    file.stack(1, 0, "a").string(5, "a.py").string(6, "f");
    (1..=9).for_each(|key| _ = file.frame(key, 5, 6, key));
    refs(&mut file);
    file.time(1).stack(2, 0, "b");
    refs(&mut file);
    file.time(2).stack(1, 0, "a").frame(4, 5, 6, 40);
    refs(&mut file);
    file.time(3).stack(2, 0, "b").frame(4, 5, 6, 41);
    refs(&mut file);
    file.time(4);
    assert_same_as_stream(&file.0, "redefined");
    assert_eq!(load(&file.0, false).aggregate.len(), 4);
}

#[test]
fn asyncio_tasks_are_kept_beside_the_samples() {
    let mut file = Mojo::new(4);
    file.stack(1, 0, "a")
        .string(5, "a.py")
        .string(6, "f")
        .frame(1, 5, 6, 1)
        .frame(2, 5, 6, 2)
        .frame_ref(2)
        .time(1);
    file.stack(1, 0, "a")
        .id(14)
        .varint(40)
        .varint(6)
        .varint(2)
        .frame_ref(1)
        .string(7, "g")
        .frame_ref(2)
        .frame_ref(2)
        .time(1);
    file.id(15).varint(40).varint(41).id(16).varint(40).id(14).varint(40).varint(0).varint(0);
    let profile = load(&file.0, true);
    let changes: Vec<_> = profile
        .tasks
        .iter()
        .map(|event| match event.change {
            TaskChange::Stack { name, stack } => {
                format!(
                    "{} {}: {} of {}",
                    event.before,
                    event.task,
                    profile.names.text(name),
                    profile.stacks.frames(stack).count()
                )
            }
            change => format!("{} {}: {change:?}", event.before, event.task),
        })
        .collect();
    assert_eq!(changes, ["1 40: f of 2", "1 40: Waiter(41)", "1 40: Running", "1 40:  of 0"]);
    assert_eq!(profile.aggregate.len(), 1, "frames of a task are not frames of the sample");
}

#[test]
fn stacks_do_not_grow_faster_than_the_file() {
    let mut file = Mojo::new(4);
    file.stack(1, 0, "a").string(5, "a.py").string(6, "f").frame(1, 5, 6, 1).frame_ref(1).time(1);
    for _ in 0..60 {
        file.stack(1, 0, "a").id(13).id(13).time(1);
    }
    assert_eq!(load(&file.0, false).stacks.len(), 2);
    assert_same_as_stream(&file.0, "repeats");
}

#[test]
fn sums_of_weighted_stacks_are_those_of_the_profile() {
    for path in files(&fixture("mojo"))
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "mojo"))
    {
        let Ok(loaded) = input::load_profile(
            Format::Mojo,
            &read(path),
            ProfileOptions::default().keep_samples(true),
        ) else {
            continue;
        };
        let profile = loaded.profile;
        for in_order in [false, true] {
            let stacks = of_profile(
                profile.clone(),
                "title",
                &Selection { in_order, ..Selection::default() },
            );
            let expected: Vec<_> =
                profile.metrics().into_iter().map(|metric| profile.total.get(&metric)).collect();
            assert_eq!(stacks.totals(), expected, "{}", path.display());
            assert_eq!(
                stacks.in_order,
                in_order && profile.total.samples() > 0,
                "{}",
                path.display()
            );
        }
    }
}

/// Loads a text and the recording that it was made of, and compares all that the text has.
fn assert_text_is(text: &Path, recording: &Path) {
    let (text, at) = (read(text), text.display());
    assert_eq!(dumptool::detect::detect(&text).unwrap(), Format::Austin, "{at}");
    let options = ProfileOptions::default().keep_samples(true);
    let loaded = input::load_profile(Format::Austin, &text, options).unwrap();
    assert!(loaded.damage.is_none(), "{at}: {:?}", loaded.damage);
    let (of_text, profile) = (loaded.profile, load(&read(recording), true));
    assert_eq!((&of_text.total, of_text.mode), (&profile.total, profile.mode), "{at}");
    assert!(lines(&of_text) == lines(&profile), "{at}: samples differ");
    assert_eq!(
        (of_text.aggregate.len(), of_text.threads.len()),
        (profile.aggregate.len(), profile.threads.len()),
        "{at}"
    );
    let pairs = |profile: &Profile| {
        profile.metadata.iter().map(|m| (m.key.clone(), m.value.clone())).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&of_text), pairs(&profile), "{at}");
    let mut notes = profile.notes;
    (notes.ranges, notes.task_events) = (0, 0);
    assert_eq!(of_text.notes, notes, "{at}");
    assert!(input::check(Format::Austin, &text, ReadOptions::default()).unwrap().ok(), "{at}");
    let (info, of_mojo) = (
        crate::support::info(Format::Austin, &text),
        crate::support::info(Format::Mojo, &read(recording)),
    );
    for fact in [
        "samples",
        "empty_samples",
        "invalid_samples",
        "threads",
        "processes",
        "time_us",
        "cpu_time_us",
        "memory_bytes",
        "gc_time_us",
    ] {
        assert_eq!(info["profile"][fact], of_mojo["profile"][fact], "{fact} of {at}");
    }
}

#[test]
fn a_text_is_the_same_profile_as_its_recording() {
    let mut texts = files(&fixture("mojo"));
    texts.extend(corpus("mojo").iter().flat_map(|folder| files(folder)));
    let mut compared = 0;
    for text in texts {
        let name = text.to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".full.txt.zst").or(name.strip_suffix(".full.txt")) {
            assert_text_is(&text, &recording(stem));
            compared += 1;
        }
    }
    assert!(compared >= 7);
}

#[test]
fn texts_of_the_other_dialect_are_read() {
    let mut sums = Values::default();
    for text in files(&fixture("mojo/synth"))
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
    {
        let text = read(text);
        let loaded = input::load_profile(
            dumptool::detect::detect(&text).unwrap(),
            &text,
            ProfileOptions::default(),
        )
        .unwrap();
        assert!(loaded.damage.is_none());
        sums.add(&loaded.profile.total);
    }
    assert_eq!((sums.samples(), sums.time(), sums.memory_gained()), (24, 431, 10));
}

#[test]
fn damaged_texts_are_read_as_far_as_they_go() {
    let text = read(&fixture("mojo/tiny-3.5.0-full-thr.full.txt.zst"));
    crate::support::damage(Format::Austin, &text[..20_000], 300, 500);
    let cut = &text[..text.len() - 3];
    let loaded = input::load_profile(Format::Austin, cut, ProfileOptions::default()).unwrap();
    assert_eq!(
        loaded.damage.map(|error| error.kind()),
        Some(dumptool::error::ErrorKind::Truncated)
    );
    assert!(loaded.profile.total.samples() > 0);
}
