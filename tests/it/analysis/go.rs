//! What is alive in Go dumps whose programs planted garbage.

use super::properties::assert_same_holders;
use crate::support::{corpus_folder, files, fixture, json, read};
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::input::go::load;
use dumptool::input::load::{LoadOptions, RootScan};
use dumptool::model::heap::{Heap, ObjectId};
use serde_json::Value;
use std::path::Path;

/// Whether an object is of the layout of what the program made garbage of: 104 bytes in a slot of
/// 112, with one pointer.
fn is_planted(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.names().text(heap.type_of(object).name).starts_with("112 B, 1 pointer ")
}

fn compare(dump: &Path, truth: &Value) {
    let name = dump.display();
    let bytes = read(dump);
    let heap_of = |roots| load(&bytes, LoadOptions::default().roots(roots)).unwrap().heap;
    let (precise, heap) = (heap_of(RootScan::Precise), heap_of(RootScan::Default));
    let (certain, graph) = (live(&Graph::of(&precise)), Graph::of(&heap));
    let found = live(&graph);
    assert_same_holders(&heap);
    assert_eq!(found.len(), Dominators::of(&graph).len(), "{name}");
    assert!(
        heap.objects().all(|object| !certain.contains(object) || found.contains(object)),
        "{name}"
    );
    assert!(found.len() <= certain.len() + 40, "{name}: {} against {}", found.len(), certain.len());
    match truth["Garbage"].as_u64() {
        Some(garbage) => {
            let planted: Vec<_> =
                heap.objects().filter(|object| is_planted(&heap, *object)).collect();
            assert_eq!(planted.len() as u64, garbage, "{name}");
            assert!(planted.iter().all(|object| !found.contains(*object)), "{name}");
        }
        None => by_name(&heap, truth, |object| found.contains(object)),
    }
}

/// Generated dumps have a name for each object.
fn by_name(heap: &Heap<'_>, truth: &Value, is_live: impl Fn(ObjectId) -> bool) {
    for (list, expected) in [("reachable", true), ("unreachable", false)] {
        let names = truth[list].as_array().unwrap();
        assert!(!names.is_empty());
        for name in names {
            let object =
                heap.find(truth["objects"][name.as_str().unwrap()][0].as_str().unwrap()).unwrap();
            assert_eq!(is_live(object), expected, "{name}");
        }
    }
}

fn compare_all(folder: &Path, truths: &Path, least: usize) {
    let mut compared = 0;
    for dump in files(folder) {
        let file_name = dump.file_name().unwrap().to_string_lossy().into_owned();
        let Some((stem, _)) = file_name.split_once(".heapdump") else { continue };
        let truth = truths.join(format!("{stem}.truth.json"));
        if truth.exists() {
            compare(&dump, &json(&truth));
            compared += 1;
        }
    }
    assert!(compared >= least, "only {compared} dumps were compared");
}

#[test]
fn garbage_of_fixtures_is_not_alive() {
    compare_all(&fixture("go"), &fixture("go/truth"), 10);
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn garbage_of_the_corpus_is_not_alive() {
    let folder = corpus_folder("go");
    compare_all(&folder, &folder, 12);
}
