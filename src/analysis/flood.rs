//! Finds out who alone holds each object.

use super::frontier::Frontier;
use super::graph::Graph;
use super::made_up::MadeUp;
use crate::model::heap::{Heap, ObjectId};

/// No holder: roots do not reach the object.
pub(super) const NOTHING: u32 = 0;
/// The widest holder: all roots together.
pub(super) const ALL: u32 = u32::MAX;

/// A flood of the graph from several holders at once. Where two meet, the narrowest holder that
/// includes both goes on.
///
/// Holders form a tree: each is part of a wider one, [`ALL`] at the top. A wider holder has a
/// larger number than its parts. The holder of an object only ever becomes wider, so the work is at
/// most the graph times the depth of the tree.
pub(super) struct Flood<'g, 'h, F> {
    graph: &'g Graph<'h>,
    made_up: &'g MadeUp,
    wider: F,
    /// By object.
    pub(super) holder: Vec<u32>,
    /// Objects whose holder has changed since their references were followed.
    pending: Frontier,
}

impl<'g, 'h, F: Fn(u32) -> u32> Flood<'g, 'h, F> {
    /// A flood that has reached nothing yet. `wider` gives the holder that a holder is part of.
    pub(super) fn new(
        heap: &Heap<'_>,
        graph: &'g Graph<'h>,
        made_up: &'g MadeUp,
        wider: F,
    ) -> Self {
        Self {
            graph,
            made_up,
            wider,
            holder: vec![NOTHING; heap.len()],
            pending: Frontier::new(heap.len()),
        }
    }

    /// Hands holders on until nothing changes any more. The order does not matter, since holders
    /// only become wider.
    pub(super) fn follow(&mut self) {
        let (graph, objects) = (self.graph, self.holder.len());
        while !self.pending.is_empty() {
            std::mem::replace(&mut self.pending, Frontier::new(objects)).for_each(|object| {
                let holder = self.holder[object.index()];
                graph.targets(object).for_each(|target| self.reach(target, holder));
            });
        }
    }

    /// Reaches an object from a holder. Synthetic objects are passed over: roots name what they
    /// refer to.
    #[inline]
    pub(super) fn reach(&mut self, object: ObjectId, holder: u32) {
        let known = self.holder[object.index()];
        if known == ALL || known == holder || self.made_up.contains(object) {
            return;
        }
        let both = self.both(known, holder);
        if both != known {
            self.holder[object.index()] = both;
            self.pending.push(object);
        }
    }

    fn both(&self, mut a: u32, mut b: u32) -> u32 {
        if a == NOTHING {
            return b;
        }
        while a != b {
            match a < b {
                true => a = (self.wider)(a),
                false => b = (self.wider)(b),
            }
        }
        a
    }
}
