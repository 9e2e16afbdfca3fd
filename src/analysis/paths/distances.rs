//! The distance of each object from the roots.

use super::search::{self, Marks, Starts};
use crate::analysis::graph::Graph;
use crate::model::heap::{Heap, ObjectId};

/// The number of references on the shortest path to each object, as [`shortest_path`] finds it. 4
/// bytes for each object.
///
/// [`shortest_path`]: super::shortest_path
pub struct RootDistances(Vec<u32>);

pub(super) const UNREACHED: u32 = u32::MAX;

impl RootDistances {
    /// Searches the whole graph of the heap.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        // Paths begin after a synthetic object.
        let after = |from, distance| if heap.is_made_up(from) { 0 } else { distance + 1 };
        Self(distances(heap, graph, 0, after))
    }

    /// The distance of an object: 0 for one that a root holds. `None` if no root reaches it.
    #[inline]
    pub fn of_object(&self, object: ObjectId) -> Option<u32> {
        self.0.get(object.index()).copied().filter(|distance| *distance != UNREACHED)
    }
}

/// The distance of each object, or [`UNREACHED`]: `first` for those that roots hold. `after` takes
/// an object with its distance, and returns that of its targets.
pub(super) fn distances(
    heap: &Heap<'_>,
    graph: &Graph<'_>,
    first: u32,
    after: impl Fn(ObjectId, u32) -> u32,
) -> Vec<u32> {
    let mut counting = Counting { distances: vec![UNREACHED; heap.len()], first, after };
    search::search(heap, graph, &Starts::of(heap, graph), &mut counting);
    counting.distances
}

struct Counting<A> {
    distances: Vec<u32>,
    first: u32,
    after: A,
}

impl<A: Fn(ObjectId, u32) -> u32> Marks for Counting<A> {
    #[inline]
    fn is_marked(&self, object: ObjectId) -> bool {
        self.distances[object.index()] != UNREACHED
    }

    fn start(&mut self, object: ObjectId) {
        self.distances[object.index()] = self.first;
    }

    #[inline]
    fn follow(&mut self, from: ObjectId, _: usize, to: ObjectId) {
        self.distances[to.index()] = (self.after)(from, self.distances[from.index()]);
    }

    fn depend(&mut self, holder: ObjectId, value: ObjectId) {
        self.follow(holder, 0, value);
    }
}
