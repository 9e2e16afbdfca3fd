//! The programs in `examples/` do what they say.

#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "a program of which only the inner function is called"
)]
#[path = "../../examples/folded_stacks.rs"]
mod folded_stacks;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../../examples/memory_gate.rs"]
mod memory_gate;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../../examples/object_fields.rs"]
mod object_fields;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../../examples/retained_by_type.rs"]
mod retained_by_type;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "as above")]
#[path = "../../examples/why_alive.rs"]
mod why_alive;

use std::error::Error;
use std::io::Write;

/// What a program prints.
fn output(run: impl FnOnce(&mut dyn Write) -> Result<(), Box<dyn Error>>) -> String {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn fixture(name: &str) -> String {
    crate::support::fixture(name).to_str().unwrap().to_owned()
}

#[test]
fn a_type_of_a_go_program_retains_what_top_says() {
    let [dump, exe] =
        ["heapdump", "exe"].map(|kind| fixture(&format!("go-types/shop_go125_w.{kind}.zst")));
    // The executable is compressed, as the library decompresses what it opens.
    let text = output(|out| retained_by_type::run(&dump, &exe, "main.Order", out));
    assert_eq!(text, "30 objects of 30720 bytes retain 30720 bytes\n");
    let unnamed = retained_by_type::run(&dump, &dump, "main.Order", &mut Vec::new());
    assert!(unnamed.is_err(), "a dump is no executable");
}

#[test]
fn an_object_displays_its_fields() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let text = output(|out| object_fields::run(&file, "0xfd5de2e0", out));
    let lines = [
        "Small$Node 0xfd5de2e0",
        "  name = java.lang.String 0xfd5de328 \"node-99\"",
        "  stamp = 3069",
        "  flag = 99",
        "  next = Small$Node 0xfd5de260",
        "  data = int[] 0xfd5de340",
        "  any = java.lang.Double 0xfd5de358",
        "  id = 99",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn functions_are_sorted_by_what_they_cost_themselves() {
    let (mut folded, file) = (Vec::new(), fixture("mojo/tiny-3.5.0-full-thr.mojo"));
    let text = output(|out| folded_stacks::run(&file, &mut folded, out));
    assert_eq!(text.lines().next(), Some("      743483       743483  spin.<locals>.<genexpr>"));
    let stacks = String::from_utf8(folded).unwrap();
    assert!(stacks.lines().count() > 5 && stacks.contains("spin.<locals>.<genexpr>"), "{stacks}");
    let heap = folded_stacks::run(&fixture("go/go13.heapdump"), Vec::new(), &mut Vec::new());
    assert!(heap.is_err(), "a heap has no functions");
}

#[test]
fn a_path_leads_from_a_root_to_the_object() {
    let file = fixture("hprof/small_java17.hprof.zst");
    let text = output(|out| why_alive::run(&file, "0xfd5de2e0", out));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("root "), "{text}");
    assert_eq!(lines.last(), Some(&"  head         Small$Node 0xfd5de2e0"));
    let nowhere = why_alive::run(&file, "0x1", &mut Vec::new()).unwrap_err();
    assert_eq!(nowhere.to_string(), "there is no such object");
}

#[test]
fn a_gate_lets_equal_heaps_pass_and_names_what_grew() {
    let [small, large] = ["go/go13.heapdump", "go/tiny_go127.heapdump.zst"].map(fixture);
    assert_eq!(output(|out| memory_gate::run(&large, &large, 0, out)), "");
    let mut out = Vec::new();
    let error = memory_gate::run(&small, &large, 1_000, &mut out).unwrap_err();
    assert!(error.to_string().ends_with("types have grown too much"), "{error}");
    assert!(String::from_utf8(out).unwrap().contains(" has grown by "));
}

#[test]
fn a_converted_heap_can_be_opened_again() {
    let (mut hprof, name) = (Vec::new(), fixture("go/tiny_go127.heapdump.zst"));
    let dump = dumptool::open(name).unwrap();
    dump.convert("hprof", &mut hprof).unwrap();
    let source = dumptool::Source::from_stream(&hprof[..], Default::default()).unwrap();
    let heap = dumptool::Dump::from_source(source).unwrap().info().unwrap().heap.unwrap();
    assert!(heap.snapshots[0].objects.unwrap() >= dump.heap().unwrap().len() as u64);
}

#[test]
fn a_damaged_heap_is_an_error_and_its_part_can_be_had() {
    let open = |name| dumptool::open(crate::support::fixture(name)).unwrap();
    let dump = open("mvmheap/tiny-nqp-v2-cut.mvmheap.zst");
    assert!(dump.heap().is_err());
    let loaded = dump.load().unwrap();
    assert!(loaded.damage().is_some() && !loaded.heap().is_empty());
    let profile = open("mojo/synth/v3-redefine.mojo");
    assert_eq!(profile.heap().err().unwrap().kind(), dumptool::ErrorKind::Unsupported);
}
