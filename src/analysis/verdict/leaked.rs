//! Leaks in runtimes that count references: objects that refer to each other in a cycle, and
//! objects whose reference count nothing in the dump accounts for.
//!
//! They are analyzed as a heap of their own, whose roots are one object of each cycle and the
//! objects that nothing refers to.

use super::scene::Scene;
use super::{MOST_FINDINGS, Surveyed, findings};
use crate::analysis::collections::Collections;
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::ephemerons::Dependent;
use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::referrers::Referrers;
use crate::analysis::unreachable::reach;
use crate::analysis::verdict::finding::{Holder, Suspect, SuspectKind};
use crate::model::heap::{Heap, ObjectId, Offsets, References, TypeKind};
use crate::parallel::on_demand::OnDemand;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Finds the owners of at least this many bytes that no root reaches, and the total bytes of the
/// objects that no root reaches.
pub(super) fn leaked(
    survey: Surveyed<'_, '_>,
    collections: &Collections<'_, '_>,
    kind: SuspectKind,
    least: u64,
) -> (Vec<Suspect>, u64) {
    let heap = survey.heap;
    let references = unreached_references(heap, survey.tree);
    let starts = starts(heap, survey.tree, &references);
    let (references, once) = (&references, OnDemand::default());
    let graph = Graph { references, starts, dependent: Dependent::default(), once };
    let tree = DominatorTree::of_graph(heap, &graph);
    let scene = Scene::new(Surveyed { heap, graph: &graph, tree: &tree }, collections);
    let found = findings(&scene, collections, least, MOST_FINDINGS).into_iter();
    let found = found.map(|(_, finding)| Suspect {
        kind,
        holders: holder(&tree, finding.example).into_iter().collect(),
        is_runtime: false,
        ..finding
    });
    (found.filter(|finding| finding.bytes >= least).collect(), tree.live_bytes())
}

/// The object that represents the cycle that holds an object.
fn holder(tree: &DominatorTree, object: ObjectId) -> Option<Holder> {
    let top = std::iter::successors(tree.dominator(object), |above| tree.dominator(*above)).last();
    top.map(|top| Holder { label: String::new(), object: Some(top), noun: "", entries: None })
}

/// The strong references between objects that no root reaches.
fn unreached_references(heap: &Heap<'_>, tree: &DominatorTree) -> References {
    let mut first = Offsets::with_capacity(heap.len() + 1, heap.references.len() as u64);
    let mut target = Vec::new();
    first.push(0);
    for object in heap.objects() {
        if !tree.is_live(object) {
            let all = heap.references.strong_targets(object);
            target.extend(all.filter(|target| !tree.is_live(*target)));
        }
        first.push(target.len() as u64);
    }
    References { first, target, label: Vec::new(), weak: Vec::new() }
}

/// The objects from which all others that no root reaches can be reached: those without referrers,
/// and one of each cycle.
fn starts(heap: &Heap<'_>, tree: &DominatorTree, references: &References) -> Vec<ObjectId> {
    let referrers = Referrers::of(references);
    let mut reached = ObjectSet::none(heap.len());
    let mut starts = Vec::new();
    let mut pending = Vec::new();
    for in_cycles in [false, true] {
        for object in heap.objects().filter(|object| !tree.is_live(*object)) {
            let is_held = referrers.of_object(object).any(|from| from != object);
            if is_held != in_cycles || reached.contains(object) {
                continue;
            }
            let start = if is_held { head(heap, &referrers, object) } else { object };
            reached.insert(start);
            starts.push(start);
            pending.push(start);
            reach(&mut reached, &mut pending, |object| references.strong_targets(object));
        }
    }
    starts
}

/// The object that represents the cycle from which an object is reached: preferably an instance of
/// a class, then the largest object.
fn head(heap: &Heap<'_>, referrers: &Referrers, object: ObjectId) -> ObjectId {
    let mut way = Vec::new();
    let mut seen: FxHashMap<ObjectId, usize> = FxHashMap::default();
    let mut at = object;
    // Every object on the path is reached from the cycle, so none is passed a second time.
    while !seen.contains_key(&at) {
        seen.insert(at, way.len());
        way.push(at);
        let Some(above) = referrers.of_object(at).find(|from| *from != at) else { break };
        at = above;
    }
    let cycle = way.get(seen.get(&at).copied().unwrap_or(0)..).unwrap_or_default();
    let weight = |object: &ObjectId| {
        let type_row = heap.type_of(*object);
        let is_of_class =
            type_row.kind == TypeKind::Instance && !heap.names.text(type_row.namespace).is_empty();
        (is_of_class, heap.shallow_bytes(*object), Reverse(*object))
    };
    cycle.iter().copied().max_by_key(weight).unwrap_or(object)
}
