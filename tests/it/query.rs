//! `query`: SQL over the tables of a dump.
#![cfg(feature = "query")]

use crate::support::{fixture, small};
use dumptool::detect::detect;
use dumptool::input::{self, Kind, load::ProfileOptions};
use dumptool::output::Syntax;
use dumptool::tables::{self, Table, TableSelection, of_profile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn dumptool(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dumptool")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The output of a command that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = dumptool(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

/// The header and the rows of CSV.
fn csv(arguments: &[&str]) -> Vec<Vec<String>> {
    cells(&printed(arguments))
}

fn cells(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn ask(file: &str, sql: &str) -> Vec<Vec<String>> {
    csv(&["query", "--lenient", "-q", "--format", "csv", file, sql]).split_off(1)
}

/// How many rows of each table a query looks at.
fn visited(file: &str, sql: &str) -> BTreeMap<String, u64> {
    let output = dumptool(&["query", "-v", "--format", "csv", file, sql]);
    assert!(output.status.success(), "{sql}: {}", text(&output.stderr));
    let visited = text(&output.stderr);
    let lines = visited.lines().filter_map(|line| {
        let (table, rest) = line.split_once(": looked at ")?;
        let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
        Some((table.trim().to_owned(), digits.parse().unwrap()))
    });
    lines.collect()
}

/// A dump of each format of heaps, and what is left of one.
fn heaps(folder: &Path) -> Vec<PathBuf> {
    let mut heaps: Vec<PathBuf> = [
        "go/tiny_go127.heapdump.zst",
        "hprof/small_java17.hprof.zst",
        "dart/tiny_derived_3.0.5.dartheap.zst",
        "mvmheap/tiny-nqp.mvmheap",
        "mvmheap/tiny-nqp-cut-snap3.mvmheap",
        "heapsnapshot/sessions-node24-small.heapsnapshot.zst",
        "ruby/shop-small.json.zst",
        "pmat/shop-perl536.pmat.zst",
    ]
    .map(fixture)
    .into();
    for (name, format, bytes) in small::dumps() {
        if input::kind(format, &bytes) == Kind::Heap {
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap();
            heaps.push(path);
        }
    }
    heaps
}

fn profiles() -> Vec<PathBuf> {
    [
        "mojo/tiny-4.0.0-full-gc-mem.mojo",
        "mojo/tiny-3.5.0-full-thr.mojo",
        "austin/tiny-3.4.1-wall-gen.austin",
        "pprof/go127-heap.pb.gz",
        "pprof/synth-negative.pb.gz",
        "folded/edge.folded",
        "speedscope/evented.speedscope.json",
        "v8-profiles/cpu-node24.cpuprofile",
    ]
    .map(fixture)
    .into()
}

/// Compares a table with its CSV. SQL has 1 and 0 for true and false.
fn is_as_written(file: &str, options: &[&str], table: &str, written: &[Vec<String>]) {
    let select = format!("select * from {table}");
    let query = ["query", "--lenient", "-q", "--format", "csv", file, &select];
    let queried = csv(&[&query, options].concat());
    assert_eq!(queried[0], written[0], "{file}: columns of {table}");
    let in_sql = |cell: &String| match cell.as_str() {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        _ => cell.clone(),
    };
    assert_eq!(queried.len(), written.len(), "{file}: rows of {table}");
    for (queried, written) in queried[1..].iter().zip(&written[1..]) {
        let written: Vec<String> = written.iter().map(in_sql).collect();
        assert_eq!(*queried, written, "{file}: {table}");
    }
}

#[test]
fn tables_of_heaps_are_those_of_convert() {
    let folder = tempfile::tempdir().unwrap();
    for file in heaps(folder.path()) {
        let file = file.to_str().unwrap();
        for (table, in_sql) in [
            ("objects", "objects"),
            ("references", "refs"),
            ("roots", "roots"),
            ("types", "types"),
            ("dump", "dump"),
        ] {
            let written =
                csv(&["convert", "--lenient", "-q", file, "-", "--to", "csv", "--table", table]);
            is_as_written(file, &[], in_sql, &written);
        }
    }
}

/// The tables of a heap and of a profile with their columns, as `query FILE` lists them.
fn listed_tables() -> String {
    let mut text = String::new();
    for (file, kind) in [
        ("hprof/small_java17.hprof.zst", "heap"),
        ("mojo/tiny-3.5.0-full-thr.mojo", "profile"),
        ("jfr/shop_java17.jfr.zst", "recording"),
    ] {
        let overview = json(&["query", "--format", "json", fixture(file).to_str().unwrap()]);
        for table in overview["tables"].as_array().unwrap() {
            let name = table["name"].as_str().unwrap();
            match (name, kind) {
                ("dump", "heap") => continue,
                (_, "recording") if name != "events" => continue,
                ("events", _) => text.push_str("\n### events (of a recording of Java)\n\n"),
                ("dump", _) => text.push_str("\n### dump (one row about the file)\n\n"),
                _ => text.push_str(&format!("\n### {name} (of a {kind})\n\n")),
            }
            text.push_str("| column | type | meaning |\n|---|---|---|\n");
            for column in table["columns"].as_array().unwrap() {
                let cell = |key: &str| column[key].as_str().unwrap().to_owned();
                let bold = if column["indexed"] == true { "**" } else { "" };
                let unit = column["unit"].as_str().map(|unit| format!(", {unit}"));
                let kind = cell("type").to_lowercase() + &unit.unwrap_or_default();
                let (name, meaning) = (cell("name"), cell("meaning"));
                text.push_str(&format!("| {bold}{name}{bold} | {kind} | {meaning} |\n"));
            }
        }
    }
    text + "\n"
}

#[test]
fn the_documentation_lists_the_declared_columns() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sql.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- tables -->\n").unwrap();
    let (listed, after) = rest.split_once("<!-- /tables -->").unwrap();
    let declared = listed_tables();
    if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
        let page = format!("{before}<!-- tables -->\n{declared}<!-- /tables -->{after}");
        return fs::write(path, page).unwrap();
    }
    assert_eq!(listed, declared, "TRYCMD=overwrite writes the list");
}

#[test]
fn types_named_by_an_executable_have_their_source_in_sql() {
    let files = ["heapdump", "exe"].map(|of| fixture(&format!("go-types/shop_go125_w.{of}.zst")));
    let [dump, exe] = files.each_ref().map(|file| file.to_str().unwrap());
    let options = ["--exe", exe];
    let convert = ["convert", "-q", dump, "-", "--to", "csv", "--table", "objects"];
    let written = csv(&[&convert, &options[..]].concat());
    assert!(written.iter().any(|row| row.iter().any(|cell| cell == "exact")));
    is_as_written(dump, &options, "objects", &written);
}

#[test]
fn events_of_a_recording_are_a_table_in_sql_and_in_files() {
    let file = fixture("jfr/shop_java17.jfr.zst");
    let file = file.to_str().unwrap();
    let written = csv(&["convert", "-q", file, "-", "--to", "csv", "--table", "events"]);
    is_as_written(file, &[], "events", &written);
    let info = json(&["info", file, "--format", "json"]);
    let counts = info["profile"]["details"]["events"].as_object().unwrap();
    let sql = "select type, count(*) from events group by type";
    let queried = csv(&["query", file, sql, "--format", "csv"]);
    assert_eq!(queried.len(), counts.len() + 1);
    for row in &queried[1..] {
        assert_eq!(row[1], counts[&row[0]].to_string(), "{}", row[0]);
    }
}

#[test]
fn functions_of_a_recording_have_the_costs_of_each_metric() {
    let file = fixture("jfr/shop_java17.jfr.zst");
    let file = file.to_str().unwrap();
    let sql = "select metric, sum(self) from functions group by metric";
    let sums = csv(&["query", file, sql, "--format", "csv"]);
    assert!(sums.len() > 5, "{sums:?}");
    for row in &sums[1..] {
        let top = json(&["top", file, "--metric", &row[0], "-n", "0", "--format", "json"]);
        let rows = top["rows"].as_array().unwrap().iter();
        let sum: i64 = rows.filter_map(|function| function["self"].as_i64()).sum();
        assert_eq!(row[1], sum.to_string(), "{}", row[0]);
    }
}

#[test]
fn tables_of_profiles_are_those_of_convert() {
    for file in profiles() {
        let bytes = crate::support::read(&file);
        let format = detect(&bytes).unwrap();
        let options = ProfileOptions::default().keep_samples(true);
        let profile = input::load_profile(format, &bytes, options).unwrap().profile;
        let all = TableSelection::default();
        for table in [Table::Samples, Table::Stacks, Table::Frames, Table::Functions] {
            let mut written = Vec::new();
            let relation = of_profile(&profile, &all, table).unwrap();
            tables::write(&*relation, Syntax::Csv, &mut written).unwrap();
            is_as_written(file.to_str().unwrap(), &[], table.name(), &cells(&text(&written)));
        }
        let file = file.to_str().unwrap();
        let dump =
            csv(&["convert", "--lenient", "-q", file, "-", "--to", "csv", "--table", "dump"]);
        is_as_written(file, &[], "dump", &dump);
    }
}

#[test]
fn every_example_runs_on_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let mut titles = BTreeSet::new();
    for file in heaps(folder.path()).into_iter().chain(profiles()) {
        let file = file.to_str().unwrap();
        let overview = json(&["query", "--lenient", "--format", "json", file]);
        assert_eq!(overview["schema"], "dumptool/query/1");
        let examples = overview["examples"].as_array().unwrap();
        assert_eq!(examples.len(), 10, "{file}");
        for example in examples {
            let answer = json(&[
                "query",
                "--lenient",
                "--format",
                "json",
                file,
                example["sql"].as_str().unwrap(),
            ]);
            assert_eq!(answer["sql"], example["sql"]);
            if !answer["rows"].as_array().unwrap().is_empty() {
                titles.insert(example["title"].as_str().unwrap().to_owned());
            }
        }
    }
    assert_eq!(titles.len(), 20, "each example finds something somewhere: {titles:?}");
}

#[test]
fn sums_are_those_of_top() {
    let folder = tempfile::tempdir().unwrap();
    for file in heaps(folder.path()) {
        let file = file.to_str().unwrap();
        let top = json(&["top", "--lenient", "-q", "-n", "0", "--format", "json", file]);
        let live = if top["objects"] == "live" { "reachable" } else { "1" };
        let sql = format!(
            "select type, count(*), sum(shallow_bytes), sum(external_bytes) from objects
             where {live} and kind not in ('root') group by type, namespace having count(*) > 0"
        );
        let mut queried = ask(file, &sql);
        let number = |row: &Value, key: &str| row[key].as_u64().unwrap().to_string();
        let mut counted: Vec<Vec<String>> = top["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let name = row["name"].as_str().unwrap().to_owned();
                let keys = ["count", "shallow_bytes", "external_bytes"];
                [name].into_iter().chain(keys.map(|key| number(row, key))).collect()
            })
            .collect();
        queried.sort();
        counted.sort();
        assert_eq!(queried, counted, "{file}");
    }
}

#[test]
fn differences_are_those_of_diff() {
    let [old, new] = [
        "heapsnapshot/sessions-node20-small.heapsnapshot.zst",
        "heapsnapshot/sessions-node24-small.heapsnapshot.zst",
    ]
    .map(|name| fixture(name).to_str().unwrap().to_owned());
    let diff = json(&["diff", "-q", "-n", "0", "--format", "json", &old, &new]);
    let mut changed: Vec<(String, i64)> = Vec::new();
    for row in diff["rows"].as_array().unwrap() {
        let more =
            row["new"]["count"].as_i64().unwrap_or(0) - row["old"]["count"].as_i64().unwrap_or(0);
        if more != 0 {
            changed.push((row["name"].as_str().unwrap().to_owned(), more));
        }
    }
    let sql = "select type, sum(n) as more from (
        select type, namespace, live_count as n from new.types where kind <> 'root'
        union all select type, namespace, -live_count from old.types where kind <> 'root')
        group by type, namespace having sum(n) <> 0";
    let rows = csv(&["query", "-q", "--format", "csv", &old, &new, sql]).split_off(1);
    let mut queried: Vec<(String, i64)> =
        rows.iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    changed.sort();
    queried.sort();
    assert!(changed.len() > 10);
    assert_eq!(queried, changed);
}

#[test]
fn paths_are_those_of_path() {
    let folder = tempfile::tempdir().unwrap();
    for file in heaps(folder.path()) {
        let file = file.to_str().unwrap();
        let sql = "select id, path(id), root_distance from objects where reachable
                   and object % 7 = 0 limit 4";
        for row in ask(file, sql) {
            let [id, queried, distance] = &row[..] else { panic!("{row:?}") };
            let path = json(&["path", "--lenient", "-q", "-k", "1", "--format", "json", file, id]);
            let path = &path["paths"][0];
            let steps = path["steps"].as_array().unwrap();
            let root = path["root"]["kind"].as_str().unwrap();
            let label = path["root"]["label"].as_str().unwrap();
            // A label that has the word for its kind stands alone: `system class: java.lang.Object`.
            let mut words = label.split_whitespace().take(2);
            let named = words.any(|word| word.trim_end_matches(':').eq_ignore_ascii_case(root));
            let head = if named { label.to_owned() } else { format!("{root} ") };
            assert!(queried.starts_with(&head), "{file}: {queried}");
            assert!(queried.ends_with(&format!(" {id}")), "{file}: {queried}");
            assert_eq!((steps.len() - 1).to_string(), *distance, "{file}: {queried}");
        }
    }
}

#[test]
fn values_and_fields_are_those_of_show() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let file = file.to_str().unwrap();
    let sql = "select id, value(id) from objects where type = 'java.lang.String' and object % 50 = 0 limit 5";
    let strings = ask(file, sql);
    assert_eq!(strings.len(), 5);
    for row in strings {
        let shown = json(&["show", "-q", "--format", "json", file, &row[0]]);
        assert_eq!(shown["value"]["value"], row[1]);
    }
    let sql = "select id, field(id, 'hash'), field(id, 'next'), field(id, 'nothing') from objects
               where type = 'java.util.concurrent.ConcurrentHashMap$Node' limit 5";
    for row in ask(file, sql) {
        let shown = json(&["show", "-q", "--format", "json", file, &row[0]]);
        let field = |name: &str| {
            let fields = shown["fields"].as_array().unwrap();
            fields.iter().find(|field| field["name"] == name).unwrap().clone()
        };
        assert_eq!(field("hash")["value"].to_string(), row[1]);
        assert_eq!(field("next")["object"]["id"].as_str().unwrap_or(""), row[2]);
        assert_eq!(row[3], "");
    }
}

#[test]
fn lookups_use_the_indexes_of_the_model() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let file = file.to_str().unwrap();
    let all: u64 = ask(file, "select count(*) from objects")[0][0].parse().unwrap();
    let looked = |sql: &str, table: &str| visited(file, sql).get(table).copied().unwrap_or(0);
    assert_eq!(looked("select count(*) from objects", "objects"), all);
    assert_eq!(looked("select * from objects where object = 17", "objects"), 1);
    assert_eq!(looked("select * from objects where object in (17, 3, 5)", "objects"), 3);
    assert_eq!(looked("select * from objects where id = '0xfd5bf118'", "objects"), 1);
    assert_eq!(looked("select * from objects where id = '0xfd5bf119'", "objects"), 1);
    let nodes = ask(file, "select count(*) from objects where type = 'Small$Node'");
    let nodes: u64 = nodes[0][0].parse().unwrap();
    assert!(nodes > 10);
    assert_eq!(looked("select * from objects where type = 'Small$Node'", "objects"), nodes);
    assert_eq!(looked("select * from types where type = 'Small$Node'", "types"), 1);
    for column in ["src", "dst"] {
        let by_scan = format!("select count(*) from refs where +{column} = 9174");
        let found: u64 = ask(file, &by_scan)[0][0].parse().unwrap();
        assert!(found > 0);
        assert_eq!(looked(&format!("select * from refs where {column} = 9174"), "refs"), found);
    }
    // One lookup for each node, not a scan for each.
    let join = "select d.type from objects s join refs r on r.src = s.object
                join objects d on d.object = r.dst where s.type = 'Small$Node'";
    let found = ask(file, join).len() as u64;
    assert_eq!(
        visited(file, join),
        [("objects".to_owned(), nodes + found), ("refs".to_owned(), found)].into()
    );
    // What compares otherwise than bytes cannot use an index, and finds more.
    assert_eq!(
        ask(file, "select count(*) from objects where type = 'small$node' collate nocase")[0][0],
        nodes.to_string()
    );
    assert_eq!(ask(file, "select type from objects where object = '17'").len(), 1);
    assert_eq!(ask(file, "select type from objects where id = null").len(), 0);
    assert_eq!(
        ask(file, "select id from objects where id = '0xfd5bf119'").len(),
        0,
        "inside of an object"
    );
}

#[test]
fn groups_and_orders_by_type_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let small = |file: &PathBuf| fs::metadata(file).unwrap().len() < 10_000;
    for file in heaps(folder.path()).into_iter().filter(small) {
        let file = file.to_str().unwrap();
        for table in ["objects", "types"] {
            for columns in
                ["type", "namespace", "kind", "kind, type", "namespace, kind desc, type desc"]
            {
                let plain = columns.replace(" desc", "");
                // A term with `+` is not a column: SQLite sorts.
                let sorted = columns
                    .split(", ")
                    .map(|column| format!("+{column}"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let by_index =
                    ask(file, &format!("select {plain} from {table} order by {columns}"));
                let by_sorting =
                    ask(file, &format!("select {plain} from {table} order by {sorted}"));
                assert_eq!(by_index, by_sorting, "{file}: {table} by {columns}");
                let sorted = plain
                    .split(", ")
                    .map(|column| format!("+{column}"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let select = format!("select {plain}, count(*) from {table} group by");
                let mut by_index = ask(file, &format!("{select} {plain}"));
                let mut by_sorting = ask(file, &format!("{select} {sorted}"));
                by_index.sort();
                by_sorting.sort();
                assert_eq!(by_index, by_sorting, "{file}: {table} grouped by {columns}");
            }
        }
    }
}

#[test]
fn nothing_is_written_or_opened() {
    let folder = tempfile::tempdir().unwrap();
    let dump = fixture("hprof/small_java17.hprof.zst");
    let victim = folder.path().join("victim.db");
    for sql in [
        "attach 'victim.db' as v",
        "attach ':memory:' as v",
        "detach main",
        "vacuum into 'victim.db'",
        "create table t (x)",
        "create temp table t (x)",
        "create view v as select 1",
        "create virtual table t using fts5(x)",
        "drop table objects",
        "delete from objects",
        "insert into objects (object) values (1)",
        "update objects set type = 'x'",
        "insert into sqlite_schema values (1, 2, 3, 4, 5)",
        "begin",
        "savepoint s",
        "reindex",
        "analyze",
        "pragma writable_schema = on",
        "pragma temp_store_directory = '.'",
        "pragma hard_heap_limit = 0",
        "select load_extension('victim.so')",
        "select 1; select 2",
        "select ?",
        "",
        " -- nothing",
        "select \"no such column\" from objects",
        "select * from nothing",
        "select path()",
        "select path('0x1', 'old')",
        "select zeroblob(1000000000)",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
            .current_dir(folder.path())
            .arg("query")
            .arg(&dump)
            .arg(sql)
            .output()
            .unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{sql}: {message}");
        assert!(message.starts_with("error: SQL") && output.stdout.is_empty(), "{sql}: {message}");
        assert!(message.lines().count() <= 2, "{sql}: {message}");
    }
    assert!(!victim.exists() && fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn errors_say_where() {
    let dump = fixture("hprof/small_java17.hprof.zst");
    for (sql, place) in [
        ("select nope from objects", "line 1, column 8: no such column: nope"),
        ("select id\nfrom objects\nwhere selec 1", "line 3, column 13: near \"1\": syntax error"),
        ("select 'ü', nope", "line 1, column 13: no such column"),
        ("select 1;\n\ndrop table objects", "line 3, column 1: more than one statement"),
    ] {
        let output = dumptool(&["query", dump.to_str().unwrap(), sql]);
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(place), "{sql}: {message}");
    }
}

#[test]
fn statements_without_end_have_bounds() {
    let dump = fixture("folded/edge.folded");
    let dump = dump.to_str().unwrap();
    let numbers = "with recursive n(x) as (select 1 union all select x + 1 from n) select";
    for (sql, what) in [
        (format!("{numbers} x from n order by x"), "more memory"),
        (
            format!(
                "{numbers} group_concat(hex(zeroblob(50000))) from (select x from n limit 2000)"
            ),
            "more memory",
        ),
        (format!("{numbers} hex(zeroblob(10000)), x from n"), "more memory"),
        (format!("select {}1{}", "(".repeat(5000), ")".repeat(5000)), "SQL"),
        ("select 1;".repeat(10_000), "more than one statement"),
        (format!("select 1{}", " union all select 1".repeat(5000)), "SQL"),
    ] {
        let output = dumptool(&["query", "--max-memory", "64MiB", "-n", "0", dump, &sql]);
        let message = text(&output.stderr);
        let start: String = sql.chars().take(80).collect();
        assert_eq!(output.status.code(), Some(2), "{start}: {message}");
        assert!(message.contains(what), "{start}: {message}");
    }
}

#[test]
fn a_statement_ends_at_its_timeout() {
    let dump = fixture("folded/edge.folded");
    let sql =
        "with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n";
    let started = std::time::Instant::now();
    let output = dumptool(&["query", "--timeout", "1", dump.to_str().unwrap(), sql]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("the query took longer than the limit"), "{message}");
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_a_query() {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    let sql = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n";
    let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["query", "--format", "csv", fixture("folded/edge.folded").to_str().unwrap(), sql])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1024];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert!(first.starts_with(b"x\n1\n2\n"), "rows come before the end");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // Where interrupts are ignored, the closed pipe ends the query, and the test fails.
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGINT));
}

#[test]
fn names_that_are_sql_are_names() {
    let folder = tempfile::tempdir().unwrap();
    let hostile =
        ["'; drop table frames; --", "' or 1=1", "\" or 1=1", "a''b", "$(x)`y`", "--", "/*"];
    let profile = folder.path().join("hostile.folded");
    let lines: String = hostile.iter().map(|name| format!("main {name} 3\n")).collect();
    fs::write(&profile, lines.replace("main ", "main;")).unwrap();
    let profile = profile.to_str().unwrap();
    // A semicolon ends a frame.
    for name in hostile.into_iter().filter(|name| !name.contains(';')) {
        let quoted = name.replace('\'', "''");
        let rows =
            ask(profile, &format!("select function from frames where function = '{quoted}'"));
        assert_eq!(rows, [[name]], "{name}");
    }
    let heap = folder.path().join("hostile.json");
    let class = |number: usize, name: &str| {
        let name = serde_json::to_string(name).unwrap();
        let object = number + 0x1000;
        format!(
            "{{\"address\":\"{number:#x}\",\"type\":\"CLASS\",\"name\":{name},\"memsize\":100}}\n\
             {{\"address\":\"{object:#x}\",\"type\":\"OBJECT\",\"class\":\"{number:#x}\",\"ivars\":0,\"memsize\":40}}\n"
        )
    };
    let lines: String =
        hostile.iter().enumerate().map(|(at, name)| class((at + 1) * 0x100, name)).collect();
    let root = "{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[\"0x1100\"]}\n";
    fs::write(&heap, format!("{root}{lines}")).unwrap();
    let heap = heap.to_str().unwrap();
    for name in hostile {
        let quoted = name.replace('\'', "''");
        let rows = ask(heap, &format!("select type from objects where type = '{quoted}'"));
        assert_eq!(rows, [[name]], "{name}");
    }
    assert_eq!(ask(heap, "select count(*) from objects")[0][0], "14");
}

#[test]
fn two_files_are_two_schemas() {
    let [old, new] = ["go/tiny_go119.heapdump.zst", "go/tiny_go127.heapdump.zst"]
        .map(|name| fixture(name).to_str().unwrap().to_owned());
    let count = |file: &str| ask(file, "select count(*), min(id) from objects")[0].clone();
    let [of_old, of_new] = [&old, &new].map(|file| count(file));
    let sql = "select (select count(*) from old.objects) as o, (select count(*) from new.objects) as n,
               (select count(*) from objects) as plain, (select count(*) from main.objects) as main";
    let rows = csv(&["query", "--format", "csv", &old, &new, sql]).split_off(1);
    let counts = [&of_old, &of_new, &of_new, &of_new].map(|row| row[0].clone());
    assert_eq!(rows, [counts]);
    let sql = "select path(o.id, 'old') is null, path(n.id) is null, path(n.id, 'new') is null
               from (select id from old.objects where reachable order by object limit 1) o,
                    (select id from new.objects where reachable order by object limit 1) n";
    assert_eq!(csv(&["query", "--format", "csv", &old, &new, sql])[1], ["0", "0", "0"]);
    let overview = json(&["query", "--format", "json", &old, &new]);
    assert_eq!(overview["tables"][0]["name"], "old.objects");
    let example = overview["examples"][0]["sql"].as_str().unwrap();
    assert!(csv(&["query", "--format", "csv", &old, &new, example]).len() > 2);
    let kinds = dumptool(&["query", &old, &new, "select path(1, 'older')"]);
    assert!(text(&kinds.stderr).contains("'old' or 'new'"), "{}", text(&kinds.stderr));
}

#[test]
fn a_damaged_dump_has_what_could_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = crate::support::read(&fixture("hprof/small_java17.hprof.zst"));
    let cut = folder.path().join("cut.hprof");
    fs::write(&cut, &bytes[..bytes.len() / 10 * 9]).unwrap();
    let cut = cut.to_str().unwrap();
    let sql = "select count(*), sum(shallow_bytes) from objects";
    let output = dumptool(&["query", "--format", "csv", cut, sql]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), 2);
    let top = json(&["top", "--lenient", "--objects", "all", "-q", "--format", "json", cut]);
    let rows = ask(cut, sql);
    assert_eq!(
        rows[0],
        [&top["whole"], &top["whole"]]
            .into_iter()
            .zip(["count", "shallow_bytes"])
            .map(|(sum, key)| sum[key].to_string())
            .collect::<Vec<_>>()
    );
}

#[test]
fn rows_are_limited_and_names_distinct() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let file = file.to_str().unwrap();
    let all = json(&[
        "query",
        "-q",
        "--format",
        "json",
        file,
        "select object, object, 1.5 as \"a.b\", x'0aff' as x, null as n from objects",
    ]);
    assert_eq!(
        (all["rows"].as_array().unwrap().len(), &all["complete"]),
        (1000, &Value::Bool(false))
    );
    assert_eq!(all["columns"], serde_json::json!(["object", "object_2", "a.b", "x", "n"]));
    assert_eq!(
        all["rows"][3],
        serde_json::json!({"object": 3, "object_2": 3, "a.b": 1.5, "x": "0aff", "n": null})
    );
    let lines = |arguments: &[&str]| {
        printed(&[&["query", "-q", file, "select object from objects"], arguments].concat())
            .lines()
            .count()
    };
    assert_eq!(lines(&["--format", "csv", "-n", "3"]), 4);
    assert_eq!(lines(&["--format", "jsonl"]) + 1, lines(&["--format", "csv"]));
    assert!(
        printed(&["query", "-q", "-n", "2", file, "select object from objects"])
            .ends_with("the first 2 rows (-n for more)\n")
    );
}

#[test]
fn sql_comes_from_standard_input() {
    use std::io::Write;
    use std::process::Stdio;
    let file = fixture("folded/edge.folded");
    let mut child = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(["query", "--format", "csv", file.to_str().unwrap(), "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"select 1 + 1 as two;\n").unwrap();
    assert_eq!(text(&child.wait_with_output().unwrap().stdout), "two\n2\n");
    let both = dumptool(&["query", "-", "-"]);
    assert_eq!(both.status.code(), Some(2));
}
