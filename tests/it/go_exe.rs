//! Types of Go dumps from the executables that wrote them, against what the programs counted of
//! themselves.

use dumptool::analysis::paths::several::several;
use dumptool::analysis::{DominatorTree, Graph};
use dumptool::input::load::{Executable, LoadOptions, Loaded};
use dumptool::input::{self, Format};
use dumptool::model::heap::{FieldValue, Heap, LabelKind, ObjectId, TypeSource};
use dumptool::source::Source;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/go-types")
}

fn open(path: &Path) -> Source {
    Source::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn load<'a>(dump: &'a Source, exe: &[u8], guesses: bool) -> dumptool::error::Result<Loaded<'a>> {
    input::load(
        Format::Go,
        dump.bytes(),
        LoadOptions::default().executable(Some(Executable { bytes: exe, guesses })),
    )
}

/// Live objects and bytes by type, and how many objects of each source there are.
struct Counts {
    objects: BTreeMap<String, u64>,
    sources: BTreeMap<TypeSource, u64>,
    live: u64,
}

fn count(heap: &Heap<'_>) -> Counts {
    let tree = DominatorTree::new(heap);
    let mut counts = Counts { objects: BTreeMap::new(), sources: BTreeMap::new(), live: 0 };
    for object in heap.objects().filter(|object| tree.is_live(*object)) {
        let (of, name) = (heap.type_id(object), heap.type_name(object));
        *counts.objects.entry(name.trim_end_matches(" ?").to_owned()).or_default() += 1;
        *counts.sources.entry(heap.type_source(of)).or_default() += 1;
        counts.live += 1;
    }
    counts
}

/// Compares with the rows that the program wrote of itself. `with_debug`: all rows that can be had
/// at all.
fn compare(name: &str, folder: &Path, loaded: &Loaded<'_>, with_debug: bool) {
    let truth = json(&folder.join(format!("{name}.truth.json")));
    let counts = count(&loaded.heap);
    let tiny: BTreeMap<_, _> =
        loaded.executable.as_ref().unwrap().tiny_values.iter().cloned().collect();
    let mut compared = 0;
    for row in truth["rows"].as_array().unwrap() {
        let (of, wanted) = (row["type"].as_str().unwrap(), row["count"].as_u64().unwrap());
        let needs = row["needs"].as_str().unwrap();
        if needs == "none" || !with_debug && needs != "types" {
            continue;
        }
        let found = match of.strip_prefix("func ") {
            // All closures of a function: the most frequent one counts.
            Some(_) => {
                let closures = counts
                    .objects
                    .iter()
                    .filter(|(name, _)| name.starts_with(of) && !name.ends_with("-fm"));
                closures.map(|(_, count)| *count).max().unwrap_or(0)
            }
            None => counts.objects.get(of).unwrap_or(&0) + tiny.get(of).unwrap_or(&0),
        };
        let agrees = found == wanted || row["at_least"] == Value::Bool(true) && found > wanted;
        assert!(agrees, "{name}: {found} of {of}, {wanted} wanted ({})", row["path"]);
        compared += 1;
    }
    assert!(compared >= if with_debug { 35 } else { 12 }, "{name}: {compared} rows compared");
    let unnamed = counts.sources.get(&TypeSource::None).copied().unwrap_or(0);
    let share = (counts.live - unnamed) as f64 / counts.live as f64;
    assert!(
        share >= if with_debug { 0.99 } else { 0.85 },
        "{name}: {share} of {} objects named",
        counts.live
    );
    let conflicts = loaded.executable.as_ref().unwrap().conflicts;
    assert!(conflicts * 1000 <= counts.live.max(2000), "{name}: {conflicts} conflicts");
}

#[test]
fn every_count_that_the_program_knows_is_exact() {
    for (name, with_debug) in [("shop_go121_386", true), ("shop_go125_w", false)] {
        let (dump, exe) = (
            open(&fixtures().join(format!("{name}.heapdump.zst"))),
            open(&fixtures().join(format!("{name}.exe.zst"))),
        );
        compare(name, &fixtures(), &load(&dump, exe.bytes(), true).unwrap(), with_debug);
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn every_count_of_the_corpus_is_exact() {
    let folder = crate::support::corpus_folder("go-types");
    let pairs = [
        ("shop_go127", "shop_go127", true),
        ("shop_go127_stripped", "shop_go127_stripped", false),
        ("shop_go127_stripped", "shop_go127", true),
        ("shop_go124_pie", "shop_go124_pie", true),
        ("shop_go122", "shop_go122", true),
    ];
    for (name, program, with_debug) in pairs {
        let (dump, exe) = (
            open(&folder.join(format!("{name}.heapdump.zst"))),
            open(&folder.join(format!("{program}.exe.zst"))),
        );
        compare(name, &folder, &load(&dump, exe.bytes(), true).unwrap(), with_debug);
    }
    let (dump, exe) = (
        open(&folder.join("shop_go127.heapdump.zst")),
        open(&folder.join("near_miss_of_shop_go127.exe.zst")),
    );
    let error = load(&dump, exe.bytes(), true).err().unwrap();
    assert!(error.message().contains("not the executable that wrote the dump"), "{error}");
}

#[test]
fn nothing_is_a_guess_without_guesses() {
    let name = "shop_go125_w";
    let (dump, exe) = (
        open(&fixtures().join(format!("{name}.heapdump.zst"))),
        open(&fixtures().join(format!("{name}.exe.zst"))),
    );
    let loaded = load(&dump, exe.bytes(), false).unwrap();
    assert_eq!(count(&loaded.heap).sources.get(&TypeSource::Guess), None);
    assert!(
        loaded.heap.types().iter().all(|of| !loaded.heap.names().text(of.name).ends_with(" ?"))
    );
}

#[test]
fn other_files_are_refused_with_the_check_that_failed() {
    let dump = open(&fixtures().join("shop_go125_w.heapdump.zst"));
    let other = open(&fixtures().join("shop_go121_386.exe.zst"));
    let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let refused = |bytes: &[u8]| load(&dump, bytes, true).err().unwrap().headline();
    assert!(refused(other.bytes()).contains("Go version"), "{}", refused(other.bytes()));
    assert!(refused(&this).contains("not a Go program"), "{}", refused(&this));
    assert!(refused(b"#!/bin/sh\n").contains("not an executable"), "{}", refused(b"#!/bin/sh\n"));
}

#[test]
fn fields_globals_and_variables_have_their_names() {
    let name = "shop_go121_386";
    let (dump, exe) = (
        open(&fixtures().join(format!("{name}.heapdump.zst"))),
        open(&fixtures().join(format!("{name}.exe.zst"))),
    );
    let loaded = load(&dump, exe.bytes(), true).unwrap();
    let heap = &loaded.heap;
    let session = heap.objects().find(|object| heap.type_name(*object) == "main.User").unwrap();
    let path = &several(heap, &Graph::of(heap), session, 1)[0];
    let labels: Vec<String> =
        path.steps.iter().map(|step| step.by.text(heap).into_owned()).collect();
    assert!(
        labels.iter().any(|label| label.contains("User") || label.contains("elem")),
        "{labels:?}"
    );
    let roots: Vec<String> = heap.roots().iter().map(|root| root.text(heap.names())).collect();
    for global in ["main.sessions", "main.byNumber", "main.handlers"] {
        assert!(roots.iter().any(|root| root.starts_with(global)), "{global}");
    }
    assert!(
        roots.iter().any(|root| root.ends_with("main.worker: f") || root.contains("main.worker")),
        "{roots:?}"
    );
}

/// The variables of frames of package main that refer to objects: goroutine, function, variable,
/// type of the object.
type Variables = BTreeSet<(u64, String, String, String)>;

fn frame_variables(heap: &Heap<'_>) -> Variables {
    let named = heap.roots().iter().filter_map(|root| {
        let thread = &heap.threads()[root.thread? as usize];
        let row = root.frame?;
        assert!(thread.frames.contains(&row), "a frame of another goroutine");
        let function = heap.names().text(heap.frames()[row as usize].function);
        let LabelKind::Field(_) = root.label.kind() else { return None };
        let label = root.label.text(heap.names());
        assert!(root.text(heap.names()).ends_with(&format!(" {function}: {label}")));
        let variable = label.split(['.', '[']).next()?;
        let of = match heap.type_name(root.object) {
            // `flag.String` returns a pointer to a `stringValue` as a `*string`.
            "flag.stringValue" => "string",
            of => of,
        };
        Some((thread.id, function.to_owned(), variable.to_owned(), of.to_owned()))
    });
    named.filter(|(_, function, ..)| function.starts_with("main.")).collect()
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn arguments_in_the_frames_of_callers_belong_to_the_functions_that_are_called_in_the_corpus() {
    let folder = crate::support::corpus_folder("go-types");
    for name in ["shop_go127", "shop_go124_pie", "shop_go122", "shop_go121_386"] {
        let (dump, exe) = (
            open(&folder.join(format!("{name}.heapdump.zst"))),
            open(&folder.join(format!("{name}.exe.zst"))),
        );
        let loaded = load(&dump, exe.bytes(), true).unwrap();
        let wanted = json(&folder.join(format!("{name}.json")));
        let wanted: Variables = wanted["frame_variables_of_main"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let text = |key: &str| row[key].as_str().unwrap().to_owned();
                let of = text("type").trim_start_matches('*').to_owned();
                (row["goroutine"].as_u64().unwrap(), text("function"), text("variable"), of)
            })
            .collect();
        assert_eq!(frame_variables(&loaded.heap), wanted, "{name}");
    }
}

#[test]
fn damaged_executables_do_no_harm() {
    let (dump, exe) = (
        open(&fixtures().join("shop_go125_w.heapdump.zst")),
        open(&fixtures().join("shop_go125_w.exe.zst")),
    );
    let whole = exe.bytes();
    for cut in [0, 1, 16, 64, 200, 4096, whole.len() / 4, whole.len() / 2, whole.len() - 1] {
        let _ = load(&dump, &whole[..cut], true);
    }
    // A byte in each of many places: headers, tables, descriptors.
    let mut bytes = whole.to_vec();
    for step in 0..24 {
        let place = (step * 7919 * 13) % whole.len();
        bytes[place] ^= 0xff;
        let _ = load(&dump, &bytes, true);
        bytes[place] = whole[place];
    }
}

/// The fields of an object as text: name, type, value.
fn fields(heap: &Heap<'_>, object: ObjectId) -> Vec<(String, String, String)> {
    let mut fields = Vec::new();
    heap.each_field(object, |field| {
        let value = match field.value {
            FieldValue::Text(text) => format!("{text:?}"),
            FieldValue::Object(object) => heap.type_name(object).to_owned(),
            FieldValue::Unsigned(value) => value.to_string(),
            FieldValue::Integer(value) => value.to_string(),
            value => format!("{value:?}"),
        };
        fields.push((field.name.to_owned(), field.type_name.to_owned(), value));
        ControlFlow::Continue(())
    });
    fields
}

/// Compares what maps hold with what the program says.
fn compare_values(name: &str, folder: &Path, heap: &Heap<'_>) {
    let truth = json(&folder.join(format!("{name}.truth.json")));
    let mut compared = 0;
    for row in truth["rows"].as_array().unwrap() {
        let Some(entries) = row["entries"].as_u64() else { continue };
        let of = row["type"].as_str().unwrap();
        let maps = heap.objects().filter(|object| heap.type_name(*object) == of);
        let (mut lengths, mut shown, mut wanted) = (0, 0, 0);
        for map in maps {
            let fields = fields(heap, map);
            let length: u64 = fields[0].2.parse().unwrap();
            let keys: BTreeSet<&str> =
                fields[1..].iter().filter_map(|(name, ..)| Some(name.split_once(']')?.0)).collect();
            lengths += length;
            let room = heap.room(map).unwrap();
            assert!(room.used == length && room.used <= room.capacity, "{name}: {of}: {room:?}");
            shown += keys.len() as u64;
            wanted += length.min(64);
        }
        assert_eq!((lengths, shown), (entries, wanted), "{name}: {of}");
        compared += 1;
    }
    assert!(compared >= 5, "{name}: {compared} kinds of maps compared");
    let session = heap.objects().find(|object| {
        heap.type_name(*object) == "main.Session"
            && fields(heap, *object)[0].2.starts_with("\"session-")
    });
    let session =
        fields(heap, session.unwrap_or_else(|| panic!("{name}: no session with its name")));
    let of = |field: &str| {
        session
            .iter()
            .find(|(name, ..)| name == field)
            .unwrap_or_else(|| panic!("{name}: {field}: {session:?}"))
    };
    assert_eq!(of("User").2, "main.User", "{name}");
    assert_eq!(of("Data").1, "map[string]int", "{name}");
    assert_eq!((of("Tags.len").2.as_str(), of("Tags.cap").2.as_str()), ("2", "2"), "{name}");
    assert!(
        of("created").1 == "time.Time" && of("created").2.starts_with("\"2026-"),
        "{name}: {session:?}"
    );
    let slots = heap.objects().find(|object| heap.type_name(*object) == "[]main.Slot");
    let slots =
        heap.room(slots.unwrap()).unwrap_or_else(|| panic!("{name}: no length of []main.Slot"));
    assert!(slots.used <= slots.capacity && slots.capacity >= 60, "{name}: {slots:?}");
    let jobs = heap.objects().find(|object| heap.type_name(*object) == "chan *main.Job").unwrap();
    let jobs: Vec<_> =
        fields(heap, jobs).into_iter().map(|(name, _, value)| (name, value)).collect();
    let queued = (0..17).map(|number| (format!("[{number}]"), "main.Job"));
    let expected = [("len".to_owned(), "17"), ("cap".to_owned(), "64")].into_iter().chain(queued);
    let expected: Vec<_> = expected.map(|(name, value)| (name, value.to_owned())).collect();
    assert_eq!(jobs, expected, "{name}");
}

#[test]
fn values_are_those_that_the_program_put_there() {
    let name = "shop_go121_386";
    let (dump, exe) = (
        open(&fixtures().join(format!("{name}.heapdump.zst"))),
        open(&fixtures().join(format!("{name}.exe.zst"))),
    );
    compare_values(name, &fixtures(), &load(&dump, exe.bytes(), true).unwrap().heap);
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn values_of_the_corpus_are_those_that_the_program_put_there() {
    let folder = crate::support::corpus_folder("go-types");
    for name in ["shop_go127", "shop_go124_pie", "shop_go122"] {
        let (dump, exe) = (
            open(&folder.join(format!("{name}.heapdump.zst"))),
            open(&folder.join(format!("{name}.exe.zst"))),
        );
        compare_values(name, &folder, &load(&dump, exe.bytes(), true).unwrap().heap);
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_shortest_paths_of_the_corpus_begin_at_variables_and_lead_over_fields() {
    let folder = crate::support::corpus_folder("go-types");
    for name in ["shop_go127", "shop_go124_pie", "shop_go122", "shop_go121_386"] {
        let paths = |of: &str| -> Value {
            let file = |kind: &str| folder.join(format!("{name}.{kind}.zst"));
            let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
                .args(["path", "--format", "json", "-n", "0", "--type", of, "--exe"])
                .args([file("exe"), file("heapdump")])
                .output()
                .unwrap();
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let prefs = paths("main.Prefs");
        let list = prefs["paths"].as_array().unwrap();
        // Paths over the elements of one map or slice are one path.
        assert!((5..=12).contains(&list.len()), "{name}: {} paths", list.len());
        for path in list {
            let root = path["root"]["label"].as_str().unwrap();
            assert!(root.starts_with("main."), "{name}: {root}");
            for step in &path["steps"].as_array().unwrap()[1..] {
                let label = step["label"].as_str().unwrap();
                assert!(!label.is_empty() && !label.starts_with('+'), "{name}: {path:#}");
            }
        }
        let sessions = paths("main.Session");
        assert_eq!(sessions["paths"][0]["root"]["label"], "main.sessions", "{name}: {sessions:#}");
    }
}

#[test]
fn converted_files_carry_the_names() {
    let fixture = |kind: &str| fixtures().join(format!("shop_go121_386.{kind}.zst"));
    let folder = tempfile::tempdir().unwrap();
    let dumptool = |args: &[&str], files: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = command.args(args).args(files).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    for name in ["a.hprof", "a.heapsnapshot", "a.pb.gz", "a.folded"] {
        let path = folder.path().join(name);
        dumptool(&["convert", "--exe"], &[&fixture("exe"), &fixture("heapdump"), &path]);
        let top = dumptool(&["top", "--format", "json", "-n", "0"], &[&path]);
        let top: Value = serde_json::from_slice(&top).unwrap();
        let rows = top["rows"].as_array().unwrap();
        let row = |of: &str| {
            let row = rows.iter().find(|row| row["name"] == of);
            row.unwrap_or_else(|| panic!("{name} has no {of}"))
        };
        let (sessions, map) = (row("main.Session"), row("map[string]*main.Session"));
        // Objects, or what a profile has instead: objects (pprof) or bytes (folded).
        let (sessions, map) = match name {
            "a.pb.gz" | "a.folded" => (&sessions["self"], &map["self"]),
            _ => (&sessions["count"], &map["count"]),
        };
        let wanted = if name == "a.folded" { (4800, 32) } else { (100, 1) };
        assert_eq!((sessions.as_u64(), map.as_u64()), (Some(wanted.0), Some(wanted.1)), "{name}");
    }
}

#[test]
fn tables_and_find_say_how_types_were_found() {
    let fixture = |kind: &str| fixtures().join(format!("shop_go121_386.{kind}.zst"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.jsonl");
    let dumptool = |args: &[&str], files: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = command.args(args).args(files).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    dumptool(&["convert", "--exe"], &[&fixture("exe"), &fixture("heapdump"), &path]);
    let text = std::fs::read_to_string(&path).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut sources: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for row in rows.filter(|row| row["object"].is_u64()) {
        let source = row["type_source"].as_str().map(str::to_owned);
        sources.entry(row["type"].as_str().unwrap().to_owned()).or_default().insert(source);
    }
    let of = |source: &str| BTreeSet::from([Some(source.to_owned())]);
    assert_eq!(sources["main.Session"], of("exact"));
    assert_eq!(sources["[]map.bucket[string]*main.Session"], of("array"));
    assert!(sources.iter().all(|(name, sources)| {
        (sources == &of("guess")) == name.ends_with(" ?")
            && sources.contains(&None) == name.contains(" B")
    }));
    let args = ["find", "--type", "main.Session", "-n", "1", "--format", "json", "--exe"];
    let found = dumptool(&args, &[&fixture("exe"), &fixture("heapdump")]);
    let found: Value = serde_json::from_slice(&found).unwrap();
    assert_eq!(found["objects"][0]["type_source"], "exact", "{found:#}");
}

#[test]
fn a_command_says_with_v_how_many_types_were_in_doubt() {
    let fixture = |kind: &str| fixtures().join(format!("shop_go121_386.{kind}.zst"));
    let errors = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let command = command.arg("top").args(args).arg("--exe");
        let output = command.args([fixture("exe"), fixture("heapdump")]).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let (dump, exe) = (open(&fixture("heapdump")), open(&fixture("exe")));
    let report = load(&dump, exe.bytes(), true).unwrap().executable.unwrap();
    assert!(report.conflicts > 0);
    assert!(errors(&["-v"]).contains(&report.remark()));
    assert!(!errors(&[]).contains("rejected"));
}
