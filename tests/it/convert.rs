//! Heaps of every format, written as hprof and read again: the same objects, names, sizes and
//! references.

use crate::support::{corpus, corpus_folder, files, fixture, read};
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::detect::detect;
use dumptool::input::{self, Format, load::LoadOptions};
use dumptool::model::heap::{Heap, TypeKind, Value};
use dumptool::output::hprof::{self, HprofOptions};
use std::collections::BTreeMap;

/// Objects and bytes by the name of their type; arrays under the name of their elements.
fn histogram(heap: &Heap<'_>) -> BTreeMap<String, (u64, u64)> {
    let mut histogram = BTreeMap::<_, (u64, u64)>::new();
    for object in heap.objects() {
        let kind = heap.type_of(object);
        let (namespace, name) = (heap.names().text(kind.namespace), heap.names().text(kind.name));
        let name =
            if name.contains(namespace) { name.to_owned() } else { format!("{namespace}.{name}") };
        let entry =
            histogram.entry(name.replace('/', ".").trim_end_matches("[]").to_owned()).or_default();
        entry.0 += 1;
        entry.1 += heap.shallow_bytes(object);
    }
    histogram
}

fn round_trip(format: Format, bytes: &[u8], what: &str) {
    let heap = input::load(format, bytes, LoadOptions::default())
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .heap;
    assert_eq!(heap.check(), Ok(()), "{what}");
    let mut out = Vec::new();
    let report = hprof::write(&heap, &HprofOptions::default(), &mut out).unwrap();
    let mut again = Vec::new();
    assert_eq!(
        hprof::write(&heap, &HprofOptions::default(), &mut again).unwrap().instances,
        report.instances
    );
    assert!(out == again, "{what}: two conversions differ");

    let findings = input::check(Format::Hprof, &out, input::ReadOptions::default()).unwrap();
    assert!(
        findings.ok() && findings.damage.is_none(),
        "{what}: {:?}",
        findings.findings.iter().find(|finding| !finding.ok)
    );
    let reread = input::load(Format::Hprof, &out, LoadOptions::default()).unwrap();
    assert!(reread.damage.is_none(), "{what}");
    let reread = reread.heap;
    let instances: Vec<_> =
        reread.objects().filter(|&object| reread.type_of(object).kind != TypeKind::Class).collect();
    assert_eq!(instances.len() as u64, report.instances, "{what}: instances");
    let shallow: u64 = instances.iter().map(|object| reread.shallow_bytes(*object)).sum();
    assert_eq!(shallow, report.bytes, "{what}: bytes");
    assert!(!reread.roots().is_empty(), "{what}: no roots");

    let written = histogram(&reread);
    let mut renamed = 0;
    for (name, (count, _)) in histogram(&heap) {
        match written.get(&name) {
            // Helpers, such as the bytes of texts, come on top of Java's own names only.
            Some((shown, _)) if name.starts_with("java.") || name.contains("byte") => {
                assert!(*shown >= count, "{what}: {name}")
            }
            Some((shown, _)) => assert_eq!(*shown, count, "{what}: objects of {name}"),
            None => renamed += count,
        }
    }
    assert!(
        renamed * 3 <= heap.len() as u64,
        "{what}: {renamed} of {} objects have lost their type's name",
        heap.len()
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: add --release")]
fn heaps_come_back_from_hprof() {
    let mut count = 0;
    for folder in ["go", "dart", "mvmheap"] {
        for path in files(&fixture(folder)) {
            let bytes = read(&path);
            if let Ok(format) = detect(&bytes) {
                round_trip(format, &bytes, &path.display().to_string());
                count += 1;
            }
        }
    }
    assert!(count > 20);
}

/// What the ten objects retain that retain most, the largest first.
fn most_retained(heap: &Heap<'_>) -> Vec<u64> {
    let tree = DominatorTree::new(heap);
    let retained = heap.objects().filter(|&object| heap.type_of(object).kind != TypeKind::Class);
    let mut retained: Vec<_> = retained.map(|object| tree.retained(object)).collect();
    retained.sort_unstable_by(|a, b| b.cmp(a));
    retained.truncate(10);
    retained
}

/// Sizes of Go's objects are exact in hprof, so that what they retain is, too.
#[test]
fn what_objects_of_go_retain_comes_back_from_hprof() {
    let bytes = read(&fixture("go/tiny_go127.heapdump.zst"));
    let heap = input::load(Format::Go, &bytes, LoadOptions::default()).unwrap().heap;
    let mut out = Vec::new();
    hprof::write(&heap, &HprofOptions::default(), &mut out).unwrap();
    let reread = input::load(Format::Hprof, &out, LoadOptions::default()).unwrap().heap;
    let retained = most_retained(&heap);
    assert_eq!(retained, most_retained(&reread));
    assert_eq!(retained[..2], [33_088, 16_512]);
}

/// What MAT shows of MoarVM's heaps is within 1 % of what they have, and so is, or within 64 bytes,
/// what the 50 objects retain that retain most.
fn sizes_of_moarvm_come_back(path: &std::path::Path) {
    let bytes = read(path);
    let heap = input::load(Format::Mvmheap, &bytes, LoadOptions::default()).unwrap().heap;
    let all = heap
        .objects()
        .map(|object| heap.shallow_bytes(object))
        .chain(heap.externals().iter().map(|(_, bytes)| *bytes))
        .sum::<u64>();
    let mut out = Vec::new();
    let report = hprof::write(&heap, &HprofOptions::default(), &mut out).unwrap();
    let rounded = report
        .lost
        .iter()
        .find(|loss| loss.what == dumptool::output::loss::LossKind::RoundedInstance)
        .and_then(|loss| loss.bytes);
    let is_near = |shown: u64, bytes: u64| shown.abs_diff(bytes) * 100 <= bytes;
    for shown in [report.bytes, report.bytes + rounded.unwrap_or(0)] {
        assert!(is_near(shown, all), "{}: {shown} bytes of {all}", path.display());
    }

    let reread = input::load(Format::Hprof, &out, LoadOptions::default()).unwrap().heap;
    let (before, after) = (DominatorTree::new(&heap), DominatorTree::new(&reread));
    let mut largest: Vec<_> = heap.objects().filter(|&object| !heap.is_made_up(object)).collect();
    largest.sort_by_key(|&object| std::cmp::Reverse(before.retained(object)));
    let retained = largest.iter().take(50).map(|&object| {
        let again = reread
            .find(&format!("{:#x}", 8 * (u64::from(object.0) + 1)))
            .expect("ids tell where objects are");
        (
            heap.names().text(heap.type_of(object).name),
            before.retained(object),
            after.retained(again),
        )
    });
    // Sizes become multiples of 8, which shows where little is retained.
    let differs = |&(_, before, after): &(_, u64, u64)| {
        !is_near(after, before) && after.abs_diff(before) > 64
    };
    let others: Vec<_> = retained.filter(differs).collect();
    assert!(others.len() <= 3, "{}: of the 50 largest dominators {others:?}", path.display());
}

#[test]
fn sizes_of_moarvm_come_back_from_hprof() {
    sizes_of_moarvm_come_back(&fixture("mvmheap/tiny-nqp.mvmheap"));
    if let Some(corpus) = corpus("mvmheap") {
        sizes_of_moarvm_come_back(&corpus.join("small-raku.mvmheap"));
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn heaps_of_the_corpus_come_back_from_hprof() {
    for folder in ["go", "dart", "mvmheap"] {
        for path in files(&corpus_folder(folder)) {
            let bytes = read(&path);
            if let Ok(format) = detect(&bytes) {
                round_trip(format, &bytes, &path.display().to_string());
            }
        }
    }
}

/// Java's arrays of numbers are the same after a conversion: type, contents, size. Zeros may follow
/// where sizes need them.
#[test]
fn arrays_of_java_stay_what_they_are() {
    let bytes = read(&fixture("hprof/small_java17.hprof.zst"));
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let mut out = Vec::new();
    hprof::write(&heap, &HprofOptions::default(), &mut out).unwrap();
    let reread = input::load(Format::Hprof, &out, LoadOptions::default()).unwrap().heap;
    let arrays = |heap: &Heap<'_>| -> Vec<_> {
        let objects = heap.objects().filter(|object| heap.type_of(*object).kind == TypeKind::Bytes);
        let described = objects.map(|object| {
            let Value::Bytes(contents) = heap.value(object) else {
                panic!("an array without contents")
            };
            (
                heap.names().text(heap.type_of(object).name).to_owned(),
                heap.shallow_bytes(object),
                contents.to_vec(),
            )
        });
        described.collect()
    };
    let (before, after) = (arrays(&heap), arrays(&reread));
    assert!(before.len() > 1000 && after.len() >= before.len());
    let kinds: std::collections::BTreeSet<_> = before.iter().map(|(name, ..)| &**name).collect();
    assert!(
        kinds.contains("byte[]") && kinds.contains("int[]") && kinds.contains("char[]"),
        "{kinds:?}"
    );
    // Ids are in the order of the heap, and what was made up comes last in it.
    for ((name, size, contents), (new_name, new_size, new_contents)) in before.iter().zip(&after) {
        assert_eq!((name, size), (new_name, new_size));
        let (kept, added) = new_contents.split_at(contents.len());
        assert!(
            kept == contents && added.len() < 16 && added.iter().all(|byte| *byte == 0),
            "{name}"
        );
    }
}
