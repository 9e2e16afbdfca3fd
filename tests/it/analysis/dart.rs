//! Dominators and retained sizes of Dart snapshots, as an independent decoder found them.

use super::properties::assert_same_holders;
use crate::support::{corpus_folder, files, fixture, json, read};
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::analysis::retained::Retained;
use dumptool::input::dart::load;
use dumptool::input::load::LoadOptions;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Heap, ObjectId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

struct Found {
    dominators: Dominators,
    retained: Retained,
    live: usize,
}

/// The truth counts shallow bytes only.
fn without_external(heap: Heap<'_>) -> Heap<'_> {
    let mut builder = HeapBuilder::from_heap(heap);
    builder.clear_external();
    builder.finish_edited()
}

fn found(heap: &Heap<'_>) -> Found {
    assert_same_holders(heap);
    let graph = Graph::of(heap);
    let dominators = Dominators::of(&graph);
    Found { retained: Retained::of(heap, &dominators), live: live(&graph).len(), dominators }
}

/// What goes with all objects of a class: what those retain that no other one of the class
/// dominates. By name, as the truth has its classes; also how many are alive.
fn by_class<'h>(heap: &'h Heap<'_>, found: &Found) -> BTreeMap<&'h str, Vec<(u64, u64)>> {
    let mut classes: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for object in found.dominators.order() {
        let class = heap.type_id(*object);
        let mut above = found.dominators.dominator(*object);
        while above.is_some_and(|above| heap.type_id(above) != class) {
            above = found.dominators.dominator(above.unwrap());
        }
        let (count, retained) = classes.entry(class.0).or_default();
        *count += 1;
        *retained +=
            if above.is_none() { found.retained.get(&found.dominators, *object) } else { 0 };
    }
    let mut named: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for (class, sums) in classes {
        named.entry(heap.names().text(heap.types()[class as usize].name)).or_default().push(sums);
    }
    named
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("no number {name} in {value}"))
}

fn compare(path: &Path, truth: &Value) {
    let name = path.display();
    let bytes = read(path);
    let heap = without_external(load(&bytes, LoadOptions::default()).unwrap().heap);
    let found = found(&heap);
    let (expected, tree) = (&truth["reachable_weakAware"], &truth["dominators_weakAware"]);
    assert_eq!(
        (found.live, found.dominators.len()),
        (number(expected, "objects") as usize, found.live),
        "{name}"
    );
    assert_eq!(found.retained.total(), number(expected, "shallow"), "{name}");
    assert_eq!(found.retained.total(), number(tree, "rootRetained"), "{name}");
    let object = |value: u64| ObjectId(value as u32 - 1);
    for listed in tree["topObjects"].as_array().unwrap() {
        let id = object(number(listed, "id"));
        assert_eq!(
            found.retained.get(&found.dominators, id),
            number(listed, "retained"),
            "{listed} of {name}"
        );
        // The truth's root is its own dominator.
        let dominator = found.dominators.dominator(id).unwrap_or(id);
        assert_eq!(dominator, object(number(listed, "idom")), "{listed} of {name}");
    }
    let classes = by_class(&heap, &found);
    let listed = tree["byClass"].as_array().unwrap();
    assert!(listed.len() > 10, "{name}");
    for class in listed {
        let sums = (number(class, "reachable"), number(class, "retained"));
        let found = classes.get(class["cls"].as_str().unwrap());
        assert!(found.is_some_and(|found| found.contains(&sums)), "{class} of {name}: {found:?}");
    }
    eprintln!("{name}: {} live, {} classes", found.live, listed.len());
}

#[test]
fn fixtures_have_known_dominators_and_retained_bytes() {
    let truths: Vec<_> = files(&fixture("dart/truth")).into_iter().collect();
    for truth in &truths {
        let name = truth.file_stem().unwrap().to_string_lossy();
        let dumps = files(&fixture("dart"));
        let dump = dumps.iter().find(|dump| {
            dump.extension().is_some_and(|extension| extension == "zst")
                && dump.file_name().unwrap().to_string_lossy().starts_with(&format!("{name}."))
        });
        compare(dump.unwrap_or_else(|| panic!("no dump for {name}")), &json(truth));
    }
    assert!(truths.len() >= 6);
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn the_corpus_has_known_dominators_and_retained_bytes() {
    let folder = corpus_folder("dart");
    let mut compared = 0;
    for file in files(&folder)
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension != "json"))
    {
        compare(file, &json(&file.with_extension("json")));
        compared += 1;
    }
    assert!(compared >= 8, "only {compared} files were compared");
}
