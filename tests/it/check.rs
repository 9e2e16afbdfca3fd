//! Rules of `check`: how results are written for other programs, counts, and repeated runs.

use crate::support::fixture;
use crate::support::mojo::Mojo;
use assert_cmd::Command;
use serde_json::Value;
use std::io::Write;
use tempfile::NamedTempFile;

fn check() -> Command {
    let mut command = Command::cargo_bin("dumptool").unwrap();
    command.arg("check").env_remove("GITHUB_STEP_SUMMARY");
    command
}

/// Standard output of a run with this status.
fn stdout(command: &mut Command, status: i32) -> String {
    String::from_utf8(command.assert().code(status).get_output().stdout.clone()).unwrap()
}

fn file(contents: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(contents).unwrap();
    file
}

/// 150 µs in a function of this name, on the first line of `src/a b.py`.
fn profile(function: &str) -> NamedTempFile {
    timed(function, 150)
}

/// A profile as [`profile`] makes it, with another time.
fn timed(function: &str, micros: u64) -> NamedTempFile {
    let mut mojo = Mojo::new(3);
    mojo.metadata("mode", "wall").string(5, "src/a b.py").string(6, function).frame(7, 5, 6, 1);
    mojo.stack(1, 0, "t").frame_ref(7).time(micros.into());
    file(&mojo.0)
}

#[test]
fn junit_has_a_case_for_each_rule_with_the_place_of_the_function() {
    let path = profile("f<\"&\u{1b}");
    let rules = ["--format", "junit", "--max", "f*.total=1us", "--max", "total.samples=9"];
    let text = stdout(check().args(rules).arg(path.path()), 1);
    let name = path.path().to_str().unwrap();
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"dumptool check\" tests=\"2\" failures=\"1\" errors=\"0\">
  <testsuite name=\"{name}\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0\">
    <testcase classname=\"{name}\" name=\"f*.total=1us\" time=\"0\" file=\"src/a b.py\" line=\"1\">
      <failure message=\"f*.total = 150 µs, limit 1 µs\" type=\"max\">mostly in P1;T0:t: f&lt;&quot;&amp;\\u{{1b}} (a b.py:1)</failure>
    </testcase>
    <testcase classname=\"{name}\" name=\"total.samples=9\" time=\"0\"/>
  </testsuite>
</testsuites>
"
    );
    assert_eq!(text, expected);
    let cut = fixture("mvmheap/tiny-nqp-cut-snap3.mvmheap");
    let text = stdout(check().args(["--format", "junit"]).arg(cut), 3);
    assert!(text.contains("failures=\"0\" errors=\"1\""), "{text}");
    assert!(text.contains("type=\"truncated\"/>"), "{text}");
}

#[test]
fn sarif_has_a_result_for_each_broken_rule_with_the_place_of_the_function() {
    let path = profile("f");
    let rules = ["--format", "sarif", "--max", "total.time=1us", "--max", "f.total=1us"];
    let text = stdout(check().args(rules).args(["--max", "f.samples=9"]).arg(path.path()), 1);
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["f.samples=9", "f.total=1us", "total.time=1us"]);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
    }
    let place = |result: usize| &results[result]["locations"][0]["physicalLocation"];
    assert_eq!(
        results[1]["message"]["text"],
        "f.total = 150 µs, limit 1 µs; mostly in P1;T0:t: f (a b.py:1)"
    );
    assert_eq!(place(1)["artifactLocation"]["uri"], "src/a%20b.py");
    assert_eq!(place(1)["region"]["startLine"], 1);
    // No function breaks a rule about the whole.
    assert!(place(0)["artifactLocation"]["uri"].as_str().unwrap().starts_with("file:///"));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn github_annotates_the_line_of_the_function() {
    let text = stdout(
        check().args(["--format", "github", "--max", "f.total=1us"]).arg(profile("f").path()),
        1,
    );
    assert!(text.starts_with("::error file=src/a b.py,line=1,title=dumptool check "), "{text}");
}

/// The findings about a file: whether each passed, and its message.
fn findings(args: &[&str], path: &std::path::Path, status: i32) -> Vec<(bool, String)> {
    let text = stdout(check().args(["--format", "json"]).args(args).arg(path), status);
    let document: Value = serde_json::from_str(&text).unwrap();
    let findings = document["findings"].as_array().unwrap().iter();
    let text = |finding: &Value| finding["message"].as_str().unwrap().to_owned();
    findings.map(|finding| (finding["ok"].as_bool().unwrap(), text(finding))).collect()
}

#[test]
fn goroutines_and_threads_have_limits() {
    let rules = [
        ["--max", "goroutines.count=16"],
        ["--max", "goroutines[main.wait*].count=2"],
        ["--max-each", "threads.count=2"],
        ["--none", "goroutines[main.gone]"],
    ];
    let go = fixture("go/tiny_go127.heapdump.zst");
    let found = findings(&rules.concat(), &go, 1);
    assert_eq!(found.iter().map(|(ok, _)| *ok).collect::<Vec<_>>(), [true, false, false, true]);
    assert!(found[1].1.contains("main.waitRecv ← main.main.gowrap1 3"), "{found:?}");
    assert!(found[2].1.starts_with("threads.count of main.waitRecv ← "), "{found:?}");
    let profile = fixture("pprof/go127-goroutine.pb.gz");
    let rules = ["--max", "goroutines[main.main.func3].count=6", "--max", "goroutines.count=8"];
    let found = findings(&rules, &profile, 1);
    assert!(found[0].1.starts_with("goroutines[main.main.func3].count = 7, limit 6"), "{found:?}");
    assert!(found[1].0, "{found:?}");
    let java = fixture("hprof/small_java17.hprof.zst");
    let found = findings(&["--max", "threads.count=0", "--max", "goroutines.count=0"], &java, 1);
    assert!(!found[0].0 && found[1].1.contains("no stack matches"), "{found:?}");
}

#[test]
fn repeated_runs_fail_only_beyond_their_noise() {
    let files = |times: &[u64]| times.iter().map(|time| timed("f", *time)).collect::<Vec<_>>();
    let run = |new: &[u64], old: &[u64], rule: &str, status| {
        let (new, old) = (files(new), files(old));
        let path = |file: &NamedTempFile| file.path().to_owned();
        let mut command = check();
        command.args(new.iter().map(path)).args(["--format", "json", "--max-growth", rule]);
        command.arg("--against").args(old.iter().map(path));
        let document: Value = serde_json::from_str(&stdout(&mut command, status)).unwrap();
        document["findings"][0].clone()
    };
    let found = run(&[120, 118, 124], &[100, 130, 104], "f.total=5%", 0);
    // The medians are 104 and 120, the limit 109, and half of the ranges 6 + 30 is 18.
    assert_eq!(found["runs"]["noise"], 18);
    assert_eq!((&found["limit"], &found["actual"]), (&109.into(), &120.into()));
    assert_eq!(found["runs"]["old"], serde_json::json!([100, 130, 104]));
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("104 µs → 120 µs, limit 5.0 %, noise 18 µs"), "{message}");
    let found = run(&[120, 118, 124], &[100, 101, 104], "f.total=5%", 1);
    assert_eq!(found["runs"]["noise"], 5);
    // One file each is compared without noise.
    assert!(run(&[120], &[100], "f.total=5%", 1)["runs"].is_null());
}

#[test]
fn documents_name_the_filters_that_are_on() {
    let folder = tempfile::tempdir().unwrap();
    let cpu = fixture("pprof/go127-cpu.pb.gz");
    let run = |args: &[&str], status| {
        let mut command = Command::cargo_bin("dumptool").unwrap();
        let command = command.current_dir(&folder).args(args).args(["--focus", "main.fib"]);
        stdout(command, status)
    };
    let cpu = cpu.to_str().unwrap();
    let check = run(&["check", cpu, "--max", "total.samples=99", "--format", "json"], 0);
    let convert = run(&["convert", cpu, "x.folded", "--format", "json"], 0);
    for text in [check, convert] {
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["filters"]["focus"], "main.fib", "{text}");
    }
    run(&["report", cpu, "-o", "x.html"], 0);
    let page = std::fs::read_to_string(folder.path().join("x.html")).unwrap();
    assert!(page.contains("\"filters\":{\"focus\":\"main.fib\""));
    assert!(page.contains("only a part of the profile is shown: --focus main.fib"));
    // One row about the whole file is not that of a part.
    run(&["convert", cpu, "x.csv", "--table", "dump"], 2);
}

#[test]
fn max_each_measures_each_type_by_itself_and_explains_with_an_object_of_it() {
    let java = fixture("hprof/small_java17.hprof.zst");
    let text = |args: &[&str], status| {
        let mut command = Command::cargo_bin("dumptool").unwrap();
        stdout(command.args(args).arg(&java), status)
    };
    let top: Value = serde_json::from_str(&text(&["top", "--format", "json"], 0)).unwrap();
    let (name, retained) = (&top["rows"][0]["name"], &top["rows"][0]["retained_bytes"]);
    let each = ["check", "--format", "json", "--max-each", "*.retained=100KiB"];
    let document: Value = serde_json::from_str(&text(&each, 1)).unwrap();
    assert_eq!(&document["findings"][0]["actual"], retained, "{document}");
    let text = text(&["check", "--max-each", "*.retained=231KiB"], 1);
    assert!(text.contains(&format!("{}.retained = ", name.as_str().unwrap())), "{text}");
    let object = text.split_once("largest: ").unwrap().1.split_once(',').unwrap().0;
    let mut show = Command::cargo_bin("dumptool").unwrap();
    let shown = stdout(show.args(["show", "--format", "json"]).arg(&java).arg(object), 0);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(&shown["object"]["type"], name, "{shown}");
}
