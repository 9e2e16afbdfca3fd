//! Dumps as heaps: what is reachable, from where, and what the objects are called.

use crate::fixtures::fixture;
use crate::support::{B, Dump, F, HEAP, S, U};
use dumptool::input::go;
use dumptool::input::load::{LoadOptions, Loaded, RootScan, SnapshotChoice};
use dumptool::model::heap::{Heap, LabelKind, ObjectId, Root, RootKind, TypeKind, Value};
use dumptool::source::Source;
use serde_json::{Value as Json, json};
use std::path::Path;

fn load(bytes: &[u8], roots: RootScan) -> Loaded<'_> {
    let loaded = go::load(bytes, LoadOptions { roots, ..LoadOptions::default() }).unwrap();
    assert_eq!(loaded.heap.check(), Ok(()));
    loaded
}

/// For each object, whether a root reaches it.
fn reachable(heap: &Heap<'_>) -> Vec<bool> {
    let mut seen = vec![false; heap.len()];
    let mut open: Vec<ObjectId> = heap.roots.iter().map(|root| root.object).collect();
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut seen[object.index()], true) {
            open.extend(heap.references.of(object).map(|reference| reference.target));
        }
    }
    seen
}

fn count(seen: &[bool]) -> u64 {
    seen.iter().filter(|seen| **seen).count() as u64
}

fn type_name<'h>(heap: &'h Heap<'_>, object: ObjectId) -> &'h str {
    heap.names.text(heap.type_of(object).name)
}

fn named(heap: &Heap<'_>, name: &str) -> Vec<ObjectId> {
    heap.objects().filter(|object| type_name(heap, *object) == name).collect()
}

fn root_texts(heap: &Heap<'_>) -> Vec<String> {
    heap.roots.iter().map(|root| root.text(&heap.names)).collect()
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
    assert!(precise.damage.is_none() && precise.heap.warnings.is_empty(), "{name}: {:?}", precise.heap.warnings);
    let seen = reachable(&precise.heap);
    let references: usize = precise.heap.objects().filter(|o| seen[o.index()]).map(|o| precise.heap.references.of(o).len()).sum();
    let default = reachable(&load(bytes, RootScan::Default).heap);
    let conservative = reachable(&load(bytes, RootScan::Conservative).heap);
    assert!(seen.iter().zip(&default).all(|(precise, default)| precise <= default), "{name}");
    assert!(default.iter().zip(&conservative).all(|(default, conservative)| default <= conservative), "{name}");
    eprintln!(
        "{name}: {} of {} live, {references} references; default {}, conservative {}",
        count(&seen),
        seen.len(),
        count(&default),
        count(&conservative)
    );
    assert_eq!((precise.heap.len() as u64, count(&seen), references as u64), (objects, live, live_references), "{name}");
    assert!(count(&default) <= live + 40, "{name}: {} against {live}", count(&default));
}

#[test]
fn fixtures_reach_what_an_independent_decoder_reaches() {
    for (name, objects, live, references) in TRUTHS {
        compare(name, fixture(name).bytes(), *objects, *live, *references);
    }
}

#[test]
fn dumps_of_the_corpus_reach_what_an_independent_decoder_reaches() {
    let Some(corpus) = std::env::var_os("DUMPTOOL_CORPUS") else { return };
    for entry in Path::new(&corpus).join("go").read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "heapdump") {
            continue;
        }
        let truth = crate::corpus::truth_of(&path);
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
            assert_eq!(json!(heap.shallow.get(object.index())), place[1], "{name} of {}", path.display());
            assert_eq!(seen[object.index()], expected, "{name} of {}", path.display());
        }
    }
}
