//! What analyses say of a heap, whatever heap it is.

use dumptool::analysis::collections::Collections;
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::dominators::Dominators;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::histogram::{GroupBy, Histogram, Scope};
use dumptool::analysis::identity::{Identified, fates};
use dumptool::analysis::paths::merged::merged;
use dumptool::analysis::paths::several::several;
use dumptool::analysis::paths::shortest::Shortest;
use dumptool::analysis::referrers::Referrers;
use dumptool::analysis::root_groups::RootGroups;
use dumptool::analysis::tree::{self, TreeItem};
use dumptool::analysis::verdict::{Surveyed, SuspectKind, Verdict};
use dumptool::analysis::waste::Waste;
use dumptool::analysis::{diff, live};
use dumptool::input::{self, Format};
use dumptool::model::heap::{FieldValue, Heap, ObjectId, TypeKind};
use std::ops::ControlFlow;

/// Ids that nobody prints. None may be more than not found.
const ODD_IDS: [&str; 10] = [
    "",
    "#",
    "0x",
    "#-1",
    "0x-1",
    "#18446744073709551615",
    "0xffffffffffffffff",
    "#99999999999999999999",
    "12",
    "0x0#0",
];

/// The model's invariants hold, and ids, sizes and references fit together.
pub(crate) fn model(heap: &Heap<'_>) {
    heap.check().expect("the model's invariants hold");
    let graph = Graph::of(heap);
    let (alive, dominators) = (live::live(&graph), Dominators::of(&graph));
    let tree = DominatorTree::of_graph(heap, &graph);
    let referrers = Referrers::of(heap.references());
    assert_eq!(alive.len(), dominators.len());
    let mut backwards = 0;
    let collections = Collections::of(heap);
    for object in heap.objects() {
        contents(heap, &collections, object);
        assert_eq!(alive.contains(object), dominators.is_live(object));
        assert!(!dominators.is_live(object) || tree.retained(object) >= own_bytes(heap, object));
        assert_eq!(
            heap.find(&heap.id(object)),
            Some(object),
            "{} finds its object",
            heap.id(object)
        );
        backwards += referrers.of_object(object).len();
    }
    assert_eq!(backwards, heap.references().len());
    for id in ODD_IDS {
        assert!(heap.find(id).is_none_or(|object| object.index() < heap.len()));
    }
}

/// Entries of a collection that are looked at: several collections may share their nodes.
const ENTRIES: u64 = 1000;

/// Fields, elements and entries lead to objects of the heap.
fn contents(heap: &Heap<'_>, collections: &Collections<'_, '_>, object: ObjectId) {
    let _ = (heap.value(object), collections.size(object), collections.count(object, ENTRIES));
    let exists = |value: FieldValue<'_>| {
        assert!(value.object().is_none_or(|target| target.index() < heap.len()));
        ControlFlow::Continue(())
    };
    heap.each_field(object, |field| exists(field.value));
    heap.elements(object, 0, |_, value| exists(value));
    if let Some(storage) = collections.storage(object) {
        assert!(
            storage.used <= storage.capacity && storage.spare <= storage.capacity,
            "{storage:?}"
        );
    }
}

/// Findings are parts of the live heap that share no byte, or of what leaked.
fn verdict(measured: Surveyed<'_, '_>) {
    let Surveyed { heap, tree, .. } = measured;
    let verdict = Verdict::of(measured, &Collections::of(heap));
    for found in verdict.suspects.iter().chain(&verdict.usual) {
        let leaked = found.kind == SuspectKind::Leaked;
        assert_eq!(tree.is_live(found.example), !leaked, "{found:?}");
    }
    for (leaked, all) in [(false, tree.live_bytes()), (true, verdict.leaked_bytes)] {
        let suspects = verdict.suspects.iter();
        let of = suspects.filter(|found| (found.kind == SuspectKind::Leaked) == leaked);
        let sum = of.map(|found| u128::from(found.bytes)).sum::<u128>();
        assert!(sum <= u128::from(all), "{verdict:?} is a part of the heap");
    }
}

/// Every analysis agrees with the heap, and with the others.
pub(crate) fn analyses(format: Format, bytes: &[u8], heap: &Heap<'_>) {
    let graph = Graph::of(heap);
    let tree = DominatorTree::of_graph(heap, &graph);
    let roots = RootGroups::of(heap, &graph);
    histograms(heap, &tree, &roots);
    trees(heap, &tree, &roots);
    paths(heap, &graph, &tree);
    verdict(Surveyed { heap, graph: &graph, tree: &tree });
    for part in Waste::of(heap, &tree).parts {
        assert!(part.rows.iter().all(|row| tree.is_live(row.example)), "{part:?} is alive");
        assert!(
            part.owners.iter().map(|owner| u128::from(owner.bytes)).sum::<u128>()
                <= u128::from(part.bytes),
            "{part:?}"
        );
    }
    if let Ok(Some(hashes)) = input::identity_hashes(format, bytes) {
        let hashed = Identified { heap, hashes: Some(&hashes) };
        assert!(
            fates(hashed, hashed).iter().all(|fate| fate.new.is_empty() && fate.gone.is_empty()),
            "nothing changes by itself"
        );
    }
}

fn histograms(heap: &Heap<'_>, tree: &DominatorTree, roots: &RootGroups) {
    for by in [GroupBy::Type, GroupBy::Namespace, GroupBy::SizeClass] {
        let [all, live, dead] = [Scope::All, Scope::Live, Scope::Unreachable]
            .map(|scope| Histogram::of(heap, Some(tree), by, scope));
        if heap.roots().is_empty() {
            // Nothing can be called alive or dead, so that all objects count, whichever are asked
            // for.
            assert!(
                [&live, &dead].iter().all(|of| of.total == all.total && of.unreachable.is_none())
            );
            continue;
        }
        assert_eq!(all.total.count, live.total.count + dead.total.count);
        assert_eq!(dead.unreachable, Some(dead.total));
        assert_eq!(
            Histogram::of(heap, None, by, Scope::Live).total,
            all.total,
            "without roots all objects count"
        );
        // What represents roots has a size in V8, and can be held by an object of a damaged heap.
        let roots = heap.objects().filter(|object| heap.type_of(*object).kind == TypeKind::Root);
        let whole =
            roots.fold(tree.live_bytes(), |sum, root| sum.saturating_add(heap.shallow_bytes(root)));
        for row in &live.rows {
            let retained = row.retained_bytes.expect("there are roots");
            assert!(retained <= whole, "{row:?} is a part of the heap");
        }
        assert!(diff::changes(&all, &all).is_empty(), "nothing changes by itself");
    }
    let _ = Histogram::by_root(heap, tree, roots);
}

fn trees(heap: &Heap<'_>, tree: &DominatorTree, roots: &RootGroups) {
    for (merge_types, min_share, depth, lines) in
        [(false, 0.01, 8, 40), (true, 0.0, u32::MAX, 1000), (false, 0.0, 1, 1)]
    {
        let lines = tree::lines(
            heap,
            tree,
            roots,
            tree::TreeOptions { min_share, depth, lines, merge_types },
        );
        assert_eq!(lines[0].what, TreeItem::Heap);
        let mut before = 0;
        for line in &lines[1..] {
            assert!((1..=before + 1).contains(&line.depth), "{line:?} stands below a line");
            assert!(line.total_bytes <= lines[0].total_bytes, "{line:?} is a part of the heap");
            before = line.depth;
        }
    }
}

fn paths(heap: &Heap<'_>, graph: &Graph<'_>, tree: &DominatorTree) {
    let shortest = Shortest::of(heap, graph);
    for object in heap.objects() {
        assert_eq!(shortest.by(object).is_some(), tree.is_live(object), "what is alive has a path");
    }
    let some = || heap.objects().step_by(heap.len() / 8 + 1);
    for object in some() {
        let path = shortest.path(object);
        assert_eq!(path.is_some(), tree.is_live(object));
        assert!(
            path.is_none_or(|path| path.object() == Some(object)),
            "a path leads to its object"
        );
    }
    for object in some().take(2) {
        let found = several(heap, graph, object, 4);
        assert!(found.len() <= 4 && found.iter().all(|path| path.object() == Some(object)));
        assert_eq!(found.is_empty(), !tree.is_live(object));
    }
    let all = merged(&shortest, heap.objects(), u64::MAX).expect("nothing limits the kinds");
    assert_eq!(all.rows.iter().map(|merged| merged.count).sum::<u64>(), tree.len() as u64);
}

/// Bytes of an object in the managed heap and outside of it.
fn own_bytes(heap: &Heap<'_>, object: ObjectId) -> u64 {
    heap.shallow_bytes(object).saturating_add(heap.external_bytes(object))
}
