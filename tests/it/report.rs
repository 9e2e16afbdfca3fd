//! `report`: the page has what the other commands say, and nothing in it can do harm.

use crate::support::mojo::Mojo;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Whether one of several texts contains another one.
fn any_contains(texts: &Value, part: &str) -> bool {
    texts.as_array().unwrap().iter().any(|text| text.as_str().unwrap().contains(part))
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn dumptool(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(arguments).output().unwrap()
}

/// The page on standard output, and its data.
fn page(arguments: &[&str]) -> (String, Value) {
    let output = dumptool(&[&["report", "-o", "-"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).unwrap();
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data = serde_json::from_str(data).unwrap();
    (page, data)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_slice(&dumptool(&[arguments, &["--format", "json"]].concat()).stdout).unwrap()
}

/// The name in a column of names.
fn name<'v>(data: &'v Value, column: &Value, row: usize) -> &'v str {
    data["names"][column["values"][row].as_u64().unwrap() as usize].as_str().unwrap()
}

const HEAPS: [&str; 4] = [
    "go/tiny_go127.heapdump.zst",
    "hprof/small_java17.hprof.zst",
    "dart/tiny_derived_3.0.5.dartheap.zst",
    "mvmheap/tiny-nqp.mvmheap",
];

#[test]
fn a_page_about_a_heap_says_what_top_says() {
    for file in HEAPS.map(fixture) {
        let file = file.to_str().unwrap();
        let (_, data) = page(&[file]);
        let top = json(&["top", "-n", "1", file]);
        assert_eq!(data["schema"], "dumptool/report/1");
        let live = top["total"]["shallow_bytes"].as_u64().unwrap()
            + top["total"]["external_bytes"].as_u64().unwrap();
        assert_eq!(data["trees"][0]["total"][0], live, "{file}");
        let columns = &data["tables"][0]["columns"];
        assert_eq!(name(&data, &columns[0], 0), top["rows"][0]["name"], "{file}");
        assert_eq!(
            columns[columns.as_array().unwrap().len() - 1]["values"][0],
            top["rows"][0]["retained_bytes"],
            "{file}"
        );
        assert_tree(&data["trees"][0]);
        let suspects = json(&["top", "--suspects", file]);
        let suspect = |suspects: &Value| {
            suspects[0].as_object().map(|of| (of["bytes"].clone(), of["message"].clone()))
        };
        assert_eq!(suspect(&data["suspects"]), suspect(&suspects["suspects"]), "{file}");
    }
}

/// A line is never smaller than the lines below it together.
fn assert_tree(tree: &Value) {
    let column = |key: &str| {
        tree[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let (depth, total) = (column("depth"), column("total"));
    let mut left: Vec<u64> = Vec::new();
    for (at, &depth) in depth.iter().enumerate() {
        assert!(depth as usize <= left.len(), "line {at} stands below a line");
        left.truncate(depth as usize);
        if let Some(parent) = left.last_mut() {
            assert!(total[at] <= *parent, "line {at} has room in its parent");
            *parent -= total[at];
        }
        left.push(total[at]);
    }
}

/// The part of a page that stands without a script.
fn static_part(page: &str) -> &str {
    page.split_once("<main").unwrap().1.split_once("</main>").unwrap().0
}

/// The widths of the parts of the bar, in percent.
fn widths(page: &str) -> Vec<f64> {
    let bar = static_part(page).split_once("class=\"parts\"").unwrap().1;
    let bar = bar.split_once("</svg>\n<p").unwrap().0;
    let widths = bar.split(" width=\"").skip(1).step_by(2);
    widths.map(|rest| rest.split_once('%').unwrap().0.parse().unwrap()).collect()
}

#[test]
fn the_answer_stands_in_the_html() {
    let profile = "mojo/tiny-3.5.0-full-thr.mojo";
    for file in HEAPS.iter().copied().chain([profile]).map(fixture) {
        let file = file.to_str().unwrap();
        let (page, data) = page(&[file]);
        let html = static_part(&page);
        assert!(html.contains("<h1>") && html.contains("class=\"card\""), "{file}");
        assert!(!html.contains(" style=") && !html.contains(" onclick"), "the policy forbids them");
        assert!(html.split(" href=\"").skip(1).all(|link| link.starts_with("#/")), "{file}");
        let whole: f64 = widths(&page).iter().sum();
        assert!((whole - 100.0).abs() < 0.01, "{file}: each part is counted once: {whole} %");
        let first = name(&data, &data["tables"][0]["columns"][0], 0);
        let escaped = first.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(html.contains(&escaped), "{file}: {first}");
        let rows = html.split_once("<tbody>").unwrap().1.matches("<tr>").count();
        assert!((1..=20).contains(&rows), "{file}: {rows} rows");
        if let Some(suspect) = data["suspects"].get(0) {
            let [path, objects] =
                ["path", "objects"].map(|key| suspect[key].as_array().map(Vec::len));
            assert!(objects == path || objects == Some(0), "{file}: an id for each step");
            assert!(suspect["link"].as_str().unwrap().starts_with("#/"), "{file}");
        }
    }
}

#[test]
fn a_page_about_a_profile_says_what_top_says() {
    let file = fixture("mojo/tiny-3.5.0-full-thr.mojo");
    let file = file.to_str().unwrap();
    let (_, data) = page(&[file]);
    let top = json(&["top", "-n", "1", file]);
    assert_eq!(data["trees"][0]["total"][0], top["total"]["value"]);
    assert_eq!(
        data["trees"][1]["total"][0], top["total"]["value"],
        "callers are those of the whole profile"
    );
    data["trees"].as_array().unwrap().iter().for_each(assert_tree);
    assert_eq!(name(&data, &data["tables"][0]["columns"][0], 0), top["rows"][0]["name"]);
}

#[test]
fn two_dumps_show_what_grew() {
    let [old, new] = ["go/tiny_go119.heapdump.zst", "go/tiny_go127.heapdump.zst"].map(fixture);
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let (_, data) = page(&[old, new]);
    let diff = json(&["diff", "-n", "1", old, new]);
    let total = |key: &str| {
        diff[key]["shallow_bytes"].as_i64().unwrap() + diff[key]["external_bytes"].as_i64().unwrap()
    };
    assert_eq!(data["trees"][0]["now"][0], total("new_total"));
    assert_eq!(data["trees"][0]["delta"][0], total("new_total") - total("old_total"));
    assert_tree(&data["trees"][0]);
    assert_eq!(name(&data, &data["tables"][0]["columns"][0], 0), diff["rows"][0]["name"]);
    let (_, same) = page(&[old, old]);
    assert_eq!(same["tables"][0]["rows"], 0, "nothing changes by itself");
    let mojo = fixture("mojo/tiny-3.5.0-full-thr.mojo");
    let (_, same) = page(&[mojo.to_str().unwrap(), mojo.to_str().unwrap()]);
    assert!(same["trees"][0]["delta"].as_array().unwrap().iter().all(|delta| *delta == 0));
    let other = fixture("mojo/tiny-3.4.1-wall-gen.mojo");
    let (_, runs) = page(&[other.to_str().unwrap(), mojo.to_str().unwrap()]);
    let first = runs["trees"][0]["name"][1].as_u64().unwrap() as usize;
    let first = runs["names"][first].as_str().unwrap();
    assert!(!first.starts_with('P'), "{first}: two runs have different processes and threads");
    let refused = dumptool(&["report", old, mojo.to_str().unwrap(), "-o", "-"]);
    assert_eq!(refused.status.code(), Some(2), "a heap and a profile");
}

/// Keys and values of a document without those that are null, as a page has it.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(fields) => {
            let present = fields.iter().filter(|(_, value)| !value.is_null());
            present.map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        value => value.clone(),
    }
}

#[test]
fn a_page_describes_objects_as_show_does() {
    for file in HEAPS.map(fixture) {
        let file = file.to_str().unwrap();
        let (_, data) = page(&[file]);
        let objects = data["objects"].as_object().unwrap();
        assert!(objects.len() > 10, "{file}: {} objects", objects.len());
        let way = data["suspects"].as_array().unwrap().iter().flat_map(|suspect| {
            suspect["objects"].as_array().unwrap().iter().rev().take(5).filter(|id| *id != "")
        });
        for id in way {
            assert!(objects.contains_key(id.as_str().unwrap()), "{file}: {id}");
        }
        for (id, stored) in objects.iter().step_by(objects.len().div_ceil(6)) {
            let show = without_nulls(&json(&["show", "--entries", "12", file, id]));
            for key in ["object", "dominator", "fields", "elements", "entries"] {
                // Texts of more than 200 characters are cut.
                if !show[key].to_string().contains('…') && show[key].to_string().len() < 200 {
                    assert_eq!(stored[key], show[key], "{file} {id} {key}");
                }
            }
            assert_eq!(stored["object"], show["object"], "{file} {id}");
            let names = |of: &Value| -> Vec<Value> {
                let fields = of["fields"].as_array().unwrap();
                fields.iter().take(40).map(|field| field["name"].clone()).collect()
            };
            assert_eq!(names(stored), names(&show), "{file} {id}");
        }
    }
}

#[test]
fn a_page_marks_objects_that_the_older_dump_does_not_have() {
    let [old, new] = ["node20", "node24"]
        .map(|name| fixture(&format!("heapsnapshot/sessions-{name}-small.heapsnapshot.zst")));
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let (_, data) = page(&[old, new]);
    let objects = data["objects"].as_object().unwrap();
    let marked: Vec<_> = objects.iter().filter(|(_, stored)| stored["new"] == true).collect();
    assert!(!marked.is_empty());
    let is_in_old = |id: &str| dumptool(&["show", old, id]).status.success();
    for (id, _) in marked.iter().step_by(marked.len().div_ceil(5)) {
        assert!(!is_in_old(id), "{id} is in the older dump, too");
    }
    // The types that grew have some.
    let changed = table(&data, "Types that changed").unwrap();
    let rows = changed["columns"][0]["values"].as_array().unwrap().len();
    let rise = column(changed, "Shallow ±")["values"].as_array().unwrap();
    let most = (0..rows).max_by_key(|row| rise[*row].as_i64()).unwrap();
    let of = name(&data, &changed["columns"][0], most);
    assert!(objects.values().any(|stored| stored["object"]["type"] == of), "{of}");
    let (_, same) = page(&[new, new]);
    let objects = same["objects"].as_object().unwrap();
    assert!(!objects.is_empty());
    assert!(objects.values().all(|stored| stored["new"].is_null()));
}

/// The table with a title.
fn table<'v>(data: &'v Value, title: &str) -> Option<&'v Value> {
    data["tables"].as_array().unwrap().iter().find(|table| table["title"] == title)
}

/// The values of a column, by the titles of both.
fn column<'v>(table: &'v Value, title: &str) -> &'v Value {
    let mut columns = table["columns"].as_array().unwrap().iter();
    columns.find(|column| column["title"] == title).unwrap_or_else(|| panic!("no column {title}"))
}

#[test]
fn types_of_several_snapshots_are_those_of_top() {
    let file = fixture("mvmheap/tiny-nqp.mvmheap");
    let file = file.to_str().unwrap();
    let (_, data) = page(&[file]);
    let grown = table(&data, "Types over time").unwrap();
    let top = json(&["top", "--snapshot", "all", "-n", "50", file]);
    for (row, expected) in top["rows"].as_array().unwrap().iter().enumerate() {
        assert_eq!(name(&data, column(grown, "Name"), row), expected["name"], "{row}");
        let bytes = &expected["bytes"];
        assert_eq!(&column(grown, "First … last")["values"][row], bytes);
        assert_eq!(column(grown, "First")["values"][row], bytes[0]);
        assert_eq!(column(grown, "Last")["values"][row], bytes[3]);
        assert_eq!(column(grown, "Growth")["values"][row], expected["growth_bytes"]);
    }
    assert_eq!(column(grown, "Growth")["delta"], true);
    let (_, one) = page(&[file, "--snapshot", "1"]);
    assert!(table(&one, "Types over time").is_none(), "one snapshot was asked for");
    let (small, cut) = page(&[file, "--max-size", "100KiB"]);
    assert!(small.len() <= 100 << 10);
    let rows = |data| {
        column(table(data, "Types over time").unwrap(), "Name")["values"].as_array().unwrap().len()
    };
    assert!(0 < rows(&cut) && rows(&cut) < rows(&data), "{} and {}", rows(&cut), rows(&data));
}

#[test]
fn threads_have_names_and_equal_texts_their_text() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let file = file.to_str().unwrap();
    let (_, data) = page(&[file]);
    let threads = table(&data, "Threads by stack").unwrap();
    let count = column(threads, "Name")["values"].as_array().unwrap().len();
    assert!((0..count).any(|row| name(&data, column(threads, "Name"), row) == "main"));
    let waste = table(&data, "Waste").unwrap();
    let texts = (0..column(waste, "Text")["values"].as_array().unwrap().len())
        .filter(|row| name(&data, column(waste, "Kind"), *row) == "equal texts");
    let texts: Vec<&str> = texts.map(|row| name(&data, column(waste, "Text"), row)).collect();
    assert!(!texts.is_empty() && texts.iter().all(|text| text.starts_with('"')), "{texts:?}");
    let bytes = column(waste, "Bytes")["values"].as_array().unwrap();
    assert!(bytes.iter().all(|bytes| bytes.as_i64().unwrap() > 0), "nothing to save is no row");
    // A root is named once.
    let file = fixture("hprof/layout_java17_zgc.hprof.zst");
    let (_, data) = page(&[file.to_str().unwrap()]);
    let paths = data["suspects"].as_array().unwrap().iter().map(|suspect| &suspect["path"][0]);
    let roots: Vec<&str> = paths.filter_map(Value::as_str).collect();
    assert!(!roots.is_empty());
    assert!(roots.iter().all(|root| !root.starts_with("class system class")), "{roots:?}");
}

#[test]
fn of_several_files_the_first_and_the_last_are_compared() {
    for (files, title) in [
        (
            [
                "go/tiny_go119.heapdump.zst",
                "go/panic_go127.heapdump.zst",
                "go/tiny_go127.heapdump.zst",
            ],
            "Types over time",
        ),
        (
            [
                "mojo/tiny-3.5.0-full-thr.mojo",
                "mojo/tiny-3.4.1-full-gc-mem.mojo",
                "mojo/tiny-4.0.0-full-gc-mem.mojo",
            ],
            "Functions over time",
        ),
    ] {
        let files = files.map(|file| fixture(file).to_str().unwrap().to_owned());
        let files = [&*files[0], &files[1], &files[2], "--metric=time"];
        let files = if title.starts_with("Types") { &files[..3] } else { &files[..] };
        let (_, data) = page(files);
        let (_, ends) = page(&[&[files[0]], &files[2..]].concat());
        assert_eq!(data["trees"], ends["trees"]);
        let curve = &data["curves"][0];
        assert_eq!(curve["labels"].as_array().unwrap().len(), 3);
        let values =
            column(table(&data, title).unwrap(), "First … last")["values"].as_array().unwrap();
        for at in 0..3 {
            // The table has the rows that grew most.
            let sum: u64 = values.iter().map(|row| row[at].as_u64().unwrap()).sum();
            assert!(curve["points"][at][1].as_u64().unwrap() >= sum, "{title} in {at}");
        }
        assert!(table(&ends, title).is_none(), "two files are compared as they are");
        let grown = table(&data, title).unwrap();
        let growth = json(&[&["growth", "-n", "0"], files].concat());
        let rows = growth["rows"].as_array().unwrap();
        assert_eq!(grown["rows"], rows.len());
        let shown = column(grown, "Name")["values"].as_array().unwrap().len();
        for row in 0..shown {
            let values = &column(grown, "First … last")["values"][row];
            let name = name(&data, column(grown, "Name"), row);
            assert!(rows.iter().any(|of| of["name"] == name && &of["values"] == values), "{name}");
        }
    }
}

#[test]
fn a_page_replaces_none_of_its_files_and_compares_no_profile_with_a_heap() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.zst", "b.zst", "c.zst"].map(|name| folder.path().join(name));
    for path in &paths {
        std::fs::copy(fixture("go/tiny_go127.heapdump.zst"), path).unwrap();
    }
    let [a, b, c] = [0, 1, 2].map(|at: usize| paths[at].to_str().unwrap());
    let before = std::fs::read(a).unwrap();
    for output in [a, b, c] {
        assert_eq!(dumptool(&["report", a, b, c, "-o", output]).status.code(), Some(2), "{output}");
        assert!(std::fs::read(output).unwrap() == before, "{output}");
    }
    let mojo = fixture("mojo/tiny-3.5.0-full-thr.mojo");
    let refused = dumptool(&["report", a, mojo.to_str().unwrap(), c, "-o", "-"]);
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
}

/// What the page says for a search: the sum of the topmost lines whose names or namespaces contain
/// the text. `page.js` does the same.
fn share(data: &Value, text: &str) -> u64 {
    let tree = &data["trees"][0];
    let names = data["names"].as_array().unwrap();
    let has = |column: &Value, row: usize| {
        let name = names[column[row].as_u64().unwrap() as usize].as_str().unwrap();
        name.to_lowercase().contains(&text.to_lowercase())
    };
    let (mut sum, mut inside) = (0, u64::MAX);
    for (row, depth) in tree["depth"].as_array().unwrap().iter().enumerate() {
        let depth = depth.as_u64().unwrap();
        if depth > inside {
            continue;
        }
        inside = u64::MAX;
        if has(&tree["name"], row) || has(&tree["namespace"], row) {
            (sum, inside) = (sum + tree["total"][row].as_u64().unwrap(), depth);
        }
    }
    sum
}

#[test]
fn the_share_of_a_search_is_the_sum_in_tree() {
    for file in HEAPS.map(fixture) {
        let file = file.to_str().unwrap();
        let (_, data) = page(&[file]);
        let names: Vec<String> = data["names"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap().to_lowercase())
            .collect();
        let types = &data["tables"][0]["columns"][0];
        let mut compared = 0;
        for row in 0..types["values"].as_array().unwrap().len().min(60) {
            let of = name(&data, types, row);
            // A search finds parts of names, and `tree` whole names.
            let others = names.iter().filter(|name| name.contains(&of.to_lowercase())).count();
            if others > 1
                || of.is_empty()
                || of.contains(['*', '?', '{', '[', ':'])
                || compared == 5
            {
                continue;
            }
            let tree = json(&["tree", "-n", "1", file, "--type", of]);
            assert_eq!(tree["nodes"][0]["total"], share(&data, of), "{file} {of}");
            compared += 1;
        }
        assert!(compared > 1, "{file}");
    }
}

#[test]
fn pages_fit_their_size_and_are_the_same_for_any_number_of_threads() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let file = file.to_str().unwrap();
    let (whole, data) = page(&[file]);
    let (small, cut) = page(&[file, "--max-size", "120KiB"]);
    assert!(
        small.len() <= 120 << 10 && whole.len() > 120 << 10,
        "{} and {}",
        small.len(),
        whole.len()
    );
    assert_eq!(cut["trees"][0]["total"][0], data["trees"][0]["total"][0]);
    assert_eq!(page(&[file, "--threads", "1"]).0, page(&[file, "--threads", "4"]).0);
    let refused = dumptool(&["report", file, "-o", "-", "--max-size", "1KiB"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn names_in_a_page_are_inert() {
    let hostile = "</script><img src=x onerror=alert(1)><!--";
    let mut file = Mojo::new(3);
    file.stack(1, 0, "t").string(5, "a.py").string(6, hostile);
    file.frame(1, 5, 6, 9).frame_ref(1).time(10);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it's <b>.mojo");
    std::fs::write(&path, &file.0).unwrap();
    let (page, data) = page(&[path.to_str().unwrap()]);
    assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains("<b>"));
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    assert!(any_contains(&data["names"], hostile));
    assert_eq!(data["quoted"], r"'it'\''s <b>.mojo'");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_page_stands_beside_its_dump_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.heapdump.zst");
    std::fs::copy(fixture("go/tiny_go127.heapdump.zst"), &path).unwrap();
    let output = dumptool(&["report", path.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && message.contains("tiny.heapdump.zst.report.html: "),
        "{message}"
    );
    assert!(folder.path().join("tiny.heapdump.zst.report.html").exists());
    assert_eq!(dumptool(&["report", "-"]).status.code(), Some(2));
    assert_eq!(
        dumptool(&["report", path.to_str().unwrap(), "-o", "-", "--format", "json"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_heap_cut_before_its_roots_gets_no_page() {
    let dump =
        zstd::decode_all(&*std::fs::read(fixture("go/tiny_go127.heapdump.zst")).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("cut.heapdump"), folder.path().join("page.html"));
    std::fs::write(&input, &dump[..4000]).unwrap();
    let ended = dumptool(&["report", input.to_str().unwrap(), "-o", output.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!output.exists());
}

#[test]
fn a_profile_without_samples_gets_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("empty.mojo");
    std::fs::write(&input, Mojo::new(3).metadata("mode", "wall").0.clone()).unwrap();
    let (_, data) = page(&[input.to_str().unwrap()]);
    assert_eq!(data["trees"][0]["depth"], serde_json::json!([0]));
}

/// The depths and names of the lines of a tree that are processes and threads.
fn outer(data: &Value, tree: &Value) -> Vec<(u64, String)> {
    let number = |value: &Value| value.as_u64().unwrap();
    let line = |line: &Value| {
        let line = number(line) as usize;
        let text = &data["names"][number(&tree["name"][line]) as usize];
        (number(&tree["depth"][line]), text.as_str().unwrap().to_owned())
    };
    tree["outer"].as_array().into_iter().flatten().map(line).collect()
}

/// Threads with names (Firefox, Chrome, JFR) were listed and linked as functions.
#[test]
fn lines_of_threads_are_marked() {
    let threads = |file: &str, of: usize| {
        let (_, data) = page(&[fixture(file).to_str().unwrap()]);
        outer(&data, &data["trees"][of])
    };
    let named = |depth: u64, name: &str| (depth, name.to_owned());
    let both = [named(1, "P7"), named(2, "TWorker"), named(2, "TWorker 72")];
    assert_eq!(threads("firefox/shared.json", 0), both);
    assert_eq!(threads("firefox/shared.json", 1), [], "callers are of all threads");
    let renderer = [named(1, "P25012"), named(2, "TCrRendererMain")];
    assert_eq!(threads("chrome-trace/sources.json.gz", 0), renderer);
    assert_eq!(threads("chrome-trace/sources.json.gz", 2), [named(1, "P25012;TCrRendererMain")]);
    assert_eq!(threads("jfr/shop_java17.jfr.zst", 0), [], "the picture has no threads");
    assert_eq!(threads("hprof/small_java17.hprof.zst", 0), []);
}

/// A page of another metric or thread named neither, and its commands printed other numbers.
#[test]
fn a_page_states_the_options_that_its_numbers_depend_on() {
    let file = fixture("jfr/shop_java17.jfr.zst");
    let file = file.to_str().unwrap();
    let (page_text, data) =
        page(&["--metric", "alloc", "--thread=allocator", "--focus=Shop.*", file]);
    let top = json(&["top", "--metric=alloc", "--thread=allocator", "--focus=Shop.*", "-n1", file]);
    assert_eq!(data["trees"][0]["total"][0], top["total"]["value"]);
    // The commands of the page were without the focus. `query` has none of these options.
    assert_eq!(data["options"], " --metric=alloc --thread=allocator '--focus=Shop.*'");
    assert_eq!(data["reading"], "");
    let given = [["metric", "alloc"], ["thread", "allocator"], ["focus", "Shop.*"]];
    assert_eq!(data["given"], serde_json::json!(given));
    assert!(data["tiles"][0]["value"].as_str().unwrap().ends_with(" alloc"), "{}", data["tiles"]);
    assert!(!static_part(&page_text).contains(">File<"), "no function of JFR has a file");
    let made_by = "report shop_java17.jfr.zst --metric=alloc --thread=allocator '--focus=Shop.*'";
    assert!(any_contains(&data["notes"], made_by));
}

/// The commands on the page did not find the functions and types that the page names.
#[test]
fn a_page_states_the_files_that_its_names_come_from() {
    let map = fixture("names/app.min.js.map");
    let file = fixture("names/app.min.cpuprofile");
    let (_, data) = page(&["--source-maps", map.to_str().unwrap(), file.to_str().unwrap()]);
    assert_eq!(data["reading"], " --source-maps app.min.js.map");
}

/// The rows were numbers of micro- and nanoseconds without a unit.
#[test]
fn times_have_units_without_scripts() {
    for (file, first) in [
        ("v8-profiles/cpu-node24.cpuprofile", ["1.7 s", "1.6 s"]),
        ("pprof/go127-cpu.pb.gz", ["440.0 ms", "440.0 ms"]),
    ] {
        let (page, _) = page(&[fixture(file).to_str().unwrap()]);
        let row = page.split_once("<tbody>").unwrap().1.split_once("</tr>").unwrap().0;
        let cells: Vec<_> = row.split("<td class=\"number\">").skip(2).collect();
        let cells: Vec<_> = cells.iter().map(|cell| cell.split_once('<').unwrap().0).collect();
        assert_eq!(cells, first, "{file}");
    }
}

#[test]
fn a_page_says_that_its_stacks_are_estimated() {
    let file = fixture("native/callgrind.out.zst");
    let (page, data) = page(&["--estimate", file.to_str().unwrap()]);
    assert!(static_part(&page).contains("stacks are estimated"));
    assert!(data["tiles"].as_array().unwrap().iter().all(|tile| tile["label"] != "samples"));
}

#[test]
fn the_heap_over_time_has_the_peak() {
    for (name, points, unit) in [
        ("jfr/shop_java17.jfr.zst", 218, "microseconds"),
        ("native/massif.out", 90, "instructions"),
        ("native/heaptrack.store.zst", 5, "milliseconds"),
    ] {
        let path = fixture(name);
        let path = path.to_str().unwrap();
        let (_, data) = page(&[path]);
        let curve = &data["curves"][0];
        assert_eq!(curve["time"], unit, "{name}");
        let of = curve["points"].as_array().unwrap();
        assert_eq!(of.len(), points, "{name}");
        assert!(of.is_sorted_by_key(|point| point[0].as_u64().unwrap()), "{name}");
        let most = of.iter().map(|point| point[1].as_u64().unwrap()).max().unwrap();
        let profile = &json(&["info", path])["profile"];
        let peak = if name.starts_with("jfr") {
            &profile["details"]["most_heap_bytes"]
        } else {
            &profile["metrics"][0]["total"]
        };
        let peak = peak.as_u64().unwrap();
        // Snapshots may have 1 % more than the one that massif calls the peak.
        let expected = peak..=if name.contains("massif") { peak / 100 * 101 } else { peak };
        assert!(expected.contains(&most), "{name}: {most}, not {expected:?}");
    }
    let (_, data) = page(&[fixture("mojo/tiny-3.5.0-full-thr.mojo").to_str().unwrap()]);
    assert!(data.get("curves").is_none(), "no format without a curve has one");
}

#[test]
fn calls_stand_in_the_order_of_time() {
    let mut file = Mojo::new(3);
    file.string(5, "a.py").string(6, "f").string(7, "g").string(8, "tiny");
    file.frame(1, 5, 6, 9).frame(2, 5, 7, 9).frame(3, 5, 8, 9);
    // f, then g with a call that is too short to be seen, then f again.
    for (frames, time) in
        [(&[1][..], 10_000), (&[2], 4000), (&[2, 3], 1), (&[2], 4000), (&[1], 500)]
    {
        file.stack(1, 0, "t");
        for frame in frames {
            file.frame_ref(*frame);
        }
        file.time(time);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("order.mojo");
    std::fs::write(&path, &file.0).unwrap();
    let (_, data) = page(&[path.to_str().unwrap()]);
    let trees = data["trees"].as_array().unwrap();
    let tree = trees.iter().find(|tree| tree["title"] == "In time").unwrap();
    assert_tree(tree);
    let lines: Vec<_> = (0..tree["depth"].as_array().unwrap().len())
        .map(|line| {
            let name = &data["names"][tree["name"][line].as_u64().unwrap() as usize];
            let name = name.as_str().unwrap().split(" (").next().unwrap();
            (tree["depth"][line].as_u64().unwrap(), name, tree["total"][line].as_u64().unwrap())
        })
        .collect();
    let thread = lines[1].1;
    let expected =
        [(0, "all", 18_501), (1, thread, 18_501), (2, "f", 10_000), (2, "g", 8001), (2, "f", 500)];
    assert_eq!(lines, expected);
    assert_eq!(page(&[path.to_str().unwrap(), "--metric", "samples"]).1["trees"][2]["total"][0], 5);
}
