//! Names of dumps are data: they control no terminal, are no markup, and run in no spreadsheet.

use crate::support::{dart::Snapshot, fixture, mojo::Mojo};
use assert_cmd::Command;
use comrak::{Arena, Options, nodes::NodeValue};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn dumptool() -> Command {
    let mut command = Command::cargo_bin("dumptool").unwrap();
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("GITHUB_STEP_SUMMARY");
    command
}

/// Both streams of a run.
fn output(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("names");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A profile whose thread, function and file have these names.
fn profile(thread: &str, function: &str, source: &str) -> Vec<u8> {
    let mut mojo = Mojo::new(3);
    mojo.metadata("mode", "wall").string(5, source).string(6, function).frame(7, 5, 6, 1);
    mojo.stack(1, 0, thread).frame_ref(7).time(100);
    mojo.stack(1, 0, thread).frame_ref(7).frame_ref(7).time(50);
    mojo.0
}

/// A heap with one object of a type of this name, in a library of this name, over a field of this
/// name.
fn heap(name: &str) -> Vec<u8> {
    let snapshot = Snapshot::modern().class(name, name, &[(0, name)]);
    snapshot.object(1, 0, [0], &[2]).object(4, 4000, [0], &[3]).object(4, 40, [0], &[]).bytes()
}

/// Colours of others, an end of a line, a bell, and what turns text around.
const CONTROLS: &str = "a\u{1b}[31mb\nc\u{7}d\u{202e}e\u{2066}f\u{9b}g\u{2028}h";

/// What is left of a text without the colours of the program itself.
fn without_own_colors(text: &str) -> String {
    [
        "\u{1b}[0m",
        "\u{1b}[1m",
        "\u{1b}[2m",
        "\u{1b}[1m\u{1b}[31m",
        "\u{1b}[1m\u{1b}[33m",
        "\u{1b}[1m\u{1b}[32m",
    ]
    .iter()
    .rev()
    .fold(text.to_owned(), |text, color| text.replace(color, ""))
}

fn assert_no_controls(args: &[&str], text: &str) {
    let plain = without_own_colors(text);
    let bad = plain.chars().find(|c| {
        c.is_control() && *c != '\n' || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    });
    assert_eq!(bad, None, "{args:?}: {plain:?}");
    assert!(!plain.contains("b\nc"), "{args:?}: {plain:?}");
}

#[test]
fn names_control_no_terminal() {
    let profile = file("controls.mojo", &profile(CONTROLS, CONTROLS, CONTROLS));
    let heap = file("controls.dartheap", &heap(CONTROLS));
    let of_profiles: &[&[&str]] = &[
        &["info"],
        &["cat"],
        &["top"],
        &["top", "--by", "thread"],
        &["top", "--by", "file"],
        &["top", "--by", "line", "-v"],
        &["top", "--thread", "nobody"],
        &["tree"],
        &["tree", "--focus", "*a*"],
        &["tree", "--focus", "a"],
        &["find"],
        &["check", "-v"],
        &["check", "--max", "*.total=1us"],
    ];
    let of_heaps: &[&[&str]] = &[
        &["info"],
        &["cat"],
        &["top"],
        &["top", "--by", "namespace"],
        &["top", "--by", "root"],
        &["top", "--quick"],
        &["top", "--suspects"],
        &["tree"],
        &["find"],
        &["show", "#2"],
        &["path", "#3"],
        &["path", "--type", "*a*"],
        &["path", "--type", "b"],
        &["path", "#99"],
        &["check", "-v"],
        &["check", "--max", "*.count=0"],
    ];
    for (path, commands) in [(&profile, of_profiles), (&heap, of_heaps)] {
        for args in commands {
            for format in ["table", "markdown"] {
                let (out, err) = output(
                    dumptool()
                        .args(*args)
                        .args(["--color", "always", "--format", format])
                        .arg(path),
                );
                assert!(!out.is_empty() || !err.is_empty(), "{args:?}");
                assert_no_controls(args, &out);
                assert_no_controls(args, &err);
            }
        }
        for other in [&profile, &heap] {
            let (out, err) =
                output(dumptool().args(["diff", "--color", "always"]).arg(path).arg(other));
            assert_no_controls(&["diff"], &out);
            assert_no_controls(&["diff"], &err);
        }
    }
    let (out, err) =
        output(dumptool().args(["info", "--color", "always", &format!("no-such-{CONTROLS}")]));
    assert_no_controls(&["info"], &(out + &err));
}

#[test]
fn long_names_are_cut_for_people_and_whole_for_programs() {
    let long = "long".repeat(1000);
    let path = file("long.mojo", &profile("t", &long, "a.py"));
    let (text, _) = output(dumptool().arg("top").arg(&path));
    assert!(text.contains("long… (4 000 characters)") && !text.contains(&long), "{text}");
    let (json, _) = output(dumptool().args(["top", "--format", "json"]).arg(&path));
    assert!(json.contains(&long));
}

/// The cells of the tables of a document, row by row, without the headings; and what no cell may
/// have.
fn cells(markdown: &str) -> Vec<Vec<String>> {
    let arena = Arena::new();
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    let root = comrak::parse_document(&arena, markdown, &options);
    let mut rows = Vec::new();
    for node in root.descendants() {
        match &node.data.borrow().value {
            NodeValue::TableRow(false) => rows.push(Vec::new()),
            NodeValue::TableCell if !rows.is_empty() => {
                rows.last_mut().unwrap().push(String::new())
            }
            NodeValue::Text(text) => {
                if let Some(cell) = rows.last_mut().and_then(|row: &mut Vec<String>| row.last_mut())
                {
                    cell.push_str(text);
                }
            }
            NodeValue::Code(code) => {
                if let Some(cell) = rows.last_mut().and_then(|row: &mut Vec<String>| row.last_mut())
                {
                    cell.push_str(&code.literal);
                }
            }
            NodeValue::Link(_)
            | NodeValue::Image(_)
            | NodeValue::HtmlInline(_)
            | NodeValue::HtmlBlock(_) => {
                panic!("markup from a name: {markdown}")
            }
            NodeValue::Emph | NodeValue::Strong | NodeValue::Strikethrough => {
                panic!("markup from a name: {markdown}")
            }
            _ => {}
        }
    }
    rows
}

const MARKUP: [&str; 14] = [
    "a|b",
    r"a\|b",
    r"a\",
    "`code`",
    "a``b`",
    "*bold* _em_ ~~gone~~",
    "<script>alert(1)</script>",
    "<!-- -->&amp;",
    "[text](https://evil.example)",
    "![image](x.png)",
    "https://evil.example www.evil.example",
    "@somebody me@evil.example #1",
    "| --- | --- |",
    "$x^2$ :tada:",
];

#[test]
fn names_are_no_markup() {
    for name in MARKUP {
        let path = file("markup.mojo", &profile(name, name, name));
        let (markdown, _) = output(dumptool().args(["top", "--format", "markdown"]).arg(&path));
        let rows = cells(&markdown);
        assert_eq!(rows[0][4], name, "{markdown}");
        assert_eq!(rows[0].len(), 6, "{markdown}");
        for args in [&["find"][..], &["tree"], &["top", "--by", "thread"]] {
            let (markdown, _) =
                output(dumptool().args(args).args(["--format", "markdown"]).arg(&path));
            assert!(
                cells(&markdown).iter().flatten().any(|cell| cell.contains(name)),
                "{args:?} {markdown}"
            );
        }
        let (markdown, _) = output(
            dumptool().args(["check", "--format", "github", "--max", "*.samples=0"]).arg(&path),
        );
        // An annotation is text.
        let table: Vec<_> = markdown.lines().filter(|line| !line.starts_with("::")).collect();
        cells(&table.join("\n"));
    }
}

#[test]
fn markdown_has_the_rows_of_every_command() {
    let dart = fixture("dart/tiny_derived_3.0.5.dartheap.zst");
    let mojo = fixture("mojo/tiny-3.4.1-full-gc-mem.mojo");
    let older = fixture("dart/tiny_derived_2.17.6.dartheap.zst");
    let (dart, mojo, older) =
        (dart.to_str().unwrap(), mojo.to_str().unwrap(), older.to_str().unwrap());
    for (args, key) in [
        (vec!["info", dart, mojo], None),
        (vec!["top", dart], Some("rows")),
        (vec!["top", mojo], Some("rows")),
        (vec!["top", "--suspects", dart], Some("suspects")),
        (vec!["tree", dart], Some("nodes")),
        (vec!["tree", mojo], Some("nodes")),
        (vec!["find", dart], Some("objects")),
        (vec!["find", mojo], Some("rows")),
        (vec!["diff", older, dart], Some("rows")),
        (vec!["diff", "--objects", older, dart], Some("rows")),
        (vec!["diff", mojo, mojo, "--metric", "samples"], Some("rows")),
        (vec!["path", "--type", "*List*", dart], Some("paths")),
        (vec!["path", dart, "#12"], None),
        (vec!["show", dart, "#12"], None),
        (vec!["check", dart], Some("findings")),
        (vec!["formats"], Some("formats")),
    ] {
        let (markdown, _) = output(dumptool().args(&args).args(["--format", "markdown"]));
        let rows = cells(&markdown);
        let Some(key) = key else {
            assert!(!rows.is_empty(), "{args:?} {markdown}");
            continue;
        };
        let (json, _) = output(dumptool().args(&args).args(["--format", "json"]));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(rows.len(), json[key].as_array().unwrap().len(), "{args:?} {markdown}");
        let name = |row: &Value| row["name"].as_str().map(str::to_owned);
        for row in
            json[key].as_array().unwrap().iter().filter_map(name).filter(|name| !name.is_empty())
        {
            assert!(
                rows.iter().flatten().any(|cell| cell.contains(&row)),
                "{args:?} {row} {markdown}"
            );
        }
    }
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let path = file("100%,a:b.mojo", &profile("t", "f%\nx", "a.py"));
    let summary = file("summary.md", b"before\n");
    let mut command = dumptool();
    command
        .args(["check", "--format", "github", "--max", "f%*.total=1us", "--max", "zero.samples=1"])
        .arg(&path);
    let output = command.env("GITHUB_STEP_SUMMARY", &summary).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let annotations: Vec<_> = text.lines().filter(|line| line.starts_with("::")).collect();
    let [annotation] = annotations[..] else { panic!("{text}") };
    let (property, message) = annotation
        .strip_prefix("::error file=a.py,line=1,title=")
        .unwrap()
        .split_once("::")
        .unwrap();
    assert!(
        property.ends_with("100%25%2Ca%3Ab.mojo") && !property.contains([',', ':']),
        "{annotation}"
    );
    assert!(message.starts_with("f%25*.total = 150 µs, limit 1 µs"), "{annotation}");
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(summary.starts_with("before\n"));
    assert_eq!(cells(&summary), cells(&text));
    assert_eq!(cells(&summary)[0][0], "FAIL");
    assert_eq!(cells(&summary)[1][0], "ok");
    dumptool().args(["top", "--format", "github"]).arg(&path).assert().code(2);
}

#[test]
fn spreadsheets_run_no_name() {
    for start in ["=", "+", "-", "@", "\t", "\r"] {
        let name = format!("{start}1+1");
        let path = file("formula.mojo", &profile(&name, &name, &name));
        let first = |args: &[&str]| {
            let (text, _) = output(dumptool().args(args).args(["--format", "csv"]).arg(&path));
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            reader.records().next().unwrap().unwrap().get(0).unwrap().to_owned()
        };
        assert_eq!(first(&["top"]), name);
        assert_eq!(first(&["top", "--csv-safe"]), format!("'{name}"));
        let converted = |args: &[&str]| {
            output(dumptool().arg("convert").arg(&path).args(["-", "--to", "csv"]).args(args)).0
        };
        let quoted = |text: &str| {
            [",", "\"", ";"].iter().any(|before| text.contains(&format!("{before}'{start}1+1")))
        };
        assert!(
            !quoted(&converted(&[])) && quoted(&converted(&["--csv-safe"])),
            "{}",
            converted(&["--csv-safe"])
        );
    }
    // Numbers are no text, negative ones neither.
    let (old, new) = (
        fixture("dart/tiny_derived_3.0.5.dartheap.zst"),
        fixture("dart/tiny_derived_2.17.6.dartheap.zst"),
    );
    let (safe, _) =
        output(dumptool().args(["diff", "--csv-safe", "--format", "csv"]).arg(&old).arg(&new));
    let (plain, _) = output(dumptool().args(["diff", "--format", "csv"]).arg(&old).arg(&new));
    assert_eq!(safe, plain);
    assert!(plain.contains(",-"), "{plain}");
}
