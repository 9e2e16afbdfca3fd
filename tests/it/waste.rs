//! Memory that could be saved, in a dump whose waste is known, and in heaps without contents.

use crate::support::instances::{Id, Instances, Int};
use dumptool::analysis::DominatorTree;
use dumptool::analysis::waste::{Fill, Waste, WasteKind, WastePart};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, Value};

fn waste(heap: &Heap<'_>) -> Waste {
    Waste::of(heap, &DominatorTree::new(heap))
}

fn loaded(format: Format, file: &[u8]) -> Heap<'_> {
    input::load(format, file, LoadOptions::default()).unwrap().heap
}

fn part(waste: &Waste, kind: WasteKind) -> &WastePart {
    waste.parts.iter().find(|part| part.kind == kind).unwrap()
}

/// Count and bytes that a field holds.
fn field(heap: &Heap<'_>, part: &WastePart, name: &str) -> Option<(u64, u64)> {
    let found = part.owners.iter().find(|owner| owner.owner.text(heap) == name)?;
    Some((found.count, found.bytes))
}

/// Count and bytes of a type.
fn of_type(heap: &Heap<'_>, part: &WastePart, name: &str) -> Option<(u64, u64)> {
    let found = part.rows.iter().find(|row| heap.type_name(row.example) == name)?;
    Some((found.count, found.bytes))
}

/// The numbers follow from `Collections.java` and the JVM's sizes: headers of 12, arrays of 16,
/// references of 4.
#[test]
fn the_waste_of_a_real_jvm_is_found() {
    let file = crate::support::read(&crate::support::fixture("hprof/collections_java17.hprof.zst"));
    let heap = loaded(Format::Hprof, &file);
    let waste = waste(&heap);
    let texts = part(&waste, WasteKind::DuplicateText);
    let planted =
        texts.rows.iter().find(|row| matches!(heap.value(row.example), Value::Text { text, .. } if text.starts_with("the same")));
    // 40 strings and the literal, 24 bytes each, with an array of 36 bytes and its header.
    assert_eq!(planted.map(|row| (row.count, row.bytes)), Some((41, 40 * (24 + 56))));
    let arrays = part(&waste, WasteKind::DuplicateArray);
    assert_eq!(
        (of_type(&heap, arrays, "long[]"), field(&heap, arrays, "long[][]#[]")),
        (Some((10, 9 * 80)), Some((9, 9 * 80)))
    );
    let empty = part(&waste, WasteKind::EmptyCollection);
    assert_eq!(field(&heap, empty, "java.util.HashMap[]#[]"), Some((20, 20 * (48 + 16 + 256 * 4))));
    assert_eq!(field(&heap, empty, "Collections#empty"), Some((1, 24)));
    let spare = part(&waste, WasteKind::SpareCapacity);
    // 99 of 100 places of 416 bytes.
    assert_eq!(field(&heap, spare, "java.util.ArrayList[]#[]"), Some((30, 30 * (416 * 99 / 100))));
    assert_eq!(field(&heap, spare, "Collections#builder"), Some((1, 5016 * 4997 / 5000)));
    assert_eq!(field(&heap, spare, "Collections#buffer"), Some((1, 6016 * 5997 / 6000)));
    assert_eq!(field(&heap, spare, "Collections#tail"), Some((1, 16016 * 3900 / 4000)));
    let zeros = part(&waste, WasteKind::Zeros);
    assert_eq!(field(&heap, zeros, "Collections#zeros"), Some((1, 10_016)));
    let boxed = part(&waste, WasteKind::Boxed);
    // With the JDK's own, from -128 to 127.
    assert_eq!(
        (of_type(&heap, boxed, "java.lang.Long"), field(&heap, boxed, "java.lang.Long[]#[]")),
        (Some((756, 756 * 24)), Some((756, 756 * 24)))
    );
    assert!(waste.parts.iter().all(|part| part.known));
    assert_eq!(waste.bytes(), waste.parts.iter().map(|part| part.bytes).sum::<u64>());
}

#[test]
fn a_set_is_measured_with_its_map_and_a_view_is_not() {
    let mut file = Instances::default();
    let table = file.array(&[0; 64]);
    let map = file.object("java.util.HashMap", &[("table", Id(table)), ("size", Int(1))]);
    let set = file.object("java.util.HashSet", &[("map", Id(map))]);
    let other_table = file.array(&[0; 32]);
    let other = file.object("java.util.HashMap", &[("table", Id(other_table)), ("size", Int(0))]);
    let view = file.object("java.util.Collections$UnmodifiableMap", &[("m", Id(other))]);
    let holder =
        file.object("app.Holder", &[("set", Id(set)), ("view", Id(view)), ("map", Id(other))]);
    let file = file.finish_with_roots(&[holder]);
    let heap = loaded(Format::Hprof, &file);
    let waste = waste(&heap);
    let spare = part(&waste, WasteKind::SpareCapacity);
    let [row] = &spare.rows[..] else { panic!("{spare:?}") };
    assert_eq!((heap.type_name(row.example), row.count), ("java.util.HashSet", 1));
    assert_eq!(row.fill, Some(Fill { all: 1, capacity: 64, used: 1 }));
    assert_eq!(field(&heap, spare, "app.Holder#set").map(|(count, _)| count), Some(1));
    let empty = part(&waste, WasteKind::EmptyCollection);
    let [row] = &empty.rows[..] else { panic!("{empty:?}") };
    assert_eq!((heap.type_name(row.example), row.count), ("java.util.HashMap", 1));
}

#[test]
fn dumps_say_what_they_cannot_know() {
    use WasteKind::{Boxed, DuplicateArray, DuplicateText, EmptyCollection, SpareCapacity, Zeros};
    for (format, name, known) in [
        (Format::Hprof, "hprof/small_java17.hprof.zst", &WasteKind::ALL[..6]),
        (Format::Go, "go/tiny_go127.heapdump.zst", &[DuplicateArray, SpareCapacity, Zeros]),
        (
            Format::Dart,
            "dart/sass_idle_2.17.6_ia32.dartheap.zst",
            &[DuplicateText, EmptyCollection, SpareCapacity, Boxed],
        ),
        (Format::Mvmheap, "mvmheap/tiny-nqp.mvmheap", &[Boxed]),
    ] {
        let file = crate::support::read(&crate::support::fixture(name));
        let waste = waste(&loaded(format, &file));
        let found: Vec<WasteKind> =
            waste.parts.iter().filter(|part| part.known).map(|part| part.kind).collect();
        assert_eq!(found, known, "{name}");
    }
}

/// A dump of Ruby has no references to integers, `nil` and symbols, and one of Perl none to the values
/// of the table of shared strings.
#[test]
fn elements_that_a_dump_cannot_refer_to_are_no_spare_capacity() {
    let ruby = br#"{"type":"ROOT", "root":"vm", "references":["0x10", "0x20"]}
{"address":"0x10", "type":"ARRAY", "length":144, "memsize":1584, "flags":{"marked":true}}
{"address":"0x20", "type":"HASH", "size":102, "memsize":3424, "flags":{"marked":true}}
"#;
    let perl = crate::support::read(&crate::support::fixture("pmat/shop-perl536.pmat.zst"));
    for (format, file) in [(Format::Ruby, &ruby[..]), (Format::Pmat, &perl)] {
        let heap = loaded(format, file);
        let found = waste(&heap);
        let part = part(&found, WasteKind::SpareCapacity);
        assert_eq!((part.known, part.bytes), (false, 0), "{format:?}: {part:?}");
    }
}

/// Each live byte can be saved once.
#[test]
fn no_more_is_wasted_than_lives() {
    for (format, folder) in [
        (Format::Hprof, "hprof"),
        (Format::Go, "go"),
        (Format::Dart, "dart"),
        (Format::Mvmheap, "mvmheap"),
    ] {
        for path in crate::support::files(&crate::support::fixture(folder)) {
            let is_dump = ["zst", "heapdump", "mvmheap"]
                .iter()
                .any(|end| path.extension().is_some_and(|of| of == *end));
            if !is_dump {
                continue;
            }
            let file = crate::support::read(&path);
            let heap = loaded(format, &file);
            let tree = DominatorTree::new(&heap);
            let waste = Waste::of(&heap, &tree);
            assert!(waste.bytes() <= tree.live_bytes(), "{}: {}", path.display(), waste.bytes());
            for part in &waste.parts {
                let held: u64 = part.owners.iter().map(|owner| owner.bytes).sum();
                assert!(held <= part.bytes, "{}: {part:?}", path.display());
            }
        }
    }
}
