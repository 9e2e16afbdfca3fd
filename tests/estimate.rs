//! Estimates of memory, against an allocator that counts.
#![allow(unsafe_code)]

#[path = "support/counting.rs"]
mod counting;
mod support;

use counting::Counting;
use dumptool::analysis::core_tree::CoreTree;
use dumptool::analysis::glob::TypeFilter;
use dumptool::analysis::{Graph, GroupBy, Histogram, Scope, counting_estimate};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format, ReadOptions};
use support::instances::{Id, Instances, Int};

/// Bytes that a small heap takes as well: tables of addresses, and a sample of them.
const FIXED: usize = 4 << 20;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Records in a list, of which each has a text in two objects and a number: three of four objects
/// are owned. Roots hold the classes, as those of the boot loader.
fn records(count: i32) -> Vec<u8> {
    let mut heap = Instances::default();
    let mut last = 0;
    for number in 0..count {
        let characters = heap.array(&[]);
        let text = heap.object("java.lang.String", &[("value", Id(characters))]);
        let boxed = heap.number(number);
        let fields =
            [("next", Id(last)), ("name", Id(text)), ("number", Id(boxed)), ("at", Int(1))];
        last = heap.object("app.Record", &fields);
    }
    let mut roots = heap.classes();
    roots.push(last);
    heap.finish_with_roots(&roots)
}

#[test]
fn counting_a_jvm_heap_takes_about_what_is_estimated() {
    let bytes = records(60_000);
    let info = input::info(Format::Hprof, &bytes, ReadOptions::default()).unwrap();
    let snapshot = &info.heap.unwrap().snapshots[0];
    let objects = snapshot.objects.unwrap();
    let slots = snapshot.most_references().unwrap();
    assert_eq!((objects, slots), (240_000, 240_000));
    let estimate = counting_estimate(objects, slots) as usize;
    let taken = counting::peak(|| {
        let options = LoadOptions::default().bare(true);
        let loaded = input::load(Format::Hprof, &bytes, options).unwrap();
        let graph = Graph::of(&loaded.heap);
        let tree = CoreTree::of(&loaded.heap, &graph);
        let filter = TypeFilter::default();
        Histogram::of_types(&loaded.heap, Some(&tree), GroupBy::Type, Scope::Live, &filter)
    });
    assert!(
        taken < estimate * 3 / 2 + FIXED && estimate < taken * 3 / 2,
        "{estimate} bytes were estimated, {taken} were taken for {objects} objects"
    );
}
