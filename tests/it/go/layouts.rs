//! Every record of every layout, written by the builder.

use super::lines::lines;
use crate::support::go::{B, Dump, F, Part, S, U};

/// One record by itself; `version` also picks its params.
fn record(version: &str, tag: u64, parts: &[Part<'_>]) -> String {
    let dump = Dump::empty(version);
    let dump = match version {
        "1.3" => dump.record(
            6,
            &[U(0), U(8), U(96), U(0x1000), U(0x2000), U(u64::from(b'6')), S("precisestack"), U(4)],
        ),
        "1.7" => {
            dump.record(6, &[U(1), U(4), U(0x1000), U(0x2000), S("mips"), S("go1.22.10"), U(1)])
        }
        _ => dump.record(6, &[U(0), U(8), U(0x1000), U(0x2000), U(u64::from(b'9')), S(""), U(2)]),
    };
    let (mut lines, end) = lines(&dump.record(tag, parts).bytes());
    assert!(end.unwrap_err().message().contains("without its eof record"));
    lines.pop().unwrap()
}

#[test]
fn params_of_every_version() {
    let parts = [U(0), U(8), U(96), U(16), U(32), U(u64::from(b'5')), S("x"), U(4)];
    assert_eq!(
        record("1.3", 6, &parts),
        r#"params big_endian=false pointer_size=8 hchan_size=96 heap_start=0x10 heap_end=0x20 thechar="5" goexperiment="x" ncpu=4"#
    );
    for version in ["1.4", "1.5", "1.6"] {
        let parts = [U(1), U(4), U(16), U(32), U(u64::from(b'z')), S(""), U(4)];
        assert_eq!(
            record(version, 6, &parts),
            r#"params big_endian=true pointer_size=4 heap_start=0x10 heap_end=0x20 thechar="z" goexperiment="" ncpu=4"#
        );
    }
    let parts = [U(0), U(8), U(16), U(32), S("amd64"), S("go1.27.3"), U(4)];
    assert_eq!(
        record("1.7", 6, &parts),
        r#"params big_endian=false pointer_size=8 heap_start=0x10 heap_end=0x20 goarch="amd64" build_version="go1.27.3" ncpu=4"#
    );
}

#[test]
fn objects_have_a_type_in_1_3_and_fields_later() {
    let parts = [U(0x1000), U(0x500), U(1), B(&[1, 2])];
    assert_eq!(
        record("1.3", 1, &parts),
        "object addr=0x1000 type=0x500 kind=1 size=2 contents=0102"
    );
    let parts = [U(0x1000), B(&[1, 2]), F(&[(1, 0), (3, 300)])];
    let line = "object addr=0x1000 size=2 pointers=2 contents=0102 fields=[ kind=\"ptr\" offset=0 kind=\"eface\" offset=300 ]";
    for version in ["1.4", "1.5", "1.6", "1.7"] {
        assert_eq!(record(version, 1, &parts), line);
    }
}

#[test]
fn types_have_fields_only_in_1_3() {
    let parts = [U(0x500), U(24), S("main.T"), U(1), F(&[(2, 0), (5, 8)])];
    assert_eq!(
        record("1.3", 3, &parts),
        "type addr=0x500 size=24 name=\"main.T\" ifaceptr=true pointers=2 \
         fields=[ kind=\"string\" offset=0 kind=\"eface\" offset=8 ]"
    );
    for version in ["1.4", "1.7"] {
        assert_eq!(
            record(version, 3, &parts[..4]),
            "type addr=0x500 size=24 name=\"main.T\" ifaceptr=true"
        );
    }
}

#[test]
fn itabs_say_three_different_things() {
    assert_eq!(record("1.3", 8, &[U(0x600), U(1)]), "itab addr=0x600 data_is_pointer=true");
    assert_eq!(record("1.4", 8, &[U(0x600), U(0x500)]), "itab addr=0x600 data_type=0x500");
    assert_eq!(record("1.6", 8, &[U(0x600), U(0x500)]), "itab addr=0x600 data_type=0x500");
    assert_eq!(record("1.7", 8, &[U(0x600), U(0x500)]), "itab addr=0x600 type=0x500");
}

#[test]
fn goroutines_and_what_belongs_to_them() {
    let goroutine =
        [U(1), U(2), U(3), U(4), U(4), U(1), U(0), U(7), S("select"), U(8), U(9), U(10), U(11)];
    assert_eq!(
        record("1.7", 4, &goroutine),
        "goroutine addr=0x1 sp=0x2 goid=3 gopc=0x4 status=4 status_name=\"waiting\" system=true background=false waitsince=7 waitreason=\"select\" \
         ctxt=0x8 m=0x9 defer=0xa panic=0xb"
    );
    let frame =
        [U(1), U(2), U(3), B(&[4]), U(5), U(6), U(0x7000), S("main.f"), F(&[(1, 8), (1, 0)])];
    for version in ["1.3", "1.7"] {
        assert_eq!(
            record(version, 5, &frame),
            "stack_frame sp=0x1 depth=2 child_sp=0x3 size=1 contents=04 entry=0x5 pc=0x6 contpc=0x7000 name=\"main.f\" \
             pointers=2 fields=[ kind=\"ptr\" offset=8 kind=\"ptr\" offset=0 ]"
        );
    }
    assert_eq!(record("1.7", 9, &[U(1), U(2), U(3)]), "os_thread addr=0x1 id=2 procid=3");
    let seven = [U(1), U(2), U(3), U(4), U(5), U(6), U(7)];
    assert_eq!(
        record("1.7", 14, &seven),
        "defer addr=0x1 g=0x2 argp=0x3 pc=0x4 funcval=0x5 code=0x6 link=0x7"
    );
    assert_eq!(
        record("1.7", 15, &seven[..6]),
        "panic addr=0x1 g=0x2 arg_type=0x3 arg_data=0x4 defer=0x5 link=0x6"
    );
}

#[test]
fn roots_and_segments() {
    assert_eq!(
        record("1.3", 2, &[S("runtime type info"), U(16)]),
        "other_root description=\"runtime type info\" pointer=0x10"
    );
    let five = [U(1), U(2), U(3), U(4), U(5)];
    assert_eq!(
        record("1.7", 7, &five),
        "finalizer object=0x1 funcval=0x2 code=0x3 arg_type=0x4 object_type=0x5"
    );
    assert_eq!(
        record("1.7", 11, &five),
        "queued_finalizer object=0x1 funcval=0x2 code=0x3 arg_type=0x4 object_type=0x5"
    );
    let segment = [U(1), B(&[2, 3]), F(&[(1, 0)])];
    let fields = "addr=0x1 size=2 contents=0203 pointers=1 fields=[ kind=\"ptr\" offset=0 ]";
    assert_eq!(record("1.7", 12, &segment), format!("data_segment {fields}"));
    assert_eq!(record("1.7", 13, &segment), format!("bss_segment {fields}"));
}

#[test]
fn statistics_and_the_profile() {
    let numbers: Vec<_> = (1000..1281).map(U).collect();
    let line = record("1.7", 10, &numbers);
    assert!(line.starts_with("memstats alloc=1000 total_alloc=1001 sys=1002 "), "{line}");
    assert!(line.contains(" heap_alloc=1006 ") && line.contains(" heap_objects=1011 "), "{line}");
    assert!(line.contains(" pause_total_ns=1023 pause_ns=[ ns=1024 ns=1025 "), "{line}");
    assert!(line.ends_with(" ns=1279 ] num_gc=1280"), "{line}");

    let profile =
        [U(1), U(48), U(2), S("main.f"), S("/f.go"), U(10), S("(0x1f)"), S("?"), U(0), U(4), U(3)];
    assert_eq!(
        record("1.7", 16, &profile),
        "memprof id=1 size=48 frame_count=2 frames=[ function=\"main.f\" file=\"/f.go\" line=10 \
         function=\"(0x1f)\" file=\"?\" line=0 ] allocs=4 frees=3"
    );
    assert_eq!(record("1.7", 17, &[U(0x1008), U(1)]), "alloc_sample addr=0x1008 profile=1");
}

#[test]
fn records_of_the_draft() {
    let dump = Dump::empty("1.3")
        .record(10, &[U(1), U(4)])
        .record(7, &[U(0x500), U(24), S("main.T"), U(2), U(0), U(16)])
        .record(1, &[U(0x1000), U(0x500), U(0), B(&[7])])
        .record(8, &[U(1), U(2)])
        .record(9, &[U(2), U(3), S("main.f")])
        .record(4, &[U(0x1000), U(2)])
        .record(5, &[U(0x700), U(0x1000)])
        .record(6, &[U(0x1000)])
        .record(3, &[]);
    let (lines, end) = lines(&dump.bytes());
    end.unwrap();
    assert_eq!(
        lines,
        [
            "params big_endian=true pointer_size=4",
            "type addr=0x500 size=24 name=\"main.T\" pointers=2 fields=[ offset=0 offset=16 ]",
            "object addr=0x1000 type=0x500 kind=0 size=1 contents=07",
            "thread addr=0x1 sp=0x2",
            "stack_frame sp=0x2 parent_sp=0x3 name=\"main.f\"",
            "stack_root pointer=0x1000 sp=0x2",
            "data_root found_at=0x700 pointer=0x1000",
            "other_root pointer=0x1000",
            "eof",
        ]
    );
}
