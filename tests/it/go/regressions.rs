//! One test for each thing that readers of this format have got wrong, and for each rule of
//! `check`.

use super::lines::lines;
use crate::support::broken;
use crate::support::go::{B, Dump, F, HEAP, S, U};
use dumptool::InfoWarning;
use dumptool::input::{self, Format, ReadOptions};
use serde_json::{Value, json};

fn info(bytes: &[u8]) -> Value {
    serde_json::to_value(input::info(Format::Go, bytes, ReadOptions::default()).unwrap()).unwrap()
}

fn details(bytes: &[u8]) -> Value {
    info(bytes)["heap"]["snapshots"][0]["details"].take()
}

/// A page in which every slot of 64 bytes is written, as the writer does it.
fn page(dump: Dump, pointers: &[u64]) -> Dump {
    (0..128).fold(dump, |dump, slot| dump.object(HEAP + slot * 64, 64, pointers))
}

#[test]
fn phantoms_of_go_1_22_and_1_26_are_left_out() {
    for (version, pointers, phantoms) in [
        ("go1.21.0", &[0][..], 0),
        ("go1.22.0", &[0], 2),
        ("go1.22.0", &[], 0),
        ("go1.27.3", &[0], 4),
        ("go1.27.3", &[], 2),
        ("go1.27.3 X:nogreenteagc", &[0], 2),
    ] {
        let dump = page(Dump::new(version), pointers).finish(128 - phantoms, (128 - phantoms) * 64);
        let details = details(&dump);
        assert_eq!(details["phantom_objects"], json!(phantoms), "{version} {pointers:?}");
        assert_eq!(details["heap_objects_matches"], json!(true));
        assert_eq!(info(&dump)["warnings"], json!([]));
        assert_eq!(broken(Format::Go, &dump), [""; 0]);
    }
}

#[test]
fn statistics_tell_the_rule_of_a_dump_without_a_version() {
    let dump = page(Dump::new("regabi"), &[0]).finish(126, 126 * 64);
    assert_eq!(details(&dump)["phantom_rule"], json!("alloc_headers"));
    assert_eq!(details(&dump)["heap_alloc_matches"], json!(true));
    let warning = InfoWarning::PhantomsByMemstats.to_string();
    assert_eq!(info(&dump)["warnings"][0], json!(warning));
    // Nothing agrees: nothing is left out.
    let dump = page(Dump::new("regabi"), &[0]).finish(500, 500 * 64);
    assert_eq!(
        (&details(&dump)["phantom_rule"], &details(&dump)["phantom_objects"]),
        (&json!("none"), &json!(0))
    );
}

#[test]
fn an_unfinished_sweep_is_a_warning_and_breaks_no_rule() {
    let dump = Dump::new("go1.27.3").object(HEAP, 16, &[]).finish(2, 32);
    assert_eq!(details(&dump)["heap_objects_matches"], json!(false));
    assert_eq!(info(&dump)["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(broken(Format::Go, &dump), [""; 0]);
}

#[test]
fn more_objects_than_the_statistics_break_rules() {
    let dump = Dump::new("go1.27.3").object(HEAP, 16, &[]).object(HEAP + 16, 16, &[]).finish(1, 16);
    assert_eq!(broken(Format::Go, &dump), ["memstats.heap_objects", "memstats.heap_alloc"]);
}

#[test]
fn malloc_headers_are_counted_where_the_first_word_is_no_pointer() {
    let dump = Dump::new("go1.27.3")
        .object(HEAP, 640, &[8, 16])
        .object(HEAP + 8192, 32768, &[0])
        .object(HEAP + 65536, 512, &[8]);
    assert_eq!(details(&dump.finish(3, 33920))["malloc_headers"], json!(1));
    let dump = Dump::with_pointers("go1.27.3", 4).object(HEAP, 256, &[8]);
    assert_eq!(details(&dump.finish(1, 256))["malloc_headers"], json!(1));
    let dump = Dump::new("go1.19.8").object(HEAP, 640, &[8, 16]);
    assert_eq!(details(&dump.finish(1, 640))["malloc_headers"], json!(0));
}

#[test]
fn frames_of_early_1_3_have_no_contpc() {
    let start = Dump::empty("1.3")
        .record(6, &[U(0), U(8), U(96), U(0x1000), U(0x2000), U(u64::from(b'6')), S(""), U(4)]);
    let early = |dump: Dump, name| {
        dump.record(
            5,
            &[U(0x10), U(0), U(0), B(&[0; 8]), U(0x401000), U(0x401010), S(name), F(&[(1, 0)])],
        )
    };
    let dump = early(early(start.clone(), "runtime.goexit"), "main.main").record(0, &[]).bytes();
    let (lines, end) = lines(&dump);
    end.unwrap();
    assert!(lines[1].contains("pc=0x401010 name=\"runtime.goexit\" pointers=1"), "{}", lines[1]);
    assert!(lines[2].contains("name=\"main.main\""), "{}", lines[2]);
    assert!(info(&dump)["warnings"][0].as_str().unwrap().contains("before May 31, 2014"));

    let dump = start.frame(0x10, 0, 0, "main.main").record(0, &[]).bytes();
    let (lines, _) = super::lines::lines(&dump);
    assert!(lines[1].contains("contpc=0x401010 name=\"main.main\""), "{}", lines[1]);
}

#[test]
fn a_scan_bit_in_a_status_is_no_other_status() {
    let dump = Dump::new("go1.27.3")
        .goroutine(1, 2, 0x1004, "select")
        .goroutine(1, 2, 1, "stale")
        .goroutine(1, 2, 77, "");
    let dump = dump.finish(0, 0);
    let goroutines = details(&dump)["goroutines"].take();
    assert_eq!(goroutines["wait_reasons"], json!([{"name": "select", "count": 1}]));
    assert_eq!(broken(Format::Go, &dump), ["goroutines.status"]);
}

#[test]
fn bytes_after_the_eof_record_are_told() {
    let mut dump = Dump::new("go1.27.3").finish(0, 0);
    dump.extend_from_slice(&[0; 5]);
    assert_eq!(info(&dump)["complete"], json!(true));
    assert_eq!(info(&dump)["warnings"], json!(["bytes after the eof record, ignored: 5"]));
    assert_eq!(broken(Format::Go, &dump), ["eof.last"]);
}

#[test]
fn zeros_in_the_middle_of_a_dump_are_no_proper_end() {
    let mut dump = Dump::new("go1.27.3").object(HEAP, 16, &[]).bytes();
    dump.extend_from_slice(&[0; 100]);
    let info = info(&dump);
    assert_eq!((&info["complete"], &info["damage"]["kind"]), (&json!(false), &json!("corrupt")));
}

#[test]
fn later_drafts_are_refused_by_name() {
    let dump = Dump::empty("1.3").record(10, &[U(0), U(8)]).record(13, &[U(1)]).bytes();
    let info = info(&dump);
    assert_eq!(info["damage"]["kind"], json!("unsupported"));
    assert!(info["damage"]["message"].as_str().unwrap().contains("later draft"), "{info}");
}

#[test]
fn repeated_types_count_once_and_must_not_change() {
    let dump = |second: &str| {
        let first = [U(0x500), U(8), S("main.T"), U(1)];
        Dump::new("go1.27.3")
            .record(3, &first)
            .record(3, &[U(0x500), U(8), S(second), U(1)])
            .finish(0, 0)
    };
    assert_eq!(info(&dump("main.T"))["heap"]["snapshots"][0]["types"], json!(1));
    assert_eq!(broken(Format::Go, &dump("main.T")), [""; 0]);
    assert_eq!(broken(Format::Go, &dump("main.U")), ["types.same"]);
}

#[test]
fn each_rule_of_check_finds_what_it_is_for() {
    let start = || Dump::new("go1.27.3");
    let stack = || start().goroutine(0x100, 0x10, 4, "select");
    for (dump, rule) in [
        (start().object(HEAP, 32, &[]).object(HEAP + 16, 32, &[]), "objects.overlap"),
        (start().object(HEAP - 16, 16, &[]), "objects.in_heap"),
        (start().object(HEAP, 16, &[16]), "objects.fields"),
        (start().record(1, &[U(HEAP), B(&[0; 16]), F(&[(2, 0)])]), "fields.kind"),
        (start().frame(0x10, 0, 0, "main.f"), "goroutines.order"),
        (stack().record(14, &[U(1), U(0x200), U(0), U(0), U(0), U(0), U(0)]), "goroutines.owner"),
        (stack().frame(0x20, 0, 0, "main.f"), "frames.top"),
        (stack().frame(0x10, 1, 0, "main.f"), "frames.depth"),
        (stack().frame(0x10, 0, 0, "main.f").frame(0x30, 1, 0x20, "main.g"), "frames.child"),
        (start().record(8, &[U(0x600), U(0x500)]), "itabs.type"),
        (start().record(17, &[U(HEAP), U(1)]), "alloc_samples.profile"),
        (start().record(7, &[U(16), U(0), U(0), U(0), U(0)]), "finalizers.in_heap"),
        (start().record(12, &[U(1), B(&[]), F(&[])]), "data_segment.once"),
    ] {
        assert_eq!(broken(Format::Go, &dump.finish(1 << 20, 1 << 20)), [rule]);
    }
    assert_eq!(broken(Format::Go, &Dump::empty("1.4").record(0, &[]).bytes())[0], "params.first");
}
