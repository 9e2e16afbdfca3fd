//! The distance of each object from the roots.

use super::search::{self, Marks, Starts};
use crate::analysis::graph::Graph;
use crate::model::heap::{Heap, ObjectId};

/// The number of references on the shortest path to each object, as [`shortest_path`] finds it. 4
/// bytes for each object.
///
/// [`shortest_path`]: super::shortest_path
pub struct RootDistances(Vec<u32>);

const UNREACHED: u32 = u32::MAX;

impl RootDistances {
    /// Searches the whole graph of the heap.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let mut counting = Counting { heap, distances: vec![UNREACHED; heap.len()] };
        search::search(heap, graph, &Starts::of(heap, graph), &mut counting);
        Self(counting.distances)
    }

    /// The distance of an object: 0 for one that a root holds. `None` if no root reaches it.
    #[inline]
    pub fn of_object(&self, object: ObjectId) -> Option<u32> {
        self.0.get(object.index()).copied().filter(|distance| *distance != UNREACHED)
    }
}

struct Counting<'h, 'a> {
    heap: &'h Heap<'a>,
    distances: Vec<u32>,
}

impl Marks for Counting<'_, '_> {
    #[inline]
    fn is_marked(&self, object: ObjectId) -> bool {
        self.distances[object.index()] != UNREACHED
    }

    fn start(&mut self, object: ObjectId) {
        self.distances[object.index()] = 0;
    }

    #[inline]
    fn follow(&mut self, from: ObjectId, _: usize, to: ObjectId) {
        // Paths begin after a synthetic object.
        let steps = u32::from(!self.heap.is_made_up(from));
        self.distances[to.index()] = self.distances[from.index()] + steps;
    }

    fn depend(&mut self, holder: ObjectId, value: ObjectId) {
        self.follow(holder, 0, value);
    }
}
