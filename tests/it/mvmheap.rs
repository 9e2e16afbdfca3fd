//! MoarVM heap snapshots: every block and dialect from the builder, real files with their truth,
//! damaged files.

use crate::support::broken;
use crate::support::mvmheap::{Dialect, Snapshot, Writer, row, version_2, world};
use dumptool::error::{Error, ErrorKind};
use dumptool::input::mvmheap::{Records, check, for_each_record, info};
use dumptool::input::{Format, ReadOptions, Visitor};
use dumptool::model::fields::{FieldSink, Record};
use dumptool::source::Source;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;

fn info_json(bytes: &[u8]) -> Value {
    serde_json::to_value(info(bytes, ReadOptions::default()).unwrap()).unwrap()
}

/// Collects what `cat` would show, as JSON.
struct Cat {
    rows: Vec<Value>,
    contents: bool,
}

struct Fields(serde_json::Map<String, Value>, bool);

impl FieldSink for Fields {
    fn unsigned(&mut self, name: &str, value: u64) {
        self.0.insert(name.into(), value.into());
    }
    fn signed(&mut self, name: &str, value: i128) {
        self.0.insert(name.into(), value.to_string().into());
    }
    fn address(&mut self, name: &str, value: u64) {
        self.0.insert(name.into(), format!("{value:#x}").into());
    }
    fn float(&mut self, name: &str, value: f64) {
        self.0.insert(name.into(), value.into());
    }
    fn boolean(&mut self, name: &str, value: bool) {
        self.0.insert(name.into(), value.into());
    }
    fn text(&mut self, name: &str, value: &[u8]) {
        self.0.insert(name.into(), String::from_utf8_lossy(value).into());
    }
    fn contents(&mut self, name: &str, value: &[u8]) {
        self.0.insert(name.into(), value.into());
    }
    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self)) {
        let item = |item| {
            let mut fields = Self(serde_json::Map::new(), self.1);
            each(item, &mut fields);
            Value::Object(fields.0)
        };
        let items: Vec<_> = items.map(item).collect();
        self.0.insert(name.into(), items.into());
    }
    fn wants_contents(&self) -> bool {
        self.1
    }
}

impl Visitor for Cat {
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
        let mut fields = Fields(serde_json::Map::new(), self.contents);
        record.fields(&mut fields);
        fields.0.insert("offset".into(), offset.into());
        fields.0.insert("record".into(), record.name().into());
        self.rows.push(Value::Object(fields.0));
        ControlFlow::Continue(())
    }
}

fn cat(bytes: &[u8], contents: bool) -> (Vec<Value>, Option<Error>) {
    let mut visitor = Cat { rows: Vec::new(), contents };
    let error = for_each_record(bytes, ReadOptions::default(), &mut visitor).err();
    (visitor.rows, error)
}

/// Compares `info` with the answer of an independent decoder, for all samples of the folder that
/// the variable names.
#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn corpus() {
    let corpus = crate::support::corpus_folder("");
    let mut compared = 0;
    for entry in std::fs::read_dir(Path::new(&corpus).join("mvmheap")).unwrap() {
        let path = entry.unwrap().path();
        let truth = path.with_extension("json");
        if path.extension().is_none_or(|extension| extension != "mvmheap") || !truth.exists() {
            continue;
        }
        let truth: Value = serde_json::from_slice(&std::fs::read(truth).unwrap()).unwrap();
        compare(
            &path.display().to_string(),
            &info_json(Source::open(&path).unwrap().bytes()),
            &truth,
        );
        compared += 1;
    }
    assert!(compared >= 4, "only {compared} samples");
}

/// Compares every number that both know.
fn compare(name: &str, info: &Value, truth: &Value) {
    let version = truth["version"].as_u64().or(truth["scan"]["version"].as_u64()).unwrap();
    // Where both readings of the decoder agree, only the one through the table of contents lists
    // the snapshots.
    let listed = if truth["toc"]["snapshots"].is_null() {
        &truth["scan"]["snapshots"]
    } else {
        &truth["toc"]["snapshots"]
    };
    let expected = if listed.is_null() { &truth["snapshots"] } else { listed };
    let truth = if truth["scan"].is_null() { truth } else { &truth["scan"] };
    assert_eq!(info["format_version"], if version == 2 { "2" } else { "3.1" }, "{name}");
    if let Some(good_until) = truth.get("good_until") {
        assert_eq!(info["complete"], false, "{name}");
        assert!(info["damage"]["offset"].as_u64() >= good_until.as_u64(), "{name}");
    } else {
        assert_eq!(info["damage"], Value::Null, "{name}");
    }
    if let Some(blocks) = truth["blocks"].as_u64() {
        let counted: u64 = info["records"]
            .as_object()
            .unwrap()
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(counted, blocks, "{name}");
    }
    if let Some(sections) = truth["sections"].as_array() {
        let counted: u64 = info["records"]
            .as_object()
            .unwrap()
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(counted, sections.len() as u64 + 1, "{name}");
    }
    let start_time = truth["filemeta"]["start_time"].as_u64();
    let snapshots = info["heap"]["snapshots"].as_array().unwrap();
    let expected = expected.as_array().unwrap();
    assert!(
        snapshots.len() >= expected.len().min(truth["num_snapshots"].as_u64().unwrap() as usize),
        "{name}"
    );
    for (i, (snapshot, truth)) in snapshots.iter().zip(expected).enumerate() {
        let name = format!("{name}, snapshot {i}");
        let (details, kinds) = (&snapshot["details"], &truth["by_kind"]);
        if kinds.is_null() {
            assert_eq!(snapshot["complete"], false, "{name}");
            continue;
        }
        let kind = |kind: &str| kinds[kind].as_u64().unwrap_or(0);
        let by_kind = json!({
            "object": kind("object"), "type_object": kind("type_object"), "stable": kind("stable"), "frame": kind("frame"),
            "permanent_roots": kind("perm_roots"), "instance_roots": kind("instance_roots"), "c_stack_roots": kind("cstack_roots"),
            "thread_roots": kind("thread_roots"), "root": kind("root"), "inter_generational_roots": kind("intergen_roots"),
            "call_stack_roots": kind("callstack_roots"),
        });
        assert_eq!(details["by_kind"], by_kind, "{name}");
        assert_eq!(snapshot["index"], i, "{name}");
        let objects = kind("object") + kind("type_object") + kind("stable") + kind("frame");
        assert_eq!(snapshot["objects"], objects, "{name}");
        assert_eq!(snapshot["references"], truth["references"], "{name}");
        assert_eq!(snapshot["shallow_bytes"], truth["managed"], "{name}");
        assert_eq!(snapshot["external_bytes"], truth["unmanaged"], "{name}");
        let largest = &truth["top_objects_by_size"][0];
        let shown = format!(
            "{} [{}]",
            details["biggest_type"]["name"].as_str().unwrap(),
            details["biggest_type"]["repr"].as_str().unwrap()
        );
        assert_eq!(json!([shown, details["biggest_type"]["bytes"]]), *largest, "{name}");
        if let Some(sizes) = truth["tables_after"].as_array() {
            assert_eq!(
                json!([details["strings"], snapshot["types"], details["frames"]]),
                json!(sizes),
                "{name}"
            );
        }
        for (key, value) in truth["snapmeta"].as_object().into_iter().flatten() {
            assert_eq!(details[key], *value, "{name}");
        }
        let time = truth["snapmeta"]["snap_time"]
            .as_u64()
            .zip(start_time)
            .map(|(time, start)| time - start);
        assert_eq!(snapshot["time_us"].as_u64(), time, "{name}");
    }
    for (ours, theirs) in [("strings", "strings"), ("frames", "static_frames")] {
        if let Some(last) = snapshots.last().filter(|last| last["complete"] == true) {
            assert_eq!(last["details"][ours], truth[theirs], "{name}");
        }
    }
}

fn two_snapshots() -> Vec<u8> {
    let second = Snapshot {
        time: 3000,
        strings: vec!["late"],
        types: vec![(4, 9)],
        frames: vec![],
        ..world()
    };
    Writer::new().snapshot(&world()).snapshot(&second).close()
}

#[test]
fn a_small_world_is_summed_up() {
    let info = info_json(&two_snapshots());
    assert_eq!(
        (&info["complete"], &info["format_version"], &info["warnings"]),
        (&json!(true), &json!("3.1"), &json!([]))
    );
    let first = &info["heap"]["snapshots"][0];
    assert_eq!(first["objects"], 7);
    assert_eq!(first["references"], 11);
    assert_eq!(first["roots"], 5);
    assert_eq!(first["types"], 2);
    assert_eq!(first["shallow_bytes"], 24 + 32 + 24 + 168 + 200 + 200 + 40);
    assert_eq!(first["external_bytes"], 1024);
    assert_eq!(first["time_us"], 1500);
    assert_eq!(
        first["details"]["biggest_type"],
        json!({"name": "VMString", "repr": "P6opaque", "bytes": 1056, "count": 2})
    );
    assert_eq!(first["details"]["total_frames"], 1);
    assert_eq!(info["heap"]["snapshots"][1]["types"], 3);
    assert_eq!(info["heap"]["snapshots"][1]["details"]["strings"], 10);
    assert_eq!(info["records"]["toc"], 6);
    assert_eq!(info["metadata"][2], json!({"key": "pid", "value": "42"}));
}

#[test]
fn quick_takes_what_the_summary_blocks_say() {
    let info = info(&two_snapshots(), ReadOptions::default().quick(true)).unwrap();
    let first = &serde_json::to_value(info).unwrap()["heap"]["snapshots"][0];
    assert_eq!(
        (&first["objects"], &first["shallow_bytes"], &first["details"]["by_kind"]),
        (&json!(null), &json!(null), &json!(null))
    );
    assert_eq!(first["details"]["total_objects"], 3);
    assert_eq!(
        first["details"]["biggest_type"],
        json!({"name": "VMString", "repr": "P6opaque", "bytes": 1056, "count": 2})
    );
}

#[test]
fn every_invariant_holds_in_the_small_world() {
    assert_eq!(broken(Format::Mvmheap, &two_snapshots()), Vec::<String>::new());
    for dialect in [Dialect::A0, Dialect::A, Dialect::B] {
        assert_eq!(
            broken(Format::Mvmheap, &version_2(dialect, &[world()])),
            Vec::<String>::new(),
            "{dialect:?}"
        );
    }
}

#[test]
fn each_broken_invariant_is_found() {
    let broken = |change: &dyn Fn(&mut Snapshot)| {
        let mut changed = world();
        change(&mut changed);
        broken(Format::Mvmheap, &Writer::new().snapshot(&changed).close())
    };
    assert_eq!(broken(&|world| world.rows[5].kind = 12), ["rows.kinds"]);
    assert_eq!(broken(&|world| world.rows[0].kind = 5), ["rows.root", "rows.first"]);
    assert_eq!(broken(&|world| world.rows[1].size = 8), ["rows.root_sizes"]);
    assert_eq!(broken(&|world| world.rows[5].tofi = 2), ["rows.types"]);
    assert_eq!(broken(&|world| world.rows[3].references[0].1 = 10), ["references.targets"]);
    assert_eq!(broken(&|world| world.rows[3].references[0].0 = 3), ["references.kinds"]);
    assert_eq!(broken(&|world| world.rows[3].references[0].0 = 4), ["references.unknown"]);
    assert_eq!(broken(&|world| world.rows[3].references[0].0 = 9 << 2 | 2), ["references.strings"]);
    assert_eq!(broken(&|world| world.types[1].0 = 9), ["types.strings"]);
    assert_eq!(broken(&|world| world.frames[0][3] = 9), ["frames.strings"]);
}

#[test]
fn totals_that_contradict_the_columns_are_found() {
    let mut writer = Writer::new();
    writer.meta(
        "snapmeta",
        "{\"snap_time\": 1, \"total_heap_size\": 1, \"total_objects\": 1, \"total_frames\": 2, \"total_refs\": 11}",
    );
    writer.columns(&world());
    writer.column("topIDs", 8, [0, 1, 0, 0, 0, 1, 0, 0]);
    writer.column("topscore", 8, [2, 2, 2, 0, 1, 1, 416, 0]);
    writer.end_group();
    let expected = [
        "snapmeta.total_heap_size",
        "snapmeta.total_objects",
        "snapmeta.total_frames",
        "highscores.types_by_count",
        "highscores.types_by_size",
    ];
    assert_eq!(broken(Format::Mvmheap, &writer.close()), expected);
}

#[test]
fn dialects_of_version_2_give_the_same_tables() {
    let second = Snapshot { strings: vec!["late"], types: vec![(4, 9)], frames: vec![], ..world() };
    for dialect in [Dialect::A0, Dialect::A, Dialect::B] {
        let bytes = version_2(dialect, &[world(), second.clone()]);
        let info = info_json(&bytes);
        assert_eq!(
            (&info["damage"], &info["format_version"]),
            (&json!(null), &json!("2")),
            "{dialect:?}"
        );
        let last = &info["heap"]["snapshots"][1];
        assert_eq!(
            (&last["types"], &last["details"]["strings"], &last["details"]["frames"]),
            (&json!(3), &json!(10), &json!(1)),
            "{dialect:?}"
        );
        assert_eq!(last["details"]["biggest_type"]["name"], "VMString", "{dialect:?}");
        assert_eq!(
            (&last["objects"], &last["references"], &last["roots"]),
            (&json!(7), &json!(11), &json!(5)),
            "{dialect:?}"
        );
        assert_eq!(info["records"]["index"], 1, "{dialect:?}");
        let first = if dialect == Dialect::A { 3 } else { 2 };
        assert_eq!(info["heap"]["snapshots"][0]["types"], first, "{dialect:?}");
    }
}

#[test]
fn the_table_of_contents_and_a_scan_give_the_same_blocks() {
    let walk = |records: Records<'_>| -> Vec<_> {
        records
            .map(|record| {
                record.map(|(offset, record)| (offset, record.name(), record.snapshot)).unwrap()
            })
            .collect()
    };
    for bytes in [two_snapshots(), fixture("tiny-nqp.mvmheap")] {
        assert_eq!(walk(Records::new(&bytes).unwrap()), walk(Records::scan(&bytes).unwrap()));
    }
}

#[test]
fn unknown_blocks_are_skipped_through_the_table_of_contents() {
    let mut writer = Writer::new();
    writer.meta("snapmeta", "{\"snap_time\": 1}");
    writer.unknown("gcstats", b"what a future writer says");
    writer.columns(&world());
    writer.end_group();
    let bytes = writer.close();
    let (rows, error) = cat(&bytes, true);
    assert!(error.is_none());
    assert_eq!(rows[2]["record"], "unknown");
    assert_eq!(rows[2]["block_name"], "gcstats");
    assert_eq!(rows[2]["bytes"], 25);
    assert_eq!(info_json(&bytes)["heap"]["snapshots"][0]["objects"], 7);
    assert_eq!(broken(Format::Mvmheap, &bytes), Vec::<String>::new());
    // A column of an unknown name needs no table.
    let mut writer = Writer::new();
    writer.column("colnew", 8, [1, 2, 3]);
    let (rows, _) = cat(&writer.bytes, false);
    assert_eq!((&rows[1]["block_name"], &rows[1]["count"]), (&json!("colnew"), &json!(3)));
}

#[test]
fn cat_shows_every_field() {
    let (rows, error) = cat(&two_snapshots(), true);
    assert!(error.is_none());
    let of = |name: &str| {
        rows.iter().find(|row| row["record"] == name).unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(
        (&of("filemeta")["pid"], &of("filemeta")["entry_count"], &of("filemeta")["offset"]),
        (&json!(42), &json!(2), &json!(16))
    );
    assert_eq!(
        (&of("snapmeta")["snapshot"], &of("snapmeta")["snap_time"], &of("snapmeta")["total_refs"]),
        (&json!(0), &json!(2500), &json!(11))
    );
    let colkind = of("colkind");
    assert_eq!(
        (
            &colkind["entry_size"],
            &colkind["size"],
            &colkind["count"],
            &colkind["uncompressed_bytes"]
        ),
        (&json!(2), &json!(0), &json!(10), &json!(20))
    );
    assert_eq!(colkind["payload"].as_array().unwrap().len(), 20);
    assert_eq!(
        (&of("strings")["count"], &of("strings")["strings"][5]["string"]),
        (&json!(9), &json!("Foo"))
    );
    assert_eq!(
        (&of("toc")["count"], &of("toc")["entries"][0]["name"]),
        (&json!(18), &json!("snapmeta"))
    );
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mvmheap").join(name);
    Source::open(&path).unwrap().bytes().to_vec()
}

#[test]
fn real_files_keep_every_invariant() {
    for name in ["tiny-nqp.mvmheap", "tiny-nqp-v2.mvmheap.zst"] {
        assert_eq!(broken(Format::Mvmheap, &fixture(name)), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn real_files_have_the_known_numbers() {
    for (name, version, numbers) in [
        ("tiny-nqp.mvmheap", "3.1", [3151, 11980, 262_048, 467_596]),
        ("tiny-nqp-v2.mvmheap.zst", "2", [3149, 11976, 262_008, 467_336]),
    ] {
        let info = info_json(&fixture(name));
        let first = &info["heap"]["snapshots"][0];
        assert_eq!(info["format_version"], version);
        let found = ["objects", "references", "shallow_bytes", "external_bytes"]
            .map(|key| first[key].as_u64().unwrap());
        assert_eq!(found, numbers, "{name}");
        let biggest =
            json!({"name": "SpeshLog", "repr": "MVMSpeshLog", "bytes": 393_296, "count": 1});
        assert_eq!(first["details"]["biggest_type"], biggest, "{name}");
        assert_eq!(info["heap"]["snapshots"].as_array().unwrap().len(), 4, "{name}");
    }
}

#[test]
fn a_real_cut_file_keeps_its_complete_snapshots() {
    let info = info_json(&fixture("tiny-nqp-cut-snap3.mvmheap"));
    assert_eq!(info["damage"]["kind"], "truncated");
    assert_eq!(info["damage"]["offset"], 61440);
    let snapshots = &info["heap"]["snapshots"];
    assert_eq!([0, 1, 2].map(|i| snapshots[i]["complete"].as_bool().unwrap()), [true, true, false]);
    assert_eq!(snapshots[1]["details"]["biggest_type"]["name"], "SpeshLog");
    // All columns of collectables were written before the cut.
    let meta = &snapshots[2]["details"];
    assert_eq!(snapshots[2]["references"], meta["total_refs"]);
    assert_eq!(meta["by_kind"]["object"], meta["total_objects"]);
    let info = info_json(&fixture("tiny-nqp-v2-cut.mvmheap.zst"));
    assert_eq!(info["damage"]["kind"], "truncated");
    assert_eq!(info["damage"]["offset"], 307_200);
    assert_eq!(info["heap"]["snapshots"][0]["complete"], true);
}

#[test]
fn a_killed_process_between_snapshots_leaves_a_complete_file() {
    let bytes = Writer::new().snapshot(&world()).bytes;
    let info = info_json(&bytes);
    assert_eq!(
        (&info["complete"], &info["heap"]["snapshots"][0]["complete"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(info["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn development_builds_without_filemeta_are_version_3() {
    let info = info_json(&Writer::without_filemeta().snapshot(&world()).close());
    assert_eq!((&info["format_version"], &info["damage"]), (&json!("3"), &json!(null)));
    assert_eq!(info["heap"]["snapshots"][0]["time_us"], json!(null));
}

#[test]
fn a_damaged_block_costs_only_its_snapshot() {
    let bytes = two_snapshots();
    let (rows, _) = cat(&bytes, false);
    let colsize = rows.iter().find(|row| row["record"] == "colsize").unwrap()["offset"]
        .as_u64()
        .unwrap() as usize;
    // The name is destroyed; then the compressed data.
    for (offset, objects) in [(colsize, 7), (colsize + 18, 7)] {
        let mut damaged = bytes.clone();
        damaged[offset] ^= 0xff;
        let info = info_json(&damaged);
        assert_eq!(info["complete"], false);
        assert!(info["damage"]["offset"].as_u64().unwrap() >= colsize as u64);
        let [first, second] = [0, 1].map(|i| &info["heap"]["snapshots"][i]);
        assert_eq!(
            (&first["complete"], &first["objects"], &first["shallow_bytes"]),
            (&json!(false), &json!(objects), &json!(null))
        );
        assert_eq!((&second["complete"], &second["objects"]), (&json!(true), &json!(7)));
        assert_eq!(second["details"]["biggest_type"]["name"], "VMString");
        assert!(check(&damaged, ReadOptions::default()).unwrap().damage.is_some());
        assert!(cat(&damaged, false).1.is_some());
    }
}

#[test]
fn damage_of_a_column_is_told_without_showing_its_record() {
    let mut bytes = two_snapshots();
    assert!(Records::new(&bytes).unwrap().all(|record| record.unwrap().1.damage().is_none()));
    let colsize = bytes.windows(8).position(|window| window == b"colsize\0").unwrap();
    bytes[colsize + 18] ^= 0xff;
    let damaged = Records::new(&bytes)
        .unwrap()
        .filter_map(|record| record.unwrap().1.damage().map(Error::offset))
        .count();
    assert_eq!(damaged, 1);
}

#[test]
fn a_lost_table_of_strings_leaves_no_wrong_names() {
    let bytes = two_snapshots();
    let (rows, _) = cat(&bytes, false);
    let strings = rows.iter().find(|row| row["record"] == "strings").unwrap()["offset"]
        .as_u64()
        .unwrap() as usize;
    let mut damaged = bytes;
    damaged[strings + 1] ^= 0xff;
    let second = &info_json(&damaged)["heap"]["snapshots"][1];
    assert_eq!(
        (&second["details"]["strings"], &second["details"]["biggest_type"]["name"]),
        (&json!(null), &json!(null))
    );
    assert_eq!((&second["types"], &second["objects"]), (&json!(3), &json!(7)));
}

/// Runs everything; the outcome must be sane, whatever the bytes.
fn survives(bytes: &[u8]) -> Option<Value> {
    let _ = cat(bytes, true);
    let _ = check(bytes, ReadOptions::default());
    match info(bytes, ReadOptions::default()) {
        Ok(info) => Some(serde_json::to_value(info).unwrap()),
        Err(error) => {
            assert!(error.offset().is_some());
            None
        }
    }
}

#[test]
fn every_cut_is_reported_with_an_offset() {
    let second = Snapshot { strings: vec!["late"], ..world() };
    let files = [
        two_snapshots(),
        version_2(Dialect::A0, &[world(), second.clone()]),
        version_2(Dialect::A, &[world()]),
        version_2(Dialect::B, &[world(), second]),
    ];
    for bytes in files {
        for cut in 0..bytes.len() {
            let Some(info) = survives(&bytes[..cut]) else {
                assert!(cut < 16);
                continue;
            };
            if info["damage"].is_null() {
                // A version 3 file may end after any outer table of contents.
                assert_eq!(info["format_version"], "3.1", "cut at {cut}");
                let own_start =
                    u64::from_le_bytes(bytes[cut - 8..cut].try_into().unwrap()) as usize;
                assert!(bytes[own_start..].starts_with(b"toc\0"), "cut at {cut}");
            } else {
                assert_eq!(info["complete"], false);
                assert_eq!(info["damage"]["kind"], "truncated", "cut at {cut}: {}", info["damage"]);
                assert!(info["damage"]["offset"].as_u64().unwrap() <= cut as u64);
            }
        }
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for bytes in [two_snapshots(), version_2(Dialect::B, &[world(), world()])] {
        for _ in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random(4) {
                damaged[random(bytes.len())] = random(256) as u8;
            }
            survives(&damaged);
        }
    }
    let bytes = fixture("tiny-nqp.mvmheap");
    for _ in 0..20 {
        let mut damaged = bytes.clone();
        damaged[random(bytes.len())] ^= 1 << random(8);
        survives(&damaged);
    }
}

#[test]
fn huge_counts_are_errors_and_no_allocations() {
    let huge = ((1u64 << 60) + 1).to_le_bytes();
    for section in [&b"coll"[..], b"refs", b"type", b"fram", b"strs"] {
        let width: u64 = match section {
            b"coll" => 28,
            b"refs" => 17,
            b"type" => 16,
            _ => 32,
        };
        let bytes = [b"MoarHeapDumpv002", section, &huge, &width.to_le_bytes(), &[0; 64]].concat();
        assert_eq!(info_json(&bytes)["damage"]["kind"], "truncated", "{}", section.escape_ascii());
    }
    for block in ["filemeta", "toc\0\0\0\0\0"] {
        let bytes = [b"MoarHeapDumpv003", block.as_bytes(), &huge, &[0; 64]].concat();
        assert_eq!(info_json(&bytes)["damage"]["kind"], "truncated", "{block}");
    }
}

#[test]
fn a_bomb_is_stopped_at_its_limit() {
    let mut writer = Writer::new();
    let mut bomb = Snapshot { rows: vec![row(9, 0, 0, 0, &[])], ..Snapshot::default() };
    bomb.rows.extend(std::iter::repeat_n(row(1, 0, 0, 0, &[]), 3));
    writer.meta("snapmeta", "{}");
    writer.columns(&bomb);
    writer.strings(&[&"\0".repeat(64 << 20)]);
    writer.end_group();
    let info = info_json(&writer.close());
    assert_eq!(info["damage"]["kind"], "limit");
    assert_eq!(info["heap"]["snapshots"][0]["details"]["strings"], json!(null));
}

/// A snapshot of equal rows, which take hardly a byte.
fn equal_rows(rows: usize) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.column("colkind", 2, vec![1; rows]);
    writer.end_group();
    writer.bytes
}

#[test]
fn a_million_equal_rows_are_no_bomb() {
    let bytes = equal_rows(1_000_000);
    let info = info_json(&bytes);
    assert_eq!(
        (&info["damage"], &info["heap"]["snapshots"][0]["objects"]),
        (&json!(null), &json!(1_000_000))
    );
    assert!(cat(&bytes, false).1.is_none());
}

#[test]
fn ten_million_equal_rows_in_two_kilobytes_are_refused() {
    assert_eq!(info_json(&equal_rows(10_000_000))["damage"]["kind"], "limit");
}

#[test]
fn tables_of_many_snapshots_share_what_they_may_decompress_to() {
    let mut writer = Writer::new();
    for _ in 0..20 {
        writer.meta("snapmeta", "{}");
        writer.columns(&Snapshot { rows: vec![row(9, 0, 0, 0, &[])], ..Snapshot::default() });
        writer.strings(&[&"\0".repeat(1 << 20)]);
        writer.end_group();
    }
    assert_eq!(info_json(&writer.close())["damage"]["kind"], "limit");
}

#[test]
fn positions_that_no_block_agrees_with_are_found() {
    let mut bytes = two_snapshots();
    // The end of the second block that the first inner table lists, one too small.
    let toc = memchr::memmem::find(&bytes, b"toc\0\0\0\0\0").unwrap();
    bytes[toc + 16 + 24 + 16] -= 1;
    let findings = check(&bytes, ReadOptions::default()).unwrap();
    let broken: Vec<_> = findings
        .findings
        .iter()
        .filter(|finding| !finding.ok)
        .map(|finding| &finding.rule[..])
        .collect();
    assert!(broken.contains(&"toc.positions"), "{broken:?}");
}

#[test]
fn other_magics_are_told_apart() {
    let kind = |bytes: &[u8]| info(bytes, ReadOptions::default()).unwrap_err().kind();
    assert_eq!(kind(b"MoarHeapDumpv004filemeta"), ErrorKind::Unsupported);
    assert_eq!(kind(b"MoarHeapDump"), ErrorKind::Truncated);
    assert_eq!(kind(b"go1.7 heap dump\n"), ErrorKind::Corrupt);
}
