//! What is reachable in dumps of HotSpot, and what dominates it: the dumps of `hprof/layouts` in
//! the corpus, with what the program and Eclipse MAT say of them, and tiny files.

use crate::support::hprof::File;
use crate::support::{broken, corpus_folder, files, info, json, read};
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::input::check::CheckWarning;
use dumptool::input::hprof::{HeapRec, Rec, Records, check, load};
use dumptool::input::load::LoadOptions;
use dumptool::input::{Format, ReadOptions};
use dumptool::java::{FieldType, PRIMITIVES};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{
    Heap, Ids, Label, LoadWarning, ObjectId, Root, TypeKind, Value, WarningKind,
};
use dumptool::output::hprof::{HprofOptions, write};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::Path;

fn type_name<'h>(heap: &'h Heap<'_>, object: ObjectId) -> &'h str {
    heap.type_name(object)
}

// ---- the corpus

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn reachability_is_that_of_the_jvm_and_of_mat_in_the_corpus() {
    let folder = corpus_folder("hprof/layouts");
    let dumps: Vec<_> = files(&folder)
        .into_iter()
        .filter(|file| file.to_string_lossy().ends_with(".hprof.zst"))
        .collect();
    assert!(!dumps.is_empty(), "{}: no dumps", folder.display());
    for dump in dumps {
        agree(&dump);
    }
}

fn agree(dump: &Path) {
    let name = dump.file_name().unwrap().to_string_lossy().replace(".hprof.zst", "");
    let truth = json(&dump.with_file_name(format!("{name}.truth.json")));
    let bytes = read(dump);
    assert_eq!(broken(Format::Hprof, &bytes), [""; 0], "{name}");
    let heap = load(&bytes, LoadOptions::default()).unwrap().heap;
    let live = Dominators::of(&Graph::of(&heap));
    marked_arrays(&name, &truth, &heap, &live);
    let in_mat = as_in_mat(&heap, false);
    let live = Dominators::of(&Graph::of(&in_mat));
    let (ours, mats) = (live.len() as u64, truth["mat"]["live_objects"].as_u64().unwrap());
    assert!(ours.abs_diff(mats) * 100 <= mats, "{name}: {ours} live objects, MAT has {mats}");
    let rows = truth["mat"]["top_dominators"].as_array().unwrap();
    let sizes = mat_sizes(&truth, &heap, &bytes);
    let as_here = same_retained(rows, &heap, &in_mat, &sizes);
    // MAT lets a thread hold its local variables, which are roots here. Nothing else differs but
    // the loader of the application in JDK 25, by 2 %.
    let as_in_mat = same_retained(rows, &heap, &as_in_mat(&heap, true), &sizes);
    println!(
        "{name}: {ours} of MAT's {mats} live objects; {as_here} and {as_in_mat} of {} dominators agree",
        rows.len()
    );
    assert!(as_in_mat + 2 >= rows.len(), "{name}: {as_in_mat} of {}", rows.len());
    // The programs of JDK 25 have 50 virtual threads, each with a stack.
    assert!(
        as_here >= if name.starts_with("jdk25") { 30 } else { 45 },
        "{name}: {as_here} of {}",
        rows.len()
    );
}

/// Each array whose length marks it is alive exactly if the program says so. JDK 21 leaves out the
/// stacks that hold some.
fn marked_arrays(name: &str, truth: &Json, heap: &Heap<'_>, live: &Dominators) {
    let mut checked = 0;
    for fact in truth["program"]["facts"].as_array().unwrap() {
        let on_stack =
            fact["name"].as_str().unwrap().contains("virtual") && name.starts_with("jdk21");
        for id in fact["ids"].as_array().into_iter().flatten() {
            let object = heap.find(id.as_str().unwrap()).unwrap();
            let wanted = fact["count"].as_u64() == Some(1) && !on_stack;
            assert_eq!(live.is_live(object), wanted, "{name}: {fact}");
            checked += 1;
        }
    }
    assert!(checked >= 12, "{name}: {checked}");
}

/// How many of MAT's largest dominators retain what they retain for MAT, in sizes as MAT counts
/// them.
fn same_retained(rows: &[Json], heap: &Heap<'_>, in_mat: &Heap<'_>, sizes: &[u64]) -> usize {
    let live = Dominators::of(&Graph::of(in_mat));
    let mut retained: Vec<u64> =
        std::iter::once(0).chain(live.order().iter().map(|object| sizes[object.index()])).collect();
    for number in (1..retained.len()).rev() {
        retained[live.dominator_of_number(number as u32) as usize] += retained[number];
    }
    let same = |row: &&Json| {
        let object = heap.find(row["id"].as_str().unwrap()).unwrap();
        let ours = live.number(object).map(|number| retained[number as usize]);
        ours == row["retained"].as_u64()
    };
    rows.iter().filter(same).count()
}

/// The same graph with strong references only, as MAT follows weak ones. On request the threads
/// hold their local variables, which are no roots then.
fn as_in_mat(heap: &Heap<'_>, hold_locals: bool) -> Heap<'static> {
    let mut builder = HeapBuilder::with_capacity(heap.len(), heap.references().len());
    let node = builder.add_type("node", "", TypeKind::Instance);
    let group = builder.names().intern("roots");
    let mut locals: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    for root in heap.roots() {
        let thread = root
            .frame
            .and_then(|frame| heap.threads().iter().find(|thread| thread.frames.contains(&frame)));
        match thread.and_then(|thread| thread.object) {
            Some(holder) if hold_locals => locals.entry(holder).or_default().push(root.object),
            _ => builder.add_root(Root::new(root.object, root.kind, group)),
        }
    }
    for object in heap.objects() {
        builder.add_object(node, 0);
        let fields = heap.references_of(object).map(|reference| reference.target);
        for target in fields.chain(locals.get(&object).into_iter().flatten().copied()) {
            builder.add_reference(target, Label::NONE, false);
        }
    }
    builder.finish(Ids::Rows(0), None)
}

/// Shallow sizes of all objects in MAT's eyes.
fn mat_sizes(truth: &Json, heap: &Heap<'_>, bytes: &[u8]) -> Vec<u64> {
    let number = |key: &str| truth["layout"][key].as_u64().unwrap();
    let (reference, alignment) = (number("reference_bytes"), number("object_alignment"));
    let up = |size: u64, to: u64| size.next_multiple_of(to);
    let classes = class_sizes(bytes, reference, alignment);
    let rows = truth["mat"]["rows"].as_object().unwrap();
    let size = |object: ObjectId| {
        let kind = heap.type_of(object).kind;
        let name = type_name(heap, object);
        if let Some(&size) = classes.get(&heap.id(object)).filter(|_| kind == TypeKind::Class) {
            return size;
        }
        if let Some(element) = name.strip_suffix("[]") {
            let header = 8 + reference + 4;
            let width = PRIMITIVES.into_iter().find(|kind| kind.name() == element).map(width);
            return match (heap.value(object), width) {
                (Value::Bytes(bytes), Some(_)) => {
                    up(up(header, reference) + bytes.len() as u64, alignment)
                }
                (Value::Length(count), _) => up(header + count * reference, alignment),
                (value, _) => panic!("{name}: {value:?}"),
            };
        }
        // Where MAT has no row, nothing of the type is alive for it.
        rows.get(name).map_or(0, |row| row[1].as_u64().unwrap() / row[0].as_u64().unwrap())
    };
    heap.objects().map(size).collect()
}

/// MAT's sizes of classes by id: their static fields.
fn class_sizes(bytes: &[u8], reference: u64, alignment: u64) -> HashMap<String, u64> {
    let mut sizes = HashMap::new();
    for record in Records::new(bytes).unwrap() {
        if let (_, Rec::Heap(HeapRec::ClassDump(class))) = record.unwrap() {
            let statics = class.statics.iter().map(|field| {
                if field.kind == FieldType::Object { reference } else { width(field.kind) }
            });
            sizes.insert(
                format!("{:#x}", class.id),
                statics.sum::<u64>().next_multiple_of(alignment),
            );
        }
    }
    sizes
}

fn width(kind: FieldType) -> u64 {
    match kind {
        FieldType::Boolean | FieldType::Byte => 1,
        FieldType::Char | FieldType::Short => 2,
        FieldType::Int | FieldType::Float => 4,
        FieldType::Long | FieldType::Double | FieldType::Object => 8,
    }
}

// ---- tiny files

const OBJECT: u64 = 8;
const LOADER: u64 = 16;
const PLUGIN: u64 = 24;
const ARRAY: u64 = 32;

/// A root holds an instance, an array, or nothing of app.Plugin, whose class is held by nothing
/// else. Its loader is 80, its static field `cache` holds 88.
fn plugin(root: Option<u64>, rooted_class: bool) -> Vec<u8> {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (LOADER, "app/Loader"),
        (PLUGIN, "app/Plugin"),
        (ARRAY, "[Lapp/Plugin;"),
    ]);
    let cache = file.string("cache");
    let mut class = file.class(PLUGIN, OBJECT, 0, &[(cache, 2, file.id(88))], &[]);
    set_loader(&mut class, &file, 80);
    let mut array = file.class(ARRAY, OBJECT, 0, &[], &[]);
    set_loader(&mut array, &file, 80);
    let mut heap = vec![
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(LOADER, OBJECT, 0, &[], &[]),
        class,
        array,
        file.instance(80, LOADER, &[]),
        file.instance(88, OBJECT, &[]),
        file.instance(96, PLUGIN, &[]),
        file.objects(104, ARRAY, &[0, 0]),
        file.root(0x05, OBJECT, &[]),
        file.root(0x05, LOADER, &[]),
    ];
    heap.extend(root.map(|object| file.root(0xff, object, &[])));
    heap.extend(rooted_class.then(|| file.root(0x05, PLUGIN, &[])));
    file.segment(&heap).end()
}

/// Writes the loader into the record of a class, after its tag, id, trace and superclass.
fn set_loader(class: &mut [u8], file: &File, loader: u64) {
    let at = 1 + 2 * file.id_size + 4;
    class[at..at + file.id_size].copy_from_slice(&file.id(loader));
}

fn loaded(bytes: &[u8]) -> Heap<'_> {
    let heap = load(bytes, LoadOptions::default()).unwrap().heap;
    assert_eq!(heap.check(), Ok(()));
    heap
}

/// The ids of the live objects.
fn live(heap: &Heap<'_>) -> Vec<u64> {
    let dominators = Dominators::of(&Graph::of(heap));
    let live = heap.objects().filter(|object| dominators.is_live(*object));
    live.map(|object| u64::from_str_radix(&heap.id(object)[2..], 16).unwrap()).collect()
}

/// Labels and targets of an object's references.
fn references(heap: &Heap<'_>, id: u64) -> Vec<(String, String)> {
    let object = heap.find(&format!("{id:#x}")).unwrap();
    let each = heap.references_of(object).filter(|reference| !reference.weak);
    each.map(|reference| {
        (reference.label.text(heap.names()).into_owned(), heap.id(reference.target))
    })
    .collect()
}

fn edge(label: &str, id: u64) -> (String, String) {
    (label.to_owned(), format!("{id:#x}"))
}

#[test]
fn an_instance_holds_its_class_with_loader_and_statics() {
    let bytes = plugin(Some(96), false);
    let heap = loaded(&bytes);
    assert_eq!(references(&heap, 96), [edge("<class>", PLUGIN)]);
    assert_eq!(references(&heap, 88), [], "a root holds java.lang.Object");
    assert_eq!(live(&heap), [OBJECT, LOADER, PLUGIN, 80, 88, 96]);
    assert_eq!(heap.class_of(heap.find("0x60").unwrap()), heap.find("0x18"));
    // Without an instance the class is garbage.
    let bytes = plugin(None, false);
    assert_eq!(live(&loaded(&bytes)), [OBJECT, LOADER]);
}

#[test]
fn an_array_holds_its_own_class_and_that_the_loader() {
    let bytes = plugin(Some(104), false);
    let heap = loaded(&bytes);
    assert_eq!(references(&heap, 104), [edge("<class>", ARRAY)]);
    assert_eq!(
        live(&heap),
        [OBJECT, LOADER, ARRAY, 80, 104],
        "the file does not name the class of the elements"
    );
}

#[test]
fn instances_of_rooted_classes_get_no_reference() {
    let bytes = plugin(Some(96), true);
    let heap = loaded(&bytes);
    assert_eq!(references(&heap, 96), []);
    assert_eq!(live(&heap), [OBJECT, LOADER, PLUGIN, 80, 88, 96]);
}

#[test]
fn the_boot_loader_holds_its_array_classes() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (ARRAY, "[Ljava/lang/Object;"),
        (40, "[B"),
        (48, "java/lang/Hidden+0x1"),
    ]);
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
        file.class(40, OBJECT, 0, &[], &[]),
        // A hidden class, which the boot loader does not keep.
        file.class(48, OBJECT, 0, &[], &[]),
        file.objects(80, ARRAY, &[]),
        file.instance(88, 48, &[]),
        file.root(0x05, OBJECT, &[]),
        file.root(0xff, 80, &[]),
    ];
    let bytes = file.segment(&heap).end();
    let heap = loaded(&bytes);
    assert_eq!(references(&heap, 80), []);
    assert_eq!(references(&heap, 88), [edge("<class>", 48)]);
    assert_eq!(live(&heap), [OBJECT, ARRAY, 40, 80]);
}

#[test]
fn a_finalizer_keeps_its_object() {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (16, "java/lang/ref/Reference"),
        (24, "java/lang/ref/FinalReference"),
        (32, "java/lang/ref/Finalizer"),
    ]);
    let referent = file.string("referent");
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(16, OBJECT, 0, &[], &[(referent, 2)]),
        file.class(24, 16, 0, &[], &[]),
        file.class(32, 24, 0, &[], &[]),
        file.instance(80, OBJECT, &[]),
        file.instance(88, OBJECT, &[]),
        file.instance(96, 32, &[&file.id(80)]),
        file.instance(104, 24, &[&file.id(88)]),
    ];
    let roots = [OBJECT, 16, 24, 32, 96, 104].map(|id| file.root(0xff, id, &[]));
    let bytes = file.segment(&[heap.concat(), roots.concat()]).end();
    assert_eq!(live(&loaded(&bytes)), [OBJECT, 16, 24, 32, 80, 96, 104]);
}

#[test]
fn info_counts_the_elements_that_hotspot_left_out() {
    let dump = |object_size, closed: bool| {
        let mut file = File::new("1.0.2", 4);
        file.loads(&[(OBJECT, "java/lang/Object"), (16, "[Ljava/lang/Object;")]);
        let heap = [
            file.class(OBJECT, 0, object_size, &[], &[]),
            file.class(16, OBJECT, 0, &[], &[]),
            file.objects(80, 16, &[OBJECT, 96, 104, 0, 112]),
            file.instance(112, OBJECT, &[]),
            file.root(0xff, 80, &[]),
        ];
        let file = file.segment(&heap);
        if closed { file.end() } else { file.bytes.clone() }
    };
    let warnings = |bytes: &[u8]| info(Format::Hprof, bytes)["warnings"].clone();
    let omitted = LoadWarning { kind: WarningKind::OmittedElements, count: 2 };
    assert_eq!(warnings(&dump(0, true)), serde_json::json!([omitted.text()]));
    // What a cut file or one of another writer lacks has other causes.
    for bytes in [dump(0, false), dump(16, true)] {
        assert_eq!(warnings(&bytes), serde_json::json!([]));
    }
}

#[test]
fn classes_that_are_not_linked_have_a_root_and_no_record() {
    let dump = |tag, object_size| {
        let mut file = File::new("1.0.2", 4);
        file.loads(&[(OBJECT, "java/lang/Object"), (16, "java/lang/Unlinked")]);
        let heap = [
            file.class(OBJECT, 0, object_size, &[], &[]),
            file.root(0x05, OBJECT, &[]),
            file.root(tag, 16, &[]),
        ];
        file.segment(&heap).end()
    };
    let bytes = dump(0x05, 0);
    assert_eq!(broken(Format::Hprof, &bytes), [""; 0]);
    let findings = check(&bytes, ReadOptions::default()).unwrap();
    let omitted = LoadWarning { kind: WarningKind::OmittedClasses, count: 1 };
    assert_eq!(findings.warnings, [CheckWarning::Load(omitted)]);
    assert_eq!(
        findings.warnings[0].to_string(),
        "roots of system classes that HotSpot did not write, because their classes are not linked yet: 1"
    );
    assert_eq!(loaded(&bytes).warnings(), [omitted]);
    // Other roots, and files of other writers, hold what there is.
    for bytes in [dump(0xff, 0), dump(0x05, 16)] {
        assert_eq!(broken(Format::Hprof, &bytes), ["root.object"]);
        assert!(loaded(&bytes).warnings()[0].kind.is_damage());
    }
}

/// A parked virtual thread: its stack is a StackChunk. JDK 25 writes the thread as one.
fn virtual_thread(rooted: bool) -> Vec<u8> {
    let mut file = File::new("1.0.2", 4);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (16, "java/lang/VirtualThread"),
        (24, "jdk/internal/vm/StackChunk"),
    ]);
    let mut heap = vec![
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(16, OBJECT, 0, &[], &[]),
        file.class(24, OBJECT, 0, &[], &[]),
        file.root(0x05, OBJECT, &[]),
        file.instance(80, 16, &[]),
        file.instance(88, 24, &[]),
    ];
    heap.extend(rooted.then(|| file.root(0x08, 80, &[0, 0, 0, 1, 0, 0, 0, 1])));
    file.segment(&heap).end()
}

#[test]
fn stacks_of_virtual_threads_that_are_missing_are_noticed() {
    let notice = "JDK 21 does not dump the stacks of parked virtual threads; objects that only these stacks hold count as unreachable";
    for rooted in [false, true] {
        let bytes = virtual_thread(rooted);
        let wanted = if rooted { vec![] } else { vec![notice.to_owned()] };
        let of_heap: Vec<_> =
            loaded(&bytes).warnings().iter().map(|warning| warning.text()).collect();
        assert_eq!(of_heap, wanted);
        let findings = check(&bytes, ReadOptions::default()).unwrap();
        let of_check: Vec<_> = findings.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(of_check, wanted);
        let of_info = info(Format::Hprof, &bytes)["warnings"].clone();
        assert_eq!(of_info, serde_json::json!(wanted));
    }
}

#[test]
fn a_converted_instance_holds_its_class_as_before() {
    let bytes = plugin(Some(96), false);
    let heap = loaded(&bytes);
    let mut out = Vec::new();
    let report = write(&heap, &HprofOptions::default(), &mut out).unwrap();
    assert_eq!(broken(Format::Hprof, &out), [""; 0]);
    let again = loaded(&out);
    let find =
        |name: &str| again.objects().find(|object| type_name(&again, *object) == name).unwrap();
    let instance = find("app.Plugin");
    let class = again.references_of(instance).next().unwrap();
    assert_eq!(
        (again.references_of(instance).len(), class.label.text(again.names())),
        (1, "<class>".into())
    );
    // No instance has a field for it.
    assert_eq!(
        report.references,
        heap.references().len() as u64 - 2,
        "one of the instance, one of the array"
    );
    let dominators = Dominators::of(&Graph::of(&again));
    assert!(dominators.is_live(class.target) && dominators.is_live(find("app.Loader")));
    assert_eq!(dominators.dominator(find("app.Loader")), Some(class.target));
}
