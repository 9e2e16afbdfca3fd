//! Known leaks, where the verdict is shown.

use crate::support::fixture;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Recognizes the list in the fixture [`dump`].
const TEAM: &str = "[[rule]]
id = 'layouts-kept'
title = 'layouts are kept'
meaning = 'KEEP has no limit.'
advice = 'Clear it.'
fault = 'own'
source = 'https://example.test/layouts'
formats = ['hprof']
when = [{ kind = ['collection'], holder = ['Layouts.KEEP'], path = ['Layouts.KEEP', '*List.elementData'] }]
";

fn dump() -> PathBuf {
    fixture("hprof/layout_java17_zgc.hprof.zst")
}

fn run(words: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(words).arg(file).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn team(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("team.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_rule_of_a_team_is_shown_wherever_the_verdict_is() {
    let folder = tempfile::tempdir().unwrap();
    let rules = team(&folder, TEAM);
    let known = "known: layouts are kept";
    for words in [
        &["top", "--suspects", "--rules", &rules][..],
        &["info", "--verdict", "--rules", &rules],
        &["check", "--none-suspect", "10%", "--rules", &rules],
        &["report", "-o", "-", "--rules", &rules],
    ] {
        let output = text(&run(words, &dump()).stdout);
        assert!(output.contains(known), "{words:?}: {output}");
        assert!(output.contains("KEEP has no limit. Clear it"), "{words:?}: {output}");
    }
    // What grew has a name as well.
    let old = fixture("hprof/small_java17.hprof.zst");
    for command in ["report -o -", "diff", "growth", "diff --format json"] {
        let words: Vec<&str> = command.split(' ').chain(["--rules", &rules]).collect();
        let words = [&words[..], &[old.to_str().unwrap()]].concat();
        let output = text(&run(&words, &dump()).stdout);
        assert!(output.contains("layouts are kept"), "{command}: {output}");
        assert!(output.contains("KEEP has no limit."), "{command}: {output}");
    }
    let words = ["diff", "--objects", "--rules", &rules, old.to_str().unwrap()];
    assert_eq!(run(&words, &dump()).status.code(), Some(2));
    for words in [&["top", "--suspects"][..], &["info", "--verdict"]] {
        let words = [words, &["--format", "json", "--rules", &rules]].concat();
        let found: Json = serde_json::from_slice(&run(&words, &dump()).stdout).unwrap();
        let rule = found["suspects"][0].get("rule").unwrap_or(&found["rule"]);
        let expected = serde_json::json!({
            "id": "layouts-kept", "title": "layouts are kept", "meaning": "KEEP has no limit.",
            "advice": "Clear it.", "fault": "own", "versions": null,
            "source": "https://example.test/layouts"
        });
        assert_eq!(*rule, expected, "{words:?}");
        let none: Json =
            serde_json::from_slice(&run(&words[..words.len() - 2], &dump()).stdout).unwrap();
        let rule = none["suspects"][0].get("rule").unwrap_or(&none["rule"]);
        assert_eq!(*rule, Json::Null, "{words:?}");
    }
}

#[test]
fn a_rule_of_a_team_comes_before_those_of_dumptool_and_replaces_the_one_with_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let list = "{ kind = ['collection'], min_count = 2 }";
    let own = TEAM.replace("layouts-kept", "java-unbounded-map");
    let own = own.split("when = ").next().unwrap().to_owned() + &format!("when = [{list}]\n");
    let rules = team(&folder, &own);
    for options in [&["--no-rules"][..], &[]] {
        let words = [&["top", "--suspects", "--rules", &rules], options].concat();
        let output = text(&run(&words, &dump()).stdout);
        assert!(output.contains("known: layouts are kept"), "{output}");
    }
}

#[test]
fn a_broken_file_of_rules_ends_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let rules = team(&folder, &TEAM.replace("advice", "advise"));
    for command in ["top --suspects", "info --verdict", "check --none-suspect 10%", "report -o -"] {
        let words: Vec<&str> = command.split(' ').chain(["--rules", &rules]).collect();
        let output = run(&words, &dump());
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {error}");
        assert!(error.contains("team.toml: line 5, column 1: unknown field `advise`"), "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn rules_are_refused_where_nothing_is_recognized() {
    let (heap, profile) = (dump(), fixture("folded/edge.folded"));
    for (words, file) in [
        (&["top", "--no-rules"][..], &heap),
        (&["info", "--no-rules"], &heap),
        (&["check", "--no-rules"], &heap),
        (&["report", "-o", "-", "--no-rules"], &profile),
        (&["info", "--verdict", "--no-rules"], &profile),
        (&["top", "--suspects", "--no-rules"], &profile),
    ] {
        let output = run(words, file);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains("--no-rules"), "{words:?}");
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn leaks_of_the_corpus_are_recognized() {
    let folder = crate::support::corpus_folder("suspects");
    for (name, expected) in [
        ("zoo_none.hprof", None),
        ("zoo_none.heapsnapshot", None),
        ("zoo_none.heapdump", None),
        ("zoo_two-holders.hprof", None),
        ("zoo_channel.heapdump", None),
        ("zoo_direct.hprof", Some("java-direct-buffers")),
        ("zoo_finalizers.hprof", Some("java-finalizer-backlog")),
        ("zoo_loaders.hprof", Some("java-class-loader")),
        ("zoo_queue.hprof", Some("java-executor-queue")),
        ("zoo_static-map.hprof", Some("java-unbounded-map")),
        ("zoo_threadlocals.hprof", Some("java-thread-local")),
        ("zoo_closures.heapsnapshot", Some("node-closures")),
        ("zoo_emitter.heapsnapshot", Some("node-event-listeners")),
        ("zoo_slices.heapsnapshot", Some("node-sliced-strings")),
        ("zoo_timers.heapsnapshot", Some("node-timers")),
        ("zoo_goroutines.heapdump", Some("go-blocked-send")),
        ("zoo_tickers.heapdump", Some("go-timers")),
    ] {
        let exe = folder.join("zoo_go.exe.zst");
        let mut words = vec!["top", "--suspects", "--format", "json"];
        if name.ends_with(".heapdump") {
            words.extend(["--exe", exe.to_str().unwrap()]);
        }
        let output = run(&words, &folder.join(format!("{name}.zst")));
        let found: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["suspects"][0]["rule"]["id"].as_str(), expected, "{name}");
    }
}
