//! The dominator tree of the objects that are not owned, for counting.

use super::dominator_tree::Tree;
use super::dominators::Core;
use super::graph::Graph;
use super::object_set::ObjectSet;
use super::owned::Owned;
use super::preorder::Preorder;
use super::retained::add_up;
use crate::model::heap::{Heap, ObjectId};
use rayon::prelude::*;

/// As [`DominatorTree`](super::DominatorTree), but without numbers for owned objects: objects with
/// a single reference to them that refer to few other objects or none. Most objects of a program
/// are owned. They are found again through the references.
///
/// 20 bytes for each live object that has a number, and two bits for each object of the heap.
pub struct CoreTree<'g, 'h, 'a> {
    owning: Owning<'g, 'h, 'a>,
    live: ObjectSet,
    /// The object of number n is `order[n - 1]`.
    order: Vec<ObjectId>,
    preorder: Preorder,
    /// By number; 0 are the roots.
    retained: Vec<u64>,
}

/// Parts of the objects that are weighed side by side. Each takes a bit for each object of the heap.
const PARTS: usize = 4;

/// The number of objects ahead for which the places of their references are prefetched.
const AHEAD: usize = 24;

impl<'g, 'h, 'a> CoreTree<'g, 'h, 'a> {
    /// Computes the tree. Without roots no object is live, and the tree is empty.
    pub fn of(heap: &'g Heap<'a>, graph: &'g Graph<'h>) -> Self {
        let Core { order, dominator, owned } = Core::of(graph);
        let external = (!heap.external.is_empty()).then(|| {
            let mut external = ObjectSet::none(heap.len());
            heap.external.iter().for_each(|(object, _)| _ = external.insert(*object));
            external
        });
        let owning = Owning { heap, graph, owned, external };
        let (mut retained, live) = owning.weigh_all(&order);
        add_up(&mut retained, &dominator);
        Self { owning, live, order, preorder: Preorder::of(&dominator), retained }
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
        let number = self.preorder.number(position) as usize;
        self.order.get(number.checked_sub(1)?).copied()
    }

    #[inline]
    fn end(&self, position: u32) -> u32 {
        self.preorder.end(position)
    }

    #[inline]
    fn retained_at(&self, position: u32) -> u64 {
        self.retained[self.preorder.number(position) as usize]
    }

    fn for_each_owned(&self, object: ObjectId, each: &mut dyn FnMut(ObjectId, u64)) {
        let owning = &self.owning;
        let owned = owning.owned.of_object(owning.graph, object);
        owned.for_each(|object| each(object, owning.bytes(object)));
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

    /// Returns the bytes of each object with all objects that it owns, by number, and the live
    /// objects.
    fn weigh_all(&self, order: &[ObjectId]) -> (Vec<u64>, ObjectSet) {
        let parts = rayon::current_num_threads().clamp(1, PARTS);
        let length = order.len().div_ceil(parts).max(1);
        let mut bytes = vec![0; order.len() + 1];
        let parts = bytes[1..].par_chunks_mut(length).zip(order.par_chunks(length));
        let of_part = |(bytes, objects): (&mut [u64], &[ObjectId])| {
            let mut live = ObjectSet::none(self.heap.len());
            for (place, (bytes, object)) in bytes.iter_mut().zip(objects).enumerate() {
                if let Some(soon) = objects.get(place + AHEAD) {
                    self.graph.prefetch(*soon);
                }
                *bytes = self.weigh(*object, &mut live);
            }
            live
        };
        let live = parts.map(of_part).reduce_with(ObjectSet::or);
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
