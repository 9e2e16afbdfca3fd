//! The pprof reader against `go tool pprof`, in every order and packing, and against damage.

use crate::support::{broken, fixture, info, json, read, records};
use dumptool::analysis::profile::{FrameBy, Selected, TopBy, top};
use dumptool::input::load::{LoadedProfile, ProfileOptions};
use dumptool::input::{self, Format};
use dumptool::model::names::Names;
use dumptool::model::profile::CodePlace;
use dumptool::model::profile::{
    FrameKind, LabelValue, Metric, Profile, ProfileBuilder, ProfileFrame, ProfileThread,
    SampleLabel, StackId, Unit, ValueType, Values,
};
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn load(bytes: &[u8]) -> Profile {
    let LoadedProfile { profile, damage, .. } =
        input::load_profile(Format::Pprof, bytes, ProfileOptions::default()).unwrap();
    assert!(damage.is_none(), "{damage:?}");
    profile
}

/// Own and total sums of each function by its name alone, as pprof has them.
fn functions(profile: &Profile, metric: &Metric) -> BTreeMap<String, (i64, i64)> {
    let mut functions = BTreeMap::<_, (i64, i64)>::new();
    for row in
        top(&Selected::of(profile, &Selection::default()), TopBy::Frames(FrameBy::Function)).rows
    {
        let sums = functions.entry(row.label.name.to_string()).or_default();
        sums.0 += row.sums.own.get(metric);
        sums.1 += row.sums.total.get(metric);
    }
    functions
}

fn files() -> Vec<PathBuf> {
    let folders = [Some(fixture("pprof")), crate::support::corpus("pprof")];
    let files = folders.into_iter().flatten().flat_map(|folder| crate::support::files(&folder));
    files.filter(|file| file.to_string_lossy().contains(".pb")).collect()
}

/// What a row of `go tool pprof -top` begins with: `44000000ns`.
fn number(text: &str) -> i64 {
    text.trim_end_matches(|c: char| c.is_alphabetic()).parse().unwrap()
}

#[test]
fn sums_flat_and_cum_are_those_of_go_tool_pprof() {
    let mut compared = 0;
    for file in files() {
        let at = file.display();
        let truth = json(&PathBuf::from(
            file.to_str().unwrap().split(".pb").next().unwrap().to_owned() + ".truth.json",
        ));
        let bytes = read(&file);
        let (profile, info) = (load(&bytes), info(Format::Pprof, &bytes));
        let metrics = profile.metrics_in_order();
        let names: Vec<_> = metrics
            .iter()
            .map(|metric| format!("{}/{}", metric.name(), metric.unit().name()))
            .collect();
        assert_eq!(serde_json::json!(names), truth["sample_types"], "{at}");
        let sums: Vec<_> = metrics.iter().map(|metric| profile.total.get(metric)).collect();
        assert_eq!(serde_json::json!(sums), truth["sums"], "{at}");
        assert_eq!(info["records"]["sample"], truth["samples"], "{at}");
        assert_eq!(info["records"]["location"], truth["locations"], "{at}");
        let of_info: Vec<_> = info["profile"]["metrics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|metric| &metric["total"])
            .collect();
        assert_eq!(serde_json::json!(of_info), truth["sums"], "{at}");
        let default = match truth["default"].as_array().unwrap().first() {
            Some(default) => default.as_str().unwrap().split('/').next().unwrap().to_owned(),
            None => metrics.last().unwrap().name().to_owned(),
        };
        assert_eq!(profile.default_metric().name(), default, "{at}");
        for (metric, name) in metrics.iter().zip(&names) {
            let hyphened = profile.metric(&metric.name().replace('_', "-"));
            assert_eq!(hyphened.as_ref(), Some(metric), "{at}");
            let ours = functions(&profile, metric);
            for row in truth["top"][name].as_array().unwrap() {
                let function = row[0].as_str().unwrap();
                let function =
                    function.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
                // What pprof calls unknown is shown by its address.
                if function == "<unknown>" {
                    continue;
                }
                let expected = (number(row[1].as_str().unwrap()), number(row[2].as_str().unwrap()));
                assert_eq!(ours.get(function), Some(&expected), "{function} in {at}, {name}");
                compared += 1;
            }
        }
        assert_eq!(broken(Format::Pprof, &bytes), [""; 0], "{at}");
        assert_eq!(dumptool::detect::detect(&bytes).unwrap(), Format::Pprof, "{at}");
    }
    assert!(compared > 100);
}

#[test]
fn order_and_packing_change_nothing() {
    let rows = |name: &str| {
        let profile = load(&read(&fixture(&format!("pprof/{name}"))));
        profile
            .metrics_in_order()
            .iter()
            .map(|metric| functions(&profile, metric))
            .collect::<Vec<_>>()
    };
    let expected = rows("synth-inline.pb.gz");
    assert_eq!(rows("synth-unpacked.pb.gz"), expected);
    assert_eq!(rows("synth-plain.pb"), expected);
}

/// The fields of a message as they stand in the file.
fn fields(mut bytes: &[u8]) -> Vec<&[u8]> {
    fn varint(bytes: &[u8]) -> (u64, usize) {
        let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let add = |sum: u64, byte: &u8| sum << 7 | u64::from(byte & 0x7f);
        (bytes[..length].iter().rev().fold(0, add), length)
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (tag, start) = varint(bytes);
        let length = match tag & 7 {
            0 => varint(&bytes[start..]).1,
            1 => 8,
            2 => {
                let (length, more) = varint(&bytes[start..]);
                length as usize + more
            }
            _ => 4,
        };
        let (field, rest) = bytes.split_at(start + length);
        fields.push(field);
        bytes = rest;
    }
    fields
}

#[test]
fn a_file_whose_fields_are_in_reverse_is_detected_and_read() {
    let bytes = read(&fixture("pprof/synth-inline.pb.gz"));
    let all = fields(&bytes);
    let is_string = |field: &&&[u8]| field[0] == 6 << 3 | 2;
    // The order of strings is their numbers.
    let others = all.iter().rev().filter(|field| !is_string(field));
    let reversed: Vec<u8> =
        others.chain(all.iter().filter(is_string)).copied().flatten().copied().collect();
    assert_eq!(dumptool::detect::detect(&reversed).ok(), Some(Format::Pprof));
    let (profile, reversed) = (load(&bytes), load(&reversed));
    // Values belong to types by their order, which is reversed, too.
    for (there, here) in reversed.metrics_in_order().iter().zip(&profile.metrics_in_order()) {
        assert_eq!(functions(&reversed, there), functions(&profile, here));
    }
}

#[test]
fn labels_select_samples() {
    let profile = load(&read(&fixture("pprof/synth-inline.pb.gz")));
    let sum = |key: &str, value: &str| {
        let selection =
            Selection { labels: vec![(key.to_owned(), value.to_owned())], ..Selection::default() };
        Selected::of(&profile, &selection).total.get(&profile.default_metric())
    };
    assert_eq!(sum("thread", "worker 1"), 12 + 70 + 20);
    assert_eq!(sum("pid", "4242"), 90);
    assert_eq!([sum("bytes", "100"), sum("bytes", "100 bytes"), sum("bytes", "101")], [12, 12, 0]);
    let selection = Selection { tag: Some("thread".to_owned()), ..Selection::default() };
    let rows = top(&Selected::of(&profile, &selection), TopBy::Tag).rows;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (&*row.label.name, row.sums.total.get(&profile.default_metric())))
        .collect();
    assert_eq!(rows, [("worker 1", 102), ("worker 2", 5), ("<no thread>", 13)]);
}

/// Writes a profile as pprof and reads it again.
fn again(profile: &Profile) -> Profile {
    let selection = Selection {
        metrics: profile.metrics_in_order(),
        keep_labels: true,
        ..Selection::default()
    };
    let mut out = Vec::new();
    output::pprof::write(&of_profile(profile.clone(), "profile", &selection), &mut out).unwrap();
    load(&out)
}

/// Adds the numbers of a row to the sums of its key.
fn add(sums: &mut Vec<i64>, values: &Values, profile: &Profile) {
    let metrics = profile.metrics_in_order();
    sums.resize(metrics.len(), 0);
    sums.iter_mut().zip(&metrics).for_each(|(sum, metric)| *sum += values.get(metric));
}

/// The sums of each stack with its labels, in words.
fn in_words(profile: &Profile) -> BTreeMap<(Vec<String>, Vec<String>), Vec<i64>> {
    let mut words = BTreeMap::new();
    for row in profile.aggregate.iter() {
        let frames = profile.stacks.frames(row.stack).map(|id| {
            let frame = profile.frame(id);
            format!(
                "{} {}:{}",
                profile.function_name(id),
                profile.names.text(frame.file),
                frame.line
            )
        });
        // The writer has a frame for stacks without frames.
        let frames = frames.filter(|frame| !frame.starts_with("<no frames>")).collect();
        let labels = profile.labels_of(profile.thread(row.thread)).iter();
        let labels = labels.map(|label| {
            format!("{}={}", profile.names.text(label.key), label.value.show(&profile.names))
        });
        add(words.entry((labels.collect(), frames)).or_default(), &row.values, profile);
    }
    words.retain(|_, sums| sums.iter().any(|sum| *sum != 0));
    words
}

#[test]
fn written_and_read_again_it_is_the_same_profile() {
    for file in files() {
        let profile = load(&read(&file));
        let again = again(&profile);
        assert_eq!(in_words(&again), in_words(&profile), "{}", file.display());
        assert_eq!(
            (again.value_types, again.default_value),
            (profile.value_types, profile.default_value),
            "{}",
            file.display()
        );
    }
}

/// A profile with its places.
fn load_code(bytes: &[u8]) -> Profile {
    let options = ProfileOptions::default().keep_code(true);
    input::load_profile(Format::Pprof, bytes, options).unwrap().profile
}

/// The sums of each stack, by the addresses, mappings, names and lines of its frames.
fn by_address(profile: &Profile) -> BTreeMap<Vec<String>, Vec<i64>> {
    let code = profile.code.as_ref().unwrap();
    let mut stacks = BTreeMap::new();
    for row in profile.aggregate.iter() {
        let frame = |id| {
            let (frame, place) = (profile.frame(id), code.place(id).unwrap());
            let names = [frame.function, frame.file, place.system_name];
            let names = names.map(|name| profile.names.text(name));
            let CodePlace { address, mapping, lines, line, column, start_line, .. } = place;
            format!("{address:x} {mapping:?} {names:?} {line}:{column} {lines} {start_line}")
        };
        let labels = profile.labels_of(profile.thread(row.thread)).iter();
        let labels = labels.map(|label| label.value.show(&profile.names).to_string());
        let stack = profile.stacks.frames(row.stack).map(frame).chain(labels).collect();
        add(stacks.entry(stack).or_default(), &row.values, profile);
    }
    stacks.retain(|_, sums| sums.iter().any(|sum| *sum != 0));
    stacks
}

#[test]
fn conversion_to_pprof_keeps_addresses_mappings_and_what_the_file_says_of_itself() {
    for file in files() {
        let name = file.display();
        let bytes = read(&file);
        let profile = load_code(&bytes);
        let selection = Selection {
            metrics: profile.metrics_in_order(),
            keep_labels: true,
            ..Selection::default()
        };
        let mut out = Vec::new();
        let stacks = of_profile(profile.clone(), "profile", &selection);
        output::pprof::write(&stacks, &mut out).unwrap();
        let again = load_code(&out);
        assert_eq!(again.metadata, profile.metadata, "{name}");
        let mappings = |profile: &Profile| profile.code.as_ref().unwrap().mappings.clone();
        assert_eq!(mappings(&again), mappings(&profile), "{name}");
        assert_eq!(by_address(&again), by_address(&profile), "{name}");
        assert_eq!(again.value_types, profile.value_types, "{name}");
    }
}

#[test]
fn conversion_to_pprof_keeps_all_frames_with_their_lines_and_columns() {
    let bytes = read(&fixture("pprof/synth-drop.pb"));
    let profile = load_code(&bytes);
    let code = profile.code.as_ref().unwrap();
    let place = |(index, frame): (usize, &ProfileFrame)| {
        let place = code.places[index]?;
        let name = profile.names.text(frame.function);
        (name == "runtime.mallocgc").then_some((place.line, place.column, frame.line))
    };
    let malloc: Vec<_> = profile.frames.iter().enumerate().filter_map(place).collect();
    assert_eq!(malloc, [(-5, 2, 0)], "a line below 0 is shown as none");
    assert_eq!(profile.notes.dropped, 0);
}

#[test]
fn frames_that_the_profile_asks_to_leave_out_are_left_out_unless_all_are_wanted() {
    let bytes = read(&fixture("pprof/synth-drop.pb"));
    // The sums are those of `go tool pprof`: all files are compared with them.
    assert_eq!(load(&bytes).notes.dropped, 8);
    let options = ProfileOptions::default().all_frames(true);
    let all = input::load_profile(Format::Pprof, &bytes, options).unwrap().profile;
    assert_eq!(all.notes.dropped, 0);
    let metric = all.metric("samples").unwrap();
    assert_eq!(functions(&all, &metric)["runtime.mallocgc"], (17, 25));
    assert_eq!(functions(&all, &metric)["runtime.memmove"], (34, 34));
}

#[test]
fn an_expression_that_cannot_be_applied_leaves_out_nothing() {
    let mut bytes = read(&fixture("pprof/synth-drop.pb"));
    let rule = memchr::memmem::find(&bytes, b"std::alloc|").unwrap();
    bytes[rule] = b'(';
    let profile = load(&bytes);
    assert_eq!((profile.notes.dropped, profile.notes.unapplied), (0, 1));
}

#[test]
fn commands_say_that_frames_were_left_out() {
    let file = fixture("pprof/synth-drop.pb");
    let run = |arguments: &[&str]| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        program.args(arguments).arg(&file).output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for command in ["top", "tree"] {
        let said = run(&[command]);
        assert!(text(&said.stderr).contains("8 samples are shown without"), "{command}");
        let json = run(&[command, "--format", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(json["dropped_frames"]["samples"], 8, "{command}");
        let all = run(&[command, "--all-frames"]);
        assert_eq!(text(&all.stderr), "", "{command}");
        assert!(text(&all.stdout).contains("runtime.memmove"), "{command}");
    }
    let other = fixture("folded").join("edge.folded");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
    let refused = program.arg("top").arg(other).arg("--all-frames").output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("massif profiles"), "{}", text(&refused.stderr));
}

#[test]
fn a_cut_file_gives_what_it_has() {
    let bytes = read(&fixture("pprof/go127-mutex.pb.gz"));
    for cut in 0..bytes.len() {
        let (shown, error) = records(Format::Pprof, &bytes[..cut]);
        let Ok(loaded) =
            input::load_profile(Format::Pprof, &bytes[..cut], ProfileOptions::default())
        else {
            assert_eq!(shown.len(), 0, "{cut}");
            continue;
        };
        let samples = shown.iter().filter(|record| record["record"] == "sample").count() as u64;
        assert_eq!(loaded.profile.total.samples(), samples, "{cut}");
        assert_eq!(
            loaded.damage.and_then(|damage| damage.offset()),
            error.and_then(|error| error.offset()),
            "{cut}"
        );
    }
}

#[test]
fn damage_gives_errors_and_what_could_be_read() {
    for name in ["synth-inline.pb.gz", "go127-cpu.pb.gz"] {
        crate::support::damage(
            Format::Pprof,
            &read(&fixture(&format!("pprof/{name}"))),
            1000,
            1000,
        );
    }
}

/// A message's field of bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 0x7f {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    [&field, bytes].concat()
}

#[test]
fn a_damaged_label_of_a_sample_is_reported() {
    let sound = [field(6, b""), field(1, &[]), field(2, &[16, 1])].concat();
    let bytes = [&sound[..], &field(2, &[&[16, 1], &field(3, &[8, 0x80])[..]].concat())].concat();
    let loaded = input::load_profile(Format::Pprof, &bytes, ProfileOptions::default()).unwrap();
    assert_eq!(loaded.profile.total.samples(), 1);
    let offset = loaded.damage.and_then(|damage| damage.offset());
    assert_eq!(offset, Some(bytes.len() as u64));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pb");
    std::fs::write(&path, &bytes).unwrap();
    for command in ["top", "info", "cat", "check", "tree"] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = program.args([command, "-q", "--from", "pprof"]).arg(&path).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{command}: {error}");
        assert!(error.contains("error:") && error.contains("offset 0x"), "{command}: {error}");
    }
}

#[test]
fn inlined_frames_of_a_hostile_file_are_bounded() {
    // A location with 60 000 inlined functions, in samples of a few bytes.
    let lines = field(4, &[8, 1]).repeat(60_000);
    let mut bytes = [
        field(6, b""),
        field(1, &[]),
        field(5, &[8, 1]),
        field(4, &[&[8, 1], &lines[..]].concat()),
    ]
    .concat();
    for place in 2..100u8 {
        bytes.extend(field(4, &[8, place, 24, place]));
        bytes.extend(field(2, &[10, 2, 1, place, 16, 1]));
    }
    let profile = load(&bytes);
    assert!(profile.stacks.len() < 6_000_000, "{}", profile.stacks.len());
    assert!(profile.notes.deep > 0);
    assert_eq!(profile.total.get(&profile.default_metric()), 98);
}

/// Outputs that show the name of a thread beside its stacks do not repeat it around them.
#[test]
fn the_name_of_a_thread_stands_once() {
    let folder = tempfile::tempdir().unwrap();
    let convert = |name: &str| {
        let path = folder.path().join(name);
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .args(["convert", "-q", "--tag", "thread"])
            .args([&fixture("pprof/synth-inline.pb.gz"), &path])
            .status();
        assert!(run.unwrap().success(), "{name}");
        std::fs::read_to_string(path).unwrap()
    };
    let speedscope: serde_json::Value =
        serde_json::from_str(&convert("out.speedscope.json")).unwrap();
    let name = |frame: &serde_json::Value| {
        speedscope["shared"]["frames"][frame.as_u64().unwrap() as usize]["name"].clone()
    };
    let mut outermost = Vec::new();
    for profile in speedscope["profiles"].as_array().unwrap() {
        let samples = profile["samples"].as_array().unwrap();
        outermost.extend(samples.iter().map(|sample| name(&sample[0])));
    }
    assert!(outermost.iter().any(|name| name == "<no thread>"));
    assert!(outermost.iter().all(|name| name != "worker 1" && name != "worker 2"), "{outermost:?}");
    // A thread without a process has no box of its own in a flame graph.
    let svg = convert("out.svg");
    let titles = |text: &str| svg.matches(&format!("<title>{text}\n")).count();
    assert_eq!((titles("Tworker 1"), titles("worker 1"), titles("worker 2")), (1, 1, 1));
}

#[test]
fn values_of_a_label_become_the_outermost_frames() {
    let mut profile = load(&read(&fixture("pprof/synth-inline.pb.gz")));
    let (metric, before) = (profile.default_metric(), profile.clone());
    profile.root_stacks_by_label("thread", |_| false);
    let mut sums = BTreeMap::<&str, i64>::new();
    for (row, old) in profile.aggregate.iter().zip(before.aggregate.iter()) {
        let (mut frames, mut inner) = (Vec::new(), Vec::new());
        profile.stacks.outermost_first(row.stack, &mut frames);
        before.stacks.outermost_first(old.stack, &mut inner);
        assert_eq!(frames[1..], inner, "what is inside stays");
        *sums.entry(profile.function_name(frames[0])).or_default() += row.values.get(&metric);
    }
    assert_eq!(sums, BTreeMap::from([("<no thread>", 13), ("worker 1", 102), ("worker 2", 5)]));
    let count = profile.frames.len();
    profile.root_stacks_by_label("thread", |_| false);
    assert_eq!(profile.frames.len(), count, "equal frames are one");
}

proptest! {
    /// Any values, labels and stacks are the same again, written once and twice.
    #[test]
    fn what_was_written_is_the_same_profile(
        rows in prop::collection::vec((0usize..4, prop::collection::vec(0u32..6, 0..6), any::<i32>(), 0i64..9), 1..40)
    ) {
        let mut builder = ProfileBuilder::new(false);
        let of = |name: &'static str, unit: Unit| ValueType { name: name.into(), unit };
        builder.set_value_types(vec![of("inuse", Unit::Bytes), of("cpu", Unit::Nanoseconds)], 1);
        for (label, frames, first, second) in &rows {
            let key = builder.name(b"request");
            let value = match label {
                0 => None,
                1 => Some(LabelValue::Text(builder.name("ä b".as_bytes()))),
                number => Some(LabelValue::Number(*number as i64, builder.name(b"bytes"))),
            };
            let labels: Vec<_> = value.map(|value| SampleLabel { key, value }).into_iter().collect();
            let labels = builder.labels(&labels);
            let thread = ProfileThread { labels, ..ProfileThread::named(Names::EMPTY) };
            let thread = builder.labelled_thread(thread);
            let stack = frames.iter().fold(StackId::EMPTY, |stack, &line| {
                let function = builder.name(["main", "é \"x\"", "fn<T>"][line as usize % 3].as_bytes());
                let file = builder.name(if line == 4 { b"" } else { b"a.go" });
                let frame = builder.frame(ProfileFrame { function, file, line, kind: FrameKind::Code });
                builder.push(stack, frame)
            });
            builder.add(thread, stack, &Values::of_types(1, &[i64::from(*first), *second]));
        }
        let profile = builder.finish();
        let once = again(&profile);
        prop_assert_eq!(in_words(&once), in_words(&profile));
        prop_assert_eq!((&once.value_types, once.default_value), (&profile.value_types, profile.default_value));
        prop_assert_eq!(&once.total.get(&once.default_metric()), &profile.total.get(&profile.default_metric()));
        prop_assert_eq!(in_words(&again(&once)), in_words(&profile));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::support::read_in_every_way(Format::Pprof, &bytes);
        let _ = input::load_profile(Format::Pprof, &bytes, ProfileOptions::default());
    }
}
