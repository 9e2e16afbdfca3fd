//! The MOJO reader against recordings of every Austin release, hand-written files, and damage.

use crate::support::mojo::Mojo;
use crate::support::{broken, corpus_folder, damage, files, fixture, info, read, records};
use dumptool::error::ErrorKind;
use dumptool::input::mojo::samples::{Stop, Streamed, for_each_sample};
use dumptool::input::mojo::symbols::Lookup;
use dumptool::input::{Format, ReadOptions};
use dumptool::output::austin::{AustinWriter, Dialect};
use serde_json::{Value, json};
use std::path::Path;

/// The text of a profile, and whether it was read to its end.
fn austin(bytes: &[u8], dialect: Dialect) -> (String, Streamed, bool) {
    let lookup = if dialect == Dialect::Peer { Lookup::Strict } else { Lookup::Robust };
    let mut writer = AustinWriter::new(Vec::new(), dialect);
    let (streamed, stop) = for_each_sample(bytes, lookup, ReadOptions::default(), &mut writer);
    let complete = match stop {
        None => true,
        Some(Stop::Damage(_)) => false,
        Some(Stop::Sink(error)) => panic!("{error}"),
    };
    (String::from_utf8(writer.finish().unwrap().0).unwrap(), streamed, complete)
}

/// What `info` says in the words of the truth files.
fn in_words_of_truth(info: &Value) -> Value {
    let profile = &info["profile"];
    let metadata: Vec<_> = info["metadata"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| json!([m["key"], m["value"]]))
        .collect();
    json!({
        "version": info["format_version"].as_str().unwrap().parse::<u64>().unwrap(),
        "records": info["records"], "metadata": metadata, "mode": profile["mode"],
        "samples": profile["samples"], "empty_samples": profile["empty_samples"], "invalid_samples": profile["invalid_samples"],
        "threads": profile["threads"], "processes": profile["processes"], "frames": profile["frames"], "strings": profile["strings"],
        "time": profile["time_us"], "memory": profile["memory_bytes"], "cpu_time": profile["cpu_time_us"],
        "gc_samples": profile["gc_samples"], "gc_time": profile["gc_time_us"],
    })
}

/// Compares every field that the truth knows; it leaves out sums that its file has nothing to add
/// up for.
fn assert_truth(path: &Path, truth: &Value) {
    let actual = in_words_of_truth(&info(Format::Mojo, &read(path)));
    for (key, expected) in truth.as_object().unwrap() {
        if !expected.is_null() {
            assert_eq!(&actual[key], expected, "{key} of {}", path.display());
        }
    }
}

#[test]
fn info_equals_the_truth_of_the_fixtures() {
    let truths: Vec<_> = files(&fixture("mojo"))
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".truth.json"))
        .collect();
    assert_eq!(truths.len(), 7);
    for truth in truths {
        let path = truth.with_extension("").with_extension("mojo");
        assert_truth(&path, &crate::support::json(&truth));
        assert_eq!(broken(Format::Mojo, &read(&path)), [""; 0], "{}", path.display());
    }
}

#[test]
fn text_is_that_of_mojo2austin_byte_for_byte() {
    for text in files(&fixture("mojo"))
        .iter()
        .filter(|path| path.to_string_lossy().ends_with(".full.txt.zst"))
    {
        let mojo = text.to_string_lossy().replace(".full.txt.zst", ".mojo");
        let expected = String::from_utf8(read(text)).unwrap();
        assert!(austin(&read(Path::new(&mojo)), Dialect::Full).0 == expected, "{mojo} differs");
    }
    for text in files(&fixture("mojo/synth"))
        .iter()
        .filter(|path| path.to_string_lossy().ends_with(".peer.txt"))
    {
        let mojo = text.to_string_lossy().replace(".peer.txt", ".mojo");
        let expected = String::from_utf8(read(text)).unwrap();
        assert_eq!(austin(&read(Path::new(&mojo)), Dialect::Peer).0, expected, "{mojo}");
    }
}

/// The decoder that wrote the corpus' truth has shorter names for two events.
fn renamed(counts: &Value) -> Value {
    let names = counts.as_object().unwrap().iter().map(|(name, count)| match name.as_str() {
        "invalid" | "kernel" => (format!("{name}_frame"), count.clone()),
        _ => (name.clone(), count.clone()),
    });
    Value::Object(names.collect())
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn corpus_of_real_recordings() {
    let folder = corpus_folder("mojo");
    let mut compared = 0;
    for path in files(&folder) {
        let name = path.to_string_lossy().into_owned();
        if let Some(mojo) = name.strip_suffix(".full.txt") {
            let (text, ..) = austin(&read(Path::new(&format!("{mojo}.mojo"))), Dialect::Full);
            assert!(text.as_bytes() == read(&path), "{mojo}: the text differs");
        }
        let Some(stem) = name.strip_suffix(".json") else { continue };
        let mojo = [".mojo", ".mojo.zst"]
            .map(|extension| format!("{stem}{extension}"))
            .into_iter()
            .find(|path| Path::new(path).exists());
        let mojo = mojo.unwrap_or_else(|| panic!("no recording for {name}"));
        let truth = crate::support::json(&path);
        let totals = &truth["totals"];
        let pairs = truth["meta"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| json!([m[0], m[1]]))
            .collect::<Vec<_>>();
        let expected = json!({
            "version": truth["version"], "records": renamed(&truth["counts"]), "metadata": pairs, "mode": truth["mode"],
            "samples": truth["samples"], "empty_samples": truth["empty_samples"], "invalid_samples": truth["invalid_samples"],
            "threads": truth["threads"].as_object().unwrap().len(), "frames": truth["distinct_frames"],
            "strings": truth["distinct_strings"], "time": totals["time"], "memory": totals["mem"],
            "cpu_time": totals["cpu_time"], "gc_samples": totals["gc_samples"], "gc_time": totals["gc_time"],
        });
        assert_truth(Path::new(&mojo), &expected);
        assert_eq!(broken(Format::Mojo, &read(Path::new(&mojo))), [""; 0], "{mojo}");
        compared += 1;
    }
    assert!(compared > 0, "no truth in {}", folder.display());
}

#[test]
fn every_event_of_every_version_is_shown() {
    let mut file = Mojo::new(4);
    file.metadata("mode", "full")
        .stack(7, -1, "main")
        .string(20, "a.py")
        .string(21, "f")
        .frame(30, 20, 21, 5);
    file.id(4)
        .frame_ref(30)
        .id(6)
        .text("do_syscall")
        .id(7)
        .time(100)
        .id(8)
        .memory(-4096)
        .id(12)
        .varint(20);
    file.id(13)
        .id(14)
        .varint(40)
        .varint(21)
        .varint(1)
        .frame_ref(30)
        .id(15)
        .varint(40)
        .varint(41)
        .id(16)
        .varint(40);
    let (shown, error) = records(Format::Mojo, &file.0);
    assert!(error.is_none());
    let names: Vec<_> = shown.iter().map(|record| record["record"].as_str().unwrap()).collect();
    let expected = "metadata stack string string frame invalid_frame frame_ref kernel_frame gc time idle memory string_ref \
                    stack_repeat task_stack frame_ref task_waiter task_running";
    assert_eq!(names.join(" "), expected);
    assert_eq!(shown[1]["iid"], -1);
    assert_eq!(
        shown[4],
        json!({"offset": 34, "record": "frame", "key": 30, "file_key": 20, "scope_key": 21, "line": 5,
                                "line_end": 0, "column": 0, "column_end": 0})
    );
    assert_eq!(shown[11]["bytes"], -4096);
    assert_eq!(shown[14]["frame_count"], 1);
}

#[test]
fn version_1_has_no_range_and_version_2_no_interpreter() {
    let mut one = Mojo::new(1);
    one.id(2)
        .varint(10)
        .text("a")
        .id(3)
        .varint(7)
        .varint(5)
        .varint(6)
        .varint(3)
        .frame_ref(7)
        .time(1);
    let (shown, error) = records(Format::Mojo, &one.0);
    assert!(
        error.is_none()
            && shown.len() == 4
            && shown[1].get("line_end").is_none()
            && shown[0].get("iid").is_none()
    );
    let mut two = Mojo::new(2);
    two.id(2).varint(10).text("a").frame(7, 5, 6, 3).frame_ref(7).time(1);
    let (shown, error) = records(Format::Mojo, &two.0);
    assert!(
        error.is_none()
            && shown.len() == 4
            && shown[1]["line_end"] == 0
            && shown[0].get("iid").is_none()
    );
}

#[test]
fn frame_keys_have_64_bits() {
    let mut file = Mojo::new(3);
    file.metadata("mode", "wall").stack(1, 0, "a").string(5, "a.py").string(6, "f");
    file.frame(u64::MAX.into(), 5, 6, 3).frame_ref(u64::MAX.into()).time(9);
    assert_eq!(austin(&file.0, Dialect::Full).0, "# mode: wall\nP1;T0:10;a.py:f:3 9\n");
}

#[test]
fn keys_are_looked_up_beyond_their_process() {
    let mut file = Mojo::new(3);
    file.string(5, "early.py")
        .stack(1, 0, "a")
        .string(6, "f")
        .frame(7, 5, 6, 1)
        .frame_ref(7)
        .time(1);
    file.stack(2, 0, "b").frame_ref(7).frame(8, 0, 1, 2).frame_ref(8).frame_ref(99).time(2);
    let (text, streamed, complete) = austin(&file.0, Dialect::Full);
    assert_eq!(
        text,
        "P1;T0:10;early.py:f:1 1\nP2;T0:11;early.py:f:1;:<unknown>:2;<unresolved>:<unresolved>:0 2\n",
        "definitions before any stack, then those of another process, then the reserved keys"
    );
    assert!(complete && streamed.unresolved == 1);
    assert_eq!(broken(Format::Mojo, &file.0), ["keys.unresolved"]);
}

#[test]
fn a_frame_binds_its_names_when_it_is_defined() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a")
        .string(5, "a.py")
        .string(6, "old")
        .frame(7, 5, 6, 1)
        .string(6, "new")
        .frame_ref(7)
        .time(1);
    assert!(austin(&file.0, Dialect::Full).0.contains("a.py:old:1"));
}

#[test]
fn a_repeated_stack_loses_its_native_end() {
    let mut file = Mojo::new(4);
    file.stack(1, 0, "a").string(5, "a.py").string(6, "f").string(8, "native@7f").string(9, "read");
    file.frame(1, 5, 6, 1).frame(2, 8, 9, 2).frame_ref(1).frame_ref(2).time(1);
    file.stack(1, 0, "b").id(13).time(2);
    file.stack(1, 0, "a").id(13).frame_ref(2).time(3);
    let (text, ..) = austin(&file.0, Dialect::Full);
    assert_eq!(
        text,
        "P1;T0:10;a.py:f:1;native@7f:read:2 1\nP1;T0:11 2\nP1;T0:10;a.py:f:1;native@7f:read:2 3\n"
    );
}

#[test]
fn frames_of_a_task_are_not_frames_of_the_sample() {
    let mut file = Mojo::new(4);
    file.stack(1, 0, "a").string(5, "a.py").string(6, "f").frame(1, 5, 6, 1).frame(2, 5, 6, 2);
    file.id(14).varint(40).varint(0).varint(2).frame_ref(2).frame_ref(2).frame_ref(1).time(1);
    let (text, streamed, _) = austin(&file.0, Dialect::Full);
    assert_eq!(text, "P1;T0:10;a.py:f:1 1\n");
    assert_eq!(streamed.task_events, 1);
}

#[test]
fn what_a_totals_line_says_is_checked() {
    let mut file = Mojo::new(3);
    file.metadata("mode", "wall")
        .stack(1, 0, "a")
        .id(7)
        .time(5)
        .metadata("count", "2")
        .metadata("gc", "6")
        .metadata("errors", "0/1");
    assert_eq!(broken(Format::Mojo, &file.0), ["metadata.count", "metadata.gc"]);
}

#[test]
fn names_that_are_not_utf8_are_replaced_and_counted() {
    let mut file = Mojo::new(3);
    file.metadata("mode", "wall")
        .stack(1, 0, "a")
        .string(5, b"a\xff.py")
        .string(6, "f")
        .frame(1, 5, 6, 1)
        .frame_ref(1)
        .time(1);
    let (shown, _) = records(Format::Mojo, &file.0);
    assert_eq!(
        (&shown[2]["value"], &shown[2]["raw"]),
        (&json!("a\u{fffd}.py"), &json!("61ff2e7079"))
    );
    assert!(austin(&file.0, Dialect::Full).0.contains("a\u{fffd}.py"));
}

#[test]
fn an_unknown_event_is_named_with_its_offset() {
    let mut file = Mojo::new(3);
    file.stack(1, 0, "a").time(1).id(47);
    let (shown, error) = records(Format::Mojo, &file.0);
    let error = error.unwrap();
    assert_eq!(
        (shown.len(), error.kind(), error.offset()),
        (2, ErrorKind::Corrupt, Some(file.0.len() as u64 - 1))
    );
    assert!(error.message().contains("unknown event id 47, after 2 events"), "{error}");
}

#[test]
fn a_newer_version_is_read_as_the_newest_known_and_said_to_be_unsupported() {
    let mut file = Mojo::new(5);
    file.metadata("mode", "wall");
    let info = info(Format::Mojo, &file.0);
    assert_eq!(info["damage"]["kind"], "unsupported");
    assert_eq!(info["records"]["metadata"], 1);
}

#[test]
fn damaged_files_are_read_as_far_as_they_go() {
    for name in ["mojo/tiny-4.0.0-full-gc-mem.mojo", "mojo/tiny-3.4.1-wall-gen.mojo"] {
        damage(Format::Mojo, &read(&fixture(name)), 1500, 1500);
    }
    for path in files(&fixture("mojo/synth"))
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "mojo"))
    {
        damage(Format::Mojo, &read(path), usize::MAX, 200);
    }
}
