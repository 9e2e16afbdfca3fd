//! hprof that is written, read by a checker of its own.

mod checker;

use checker::{Dump, Object};
use dumptool::model::addresses::AddressesBuilder;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{
    Ephemeron, Heap, Ids, Label, ObjectId, ObjectValues, Root, RootKind, StackFrame, TypeKind,
    Value,
};
use dumptool::output::hprof::{HprofOptions, HprofReport, IdKind, write};
use dumptool::output::loss::LossKind;
use std::collections::HashMap;

/// Writes, checks, and compares the report with what the checker counts.
fn written_with(heap: &Heap<'_>, options: &HprofOptions) -> (Dump, HprofReport) {
    let mut bytes = Vec::new();
    let report = write(heap, options, &mut bytes).unwrap();
    let mut again = Vec::new();
    write(heap, options, &mut again).unwrap();
    assert!(bytes == again, "the same heap gives the same bytes");
    let dump = Dump::of(&bytes);
    assert_eq!(report.instances, dump.objects.len() as u64);
    assert_eq!(report.classes, dump.classes.len() as u64);
    assert_eq!(report.roots, dump.roots.len() as u64);
    assert_eq!(report.bytes, dump.objects.keys().map(|id| dump.size(*id)).sum::<u64>());
    assert_eq!(
        report.references,
        dump.objects.keys().map(|id| dump.references(*id).len() as u64).sum::<u64>()
    );
    let rounded = lost(&report, LossKind::RoundedInstance).1;
    if dump.id_size == 4 {
        let mat: u64 = dump.objects.keys().map(|id| dump.mat_size(*id)).sum();
        assert_eq!(mat, report.bytes + rounded, "MAT shows what the report says");
    }
    (dump, report)
}

fn written(heap: &Heap<'_>) -> (Dump, HprofReport) {
    written_with(heap, &HprofOptions::default())
}

fn lost(report: &HprofReport, what: LossKind) -> (u64, u64) {
    report
        .lost
        .iter()
        .find(|loss| loss.what == what)
        .map_or((0, 0), |loss| (loss.count, loss.bytes.unwrap_or(0)))
}

/// The id of an object with compact ids.
fn id(object: ObjectId) -> u64 {
    8 * (u64::from(object.0) + 1)
}

struct Fixed(HashMap<ObjectId, Value<'static>>);

impl ObjectValues for Fixed {
    fn value<'v>(&'v self, _: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        self.0.get(&object).cloned().unwrap_or(Value::None)
    }
}

fn finish(
    builder: HeapBuilder<'static>,
    values: impl IntoIterator<Item = (ObjectId, Value<'static>)>,
) -> Heap<'static> {
    builder.finish(Ids::Rows(0), Some(Box::new(Fixed(values.into_iter().collect()))))
}

fn root(builder: &mut HeapBuilder<'_>, object: ObjectId, group: &str, label: Label) {
    let group = builder.names().intern(group);
    builder.add_root(Root { label, ..Root::new(object, RootKind::Global, group) });
}

#[test]
fn an_empty_heap_is_a_valid_file() {
    let (dump, report) = written(&finish(HeapBuilder::with_capacity(0, 0), []));
    assert_eq!((dump.objects.len(), report.instances, report.roots), (0, 0, 1));
}

#[test]
fn fields_have_the_names_of_references_and_sizes_are_exact() {
    let mut builder = HeapBuilder::with_capacity(3, 4);
    let node = builder.add_type("Node", "dart:core", TypeKind::Instance);
    let next = Label::field(builder.names().intern("next"));
    let other = Label::field(builder.names().intern("other"));
    let a = builder.add_object(node, 48);
    builder.add_reference(ObjectId(1), next, false);
    builder.add_reference(ObjectId(2), Label::offset(0x18), false);
    let b = builder.add_object(node, 48);
    builder.add_reference(a, other, false);
    let c = builder.add_object(node, 64);
    builder.add_reference(a, Label::NONE, false);
    builder.add_reference(b, Label::NONE, false);
    let (dump, report) = written(&finish(builder, []));
    assert_eq!(dump.class_name(id(a)), "dart:core.Node");
    assert_eq!(
        (dump.field(id(a), "next"), dump.field(id(a), "0x18"), dump.field(id(a), "other")),
        (id(b), id(c), 0)
    );
    assert_eq!(
        (dump.field(id(b), "next"), dump.field(id(b), "other")),
        (0, id(a)),
        "null does not make a class of its own"
    );
    assert_eq!((dump.field(id(c), "<unnamed>"), dump.field(id(c), "<unnamed>#2")), (id(a), id(b)));
    assert_eq!(
        (dump.size(id(a)), dump.mat_size(id(a)), dump.size(id(c)), dump.mat_size(id(c))),
        (48, 48, 64, 64)
    );
    assert_eq!(
        dump.classes_named("dart:core.Node").count(),
        3,
        "one for each size, and one above them"
    );
    assert_eq!((report.bytes, report.references, report.lost), (160, 5, vec![]));
}

#[test]
fn sizes_that_references_exceed_are_counted() {
    let mut builder = HeapBuilder::with_capacity(1, 3);
    let cell = builder.add_type("Cell", "", TypeKind::Instance);
    let a = builder.add_object(cell, 8);
    builder.add_reference(a, Label::offset(0), false);
    let nothing = builder.add_type("_Smi", "", TypeKind::Number);
    let smi = builder.add_object(nothing, 0);
    let (dump, report) = written(&finish(builder, [(smi, Value::Integer(-7))]));
    assert_eq!((dump.size(id(a)), dump.mat_size(id(a)), dump.size(id(smi))), (8, 16, 0));
    assert_eq!(dump.field(id(smi), "value") as i64, -7);
    assert_eq!(lost(&report, LossKind::RoundedInstance), (2, 8 + 16));
}

#[test]
fn elements_stand_at_their_index_and_large_objects_are_arrays() {
    let mut builder = HeapBuilder::with_capacity(4, 400);
    let list = builder.add_type("_List", "dart:core", TypeKind::Array);
    let big = builder.add_type("Big", "", TypeKind::Instance);
    let length = Label::field(builder.names().intern("length_"));
    let a = builder.add_object(list, 64);
    builder.add_reference(ObjectId(1), length, false);
    builder.add_reference(ObjectId(0), Label::index(1), false);
    builder.add_reference(ObjectId(1), Label::index(4), false);
    let b = builder.add_object(big, 4096);
    builder.add_reference(a, Label::offset(8), false);
    let c = builder.add_object(big, 24);
    (0..300).for_each(|offset| builder.add_reference(a, Label::offset(offset * 8), false));
    let (dump, report) = written(&finish(builder, []));
    let Object::Array { elements, .. } = &dump.objects[&id(a)] else { panic!("no array") };
    assert_eq!(elements[..], [0, id(a), 0, 0, id(b), id(b), 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((dump.class_name(id(a)), dump.size(id(a))), ("[Ldart:core._List;", 64));
    assert_eq!((dump.class_name(id(b)), dump.size(id(b))), ("[LBig;", 4096));
    assert_eq!(dump.size(id(c)), 1216);
    assert_eq!(lost(&report, LossKind::RoundedArray), (1, 1216 - 24));
    assert_eq!(lost(&report, LossKind::ArrayLabel), (302, 0));
}

#[test]
fn types_with_too_many_shapes_are_arrays() {
    let mut builder = HeapBuilder::with_capacity(200, 200);
    let context = builder.add_type("Context", "", TypeKind::Frame);
    (0..100).for_each(|size| {
        builder.add_object(context, 16 + 8 * size);
    });
    let hash = builder.add_type("Hash", "", TypeKind::Instance);
    for row in 0..100 {
        let label = Label::field(builder.names().intern(&format!("key {row}")));
        builder.add_object(hash, 24);
        builder.add_reference(ObjectId(0), label, false);
    }
    let (dump, report) = written(&finish(builder, []));
    assert!((0..200).all(|row| dump.class_name(id(ObjectId(row))).starts_with('[')));
    assert_eq!(report.bytes, (0..100).map(|size| 16 + 8 * size).sum::<u64>() + 100 * 24);
}

#[test]
fn texts_are_java_strings() {
    let mut builder = HeapBuilder::with_capacity(3, 0);
    let string = builder.add_type("_OneByteString", "dart:core", TypeKind::Text);
    let objects: Vec<_> = (0..3).map(|_| builder.add_object(string, 32)).collect();
    let texts = ["hello", "hällo", "你好 €"];
    let values = objects.iter().zip(texts).map(|(&object, text)| {
        (object, Value::Text { text: text.into(), length: text.len() as u64 })
    });
    let (dump, report) = written(&finish(builder, values));
    for (object, text) in objects.into_iter().zip(texts) {
        assert_eq!(
            (dump.class_name(id(object)), &*dump.text(id(object))),
            ("java/lang/String", text)
        );
    }
    assert_eq!((report.instances, report.references), (6, 3));
}

#[test]
fn contents_are_numbers_and_byte_arrays() {
    let mut builder = HeapBuilder::with_capacity(3, 3);
    let block = builder.add_type("block", "", TypeKind::Instance);
    let bytes = builder.add_type("24 B without pointers", "", TypeKind::Bytes);
    let a = builder.add_object(block, 32);
    builder.add_reference(a, Label::offset(0), false);
    builder.add_reference(a, Label::offset(16), false);
    let b = builder.add_object(bytes, 24);
    let c = builder.add_object(bytes, 4096);
    builder.set_pointer_size(8);
    let memory: &'static [u8] = Vec::leak((0..=255).cycle().take(4096).collect());
    let values = [
        (a, Value::Bytes(memory[..32].into())),
        (b, Value::Bytes(memory[..24].into())),
        (c, Value::Bytes(memory.into())),
    ];
    let (dump, report) = written(&finish(builder, values));
    assert_eq!(
        dump.field(id(a), "0x8"),
        0x0f0e_0d0c_0b0a_0908,
        "the byte order of the dump becomes hprof's"
    );
    assert_eq!(
        (dump.field(id(a), "0x18"), dump.size(id(a)), dump.mat_size(id(a))),
        (0x1f1e_1d1c_1b1a_1918, 32, 32)
    );
    assert_eq!(
        (dump.field(id(b), "0x0"), dump.class_name(id(b))),
        (0x0706_0504_0302_0100, "24 B without pointers")
    );
    let Object::Numbers { basic: 8, bytes } = &dump.objects[&id(c)] else {
        panic!("no byte array")
    };
    assert_eq!((&bytes[..], dump.size(id(c))), (&memory[..4084], 4096));
    assert_eq!(lost(&report, LossKind::Contents), (2, 8 + 12));
    assert_eq!(lost(&report, LossKind::BytesType).0, 1);
}

#[test]
fn weak_references_do_not_retain() {
    let mut builder = HeapBuilder::with_capacity(4, 4);
    let weak = builder.add_type("_WeakReference", "dart:core", TypeKind::Instance);
    let property = builder.add_type("_WeakProperty", "dart:core", TypeKind::Instance);
    let array = builder.add_type("WeakArray", "", TypeKind::Array);
    let [target, key, value] =
        ["target_", "key_", "value_"].map(|name| Label::field(builder.names().intern(name)));
    let a = builder.add_object(weak, 16);
    builder.add_reference(ObjectId(2), target, true);
    let b = builder.add_object(property, 32);
    builder.add_reference(a, key, true);
    builder.add_reference(ObjectId(2), value, true);
    let c = builder.add_object(array, 32);
    builder.add_reference(a, Label::index(0), true);
    builder.add_ephemeron(Ephemeron { holder: b, key: a, value: c });
    let (dump, report) = written(&finish(builder, []));
    assert_eq!(
        (dump.field(id(a), "referent"), dump.size(id(a)), dump.mat_size(id(a))),
        (id(c), 16, 16)
    );
    let class = dump.classes_named("dart:core._WeakReference").next().unwrap();
    assert_eq!(dump.classes[&class.parent].name, "java/lang/ref/WeakReference");
    assert_eq!((dump.field(id(b), "referent"), dump.field(id(b), "value_")), (id(a), id(c)));
    let helper = dump.references(id(c))[0];
    assert_eq!(
        (dump.class_name(helper), dump.field(helper, "referent")),
        ("java/lang/ref/WeakReference", id(a))
    );
    assert_eq!(lost(&report, LossKind::Ephemeron).0, 1);
}

#[test]
fn external_bytes_are_an_array_of_that_size() {
    let mut builder = HeapBuilder::with_capacity(2, 0);
    let buffer = builder.add_type("Buffer", "", TypeKind::Instance);
    let a = builder.add_object(buffer, 24);
    builder.add_external(a, 5_000_000);
    let b = builder.add_object(buffer, 24);
    let (dump, report) = written(&finish(builder, []));
    let external = dump.field(id(a), "~external");
    assert_eq!(
        (dump.class_name(external), dump.size(external), dump.size(id(a))),
        ("[B", 5_000_000, 24)
    );
    assert_eq!((dump.references(id(b)), report.bytes), (vec![], 5_000_048));
    assert!(
        dump.segments.iter().filter(|length| **length > 1 << 20).count() == 1,
        "a large record has a segment of its own"
    );
}

/// A hash of 32 bytes with its references in 96 external bytes was 808 bytes large in MAT.
#[test]
fn references_beyond_the_size_of_an_object_are_in_its_external_bytes() {
    let mut builder = HeapBuilder::with_capacity(5, 40);
    let hash = builder.add_type("Hash", "", TypeKind::Instance);
    let list = builder.add_type("List", "", TypeKind::Array);
    let [table, next] = ["table", "next"].map(|name| Label::field(builder.names().intern(name)));
    let a = builder.add_object(hash, 32);
    builder.add_reference(ObjectId(1), table, false);
    (0..10).for_each(|_| builder.add_reference(ObjectId(2), Label::NONE, false));
    builder.add_external(a, 96);
    // These fit.
    let b = builder.add_object(hash, 32);
    builder.add_reference(a, table, false);
    builder.add_reference(a, Label::NONE, false);
    builder.add_external(b, 96);
    // Elements at their indexes, one of them weak.
    let c = builder.add_object(list, 32);
    builder.add_reference(b, table, false);
    (0..6).for_each(|index| builder.add_reference(a, Label::index(2 * index), index == 3));
    builder.add_external(c, 64);
    // More than both have.
    let d = builder.add_object(hash, 32);
    (0..16).for_each(|_| builder.add_reference(a, next, false));
    builder.add_external(d, 40);
    // No array is as small as these.
    let e = builder.add_object(hash, 32);
    builder.add_reference(a, table, false);
    builder.add_external(e, 5);
    let f = builder.add_object(hash, 32);
    builder.add_external(f, 3);
    let (dump, report) = written(&finish(builder, []));
    let external = |object| dump.field(id(object), "~external");
    let elements = |id: u64| match &dump.objects[&id] {
        Object::Array { elements, .. } => elements.clone(),
        _ => Vec::new(),
    };

    assert_eq!(
        (dump.field(id(a), "table"), dump.size(id(a)), dump.mat_size(id(a))),
        (id(b), 32, 32)
    );
    assert_eq!((dump.class_name(external(a)), dump.size(external(a))), ("[Ljava/lang/Object;", 96));
    assert_eq!(elements(external(a)), [vec![id(c); 10], vec![0; 11]].concat());
    assert_eq!(
        (dump.class_name(external(b)), dump.size(external(b)), dump.mat_size(id(b))),
        ("[B", 96, 32)
    );
    assert_eq!(
        (dump.class_name(id(c)), dump.field(id(c), "table"), dump.mat_size(id(c))),
        ("List", id(b), 32)
    );
    let list = elements(external(c));
    assert_eq!((list[0], list[1], list[2], list[10], list.len()), (id(a), 0, id(a), id(a), 13));
    assert_eq!(dump.class_name(list[6]), "java/lang/ref/WeakReference");
    assert_eq!((dump.size(external(d)), dump.size(id(d)), dump.mat_size(id(d))), (80, 32, 32));
    assert_eq!(
        (dump.references(id(e)), dump.size(id(e)), dump.mat_size(id(e))),
        (vec![id(a)], 40, 40)
    );
    assert_eq!((dump.references(id(f)), dump.size(id(f)), dump.mat_size(id(f))), (vec![], 32, 32));

    let spilled = LossKind::Spilled;
    assert_eq!(lost(&report, spilled).0, 3);
    assert_eq!(lost(&report, LossKind::Inside), (2, 5 + 3));
    assert_eq!(lost(&report, LossKind::RoundedArray), (2, 40 + 3));
    assert_eq!(lost(&report, LossKind::RoundedInstance).0, 0);
}

/// Where the names of references differ too much for classes, all references are in the array.
#[test]
fn external_bytes_hold_references_of_too_many_shapes() {
    let mut builder = HeapBuilder::with_capacity(200, 2000);
    let hash = builder.add_type("Hash", "", TypeKind::Instance);
    for row in 0..200 {
        let label = Label::field(builder.names().intern(&format!("key {row}")));
        let object = builder.add_object(hash, 24);
        builder.add_reference(ObjectId(0), label, false);
        (0..9).for_each(|_| builder.add_reference(ObjectId(1), Label::NONE, false));
        builder.add_external(object, 64);
    }
    let (dump, report) = written(&finish(builder, []));
    let external = dump.field(id(ObjectId(7)), "~external");
    assert_eq!(
        dump.references(external),
        [vec![id(ObjectId(0))], vec![id(ObjectId(1)); 9]].concat()
    );
    assert_eq!((report.bytes, report.references), (200 * 88, 200 * 11));
    assert!(dump.classes.len() < 40, "{}", dump.classes.len());
}

#[test]
fn roots_have_names_and_threads_have_frames() {
    let mut builder = HeapBuilder::with_capacity(2, 0);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    let [a, b] = [0, 1].map(|_| builder.add_object(node, 16));
    root(&mut builder, a, "data", Label::offset(0x1c0));
    root(&mut builder, b, "data", Label::offset(0x1c0));
    root(&mut builder, a, "", Label::NONE);
    let (function, file) =
        (builder.names().intern("main.worker"), builder.names().intern("main.go"));
    let frame = builder.add_thread(
        "goroutine 17 [select]",
        17,
        Some(a),
        &[StackFrame { function, file, line: 42 }; 2],
    );
    let group = builder.names().intern("goroutine 17 [select] main.worker");
    builder.add_root(Root {
        label: Label::offset(8),
        frame: Some(frame + 1),
        ..Root::new(b, RootKind::Frame, group)
    });
    let (dump, report) = written(&finish(builder, []));
    assert_eq!(dump.holder("data"), [("0x1c0".to_owned(), id(a)), ("0x1c0#2".to_owned(), id(b))]);
    assert_eq!(dump.locals, [(id(b), 1, 1)]);
    let (thread, name) = &dump.threads[&1];
    assert_eq!(
        (&**name, dump.text(dump.field(*thread, "name")), dump.field(*thread, "object")),
        ("goroutine 17 [select]", name.clone(), id(a))
    );
    assert_eq!(
        dump.traces[&2].iter().map(|frame| dump.frames[frame].clone()).collect::<Vec<_>>(),
        vec![("main.worker".to_owned(), "main.go".to_owned(), 42); 2]
    );
    assert!(dump.roots.contains(&(0xff, id(a))));
    assert_eq!(lost(&report, LossKind::FrameLabel).0, 1);
}

#[test]
fn more_roots_than_a_class_may_have_static_fields() {
    let mut builder = HeapBuilder::with_capacity(1, 0);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    let a = builder.add_object(node, 16);
    (0..70_000).for_each(|index| root(&mut builder, a, "handles", Label::index(index)));
    // And more groups than are worth classes of their own.
    (0..1000).for_each(|index| {
        let group = builder.names().intern(&format!("thread {index}"));
        builder.add_root(Root { label: Label::offset(8), ..Root::new(a, RootKind::Thread, group) });
    });
    let (dump, _) = written(&finish(builder, []));
    let counts = ["handles", "handles ... 2", "handles ... 3", "thread"]
        .map(|group| dump.holder(group).len());
    assert_eq!(counts, [32_000, 32_000, 6_000, 1000]);
    assert!(dump.holder("thread").contains(&("thread 999 +0x8".to_owned(), id(a))));
}

#[test]
fn names_that_readers_would_take_for_arrays_are_changed() {
    let mut builder = HeapBuilder::with_capacity(5, 0);
    let names = ["[]byte", "main.T[]", "", "(*T)[int]", "<method>"];
    let objects = names.map(|name| {
        let named = builder.add_type(name, "", TypeKind::Instance);
        builder.add_object(named, 16)
    });
    let (dump, _) = written(&finish(builder, []));
    let shown = objects.map(|object| dump.class_name(id(object)).to_owned());
    assert_eq!(shown, ["type []byte", "main.T[ ]", "<unnamed>", "(*T)[int]", "type <method>"]);
}

#[test]
fn unreachable_objects_are_written_and_can_be_made_roots() {
    let mut builder = HeapBuilder::with_capacity(5, 5);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    // 0 is a root; 1 refers to 2; 3 and 4 to each other.
    for (object, target) in [(0, 0), (1, 2), (2, 2), (3, 4), (4, 3)] {
        assert_eq!(builder.add_object(node, 16).0, object);
        builder.add_reference(ObjectId(target), Label::offset(8), false);
    }
    root(&mut builder, ObjectId(0), "data", Label::offset(8));
    let heap = finish(builder, []);
    let unknown = |dump: &Dump| {
        dump.roots
            .iter()
            .filter(|(tag, _)| *tag == 0xff)
            .map(|(_, id)| id / 8 - 1)
            .collect::<Vec<_>>()
    };
    assert!(unknown(&written(&heap).0).is_empty());
    let (dump, _) = written_with(&heap, &HprofOptions::default().root_unreachable(true));
    assert_eq!(unknown(&dump), [1, 3]);
}

#[test]
fn addresses_are_ids_if_asked_for() {
    // Arrays full of references, back to back: what MAT takes for compressed references if nothing
    // is between them.
    let addresses: Vec<u64> = (0..64).map(|row| 0xc0_0000_0000 + row * 4096).collect();
    let mut builder = HeapBuilder::with_capacity(64, 64 * 512);
    let node = builder.add_type("block", "", TypeKind::Instance);
    for _ in &addresses {
        builder.add_object(node, 4096);
        (0..512).for_each(|word| {
            builder.add_reference(ObjectId(word as u32 % 64), Label::offset(word * 8), false)
        });
    }
    builder.set_pointer_size(8);
    let mut table = AddressesBuilder::default();
    addresses.iter().for_each(|&address| table.add(address));
    let heap = builder.finish(Ids::Addresses(table.finish()), None);
    let (dump, _) = written_with(&heap, &HprofOptions::default().ids(IdKind::Address));
    assert_eq!(dump.id_size, 8);
    assert!(addresses.iter().all(|address| dump.objects.contains_key(address)));
    let (dump, _) = written(&heap);
    assert_eq!(dump.id_size, 4);
}

#[test]
fn the_info_class_says_how_ids_are_given() {
    let mut builder = HeapBuilder::with_capacity(2, 0);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    for _ in 0..2 {
        builder.add_object(node, 16);
    }
    let (dump, _) = written(&finish(builder, []));
    let statics = &dump.classes_named("dumptool/Info").next().unwrap().statics;
    let of = |name: &str| statics.iter().find(|(known, ..)| known == name).unwrap().2;
    assert_eq!(
        (of("version"), of("objects"), of("idBase"), of("idShift"), of("firstHelper")),
        (1, 2, 8, 3, 24)
    );
}

/// Bytes of zeros that a heap of so many objects may be filled up with.
fn budget(objects: u64) -> u64 {
    (32 << 20) + 256 * objects
}

const CUT_SIZE: LossKind = LossKind::CutSize;
const CUT_EXTERNAL: LossKind = LossKind::CutExternal;

/// A list of type `_List` for each size, with so many external bytes.
fn lists(sizes: impl IntoIterator<Item = (u64, u64)>) -> Heap<'static> {
    let mut builder = HeapBuilder::with_capacity(4, 0);
    let list = builder.add_type("_List", "", TypeKind::Array);
    for (size, external) in sizes {
        let object = builder.add_object(list, size);
        if external > 0 {
            builder.add_external(object, external);
        }
    }
    finish(builder, [])
}

/// Bytes of the file, if they are no more than a test should hold.
fn written_bytes(heap: &Heap<'_>) -> (u64, HprofReport) {
    struct Count(u64);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            assert!(self.0 < 1 << 30, "the output does not end");
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let report = write(heap, &HprofOptions::default(), &mut count).unwrap();
    (count.0, report)
}

#[test]
fn sizes_that_no_file_justifies_are_cut() {
    let (bytes, report) = written_bytes(&lists([(u64::MAX, u64::MAX)]));
    assert!((30 << 20..budget(1) + 8192).contains(&bytes), "{bytes}");
    assert_eq!(lost(&report, CUT_SIZE).0, 1);
    assert_eq!(lost(&report, CUT_EXTERNAL).0, 1);
}

/// 226 bytes of Dart's became 5.4 GB: 256 MiB of zeros for each of 20 objects.
#[test]
fn objects_share_what_sizes_are_filled_with() {
    let (bytes, report) = written_bytes(&lists((0..40).map(|_| (1 << 58, 1 << 58))));
    assert!((30 << 20..budget(40) + 16_384).contains(&bytes), "{bytes}");
    assert_eq!(report.instances, 80);
    let (count, cut) = lost(&report, CUT_SIZE);
    assert!(count == 40 && cut > 39 << 58, "{count} {cut}");
    assert_eq!(lost(&report, CUT_EXTERNAL).0, 40);
}

/// What is claimed without reason takes nothing from what is not: small objects keep their sizes.
#[test]
fn small_objects_keep_their_size_beside_huge_ones() {
    let sizes = (0..100).map(|row| if row % 10 == 0 { (1 << 58, 0) } else { (8192, 1 << 16) });
    let (_, report) = written_bytes(&lists(sizes));
    assert_eq!((lost(&report, CUT_SIZE).0, lost(&report, CUT_EXTERNAL)), (10, (0, 0)));
}

/// Pads of instances come out of the same budget.
#[test]
fn instances_are_padded_within_the_budget() {
    const OBJECTS: u64 = 400_000;
    let mut builder = HeapBuilder::with_capacity(OBJECTS as usize, 0);
    let node = builder.add_type("Node", "", TypeKind::Instance);
    (0..OBJECTS).for_each(|_| {
        builder.add_object(node, 2048);
    });
    let (bytes, report) = written_bytes(&finish(builder, []));
    assert!(bytes < budget(OBJECTS) + OBJECTS * 32, "{bytes}");
    assert_eq!(lost(&report, CUT_SIZE).0, OBJECTS);
    assert_eq!(report.bytes + lost(&report, CUT_SIZE).1, OBJECTS * 2048);
}

/// So do the fields of classes, of which each type and size has one.
#[test]
fn classes_have_no_more_pads_than_objects_justify() {
    const TYPES: u64 = 20_000;
    let mut builder = HeapBuilder::with_capacity(TYPES as usize, 0);
    for row in 0..TYPES {
        let of_its_own = builder.add_type(&format!("Type {row}"), "", TypeKind::Instance);
        builder.add_object(of_its_own, 1024);
    }
    let (bytes, report) = written_bytes(&finish(builder, []));
    let objects = TYPES * 1024;
    assert!(bytes < objects + (8 << 20) + 200 * TYPES, "{bytes}");
    assert!(lost(&report, CUT_SIZE).0 > 0);
}

/// One object has 256 labels, and all others of its type and size would have as many null fields.
#[test]
fn one_object_with_many_labels_does_not_widen_all_others() {
    const OBJECTS: u32 = 100_000;
    for (size, external) in [(24, 0), (1040, 0), (24, 64)] {
        let mut builder = HeapBuilder::with_capacity(OBJECTS as usize, 256);
        let node = builder.add_type("Node", "", TypeKind::Instance);
        for row in 0..OBJECTS {
            let object = builder.add_object(node, size);
            let labels = if row == 7 { 0..256 } else { 0..row % 2 };
            labels.for_each(|label| {
                builder.add_reference(ObjectId(0), Label::offset(8 * u64::from(label)), false)
            });
            if external > 0 {
                builder.add_external(object, external);
            }
        }
        let heap = finish(builder, []);
        let (bytes, report) = written_bytes(&heap);
        let claimed = if size > 256 { budget(OBJECTS.into()) } else { 0 };
        assert!(
            bytes < claimed + u64::from(OBJECTS) * 160 + (1 << 20),
            "{size} {external}: {bytes}"
        );
        let externals = if external > 0 { u64::from(OBJECTS) } else { 0 };
        assert_eq!(report.references, u64::from(OBJECTS) / 2 - 1 + 256 + externals);
    }
}

/// What has contents is no filling, however much it is.
#[test]
fn contents_are_not_cut() {
    let mut builder = HeapBuilder::with_capacity(1, 0);
    let bytes = builder.add_type("Buffer", "", TypeKind::Bytes);
    let a = builder.add_object(bytes, 40 << 20);
    let b = builder.add_object(bytes, 1 << 40);
    let memory: &'static [u8] = Vec::leak(vec![7; 40 << 20]);
    let heap = finish(builder, [(a, Value::Bytes(memory.into())), (b, Value::None)]);
    let (bytes, report) = written_bytes(&heap);
    assert!((71 << 20..(73 << 20)).contains(&bytes), "{bytes}");
    assert_eq!(lost(&report, CUT_SIZE).0, 1);
}

/// Objects of some formats share their texts.
#[test]
fn long_texts_that_many_objects_have_are_cut() {
    let mut builder = HeapBuilder::with_capacity(300, 0);
    let string = builder.add_type("string", "", TypeKind::Text);
    let objects: Vec<_> = (0..300).map(|_| builder.add_object(string, 16)).collect();
    let long = "x".repeat(1 << 20);
    let values = objects
        .iter()
        .map(|&object| (object, Value::Text { text: long.clone().into(), length: 1 << 20 }));
    let (bytes, report) = written_bytes(&finish(builder, values));
    // The first one, and what the budget allows.
    assert!((16 << 20..19 << 20).contains(&bytes), "{bytes}");
    assert_eq!(lost(&report, LossKind::CutText).0, 300 - 17);
}

/// A long name that many names are put together with is cut.
#[test]
fn long_names_are_no_part_of_many_names() {
    let mut builder = HeapBuilder::with_capacity(300, 0);
    let long = "x".repeat(100_000);
    let label = Label::field(builder.names().intern(&long));
    let types: Vec<_> = (0..300)
        .map(|row| builder.add_type(&format!("T{row}"), &long, TypeKind::Instance))
        .collect();
    for of_its_own in types {
        let object = builder.add_object(of_its_own, 16);
        root(&mut builder, object, "data", label);
    }
    let (bytes, _) = written_bytes(&finish(builder, []));
    assert!(bytes < 2 << 20, "{bytes}");
}
