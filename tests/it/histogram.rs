//! Histograms: the types, numbers and sizes of the loaded heap, without loading it.

use crate::support::{corpus_folder, files, fixture, read};
use dumptool::detect::detect;
use dumptool::error::ErrorKind;
use dumptool::input::histogram::TypeCounts;
use dumptool::input::load::{LoadOptions, SnapshotChoice};
use dumptool::input::{self, Format, Kind};
use dumptool::model::heap::Heap;
use dumptool::model::sum::Sum;
use dumptool::output::hprof;
use std::collections::BTreeMap;

/// Counts by namespace, name and kind of type. Types of one name fall together.
type Rows = BTreeMap<(String, String, &'static str), (u64, u64, u64)>;

fn of_heap(heap: &Heap<'_>) -> Rows {
    let mut rows = Rows::new();
    for object in heap.objects() {
        let kind = heap.type_of(object);
        let text = |name| heap.names().text(name).to_owned();
        let row =
            rows.entry((text(kind.namespace), text(kind.name), kind.kind.name())).or_default();
        *row = (row.0 + 1, row.1 + heap.shallow_bytes(object), row.2 + heap.external_bytes(object));
    }
    rows
}

fn of_histogram(histogram: &TypeCounts) -> Rows {
    let mut rows = Rows::new();
    for row in &histogram.rows {
        let sums =
            rows.entry((row.namespace.clone(), row.name.clone(), row.kind.name())).or_default();
        let Sum { count, shallow_bytes, external_bytes } = row.sum;
        *sums = (sums.0 + count, sums.1 + shallow_bytes, sums.2 + external_bytes);
    }
    rows
}

fn total(rows: &Rows) -> (u64, u64, u64) {
    rows.values().fold((0, 0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2))
}

fn options(snapshot: SnapshotChoice) -> LoadOptions<'static> {
    LoadOptions::default().snapshot(snapshot)
}

/// Asserts that a histogram is that of the loaded heap.
fn agrees(format: Format, bytes: &[u8], snapshot: SnapshotChoice, what: &str) {
    let (histogram, loaded) = match (
        input::histogram(format, bytes, options(snapshot)),
        input::load(format, bytes, options(snapshot)),
    ) {
        (Ok(histogram), Ok(loaded)) => (histogram, loaded),
        (Err(histogram), Err(load)) => return assert_eq!(histogram.kind(), load.kind(), "{what}"),
        (histogram, load) => panic!("{what}: {:?} {:?}", histogram.err(), load.err()),
    };
    let (ours, theirs) = (of_histogram(&histogram), of_heap(&loaded.heap));
    let Sum { count, shallow_bytes, external_bytes } = histogram.total;
    assert_eq!((count, shallow_bytes, external_bytes), total(&theirs), "{what}");
    assert_eq!(total(&ours), total(&theirs), "{what}");
    assert_eq!(
        (histogram.snapshot, histogram.damage.is_some()),
        (loaded.snapshot, loaded.damage.is_some()),
        "{what}"
    );
    let size =
        |row: &input::histogram::TypeRow| std::cmp::Reverse((row.sum.shallow_bytes, row.sum.count));
    assert!(histogram.rows.is_sorted_by_key(size), "{what}");
    if format != Format::Go {
        assert_eq!(ours, theirs, "{what}");
    }
}

fn all_agree(paths: &[std::path::PathBuf]) -> u64 {
    let mut count = 0;
    for path in paths {
        let bytes = read(path);
        let Ok(format) = detect(&bytes) else { continue };
        if format.kind() != Kind::Heap {
            continue;
        }
        let what = path.display().to_string();
        agrees(format, &bytes, SnapshotChoice::Last, &what);
        for number in 0..3 {
            agrees(format, &bytes, SnapshotChoice::Number(number), &what);
        }
        count += 1;
    }
    count
}

#[test]
fn histograms_are_those_of_the_loaded_heaps() {
    let count: u64 = ["go", "dart", "mvmheap", "hprof"]
        .map(|folder| all_agree(&files(&fixture(folder))))
        .iter()
        .sum();
    assert!(count > 20);
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn histograms_of_the_corpus_are_those_of_the_loaded_heaps() {
    for folder in ["go", "dart", "mvmheap", "hprof"] {
        assert!(all_agree(&files(&corpus_folder(folder))) > 0);
    }
}

/// Sizes as dumptool states them, and 8-byte ids.
#[test]
fn histograms_of_converted_heaps_agree() {
    let bytes = read(&fixture("dart/tiny_derived_3.0.5.dartheap.zst"));
    let heap = input::load(Format::Dart, &bytes, LoadOptions::default()).unwrap().heap;
    let mut out = Vec::new();
    hprof::write(&heap, &hprof::HprofOptions::default(), &mut out).unwrap();
    agrees(Format::Hprof, &out, SnapshotChoice::Last, "compact ids");
    let bytes = read(&fixture("go/tiny_go127.heapdump.zst"));
    let heap = input::load(Format::Go, &bytes, LoadOptions::default()).unwrap().heap;
    let mut out = Vec::new();
    hprof::write(&heap, &hprof::HprofOptions::default().ids(hprof::IdKind::Address), &mut out)
        .unwrap();
    agrees(Format::Hprof, &out, SnapshotChoice::Last, "addresses");
}

/// Most objects have a type of the same name in the loaded heap; pointers name more of them there.
#[test]
fn types_of_go_are_named_as_the_loader_names_them() {
    for name in ["go13", "go17_be", "go16"] {
        let bytes = read(&fixture(&format!("go/{name}.heapdump")));
        let histogram = input::histogram(Format::Go, &bytes, LoadOptions::default()).unwrap();
        let loaded =
            of_heap(&input::load(Format::Go, &bytes, LoadOptions::default()).unwrap().heap);
        let shared =
            of_histogram(&histogram).keys().filter(|key| loaded.contains_key(*key)).count();
        assert!(shared * 2 >= histogram.rows.len(), "{name}: {shared} of {:?}", histogram.rows);
    }
}

#[test]
fn a_cut_dump_gives_what_came_before() {
    for name in [
        "dart/tiny_derived_3.0.5.dartheap.zst",
        "go/tiny_go127.heapdump.zst",
        "hprof/small_java17.hprof.zst",
    ] {
        let bytes = read(&fixture(name));
        let format = detect(&bytes).unwrap();
        let whole = input::histogram(format, &bytes, LoadOptions::default()).unwrap().total;
        for part in [1, 2, 3] {
            let cut = &bytes[..bytes.len() / 4 * part - 1];
            agrees(format, cut, SnapshotChoice::Last, name);
            let found = input::histogram(format, cut, LoadOptions::default()).unwrap();
            assert!(found.damage.is_some(), "{name}: {part} of 4");
            assert!(found.total.count <= whole.count, "{name}: {:?} of {whole:?}", found.total);
        }
    }
}

#[test]
fn there_is_no_histogram_of_a_profile_or_a_snapshot_that_is_not_there() {
    let error = input::histogram(Format::Mojo, b"MOJ", LoadOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let bytes = read(&fixture("mvmheap/tiny-nqp.mvmheap"));
    let error = input::histogram(Format::Mvmheap, &bytes, options(SnapshotChoice::Number(7)))
        .err()
        .unwrap();
    assert_eq!(error.message(), "no snapshot 7; the file has 0–3");
}
