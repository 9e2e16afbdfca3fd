//! MoarVM snapshots in the model: types, labels, roots, which snapshot is taken, and that all of it
//! is reached from row 0.

use crate::support::mvmheap::{Dialect, Snapshot, Writer, index, row, string, version_2, world};
use dumptool::error::ErrorKind;
use dumptool::input::Format;
use dumptool::input::load::{LoadOptions, Loaded, SnapshotChoice};
use dumptool::input::mvmheap::load;
use dumptool::model::WarningKind;
use dumptool::model::heap::{Heap, Ids, ObjectId, RootKind, TypeKind};
use serde_json::Value;
use std::path::Path;

fn number(number: u64) -> LoadOptions<'static> {
    LoadOptions::default().snapshot(SnapshotChoice::Number(number))
}

fn loaded(bytes: &[u8], options: LoadOptions<'_>) -> Loaded<'static> {
    // A test's bytes are few, and stay until it ends.
    let loaded = load(bytes.to_vec().leak(), options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.heap.check(), Ok(()));
    loaded
}

fn small() -> Vec<u8> {
    Writer::new().snapshot(&world()).close()
}

fn type_names(heap: &Heap<'_>) -> Vec<String> {
    let names = heap.objects().map(|object| {
        let kind = heap.type_of(object);
        format!("{} [{}]", heap.names().text(kind.name), heap.representation(heap.type_id(object)))
    });
    names.collect()
}

fn edges(heap: &Heap<'_>, row: u32) -> Vec<String> {
    let references = heap.references_of(ObjectId(row));
    references
        .map(|reference| {
            format!("{}{}", reference.label.text(heap.names()), heap.id(reference.target))
        })
        .collect()
}

fn reached(heap: &Heap<'_>) -> usize {
    let mut seen = vec![false; heap.len()];
    let mut work: Vec<ObjectId> = heap.root_object().into_iter().collect();
    while let Some(object) = work.pop() {
        if !std::mem::replace(&mut seen[object.index()], true) {
            work.extend(heap.references_of(object).map(|reference| reference.target));
        }
    }
    seen.iter().filter(|seen| **seen).count()
}

#[test]
fn rows_are_objects_with_types() {
    let heap = loaded(&small(), LoadOptions::default()).heap;
    assert!(matches!(heap.ids(), Ids::Rows(0)));
    let expected = [
        "Root []",
        "Permanent Roots []",
        "Thread Call Stack Roots []",
        "VMString [P6opaque]",
        "VMString [P6opaque]",
        "Foo (type object) [P6opaque]",
        "STable<Foo> [P6opaque]",
        "main (a.nqp:12) []",
        "main (a.nqp:12) []",
        "Foo [P6opaque]",
    ];
    assert_eq!(type_names(&heap), expected);
    let kinds: Vec<_> = heap.objects().map(|object| heap.type_of(object).kind).collect();
    assert_eq!((kinds[0], kinds[5], kinds[7]), (TypeKind::Root, TypeKind::Class, TypeKind::Frame));
    assert_eq!(
        heap.objects().map(|object| heap.shallow_bytes(object)).collect::<Vec<_>>(),
        [0, 0, 0, 24, 32, 24, 168, 200, 200, 40]
    );
    assert_eq!(heap.externals(), [(ObjectId(4), 1000), (ObjectId(7), 16), (ObjectId(9), 8)]);
    assert_eq!(edges(&heap, 3), ["#5", "<STable>#6"]);
    assert_eq!(edges(&heap, 8), ["[7]#9", "#3"]);
    assert_eq!(reached(&heap), 10);
}

#[test]
fn roots_are_labelled_and_no_part_of_the_root_set_is_one() {
    let heap = loaded(&small(), LoadOptions::default()).heap;
    let roots: Vec<_> = heap
        .roots()
        .iter()
        .map(|root| (root.text(heap.names()), root.kind, root.object.0))
        .collect();
    let expected = [
        ("Root".to_owned(), RootKind::Runtime, 0),
        ("Permanent Roots: Permanent Roots".to_owned(), RootKind::Runtime, 3),
        ("Permanent Roots [0]".to_owned(), RootKind::Runtime, 4),
        ("Thread Call Stack Roots [0]".to_owned(), RootKind::Frame, 7),
    ];
    assert_eq!(roots, expected);
}

#[test]
fn all_versions_and_dialects_give_the_same_heap() {
    let expected = loaded(&small(), LoadOptions::default()).heap;
    for dialect in [Dialect::A0, Dialect::A, Dialect::B] {
        let heap = loaded(&version_2(dialect, &[world()]), LoadOptions::default()).heap;
        assert_eq!(type_names(&heap), type_names(&expected), "{dialect:?}");
        let references = |heap: &Heap<'_>| {
            heap.objects()
                .flat_map(|object| heap.references_of(object).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        assert_eq!(references(&heap), references(&expected));
        assert_eq!((heap.externals(), heap.roots()), (expected.externals(), expected.roots()));
    }
}

fn three() -> Vec<u8> {
    let second = Snapshot {
        strings: vec![],
        types: vec![],
        frames: vec![],
        rows: world().rows[..9].to_vec(),
        ..world()
    };
    let mut third = second.clone();
    third.rows[8].references.clear();
    let mut second = third.clone();
    second.rows.truncate(8);
    second.rows[7].references.clear();
    Writer::new().snapshot(&world()).snapshot(&second).snapshot(&third).close()
}

#[test]
fn any_snapshot_can_be_chosen() {
    let bytes = three();
    let lengths: Vec<_> =
        (0..3).map(|snapshot| loaded(&bytes, number(snapshot)).heap.len()).collect();
    assert_eq!(lengths, [10, 8, 9]);
    let last = loaded(&bytes, LoadOptions::default());
    assert_eq!((last.snapshot, last.heap.len(), last.damage.is_none()), (2, 9, true));
    assert!(last.heap.warnings().is_empty());
    let error = load(&bytes, number(7)).err().unwrap();
    assert_eq!(
        (error.kind(), error.message().as_str()),
        (ErrorKind::Absent, "no snapshot 7; the file has 0–2")
    );
    assert_eq!(
        load(&small(), number(1)).err().unwrap().message(),
        "no snapshot 1; the file has only snapshot 0"
    );
}

#[test]
fn what_is_in_no_table_is_loaded_and_counted() {
    let mut snapshot = world();
    snapshot.rows[3].tofi = 77;
    snapshot.rows[7].tofi = 78;
    snapshot.rows[1].references[1] = (string(99), 4);
    snapshot.rows[9].references = vec![(index(1), 1000), (0, u64::MAX)];
    snapshot.rows.push(row(12, 8, 0, 0, &[]));
    let heap = loaded(&Writer::new().snapshot(&snapshot).close(), LoadOptions::default()).heap;
    let names = type_names(&heap);
    assert_eq!((names[3].as_str(), names[7].as_str()), ("<unknown type> []", "<unknown frame> []"));
    assert_eq!(names[10], "<unknown kind> []");
    let warnings: Vec<_> =
        heap.warnings().iter().map(|warning| (warning.kind, warning.count)).collect();
    let expected = [
        (WarningKind::UnknownLabels, 1),
        (WarningKind::UnknownTypesOrFrames, 3),
        (WarningKind::DanglingReferences, 2),
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn columns_of_different_length_are_refused() {
    for (name, width) in [
        ("colkind", 2),
        ("colsize", 2),
        ("colusize", 8),
        ("colrfcnt", 4),
        ("colrfstr", 8),
        ("reftrget", 8),
        ("refdescr", 8),
    ] {
        let mut writer = Writer::new();
        writer.meta("snapmeta", "{}");
        let snapshot = world();
        let mut other = Writer::without_filemeta();
        other.columns(&snapshot);
        // The first block of a name counts.
        writer.column(name, width, [1, 2, 3]);
        for column in [
            "colkind", "colsize", "coltofi", "colrfcnt", "colrfstr", "colusize", "refdescr",
            "reftrget",
        ] {
            if column != name {
                writer.column(column, 8, vec![0; 10]);
            }
        }
        writer.end_group();
        let error = load(&writer.close(), LoadOptions::default()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}: {error}");
        assert!(error.offset().is_some());
    }
}

#[test]
fn every_cut_leaves_a_sound_heap_or_an_error() {
    for bytes in [three(), version_2(Dialect::B, &[world(), world()])] {
        let step = 3;
        for cut in (0..bytes.len()).step_by(step) {
            match load(&bytes[..cut], LoadOptions::default()) {
                Ok(loaded) => assert_eq!(loaded.heap.check(), Ok(()), "cut at {cut}"),
                Err(error) => assert!(error.offset().is_some(), "cut at {cut}: {error}"),
            }
        }
        let mut random = crate::support::Random(1);
        for _ in 0..1000 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            match load(&bytes, LoadOptions::default()) {
                Ok(loaded) => assert_eq!(loaded.heap.check(), Ok(())),
                Err(error) => assert!(error.offset().is_some(), "{error}"),
            }
        }
    }
}

#[test]
fn a_cut_file_gives_its_last_whole_snapshot() {
    let bytes =
        crate::support::read(&crate::support::fixture("mvmheap/tiny-nqp-cut-snap3.mvmheap"));
    let last = loaded(&bytes, LoadOptions::default());
    assert_eq!((last.snapshot, last.damage.is_some()), (1, true));
    let warnings: Vec<_> =
        last.heap.warnings().iter().map(|warning| (warning.kind, warning.count)).collect();
    assert_eq!(warnings, [(WarningKind::DamagedSnapshots, 1)]);
    let error = load(&bytes, number(2)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Truncated);
}

/// Totals of a snapshot are those of `info`, and everything is reached from row 0.
fn compare(bytes: &[u8], snapshot: u64, info: &Value) {
    let heap = loaded(bytes, number(snapshot)).heap;
    assert!(heap.warnings().is_empty(), "{:?}", heap.warnings());
    let info = &info["heap"]["snapshots"][snapshot as usize];
    let synthetic = heap.objects().filter(|object| heap.is_made_up(*object)).count() as u64;
    assert_eq!(heap.len() as u64 - synthetic, info["objects"]);
    assert_eq!(heap.references().len() as u64, info["references"]);
    assert_eq!(
        heap.objects().map(|object| heap.shallow_bytes(object)).sum::<u64>(),
        info["shallow_bytes"]
    );
    assert_eq!(
        heap.externals().iter().map(|(_, bytes)| bytes).sum::<u64>(),
        info["external_bytes"]
    );
    let biggest = &info["details"]["biggest_type"];
    let (name, repr) = (biggest["name"].as_str().unwrap(), biggest["repr"].as_str().unwrap());
    let sum = |(count, bytes): (u64, u64), object| {
        let kind = heap.type_of(object);
        if heap.names().text(kind.name) == name && heap.representation(heap.type_id(object)) == repr
        {
            (count + 1, bytes + heap.shallow_bytes(object) + heap.external_bytes(object))
        } else {
            (count, bytes)
        }
    };
    let (count, bytes) = heap.objects().fold((0, 0), sum);
    assert_eq!(
        (count, bytes),
        (biggest["count"].as_u64().unwrap_or(count), biggest["bytes"].as_u64().unwrap())
    );
    assert_eq!(reached(&heap), heap.len());
}

fn compare_file(path: &Path) -> u64 {
    let bytes = crate::support::read(path);
    let info = crate::support::info(Format::Mvmheap, &bytes);
    let snapshots = info["heap"]["snapshots"].as_array().unwrap();
    let complete = (0..).zip(snapshots).filter(|(_, snapshot)| snapshot["complete"] == true);
    complete.map(|(number, _)| compare(&bytes, number, &info)).count() as u64
}

#[test]
fn real_snapshots_have_the_totals_of_info() {
    for (name, snapshots) in
        [("tiny-nqp.mvmheap", 4), ("tiny-nqp-v2.mvmheap.zst", 4), ("tiny-nqp-cut-snap3.mvmheap", 2)]
    {
        assert_eq!(
            compare_file(&crate::support::fixture("mvmheap").join(name)),
            snapshots,
            "{name}"
        );
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_is_loaded_as_a_whole() {
    let folder = crate::support::corpus_folder("mvmheap");
    assert_eq!(compare_file(&folder.join("small-raku.mvmheap")), 4);
}
