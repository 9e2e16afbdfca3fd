//! Executables of all kinds, built byte by byte: ELF of both widths and byte orders, Mach-O and PE,
//! with and without sections and relocations; whole, cut at every place and with any byte changed.

use crate::support::go_program::{Build, Container};
use dumptool::input::load::{Executable, LoadOptions, Loaded};
use dumptool::input::{self, Format};
use dumptool::model::heap::FieldValue;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::process::Command;
use std::time::{Duration, Instant};

const ELF: Build = Build {
    container: Container::Elf,
    word: 8,
    big_endian: false,
    position_independent: false,
    sections: true,
};

fn builds() -> Vec<Build> {
    let independent = |build: Build| Build { position_independent: true, ..build };
    let bare = |build: Build| Build { sections: false, ..build };
    let big = Build { big_endian: true, ..ELF };
    let narrow = Build { word: 4, ..ELF };
    let mach = Build { container: Container::MachO, ..ELF };
    let pe = Build { container: Container::Pe, sections: false, ..ELF };
    vec![
        ELF,
        bare(ELF),
        independent(ELF),
        big,
        independent(big),
        narrow,
        independent(narrow),
        Build { big_endian: true, ..narrow },
        mach,
        bare(mach),
        independent(mach),
        independent(bare(mach)),
        pe,
    ]
}

fn load<'a>(dump: &'a [u8], exe: &[u8]) -> dumptool::error::Result<Loaded<'a>> {
    input::load(
        Format::Go,
        dump,
        LoadOptions::default().executable(Some(Executable { bytes: exe, guesses: true })),
    )
}

#[test]
fn every_kind_of_executable_names_the_objects_of_its_dump() {
    for build in builds() {
        let (dump, exe) = (build.dump(), build.executable());
        let loaded = load(&dump, &exe).unwrap_or_else(|error| panic!("{build:?}: {error}"));
        let heap = &loaded.heap;
        let nodes: Vec<_> = heap.objects().collect();
        let names: Vec<&str> = nodes.iter().map(|object| heap.type_name(*object)).collect();
        assert_eq!(names, ["main.Node", "main.Node"], "{build:?}");
        let mut fields = Vec::new();
        heap.each_field(nodes[0], |field| {
            fields.push((
                field.name.to_owned(),
                field.value.object(),
                field.value == FieldValue::Integer(7),
            ));
            ControlFlow::Continue(())
        });
        assert_eq!(
            fields,
            [("next".to_owned(), Some(nodes[1]), false), ("value".to_owned(), None, true)],
            "{build:?}"
        );
    }
}

#[test]
fn executables_that_are_cut_or_changed_anywhere_do_no_harm() {
    let began = Instant::now();
    let kinds = [Container::Elf, Container::MachO].map(|container| Build {
        container,
        position_independent: true,
        ..ELF
    });
    let others =
        [Build { container: Container::Pe, ..ELF }, Build { word: 4, big_endian: true, ..ELF }];
    for build in kinds.into_iter().chain(others) {
        let (dump, whole) = (build.dump(), build.executable());
        let mut fitting = 0;
        for cut in (0..whole.len()).step_by(211) {
            fitting += u32::from(load(&dump, &whole[..cut]).is_ok());
        }
        assert!(fitting < 50, "{build:?}: {fitting} pieces of the executable are taken for it");
        let mut bytes = whole.clone();
        let used = (0..whole.len()).filter(|place| whole[*place] != 0 || *place % 401 == 0);
        for place in used {
            for value in [whole[place] ^ 0xff, 0x80] {
                bytes[place] = value;
                if let Ok(loaded) = load(&dump, &bytes) {
                    loaded.heap.objects().for_each(|object| {
                        loaded.heap.each_field(object, |_| ControlFlow::Continue(()))
                    });
                }
            }
            bytes[place] = whole[place];
        }
    }
    assert!(began.elapsed() < Duration::from_secs(120), "took {:?}", began.elapsed());
}

/// The type of the first object of a dump.
fn type_of_first((exe, dump): &(Vec<u8>, Vec<u8>)) -> String {
    let loaded = load(dump, exe).unwrap();
    let heap = &loaded.heap;
    heap.type_name(heap.objects().next().unwrap()).to_owned()
}

#[test]
fn types_that_claim_the_same_fields_or_names_are_read_up_to_a_budget() {
    assert_eq!(type_of_first(&ELF.structs(4, 80, 10)), "main");
    let many_fields = type_of_first(&ELF.structs(34, 80, 1));
    assert_eq!(many_fields, "16 B without pointers");
    assert_eq!(type_of_first(&ELF.structs(4, 2, 1500)), "main");
    let long_names = type_of_first(&ELF.structs(34, 2, 1500));
    assert_eq!(long_names, "16 B without pointers");
}

#[test]
fn types_are_not_searched_behind_the_end_of_the_file() {
    let began = Instant::now();
    let (dump, exe) = (ELF.dump(), ELF.endless_types());
    let loaded = load(&dump, &exe).unwrap();
    let heap = &loaded.heap;
    assert!(heap.objects().all(|object| heap.type_name(object) == "main.Node"));
    assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
}

#[test]
fn a_slice_that_begins_inside_an_array_counts_in_waste() {
    // Five of the array's eight places are before the end of the slice.
    assert_eq!(spare_capacity(&ELF.slice()), (json!(24), json!(1), json!("[]int")));
}

#[test]
fn a_slice_of_limited_capacity_counts_in_waste_with_all_of_its_array() {
    assert_eq!(spare_capacity(&ELF.limited_slice()), (json!(48), json!(1), json!("[]int")));
}

#[test]
fn an_array_that_no_slice_fills_counts_once_in_waste() {
    let waste = waste(&ELF.zero_slice());
    let kinds = waste["kinds"].as_array().unwrap().iter();
    let bytes: Vec<_> = kinds
        .filter(|kind| kind["bytes"] != 0)
        .map(|kind| (kind["kind"].as_str().unwrap(), kind["bytes"].as_u64().unwrap()))
        .collect();
    assert_eq!(bytes, [("spare_capacity", 56)]);
}

/// Bytes and number of the arrays with spare capacity, and the type of the first, as `waste` says.
fn spare_capacity(program: &(Vec<u8>, Vec<u8>)) -> (Value, Value, Value) {
    let mut waste = waste(program);
    let kinds = waste["kinds"].as_array_mut().unwrap();
    let spare = kinds.iter_mut().find(|kind| kind["kind"] == "spare_capacity").unwrap();
    (spare["bytes"].take(), spare["count"].take(), spare["rows"][0]["name"].take())
}

/// The waste of a program's dump.
fn waste(program: &(Vec<u8>, Vec<u8>)) -> Value {
    answer(&["waste", "-n", "0"], program)
}

/// What a command says of a program's dump.
fn answer(command: &[&str], (exe, dump): &(Vec<u8>, Vec<u8>)) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let (exe, dump) = (file("exe", exe), file("a.heapdump", dump));
    let output = Command::new(env!("CARGO_BIN_EXE_dumptool"))
        .args(command)
        .args(["--format", "json", "--exe"])
        .args([&exe, &dump])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_slice_that_begins_inside_an_array_does_not_shorten_it() {
    assert_eq!(are_elements_in_order(&ELF.slice()), [true; 8]);
}

#[test]
fn the_slice_that_ends_last_says_how_long_an_array_is() {
    assert_eq!(are_elements_in_order(&ELF.slices()), [true; 8]);
}

/// For each element of the array `[]int` of a dump, whether it is its index and 1.
fn are_elements_in_order((exe, dump): &(Vec<u8>, Vec<u8>)) -> Vec<bool> {
    let loaded = load(dump, exe).unwrap();
    let heap = &loaded.heap;
    let array = heap.objects().find(|object| heap.type_name(*object) == "[]int").unwrap();
    let mut elements = Vec::new();
    heap.elements(array, 0, |_, value| {
        elements.push(value == FieldValue::Integer(elements.len() as i64 + 1));
        ControlFlow::Continue(())
    });
    elements
}

#[test]
fn all_values_of_an_array_are_followed_when_its_slice_begins_inside() {
    let (exe, dump) = ELF.queue();
    let loaded = load(&dump, &exe).unwrap();
    let names: Vec<&str> =
        loaded.heap.objects().map(|object| loaded.heap.type_name(object)).collect();
    let node = "main.Node";
    assert_eq!(names, ["main", "[]*main.Node", node, node, node]);
}

#[test]
fn maps_are_read_in_processes_of_both_widths_and_byte_orders() {
    let narrow = Build { word: 4, ..ELF };
    let big = |build: Build| Build { big_endian: true, ..build };
    for build in [ELF, big(ELF), narrow, big(narrow)] {
        let (exe, dump) = build.map();
        let loaded = load(&dump, &exe).unwrap_or_else(|error| panic!("{build:?}: {error}"));
        let heap = &loaded.heap;
        let objects: Vec<_> = heap.objects().collect();
        let names: Vec<&str> = objects.iter().map(|object| heap.type_name(*object)).collect();
        let wanted =
            ["map[int]int", "*map[int]int table", "map[int]int table", "[]map.group[int]int"];
        assert_eq!(names, wanted, "{build:?}");
        let mut fields = Vec::new();
        heap.each_field(objects[0], |field| {
            fields.push((field.name.to_owned(), format!("{:?}", field.value)));
            ControlFlow::Continue(())
        });
        let wanted = [
            ("len", "Unsigned(3)"),
            ("[1]", "Integer(10)"),
            ("[2]", "Integer(20)"),
            ("[3]", "Integer(30)"),
        ];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(fields, wanted, "{build:?}");
        let room = heap.room(objects[0]).unwrap();
        assert_eq!((room.used, room.capacity), (3, 16), "{build:?}");
    }
}

#[test]
fn all_values_of_an_array_inside_a_struct_are_followed() {
    let (exe, dump) = ELF.array();
    let loaded = load(&dump, &exe).unwrap();
    let names: Vec<&str> =
        loaded.heap.objects().map(|object| loaded.heap.type_name(object)).collect();
    assert_eq!(names, [&["main"][..], &["main.Node"; 8]].concat());
}

#[test]
fn fields_of_all_elements_of_a_slice_of_structs_have_names() {
    let program = ELF.values(4100);
    let loaded = load(&program.1, &program.0).unwrap();
    let heap = &loaded.heap;
    let array = heap.objects().find(|object| heap.type_name(*object) == "[]main.Node").unwrap();
    let labels: Vec<_> = heap
        .references_of(array)
        .map(|reference| reference.label.text(heap.names()).into_owned())
        .collect();
    assert_eq!(labels.len(), 4100);
    assert_eq!((&*labels[0], &*labels[4095]), ("[0].next", "[4095].next"));
    assert!(labels[4096..].iter().all(|label| label == "[4096…].next"), "{:?}", &labels[4096..]);
    let suspects = &answer(&["top", "--suspects"], &program)["suspects"];
    assert_eq!(suspects[0]["count"], 4100, "{suspects}");
}
