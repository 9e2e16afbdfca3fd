//! The reader of `perf script` text against inferno, which reads it by itself, and damage.

use crate::support::{fixture, info, read, records};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::model::profile::{FrameKind, Profile};
use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn load(bytes: &[u8]) -> Profile {
    let loaded = input::load_profile(Format::PerfScript, bytes, ProfileOptions::default()).unwrap();
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    loaded.profile
}

/// The sums of periods by command and stack, as inferno finds them for its first event.
fn inferno_sums(text: &str) -> BTreeMap<String, i64> {
    let mut options = Options::default();
    options.annotate_kernel = true;
    let mut out = Vec::new();
    Folder::from(options).collapse(text.as_bytes(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines = text.lines().map(|line| line.rsplit_once(' ').unwrap());
    lines.map(|(stack, sum)| (stack.to_owned(), sum.parse().unwrap())).collect()
}

/// The samples of one event. perf pads the names of events; inferno wants one blank before them.
fn only(text: &str, event: &str) -> String {
    let mark = format!(" {event}: ");
    let blocks: Vec<_> = if text.contains("\n\n") {
        text.split_inclusive("\n\n").filter(|block| block.contains(&mark)).collect()
    } else {
        text.lines().filter(|line| line.contains(&mark)).collect()
    };
    blocks.join("\n").replace(&format!("  {mark}"), &mark)
}

/// The same of a loaded profile.
fn sums(profile: &Profile, event: &str) -> BTreeMap<String, i64> {
    let metric = &profile.metric(event).unwrap();
    let mut sums = BTreeMap::new();
    let mut frames = Vec::new();
    for row in profile.aggregate.iter() {
        let mut stack = profile.label_value(profile.thread(row.thread), "comm").replace(' ', "_");
        profile.stacks.outermost_first(row.stack, &mut frames);
        for frame in &frames {
            let mark = if profile.frame(*frame).kind == FrameKind::Kernel { "_[k]" } else { "" };
            stack += &format!(";{}{mark}", profile.function_name(*frame));
        }
        *sums.entry(stack).or_default() += row.values.get(metric);
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

#[test]
fn sums_of_every_stack_are_those_of_inferno() {
    for (name, events) in [("threads", &["cpu-clock", "page-faults"][..]), ("flat", &["cpu-clock"])]
    {
        let text = String::from_utf8(read(&fixture(&format!("perf-script/{name}.perf")))).unwrap();
        let detected = dumptool::detect::detect(text.as_bytes()).unwrap();
        assert_eq!(detected, Format::PerfScript, "{name}");
        let profile = load(text.as_bytes());
        for event in events {
            let expected = inferno_sums(&only(&text, event));
            assert!(!expected.is_empty(), "{event} in {name}");
            assert_eq!(sums(&profile, event), expected, "{event} in {name}");
        }
    }
}

#[test]
fn events_threads_and_the_header_are_kept() {
    let bytes = read(&fixture("perf-script/threads.perf"));
    let profile = load(&bytes);
    let metrics: Vec<_> = profile
        .metrics_in_order()
        .iter()
        .map(|metric| format!("{} {}", metric.name(), metric.unit().name()))
        .collect();
    assert_eq!(metrics, ["samples count", "page-faults count", "cpu-clock nanoseconds"]);
    // The event with the most samples.
    let text = String::from_utf8(bytes.clone()).unwrap();
    let count = |event: &str| text.lines().filter(|line| line.ends_with(event)).count();
    let most =
        if count("page-faults: ") >= count("cpu-clock: ") { "page-faults" } else { "cpu-clock" };
    assert_eq!(profile.default_metric().name(), most);
    assert_eq!(profile.total.samples() as usize, count("page-faults: ") + count("cpu-clock: "));
    let comms: Vec<_> =
        profile.threads.iter().map(|thread| profile.label_value(thread, "comm")).collect();
    assert!(
        ["python3", "hash worker", "json:worker"]
            .iter()
            .all(|comm| comms.iter().any(|it| it == comm))
    );
    assert_eq!(profile.metadatum("perf version"), Some("6.1.187"));
    assert_eq!(info(Format::PerfScript, &bytes)["records"]["sample"], profile.total.samples());
}

#[test]
fn inlined_frames_source_lines_and_other_records_are_understood() {
    let text = "# comment\n\
        app 7/8 [000]     1.5: PERF_RECORD_COMM: app:7/8\n\
        app 7/8 [000]     1.5:        100 cycles:u: \r\n\
        \t            4010 leaf (inlined)\n\
        \t            4010 outer(int, char)+0x10 (/usr/bin/app)\n  app.c:12\n\
        \t            4000 [unknown] (/usr/bin/app)\n\n\
        other 9     1.75: \n\
        \tffff8000 [unknown] ([unknown])\n";
    let profile = load(text.as_bytes());
    let frames: Vec<_> = profile
        .frames
        .iter()
        .map(|frame| (profile.names.text(frame.function), profile.names.text(frame.file)))
        .collect();
    let app = "/usr/bin/app";
    assert_eq!(
        frames,
        [("[app]", app), ("outer(int, char)", app), ("leaf", app), ("[unknown]", "")]
    );
    let threads: Vec<_> =
        profile.threads.iter().map(|thread| thread.label(&profile.names)).collect();
    assert_eq!(threads, ["P7;T8", "9"]);
    let metric = profile.metric("cycles:u").unwrap();
    assert_eq!((profile.total.samples(), profile.total.get(&metric)), (2, 100));
    let summary = info(Format::PerfScript, text.as_bytes());
    assert_eq!(summary["warnings"][0], "indented lines that are not frames, which were skipped: 1");
}

#[test]
fn a_cut_file_gives_what_it_has() {
    let bytes = read(&fixture("perf-script/threads.perf"));
    for cut in (0..bytes.len()).step_by(7) {
        let (shown, error) = records(Format::PerfScript, &bytes[..cut]);
        let loaded =
            input::load_profile(Format::PerfScript, &bytes[..cut], ProfileOptions::default())
                .unwrap();
        let samples = shown.iter().filter(|record| record["record"] == "sample").count();
        assert_eq!(loaded.profile.total.samples(), samples as u64, "{cut}");
        assert_eq!(
            loaded.damage.and_then(|damage| damage.offset()),
            error.and_then(|error| error.offset()),
            "{cut}"
        );
    }
    crate::support::damage(Format::PerfScript, &bytes, 100, 200);
}

#[test]
fn other_texts_are_not_taken_for_it() {
    for text in
        ["", "a;b 12\n", "# austin: 3.7.0\n", "a heading\n", "one 12 3.5 cycles\n", "\tf0 a (b)\n"]
    {
        assert_ne!(
            dumptool::detect::detect(text.as_bytes()).ok(),
            Some(Format::PerfScript),
            "{text:?}"
        );
    }
}

proptest! {
    /// Any samples that perf could print are the sums that went in.
    #[test]
    fn what_was_printed_is_what_is_read(
        samples in prop::collection::vec(
            ("[a-zA-Z:/-][a-z0-9:/ -]{0,9}[a-z]", 0i64..4, 0i64..4, 0u64..1 << 40, prop::collection::vec(0usize..5, 0..6)),
            1..30,
        )
    ) {
        const SYMBOLS: [(&str, &str); 5] = [
            ("main+0x12", "/usr/bin/app"),
            ("f(int, char (*)(int))+0x0", "/usr/bin/app"),
            ("[unknown]", "/usr/lib/libc.so.6"),
            ("operator new", "/usr/lib/a b.so"),
            ("tick", "[kernel.kallsyms]"),
        ];
        let mut text = String::new();
        for (number, (comm, pid, tid, period, stack)) in samples.iter().enumerate() {
            text += &format!("{comm} {pid}/{tid} [000] {number}.000001: {period:>10} cycles: \n");
            for &frame in stack {
                text += &format!("\t{:>16x} {} ({})\n", 4096 + frame, SYMBOLS[frame].0, SYMBOLS[frame].1);
            }
            text.push('\n');
        }
        let profile = load(text.as_bytes());
        prop_assert_eq!(profile.total.samples(), samples.len() as u64);
        prop_assert_eq!(profile.total.get(&profile.metric("cycles").unwrap()), samples.iter().map(|sample| sample.3 as i64).sum::<i64>());
        let threads: std::collections::BTreeSet<_> = samples.iter().map(|(comm, pid, tid, ..)| (comm, pid, tid)).collect();
        prop_assert_eq!(profile.threads.len(), threads.len());
        let stacks: std::collections::BTreeSet<_> = samples.iter().map(|(comm, pid, tid, _, stack)| (comm, pid, tid, stack)).collect();
        prop_assert_eq!(profile.aggregate.len(), stacks.len());
    }
}
