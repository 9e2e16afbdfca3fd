//! Reduced real snapshots, node by node against the rules in Python.

use crate::support::{broken, info};
use dumptool::analysis::DominatorTree;
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use dumptool::model::heap::{Heap, Ids, ObjectId};
use dumptool::output::heapsnapshot::{self, HeapSnapshotOptions};
use serde_json::json;

const NAMES: [&str; 4] = ["sessions-node14", "sessions-node20", "sessions-node24", "sessions-bun"];

fn read(name: &str) -> Vec<u8> {
    crate::support::read(&crate::support::fixture(&format!(
        "heapsnapshot/{name}-small.heapsnapshot.zst"
    )))
}

#[test]
fn nodes_retain_what_the_rules_say() {
    for name in NAMES {
        let bytes = read(name);
        let truth = crate::support::json(&crate::support::fixture(&format!(
            "heapsnapshot/{name}-small.truth.json"
        )));
        assert_eq!(broken(Format::Heapsnapshot, &bytes), [""; 0], "{name}");
        let info = info(Format::Heapsnapshot, &bytes);
        let details = &info["heap"]["snapshots"][0]["details"];
        for count in ["nodes", "edges", "strings"] {
            assert_eq!(details[count], truth[count], "{name}");
        }
        let heap = input::load(Format::Heapsnapshot, &bytes, LoadOptions::default()).unwrap().heap;
        let tree = DominatorTree::new(&heap);
        let Ids::Numbers(ids) = heap.ids() else { panic!("nodes have numbers") };
        for (object, row) in heap.objects().zip(truth["rows"].as_array().unwrap()) {
            let retained = if tree.is_live(object) {
                tree.retained(object)
            } else {
                heap.shallow_bytes(object)
            };
            let dominator = tree.dominator(object).unwrap_or(ObjectId(0));
            if object.index() > 0 {
                let ours = json!([
                    ids.get(object.index()),
                    heap.shallow_bytes(object),
                    retained,
                    ids.get(dominator.index())
                ]);
                assert_eq!(ours, *row, "{name}");
            }
        }
        let dead = heap.objects().filter(|object| !tree.is_live(*object)).count();
        assert_eq!(json!(dead), truth["left"], "{name}");
    }
}

/// Type, size and retained size of live objects.
fn facts(heap: &Heap<'_>) -> Vec<(String, u64, u64)> {
    let tree = DominatorTree::new(heap);
    let live = heap.objects().filter(|object| !heap.is_made_up(*object) && tree.is_live(*object));
    let mut facts: Vec<_> = live
        .map(|object| {
            (heap.type_name(object).to_owned(), heap.shallow_bytes(object), tree.retained(object))
        })
        .collect();
    facts.sort();
    facts
}

#[test]
fn a_snapshot_that_is_written_and_read_again_is_the_same_heap() {
    for name in NAMES {
        let bytes = read(name);
        let heap = input::load(Format::Heapsnapshot, &bytes, LoadOptions::default()).unwrap().heap;
        let once = write(&heap);
        assert_eq!(broken(Format::Heapsnapshot, &once), [""; 0], "{name}");
        let again = input::load(Format::Heapsnapshot, &once, LoadOptions::default()).unwrap();
        assert!(
            again.damage.is_none() && again.heap.warnings().is_empty(),
            "{name}: {:?}",
            again.heap.warnings()
        );
        // Names of types that several types of nodes have come with the type of nodes.
        let sizes = |heap: &Heap<'_>| {
            let mut sizes: Vec<_> =
                facts(heap).into_iter().map(|(_, shallow, retained)| (shallow, retained)).collect();
            sizes.sort_unstable();
            sizes
        };
        assert_eq!(sizes(&again.heap), sizes(&heap), "{name}");
        // From then on nothing changes any more, names included.
        let twice = write(&again.heap);
        let third = input::load(Format::Heapsnapshot, &twice, LoadOptions::default()).unwrap().heap;
        assert_eq!(facts(&third), facts(&again.heap), "{name}");
    }
}

/// What another format's heap is as a snapshot.
#[test]
fn heaps_of_java_are_the_same_as_snapshots() {
    let bytes = crate::support::read(&crate::support::fixture("hprof/small_java17.hprof.zst"));
    let heap = input::load(Format::Hprof, &bytes, LoadOptions::default()).unwrap().heap;
    let snapshot = write(&heap);
    let again = input::load(Format::Heapsnapshot, &snapshot, LoadOptions::default()).unwrap();
    assert!(again.damage.is_none() && again.heap.warnings().is_empty());
    let (ours, theirs) = (DominatorTree::new(&heap), DominatorTree::new(&again.heap));
    assert_eq!(
        (ours.len() as u64, ours.live_bytes()),
        (live_objects(&again.heap, &theirs), theirs.live_bytes())
    );
    let sorted = |heap: &Heap<'_>, tree: &DominatorTree| {
        let objects =
            heap.objects().filter(|object| !heap.is_made_up(*object) && tree.is_live(*object));
        let mut all: Vec<u64> = objects.map(|object| tree.retained(object)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&again.heap, &theirs), sorted(&heap, &ours));
}

fn live_objects(heap: &Heap<'_>, tree: &DominatorTree) -> u64 {
    tree.live_objects().iter().filter(|object| !heap.is_made_up(**object)).count() as u64
}

fn write(heap: &Heap<'_>) -> Vec<u8> {
    let graph = dumptool::analysis::Graph::of(heap);
    let live = dumptool::analysis::live::live(&graph);
    let mut out = Vec::new();
    heapsnapshot::write(heap, &graph, &live, &HeapSnapshotOptions::default(), &mut out).unwrap();
    out
}
