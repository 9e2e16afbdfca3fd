//! The reader of hprof files: tiny files made here, real ones, damaged ones.

use crate::support::hprof::File;
use crate::support::instances::{Id, Instances};
use crate::support::{broken, fixture, info, read, records};
use dumptool::input::hprof::{self, load};
use dumptool::input::load::{LoadOptions, Loaded, SnapshotChoice};
use dumptool::input::{Format, ReadOptions};
use dumptool::model::WarningKind;
use dumptool::model::heap::{Heap, LabelKind, LoadWarning, ObjectId, RootKind, TypeKind, Value};
use serde_json::json;

const F: Format = Format::Hprof;
const OBJECT: u64 = 8;
const BASE: u64 = 16;
const NODE: u64 = 24;
const ARRAY: u64 = 32;

/// Node { Node next; byte flag } below Base { int id; Object any }, below Object; one static field,
/// two roots.
fn small(version: &str, id_size: usize) -> File {
    let mut file = File::new(version, id_size);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (BASE, "app/Base"),
        (NODE, "app/Node"),
        (ARRAY, "[Lapp/Node;"),
    ]);
    let names: Vec<u64> =
        ["next", "flag", "id", "any", "head"].iter().map(|name| file.string(name)).collect();
    let id = |id| file.id(id);
    let node = |at, next, any| file.instance(at, NODE, &[&id(next), &[5], &[0, 0, 1, 2], &id(any)]);
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(BASE, OBJECT, 0, &[], &[(names[2], 10), (names[3], 2)]),
        file.class(
            NODE,
            BASE,
            0,
            &[(names[4], 2, id(80)), (names[1], 8, vec![3])],
            &[(names[0], 2), (names[1], 8)],
        ),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
        node(80, 120, 0),
        node(120, 80, 160),
        file.objects(160, ARRAY, &[0, 80, 200]),
        file.array(200, 5, 3, &[0, 97, 0, 98, 32, 172]),
        file.root(0x05, NODE, &[]),
        file.root(0xff, 160, &[]),
    ];
    if version == "1.0.1" {
        file.record(0x0c, &[&heap.concat()]);
    } else {
        file.segment(&heap);
        file.end();
    }
    file
}

fn loaded(bytes: &[u8]) -> Loaded<'_> {
    let loaded = load(bytes, LoadOptions::default()).unwrap();
    assert_eq!(loaded.heap.check(), Ok(()));
    assert_labels(&loaded.heap, bytes);
    loaded
}

/// Checks that labels decoded on request are those that the reader stores while it loads.
fn assert_labels(heap: &Heap<'_>, bytes: &[u8]) {
    let stored = load(bytes, LoadOptions::default().stored_labels(true)).unwrap().heap;
    for object in heap.objects() {
        let (decoded, expected) = (heap.references_of(object), stored.references_of(object));
        assert!(decoded.eq(expected.clone()), "{}", heap.id(object));
        let rows = heap.references().range(object);
        for (row, reference) in rows.clone().zip(expected) {
            assert_eq!(heap.label(row), reference.label, "{row} of {}", heap.id(object));
        }
        let is_class = |row| stored.label(row).text(stored.names()) == "<class>";
        let fields = heap.fields_of(object);
        assert_eq!(fields.end, rows.end);
        assert_eq!(
            fields.start,
            rows.start + usize::from(rows.clone().next().is_some_and(is_class))
        );
    }
}

fn at(heap: &Heap<'_>, id: u64) -> ObjectId {
    heap.find(&format!("{id:#x}")).unwrap()
}

fn type_name<'h>(heap: &'h Heap<'_>, object: ObjectId) -> &'h str {
    heap.names().text(heap.type_of(object).name)
}

/// Label, target and weakness of each reference of an object.
fn references(heap: &Heap<'_>, object: ObjectId) -> Vec<(String, String, bool)> {
    let each = heap.references_of(object);
    each.map(|r| (r.label.text(heap.names()).into_owned(), heap.id(r.target), r.weak)).collect()
}

/// As [`references`], of strong ones by hand.
fn strong(list: &[(&str, u64)]) -> Vec<(String, String, bool)> {
    list.iter().map(|(label, id)| ((*label).to_owned(), format!("{id:#x}"), false)).collect()
}

// ---- tiny files

#[test]
fn all_versions_and_sizes_of_ids_give_the_same_heap() {
    for version in ["1.0.1", "1.0.2", "1.0.3"] {
        for id_size in [4, 8] {
            let bytes = small(version, id_size).bytes;
            let heap = loaded(&bytes).heap;
            assert_eq!(heap.len(), 8);
            assert_eq!(heap.warnings(), []);
            assert_eq!(type_name(&heap, at(&heap, 80)), "app.Node");
            assert_eq!(type_name(&heap, at(&heap, 160)), "app.Node[]");
            assert_eq!(type_name(&heap, at(&heap, 200)), "char[]");
            assert_eq!(type_name(&heap, at(&heap, NODE)), "java.lang.Class");
            assert_eq!(references(&heap, at(&heap, 80)), strong(&[("next", 120)]));
            assert_eq!(references(&heap, at(&heap, 120)), strong(&[("next", 80), ("any", 160)]));
            assert_eq!(references(&heap, at(&heap, 160)), strong(&[("[1]", 80), ("[2]", 200)]));
            assert_eq!(
                references(&heap, at(&heap, NODE)),
                strong(&[("head", 80), ("<super>", BASE)])
            );
            assert_eq!(
                heap.value(at(&heap, 200)),
                Value::Bytes([0, 97, 0, 98, 32, 172][..].into())
            );
            assert_eq!(heap.value(at(&heap, 160)), Value::Length(3));
            assert_eq!(heap.value(at(&heap, NODE)), Value::Name("app.Node".into()));
            let roots: Vec<_> = heap
                .roots()
                .iter()
                .map(|root| (heap.id(root.object), root.kind, root.text(heap.names())))
                .collect();
            assert_eq!(
                roots,
                [
                    ("0x18".to_owned(), RootKind::Class, "system class: app.Node".to_owned()),
                    ("0xa0".to_owned(), RootKind::Other, "unknown".to_owned()),
                    // The class of arrays, which the boot loader keeps.
                    ("0x20".to_owned(), RootKind::Class, "system class: app.Node[]".to_owned()),
                ]
            );
            assert_eq!(broken(F, &bytes), [""; 0], "{version} {id_size}");
            let info = info(F, &bytes);
            assert_eq!(info["format_version"], version);
            assert_eq!(info["heap"]["snapshots"][0]["objects"], 4);
            assert_eq!(info["heap"]["snapshots"][0]["details"]["id_size"], id_size);
            assert_eq!(info["complete"], true);
        }
    }
}

#[test]
fn sizes_follow_the_virtual_machine() {
    // Narrow: 8 + (4 + 4) + (4 + 1); wide: 12 + (4 + 8) + (8 + 1). The distance between arrays
    // leaves no room for a header of 16.
    for (id_size, node, objects, chars) in [(4, 24, 24, 24), (8, 40, 40, 24)] {
        let bytes = small("1.0.2", id_size).bytes;
        let heap = loaded(&bytes).heap;
        let size = |id| heap.shallow_bytes(at(&heap, id));
        assert_eq!((size(80), size(160), size(200)), (node, objects, chars));
        assert_eq!((size(NODE), size(BASE)), (if id_size == 4 { 8 } else { 16 }, 0));
    }
}

#[test]
fn overlapping_elements_show_compressed_references() {
    let mut file = File::new("1.0.2", 8);
    file.loads(&[(OBJECT, "java/lang/Object"), (ARRAY, "[Ljava/lang/Object;")]);
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
        file.objects(0x1000, ARRAY, &[0; 10]),
        file.instance(0x1000 + 56, OBJECT, &[]),
    ];
    let bytes = file.segment(&heap).end();
    let heap = loaded(&bytes).heap;
    assert_eq!(heap.shallow_bytes(at(&heap, 0x1000)), 56);
    assert_eq!(heap.shallow_bytes(at(&heap, 0x1000 + 56)), 16);
}

#[test]
fn stated_sizes_are_taken_as_they_are() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[
        (OBJECT, "java.lang.Object"),
        (NODE, "net/http.conn"),
        (ARRAY, "[Lnet/http.conn;"),
        (40, "dumptool.Info"),
    ]);
    let name = file.string("x");
    let heap = [
        file.class(OBJECT, 0, 8, &[], &[]),
        file.class(NODE, OBJECT, 72, &[(name, 11, vec![1; 8])], &[(name, 2)]),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
        file.class(40, OBJECT, 8, &[], &[]),
        file.instance(88, NODE, &[&[0; 4]]),
        file.objects(96, ARRAY, &[88, 0, 0]),
        file.array(104, 8, 5, &[1; 5]),
    ];
    let bytes = file.segment(&heap).end();
    let heap = loaded(&bytes).heap;
    let sizes: Vec<u64> =
        [88, 96, 104, NODE].iter().map(|&id| heap.shallow_bytes(at(&heap, id))).collect();
    assert_eq!(sizes, [72, 24, 24, 0]);
    assert_eq!(
        (type_name(&heap, at(&heap, 88)), type_name(&heap, at(&heap, 96))),
        ("net/http.conn", "net/http.conn[]")
    );
}

#[test]
fn every_record_can_be_shown() {
    let mut file = File::new("1.0.3", 4);
    let (class, thread) = (1u32.to_be_bytes(), 9u32.to_be_bytes());
    file.load(OBJECT, "java.lang.Object");
    let (run, source) = (file.string("run"), file.string("App.java"));
    let (id, run_id, source_id) = (file.id(3), file.id(run), file.id(source));
    file.record(0x03, &[&class])
        .record(0x04, &[&id, &run_id, &run_id, &source_id, &class, &(-3i32).to_be_bytes()]);
    file.record(0x05, &[&class, &thread, &class, &id]);
    file.record(0x06, &[&[0, 2], &[0; 4], &[0; 24], &class, &[1; 25]]).record(0x07, &[&[0; 24]]);
    file.record(0x0a, &[&thread, &file.id(80), &class, &run_id, &[0; 8]]).record(0x0b, &[&thread]);
    file.record(0x0d, &[&class, &class, &[0; 8]]).record(0x0e, &[&class, &[0, 4]]);
    let mut heap = vec![file.class(
        OBJECT,
        0,
        0,
        &[(run, 6, vec![0x3f, 0x80, 0, 0]), (run, 5, vec![0, 65])],
        &[(run, 4)],
    )];
    for tag in [0xff, 0x05, 0x07, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x90] {
        heap.push(file.root(tag, 80, &[]));
    }
    heap.push(file.root(0x01, 80, &[0; 4]));
    for tag in [0x02, 0x03, 0x08, 0x8e] {
        heap.push(file.root(tag, 80, &[thread, class].concat()));
    }
    heap.extend([0x04, 0x06].map(|tag| file.root(tag, 80, &thread)));
    heap.push([&[0xfe][..], &[0, 0, 0, 2], &run_id].concat());
    heap.push(file.instance(80, OBJECT, &[&[1]]));
    heap.push(file.objects(88, OBJECT, &[80]));
    heap.push(file.array(96, 10, 1, &[0, 0, 0, 9]));
    heap.push([&[0xc3][..], &file.id(104), &[0; 4], &1000u32.to_be_bytes(), &[11]].concat());
    file.segment(&heap);
    let bytes = file.end();
    let (all, error) = records(F, &bytes);
    assert!(error.is_none(), "{error:?}");
    let names: Vec<&str> = all.iter().map(|record| record["record"].as_str().unwrap()).collect();
    for name in F.record_names().iter().filter(|name| **name != "heap_dump") {
        assert!(names.contains(name), "{name} is missing");
    }
    let find = |name: &str| all.iter().find(|record| record["record"] == name).unwrap();
    assert_eq!(find("frame")["line"], -3);
    assert_eq!(find("class_dump")["static_list"][0]["value"], 1.0);
    assert_eq!(find("class_dump")["field_list"][0]["type"], "boolean");
    assert_eq!(find("trace")["frames"], json!([{"id": "0x3"}]));
    assert_eq!(find("root_java_frame")["frame"], 1);
    assert_eq!(
        all.iter().map(|record| record["offset"].as_u64().unwrap()).collect::<Vec<_>>()[0],
        31
    );
    assert!(all.is_sorted_by_key(|record| record["offset"].as_u64()));
    let heap = loaded(&bytes).heap;
    assert_eq!(heap.value(at(&heap, 104)), Value::Length(1000));
    assert_eq!(heap.shallow_bytes(at(&heap, 104)), 8016);
    assert_eq!(heap.roots().len(), 16);
    assert_eq!((heap.names().text(heap.threads()[0].name), heap.threads()[0].id), ("run", 9));
    let frame = heap.frames()[0];
    assert_eq!(
        (heap.names().text(frame.function), heap.names().text(frame.file), frame.line),
        ("java.lang.Object.run", "App.java", 0)
    );
    assert_eq!(info(F, &bytes)["records"]["primitive_array_no_data"], 1);
}

#[test]
fn weak_references_are_weak_and_soft_ones_are_not() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (16, "java/lang/ref/Reference"),
        (24, "java/lang/ref/WeakReference"),
        (32, "java/lang/ref/SoftReference"),
        (40, "app/Entry"),
    ]);
    let (referent, value) = (file.string("referent"), file.string("value"));
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(16, OBJECT, 0, &[], &[(referent, 2)]),
        file.class(24, 16, 0, &[], &[]),
        file.class(32, 16, 0, &[], &[]),
        file.class(40, 24, 0, &[], &[(value, 2)]),
        file.instance(80, OBJECT, &[]),
        file.instance(88, 32, &[&file.id(80)]),
        file.instance(96, 40, &[&file.id(80), &file.id(80)]),
    ];
    let bytes = file.segment(&heap).end();
    let heap = loaded(&bytes).heap;
    assert_eq!(references(&heap, at(&heap, 88)), strong(&[("<class>", 32), ("referent", 80)]));
    let entry = references(&heap, at(&heap, 96));
    assert_eq!((entry[1].2, entry[2].0.as_str(), entry[2].2), (false, "referent", true));
}

// ---- faults

#[test]
fn faults_are_counted() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[(OBJECT, "java/lang/Object"), (NODE, "app/Node"), (BASE, "app/Orphan")]);
    let name = file.string("next");
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(NODE, OBJECT, 0, &[], &[(name, 2)]),
        file.class(BASE, 4000, 0, &[], &[(name, 2)]),
        file.instance(80, NODE, &[&file.id(4000)]),
        file.instance(80, NODE, &[&file.id(80)]),
        file.instance(88, 5000, &[&[1, 2, 3]]),
        file.instance(96, NODE, &[&[1]]),
        file.instance(104, BASE, &[&file.id(80), &[0; 9]]),
        file.root(0xff, 9999, &[]),
        file.root(0x03, 80, &[0, 0, 0, 9, 0, 0, 0, 0]),
    ];
    let bytes = file.segment(&heap).end();
    let loaded = loaded(&bytes);
    assert!(loaded.damage.is_none());
    let heap = loaded.heap;
    assert_eq!(references(&heap, at(&heap, 80)), strong(&[("<class>", NODE)]));
    assert_eq!(references(&heap, at(&heap, 104)), strong(&[("<class>", BASE), ("next", 80)]));
    let expected = [
        (WarningKind::DanglingReferences, 2),
        (WarningKind::UnknownClasses, 1),
        (WarningKind::ShortObjects, 1),
        (WarningKind::UnknownSuperclasses, 1),
        (WarningKind::RepeatedIds, 1),
        (WarningKind::DanglingRoots, 1),
    ];
    assert_eq!(heap.warnings(), expected.map(|(what, count)| LoadWarning { kind: what, count }));
    assert_eq!(
        broken(F, &bytes),
        [
            "object.id",
            "class_dump.super",
            "instance_dump.class",
            "instance_dump.length",
            "instance_dump.references",
            "root.object",
            "root.thread"
        ]
    );
}

#[test]
fn labels_of_long_arrays_skip_elements_that_are_no_references() {
    for is_dangling in [false, true] {
        let mut file = File::new("1.0.2", 4);
        file.loads(&[(OBJECT, "java/lang/Object"), (ARRAY, "[Ljava/lang/Object;")]);
        let element = |index: u64| match index % 7 {
            0 | 3 => 0,
            1 if is_dangling => 7,
            // Two blocks of nulls.
            _ if (1024..2048).contains(&index) => 0,
            _ => 64 + index * 8,
        };
        let elements: Vec<u64> = (0..4000).map(element).collect();
        let mut heap = vec![
            file.class(OBJECT, 0, 0, &[], &[]),
            file.class(ARRAY, OBJECT, 0, &[], &[]),
            file.objects(48, ARRAY, &elements),
            file.root(0xff, 48, &[]),
        ];
        let objects = elements.iter().filter(|id| **id > 7);
        heap.extend(objects.map(|id| file.instance(*id, OBJECT, &[])));
        file.segment(&heap);
        let bytes = file.end();
        let heap = loaded(&bytes).heap;
        let labels = heap.references_of(at(&heap, 48)).map(|one| one.label.kind());
        let all = (0..).zip(&elements).filter(|(_, id)| **id > 7);
        let mut expected: Vec<_> = all.map(|(index, _)| LabelKind::Index(index)).collect();
        // No root holds the classes.
        expected.insert(0, labels.clone().next().unwrap());
        assert!(labels.eq(expected));
    }
}

#[test]
fn labels_of_an_object_with_very_many_fields_skip_those_that_are_null() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[(OBJECT, "java/lang/Object"), (NODE, "app/Wide")]);
    let fields: Vec<_> = (0..2000).map(|at| (file.string(&format!("f{at}")), 2)).collect();
    let value = |at: u64| if at.is_multiple_of(3) || (600..1200).contains(&at) { 0 } else { 64 };
    let values: Vec<_> = (0..2000).map(|at| file.id(value(at))).collect();
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(NODE, OBJECT, 0, &[], &fields),
        file.instance(48, NODE, &values),
        file.instance(64, OBJECT, &[]),
        file.root(0xff, 48, &[]),
    ];
    file.segment(&heap);
    let bytes = file.end();
    let heap = loaded(&bytes).heap;
    let labels = heap.references_of(at(&heap, 48)).map(|one| one.label.text(heap.names()));
    let expected = (0..2000).filter(|at| value(*at) != 0).map(|at| format!("f{at}"));
    assert!(labels.skip(1).eq(expected));
}

#[test]
fn superclasses_in_a_circle_are_followed_once() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[(16, "A"), (24, "B")]);
    let name = file.string("x");
    let heap = [
        file.class(16, 24, 0, &[], &[(name, 2)]),
        file.class(24, 16, 0, &[], &[(name, 2)]),
        file.instance(80, 16, &[&file.id(80), &file.id(80)]),
    ];
    let bytes = file.segment(&heap).end();
    assert_eq!(loaded(&bytes).heap.len(), 3);
    assert_eq!(broken(F, &bytes), [""; 0]);
}

#[test]
fn a_dump_without_its_end_is_cut() {
    let bytes = small("1.0.2", 8).bytes;
    let cut = &bytes[..bytes.len() - 9];
    let damage = loaded(cut).damage.unwrap();
    assert_eq!(damage.offset(), Some(cut.len() as u64));
    assert!(damage.message().contains("ends without its last record"), "{}", damage.message());
    assert_eq!(loaded(cut).heap.len(), 8);
    assert_eq!(info(F, cut)["complete"], false);
    assert_eq!(info(F, cut)["damage"]["kind"], "truncated");
}

#[test]
fn counts_that_the_file_cannot_hold_are_refused() {
    for id_size in [4, 8] {
        let file = File::new("1.0.2", id_size);
        let objects = file.objects(80, ARRAY, &[]);
        let at = 1 + id_size + 4;
        let mut huge = objects.clone();
        huge[at..at + 4].copy_from_slice(&[0xff; 4]);
        let array = file.array(80, 11, u32::MAX, &[]);
        let mut no_data = array.clone();
        no_data[0] = 0xc3;
        for record in [huge, array] {
            let bytes = file.clone().segment(&[record]).end();
            let damage = loaded(&bytes).damage.unwrap();
            assert_eq!(damage.offset(), Some(40));
            assert!(
                damage.message().contains("beyond the end of its segment"),
                "{}",
                damage.message()
            );
        }
        // A lie about 32 GiB that needs no data is believed, and costs nothing.
        let bytes = file.clone().segment(&[no_data]).end();
        assert_eq!(loaded(&bytes).heap.shallow_bytes(ObjectId(0)) / (1 << 30), 32);
    }
    let mut file = File::new("1.0.2", 4);
    file.record(0x05, &[&[0; 8], &[0xff; 4]]);
    let damage = loaded(&file.bytes).damage.unwrap();
    assert!(damage.message().contains("shorter than its fields"), "{}", damage.message());
}

#[test]
fn other_headers_are_refused() {
    for (bytes, message) in [
        (&b"JAVA PROFILE 1.0.2\0\0\0\0\x06\0\0\0\0\0\0\0\0"[..], "invalid size"),
        (b"JAVA PROFILE 1.0.9\0", "not a file in the format hprof"),
        (b"JAVA PROFILE 1.0.2\0\0\0", "ends inside"),
        (b"", "not a file in the format hprof"),
    ] {
        let Err(error) = load(bytes, LoadOptions::default()) else { panic!("{message}") };
        assert!(error.message().contains(message), "{}", error.message());
    }
    let bytes = small("1.0.2", 4).bytes;
    assert!(load(&bytes, LoadOptions::default().snapshot(SnapshotChoice::Number(1))).is_err());
}

#[test]
fn damage_never_panics() {
    for bytes in [small("1.0.1", 4).bytes, small("1.0.3", 8).bytes] {
        crate::support::damage(F, &bytes, 200, 300);
        load_damaged(&bytes, 200, 300);
    }
}

/// Loads a file cut at many places and with many bytes changed.
fn load_damaged(bytes: &[u8], cuts: usize, flips: usize) {
    let attempt = |bytes: &[u8]| {
        let Ok(loaded) = load(bytes, LoadOptions::default()) else { return };
        assert_eq!(loaded.heap.check(), Ok(()));
        assert_labels(&loaded.heap, bytes);
        for object in loaded.heap.objects() {
            loaded.heap.value(object);
        }
    };
    for cut in (0..bytes.len()).step_by((bytes.len() / cuts).max(1)) {
        attempt(&bytes[..cut]);
    }
    let mut random = crate::support::Random(1);
    for _ in 0..flips {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = random.next() as u8;
        }
        attempt(&damaged);
    }
}

// ---- real files

/// Instances and arrays with their bytes: class objects count apart.
fn totals(heap: &Heap<'_>) -> (u64, u64) {
    let is_class = |object: &ObjectId| matches!(heap.value(*object), Value::Name(_));
    heap.objects()
        .filter(|object| !is_class(object))
        .fold((0, 0), |(n, bytes), o| (n + 1, bytes + heap.shallow_bytes(o)))
}

/// Objects and bytes of the first type of a name.
fn of_type(heap: &Heap<'_>, name: &str) -> (u64, u64) {
    let all = heap.objects().filter(|object| type_name(heap, *object) == name);
    all.fold((0, 0), |(n, bytes), object| (n + 1, bytes + heap.shallow_bytes(object)))
}

/// The object at the end of a path of labels that begins at the static fields of a class.
fn follow(heap: &Heap<'_>, class: &str, labels: &[&str]) -> ObjectId {
    let named = |object: &ObjectId| heap.value(*object) == Value::Name(class.into());
    let mut object = heap.objects().find(named).unwrap();
    for label in labels {
        let step = heap
            .references_of(object)
            .find(|reference| reference.label.text(heap.names()) == *label);
        object = step.unwrap_or_else(|| panic!("no {label} in {}", type_name(heap, object))).target;
    }
    object
}

#[test]
fn a_real_heap_has_the_instances_that_visualvm_sees() {
    // VisualVM's heap walker says 516 904 and 740 600 bytes: it does not know of fields that the
    // JVM injects, and its headers of arrays are 20 bytes long in the wide one. The addresses tell
    // both.
    for (name, instances, bytes, strings) in [
        ("small_java17", 12155, 522_160, (2125, 51_000)),
        ("wide_java17", 12149, 755_544, (2123, 67_936)),
    ] {
        let file = read(&fixture(&format!("hprof/{name}.hprof.zst")));
        let loaded = loaded(&file);
        let heap = &loaded.heap;
        assert!(loaded.damage.is_none());
        assert_eq!(heap.warnings(), []);
        assert_eq!(broken(F, &file), [""; 0]);
        assert_eq!((name, totals(heap)), (name, (instances, bytes)));
        assert_eq!(of_type(heap, "java.lang.String"), strings);
        assert_eq!(info(F, &file)["heap"]["snapshots"][0]["objects"], instances);
    }
}

#[test]
fn a_real_heap_has_its_values_and_threads() {
    for name in ["small_java17", "wide_java17"] {
        let file = read(&fixture(&format!("hprof/{name}.hprof.zst")));
        let heap = loaded(&file).heap;
        let value = |labels: &[&str]| heap.value(follow(&heap, "Small", labels));
        let text = |labels: &[&str]| match value(labels) {
            Value::Text { text, length } => (text.into_owned(), length),
            value => panic!("{value:?}"),
        };
        assert_eq!(text(&["head", "name"]), ("node-99".to_owned(), 7));
        assert_eq!(text(&["mixed", "[0]"]), ("grüße".to_owned(), 5));
        assert_eq!(text(&["mixed", "[1]"]), ("日本😀".to_owned(), 4));
        assert_eq!(value(&["mixed", "[2]"]), Value::Boolean(true));
        assert_eq!(value(&["mixed", "[3]"]), Value::Integer(-5_000_000_000));
        assert_eq!(value(&["mixed", "[4]"]), Value::Integer(0xe4));
        assert_eq!(value(&["head", "any"]), Value::Float(24.75));
        assert_eq!(value(&["head", "next", "any"]), Value::Integer(100_098));
        assert_eq!(
            value(&["mixed", "[7]"]),
            Value::Bytes(
                [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 254][..].into()
            )
        );
        assert_eq!(value(&["mixed", "[6]"]), Value::Length(2));
        assert_eq!(
            type_name(&heap, follow(&heap, "Small", &["mixed", "[6]"])),
            "java.lang.Object[][]"
        );
        for (field, weak) in [("weak", true), ("soft", false), ("phantom", true)] {
            let reference = heap.references_of(follow(&heap, "Small", &[field]));
            let referent = reference
                .into_iter()
                .find(|reference| reference.label.text(heap.names()) == "referent")
                .unwrap();
            assert_eq!(referent.weak, weak, "{field}");
        }
        let worker = heap
            .threads()
            .iter()
            .find(|thread| heap.names().text(thread.name) == "worker-7")
            .unwrap();
        let frames = &heap.frames()[worker.frames.start as usize..worker.frames.end as usize];
        let frames: Vec<_> =
            frames.iter().map(|frame| (heap.names().text(frame.function), frame.line)).collect();
        assert_eq!((frames[0].0, frames[1]), ("java.lang.Thread.sleep", ("Small.block", 18)));
        assert_eq!(type_name(&heap, worker.object.unwrap()), "java.lang.Thread");
        let local = heap
            .roots()
            .iter()
            .find(|root| root.text(heap.names()) == "thread worker-7 Small.block")
            .unwrap();
        assert_eq!((local.kind, type_name(&heap, local.object)), (RootKind::Frame, "Small$Node"));
        assert!(
            heap.types().iter().any(
                |kind| heap.names().text(kind.name) == "byte[]" && kind.kind == TypeKind::Bytes
            )
        );
        assert!((0..heap.references().len()).all(|row| heap.label(row).kind() != LabelKind::None));
        // A collection came before the dump. What only fields of class objects hold, which HotSpot
        // does not write, and classes of arrays and lambdas seem to be unreachable.
        let unreachable = unreachable(&heap);
        assert!(unreachable * 100 < 2 * heap.len(), "{unreachable} objects are unreachable");
    }
}

/// Objects that no root reaches.
fn unreachable(heap: &Heap<'_>) -> usize {
    let mut seen = vec![false; heap.len()];
    let mut open: Vec<ObjectId> = heap.roots().iter().map(|root| root.object).collect();
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut seen[object.index()], true) {
            open.extend(
                heap.references_of(object)
                    .filter(|reference| !reference.weak)
                    .map(|reference| reference.target),
            );
        }
    }
    seen.iter().filter(|seen| !**seen).count()
}

#[test]
fn damage_of_a_real_file_never_panics() {
    let file = read(&fixture("hprof/small_java17.hprof.zst"));
    crate::support::damage(F, &file, 10, 10);
    load_damaged(&file, 10, 10);
}

/// The dumps were written right after a collection that moved everything together: no object may
/// reach into the next one, and most of them end where the next one begins.
#[test]
fn sizes_fit_between_the_addresses() {
    for name in ["small_java17", "wide_java17"] {
        let file = read(&fixture(&format!("hprof/{name}.hprof.zst")));
        let heap = loaded(&file).heap;
        let address = |object: ObjectId| u64::from_str_radix(&heap.id(object)[2..], 16).unwrap();
        let (mut fitting, mut all) = (0, 0);
        for (object, next) in heap.objects().zip(heap.objects().skip(1)) {
            let (gap, size) = (address(next) - address(object), heap.shallow_bytes(object));
            if type_name(&heap, object) != "java.lang.Class" {
                assert!(
                    size <= gap,
                    "{name}: {} of {size} bytes in {gap}",
                    type_name(&heap, object)
                );
                fitting += u32::from(size == gap);
                all += 1;
            }
        }
        println!("{name}: {fitting} of {all} end where the next one begins");
        assert!(fitting * 100 > all * 90, "{name}: {fitting} of {all}");
    }
}

/// A list whose objects stand in the file in the order of `places`. The class of all of them has an id
/// between those of the first object and the others.
fn list(places: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut heap = Instances::default();
    let first = heap.object("app.Node", &[("next", Id(0))]);
    let ids: Vec<u64> = std::iter::repeat_with(|| heap.next()).take(5).collect();
    for place in places {
        let next = ids.get(place + 1).copied().unwrap_or(first);
        heap.object_at(ids[place], "app.Node", &[("next", Id(next))]);
    }
    heap.finish_with_roots(&ids[..1])
}

#[test]
fn rows_are_in_the_order_of_ids_whatever_the_order_of_the_file() {
    let (ascending, descending) = (list(0..5), list((0..5).rev()));
    assert_ne!(ascending, descending);
    let rows = |file| {
        let heap = loaded(file).heap;
        let row = |object: ObjectId| {
            let targets: Vec<String> =
                heap.references_of(object).map(|reference| heap.id(reference.target)).collect();
            (
                heap.id(object),
                type_name(&heap, object).to_owned(),
                targets,
                heap.value(object) == Value::None,
            )
        };
        heap.objects().map(row).collect::<Vec<_>>()
    };
    let rows = [rows(&ascending), rows(&descending)];
    assert_eq!(rows[0], rows[1]);
    let ids: Vec<&str> = rows[0].iter().map(|row| row.0.as_str()).collect();
    assert_eq!(ids, ["0x8", "0x10", "0x18", "0x20", "0x28", "0x30", "0x38", "0x40", "0x48"]);
    assert_eq!(rows[0][3].1, "java.lang.Class");
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_has_the_instances_that_visualvm_sees() {
    let corpus = crate::support::corpus_folder("hprof");
    let file = read(&corpus.join("java17_small.hprof.zst"));
    let heap = loaded(&file).heap;
    assert_eq!(totals(&heap), (132_589, 4_297_112));
    for (name, count, bytes) in
        [("GenHeap$Rec", 20000, 960_000), ("int[]", 20498, 629_000), ("byte[]", 29544, 974_536)]
    {
        assert_eq!(of_type(&heap, name), (count, bytes), "{name}");
    }
    let warning = LoadWarning { kind: WarningKind::OmittedElements, count: 686 };
    assert_eq!(heap.warnings(), [warning]);
    assert_eq!(info(F, &file)["warnings"], serde_json::json!([warning.text()]));
    assert_eq!(broken(F, &file), [""; 0]);
    assert_eq!(hprof::check(&file, ReadOptions::default()).unwrap().findings.len(), 28);
}
