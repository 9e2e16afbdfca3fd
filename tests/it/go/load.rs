//! Dumps as heaps: what is reachable, from where, and what the objects are called.

use super::fixtures::fixture;
use crate::support::go::{B, Dump, F, HEAP, S, U};
use dumptool::input::go;
use dumptool::input::load::{LoadOptions, Loaded, RootScan, SnapshotChoice};
use dumptool::model::WarningKind;
use dumptool::model::heap::{Heap, LabelKind, ObjectId, Root, RootKind, TypeKind, Value};
use dumptool::source::Source;
use serde_json::{Value as Json, json};
use std::path::Path;

fn load(bytes: &[u8], roots: RootScan) -> Loaded<'_> {
    let loaded = go::load(bytes, LoadOptions::default().roots(roots)).unwrap();
    assert_eq!(loaded.heap.check(), Ok(()));
    loaded
}

/// For each object, whether a root reaches it.
fn reachable(heap: &Heap<'_>) -> Vec<bool> {
    let mut seen = vec![false; heap.len()];
    let mut open: Vec<ObjectId> = heap.roots().iter().map(|root| root.object).collect();
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut seen[object.index()], true) {
            open.extend(heap.references_of(object).map(|reference| reference.target));
        }
    }
    seen
}

fn count(seen: &[bool]) -> u64 {
    seen.iter().filter(|seen| **seen).count() as u64
}

fn type_name<'h>(heap: &'h Heap<'_>, object: ObjectId) -> &'h str {
    heap.names().text(heap.type_of(object).name)
}

fn named(heap: &Heap<'_>, name: &str) -> Vec<ObjectId> {
    heap.objects().filter(|object| type_name(heap, *object) == name).collect()
}

fn root_texts(heap: &Heap<'_>) -> Vec<String> {
    heap.roots().iter().map(|root| root.text(heap.names())).collect()
}

/// Objects, reachable ones and references from those by an independent decoder.
const TRUTHS: &[(&str, u64, u64, u64)] = &[
    ("draft13.heapdump", 9, 7, 7),
    ("draft13_32be.heapdump", 9, 7, 7),
    ("go13.heapdump", 10, 8, 8),
    ("go13_32be.heapdump", 10, 8, 8),
    ("go14.heapdump", 10, 7, 7),
    ("go14_be.heapdump", 10, 7, 7),
    ("go15_32.heapdump", 10, 7, 7),
    ("go16.heapdump", 10, 7, 7),
    ("go17_be.heapdump", 10, 7, 7),
    ("tiny_go119.heapdump.zst", 2026, 1573, 1609),
    ("tiny_go127.heapdump.zst", 2019, 1566, 1644),
    ("panic_go127.heapdump.zst", 2020, 1567, 1643),
    ("mini_go127_386.heapdump.zst", 165, 154, 210),
    ("mini_go127_s390x.heapdump.zst", 164, 153, 206),
];

fn compare(name: &str, bytes: &[u8], objects: u64, live: u64, live_references: u64) {
    let precise = load(bytes, RootScan::Precise);
    assert!(
        precise.damage.is_none() && precise.heap.warnings().is_empty(),
        "{name}: {:?}",
        precise.heap.warnings()
    );
    let seen = reachable(&precise.heap);
    let references: usize = precise
        .heap
        .objects()
        .filter(|o| seen[o.index()])
        .map(|o| precise.heap.references_of(o).len())
        .sum();
    let default = reachable(&load(bytes, RootScan::Default).heap);
    let conservative = reachable(&load(bytes, RootScan::Conservative).heap);
    assert!(seen.iter().zip(&default).all(|(precise, default)| precise <= default), "{name}");
    assert!(
        default.iter().zip(&conservative).all(|(default, conservative)| default <= conservative),
        "{name}"
    );
    eprintln!(
        "{name}: {} of {} live, {references} references; default {}, conservative {}",
        count(&seen),
        seen.len(),
        count(&default),
        count(&conservative)
    );
    assert_eq!(
        (precise.heap.len() as u64, count(&seen), references as u64),
        (objects, live, live_references),
        "{name}"
    );
    assert!(count(&default) <= live + 40, "{name}: {} against {live}", count(&default));
}

#[test]
fn fixtures_reach_what_an_independent_decoder_reaches() {
    for (name, objects, live, references) in TRUTHS {
        compare(name, fixture(name).bytes(), *objects, *live, *references);
    }
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn dumps_of_the_corpus_reach_what_an_independent_decoder_reaches() {
    let corpus = crate::support::corpus_folder("");
    for entry in Path::new(&corpus).join("go").read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "heapdump") {
            continue;
        }
        let truth = super::corpus::truth_of(&path);
        let number = |name: &str| truth[name].as_u64().unwrap();
        let source = Source::open(&path).unwrap();
        compare(
            &path.display().to_string(),
            source.bytes(),
            number("objects"),
            number("reachable_objects"),
            number("reachable_edges"),
        );
        planted(&path, source.bytes());
    }
}

/// The generated dumps say by name which objects are reachable.
fn planted(path: &Path, bytes: &[u8]) {
    let Ok(truth) = std::fs::read(path.with_extension("truth.json")) else { return };
    let truth: Json = serde_json::from_slice(&truth).unwrap();
    let Some(objects) = truth["objects"].as_object() else { return };
    let heap = load(bytes, RootScan::Default).heap;
    let seen = reachable(&heap);
    for (list, expected) in [("reachable", true), ("unreachable", false)] {
        for name in truth[list].as_array().unwrap() {
            let Some(place) = objects.get(name.as_str().unwrap()) else { continue };
            let object = heap.find(place[0].as_str().unwrap()).unwrap();
            assert_eq!(json!(heap.shallow_bytes(object)), place[1], "{name} of {}", path.display());
            assert_eq!(seen[object.index()], expected, "{name} of {}", path.display());
        }
    }
}

#[test]
fn tiny_objects_are_named_and_rooted() {
    let source = fixture("tiny_go127.heapdump.zst");
    let heap = load(source.bytes(), RootScan::Default).heap;
    assert_eq!((heap.pointer_size(), heap.is_big_endian()), (8, false));
    // Sizes add up to HeapAlloc.
    assert_eq!(heap.objects().map(|object| heap.shallow_bytes(object)).sum::<u64>(), 161_880);
    // Equal malloc headers are one type: the ten BigScan of 808 bytes, behind which a program's
    // pointers begin.
    let big = named(&heap, "type@0x66c650");
    assert_eq!(big.len(), 10);
    assert!(big.iter().all(|object| heap.shallow_bytes(*object) == 896));
    assert_eq!((named(&heap, "runtime.g").len(), named(&heap, "runtime.m").len()), (16, 4));
    assert!(!named(&heap, "flag.(unnamed pointer)").is_empty());
    assert!(heap.types().iter().all(|kind| !heap.names().text(kind.name).ends_with('.')));
    let leaf = heap
        .types()
        .iter()
        .find(|kind| heap.names().text(kind.name) == "24 B without pointers")
        .unwrap();
    assert_eq!(leaf.kind, TypeKind::Bytes);

    let texts = root_texts(&heap);
    for text in [
        "goroutine 1 [dumping heap]",
        "goroutine 18 [chan receive] runtime.chanrecv +0x40",
        "finalizer +0x20",
    ] {
        assert!(texts.iter().any(|root| root == text), "{text}");
    }
    // The global variable gList is at the start of bss.
    let list = heap.roots().iter().find(|root| root.text(heap.names()) == "bss +0x0").unwrap();
    assert_eq!((heap.id(list.object), list.kind), ("0x1221c450a600".to_owned(), RootKind::Global));
    for root in heap.roots().iter().filter(|root| root.kind == RootKind::Frame) {
        let frame = &heap.frames()[root.frame.unwrap() as usize];
        assert!(heap.names().text(root.group).ends_with(heap.names().text(frame.function)));
    }
    let threads: Vec<_> =
        heap.threads().iter().map(|thread| heap.names().text(thread.name)).collect();
    assert_eq!(
        (threads.len(), threads[0], threads[9]),
        (16, "goroutine 1 [dumping heap]", "goroutine 22 [sync.Mutex.Lock]")
    );
    assert!(
        heap.threads().iter().all(|thread| type_name(&heap, thread.object.unwrap()) == "runtime.g")
    );
    let frames: Vec<_> = heap.frames()[heap.threads()[9].frames.start as usize..][..2]
        .iter()
        .map(|frame| heap.names().text(frame.function))
        .collect();
    assert_eq!(frames, ["runtime.gopark", "runtime.semacquire1"]);
}

#[test]
fn interior_pointers_find_their_object() {
    // By an independent decoder: 59 of the live references, with those behind malloc headers not
    // counted.
    let source = fixture("tiny_go127.heapdump.zst");
    let heap = load(source.bytes(), RootScan::Default).heap;
    let array = heap.find("0x1221c4550000").unwrap();
    assert_eq!(heap.find("0x1221c4550028"), Some(array), "gInner points into Arr");
    assert!(heap.roots().iter().any(|root| root.object == array && root.kind == RootKind::Global));
    assert!(reachable(&heap)[array.index()]);
}

#[test]
fn generated_dumps_are_typed_by_what_each_layout_says() {
    for (name, expected) in [
        (
            "go13.heapdump",
            &[
                ("main.Node", 4),
                ("[]*main.Node", 1),
                ("chan *main.Node", 1),
                ("32 B scanned conservatively", 1),
            ][..],
        ),
        ("draft13_32be.heapdump", &[("main.Node", 4), ("[]*main.Node", 1), ("chan *main.Node", 1)]),
        // n0 and n2 are in interfaces.
        ("go14_be.heapdump", &[("main.Node", 2), ("24 B without pointers", 2)]),
        ("go16.heapdump", &[("main.Node", 2)]),
        ("go17_be.heapdump", &[("main.Node", 2)]),
    ] {
        let source = fixture(name);
        let heap = load(source.bytes(), RootScan::Default).heap;
        for (kind, count) in expected {
            assert_eq!(named(&heap, kind).len(), *count, "{kind} in {name}");
        }
    }
}

#[test]
fn labels_are_offsets_and_values_are_memory() {
    let source = fixture("go13.heapdump");
    let heap = load(source.bytes(), RootScan::Default).heap;
    let object = |id| heap.find(id).unwrap();
    let labels = |id| {
        heap.references_of(object(id))
            .map(|r| (r.label.kind(), heap.id(r.target)))
            .collect::<Vec<_>>()
    };
    let (n0, n1, n2) = ("0xc208001000", "0xc208001030", "0xc208001060");
    assert_eq!(
        labels(n1),
        [(LabelKind::Offset(0), n2.to_owned()), (LabelKind::Offset(40), n0.to_owned())]
    );
    assert_eq!(
        labels("0xc2080010d0"),
        [(LabelKind::Offset(0), n0.to_owned()), (LabelKind::Offset(8), n1.to_owned())]
    );
    assert_eq!(labels("0xc2080010f0"), [(LabelKind::Offset(96), n2.to_owned())]);
    assert_eq!(
        heap.value(object("0xc2080010c0")),
        Value::Bytes(b"hello\0\0\0\0\0\0\0\0\0\0\0"[..].into())
    );
    let mut texts = root_texts(&heap);
    texts.sort();
    assert_eq!(
        texts,
        [
            "bss +0x10",
            "bss +0x20",
            "data +0x8",
            "goroutine 1 [chan receive] main.work +0x18",
            "goroutine 1 [chan receive] panic: arg",
            "queued finalizer",
            "runtime type info",
        ]
    );
}

/// Words of 64-bit little-endian memory.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

const SP: u64 = 0x7000_0000;

/// A goroutine with two frames; the first word of the inner one is listed and is `live`. The outer
/// one holds `held` in the middle and is not listed; the inner one ends with a saved frame pointer
/// into it.
fn stack_objects(live: u64, held: u64) -> Vec<u8> {
    let frame = |dump: Dump, sp: u64, depth, child, contents: &[u64], fields: &[(u64, u64)]| {
        dump.record(
            5,
            &[
                U(sp),
                U(depth),
                U(child),
                B(&words(contents)),
                U(1),
                U(2),
                U(3),
                S("main.f"),
                F(fields),
            ],
        )
    };
    let dump = Dump::new("go1.21").object(HEAP, 16, &[]).goroutine(0x10, SP, 4, "select");
    let dump = frame(dump, SP, 0, 0, &[live, 0, SP + 48, 0x1234], &[(1, 0)]);
    let dump = frame(dump, SP + 32, 1, SP, &[0, held, 0, 0x1234], &[(1, 4000)]);
    dump.finish(1, 16)
}

#[test]
fn frames_are_scanned_whole_where_a_live_word_points_into_them() {
    let roots = |live, held, scan| load(&stack_objects(live, held), scan).heap.roots().len();
    assert_eq!(roots(HEAP, 0, RootScan::Precise), 1);
    // Nothing points into the outer frame but the saved frame pointer, which does not count.
    assert_eq!(roots(0, HEAP + 8, RootScan::Default), 0);
    assert_eq!(roots(0, HEAP + 8, RootScan::Conservative), 1);
    assert_eq!(roots(SP + 40, HEAP + 8, RootScan::Precise), 0);
    assert_eq!(roots(SP + 40, HEAP + 8, RootScan::Default), 1);
    // Into the inner frame: its saved frame pointer marks no more.
    assert_eq!(roots(SP + 8, HEAP + 8, RootScan::Default), 0);
    let bytes = stack_objects(SP + 40, HEAP + 8);
    let heap = load(&bytes, RootScan::Default).heap;
    assert_eq!(root_texts(&heap), ["goroutine 1 [select] main.f +0x8"]);
    assert_eq!((heap.roots()[0].frame, heap.frames().len()), (Some(1), 2));
}

#[test]
fn headers_and_interfaces_name_objects() {
    let (type_t, type_p, itab) = (0x50_0000u64, 0x50_0100u64, 0x60_0000u64);
    let big = |header: u64, first: u64| words(&[&[header, first][..], &[0; 70]].concat());
    let type_record =
        |dump: Dump, addr: u64, size, name| dump.record(3, &[U(addr), U(size), S(name), U(1)]);
    let dump =
        type_record(type_record(Dump::new("go1.22.1"), type_t, 16, "main.T"), type_p, 8, "*main.P");
    let dump = dump.record(8, &[U(itab), U(type_p)]);
    let target = |n: u64| HEAP + 0x10000 + n * 32;
    let holder = words(&[itab, target(0), type_t, target(1), 7, target(2), type_t, target(3) + 16]);
    let bytes = dump
        .record(1, &[U(HEAP), B(&big(0xabc, target(0))), F(&[(1, 8)])])
        .record(1, &[U(HEAP + 576), B(&big(0xabc, 0)), F(&[(1, 16)])])
        .record(1, &[U(HEAP + 1152), B(&big(type_t, target(2))), F(&[(1, 8)])])
        .record(1, &[U(HEAP + 8192), B(&holder), F(&[(1, 8), (1, 24), (1, 40), (1, 56)])])
        .object(target(0), 32, &[0])
        .object(target(1), 32, &[])
        .object(target(2), 32, &[])
        .object(target(3), 32, &[])
        .finish(8, 3 * 576 + 64 + 128);
    let heap = load(&bytes, RootScan::Default).heap;
    let names: Vec<_> = heap.objects().map(|object| type_name(&heap, object)).collect();
    assert_eq!(names[..3], ["type@0xabc", "type@0xabc", "main.T"]);
    // A header before the first field is no interface, and a pointer into the middle says nothing
    // of the whole.
    assert_eq!(names[4..], ["main.P", "main.T", "32 B without pointers", "32 B without pointers"]);
    assert_eq!(heap.references_of(ObjectId(3)).len(), 4);
}

#[test]
fn phantoms_are_no_objects_whatever_the_version_says() {
    // A page of 64-byte objects with pointers: the last two slots are over the bitmap.
    let page = |version: &str, objects| {
        let fill = |dump: Dump, slot: u64| dump.object(HEAP + slot * 64, 64, &[0]);
        (0..128u64).fold(Dump::new(version), fill).finish(objects, objects * 64)
    };
    assert_eq!(load(&page("go1.22", 126), RootScan::Default).heap.len(), 126);
    assert_eq!(load(&page("go1.21", 128), RootScan::Default).heap.len(), 128);
    // The statistics know better than the version.
    assert_eq!(load(&page("go1.22", 128), RootScan::Default).heap.len(), 128);
    assert_eq!(load(&page("go1.21", 124), RootScan::Default).heap.len(), 124);
}

#[test]
fn what_contradicts_itself_is_counted() {
    let bytes = Dump::new("go1.21")
        .object(HEAP, 64, &[0, 60, 64, 1 << 40])
        .object(HEAP + 32, 64, &[])
        .object(HEAP, 16, &[])
        .frame(SP, 0, 0, "main.lost")
        .finish(3, 144);
    let heap = load(&bytes, RootScan::Default).heap;
    let mut warnings: Vec<_> =
        heap.warnings().iter().map(|warning| (warning.kind, warning.count)).collect();
    warnings.sort_by_key(|(kind, _)| kind.text());
    assert_eq!(
        warnings,
        [
            (WarningKind::RepeatedAddresses, 1),
            (WarningKind::OverlappingObjects, 1),
            (WarningKind::FieldsBeyondObjects, 3),
            (WarningKind::StrayFrames, 1),
        ]
    );
    assert_eq!(
        (heap.len(), heap.shallow_bytes(ObjectId(0))),
        (2, 64),
        "the first record of an address counts"
    );
}

#[test]
fn there_is_one_snapshot() {
    let source = fixture("go16.heapdump");
    let options = |number| LoadOptions::default().snapshot(SnapshotChoice::Number(number));
    assert_eq!(go::load(source.bytes(), options(0)).unwrap().snapshot, 0);
    let error = go::load(source.bytes(), options(3)).err().unwrap();
    assert_eq!(error.message(), "no snapshot 3; the file has only snapshot 0");
}

/// Everything that a heap says, in one text.
fn said(heap: &Heap<'_>) -> String {
    let root = |root: &Root| {
        format!("{} -> {} {:?}", root.text(heap.names()), heap.id(root.object), root.frame)
    };
    let object = |object: ObjectId| {
        let references: Vec<_> = heap
            .references_of(object)
            .map(|r| (r.label.text(heap.names()).into_owned(), r.target.0))
            .collect();
        format!(
            "{} {} {:?} {references:?} {:?}",
            heap.id(object),
            heap.type_id(object).0,
            type_name(heap, object),
            heap.value(object)
        )
    };
    let lines = heap.objects().map(object).chain(heap.roots().iter().map(root));
    let rest = format!("{:?} {:?} {:?}", heap.threads(), heap.frames(), heap.warnings());
    lines.chain([rest]).collect::<Vec<_>>().join("\n")
}

#[test]
fn any_number_of_threads_gives_the_same_heap() {
    // Several chunks, in an order that is not that of the addresses, with hints from one to the
    // other.
    let count = 200_000u64;
    let mut dump = Dump::new("go1.21");
    dump = dump
        .record(3, &[U(0x50_0000), U(8), S("main.A"), U(1)])
        .record(3, &[U(0x50_0100), U(8), S("main.B"), U(1)]);
    for i in 0..count {
        let slot = i * 7919 % count;
        let to = |n: u64| HEAP + n * 2_654_435_761 % count * 32;
        let contents =
            words(&[[0x50_0000, 0x50_0100, 0, 5][i as usize % 4], to(i), 0, to(i + 1) + 9]);
        let fields = [(1, 8), (1, 24)];
        dump = dump.record(1, &[U(HEAP + slot * 32), B(&contents), F(&fields[..i as usize % 3])]);
    }
    let bytes = dump.finish(count, count * 32);
    let by = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| said(&load(&bytes, RootScan::Default).heap))
    };
    let one = by(1);
    assert!(
        one.contains("\"main.A\"")
            && one.contains("\"main.B\"")
            && one.lines().count() > count as usize
    );
    for threads in [2, 3, 7] {
        assert!(by(threads) == one, "{threads} threads");
    }
}

#[test]
fn damaged_dumps_are_loaded_as_far_as_they_go() {
    let source = fixture("mini_go127_386.heapdump.zst");
    let bytes = source.bytes();
    let mut sizes = Vec::new();
    for cut in (0..bytes.len()).step_by(bytes.len() / 97) {
        let Ok(loaded) = go::load(&bytes[..cut], LoadOptions::default()) else {
            assert!(cut < 16);
            continue;
        };
        assert_eq!(loaded.heap.check(), Ok(()));
        assert!(loaded.damage.unwrap().offset().is_some());
        sizes.push(loaded.heap.len());
    }
    assert_eq!((sizes.first(), sizes.last()), (Some(&14), Some(&165)));
    assert!(load(bytes, RootScan::Default).damage.is_none());
}

#[test]
fn changed_bytes_never_stop_the_loader() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for name in [
        "draft13.heapdump",
        "draft13_32be.heapdump",
        "go13.heapdump",
        "go13_32be.heapdump",
        "go14.heapdump",
        "go17_be.heapdump",
    ] {
        let original = fixture(name).bytes().to_vec();
        for _ in 0..120 {
            let mut bytes = original.clone();
            for _ in 0..=random(3) {
                let at = 16 + random(bytes.len() - 16);
                bytes[at] = [0, 0xff, bytes[at] ^ 1, random(256) as u8][random(4)];
            }
            if let Ok(loaded) = go::load(&bytes, LoadOptions::default()) {
                assert_eq!(loaded.heap.check(), Ok(()), "{name}");
                said(&loaded.heap);
            }
        }
    }
}
