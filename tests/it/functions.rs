//! The commands on profiles, on recordings that others have at hand: small functions, files in
//! other places, limits for each function.

use crate::support;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

fn dumptool(args: &[&str], files: &[&PathBuf]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(args).args(files).output().unwrap()
}

fn text(args: &[&str], files: &[&PathBuf]) -> String {
    let output = dumptool(args, files);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str], files: &[&PathBuf]) -> Value {
    let args = [args, &["--format", "json"]].concat();
    serde_json::from_slice(&dumptool(&args, files).stdout).unwrap()
}

/// It was "called by nothing", and its own time was lost.
#[test]
fn a_function_below_the_least_share_has_callers_and_its_own_cost() {
    let folder = Folder::new();
    let file = folder
        .write("a.folded", "main;run;load 3\nmain;run;load;read 2\nother;load 1\nmain 9994\n");
    let shown = text(&["tree", "--focus", "load", "--min-share", "20%"], &[&file]);
    let expected = "\
called by
TOTAL    SHARE  SELF  CALLS
    5    0.1 %        ├ run → main
    …                   └ 1 smaller, 1
calls
TOTAL    SHARE  SELF  CALLS
    6    0.1 %     4  load
    2    0.0 %     2  └ read
load: 0.1 % of 10 000 samples · 3 of 4 samples
";
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert!(words(&shown).contains(&"smaller,".to_owned()), "{shown}");
    for line in expected.lines().filter(|line| line.contains("load") || line.contains("run")) {
        let wanted = words(line);
        assert!(shown.lines().any(|line| words(line) == wanted), "no {line} in\n{shown}");
    }
    let narrow = text(&["tree", "--focus", "load", "--depth", "0", "-n", "1"], &[&file]);
    assert!(narrow.lines().any(|line| words(line) == words("6 0.1 % 4 load")), "{narrow}");
    assert!(narrow.contains("2 smaller, 6"), "what is not shown is said:\n{narrow}");
}

/// The share was one of all samples in the one, and of gained bytes in the other.
#[test]
fn info_and_top_agree_on_the_hottest_function() {
    for name in ["mojo/tiny-3.6.0-memory-mem.mojo", "mojo/tiny-3.5.0-full-thr.mojo"] {
        let file = support::fixture(name);
        let hottest = json(&["info"], &[&file])["profile"]["hottest"].clone();
        let top = json(&["top", "-n", "0"], &[&file]);
        let rows = top["rows"].as_array().unwrap();
        let named = |row: &&Value| row["name"] == hottest["name"];
        let row = rows.iter().find(named).unwrap();
        let gained = json(&["top", "--metric", "memory-gained"], &[&file]);
        let memory = top["metric"] == "memory";
        let whole = if memory { &gained["total"]["value"] } else { &top["total"]["value"] };
        let share = row["self"].as_f64().unwrap() / whole.as_f64().unwrap();
        assert!((hottest["share"].as_f64().unwrap() - share).abs() < 1e-9, "{name}: {hottest}");
        let most = rows.iter().filter_map(|row| row["self"].as_i64()).max();
        assert_eq!(most, row["self"].as_i64(), "{name}");
    }
}

/// Everything was new or gone.
#[test]
fn checkouts_in_other_folders_are_matched_and_it_is_said() {
    let folder = Folder::new();
    let recording = |name: &str, root: &str, time: u64| {
        let text = format!(
            "P1;T1;{root}/app.py:main:1;{root}/db/scan.py:scan:7 {time}\nP1;T1;{root}/app.py:main:2 10\n"
        );
        folder.write(name, &text)
    };
    let old = recording("old.austin", "/home/ann/shop", 100);
    let new = recording("new.austin", "/build/42/shop", 300);
    let document = json(&["diff"], &[&old, &new]);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(
        (rows.len(), &rows[0]["name"], &rows[0]["delta"]["self"]),
        (2, &"scan".into(), &200.into())
    );
    assert_eq!(rows[0]["namespace"], "/build/42/shop/db/scan.py");
    assert_eq!(rows[1]["delta"]["self"], 0, "main is in both");
    let slower =
        "+200 µs (+181.8 %): scan (scan.py) +200 µs (100 µs → 300 µs), called by main (app.py)";
    assert_eq!(document["verdict"], slower);
    assert!(String::from_utf8(dumptool(&["diff"], &[&old, &new]).stdout).unwrap().contains(slower));
    let moved = serde_json::json!([{"old": "/home/ann", "new": "/build/42", "files": 2}]);
    assert_eq!(document["moved"], moved);
    let said = String::from_utf8(dumptool(&["diff"], &[&old, &new]).stderr).unwrap();
    assert!(
        said.contains("2 files of /home/ann matched with /build/42")
            && said.contains("--trim-path"),
        "{said}"
    );
    let drawn = folder.0.path().join("out.svg");
    let output = dumptool(&["convert"], &[&new, &drawn, &PathBuf::from("--base"), &old]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("2 files of /home/ann matched with /build/42 (a guess)"), "{said}");
    let drawn = fs::read_to_string(drawn).unwrap();
    assert!(!drawn.contains("/home/ann"), "functions are compared with themselves");
    for by in ["function", "file", "line"] {
        let prefixes = ["--trim-path", "/home/ann/shop", "--trim-path", "/build/42/shop/"];
        let args = [&["diff", "--by", by][..], &prefixes].concat();
        let document = json(&args, &[&old, &new]);
        let row = &document["rows"][0];
        assert_eq!(
            (&row["delta"]["self"], &document["moved"]),
            (&200.into(), &serde_json::json!([])),
            "{by}"
        );
        let path = if by == "file" { &row["name"] } else { &row["namespace"] };
        assert_eq!(path, "db/scan.py", "{by}");
        let guessed = json(&["diff", "--by", by], &[&old, &new]);
        assert_eq!(guessed["rows"][0]["delta"]["self"], 200, "{by}");
    }
    let heap = support::fixture("go/go13.heapdump");
    let refused = dumptool(&["diff", "--trim-path", "/a"], &[&heap, &heap]);
    assert_eq!(refused.status.code(), Some(2), "heaps have no files");
}

/// The names of lambdas contain an address and numbers that differ from run to run: everything below
/// them was new or gone.
#[test]
fn lambdas_of_two_runs_of_java_are_compared() {
    let folder = Folder::new();
    let recording = |name: &str, class: &str, time: u64| {
        let text = format!("Thread.run;a.B$$Lambda{class}.run;a.B.work {time}\nThread.run 5\n");
        folder.write(name, &text)
    };
    for (old, new) in [
        ("$89+0x00007f3980008800.1616974404", "$90+0x00007f7c00007c68.846947180"),
        (".0x000000008b046000", ".0x000000003c048000"),
    ] {
        let (old, new) = (recording("old.folded", old, 20), recording("new.folded", new, 50));
        let document = json(&["diff", "-n", "0"], &[&old, &new]);
        let rows = document["rows"].as_array().unwrap();
        let totals: Vec<_> = rows
            .iter()
            .map(|row| (row["name"].as_str().unwrap(), &row["delta"]["total"]))
            .map(|(name, total)| (name, total.as_i64().unwrap()))
            .collect();
        assert_eq!(totals, [("a.B.work", 30), ("Thread.run", 30), ("a.B$$Lambda.run", 30)]);
        let drawn = folder.0.path().join("out.svg");
        dumptool(&["convert"], &[&new, &drawn, &PathBuf::from("--base"), &old]);
        assert!(!fs::read_to_string(drawn).unwrap().contains("0x0000"));
        let grown = json(&["growth", "-n", "0"], &[&old, &new]);
        assert!(!grown.to_string().contains("0x0000"), "{grown}");
        let one = json(&["top", "-n", "0"], &[&old]).to_string();
        assert!(one.contains("0x0000"), "names of a single recording are those of the JVM");
    }
}

/// Rows in which only another value changed were rows of zeros.
#[test]
fn only_changes_of_the_metric_are_rows() {
    let [old, new] =
        ["plain.pb", "negative.pb.gz"].map(|name| support::fixture(&format!("pprof/synth-{name}")));
    for metric in ["wall", "alloc_space", "alloc_objects"] {
        let rows = json(&["diff", "-n", "0", "--metric", metric], &[&old, &new])["rows"].clone();
        let delta = |row: &Value| {
            ["self", "total"].map(|key| row["delta"][key].as_i64().unwrap().unsigned_abs())
        };
        let deltas: Vec<_> = rows.as_array().unwrap().iter().map(delta).collect();
        assert!(deltas.iter().all(|delta| *delta != [0, 0]), "{metric}: {deltas:?}");
        assert!(deltas.is_sorted_by(|a, b| a >= b), "{metric}: {deltas:?}");
    }
}

#[test]
fn growth_and_check_compare_shares() {
    let folder = Folder::new();
    let short = folder.write("short.folded", "main;a 30\nmain;b 70\n");
    let long = folder.write("long.folded", "main;a 80\nmain;b 120\n");
    let growth = json(&["growth", "--normalize"], &[&short, &long]);
    let values = |name: &str| {
        let rows = growth["rows"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap()["values"].clone()
    };
    assert_eq!(
        (values("a"), values("b")),
        (serde_json::json!([60, 80]), serde_json::json!([140, 120]))
    );
    let check = |rules: &[&str]| {
        let args = [&["check", "--against", short.to_str().unwrap()], rules].concat();
        let output = dumptool(&args, &[&long]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, said) = check(&["--max-growth", "a.self=50%"]);
    assert!(status == Some(1) && said.contains("30 → 80"), "{said}");
    let (status, said) = check(&["--max-growth", "a.self=50%", "--normalize", "-v"]);
    assert!(status == Some(0) && said.contains("grew by 33.3 %: 60 → 80"), "{said}");
    let (status, said) = check(&["--max-growth", "a.share=20%"]);
    assert!(status == Some(1) && said.contains("60 → 80"), "{said}");
    let heap = support::fixture("go/go13.heapdump");
    for command in [
        &["growth", "--normalize"][..],
        &[
            "check",
            "--max-growth",
            "*.count=1%",
            "--normalize",
            "--against",
            heap.to_str().unwrap(),
        ],
    ] {
        assert_eq!(dumptool(command, &[&heap, &heap]).status.code(), Some(2), "{command:?}");
    }
}

#[test]
fn limits_hold_for_shares_and_for_each_function() {
    let folder = Folder::new();
    let file = folder.write("a.folded", "main;a 30\nmain;b 50\nmain;b;c 20\n");
    let check = |rules: &[&str]| {
        let output = dumptool(&[&["check", "-v"], rules].concat(), &[&file]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, said) = check(&["--max", "b.share=60%"]);
    assert!(status == Some(1) && said.contains("b.share = 70.0 % (70), limit 60.0 %"), "{said}");
    assert_eq!(check(&["--max", "b.share=70%"]).0, Some(0));
    assert_eq!(check(&["--max", "b.share=70"]).0, Some(2), "a share is a percentage");
    let (status, said) = check(&["--max-each", "*.self=25"]);
    assert!(
        status == Some(1) && said.contains("self of b = 50, limit 25 (1 more above it: a)"),
        "{said}"
    );
    assert!(said.contains("main → b"), "the largest one is explained: {said}");
    assert_eq!(check(&["--max-each", "*.self=50"]).0, Some(0), "although all together have 100");
    let (_, said) = check(&["--max-each", "nothing.self=5"]);
    assert!(said.contains("no function matches"), "{said}");
    let heap = support::fixture("go/go13.heapdump");
    let each = json(&["check", "--max-each", "*.count=1"], &[&heap]);
    let finding = &each["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["ok"]),
        (&"max_each".into(), &false.into()),
        "{finding}"
    );
    let largest = json(&["top", "--sort", "count", "-n", "1"], &[&heap]);
    assert_eq!(finding["actual"], largest["rows"][0]["count"], "{finding}");
}

#[test]
fn growth_names_files_where_functions_repeat() {
    let folder = Folder::new();
    let write = |name: &str, last: &str| {
        folder.write(name, &format!("P1;T1;/a/x.py:f:1 10\nP1;T1;{last}:f:1 20\n"))
    };
    let (one, two) = (write("1.austin", "/a/y.py"), write("2.austin", "/a/y.py"));
    let shown = text(&["growth"], &[&one, &two]);
    assert!(shown.contains("FILE") && shown.contains("x.py") && shown.contains("y.py"), "{shown}");
    let (one, two) = (write("1.austin", "/a/x.py"), write("2.austin", "/a/x.py"));
    assert!(!text(&["growth"], &[&one, &two]).contains("FILE"));
}

/// The page of a profile had no first sentence, and in that of two checkouts all was new or gone.
#[test]
fn a_page_begins_with_the_hottest_function_or_what_became_slower() {
    let folder = Folder::new();
    let recording = |name: &str, root: &str, time: u64| {
        let text = format!("P1;T1;{root}/app.py:main:1;{root}/scan.py:scan:7 {time}\n");
        folder.write(name, &text)
    };
    let old = recording("old.austin", "/home/ann/shop", 100);
    let new = recording("new.austin", "/build/42/shop", 300);
    let page = |files: &[&PathBuf]| {
        let output = dumptool(&["report", "-q", "-o", "-"], files);
        String::from_utf8(output.stdout).unwrap()
    };
    let one = page(&[&old]);
    assert!(one.contains("scan (scan.py) by itself, called by main (app.py)"));
    assert!(one.contains(r#""path":["main (app.py)","scan (scan.py)"]"#));
    let two = page(&[&old, &new]);
    assert!(two.contains("scan (scan.py) +200 µs (100 µs → 300 µs), called by main (app.py)"));
    assert!(
        two.contains("It seems that /home/ann is /build/42 in the newer profile; 2 files matched.")
    );
    assert!(!two.contains("/home/ann/shop/scan.py"), "the older file is not in the tree");
}
