//! The dominator tree of the objects that are not owned, for counting.

use super::dominator_tree::{OwnedTops, Tree};
use super::dominators::{Core, SearchLimits};
use super::graph::Graph;
use super::object_set::ObjectSet;
use super::owned::Owned;
use super::prefetch::{AHEAD, prefetch};
use super::preorder::Preorder;
use crate::model::heap::{Heap, ObjectId, TypeId};
use crate::parallel::{self, PART};
use crate::phases;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Like [`DominatorTree`](super::DominatorTree), but without numbers for owned objects: objects
/// with a single reference to them that refer to few other objects or none. Most objects of a
/// program are owned. They are found again through the references.
///
/// 24 bytes for each live object that has a number, and two bits for each object of the heap.
pub struct CoreTree<'g, 'h, 'a> {
    heap: &'g Heap<'a>,
    graph: &'g Graph<'h>,
    owned: Owned,
    /// The objects with external bytes. `None` if there are none.
    external: Option<ObjectSet>,
    live: ObjectSet,
    /// By number. 0 is the set of roots.
    nodes: Vec<Node>,
    preorder: Preorder,
}

/// A live object that is not owned. Its columns lie side by side, because the order of numbers is
/// not that of objects. They are atomic because several threads write, each nodes of its own.
#[derive(Default)]
struct Node {
    retained: AtomicU64,
    object: AtomicU32,
    type_id: AtomicU32,
}

impl Node {
    #[inline]
    fn retained(&self) -> u64 {
        self.retained.load(Relaxed)
    }

    #[inline]
    fn object(&self) -> ObjectId {
        ObjectId(self.object.load(Relaxed))
    }

    #[inline]
    fn type_id(&self) -> TypeId {
        TypeId(self.type_id.load(Relaxed))
    }
}

/// Parts of the objects that are processed in parallel. Each may take a bit for each object of the
/// heap.
const PARTS: usize = 4;

/// Stands for a weight that does not fit in 4 bytes. It is added up again where it is needed.
const HEAVY: u32 = u32::MAX;

impl<'g, 'h, 'a> CoreTree<'g, 'h, 'a> {
    /// Computes the tree. Without roots no object is live, and the tree is empty.
    pub fn of(heap: &'g Heap<'a>, graph: &'g Graph<'h>) -> Self {
        Self::with_limits(heap, graph, SearchLimits::default())
    }

    /// Like [`CoreTree::of`], with limits, for tests.
    #[doc(hidden)]
    pub fn with_limits(heap: &'g Heap<'a>, graph: &'g Graph<'h>, limits: SearchLimits) -> Self {
        let external = ObjectSet::with_external(heap);
        // Where most objects are owned, this takes long, and the result little memory.
        let weights = |owned: &Owned| {
            let owning = Owning { heap, graph, owned, external: external.as_ref() };
            (owned.len() > graph.len() / 2).then(|| owning.weights())
        };
        let (core, owned, weights) = Core::of(graph, limits, weights);
        let Core { numbers, dominator } = core;
        let owning = Owning { heap, graph, owned: &owned, external: external.as_ref() };
        let (mut nodes, live) = owning.nodes(numbers, weights, dominator.len());
        let (preorder, ()) = parallel::join(
            || Preorder::of(&dominator),
            || add_up_dominated(&mut nodes, &dominator),
        );
        Self { heap, graph, owned, external, live, nodes, preorder }
    }

    fn owning(&self) -> Owning<'_, 'h, 'a> {
        let Self { heap, graph, owned, external, .. } = self;
        Owning { heap, graph, owned, external: external.as_ref() }
    }

    #[inline]
    fn node(&self, position: u32) -> &Node {
        &self.nodes[self.preorder.number(position) as usize]
    }
}

impl Tree for CoreTree<'_, '_, '_> {
    #[inline]
    fn is_live(&self, object: ObjectId) -> bool {
        self.live.contains(object)
    }

    fn positions(&self) -> u32 {
        self.preorder.len() as u32
    }

    #[inline]
    fn object_at(&self, position: u32) -> Option<ObjectId> {
        (position != 0).then(|| self.node(position).object())
    }

    #[inline]
    fn type_at(&self, _: &Heap<'_>, position: u32) -> TypeId {
        self.node(position).type_id()
    }

    #[inline]
    fn prefetch(&self, _: &Heap<'_>, position: u32) {
        prefetch(&self.nodes, self.preorder.number(position) as usize);
    }

    #[inline]
    fn end(&self, position: u32) -> u32 {
        self.preorder.end(position)
    }

    #[inline]
    fn retained_at(&self, position: u32) -> u64 {
        self.node(position).retained()
    }

    fn for_each_owned(&self, object: ObjectId, each: &mut dyn FnMut(ObjectId, u64)) {
        let owning = self.owning();
        let owned = owning.owned.of_object(owning.graph, object);
        owned.for_each(|object| each(object, owning.bytes(object)));
    }

    fn owned_tops(
        &self,
        group: impl Fn(ObjectId) -> Option<usize> + Sync,
        deep: impl FnOnce() -> Vec<bool>,
    ) -> Option<OwnedTops> {
        let (owning, deep) = (&self.owning(), deep());
        let tops = || {
            let late = ObjectSet::none(owning.heap.len());
            Tops { owning, group: &group, deep: &deep, retained: vec![0; deep.len()], late }
        };
        // At most as many as there are threads, because each takes a bit for each object of the heap.
        let idle = Mutex::new(Vec::new());
        parallel::for_each((0..owning.heap.len()).step_by(PART), |start| {
            let mut tops = parallel::lock(&idle).pop().unwrap_or_else(tops);
            let objects = start..(start + PART).min(owning.heap.len());
            for object in owning.owned.others(objects) {
                if self.live.contains(object) {
                    tops.add(object);
                }
            }
            parallel::lock(&idle).push(tops);
        });
        let all = std::mem::take(&mut *parallel::lock(&idle)).into_iter();
        let Tops { retained, late, .. } = all.reduce(Tops::and).unwrap_or_else(tops);
        Some(OwnedTops { retained, late, deep })
    }
}

/// Adds what each node retains to its dominator.
fn add_up_dominated(nodes: &mut [Node], dominator: &[u32]) {
    let _phase = phases::begin("adding up dominated objects");
    for number in (1..nodes.len()).rev() {
        let held = nodes[number].retained();
        let above = nodes[dominator[number] as usize].retained.get_mut();
        *above = above.saturating_add(held);
    }
}

/// Adds up owned objects that no other one of their group dominates.
struct Tops<'t, 'g, 'h, 'a, G> {
    owning: &'t Owning<'g, 'h, 'a>,
    group: &'t G,
    deep: &'t [bool],
    /// See [`OwnedTops`].
    retained: Vec<u64>,
    late: ObjectSet,
}

/// The group of an object, and those of the objects that own it.
struct Above<'u> {
    group: Option<usize>,
    up: Option<&'u Above<'u>>,
}

impl Above<'_> {
    fn has(&self, group: usize) -> bool {
        self.group == Some(group) || self.up.is_some_and(|up| up.has(group))
    }
}

impl<G: Fn(ObjectId) -> Option<usize>> Tops<'_, '_, '_, '_, G> {
    /// Adds up the results of two parts of a heap.
    fn and(mut self, other: Self) -> Self {
        for (retained, other) in self.retained.iter_mut().zip(other.retained) {
            *retained = retained.saturating_add(other);
        }
        Self { late: self.late.or(other.late), ..self }
    }

    fn add(&mut self, object: ObjectId) {
        let mut is_late = false;
        self.add_owned(object, None, &mut is_late);
        if is_late {
            self.late.insert(object);
        }
    }

    /// Adds the objects that an object owns, and returns their bytes. The function calls itself for
    /// each level of owned objects, of which there are at most three.
    fn add_owned(&mut self, owner: ObjectId, up: Option<&Above<'_>>, is_late: &mut bool) -> u64 {
        let Self { owning, group, .. } = *self;
        let mut above = None;
        let mut all = 0_u64;
        for object in owning.owned.of_object(owning.graph, owner) {
            let above = above.get_or_insert_with(|| Above { group: group(owner), up });
            let bytes =
                owning.bytes(object).saturating_add(self.add_owned(object, Some(above), is_late));
            all = all.saturating_add(bytes);
            match group(object) {
                Some(group) if self.deep[group] => *is_late = true,
                Some(group) if !above.has(group) => {
                    let retained = &mut self.retained[group];
                    *retained = retained.saturating_add(bytes);
                }
                _ => {}
            }
        }
        all
    }
}

/// A range of objects.
struct Part {
    objects: Range<usize>,
    /// The range of the part's objects that are not owned, among all such objects.
    places: Range<usize>,
}

/// Finds the objects that an object owns, and their bytes.
struct Owning<'g, 'h, 'a> {
    heap: &'g Heap<'a>,
    graph: &'g Graph<'h>,
    owned: &'g Owned,
    /// See [`CoreTree`].
    external: Option<&'g ObjectSet>,
}

impl Owning<'_, '_, '_> {
    /// The shallow and external bytes of an object.
    #[inline(always)]
    fn bytes(&self, object: ObjectId) -> u64 {
        match self.external {
            Some(external) if external.contains(object) => self.heap.own_bytes(object),
            _ => self.heap.shallow_bytes(object),
        }
    }

    /// Divides all objects into parts to process in parallel.
    fn parts(&self) -> Vec<Part> {
        let all = self.heap.len();
        let parts = rayon::current_num_threads().clamp(1, PARTS);
        let length = all.div_ceil(parts).next_multiple_of(64).max(64);
        let mut place = 0;
        let part = |start: usize| {
            let objects = start..(start + length).min(all);
            let first = place;
            place += self.owned.others(objects.clone()).count();
            Part { objects, places: first..place }
        };
        (0..all).step_by(length).map(part).collect()
    }

    /// Returns the bytes of each object that is not owned, live or not, together with all objects
    /// that it owns, in the order of objects. [`HEAVY`] stands for this many bytes or more.
    fn weights(&self) -> Vec<u32> {
        let _phase = phases::begin("adding up owned objects");
        let parts = self.parts();
        let mut weights = vec![0; parts.last().map_or(0, |last| last.places.end)];
        let mut rest = weights.as_mut_slice();
        let column = |part: Part| (rest.split_off_mut(..part.places.len()), part.objects);
        parallel::for_each(parts.into_iter().map(column), |(weights, objects)| {
            for (object, weight) in self.owned.others(objects).zip(weights.unwrap_or_default()) {
                *weight = u32::try_from(self.weigh(object)).unwrap_or(HEAVY);
            }
        });
        weights
    }

    /// Returns the bytes of an object and all objects that it owns. The function calls itself for
    /// each level of owned objects, of which there are at most three.
    fn weigh(&self, object: ObjectId) -> u64 {
        let owned = self.owned.of_object(self.graph, object);
        owned.fold(self.bytes(object), |bytes, owned| bytes.saturating_add(self.weigh(owned)))
    }

    /// Returns the objects that have a number, by number, each with its own bytes and those of the
    /// objects that it owns, and the live objects.
    fn nodes(
        &self,
        numbers: Vec<u32>,
        weights: Option<Vec<u32>>,
        count: usize,
    ) -> (Vec<Node>, ObjectSet) {
        let _phase = phases::begin("writing nodes");
        // The kernel clears new memory when it is first written, here with all threads.
        let nodes = (0..count).into_par_iter().map(|_| Node::default());
        let nodes: Vec<Node> = nodes.collect();
        let of_part = |Part { objects, places }| {
            let weights = weights.as_ref().map(|weights| &weights[places.clone()]);
            self.fill(&nodes, objects, &numbers[places], weights)
        };
        let dead = parallel::map(self.parts(), of_part).into_iter().reduce(ObjectSet::or);
        let dead = dead.unwrap_or_else(|| ObjectSet::none(self.heap.len()));
        let live = ObjectSet { bits: dead.other_words(0..self.heap.len()).collect() };
        (nodes, live)
    }

    /// Writes the nodes of a part of the objects, and returns those of them that are dead.
    fn fill(
        &self,
        nodes: &[Node],
        objects: Range<usize>,
        numbers: &[u32],
        weights: Option<&[u32]>,
    ) -> ObjectSet {
        let mut dead = ObjectSet::none(self.heap.len());
        for (row, (object, number)) in self.owned.others(objects).zip(numbers).enumerate() {
            if let Some(soon) = numbers.get(row + AHEAD) {
                prefetch(nodes, *soon as usize);
            }
            if *number == 0 {
                self.add_with_owned(object, &mut dead);
                continue;
            }
            let node = &nodes[*number as usize];
            let bytes = match weights.map(|weights| weights[row]) {
                Some(weight) if weight != HEAVY => weight.into(),
                _ => self.weigh(object),
            };
            node.retained.store(bytes, Relaxed);
            node.object.store(object.0, Relaxed);
            node.type_id.store(self.heap.type_id(object).0, Relaxed);
        }
        dead
    }

    /// Adds an object and all objects that it owns to a set. The function calls itself for each level
    /// of owned objects, of which there are at most three.
    fn add_with_owned(&self, object: ObjectId, to: &mut ObjectSet) {
        to.insert(object);
        self.owned.of_object(self.graph, object).for_each(|owned| self.add_with_owned(owned, to));
    }
}
