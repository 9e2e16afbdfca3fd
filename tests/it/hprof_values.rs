//! Fields and elements of Java objects.

use crate::support::hprof::File;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format, ReadOptions};
use dumptool::model::heap::{FieldValue, Heap, ObjectId};
use std::ops::ControlFlow;

const OBJECT: u64 = 8;
const BASE: u64 = 16;
const DERIVED: u64 = 24;
const ARRAY: u64 = 32;
const FIRST: u64 = 40;

fn loaded(file: &[u8]) -> Heap<'_> {
    let heap = input::load(Format::Hprof, file, LoadOptions::default()).unwrap().heap;
    assert_eq!(heap.check(), Ok(()));
    heap
}

/// An object by its id.
fn at(heap: &Heap<'_>, id: u64) -> ObjectId {
    heap.find(&format!("{id:#x}")).unwrap()
}

/// Lines of `class.name: type = value`.
fn fields(heap: &Heap<'_>, object: ObjectId) -> Vec<String> {
    let mut lines = Vec::new();
    heap.each_field(object, |field| {
        lines.push(format!(
            "{}.{}: {} = {:?}",
            field.class, field.name, field.type_name, field.value
        ));
        ControlFlow::Continue(())
    });
    lines
}

fn elements(heap: &Heap<'_>, object: ObjectId, start: u64) -> Vec<String> {
    let mut all = Vec::new();
    heap.elements(object, start, |index, value| {
        all.push(format!("{index}: {value:?}"));
        ControlFlow::Continue(())
    });
    all
}

/// A base class with fields of every type, and one below it.
fn file() -> Vec<u8> {
    let mut file = File::new("1.0.2", 8);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (BASE, "app/Base"),
        (DERIVED, "app/Derived"),
        (ARRAY, "[Ljava/lang/Object;"),
    ]);
    let names = ["next", "flag", "letter", "ratio", "precise", "tiny", "small", "size", "total"];
    let kinds = [2u8, 4, 5, 6, 7, 8, 9, 10, 11];
    let own: Vec<_> =
        names.iter().zip(kinds).map(|(name, kind)| (file.string(name), kind)).collect();
    let [size, count, gone, instances] =
        ["size", "count", "gone", "INSTANCES"].map(|name| file.string(name));
    let values = [
        &FIRST.to_be_bytes()[..],
        &[1],
        &u16::from(b'x').to_be_bytes(),
        &1.5f32.to_be_bytes(),
        &(-2.25f64).to_be_bytes(),
        &[0xff],
        &(-2i16).to_be_bytes(),
        &20_000i32.to_be_bytes(),
        &i64::MIN.to_be_bytes(),
    ];
    let derived = [&7i32.to_be_bytes()[..], &0u64.to_be_bytes(), &0xdeadu64.to_be_bytes()];
    let fields = [&derived[..], &values].concat();
    let records = vec![
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(
            BASE,
            OBJECT,
            0,
            &[(instances, 10, 3i32.to_be_bytes().to_vec()), (gone, 2, vec![0; 8])],
            &own,
        ),
        file.class(DERIVED, BASE, 0, &[], &[(size, 10), (count, 2), (gone, 2)]),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
        file.instance(FIRST, DERIVED, &fields),
        file.objects(48, ARRAY, &[0, FIRST, 0xdead]),
        file.array(56, 5, 2, &[0, b'h', 0, b'i']),
        file.array(64, 10, 2, &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]),
        file.root(0xff, FIRST, &[]),
    ];
    file.segment(&records).end()
}

#[test]
fn fields_of_every_type_are_decoded_own_class_first() {
    let file = file();
    let heap = loaded(&file);
    let object = at(&heap, FIRST);
    let expected = [
        "app.Derived.size: int = Integer(7)".to_owned(),
        "app.Derived.count: object = Null".to_owned(),
        "app.Derived.gone: object = Address(57005)".to_owned(),
        format!("app.Base.next: object = Object({object:?})"),
        "app.Base.flag: boolean = Boolean(true)".to_owned(),
        "app.Base.letter: char = Character(120)".to_owned(),
        "app.Base.ratio: float = Float(1.5)".to_owned(),
        "app.Base.precise: double = Float(-2.25)".to_owned(),
        "app.Base.tiny: byte = Integer(-1)".to_owned(),
        "app.Base.small: short = Integer(-2)".to_owned(),
        "app.Base.size: int = Integer(20000)".to_owned(),
        format!("app.Base.total: long = Integer({})", i64::MIN),
    ];
    assert_eq!(fields(&heap, object), expected);
    // The field of the class itself hides that of its superclass.
    assert_eq!(heap.field(object, "size"), Some(FieldValue::Integer(7)));
    assert_eq!(heap.field(object, "total").and_then(FieldValue::count), None);
    assert_eq!(heap.field(object, "none"), None);
}

#[test]
fn a_class_has_static_fields() {
    let file = file();
    let heap = loaded(&file);
    let class = at(&heap, BASE);
    let expected = ["app.Base.INSTANCES: int = Integer(3)", "app.Base.gone: object = Null"];
    assert_eq!(fields(&heap, class), expected);
    assert_eq!(heap.field(class, "INSTANCES"), Some(FieldValue::Integer(3)));
}

#[test]
fn elements_of_arrays_begin_where_they_are_asked_for() {
    let file = file();
    let heap = loaded(&file);
    let [first, objects, chars, ints] = [FIRST, 48, 56, 64].map(|id| at(&heap, id));
    assert_eq!(
        elements(&heap, objects, 1),
        [format!("1: Object({first:?})"), "2: Address(57005)".to_owned()]
    );
    assert_eq!(elements(&heap, objects, 3), [""; 0]);
    assert_eq!(elements(&heap, objects, u64::MAX), [""; 0]);
    assert_eq!(elements(&heap, chars, 0), ["0: Character(104)", "1: Character(105)"]);
    assert_eq!(elements(&heap, ints, 0), ["0: Integer(1)", "1: Integer(-1)"]);
    let array = heap.array(ints).unwrap();
    assert_eq!((array.length, array.element), (2, "int"));
    assert_eq!(heap.array(first), None);
}

#[test]
fn fields_end_where_the_data_of_an_object_ends() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[(OBJECT, "java/lang/Object"), (BASE, "app/Base"), (DERIVED, "app/Derived")]);
    let [first, second] = ["first", "second"].map(|name| file.string(name));
    let records = vec![
        file.class(OBJECT, 0, 0, &[], &[]),
        // Each is the superclass of the other.
        file.class(BASE, DERIVED, 0, &[], &[(first, 10), (second, 10)]),
        file.class(DERIVED, BASE, 0, &[], &[(second, 10)]),
        file.instance(FIRST, BASE, &[&[0, 0, 0, 5, 0, 0]]),
        file.instance(48, DERIVED, &[&[0; 64]]),
        file.instance(56, 999, &[&[0; 8]]),
    ];
    let file = file.segment(&records).end();
    let heap = loaded(&file);
    assert_eq!(fields(&heap, at(&heap, FIRST)), ["app.Base.first: int = Integer(5)"]);
    assert!(fields(&heap, at(&heap, 48)).len() <= 3);
    assert_eq!(fields(&heap, at(&heap, 56)), [""; 0]);
}

#[test]
fn records_of_instances_have_their_fields_where_the_classes_are_known() {
    let (records, error) = crate::support::records(Format::Hprof, &file());
    assert!(error.is_none());
    let instance = records.iter().find(|record| record["record"] == "instance_dump").unwrap();
    let fields = instance["field_values"].as_array().unwrap();
    assert_eq!(fields.len(), 12);
    assert_eq!(
        fields[0],
        serde_json::json!({"class": "app.Derived", "name": "size", "type": "int", "value": 7})
    );
    assert_eq!(
        fields[10],
        serde_json::json!({"class": "app.Base", "name": "size", "type": "int", "value": 20000})
    );
    // A circle of classes without fields, and a class that follows its instance.
    let mut file = File::new("1.0.2", 4);
    file.loads(&[(BASE, "app/Base"), (DERIVED, "app/Derived")]);
    let name = file.string("late");
    let records = vec![
        file.class(BASE, BASE, 0, &[], &[]),
        file.instance(FIRST, BASE, &[&[0; 4]]),
        file.instance(48, DERIVED, &[&[0; 4]]),
        file.class(DERIVED, 0, 0, &[], &[(name, 10)]),
    ];
    let (records, _) = crate::support::records(Format::Hprof, &file.segment(&records).end());
    let fields = records
        .iter()
        .filter(|record| record["record"] == "instance_dump")
        .map(|record| &record["field_values"]);
    assert!(fields.into_iter().all(|fields| *fields == serde_json::json!([])));
}

/// A class with its superclass, its own fields and their types.
type OfBuffer = (u64, u64, &'static str, &'static [(&'static str, u8)]);

/// The classes of buffers in OpenJDK, with the fields that matter and one that is in the way.
const BUFFERS: [OfBuffer; 6] = [
    (OBJECT, 0, "java/lang/Object", &[]),
    (16, OBJECT, "java/nio/Buffer", &[("mark", 10), ("capacity", 10), ("address", 11)]),
    (24, 16, "java/nio/MappedByteBuffer", &[("fd", 2)]),
    (32, 24, "java/nio/DirectByteBuffer", &[("att", 2), ("cleaner", 2)]),
    (40, 32, "java/nio/DirectByteBufferR", &[]),
    (48, OBJECT, "sun/misc/Cleaner", &[]),
];

/// A direct buffer of `class` with the objects that its fields refer to.
fn direct(
    file: &File,
    id: u64,
    class: u64,
    [fd, att, cleaner]: [u64; 3],
    capacity: i32,
) -> Vec<u8> {
    let [fd, att, cleaner] = [fd, att, cleaner].map(u64::to_be_bytes);
    let own = [&att[..], &cleaner, &fd].concat();
    let buffer = [&(-1i32).to_be_bytes()[..], &capacity.to_be_bytes(), &[7; 8]].concat();
    file.instance(id, class, &[&own, &buffer])
}

#[test]
fn the_memory_of_a_direct_buffer_counts_once_and_that_of_a_mapped_file_does_not() {
    let mut file = File::new("1.0.2", 8);
    file.loads(&BUFFERS.map(|(id, _, name, _)| (id, name)));
    let mut records = Vec::new();
    for (id, parent, _, fields) in BUFFERS {
        let own: Vec<_> = fields.iter().map(|(name, kind)| (file.string(name), *kind)).collect();
        records.push(file.class(id, parent, 0, &[], &own));
    }
    const CLEANER: u64 = 800;
    records.extend([
        direct(&file, 1000, 32, [0, 0, CLEANER], 5000),
        // A duplicate, a slice that is only read, a mapped file, and a negative capacity.
        direct(&file, 1100, 32, [0, 1000, 0], 5000),
        direct(&file, 1200, 40, [0, 1000, 0], 300),
        direct(&file, 1300, 40, [CLEANER, 0, CLEANER], 9000),
        direct(&file, 1400, 32, [0, 0, CLEANER], -1),
        direct(&file, 1500, 32, [0, 0, CLEANER], 20),
        file.instance(CLEANER, 48, &[]),
    ]);
    records.extend([1000, 1100].map(|id| file.root(0xff, id, &[])));
    let bytes = file.segment(&records).end();

    let heap = loaded(&bytes);
    let external = |id| heap.external_bytes(at(&heap, id));
    assert_eq!([1000, 1100, 1200, 1300, 1400, 1500].map(external), [5000, 0, 0, 0, 0, 20]);
    let counts = input::histogram(Format::Hprof, &bytes, LoadOptions::default()).unwrap();
    let quick: u64 = counts.rows.iter().map(|row| row.sum.external_bytes).sum();
    let info = input::info(Format::Hprof, &bytes, ReadOptions::default()).unwrap();
    assert_eq!((quick, info.heap.unwrap().snapshots[0].external_bytes), (5020, Some(5020)));
}
