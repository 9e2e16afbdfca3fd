//! All objects of some types taken together: their sums, and the memory that only they keep alive.

use super::dominator_tree::DominatorTree;
use super::graph::Graph;
use super::live::reach;
use super::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeKind};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

/// Some live objects, taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// Object count and bytes.
    pub sum: Sum,
    /// Bytes that would be freed if all of the objects were gone: those of live objects that the
    /// roots reach only through one of them, including the objects themselves. Objects that two of
    /// them share count once, so this is never more than the live heap. `None` if the heap has no
    /// roots.
    pub retained_bytes: Option<u64>,
    /// The share of each type name, in no particular order.
    pub parts: Vec<Part>,
}

/// The part of one type in a [`Together`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the type.
    pub name: String,
    /// Object count and bytes.
    pub sum: Sum,
    /// Retained bytes of its objects that no other of the selected objects dominates. The parts add
    /// up to the total retained bytes, minus the bytes that only several of the objects together
    /// keep alive.
    pub retained_bytes: u64,
}

impl Part {
    /// Creates a part without objects.
    pub fn none(name: &str) -> Self {
        Self { name: name.to_owned(), sum: Sum::default(), retained_bytes: 0 }
    }
}

impl Together {
    /// Adds up the live objects of the types for which `wanted` is `true`, by [`TypeId`].
    ///
    /// See [`Self::of_objects`].
    pub fn of(
        heap: &Heap<'_>,
        held: Option<(&Graph<'_>, &DominatorTree)>,
        wanted: &[bool],
    ) -> Self {
        let is_wanted = |object| is_wanted(heap, object, wanted);
        Self::of_objects(heap, held, is_wanted, is_wanted)
    }

    /// Adds up the live objects for which `wanted` is `true`, and the bytes that those for which
    /// `retains` is `true` retain. Without a graph, all objects count and nothing is retained. Rows
    /// that only represent roots do not count, and synthetic objects retain nothing.
    pub fn of_objects(
        heap: &Heap<'_>,
        held: Option<(&Graph<'_>, &DominatorTree)>,
        wanted: impl Fn(ObjectId) -> bool,
        retains: impl Fn(ObjectId) -> bool,
    ) -> Self {
        let is_live = |object| held.is_none_or(|(_, tree)| tree.is_live(object));
        let mut parts = Parts::of(heap);
        parts.count(heap, |object| wanted(object) && is_live(object));
        let retained_bytes = held.map(|(graph, tree)| {
            let is_removed = |object: ObjectId| retains(object) && !heap.is_made_up(object);
            add_retained(heap, tree, &is_removed, &mut parts);
            retained(heap, graph, tree, &is_removed)
        });
        parts.finish(retained_bytes)
    }

    /// Like [`Self::of`], but without retained bytes, for which no dominator tree is needed.
    pub fn counted(heap: &Heap<'_>, is_live: impl Fn(ObjectId) -> bool, wanted: &[bool]) -> Self {
        let mut parts = Parts::of(heap);
        parts.count(heap, |object| is_wanted(heap, object, wanted) && is_live(object));
        parts.finish(None)
    }
}

fn is_wanted(heap: &Heap<'_>, object: ObjectId, wanted: &[bool]) -> bool {
    wanted.get(heap.type_id(object).0 as usize).copied().unwrap_or(false)
}

/// Bytes of the live objects that the roots no longer reach if the removed objects are gone.
fn retained(
    heap: &Heap<'_>,
    graph: &Graph<'_>,
    tree: &DominatorTree,
    is_removed: &impl Fn(ObjectId) -> bool,
) -> u64 {
    let mut removed = ObjectSet::none(heap.len());
    let objects = heap.objects().filter(|object| is_removed(*object));
    objects.for_each(|object| _ = removed.insert(object));
    let mut gone_or_reached = removed.clone();
    reach(graph, graph.starts().iter().map(|start| start.0), &mut gone_or_reached);
    let is_freed = |object: &ObjectId| {
        tree.is_live(*object) && (removed.contains(*object) || !gone_or_reached.contains(*object))
    };
    let shallow = heap
        .objects()
        .filter(is_freed)
        .fold(0_u64, |sum, object| sum.saturating_add(heap.shallow_bytes(object)));
    let external = heap.externals().iter().filter(|(object, _)| is_freed(object));
    external.fold(shallow, |sum, (_, bytes)| sum.saturating_add(*bytes))
}

/// Adds to each part the retained bytes of its topmost objects.
fn add_retained(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    is_removed: &impl Fn(ObjectId) -> bool,
    parts: &mut Parts,
) {
    let dominators = &tree.dominators;
    let mut number = 1;
    while number <= dominators.len() as u32 {
        number = match dominators.object(number).filter(|object| is_removed(*object)) {
            Some(object) => {
                let part = parts.at(heap.type_id(object));
                part.retained_bytes =
                    part.retained_bytes.saturating_add(tree.retained.of_number(number));
                dominators.end(number)
            }
            None => number + 1,
        };
    }
}

/// A part for each type name.
struct Parts {
    parts: Vec<Part>,
    of_type: Vec<u32>,
    /// Types that only represent roots.
    roots: Vec<bool>,
}

impl Parts {
    fn of(heap: &Heap<'_>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut known = FxHashMap::default();
        let of_type = heap.types().iter().map(|type_row| {
            *known.entry((type_row.name, type_row.kind == TypeKind::Root)).or_insert_with(|| {
                parts.push(Part {
                    name: heap.names().text(type_row.name).to_owned(),
                    sum: Sum::default(),
                    retained_bytes: 0,
                });
                parts.len() as u32 - 1
            })
        });
        let of_type = of_type.collect();
        let mut roots = vec![false; parts.len()];
        known.iter().for_each(|((_, is_root), part)| roots[*part as usize] = *is_root);
        Self { parts, of_type, roots }
    }

    fn at(&mut self, type_id: TypeId) -> &mut Part {
        &mut self.parts[self.of_type[type_id.0 as usize] as usize]
    }

    /// Adds the objects that count.
    fn count(&mut self, heap: &Heap<'_>, counts: impl Fn(ObjectId) -> bool) {
        for object in heap.objects().filter(|object| counts(*object)) {
            self.at(heap.type_id(object)).sum.add(heap.shallow_bytes(object), 0);
        }
        for &(object, bytes) in heap.externals().iter().filter(|(object, _)| counts(*object)) {
            let sum = &mut self.at(heap.type_id(object)).sum;
            sum.external_bytes = sum.external_bytes.saturating_add(bytes);
        }
    }

    fn finish(self, retained_bytes: Option<u64>) -> Together {
        let counted = self
            .parts
            .into_iter()
            .zip(self.roots)
            .filter(|(part, is_root)| part.sum.count > 0 && !is_root);
        let parts: Vec<Part> = counted.map(|(part, _)| part).collect();
        let mut sum = Sum::default();
        parts.iter().for_each(|part| sum.add_sum(&part.sum));
        Together { sum, retained_bytes, parts }
    }
}
