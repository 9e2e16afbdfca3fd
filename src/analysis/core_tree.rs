//! The dominator tree of the objects that are not owned, for counting.

use super::dominator_tree::{OwnedTops, Tree};
use super::dominators::Core;
use super::graph::Graph;
use super::object_set::ObjectSet;
use super::owned::Owned;
use super::prefetch::prefetch;
use super::preorder::Preorder;
use crate::model::heap::{Heap, ObjectId, TypeId};
use rayon::prelude::*;
use std::ops::Range;

/// As [`DominatorTree`](super::DominatorTree), but without numbers for owned objects: objects with
/// a single reference to them that refer to few other objects or none. Most objects of a program
/// are owned. They are found again through the references.
///
/// 24 bytes for each live object that has a number, and two bits for each object of the heap.
pub struct CoreTree<'g, 'h, 'a> {
    owning: Owning<'g, 'h, 'a>,
    live: ObjectSet,
    /// By number. 0 is the set of roots.
    nodes: Vec<Node>,
    preorder: Preorder,
}

/// A live object that is not owned. Its columns lie side by side, because the order of numbers is
/// not that of objects.
#[derive(Clone, Copy)]
struct Node {
    retained: u64,
    object: ObjectId,
    type_id: TypeId,
}

/// Parts of the objects that are looked at side by side. Each takes a bit for each object of the
/// heap.
const PARTS: usize = 4;

impl<'g, 'h, 'a> CoreTree<'g, 'h, 'a> {
    /// Computes the tree. Without roots no object is live, and the tree is empty.
    pub fn of(heap: &'g Heap<'a>, graph: &'g Graph<'h>) -> Self {
        let Core { numbers, dominator, owned } = Core::of(graph);
        let external = (!heap.external.is_empty()).then(|| {
            let mut external = ObjectSet::none(heap.len());
            heap.external.iter().for_each(|(object, _)| _ = external.insert(*object));
            external
        });
        let owning = Owning { heap, graph, owned, external };
        let (preorder, (nodes, live)) =
            rayon::join(|| Preorder::of(&dominator), || owning.nodes(numbers, &dominator));
        Self { owning, live, nodes, preorder }
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
        (position != 0).then(|| self.node(position).object)
    }

    #[inline]
    fn type_at(&self, _: &Heap<'_>, position: u32) -> TypeId {
        self.node(position).type_id
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
        self.node(position).retained
    }

    fn for_each_owned(&self, object: ObjectId, each: &mut dyn FnMut(ObjectId, u64)) {
        let owning = &self.owning;
        let owned = owning.owned.of_object(owning.graph, object);
        owned.for_each(|object| each(object, owning.bytes(object)));
    }

    fn owned_tops(
        &self,
        group: impl Fn(ObjectId) -> Option<usize> + Sync,
        deep: &[bool],
    ) -> Option<OwnedTops> {
        let owning = &self.owning;
        let of_part = |objects: Range<usize>| {
            let retained = vec![0; deep.len()];
            let late = ObjectSet::none(owning.heap.len());
            let mut tops =
                Tops { owning, group: &group, deep, found: OwnedTops { retained, late } };
            for object in owning.owned.others(objects) {
                if self.live.contains(object) {
                    tops.add(object);
                }
            }
            tops.found
        };
        owning.parts().into_par_iter().map(of_part).reduce_with(OwnedTops::and)
    }
}

/// Adds up owned objects that no other one of their group dominates.
struct Tops<'t, 'g, 'h, 'a, G> {
    owning: &'t Owning<'g, 'h, 'a>,
    group: &'t G,
    deep: &'t [bool],
    found: OwnedTops,
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
    fn add(&mut self, object: ObjectId) {
        let mut is_late = false;
        self.add_owned(object, None, &mut is_late);
        if is_late {
            self.found.late.insert(object);
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
                    let retained = &mut self.found.retained[group];
                    *retained = retained.saturating_add(bytes);
                }
                _ => {}
            }
        }
        all
    }
}

/// Finds the objects that an object owns, and their bytes.
struct Owning<'g, 'h, 'a> {
    heap: &'g Heap<'a>,
    graph: &'g Graph<'h>,
    owned: Owned,
    /// The objects with external bytes. `None` if there are none.
    external: Option<ObjectSet>,
}

impl Owning<'_, '_, '_> {
    /// The shallow and external bytes of an object.
    #[inline]
    fn bytes(&self, object: ObjectId) -> u64 {
        let shallow = self.heap.shallow.get(object.index());
        match &self.external {
            Some(external) if external.contains(object) => {
                shallow.saturating_add(self.heap.external_bytes(object))
            }
            _ => shallow,
        }
    }

    /// Ranges of all objects, to be looked at side by side.
    fn parts(&self) -> Vec<Range<usize>> {
        let objects = self.heap.len();
        let parts = rayon::current_num_threads().clamp(1, PARTS);
        let length = objects.div_ceil(parts).next_multiple_of(64).max(64);
        (0..objects).step_by(length).map(|start| start..(start + length).min(objects)).collect()
    }

    /// Returns the objects that have a number, by number, and the live objects.
    fn nodes(&self, numbers: Vec<u32>, dominator: &[u32]) -> (Vec<Node>, ObjectSet) {
        let (bytes, live) = self.weigh_all(&numbers);
        let none = Node { retained: 0, object: ObjectId(0), type_id: TypeId(0) };
        let mut nodes = vec![none; dominator.len()];
        let objects = self.owned.others(0..self.heap.len());
        for ((object, number), retained) in objects.zip(numbers).zip(bytes) {
            if number != 0 {
                let type_id = self.heap.type_id(object);
                nodes[number as usize] = Node { retained, object, type_id };
            }
        }
        for number in (1..nodes.len()).rev() {
            let held = nodes[number].retained;
            let above = &mut nodes[dominator[number] as usize].retained;
            *above = above.saturating_add(held);
        }
        (nodes, live)
    }

    /// Returns the bytes of each object that is not owned, with all objects that it owns, in the
    /// order of objects, and the live objects.
    fn weigh_all(&self, numbers: &[u32]) -> (Vec<u64>, ObjectSet) {
        let mut bytes = vec![0; numbers.len()];
        let (mut numbers, mut rest) = (numbers, bytes.as_mut_slice());
        let mut parts = Vec::new();
        for objects in self.parts() {
            let count = self.owned.others(objects.clone()).count();
            let bytes = rest.split_off_mut(..count).unwrap_or_default();
            parts.push((objects, numbers.split_off(..count).unwrap_or_default(), bytes));
        }
        let of_part = |(objects, numbers, bytes): (Range<usize>, &[u32], &mut [u64])| {
            let mut live = ObjectSet::none(self.heap.len());
            let objects = self.owned.others(objects).zip(numbers).zip(bytes);
            for ((object, _), bytes) in objects.filter(|((_, number), _)| **number != 0) {
                *bytes = self.weigh(object, &mut live);
            }
            live
        };
        let live = parts.into_par_iter().map(of_part).reduce_with(ObjectSet::or);
        (bytes, live.unwrap_or_else(|| ObjectSet::none(self.heap.len())))
    }

    /// Returns the bytes of an object and all objects that it owns, and marks them as live. The
    /// function calls itself for each level of owned objects, of which there are at most three.
    fn weigh(&self, object: ObjectId, live: &mut ObjectSet) -> u64 {
        live.insert(object);
        let owned = self.owned.of_object(self.graph, object);
        owned.fold(self.bytes(object), |bytes, owned| bytes.saturating_add(self.weigh(owned, live)))
    }
}
