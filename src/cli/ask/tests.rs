//! Tests that a resident dump gives the same answers as a new process.

use super::*;
use crate::cli::dumps::Given;
use std::path::Path;

/// Returns the answer of a process: the same command with nothing resident.
fn process(words: &[&str]) -> Answer {
    let words = ["dumptool"].iter().chain(words);
    let Cli { command, common } = Cli::try_parse_from(words).unwrap();
    run(&command, Session::kept(common, None))
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn all() -> Arc<Dumps> {
    Dumps::new(Given::default(), |_| true, u64::MAX)
}

/// Asks for everything twice, so that the second answer comes from what was kept.
#[track_caller]
fn assert_same(resident: &Arc<Dumps>, words: &[&str]) -> String {
    let expected = process(words);
    for _ in 0..2 {
        let answer = resident.answer(words);
        assert_eq!(answer.status, expected.status, "{words:?}: {}", answer.messages);
        assert_eq!(answer.messages, expected.messages, "{words:?}");
        assert!(answer.result == expected.result, "{words:?} differs");
    }
    String::from_utf8(expected.result).unwrap()
}

#[test]
fn prepared_heaps_answer_the_same() {
    for name in ["go/tiny_go127.heapdump.zst", "hprof/collections_java17.hprof.zst"] {
        let (file, resident) = (fixture(name), all());
        assert_same(&resident, &["top", &file, "-n", "1"]);
        assert!(resident.prepare(2).len() <= 2);
        for words in [
            &["find", &file, "-n", "20"][..],
            &["find", &file, "-n", "256", "--type", "*String*"],
            &["find", &file, "-n", "3", "--exclude", "*e*", "--format", "json"],
            &["find", &file, "--value", "1.5"],
            &["find", &file, "--value", "a", "--sort", "shallow"],
            &["find", &file, "--min-size", "64", "--max-size", "128"],
            &["top", &file, "--by", "size-class"],
        ] {
            assert_same(&resident, words);
        }
    }
}

/// The ids of the objects that retain most, and of the last one.
fn objects(file: &str) -> Vec<String> {
    let ids = |more: &[&str]| -> Vec<String> {
        let words = [&["find", file, "--format", "jsonl", "-q"], more].concat();
        let rows = String::from_utf8(process(&words).result).unwrap();
        let id = |row: &str| -> serde_json::Value { serde_json::from_str(row).unwrap() };
        rows.lines().map(|row| id(row)["id"].as_str().unwrap().to_owned()).collect()
    };
    let mut objects = ids(&["-n", "3"]);
    objects.extend(ids(&["-n", "0", "--sort", "id"]).pop());
    objects
}

#[test]
fn heaps_answer_as_the_process_does() {
    for name in [
        "go/tiny_go127.heapdump.zst",
        "hprof/small_java17.hprof.zst",
        "mvmheap/tiny-nqp.mvmheap",
        "mvmheap/tiny-nqp-cut-snap3.mvmheap",
        "dart/tiny_derived_3.0.5.dartheap.zst",
        "heapsnapshot/sessions-node24-small.heapsnapshot.zst",
        "ruby/shop-small.json.zst",
    ] {
        let (file, resident) = (fixture(name), all());
        let json = |words: &[&str]| {
            let words = [&words[..1], &[&*file], &words[1..], &["--format", "json"]].concat();
            assert_same(&resident, &words)
        };
        for by in ["type", "namespace", "package-root", "root", "size-class", "loader", "site"] {
            json(&["top", "--by", by]);
        }
        for objects in ["live", "all", "unreachable"] {
            json(&["top", "--objects", objects, "-n", "0"]);
        }
        json(&["top", "--quick"]);
        json(&["top", "--suspects"]);
        json(&["info"]);
        json(&["threads"]);
        json(&["threads", "--each"]);
        json(&["waste"]);
        json(&["tree"]);
        json(&["tree", "--by", "type", "-n", "0"]);
        json(&["find", "--min-size", "64"]);
        json(&["path", "--type", "*"]);
        json(&["check", "--max", "total.retained=1MiB"]);
        json(&["diff", &file]);
        let objects = objects(&file);
        assert!(objects.len() > 1, "{name}");
        for object in &objects {
            let shown = json(&["show", object]);
            assert!(shown.starts_with("{\n  \"schema\": \"dumptool/show/1\""), "{name} {object}");
            json(&["path", object]);
            json(&["path", object, "-k", "3"]);
            json(&["tree", object]);
        }
        for format in ["csv", "jsonl", "markdown", "table"] {
            assert_same(&resident, &["top", &file, "--format", format]);
            assert_same(&resident, &["show", &file, &objects[0], "--format", format]);
        }
    }
}

#[test]
fn profiles_answer_as_the_process_does() {
    for name in [
        "mojo/tiny-3.4.1-full-gc-mem.mojo",
        "mojo/tiny-4.0.0-cpu-thr.mojo",
        "pprof/go127-cpu.pb.gz",
        "folded/edge.folded",
        "austin/tiny-3.4.1-wall-gen.austin",
    ] {
        let (file, resident) = (fixture(name), all());
        let json = |words: &[&str]| {
            let words = [&words[..1], &[&*file], &words[1..], &["--format", "json"]].concat();
            assert_same(&resident, &words)
        };
        json(&["info"]);
        json(&["top", "-n", "0"]);
        json(&["top", "--by", "thread"]);
        json(&["top", "--by", "line", "--cum"]);
        json(&["tree"]);
        json(&["tree", "--min-share", "0", "-n", "0"]);
        json(&["find", "--type", "*"]);
        json(&["diff", &file]);
        // The commands above do not need the samples, so the resident profile did not keep them.
        #[cfg(feature = "query")]
        json(&["query", "select count(*), count(start_us) from samples"]);
    }
}

#[test]
fn options_of_loading_and_snapshots_are_kept_apart() {
    let (file, resident) = (fixture("mvmheap/tiny-nqp.mvmheap"), all());
    let first = assert_same(&resident, &["top", &file, "--snapshot", "0"]);
    let last = assert_same(&resident, &["top", &file]);
    assert_ne!(first, last);
    let missing = assert_same(&resident, &["top", &file, "--snapshot", "99"]);
    assert_eq!(missing, "");
    let go = fixture("go/tiny_go127.heapdump.zst");
    assert_same(&resident, &["top", &go, "--roots", "precise"]);
    assert_same(&resident, &["top", &go]);
}

#[test]
fn only_files_that_are_allowed_are_read() {
    let file = fixture("go-types/shop_go125_w.heapdump.zst");
    let exe = fixture("go-types/shop_go125_w.exe.zst");
    let only = file.clone();
    let resident = Dumps::new(Given::default(), move |path| path == Path::new(&only), u64::MAX);
    assert_eq!(resident.answer(["top", &file]).status, Status::Done);
    for words in [
        vec!["top", &exe],
        vec!["top", "-"],
        vec!["diff", &file, &exe],
        vec!["top", &file, "--exe", &exe],
        vec!["info", &file, "--exe", &exe],
        vec!["check", &file, "--against", &exe, "--max-growth", "total.retained=1%"],
    ] {
        let answer = resident.answer(&words);
        assert!(answer.result.is_empty(), "{words:?}");
        assert_ne!(answer.status, Status::Done, "{words:?}");
        assert!(answer.messages.contains("may not be read here"), "{words:?}: {}", answer.messages);
    }
}

#[test]
fn commands_that_write_where_they_may_not_cannot_be_asked() {
    let file = fixture("mvmheap/tiny-nqp.mvmheap");
    for words in [
        vec!["convert", &file, &file],
        vec!["convert", &file, "/nowhere/tables/", "--to", "csv"],
        vec!["report", &file, "-o", "/nowhere/out.html"],
        vec!["cat", &file],
        vec!["man"],
        vec!["check", &file, "--format", "github"],
        vec!["top"],
        vec!["--help"],
        vec!["nonsense"],
    ] {
        let answer = all().answer(&words);
        assert_eq!((answer.status, answer.result.len()), (Status::Usage, 0), "{words:?}");
        assert!(!answer.messages.is_empty(), "{words:?}");
    }
}

#[test]
fn many_ask_at_once() {
    let (file, resident) = (fixture("dart/tiny_derived_3.0.5.dartheap.zst"), all());
    let commands: [&[&str]; 4] =
        [&["top", &file], &["tree", &file], &["threads", &file], &["top", &file, "--by", "root"]];
    let expected = commands.map(process);
    std::thread::scope(|scope| {
        for at in 0..16 {
            let (resident, expected) = (&resident, &expected);
            scope.spawn(move || {
                let answer = resident.answer(commands[at % 4]);
                assert!(answer.result == expected[at % 4].result, "{:?}", commands[at % 4]);
            });
        }
    });
}
