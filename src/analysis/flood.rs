//! Finds the only holder of each object.

use super::frontier::{Frontier, next_level};
use super::graph::Graph;
use super::live::{Edges, reach_from};
use super::made_up::MadeUp;
use super::object_set::ObjectSet;
use super::set_bits::SetBits;
use crate::model::heap::ObjectId;
use crate::plain::Plain;
use std::iter;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// No holder: roots do not reach the object.
pub(super) const NOTHING: u32 = 0;
/// The widest holder: all roots together.
pub(super) const ALL: u32 = u32::MAX;

/// The graph of a flood. Each node represents objects with one holder.
pub(super) trait Ground: Edges {
    /// The node of an object to which a root or a synthetic object refers. `None` for a synthetic object:
    /// roots name its targets.
    fn node(&self, object: ObjectId) -> Option<u32>;

    /// The nodes that edges must not reach: synthetic objects.
    fn closed(&self) -> &[ObjectId];

    /// Calls `each` with the objects whose holder, which is that of their node, is neither
    /// [`NOTHING`] nor [`ALL`], and this holder.
    fn for_each_held(&self, held: &Held, each: impl FnMut(ObjectId, u32));
}

/// All objects of a graph, each a node.
pub(super) struct Objects<'g, 'h> {
    pub(super) graph: &'g Graph<'h>,
    pub(super) made_up: &'g MadeUp,
}

impl Edges for Objects<'_, '_> {
    fn len(&self) -> usize {
        self.graph.len()
    }

    #[inline]
    fn for_each_target(&self, node: u32, mut each: impl FnMut(u32)) {
        self.graph.targets(ObjectId(node)).for_each(|target| each(target.0));
    }

    fn prefetch(&self, node: u32) {
        self.graph.prefetch(ObjectId(node));
    }

    fn prefetch_targets(&self, node: u32) {
        self.graph.prefetch_targets(ObjectId(node));
    }
}

impl Ground for Objects<'_, '_> {
    fn node(&self, object: ObjectId) -> Option<u32> {
        (!self.made_up.contains(object)).then_some(object.0)
    }

    fn closed(&self) -> &[ObjectId] {
        &self.made_up.list
    }

    fn for_each_held(&self, held: &Held, mut each: impl FnMut(ObjectId, u32)) {
        for object in held.by_all.others(0..held.holder.len()) {
            let holder = held.holder[object.index()];
            if holder != NOTHING {
                each(object, holder);
            }
        }
    }
}

/// The only holder of each node.
pub(super) struct Held {
    /// The nodes that only all roots together hold.
    by_all: ObjectSet,
    /// The holder of each other node.
    holder: Vec<u32>,
}

impl Held {
    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.holder.len()
    }

    /// The holder of a node.
    #[inline]
    pub(super) fn holder(&self, node: u32) -> u32 {
        if self.by_all.contains(ObjectId(node)) { ALL } else { self.holder[node as usize] }
    }
}

/// A flood from several holders at once. Where two meet, the narrowest holder that includes both
/// goes on.
///
/// Holders form a tree: each is part of a wider one, [`ALL`] at the top. A wider holder has a
/// larger number than its parts. The holder of an object only ever becomes wider, so the work is at
/// most the graph times the depth of the tree. It is little more than the graph, as the widest holders go
/// first: in a mesh, most objects are held by all roots in the end.
pub(super) struct Flood<'g, G, F> {
    ground: &'g G,
    closed: &'g [ObjectId],
    wider: F,
    /// The nodes that only all roots together hold and whose edges were followed, and closed ones. A bit
    /// for each node stays in the cache, and in a mesh that is nearly all that is looked at.
    by_all: ObjectSet,
    /// The holder of each other node.
    holder: Vec<AtomicU32>,
    /// Nodes whose holder has changed since their edges were followed, by the number of steps from that
    /// holder to [`ALL`], or [`MOST_STEPS`].
    pending: [Frontier; MOST_STEPS + 1],
}

/// Holders that are more steps from [`ALL`] go together.
const MOST_STEPS: usize = 2;

impl<'g, G: Edges, F: Fn(u32) -> u32 + Sync> Flood<'g, G, F> {
    /// Creates a flood that has reached nothing. Edges are not followed to `closed` nodes. `wider` returns
    /// the holder that contains a holder.
    pub(super) fn new(ground: &'g G, closed: &'g [ObjectId], wider: F) -> Self {
        let mut by_all = ObjectSet::none(ground.len());
        closed.iter().for_each(|node| _ = by_all.insert(*node));
        let pending = std::array::from_fn(|_| Frontier::new(ground.len()));
        let holder = AtomicU32::zeros(ground.len());
        Self { ground, closed, wider, by_all, holder, pending }
    }

    /// Passes holders on until nothing changes any more. The order does not matter, because holders
    /// only become wider, so all threads follow the edges of many nodes.
    pub(super) fn follow(&mut self) {
        while let Some(steps) = self.pending.iter().position(|nodes| !nodes.is_empty()) {
            let none = Frontier::new(self.holder.len());
            let level = std::mem::replace(&mut self.pending[steps], none);
            if steps == 0 {
                reach_from(self.ground, level, &mut self.by_all);
                continue;
            }
            if let Some(nodes) = level.bits() {
                let next = next_level(nodes, |node, next| {
                    self.pass_on(node, steps, |target, _| next.add(target));
                });
                for node in SetBits::of(0, next.into_iter()) {
                    let steps = self.steps(self.holder[node].load(Relaxed));
                    self.pending[steps].push(ObjectId(node as u32));
                }
                continue;
            }
            let mut pending =
                std::mem::replace(&mut self.pending, [0; MOST_STEPS + 1].map(Frontier::new));
            self.ground.for_each_node(level, |node| {
                self.pass_on(node, steps, |target, holder| {
                    pending[self.steps(holder)].push(target);
                });
            });
            self.pending = pending;
        }
    }

    /// Passes the holder of a node on, unless it has become wider and is passed on as such. Calls `changed`
    /// with the nodes whose holder this changes, and their new holder.
    #[inline]
    fn pass_on(&self, node: ObjectId, steps: usize, mut changed: impl FnMut(ObjectId, u32)) {
        let holder = self.holder[node.index()].load(Relaxed);
        if self.by_all.contains(node) || self.steps(holder) != steps {
            return;
        }
        self.ground.for_each_target(node.0, |target| {
            if let Some(holder) = self.widen(target, holder) {
                changed(ObjectId(target), holder);
            }
        });
    }

    /// The number of steps from a holder to [`ALL`].
    #[inline]
    fn steps(&self, holder: u32) -> usize {
        let wider = iter::successors(Some(holder), |holder| Some((self.wider)(*holder)));
        wider.take(MOST_STEPS).take_while(|holder| *holder != ALL).count()
    }

    /// The holder of each node.
    pub(super) fn held(mut self) -> Held {
        self.closed.iter().for_each(|node| self.by_all.remove(*node));
        Held { by_all: self.by_all, holder: AtomicU32::plain(self.holder) }
    }

    /// Reaches a node from a holder.
    pub(super) fn start(&mut self, node: u32, holder: u32) {
        if let Some(holder) = self.widen(node, holder) {
            self.pending[self.steps(holder)].push(ObjectId(node));
        }
    }

    /// Widens the holder of a node so that it includes `holder`. Returns the new one if that changed it.
    #[inline]
    fn widen(&self, node: u32, holder: u32) -> Option<u32> {
        if self.by_all.contains(ObjectId(node)) {
            return None;
        }
        let place = &self.holder[node as usize];
        let mut known = place.load(Relaxed);
        loop {
            if known == ALL || known == holder {
                return None;
            }
            let both = self.both(known, holder);
            if both == known {
                return None;
            }
            match place.compare_exchange_weak(known, both, Relaxed, Relaxed) {
                Ok(_) => return Some(both),
                Err(other) => known = other,
            }
        }
    }

    fn both(&self, mut a: u32, mut b: u32) -> u32 {
        if a == NOTHING {
            return b;
        }
        while a != b {
            if a < b { a = (self.wider)(a) } else { b = (self.wider)(b) }
        }
        a
    }
}

impl<G: Ground, F: Fn(u32) -> u32 + Sync> Flood<'_, G, F> {
    /// Reaches an object from a holder, unless it is synthetic.
    pub(super) fn reach(&mut self, object: ObjectId, holder: u32) {
        if let Some(node) = self.ground.node(object) {
            self.start(node, holder);
        }
    }

    /// Reaches an object that has no holder yet, and all objects that it leads to.
    pub(super) fn reach_first(&mut self, object: ObjectId, holder: u32) {
        if let Some(node) = self.ground.node(object)
            && !self.by_all.contains(ObjectId(node))
            && self.holder[node as usize].load(Relaxed) == NOTHING
        {
            self.start(node, holder);
            self.follow();
        }
    }

    /// Calls `each` with the objects that some roots but not all together hold, and their holder.
    pub(super) fn for_each_held(self, each: impl FnMut(ObjectId, u32)) {
        let ground = self.ground;
        ground.for_each_held(&self.held(), each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::live::reach;
    use crate::analysis::object_set::ObjectSet;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Heap, Ids, Label, Root, RootKind, TypeKind};
    use crate::model::names::Names;
    use proptest::prelude::*;
    use rustc_hash::FxHashSet;

    fn heap(targets: &[Vec<u32>]) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let of = builder.add_type("app.Node", "", TypeKind::Instance);
        for targets in targets {
            builder.add_object(of, 16);
            targets.iter().for_each(|to| builder.add_reference(ObjectId(*to), Label::NONE, false));
        }
        builder.add_root(Root::new(ObjectId(0), RootKind::Global, Names::EMPTY));
        builder.finish(Ids::Rows(0), None)
    }

    fn reached_from(targets: &[Vec<u32>], node: u32, closed: &[u32]) -> FxHashSet<u32> {
        let (mut found, mut open) = (FxHashSet::default(), vec![node]);
        while let Some(node) = open.pop() {
            if !closed.contains(&node) && found.insert(node) {
                open.extend(&targets[node as usize]);
            }
        }
        found
    }

    /// Holders 1 and 2 are parts of 4, 3 of 5, and these of [`ALL`].
    fn wider(holder: u32) -> u32 {
        [NOTHING, 4, 4, 5].get(holder as usize).copied().unwrap_or(ALL)
    }

    fn holder_of(node: u32, held: &[FxHashSet<u32>; 3]) -> u32 {
        match [0, 1, 2].map(|holder: usize| held[holder].contains(&node)) {
            [false, false, false] => NOTHING,
            [true, false, false] => 1,
            [false, true, false] => 2,
            [false, false, true] => 3,
            [true, true, false] => 4,
            _ => ALL,
        }
    }

    /// Up to 3000 nodes, with a few edges each. Near targets make many small levels, far ones a few large
    /// ones.
    fn graphs() -> impl Strategy<Value = Vec<Vec<u32>>> {
        (1..3000_u32, 1..3000_u32).prop_flat_map(|(count, far)| {
            let ends = prop::collection::vec(0..far, 0..5);
            let ends = prop::collection::vec(ends, count as usize);
            ends.prop_map(move |ends| {
                let targets = |(node, ends): (u32, Vec<u32>)| {
                    ends.into_iter().map(|end| (node + end) % count).collect()
                };
                (0..).zip(ends).map(targets).collect()
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn floods_reach_what_edges_lead_to(
            targets in graphs(),
            from in prop::array::uniform3(0..3000_u32),
            closed in prop::collection::vec(0..3000_u32, 0..9),
        ) {
            let count = targets.len() as u32;
            let heap = heap(&targets);
            let graph = Graph::of(&heap);
            let (from, closed) = (from.map(|node| node % count), closed.iter().map(|node| node % count));
            let closed: Vec<u32> = closed.collect();

            let mut reached = ObjectSet::none(targets.len());
            closed.iter().for_each(|node| _ = reached.insert(ObjectId(*node)));
            reach(&graph, from.into_iter(), &mut reached);
            let expected = from.map(|node| reached_from(&targets, node, &closed));
            let is_reached = |node: &u32| {
                closed.contains(node) || expected.iter().any(|nodes| nodes.contains(node))
            };
            prop_assert!((0..count).all(|node| reached.contains(ObjectId(node)) == is_reached(&node)));

            let closed_nodes: Vec<ObjectId> = closed.iter().copied().map(ObjectId).collect();
            let mut flood = Flood::new(&graph, &closed_nodes, wider);
            (1..).zip(from).for_each(|(holder, node)| flood.start(node, holder));
            flood.follow();
            let held = from.map(|node| reached_from(&targets, node, &closed));
            let expected: Vec<u32> = (0..count).map(|node| holder_of(node, &held)).collect();
            let held = flood.held();
            prop_assert!((0..count).map(|node| held.holder(node)).eq(expected));
        }
    }
}
