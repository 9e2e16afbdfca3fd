//! The programs in `examples/` do what they say.

mod support;

#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "a program of which only the inner function is called"
)]
#[path = "../examples/biggest_types.rs"]
mod biggest_types;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../examples/functions.rs"]
mod functions;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../examples/path_to_object.rs"]
mod path_to_object;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../examples/to_hprof.rs"]
mod to_hprof;

use std::error::Error;
use std::io::Write;

/// What a program prints.
fn output(run: impl FnOnce(&mut dyn Write) -> Result<(), Box<dyn Error>>) -> String {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn fixture(name: &str) -> String {
    support::fixture(name).to_str().unwrap().to_owned()
}

#[test]
fn the_biggest_types_are_those_of_the_program() {
    let text = output(|out| biggest_types::run(&fixture("go/go13.heapdump"), out));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "      160       144      3  main.Node");
    assert_eq!(lines.last(), Some(&"unreachable: 2 objects, 72 bytes"));
}

#[test]
fn a_path_leads_from_a_root_to_the_object() {
    let text = output(|out| {
        path_to_object::run(&fixture("hprof/small_java17.hprof.zst"), "0xfd5de2e0", out)
    });
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("root "), "{text}");
    assert_eq!(lines.last(), Some(&"  head         Small$Node 0xfd5de2e0"));
    let nowhere =
        path_to_object::run(&fixture("hprof/small_java17.hprof.zst"), "0x1", &mut Vec::new())
            .unwrap_err();
    assert_eq!(nowhere.to_string(), "there is no such object");
}

#[test]
fn functions_are_sorted_by_what_they_cost_themselves() {
    let text = output(|out| functions::run(&fixture("mojo/tiny-3.5.0-full-thr.mojo"), out));
    assert_eq!(text.lines().next(), Some("   743483    743483  spin.<locals>.<genexpr>"));
    assert_eq!(text.lines().count(), 5);
    let heap = functions::run(&fixture("go/go13.heapdump"), &mut Vec::new());
    assert!(heap.is_err(), "a heap has no functions");
}

#[test]
fn a_converted_heap_can_be_opened_again() {
    let (mut hprof, name) = (Vec::new(), fixture("go/tiny_go127.heapdump.zst"));
    let text = output(|out| to_hprof::run(&name, &mut hprof, out));
    let first = text.lines().next().unwrap();
    let source = dumptool::source::Source::from_stream(&hprof[..], Default::default()).unwrap();
    let heap = dumptool::Dump::from_source(source).unwrap().info().unwrap().heap.unwrap();
    assert!(
        first.starts_with(&format!("{} instances", heap.snapshots[0].objects.unwrap())),
        "{first}"
    );
}

#[test]
fn a_damaged_heap_is_an_error_and_its_part_can_be_had() {
    let dump = dumptool::open(support::fixture("mvmheap/tiny-nqp-v2-cut.mvmheap.zst")).unwrap();
    assert!(dump.heap().is_err());
    let loaded = dump.load(Default::default()).unwrap();
    assert!(loaded.damage.is_some() && !loaded.heap.is_empty());
    let profile = dumptool::open(support::fixture("mojo/synth/v3-redefine.mojo")).unwrap();
    assert_eq!(profile.heap().err().unwrap().kind(), dumptool::error::ErrorKind::Unsupported);
}
