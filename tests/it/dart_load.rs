//! Dart snapshots in the model: labels, weak references, roots, values, and what is reachable in
//! real files.

use crate::support::dart::{Snapshot, string, uleb};
use dumptool::analysis::collections::Collections;
use dumptool::input::Format;
use dumptool::input::dart::load;
use dumptool::input::load::{LoadOptions, Loaded, SnapshotChoice};
use dumptool::model::WarningKind;
use dumptool::model::heap::{FieldValue, Heap, Ids, ObjectId, RootKind, TypeKind, Value};
use std::ops::ControlFlow;

fn loaded(bytes: &[u8]) -> Loaded<'_> {
    let loaded = load(bytes, LoadOptions::default()).unwrap();
    assert_eq!(loaded.heap.check(), Ok(()));
    loaded
}

/// What is alive: everything reached from the root by strong references, and the values of pairs
/// whose key and holder are.
fn reachable(heap: &Heap<'_>) -> Vec<bool> {
    let mut alive = vec![false; heap.len()];
    let mut work: Vec<ObjectId> = heap.root_object().into_iter().collect();
    loop {
        while let Some(object) = work.pop() {
            if !std::mem::replace(&mut alive[object.index()], true) {
                work.extend(
                    heap.references_of(object)
                        .filter(|reference| !reference.weak)
                        .map(|reference| reference.target),
                );
            }
        }
        let lives = |object: ObjectId| alive[object.index()];
        let pairs = heap
            .ephemerons()
            .iter()
            .filter(|pair| lives(pair.holder) && lives(pair.key) && !lives(pair.value));
        work.extend(pairs.map(|pair| pair.value));
        if work.is_empty() {
            return alive;
        }
    }
}

fn edges(heap: &Heap<'_>, id: &str) -> Vec<String> {
    let object = heap.find(id).unwrap();
    let edge = |reference: dumptool::model::heap::Reference| {
        let weak = if reference.weak { "?" } else { "" };
        format!("{}{weak}{}", reference.label.text(heap.names()), heap.id(reference.target))
    };
    heap.references_of(object).map(edge).collect()
}

/// Two isolates, an object with a gap between its fields, a list, weak things of all kinds.
fn world() -> Snapshot {
    Snapshot::empty()
        .class("Root", "", &[])
        .class("Read-Only Pages", "", &[])
        .class("Isolate", "", &[(0, "cache"), (1, "")])
        .class("", "", &[])
        .class("_List", "dart:core", &[(0, "type_arguments_"), (1, "length_")])
        .class(
            "Node",
            "package:app/node.dart",
            &[(2, "right"), (0, "left"), (0, "_left"), (9, "none")],
        )
        .class("_WeakProperty", "dart:core", &[(0, "key_"), (1, "value_"), (2, "next_")])
        .class("_WeakReference", "dart:core", &[(0, "target_")])
        .class("WeakArray", "", &[(0, "length_")])
        .class("FinalizerEntry", "dart:_internal", &[(0, "value_"), (1, "token_"), (2, "detach_")])
        .object(1, 0, [0], &[5, 2, 3, 4])
        .object(2, 0, [0], &[])
        .object(3, 0, [vec![8], string("111")].concat(), &[6, 7, 8, 0, 9])
        .object(3, 0, [vec![8], string("222")].concat(), &[10])
        .object(5, 32, [7, 2], &[0, 6, 7, 0])
        .object(6, 24, [0], &[6, 5, 7])
        .object(7, 32, [0], &[8, 9, 6])
        .object(8, 16, [0], &[9])
        .object(9, 16, [0], &[6, 5, 7])
        .object(10, 40, [0], &[5, 6, 7])
        .hashes(&[0; 10])
}

#[test]
fn slots_are_named_and_elements_numbered() {
    let bytes = world().bytes();
    let Loaded { heap, damage, snapshot, .. } = loaded(&bytes);
    assert!(damage.is_none() && heap.warnings().is_empty() && snapshot == 0);
    assert!(matches!(heap.ids(), Ids::Rows(1)));
    assert_eq!(edges(&heap, "#1"), ["[0]#5", "[1]#2", "[2]#3", "[3]#4"]);
    assert_eq!(edges(&heap, "#3"), ["cache#6", "[1]#7", "[0]#8", "[2]#9"]);
    assert_eq!(edges(&heap, "#5"), ["length_#6", "[0]#7"]);
    assert_eq!(edges(&heap, "#6"), ["left#6", "#5", "right#7"]);
    let kinds: Vec<_> = heap.objects().map(|object| heap.type_of(object).kind).collect();
    assert_eq!(
        &kinds[..6],
        &[[TypeKind::Synthetic; 4].as_slice(), &[TypeKind::Array, TypeKind::Instance]].concat()
    );
    assert_eq!(heap.types().len(), 9, "holes are no types");
}

#[test]
fn weak_references_are_told_by_class() {
    let bytes = world().bytes();
    let heap = loaded(&bytes).heap;
    assert_eq!(edges(&heap, "#7"), ["key_?#8", "value_?#9", "next_#6"]);
    assert_eq!(edges(&heap, "#8"), ["target_?#9"]);
    assert_eq!(edges(&heap, "#9"), ["length_#6", "[0]?#5", "[1]?#7"]);
    assert_eq!(edges(&heap, "#10"), ["value_?#5", "token_#6", "detach_?#7"]);
    let pairs: Vec<_> =
        heap.ephemerons().iter().map(|pair| (pair.holder.0, pair.key.0, pair.value.0)).collect();
    assert_eq!(pairs, [(6, 7, 8)]);
}

#[test]
fn a_pair_whose_key_is_no_object_holds_its_value() {
    let bytes = world().object(7, 32, [0], &[0, 9, 0]).bytes();
    let heap = loaded(&bytes).heap;
    assert_eq!(edges(&heap, "#11"), ["value_#9"]);
    assert_eq!(heap.ephemerons().len(), 1);
}

#[test]
fn roots_are_labelled() {
    let bytes = world().bytes();
    let heap = loaded(&bytes).heap;
    let roots: Vec<_> = heap
        .roots()
        .iter()
        .map(|root| (root.text(heap.names()), root.kind, heap.id(root.object)))
        .collect();
    let texts: Vec<_> = roots.iter().map(|(text, _, id)| format!("{text} {id}")).collect();
    let expected = [
        "Root #1",
        "Root [0] #5",
        "Root [1] #2",
        "Root [2] #3",
        "Root [3] #4",
        "isolate 111: cache #6",
        "isolate 111 [1] #7",
        "isolate 111 [0] #8",
        "isolate 111 [2] #9",
        "isolate 222: cache #10",
    ];
    assert_eq!(texts, expected);
    assert_eq!(
        (roots[1].1, roots[5].1, roots[6].1),
        (RootKind::Runtime, RootKind::Static, RootKind::Runtime)
    );
    assert_eq!(heap.root_object(), Some(ObjectId(0)));
    let one = Snapshot::modern()
        .object(1, 0, [0], &[2])
        .object(3, 0, [vec![8], string("9")].concat(), &[1])
        .bytes();
    let heap = loaded(&one).heap;
    assert_eq!(heap.roots().last().unwrap().text(heap.names()), "isolate main [0]");
}

#[test]
fn values_are_decoded_on_demand() {
    let bytes = Snapshot::modern()
        .class("_OneByteString", "dart:core", &[])
        .class("_Mint", "dart:core", &[])
        .class("_Smi", "dart:core", &[])
        .object(1, 0, [0], &[2, 3])
        .object(4, 32, [&[5, 0xc8, 1, 2, b'a', 0xe9][..]].concat(), &[])
        .object(4, 16, [6, 1, 1, 0x3d, 0x26], &[])
        .object(5, 16, [3, 0x7f], &[])
        .object(6, 0, [vec![3], uleb(-2i64 as u64)].concat(), &[])
        .object(4, 16, [&[4][..], &1.5f64.to_le_bytes()].concat(), &[])
        .object(4, 16, [2, 1], &[])
        .object(4, 16, [7, 9], &[])
        .object(1, 16, [vec![8], string("name")].concat(), &[])
        .bytes();
    let heap = loaded(&bytes).heap;
    let value = |row| heap.value(ObjectId(row));
    assert_eq!(value(0), Value::None);
    assert_eq!(value(1), Value::Text { text: "aé".into(), length: 200 });
    assert_eq!(value(2), Value::Text { text: "☽".into(), length: 1 });
    assert_eq!((value(3), value(4)), (Value::Integer(-1), Value::Integer(-2)));
    assert_eq!(
        (value(5), value(6), value(7)),
        (Value::Float(1.5), Value::Boolean(true), Value::Length(9))
    );
    assert_eq!(value(8), Value::Name("name".into()));
    assert_eq!(value(9), Value::None, "there is no such object");
    assert_eq!(heap.pointer_size(), 8);
    let kinds: Vec<_> = heap.types().iter().map(|kind| kind.kind).collect();
    assert_eq!(kinds[3..], [TypeKind::Text, TypeKind::Number, TypeKind::Number]);
}

#[test]
fn strings_of_exports_are_text() {
    let bytes = Snapshot::modern()
        .class("_OneByteString", "dart:core", &[])
        .object(1, 0, [0], &[2])
        .object(4, 32, [vec![8], string("abc...")].concat(), &[])
        .bytes();
    let heap = loaded(&bytes).heap;
    assert_eq!(heap.value(ObjectId(1)), Value::Text { text: "abc...".into(), length: 6 });
}

#[test]
fn external_sizes_are_added_up_and_strays_counted() {
    let bytes = world()
        .property(6, 100, "a")
        .property(5, 0, "b")
        .property(6, 20, "c")
        .property(11, 1, "d")
        .bytes();
    let heap = loaded(&bytes).heap;
    assert_eq!(heap.externals(), [(ObjectId(5), 120)]);
    let warnings: Vec<_> =
        heap.warnings().iter().map(|warning| (warning.kind, warning.count)).collect();
    assert_eq!(warnings, [(WarningKind::StrayExternalSizes, 1)]);
}

#[test]
fn what_contradicts_itself_is_loaded_and_counted() {
    let bytes = world().object(99, 8, [0], &[77, u64::MAX]).bytes();
    let heap = loaded(&bytes).heap;
    assert_eq!((heap.len(), edges(&heap, "#11").len()), (11, 0));
    let warnings: Vec<_> =
        heap.warnings().iter().map(|warning| (warning.kind, warning.count)).collect();
    assert_eq!(warnings, [(WarningKind::UnknownClass, 1), (WarningKind::DanglingReferences, 2)]);
}

#[test]
fn old_roots_have_no_class() {
    let bytes = Snapshot::empty()
        .class("Node", "app", &[])
        .object(0, 0, [0], &[2])
        .object(1, 16, [0], &[])
        .bytes();
    let heap = loaded(&bytes).heap;
    assert!(heap.warnings().is_empty());
    assert_eq!(heap.root_object(), Some(ObjectId(0)));
    assert_eq!(reachable(&heap), [true, true]);
}

#[test]
fn there_is_one_snapshot() {
    let bytes = world().bytes();
    let number = |number| LoadOptions::default().snapshot(SnapshotChoice::Number(number));
    assert!(load(&bytes, number(0)).is_ok());
    let error = load(&bytes, number(7)).err().unwrap();
    assert_eq!(error.message(), "no snapshot 7; the file has only snapshot 0");
}

#[test]
fn every_cut_leaves_a_sound_heap() {
    let bytes = world().property(6, 100, "a").bytes();
    for cut in 0..bytes.len() {
        if let Ok(loaded) = load(&bytes[..cut], LoadOptions::default()) {
            assert_eq!(loaded.heap.check(), Ok(()), "cut at {cut}");
            assert!(loaded.heap.len() <= 10);
        }
    }
    let mut random = crate::support::Random(1);
    for _ in 0..2000 {
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        if let Ok(loaded) = load(&bytes, LoadOptions::default()) {
            assert_eq!(loaded.heap.check(), Ok(()));
            loaded.heap.objects().for_each(|object| drop(loaded.heap.value(object)));
        }
    }
}

#[test]
fn counts_that_the_input_cannot_hold_reserve_nothing() {
    let mut snapshot = world();
    (snapshot.object_count, snapshot.reference_count) = (Some(u64::MAX), Some(u64::MAX));
    let bytes = snapshot.bytes();
    let loaded = loaded(&bytes);
    assert!(loaded.damage.is_some() && loaded.heap.references().capacity() < 1000);
}

/// Totals are those of `info`.
fn compare_with_info(bytes: &[u8], heap: &Heap<'_>) {
    let info = crate::support::info(Format::Dart, bytes);
    let snapshot = &info["heap"]["snapshots"][0];
    let zeros = snapshot["details"]["zero_references"].as_u64().unwrap_or(0);
    assert_eq!(heap.len() as u64, snapshot["objects"]);
    assert_eq!(heap.references().len() as u64 + zeros, snapshot["references"].as_u64().unwrap());
    assert_eq!(
        heap.objects().map(|object| heap.shallow_bytes(object)).sum::<u64>(),
        snapshot["shallow_bytes"]
    );
    assert_eq!(
        heap.externals().iter().map(|(_, bytes)| bytes).sum::<u64>(),
        snapshot["external_bytes"]
    );
}

#[test]
fn real_snapshots_have_the_totals_of_info() {
    for file in crate::support::files(&crate::support::fixture("dart"))
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "zst"))
    {
        let bytes = crate::support::read(file);
        let loaded = loaded(&bytes);
        assert!(loaded.damage.is_none() && loaded.heap.warnings().is_empty(), "{}", file.display());
        compare_with_info(&bytes, &loaded.heap);
    }
}

#[test]
fn real_snapshots_have_known_live_objects() {
    for (name, objects, shallow) in [
        ("synth_old_nohash_3k.dartheap.zst", 2966, 116_784),
        ("synth_random_3k.dartheap.zst", 2794, 155_760),
        ("tiny_derived_3.0.5.dartheap.zst", 1443, 383_152),
        ("sass_idle_2.17.6_ia32.dartheap.zst", 60_873, 6_948_048),
    ] {
        let bytes = crate::support::read(&crate::support::fixture("dart").join(name));
        let heap = loaded(&bytes).heap;
        assert_eq!(live(&heap), (objects, shallow), "{name}");
    }
}

fn live(heap: &Heap<'_>) -> (u64, u64) {
    let alive = reachable(heap);
    let live = heap.objects().filter(|object| alive[object.index()]);
    live.fold((0, 0), |(objects, shallow), object| {
        (objects + 1, shallow + heap.shallow_bytes(object))
    })
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_agrees_with_its_truth() {
    let folder = crate::support::corpus_folder("dart");
    let mut compared = 0;
    for file in crate::support::files(&folder) {
        let truth = file.with_extension("json");
        if file == truth || !truth.exists() {
            continue;
        }
        let (truth, bytes) = (crate::support::json(&truth), crate::support::read(&file));
        let heap = loaded(&bytes).heap;
        compare_with_info(&bytes, &heap);
        let expected = &truth["reachable_weakAware"];
        let (objects, shallow) = live(&heap);
        assert_eq!(
            (objects, shallow),
            (expected["objects"].as_u64().unwrap(), expected["shallow"].as_u64().unwrap()),
            "{file:?}"
        );
        compared += 1;
    }
    assert!(compared >= 8, "only {compared} files were compared");
}

/// A slot of 0 is a number that the file does not have: a field or an element all the same.
#[test]
fn maps_and_sets_have_their_entries_and_slots_say_what_is_not_in_the_file() {
    let length = |count: u8| [vec![7], uleb(count.into())].concat();
    let text = |text: &str| {
        [vec![5], uleb(text.len() as u64), uleb(text.len() as u64), text.as_bytes().to_vec()]
            .concat()
    };
    let snapshot = Snapshot::empty()
        .class("Root", "", &[])
        .class(
            "_Map",
            "dart:collection",
            &[
                (0, "index_"),
                (1, "hash_mask_"),
                (2, "data_"),
                (3, "used_data_"),
                (4, "deleted_keys_"),
            ],
        )
        .class("_Set", "dart:collection", &[(0, "data_")])
        .class("_List", "dart:core", &[(0, "type_arguments_"), (1, "length_")])
        .class("_OneByteString", "dart:core", &[])
        .class("_Smi", "dart:core", &[])
        .object(1, 0, [0], &[2, 4])
        // Two entries, one of them deleted, and one whose value is a small integer.
        .object(2, 48, length(6), &[0, 0, 3, 0, 9])
        .object(4, 96, length(8), &[0, 0, 6, 7, 3, 3, 7, 0, 3, 3])
        .object(3, 16, length(3), &[5])
        .object(4, 64, length(4), &[0, 0, 6, 5, 8, 5])
        .object(5, 32, text("one"), &[])
        .object(5, 32, text("two"), &[])
        .object(5, 32, text("three"), &[])
        .object(6, 0, [3, 1], &[]);
    let bytes = snapshot.bytes();
    let heap = loaded(&bytes).heap;
    let collections = Collections::of(&heap);
    let shown = |value: FieldValue<'_>| match value.object().map(|object| heap.value(object)) {
        Some(Value::Text { text, .. }) => text.into_owned(),
        _ => format!("{value:?}"),
    };
    let entries = |id: &str| {
        let mut all = Vec::new();
        collections.entries(heap.find(id).unwrap(), |entry| {
            all.push((entry.key.map(shown), shown(entry.value)));
            ControlFlow::Continue(())
        });
        all
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        entries("#2"),
        [(some("one"), "two".to_owned()), (some("two"), "Omitted".to_owned())]
    );
    assert_eq!(collections.size(heap.find("#2").unwrap()), Some(2));
    assert_eq!(entries("#4"), [(None, "one".to_owned()), (None, "three".to_owned())]);
    let mut fields = Vec::new();
    heap.each_field(heap.find("#2").unwrap(), |field| {
        fields.push((field.name.to_owned(), field.value.owned().unwrap()));
        ControlFlow::Continue(())
    });
    assert_eq!(fields[0], ("index_".to_owned(), FieldValue::Omitted));
    assert_eq!(fields[2], ("data_".to_owned(), FieldValue::Object(heap.find("#3").unwrap())));
}
