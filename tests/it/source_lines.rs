//! `source`: the source of functions with the values of their lines.

use crate::support::fixture;
use crate::support::mojo::Mojo;
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn source(args: &[&str], file: &Path, function: &str) -> (String, String) {
    let mut command = Command::cargo_bin("dumptool").unwrap();
    let output = command.arg("source").arg(file).arg(function).args(args).assert().code(0);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.get_output().stdout), text(&output.get_output().stderr))
}

#[test]
fn lines_have_their_values_and_other_versions_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut mojo = Mojo::new(3);
    mojo.metadata("mode", "wall").string(5, "/home/me/app/lib/a.py").string(6, "slow");
    mojo.frame(7, 5, 6, 2).frame(8, 5, 6, 3);
    mojo.stack(1, 0, "t").frame_ref(7).time(150);
    mojo.stack(1, 0, "t").frame_ref(7).frame_ref(8).time(50);
    let profile = folder.path().join("p.mojo");
    std::fs::write(&profile, &mojo.0).unwrap();
    let dir = folder.path().to_str().unwrap();
    let (text, warning) = source(&[], &profile, "slow");
    assert!(text.starts_with("slow in /home/me/app/lib/a.py: self 200 µs"), "{text}");
    assert!(warning.contains("no source of slow"), "{warning}");

    let path = folder.path().join("lib/a.py");
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    std::fs::write(&path, "def slow():\n\tone()\n\ttwo()\n").unwrap();
    let at = |seconds| {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    at(1_000_000_000);
    let (text, warning) = source(&["--source", dir], &profile, "slow");
    assert!(!warning.contains("version"), "{warning}");
    let lines: Vec<Vec<_>> =
        text.lines().skip(2).take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], [".", ".", "1", "def", "slow():"]);
    assert_eq!(lines[1].join(" "), "150 µs 200 µs 2 one()");
    assert_eq!(lines[2].join(" "), "50 µs 50 µs 3 two()");
    at(4_000_000_000);
    let (_, warning) = source(&["--source", dir], &profile, "slow");
    assert!(warning.contains("may be a newer version than the one profiled"), "{warning}");
    std::fs::write(&path, "def slow():\n\tone()\n").unwrap();
    let (_, warning) = source(&["--source", dir], &profile, "slow");
    assert!(!warning.contains("version"), "{warning}");
    assert!(warning.contains("that were inlined: it has 2 lines"), "{warning}");
    std::fs::write(&path, "def slow():\n").unwrap();
    let (_, warning) = source(&["--source", dir], &profile, "slow");
    assert!(warning.contains("it has 1 line, slow has samples in line 3"), "{warning}");
}

#[test]
fn source_maps_have_the_sources_of_bundles() {
    let maps = fixture("names");
    let args = ["--format", "json", "--source-maps", maps.to_str().unwrap()];
    let (text, _) = source(&args, &fixture("names/app.min.cpuprofile"), "*sortNumbers*");
    let document: Value = serde_json::from_str(&text).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let with_text: Vec<_> = rows.iter().filter_map(|row| row["text"].as_str()).collect();
    assert!(with_text.iter().any(|text| text.contains("sortNumbers")), "{text}");
}

#[test]
fn a_trace_of_chrome_holds_the_texts_of_its_scripts() {
    let (text, warning) = source(&[], &fixture("chrome-trace/sources.json.gz"), "busy");
    assert!(warning.is_empty(), "{warning}");
    // The lines of the samples, as a script counts them in the trace.
    let hot = text.lines().find(|line| line.ends_with("  return list.sort()[0];")).unwrap();
    let hot: Vec<_> = hot.split_whitespace().collect();
    assert_eq!(hot[..5], ["248.6", "ms", "248.6", "ms", "7"], "{text}");
    // Nothing says where the scripts in a page begin.
    let (_, warning) = source(&[], &fixture("chrome-trace/sources.json.gz"), "warm");
    assert!(warning.contains("no source of warm"), "{warning}");
}

#[test]
fn pieces_of_a_script_and_scripts_in_a_page_have_their_lines() {
    let trace = r#"{"traceEvents":[
{"name":"Profile","ph":"P","id":"0x1","pid":1,"tid":1,"ts":0,"args":{"data":{"startTime":0}}},
{"name":"ProfileChunk","ph":"P","id":"0x1","pid":1,"tid":2,"ts":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"inner","url":"http://h/page","lineNumber":11}}],"samples":[2,2]},"timeDeltas":[5,5]}}},
{"name":"ScriptCatchup","cat":"disabled-by-default-devtools.v8-source-rundown","ph":"X","pid":1,"tid":1,"ts":1,"args":{"data":{"isolate":"7","scriptId":3,"url":"http://h/page","startLine":10}}},
{"name":"LargeScriptCatchup","cat":"disabled-by-default-devtools.v8-source-rundown-sources","ph":"X","pid":1,"tid":1,"ts":3,"args":{"data":{"isolate":"7","scriptId":3,"splitIndex":1,"splitCount":2,"sourceText":"() {\n}\n"}}},
{"name":"LargeScriptCatchup","cat":"disabled-by-default-devtools.v8-source-rundown-sources","ph":"X","pid":1,"tid":1,"ts":2,"args":{"data":{"isolate":"7","scriptId":3,"splitIndex":0,"splitCount":2,"sourceText":"\nfunction inner"}}}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    std::fs::write(&file, trace).unwrap();
    let (text, _) = source(&["-C", "0"], &file, "inner");
    assert!(text.contains("12  function inner() {"), "{text}");
    // Half of a script is no script.
    std::fs::write(&file, trace.replace(r#""splitIndex":0"#, r#""splitIndex":1"#)).unwrap();
    let (_, warning) = source(&[], &file, "inner");
    assert!(warning.contains("no source of inner"), "{warning}");
}

#[test]
fn a_profile_of_the_firefox_profiler_holds_sources() {
    let profile = r#"{"meta":{"interval":1,"preprocessedProfileVersion":62,"categories":[]},
"shared":{"stringArray":["http://h/page","inner"],
 "stackTable":{"length":1,"prefix":[null],"frame":[0]},
 "frameTable":{"length":1,"func":[0],"line":[12]},
 "funcTable":{"length":1,"name":[1],"source":[0]},
 "sources":{"length":1,"id":[null],"filename":[0],"startLine":[11],"startColumn":[9],"content":["\nfunction inner() {\n}\n"]}},
"threads":[{"name":"GeckoMain","pid":"1","tid":1,"samples":{"length":1,"stack":[0],"time":[1]}}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    std::fs::write(&file, profile).unwrap();
    let (text, warning) = source(&["-C", "0"], &file, "inner");
    assert!(text.contains("12  function inner() {"), "{text} {warning}");
}

#[test]
fn samples_of_v8_are_in_the_lines_of_their_ticks() {
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},
{"id":2,"callFrame":{"functionName":"f","url":"file:///a.js","lineNumber":4,"columnNumber":2},"hitCount":4,
 "positionTicks":[{"line":6,"ticks":1},{"line":8,"ticks":2}]}],
"startTime":0,"endTime":40,"samples":[2,2,2,2],"timeDeltas":[0,10,10,10]}"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.cpuprofile");
    std::fs::write(&file, profile).unwrap();
    let (text, _) = source(&["--format", "json"], &file, "f");
    let document: Value = serde_json::from_str(&text).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let lines: Vec<_> = rows.iter().map(|row| [&row["line"], &row["self"]]).collect();
    // What has no line of its own is in the first line of the function.
    assert_eq!(serde_json::json!(lines), serde_json::json!([[5, 10], [6, 10], [8, 20]]));
}
