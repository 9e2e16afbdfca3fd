//! Who holds what: the dominator tree with the bytes that go with each object.

use super::dominators::Dominators;
use super::graph::Graph;
use super::retained::Retained;
use super::root_groups::RootGroups;
use crate::model::heap::Heap;

/// The dominators of the live objects of a heap, and their retained bytes.
#[derive(Clone, Debug)]
pub struct Held {
    /// Which object all paths to another one pass.
    pub dominators: Dominators,
    /// What would go with an object.
    pub retained: Retained,
}

impl Held {
    /// Finds out. None if the heap has no roots: then nothing can be called alive or dead.
    pub fn of(heap: &Heap<'_>) -> Option<Self> {
        match heap.roots.is_empty() {
            true => None,
            false => Some(Self::of_graph(heap, &Graph::of(heap))),
        }
    }

    /// The same for a graph that is already there.
    pub fn of_graph(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let dominators = Dominators::of(graph);
        let retained = Retained::of(heap, &dominators);
        Self { dominators, retained }
    }

    /// The same, and at the same time the groups of roots, which take as long as a third of it.
    pub fn and_roots(heap: &Heap<'_>, graph: &Graph<'_>) -> (Self, RootGroups) {
        rayon::join(|| Self::of_graph(heap, graph), || RootGroups::of(heap, graph))
    }
}
