//! The command line where transcripts do not reach: streams, pipes, several files, files that are
//! written.

use crate::support::fixture;
use assert_cmd::Command;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

fn dumptool() -> Command {
    let mut command = Command::cargo_bin("dumptool").unwrap();
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Standard output of a run with this status.
fn stdout(command: &mut Command, status: i32) -> String {
    String::from_utf8(command.assert().code(status).get_output().stdout.clone()).unwrap()
}

fn json(command: &mut Command, status: i32) -> Value {
    serde_json::from_str(&stdout(command, status)).unwrap()
}

const MOJO: &str = "mojo/tiny-4.0.0-full-gc-mem.mojo";
const CUT: &str = "mvmheap/tiny-nqp-cut-snap3.mvmheap";

#[test]
fn several_files_are_an_array_and_one_is_not() {
    let one = json(dumptool().args(["info", "--format", "json"]).arg(fixture(MOJO)), 0);
    assert_eq!(one["schema"], "dumptool/info/1");
    let two = json(
        dumptool()
            .args(["info", "--format", "json"])
            .arg(fixture(MOJO))
            .arg(fixture(CUT))
            .arg("-q"),
        3,
    );
    assert_eq!(two.as_array().unwrap().len(), 2);
    assert_eq!(two[0], one);
    assert_eq!(two[1]["complete"], false);
    assert_eq!(two[1]["damage"]["kind"], "truncated");
}

#[test]
fn the_keys_of_info_are_in_the_order_of_the_contract() {
    let text = stdout(dumptool().args(["info", "--format", "jsonl"]).arg(fixture(MOJO)), 0);
    let keys = [
        "schema",
        "file",
        "bytes",
        "format",
        "format_version",
        "kind",
        "complete",
        "damage",
        "warnings",
        "metadata",
        "records",
    ];
    let positions: Vec<_> = keys
        .iter()
        .chain(&["heap", "profile"])
        .map(|key| text.find(&format!("\"{key}\":")).unwrap())
        .collect();
    assert!(positions.is_sorted(), "{text}");
}

#[test]
fn csv_has_its_header_without_rows() {
    let text = stdout(
        dumptool()
            .args(["find", "--type", "no such type", "--format", "csv"])
            .arg(fixture(CUT))
            .arg("--lenient"),
        0,
    );
    assert_eq!(text, "id,type,namespace,shallow_bytes,retained_bytes,external_bytes,value\n");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let both =
        json(dumptool().args(["info", "--format", "json", "no-such.dump"]).arg(fixture(MOJO)), 3);
    assert_eq!(both.as_array().unwrap().len(), 1);
}

#[test]
fn lenient_turns_damage_into_success_and_nothing_else() {
    dumptool().args(["info", "--lenient"]).arg(fixture(CUT)).assert().code(0);
    dumptool().args(["cat", "--lenient"]).arg(fixture(CUT)).assert().code(0);
    dumptool().args(["info", "--lenient", "/no/such/file"]).assert().code(3);
    dumptool().args(["check", "--lenient", "--max", "total.count=1", "/dev/null"]).assert().code(3);
    dumptool().args(["cat", "--lenient", "--record", "nothing"]).arg(fixture(CUT)).assert().code(2);
}

#[test]
fn standard_input_is_read_also_when_compressed() {
    let plain = std::fs::read(fixture(MOJO)).unwrap();
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    let expected = json(dumptool().args(["info", "--format", "json"]).arg(fixture(MOJO)), 0);
    for (bytes, compression) in [(plain, Value::Null), (packed, "zstd".into())] {
        let info = json(dumptool().args(["info", "--format", "json", "-"]).write_stdin(bytes), 0);
        assert_eq!(info["profile"], expected["profile"]);
        assert_eq!(info["bytes"], expected["bytes"]);
        assert_eq!(info["compression"], compression);
    }
}

/// `path` and `growth` open their file several times, and found standard input empty.
#[test]
fn every_command_on_heaps_reads_standard_input() {
    let heap = std::fs::read(fixture("mvmheap/tiny-nqp.mvmheap")).unwrap();
    let file = fixture("mvmheap/tiny-nqp.mvmheap");
    let file = file.to_str().unwrap();
    for words in [
        "path # 2548",
        "path # --type NQPArray",
        "tree # 2548",
        "show # 2548",
        "find # NQPArray",
        "top # --suspects",
        "waste #",
        "threads #",
        "check # --max total.count=100000",
        "growth # FILE",
        "growth FILE #",
        "diff # FILE",
    ] {
        let of = |input: &str| {
            let words = words.split(' ').map(|word| match word {
                "#" => input,
                "FILE" => file,
                word => word,
            });
            dumptool().args(words).write_stdin(heap.clone()).output().unwrap()
        };
        let (piped, named) = (of("-"), of(file));
        assert!(piped.status.success(), "{words}: {piped:?}");
        assert_eq!(piped.stdout, named.stdout, "{words}");
    }
}

#[test]
fn a_redirected_file_is_standard_input_too() {
    let file = std::fs::File::open(fixture(MOJO)).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["info", "-"])
        .stdin(file)
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("Austin MOJO 3"));
}

#[test]
fn a_cut_compressed_file_is_read_as_far_as_it_goes() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(&std::fs::read(fixture("mojo/tiny-3.5.0-children-mp.mojo")).unwrap())
        .unwrap();
    let packed = encoder.finish().unwrap();
    let info = json(
        dumptool().args(["info", "--format", "json", "-"]).write_stdin(&packed[..packed.len() / 2]),
        3,
    );
    assert_eq!(info["complete"], false);
    assert!(info["damage"]["message"].as_str().unwrap().contains("compressed input ends early"));
}

#[test]
fn frames_of_a_vm_service_are_joined() {
    let snapshot = crate::support::read(&fixture("dart/tiny_derived_3.0.5.dartheap.zst"));
    let mut recording = Vec::new();
    let count = snapshot.chunks(40_000).count();
    for (i, part) in snapshot.chunks(40_000).enumerate() {
        let last = i + 1 == count;
        let json = format!(
            r#"{{"jsonrpc":"2.0","method":"streamNotify","params":{{"event":{{"kind":"HeapSnapshot","last":{last}}}}}}}"#
        );
        recording.extend(512u32.to_le_bytes());
        recording.extend(format!("{json:<508}").bytes());
        recording.extend(part);
    }
    let expected = json(
        dumptool()
            .args(["info", "--format", "json"])
            .arg(fixture("dart/tiny_derived_3.0.5.dartheap.zst")),
        0,
    );
    let joined =
        json(dumptool().args(["info", "--format", "json", "-"]).write_stdin(recording.clone()), 0);
    assert_eq!((&joined["heap"], &joined["bytes"]), (&expected["heap"], &expected["bytes"]));
    assert_eq!(joined["vm_service_frames"], count);
    let cut = json(
        dumptool().args(["info", "--format", "json", "-"]).write_stdin(&recording[..60_000]),
        3,
    );
    assert!(cut["damage"]["message"].as_str().unwrap().contains("no last frame"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["cat", "--format", "jsonl"])
        .arg(fixture("mojo/tiny-3.6.0-memory-mem.mojo"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_status_4() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .arg("cat")
        .arg(fixture(MOJO))
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    dumptool()
        .arg("convert")
        .arg(fixture(MOJO))
        .args(["/dev/full", "--to", "austin"])
        .assert()
        .code(4);
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let plain = stdout(dumptool().arg("info").arg(fixture(MOJO)), 0);
    assert!(!plain.contains('\x1b'));
    let colored = stdout(dumptool().args(["info", "--color", "always"]).arg(fixture(MOJO)), 0);
    assert!(colored.contains("\x1b["));
    let cat =
        stdout(dumptool().args(["cat", "-n", "1", "--color", "always"]).arg(fixture(MOJO)), 0);
    assert!(cat.contains("\x1b["));
}

#[test]
fn every_line_of_jsonl_is_an_object_with_offset_and_record() {
    for name in [
        MOJO,
        "go/go13.heapdump",
        "mvmheap/tiny-nqp.mvmheap",
        "dart/tiny_derived_2.17.6.dartheap.zst",
    ] {
        let text = stdout(
            dumptool().args(["cat", "--format", "jsonl", "--contents"]).arg(fixture(name)),
            0,
        );
        let mut last = None;
        for line in text.lines() {
            let record: Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
            let offset = record["offset"].as_u64();
            assert!(offset > last && record["record"].is_string(), "{name}: {line}");
            last = offset;
        }
    }
}

#[test]
fn records_of_cat_are_as_many_as_info_counts() {
    for name in [
        MOJO,
        "go/tiny_go127.heapdump.zst",
        "mvmheap/tiny-nqp.mvmheap",
        "mvmheap/tiny-nqp-v2.mvmheap.zst",
        "dart/tiny_derived_3.0.5.dartheap.zst",
    ] {
        let info = json(dumptool().args(["info", "--format", "json"]).arg(fixture(name)), 0);
        let text = stdout(dumptool().args(["cat", "--format", "jsonl"]).arg(fixture(name)), 0);
        for (record, count) in info["records"].as_object().unwrap() {
            let needle = format!("\"record\":\"{record}\"");
            assert_eq!(
                text.lines().filter(|line| line.contains(&needle)).count() as u64,
                count.as_u64().unwrap(),
                "{name}: {record}"
            );
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for name in ["mvmheap/tiny-nqp.mvmheap", CUT, MOJO] {
        let run = |threads| {
            stdout(
                dumptool()
                    .args(["info", "--format", "json", "--lenient", "--threads", threads])
                    .arg(fixture(name)),
                0,
            )
        };
        assert_eq!(run("1"), run("2"));
    }
}

#[test]
fn convert_writes_files_also_compressed_and_reports() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        stdout(dumptool().arg("convert").arg(fixture(MOJO)).args(["-", "--to", "austin", "-q"]), 0);
    for name in ["out.austin", "out.austin.gz", "out.austin.zst"] {
        let out = folder.path().join(name);
        let report = json(
            dumptool().arg("convert").arg(fixture(MOJO)).arg(&out).args(["--format", "json"]),
            0,
        );
        assert_eq!(crate::support::read(&out), text.as_bytes(), "{name}");
        assert_eq!(report["schema"], "dumptool/convert/1");
        assert_eq!((&report["to"], &report["written"]["samples"]), (&"austin".into(), &103.into()));
        assert_eq!(report["bytes"], std::fs::metadata(&out).unwrap().len());
        assert!(report["lost"].is_array());
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        3,
        "nothing but the outputs is left"
    );
}

#[test]
fn a_failed_conversion_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.austin");
    std::fs::write(&out, "old").unwrap();
    dumptool().args(["convert", "no-such.mojo"]).arg(&out).assert().code(3);
    dumptool().arg("convert").arg(fixture("go/go13.heapdump")).arg(&out).assert().code(2);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_input_is_converted_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("cut.mojo"), folder.path().join("out.austin"));
    let whole = std::fs::read(fixture(MOJO)).unwrap();
    std::fs::write(&input, &whole[..4999]).unwrap();
    dumptool().arg("convert").arg(&input).arg(&out).assert().code(3);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.lines().count() > 10 && text.ends_with('\n'));
}

#[cfg(unix)]
#[test]
fn the_input_is_never_the_output_not_even_by_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let (input, link) = (folder.path().join("a.mojo"), folder.path().join("b.austin"));
    std::fs::copy(fixture(MOJO), &input).unwrap();
    std::os::unix::fs::symlink(&input, &link).unwrap();
    dumptool().arg("convert").arg(&input).arg(&link).assert().code(2);
    assert_eq!(std::fs::read(&input).unwrap(), std::fs::read(fixture(MOJO)).unwrap());
}

#[test]
fn a_report_and_an_output_do_not_mix() {
    dumptool()
        .arg("convert")
        .arg(fixture(MOJO))
        .args(["-", "--to", "austin", "--format", "json"])
        .assert()
        .code(2);
}

#[test]
fn completions_and_manual_are_complete() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(dumptool().args(["completions", shell]), 0).contains("convert"), "{shell}");
    }
    let manual = stdout(dumptool().arg("man"), 0);
    assert!(
        manual.contains(".TH dumptool 1")
            && manual.contains("lenient")
            && manual.contains("dialect")
    );
}

#[test]
fn formats_are_told_as_json_too() {
    let formats = json(dumptool().args(["formats", "--format", "json"]), 0);
    let read: Vec<_> = formats["formats"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["read"] == true)
        .map(|row| &row["name"])
        .collect();
    assert_eq!(
        read,
        [
            "mvmheap",
            "dart",
            "go",
            "hprof",
            "heapsnapshot",
            "ruby",
            "pmat",
            "pyheap",
            "mojo",
            "austin",
            "pprof",
            "folded",
            "speedscope",
            "perf-script",
            "perf-data",
            "cpuprofile",
            "heapprofile",
            "jfr",
            "heaptrack",
            "jemalloc",
            "gperftools",
            "gperftools-cpu",
            "dhat",
            "massif",
            "callgrind",
            "chrome-trace",
            "firefox",
            "cprofile"
        ]
    );
}

#[test]
fn check_is_a_gate() {
    let sound = json(dumptool().args(["check", "--format", "json"]).arg(fixture(MOJO)), 0);
    assert_eq!((&sound["schema"], &sound["ok"]), (&"dumptool/check/1".into(), &true.into()));
    assert!(!sound["findings"].as_array().unwrap().is_empty());
    dumptool().arg("check").arg(fixture("mojo/synth/v3-unresolved-string.mojo")).assert().code(1);
    dumptool().arg("check").arg(fixture(CUT)).assert().code(3);
}

#[test]
fn wrong_usage_is_status_2_and_help_is_not() {
    dumptool().assert().code(2);
    dumptool().arg("nonsense").assert().code(2);
    dumptool().args(["info", "--threads", "0", "x"]).assert().code(2);
    dumptool().arg("--help").assert().code(0);
    dumptool().arg("--version").assert().code(0);
}

#[test]
fn find_convert_and_info_count_the_same_objects() {
    let path = fixture("mvmheap/tiny-nqp-cut-snap3.mvmheap");
    let run = |arguments: &[&str]| {
        json(dumptool().args(arguments).args(["--format", "json", "-q"]).arg(&path), 3)
    };
    let info = run(&["info"])["heap"]["snapshots"][1]["objects"].clone();
    assert_eq!(run(&["find"])["total"]["count"], info);
    assert_eq!(run(&["top", "--objects", "all"])["total"]["count"], info);
    let directory = tempfile::tempdir().unwrap();
    for name in ["out.hprof", "out.heapsnapshot", "out.pb.gz", "out.csv"] {
        let output = directory.path().join(name);
        let report =
            json(dumptool().args(["convert", "--format", "json", "-q"]).arg(&path).arg(&output), 3);
        assert_eq!(report["objects"], info, "{name}");
    }
}

#[test]
fn documents_name_their_file_and_damage_even_when_there_is_none() {
    let profile = fixture(MOJO);
    let diff = json(dumptool().args(["diff", "--format", "json"]).args([&profile, &profile]), 0);
    assert_eq!(diff["file"], diff["new"]);
    assert!(
        json(dumptool().args(["formats", "--format", "json"]), 0)
            .get("file")
            .is_some_and(Value::is_null)
    );
    assert!(
        json(
            dumptool()
                .args(["check", "--max", "total.samples=1000000", "--format", "json"])
                .arg(&profile),
            0
        )["damage"]
            .is_null()
    );
    let cut = json(
        dumptool()
            .args(["check", "--max", "total.count=1000000", "--format", "json"])
            .arg(fixture(CUT)),
        3,
    );
    assert_eq!(cut["damage"]["kind"], "truncated");
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let path = fixture(MOJO);
    let diff = json(dumptool().args(["diff", "--format", "json"]).args([&path, &path]), 0);
    assert_eq!(diff["rows"].as_array().map(Vec::len), Some(0));
    assert!(diff["unchanged"].as_u64().is_some_and(|rows| rows > 0));
    let text = stdout(dumptool().arg("diff").args([&path, &path]), 0);
    assert!(text.starts_with("0 changed functions") && text.lines().count() == 1, "{text}");
}

#[test]
fn quiet_keeps_warnings_out_of_info_too() {
    let warns = |arguments: &[&str]| {
        stdout(dumptool().arg("info").args(arguments).arg(fixture(CUT)), 3).contains("warning:")
    };
    assert!(warns(&[]));
    assert!(!warns(&["-q"]));
}

/// Neither alive nor dead: `path --type` once called such objects unreachable.
#[test]
fn without_roots_there_are_no_paths_and_nothing_is_called_unreachable() {
    let mut dump = crate::support::hprof::File::new("1.0.2", 8);
    dump.load(8, "A");
    let class = dump.class(8, 0, 16, &[], &[]);
    let mut file = tempfile::Builder::new().suffix(".hprof").tempfile().unwrap();
    file.write_all(&dump.record(0x0c, &[&class]).bytes).unwrap();
    let output = dumptool()
        .args(["path", "--type", "*"])
        .arg(file.path())
        .assert()
        .code(2)
        .get_output()
        .stderr
        .clone();
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("has no roots, so there are no paths"), "{text}");
}

/// A Go dump that is cut before its roots: it is the damage that is told, not wrong usage.
#[test]
fn a_dump_that_is_cut_before_its_roots_is_damaged() {
    let whole =
        zstd::decode_all(std::fs::File::open(fixture("go/tiny_go127.heapdump.zst")).unwrap())
            .unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&whole[..whole.len() / 3]).unwrap();
    for arguments in [
        &["tree"][..],
        &["top", "--suspects"],
        &["top", "--by", "root"],
        &["find", "--live"],
        &["path", "--type", "*"],
    ] {
        let output = dumptool()
            .args(arguments)
            .arg(file.path())
            .assert()
            .code(3)
            .get_output()
            .stderr
            .clone();
        let text = String::from_utf8(output).unwrap();
        assert!(
            text.contains("--lenient") && text.contains("no roots were read"),
            "{arguments:?}: {text}"
        );
        dumptool().args(arguments).arg(file.path()).arg("--lenient").assert().code(0);
    }
}

/// Three tenths of a dump behind its objects, or a part of these: most is unreachable only because
/// nothing was read that holds it.
#[test]
fn a_dump_without_some_of_its_roots_calls_nothing_unreachable_and_keeps_no_rule() {
    for (name, tenths, rule) in [
        ("go/tiny_go127.heapdump.zst", 6, "type@0x66c650"),
        ("dart/synth_random_3k.dartheap.zst", 2, "NoSuchClass"),
    ] {
        let whole = zstd::decode_all(std::fs::File::open(fixture(name)).unwrap()).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&whole[..whole.len() * tenths / 10]).unwrap();
        for command in ["top", "tree"] {
            let output =
                dumptool().arg(command).arg(file.path()).assert().code(3).get_output().clone();
            let (out, err) = (
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            );
            assert!(
                out.contains("so live and unreachable objects cannot be distinguished\n")
                    && !out.contains("unreachable:"),
                "{name}: {out}"
            );
            assert!(
                err.contains("live and unreachable objects cannot be distinguished"),
                "{name}: {err}"
            );
        }
        let check = |more: &[&str]| {
            let mut command = dumptool();
            command.args(["check", "--none", rule]).args(more).arg(file.path());
            command
        };
        assert_eq!(
            stdout(&mut check(&[]), 3),
            "damaged: 1 rule checked up to the damage, all passed\n"
        );
        assert_eq!(
            stdout(&mut check(&["--lenient"]), 0),
            "damaged: 1 rule checked up to the damage, all passed\n"
        );
        assert_eq!(json(&mut check(&["--format", "json"]), 3)["ok"], false);
        assert!(!stdout(&mut check(&["-v"]), 3).contains("ok "));
    }
    // Behind the roots nothing is missed but statistics and hash codes.
    for name in ["go/tiny_go127.heapdump.zst", "dart/synth_random_3k.dartheap.zst"] {
        let whole = zstd::decode_all(std::fs::File::open(fixture(name)).unwrap()).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&whole[..whole.len() - 1]).unwrap();
        assert!(
            stdout(dumptool().arg("top").arg(file.path()), 3).contains("unreachable: "),
            "{name}"
        );
    }
}

/// What holds an object may stand behind the damage: `show`, `find` and `path` said "unreachable"
/// and "garbage" of it.
#[test]
fn of_an_object_of_a_dump_cut_before_its_roots_it_is_not_known_whether_it_is_reachable() {
    // Before all roots, and among them.
    for (tenths, roots) in
        [(3, "no roots were read"), (6, "not all roots and references were read")]
    {
        let whole =
            zstd::decode_all(std::fs::File::open(fixture("go/tiny_go127.heapdump.zst")).unwrap())
                .unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&whole[..whole.len() * tenths / 10]).unwrap();
        // What retains nothing comes last.
        let found =
            json(dumptool().args(["find", "-n", "0", "--format", "json"]).arg(file.path()), 3);
        let last = found["objects"].as_array().unwrap().last().unwrap();
        let object = last["id"].as_str().unwrap().to_owned();
        assert_eq!(last["retained_bytes"], 0);
        for command in ["show", "path"] {
            let run = || {
                let mut run = dumptool();
                run.arg(command).arg(file.path()).arg(&object);
                run
            };
            assert_eq!(
                json(run().args(["--format", "json"]), 3)["reachable"],
                serde_json::Value::Null,
                "{command}"
            );
            let text = stdout(&mut run(), 3);
            assert!(
                text.contains(roots) && !text.contains("garbage") && !text.contains("unreachable"),
                "{text}"
            );
        }
        let text = stdout(dumptool().args(["find", "-n", "0"]).arg(file.path()), 3);
        assert!(!text.contains("unreachable"), "{text}");
        assert_eq!(text.contains("unknown"), tenths == 6);
        // In a sound dump it is known.
        let whole = fixture("go/tiny_go127.heapdump.zst");
        let found = json(
            dumptool().args(["find", "-n", "1", "--unreachable", "--format", "json"]).arg(&whole),
            0,
        );
        let garbage = found["objects"][0]["id"].as_str().unwrap();
        assert_eq!(
            json(dumptool().arg("show").arg(&whole).args([garbage, "--format", "json"]), 0)["reachable"],
            false
        );
    }
}

/// It was a usage error, and nothing said what was damaged.
#[test]
fn a_rule_about_retained_bytes_of_a_file_that_is_cut_before_its_roots_is_damage() {
    let whole =
        zstd::decode_all(std::fs::File::open(fixture("hprof/small_java17.hprof.zst")).unwrap())
            .unwrap();
    let mut cut = tempfile::NamedTempFile::new().unwrap();
    cut.write_all(&whole[..200_000]).unwrap();
    let mut check = dumptool();
    let assert =
        check.args(["check", "--max", "java.*.retained=1GiB"]).arg(cut.path()).assert().code(3);
    let err = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(err.contains("the input ends inside the body of a record at offset 0x30d40"), "{err}");
    let document = json(
        dumptool()
            .args(["check", "--max", "java.*.retained=1GiB", "--format", "json"])
            .arg(cut.path()),
        3,
    );
    assert_eq!(
        (&document["findings"][0]["ok"], &document["findings"][0]["limit"]),
        (&false.into(), &(1_u64 << 30).into())
    );
}

/// Types that hold each other were added up.
#[test]
fn no_rule_measures_more_than_the_live_heap() {
    let java = fixture("hprof/small_java17.hprof.zst");
    let live = json(dumptool().args(["top", "--format", "json"]).arg(&java), 0)["total"].clone();
    let live = live["shallow_bytes"].as_u64().unwrap() + live["external_bytes"].as_u64().unwrap();
    let check = |rule: &str| {
        json(dumptool().args(["check", "--format", "json", "--max", rule]).arg(&java), 1)
    };
    let whole = check("*.retained=1")["findings"][0].clone();
    assert_eq!((&whole["actual"], &whole["kind"]), (&live.into(), &"max".into()));
    let part = check("java.util.*.retained=1")["findings"][0].clone();
    assert!(
        part["actual"].as_u64().unwrap() < live && part["actual"].as_u64().unwrap() > live / 5,
        "{part}"
    );
    assert!(
        part["message"]
            .as_str()
            .unwrap()
            .contains("(21 types: java.util.concurrent.ConcurrentHashMap "),
        "{part}"
    );
}

#[test]
fn check_takes_several_files() {
    let files = [fixture("go/go14.heapdump"), fixture("no such file"), fixture(MOJO)];
    let mut check = dumptool();
    let documents = json(check.args(["check", "--format", "json"]).args(&files), 3);
    let of = |index: usize| {
        (
            documents[index]["format"].as_str().unwrap(),
            documents[index]["findings"][0]["kind"].as_str().unwrap(),
        )
    };
    assert_eq!(
        (documents.as_array().unwrap().len(), of(0), of(1)),
        (2, ("go", "invariant"), ("mojo", "invariant"))
    );
    let mut check = dumptool();
    let text = stdout(
        check
            .args(["check", "--none", "main.Node"])
            .arg(&files[0])
            .arg(fixture("go/go13.heapdump")),
        1,
    );
    assert_eq!(
        text.lines().filter(|line| line.ends_with(": 1 of 1 rules failed")).count(),
        2,
        "{text}"
    );
}

/// The rules were kept "ok" by what could be read of the older file.
#[test]
fn a_damaged_older_file_of_check_is_named_and_nothing_is_ok() {
    let cut = |name: &str| {
        let whole = std::fs::read(fixture(name)).unwrap();
        let whole =
            if name.ends_with(".zst") { zstd::decode_all(&whole[..]).unwrap() } else { whole };
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&whole[..whole.len() - 1]).unwrap();
        file
    };
    for (name, rule) in [
        ("go/tiny_go127.heapdump.zst", "total.count=500%"),
        ("mojo/tiny-3.4.1-wall-gen.mojo", "total.samples=500%"),
    ] {
        let old = cut(name);
        let check = || {
            let mut check = dumptool();
            check
                .args(["check", "--max-growth", rule])
                .arg(fixture(name))
                .arg("--against")
                .arg(old.path());
            check
        };
        let path = old.path().to_str().unwrap();
        assert_eq!(
            stdout(&mut check(), 3),
            format!("damaged: 1 rule checked up to the damage of {path}, all passed\n")
        );
        let document = json(check().args(["--format", "json"]), 3);
        assert_eq!((&document["ok"], &document["damage"]["file"]), (&false.into(), &path.into()));
        assert!(
            stdout(check().args(["--format", "github"]), 3).contains(&format!("::{path}: ")),
            "{name}"
        );
        assert_eq!(
            stdout(check().arg("--lenient"), 0),
            format!("damaged: 1 rule checked up to the damage of {path}, all passed\n")
        );
    }
}

/// There is no such thread: nothing is written, and an empty gzip stream is not nothing.
#[test]
fn a_refused_profile_leaves_no_gzip_stream_on_standard_output() {
    let convert = |more: &[&str]| {
        let mut convert = dumptool();
        convert
            .args(["convert", "--to", "pprof"])
            .args(more)
            .arg(fixture("mojo/tiny-3.4.1-wall-gen.mojo"))
            .arg("-");
        convert
    };
    assert!(
        convert(&["--thread", "no such thread"]).assert().code(2).get_output().stdout.is_empty()
    );
    let written = convert(&[]).assert().code(0).get_output().stdout.clone();
    assert!(written.starts_with(&[0x1f, 0x8b]));
}

/// It did, and the hint of the error went on telling of the option that was given.
#[test]
fn damage_that_is_let_pass_is_a_warning_without_a_hint() {
    let told = |more: &[&str], status| {
        let assert =
            dumptool().args(["top", "-q"]).args(more).arg(fixture(CUT)).assert().code(status);
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    };
    let strict = told(&[], 3);
    assert!(strict.starts_with("error: "), "{strict}");
    let lenient = told(&["--lenient"], 0);
    assert!(lenient.starts_with("warning: ") && !lenient.contains("--lenient"), "{lenient}");
    let whole =
        zstd::decode_all(std::fs::File::open(fixture("go/tiny_go127.heapdump.zst")).unwrap())
            .unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&whole[..whole.len() / 2]).unwrap();
    let assert = dumptool().arg("info").arg(file.path()).assert().code(3);
    let strict = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(strict.ends_with("hint: --lenient keeps what was read (exit status 0)\n"), "{strict}");
    let assert = dumptool().args(["info", "--lenient"]).arg(file.path()).assert().code(0);
    let lenient = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(lenient.starts_with("warning: ") && !lenient.contains("hint"), "{lenient}");
}

/// The keys of a document, null where they mean nothing: a program that reads one form of a command
/// reads all of them.
#[test]
fn all_forms_of_a_command_have_its_keys() {
    let keys = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let heap = fixture("mvmheap/tiny-nqp.mvmheap");
    let document = |arguments: &[&str], files: &[&str]| {
        json(
            dumptool()
                .args(arguments)
                .args(["--format", "json", "-n", "1"])
                .args(files.iter().map(|name| fixture(name))),
            0,
        )
    };
    let has_all = |form: &Value, plain: &Value, what: &str| {
        for key in keys(plain) {
            assert!(form.as_object().unwrap().contains_key(&key), "{what} lacks {key}");
        }
    };
    let name = ["mvmheap/tiny-nqp.mvmheap"];
    let plain = document(&["top"], &name);
    let suspects = document(&["top", "--suspects"], &name);
    let growth = document(&["top", "--snapshot", "all"], &name);
    for form in [&suspects, &growth] {
        has_all(form, &plain, "top");
        has_all(&form["omitted"], &plain["omitted"], "top, omitted");
    }
    assert_eq!(
        (&suspects["total"], &suspects["unreachable"]),
        (&plain["total"], &plain["unreachable"])
    );
    has_all(&growth["rows"][0], &plain["rows"][0], "top, rows");
    assert_eq!(growth["total"], plain["total"]);
    let merged =
        json(dumptool().args(["path", "--type", "SpeshLog", "--format", "json"]).arg(&heap), 0);
    assert_eq!(merged["paths"][0]["steps"][0].get("object"), Some(&Value::Null));
    let two = ["dart/synth_random_3k.dartheap.zst", "dart/tiny_derived_3.0.5.dartheap.zst"];
    let (plain, identity) = (document(&["diff"], &two), document(&["diff", "--objects"], &two));
    has_all(&identity, &plain, "diff");
    assert_eq!(identity["old_snapshot"], 0);
    assert_eq!(identity["old_total"]["count"], 3000);
}

/// Widths cannot be less than nothing, so that only what came into use is written, which nothing
/// told.
#[test]
fn memory_that_went_out_of_use_is_told_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    let lost = |input: &str, output: &str, more: &[&str]| {
        let mut command = dumptool();
        command
            .args(["convert", "--format", "json"])
            .args(more)
            .arg(fixture(input))
            .arg(folder.path().join(output));
        let lost = json(&mut command, 0)["lost"].clone();
        lost.as_array().unwrap().iter().find(|loss| loss["what"] == "sums of freed memory").cloned()
    };
    let file = "mojo/tiny-3.6.0-memory-mem.mojo";
    let freed = json(
        dumptool().args(["top", "--metric", "memory-freed", "--format", "json"]).arg(fixture(file)),
        0,
    );
    for output in ["a.folded", "a.svg", "a.speedscope.json"] {
        let loss = lost(file, output, &["--metric", "memory"]).unwrap();
        assert_eq!(loss["bytes"], freed["total"]["value"], "{output}");
        assert!(lost(file, output, &["--metric", "memory-gained"]).is_none(), "{output}");
    }
    for output in ["a.pb.gz", "a.csv"] {
        assert!(lost(file, output, &["--metric", "memory"]).is_none(), "{output}");
    }
    assert!(lost(file, "a.mojo", &[]).is_none());
}

/// `top --by thread`, `find` and `check` print it so.
#[test]
fn a_thread_can_be_named_by_its_label_and_processes_are_named_to_who_asks_for_one() {
    let file = fixture("mojo/tiny-3.5.0-full-thr.mojo");
    let threads =
        json(dumptool().args(["top", "--by", "thread", "--format", "json"]).arg(&file), 0);
    let (label, value) =
        (threads["rows"][1]["name"].as_str().unwrap(), &threads["rows"][1]["total"]);
    let selected =
        json(dumptool().args(["top", "--format", "json", "--thread", label]).arg(&file), 0);
    assert_eq!(&selected["total"]["value"], value);
    let assert = dumptool().args(["top", "--pid", "1"]).arg(&file).assert().code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(text.contains("hint: the profile has the process 18459\n"), "{text}");
}

#[test]
fn an_absent_namespace_is_null_in_json_and_empty_in_csv() {
    let [heap, newer, recording] = ["go/go13.heapdump", "go/go14.heapdump", MOJO].map(fixture);
    let [heap, newer, recording] = [&heap, &newer, &recording].map(|path| path.to_str().unwrap());
    for arguments in [
        &["top", heap][..],
        &["top", "--quick", heap],
        &["top", "--by", "root", heap],
        &["tree", heap],
        &["find", heap],
        &["diff", heap, newer],
        &["convert", "--to", "jsonl", heap, "-"],
        &["top", "--by", "thread", recording],
        &["tree", recording],
    ] {
        let text = match arguments[0] {
            "convert" => stdout(dumptool().args(arguments), 0),
            _ => stdout(dumptool().args(arguments).args(["--format", "jsonl"]), 0),
        };
        assert!(!text.contains(r#""namespace":"""#), "{arguments:?}: {text}");
        assert!(text.contains(r#""namespace":null"#), "{arguments:?}: {text}");
    }
    let csv = stdout(dumptool().args(["top", "--format", "csv", heap]), 0);
    assert!(
        csv.contains("\nmain.Node,main,3,") && csv.contains("\n16 B without pointers,,"),
        "{csv}"
    );
}

/// As `top` calls it.
#[test]
fn the_hottest_function_has_a_name_even_if_the_file_has_none() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut mojo = crate::support::mojo::Mojo::new(3);
    mojo.metadata("mode", "wall")
        .stack(1, 0, "2")
        .string(2, "gen.py")
        .string(3, "")
        .frame(4, 2, 3, 7)
        .frame_ref(4)
        .time(100);
    file.write_all(&mojo.0).unwrap();
    let info = json(dumptool().args(["info", "--format", "json"]).arg(file.path()), 0);
    assert_eq!(info["profile"]["hottest"]["name"], "<unnamed>");
    // A text is summed up elsewhere.
    let mut text = tempfile::NamedTempFile::new().unwrap();
    text.write_all(b"# mode: wall\nP1;T0:2;gen.py::7 100\n").unwrap();
    let info = json(dumptool().args(["info", "--format", "json"]).arg(text.path()), 0);
    assert_eq!(info["profile"]["hottest"]["name"], "<unnamed>");
}

#[test]
fn a_sample_that_damage_cut_is_told_as_lost_from_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = dumptool();
    command
        .args(["convert", "--format", "json"])
        .arg(fixture("mojo/synth/v3-trunc-varint.mojo"))
        .arg(folder.path().join("a.austin"));
    let report = json(&mut command, 3);
    assert_eq!(
        (&report["samples"], &report["lost"][0]["what"]),
        (&1.into(), &"samples cut off by the damage".into())
    );
}

/// From version 4 on it counts rounds of sampling; the copy has version 3, where it counts samples.
#[test]
fn saturation_of_another_meaning_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut mojo = crate::support::mojo::Mojo::new(4);
    mojo.metadata("mode", "wall").string(2, "a.py").string(3, "f").frame(4, 2, 3, 7);
    mojo.stack(1, 0, "2")
        .frame_ref(4)
        .time(100)
        .stack(1, 0, "3")
        .frame_ref(4)
        .time(100)
        .metadata("saturation", "0/1");
    file.write_all(&mojo.0).unwrap();
    let copy = folder.path().join("copy.mojo");
    let report =
        json(dumptool().args(["convert", "--format", "json"]).arg(file.path()).arg(&copy), 0);
    assert_eq!(report["lost"][0]["what"], "metadata entries with sample counts");
    dumptool().arg("check").arg(&copy).assert().code(0);
}

/// There were 11 rows more than objects, and an object less in `tree` than in `top`.
#[test]
fn objects_are_as_many_wherever_they_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("mvmheap/tiny-nqp.mvmheap");
    let report = json(
        dumptool()
            .args(["convert", "--format", "json"])
            .arg(&file)
            .arg(folder.path().join("a.csv")),
        0,
    );
    let written = &report["written"];
    assert_eq!((&written["rows"], &written["root_rows"]), (&3173.into(), &11.into()));
    assert_eq!(report["objects"], 3162);
    let assert =
        dumptool().arg("convert").arg(&file).arg(folder.path().join("b.csv")).assert().code(0);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(
        text.contains("3 162 objects as 3 173 rows of objects, including 11 for roots"),
        "{text}"
    );
    for name in [
        "mvmheap/tiny-nqp.mvmheap",
        "dart/tiny_derived_3.0.5.dartheap.zst",
        "go/tiny_go127.heapdump.zst",
    ] {
        let tree = json(dumptool().args(["tree", "--format", "json"]).arg(fixture(name)), 0);
        let top = json(dumptool().args(["top", "--format", "json"]).arg(fixture(name)), 0);
        assert_eq!(tree["nodes"][0]["count"], top["total"]["count"], "{name}");
    }
}

#[test]
fn diff_of_four_files_names_the_command_for_them() {
    let mut command = dumptool();
    let assert =
        command.args(["diff", "a.hprof", "it's b.hprof", "c.hprof", "d.hprof"]).assert().code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(
        text.contains(r"`dumptool growth a.hprof 'it'\''s b.hprof' c.hprof d.hprof`"),
        "{text}"
    );
}

/// The JVM moves objects, so that its dumps are compared by type.
#[test]
fn three_dumps_without_lasting_ids_are_for_growth() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let assert = dumptool().arg("diff").args([&file, &file, &file]).assert().code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(text.contains("nothing in") && text.contains("`dumptool growth"), "{text}");
}

/// A profile of twice the length with the same shares has not changed.
#[test]
fn normalized_profiles_compare_shares() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let short = write("short.folded", "main;a 30\nmain;b 70\n");
    let long = write("long.folded", "main;a 60\nmain;b 120\nmain;c 20\n");
    let diff = |options: &[&str]| {
        let mut command = dumptool();
        command.args(["diff", "--format", "json"]).args(options).arg(&short).arg(&long);
        json(&mut command, 0)
    };
    let rows = |document: &Value| -> Vec<(String, i64)> {
        let rows = document["rows"].as_array().unwrap();
        let row = |row: &Value| {
            (row["name"].as_str().unwrap().to_owned(), row["delta"]["self"].as_i64().unwrap())
        };
        rows.iter().map(row).collect()
    };
    let names = |pairs: &[(&str, i64)]| -> Vec<(String, i64)> {
        pairs.iter().map(|(name, delta)| ((*name).to_owned(), *delta)).collect()
    };
    let plain = diff(&[]);
    assert_eq!(rows(&plain)[..3], names(&[("b", 50), ("a", 30), ("c", 20)]));
    assert!(plain["scale"].is_null());
    let normalized = diff(&["--normalize"]);
    assert_eq!(normalized["scale"], 2.0);
    assert_eq!(rows(&normalized), names(&[("b", -20), ("c", 20)]));
    // Shares sort the rows, and the values stay as they are.
    assert_eq!(rows(&diff(&["--sort", "share"]))[..3], names(&[("c", 20), ("b", 50), ("a", 30)]));
    assert_eq!(rows(&diff(&["--sort", "total"]))[0].0, "main");
}

/// Dumps of two builds have no address in common, so that types known only by address are named
/// after their layout.
#[test]
fn dumps_of_other_builds_and_runtimes_are_warned_about() {
    let diff = |old: &str, new: &str| {
        let mut command = dumptool();
        command.args(["diff", "-n", "0", "--format", "csv"]).arg(fixture(old)).arg(fixture(new));
        let output = command.assert().code(0).get_output().clone();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let (go, other) = ("go/tiny_go127.heapdump.zst", "go/tiny_go119.heapdump.zst");
    let [rows, warning] = diff(other, go);
    assert!(warning.contains("dump of go1.27.3 amd64, but the old one is of go1.19"), "{warning}");
    assert!(!rows.contains("type@0x"), "{rows}");
    let [rows, warning] = diff("go/panic_go127.heapdump.zst", go);
    assert_eq!(warning, "");
    assert!(rows.contains("type@0x"), "{rows}");
    let [_, warning] = diff(go, "dart/tiny_derived_3.0.5.dartheap.zst");
    assert!(warning.contains("Dart dump, but the old one is of Go"), "{warning}");
}

/// Shares of heaps of unequal size.
#[test]
fn heaps_can_be_sorted_by_the_change_of_their_shares() {
    let mut command = dumptool();
    command
        .args(["diff", "--sort", "share", "--format", "json", "-n", "0", "-q"])
        .arg(fixture("hprof/wide_java17.hprof.zst"))
        .arg(fixture("hprof/small_java17.hprof.zst"));
    let document = json(&mut command, 0);
    let rows = document["rows"].as_array().unwrap();
    let changes: Vec<f64> =
        rows.iter().map(|row| row["delta"]["share"].as_f64().unwrap().abs()).collect();
    assert!(changes.len() > 100 && changes.is_sorted_by(|a, b| a >= b));
    let live = document["new_total"]["retained_bytes"].as_f64().unwrap();
    let (retained, share) = (&rows[0]["new"]["retained_bytes"], &rows[0]["new"]["share"]);
    if let (Some(retained), Some(share)) = (retained.as_f64(), share.as_f64()) {
        assert!((share - retained / live).abs() < 1e-9);
    }
}

/// A class without instances still has static fields, which its object holds.
#[test]
fn the_name_of_a_class_leads_to_its_object() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let found = stdout(dumptool().args(["find", "--type", "Small"]).arg(&file), 0);
    let id = found.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(found, format!("Small has no objects; class Small is the object {id}\n"));
    let assert = dumptool().arg("show").arg(&file).arg("Small").assert().code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(text.contains(&format!("hint: class Small is the object {id}\n")), "{text}");
    let shown = stdout(dumptool().arg("show").arg(&file).arg(&id), 0);
    assert!(shown.starts_with("class Small at") && shown.contains(" head "), "{shown}");
}

#[test]
fn the_profile_of_our_own_run_is_a_file_that_we_open() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.json");
    let heap = fixture("go/tiny_go127.heapdump.zst");
    dumptool().args(["top", "--suspects", "--profile"]).arg(&own).arg(&heap).assert().code(0);
    let rows = json(dumptool().args(["top", "--metric", "wall", "--format", "json"]).arg(&own), 0);
    let names: Vec<_> =
        rows["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    for phase in ["top", "reading", "computing dominators", "looking for owners"] {
        assert!(names.contains(&phase), "{phase} is not in {names:?}");
    }
    // An input is not overwritten.
    dumptool().args(["top", "--profile"]).arg(&heap).arg(&heap).assert().code(2);
}

#[test]
fn help_begins_with_the_options_for_the_kind_of_the_file() {
    let heap = "mvmheap/tiny-nqp-cut-snap3.mvmheap";
    for command in ["top", "tree"] {
        for (file, first, second) in [(MOJO, "Profiles:", "Heaps:"), (heap, "Heaps:", "Profiles:")]
        {
            let text = stdout(dumptool().arg(command).arg(fixture(file)).arg("--help"), 0);
            let at = |heading: &str| text.find(&format!("\n{heading}\n")).unwrap();
            assert!(at("Options:") < at(first), "{command} {file}");
            assert!(at(first) < at(second), "{command} {file}");
            assert!(at(second) < at("Common options:"), "{command} {file}");
        }
    }
}

#[test]
fn thread_ids_are_decimal_and_names_stay_names() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.json");
    std::fs::write(
        &trace,
        r#"{"traceEvents":[
            {"ph":"M","pid":10,"tid":77,"name":"thread_name","args":{"name":"feed"}},
            {"ph":"X","pid":10,"tid":1234,"ts":0,"dur":1000,"name":"work","cat":"x"},
            {"ph":"X","pid":10,"tid":77,"ts":0,"dur":500,"name":"other","cat":"x"}]}"#,
    )
    .unwrap();
    let threads = |path: &std::path::Path| {
        let rows =
            json(dumptool().args(["top", "--by", "thread", "--format", "json"]).arg(path), 0);
        let rows = rows["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(threads(&trace), ["P10;T1234", "P10;Tfeed"]);
    for target in ["firefox.json", "austin", "speedscope.json"] {
        let path = folder.path().join(format!("out.{target}"));
        dumptool().arg("convert").args([&trace, &path]).assert().success();
        assert_eq!(threads(&path), ["P10;T1234", "P10;Tfeed"], "{target}");
    }
}

/// Converts a profile and returns what was lost, by the text of its kind.
fn lost(input: &std::path::Path, output: &std::path::Path, options: &[&str]) -> Vec<(String, u64)> {
    let report = json(
        dumptool().args(["convert", "--format", "json"]).args(options).args([input, output]),
        0,
    );
    let lost = report["lost"].as_array().unwrap().iter();
    lost.map(|loss| (loss["what"].as_str().unwrap().to_owned(), loss["count"].as_u64().unwrap()))
        .collect()
}

#[test]
fn hprof_has_samples_not_nanoseconds() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("c.hprof");
    let lost = lost(&fixture("pprof/go127-cpu.pb.gz"), &output, &[]);
    let top = json(dumptool().args(["top", "--format", "json"]).arg(&output), 0);
    assert_eq!(top["total"]["value"], 57);
    assert!(lost.iter().any(|(what, _)| what.starts_with("time metrics")), "{lost:?}");
}

#[test]
fn fractions_stay_fractions() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("fractions.folded");
    std::fs::write(&input, "a;b 1.5\nfoo 2.25\n").unwrap();
    let output = folder.path().join("out.speedscope.json");
    lost(&input, &output, &[]);
    let written: Value = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    assert_eq!(written["profiles"][0]["weights"], serde_json::json!([1.5, 2.25]));
    let top = |path| {
        dumptool()
            .args(["top", "--color", "never"])
            .arg(path)
            .assert()
            .success()
            .get_output()
            .stdout
            .clone()
    };
    assert_eq!(top(&output), top(&input));
    let csv = dumptool().args(["convert", "--to", "csv"]).arg(&input).arg("-").assert().success();
    assert!(
        csv.get_output().stdout.starts_with(b"pid,interpreter,thread,stack,samples_millionths")
    );
}

#[test]
fn names_that_austin_cannot_write_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("names.speedscope.json");
    let document = serde_json::json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "std::swap"}, {"name": "two\nlines"}]},
        "profiles": [{"type": "sampled", "name": "t", "unit": "microseconds", "startValue": 0,
            "endValue": 3, "samples": [[0], [0, 1]], "weights": [1, 2]}],
    });
    std::fs::write(&input, document.to_string()).unwrap();
    let lost = lost(&input, &folder.path().join("o.austin"), &[]);
    let named = lost.iter().find(|(what, _)| what.starts_with("names with colons"));
    assert_eq!(named.map(|(_, count)| *count), Some(3), "{lost:?}");
}

#[test]
fn other_metrics_and_samples_of_nothing_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["d.folded", "d.svg", "d.hprof"] {
        let lost = lost(&fixture("native/dhat-heap.json"), &folder.path().join(target), &[]);
        assert!(
            lost.iter().any(|(what, count)| what.contains("other than") && *count == 10),
            "{lost:?}"
        );
    }
    let lost = lost(&fixture("pprof/synth-inline.pb.gz"), &folder.path().join("s.pb"), &[]);
    assert!(lost.iter().any(|(what, _)| what == "stacks with sum 0"), "{lost:?}");
}

#[test]
fn the_change_of_memory_is_negative_in_pprof_too() {
    let folder = tempfile::tempdir().unwrap();
    let input = fixture("mojo/tiny-3.6.0-memory-mem.mojo");
    let output = folder.path().join("m.pb.gz");
    lost(&input, &output, &["--metric", "memory"]);
    let total = |path: &std::path::Path, metric: &str| {
        let top =
            json(dumptool().args(["top", "--format", "json", "--metric", metric]).arg(path), 0);
        top["total"]["value"].as_i64().unwrap()
    };
    assert_eq!(total(&output, "memory"), total(&input, "memory"));
}
