//! Finds the only holder of each object.

use super::frontier::Frontier;
use super::graph::Graph;
use super::made_up::MadeUp;
use crate::model::heap::ObjectId;
use crate::parallel;

/// No holder: roots do not reach the object.
pub(super) const NOTHING: u32 = 0;
/// The widest holder: all roots together.
pub(super) const ALL: u32 = u32::MAX;

/// The graph of a flood: nodes with edges. Each node represents objects with one holder. Synthetic
/// objects have no node, because roots name their targets.
pub(super) trait Ground {
    /// The number of nodes.
    fn len(&self) -> usize;

    /// The node of an object to which a root or a synthetic object refers.
    fn node(&self, object: ObjectId) -> Option<u32>;

    /// Calls `each` with the nodes to which the edges of a node lead.
    fn for_each_target(&self, node: u32, each: impl FnMut(u32));

    /// Prefetches the position of the edges of a node.
    fn prefetch(&self, node: u32);

    /// Prefetches the edges of a node, whose position should have been prefetched.
    fn prefetch_targets(&self, node: u32);

    /// Calls `each` with the objects whose holder, which is that of their node, is neither
    /// [`NOTHING`] nor [`ALL`], and this holder.
    fn for_each_held(&self, holder: &[u32], each: impl FnMut(ObjectId, u32));

    /// Converts the holder of each node to what `of` returns for the holder of each object.
    fn by_object<T: Copy + Default + Send>(
        &self,
        holder: &[u32],
        of: impl Fn(u32) -> T + Sync,
    ) -> Vec<T>;
}

/// All objects of a graph, each a node.
pub(super) struct Objects<'g, 'h> {
    pub(super) graph: &'g Graph<'h>,
    pub(super) made_up: &'g MadeUp,
}

impl Ground for Objects<'_, '_> {
    fn len(&self) -> usize {
        self.graph.len()
    }

    #[inline]
    fn node(&self, object: ObjectId) -> Option<u32> {
        (!self.made_up.contains(object)).then_some(object.0)
    }

    #[inline]
    fn for_each_target(&self, node: u32, each: impl FnMut(u32)) {
        self.graph.targets(ObjectId(node)).filter_map(|object| self.node(object)).for_each(each);
    }

    fn prefetch(&self, node: u32) {
        self.graph.prefetch(ObjectId(node));
    }

    fn prefetch_targets(&self, node: u32) {
        self.graph.prefetch_targets(ObjectId(node));
    }

    fn for_each_held(&self, holder: &[u32], mut each: impl FnMut(ObjectId, u32)) {
        let objects = (0..).map(ObjectId).zip(holder.iter().copied());
        objects
            .filter(|(_, holder)| !matches!(*holder, NOTHING | ALL))
            .for_each(|(object, holder)| each(object, holder));
    }

    fn by_object<T: Copy + Default + Send>(
        &self,
        holder: &[u32],
        of: impl Fn(u32) -> T + Sync,
    ) -> Vec<T> {
        parallel::column(holder.len(), |first, places| {
            for (place, holder) in places.iter_mut().zip(&holder[first..]) {
                *place = of(*holder);
            }
        })
    }
}

/// A flood from several holders at once. Where two meet, the narrowest holder that includes both
/// goes on.
///
/// Holders form a tree: each is part of a wider one, [`ALL`] at the top. A wider holder has a
/// larger number than its parts. The holder of an object only ever becomes wider, so the work is at
/// most the graph times the depth of the tree.
pub(super) struct Flood<'g, G, F> {
    ground: &'g G,
    wider: F,
    /// The holder of each node.
    holder: Vec<u32>,
    /// Nodes whose holder has changed since their edges were followed.
    pending: Frontier,
}

impl<'g, G: Ground, F: Fn(u32) -> u32> Flood<'g, G, F> {
    /// Creates a flood that has reached nothing. `wider` returns the holder that contains a holder.
    pub(super) fn new(ground: &'g G, wider: F) -> Self {
        let (holder, pending) = (vec![NOTHING; ground.len()], Frontier::new(ground.len()));
        Self { ground, wider, holder, pending }
    }

    /// Passes holders on until nothing changes any more. The order does not matter, because holders
    /// only become wider.
    pub(super) fn follow(&mut self) {
        let (ground, nodes) = (self.ground, self.holder.len());
        while !self.pending.is_empty() {
            std::mem::replace(&mut self.pending, Frontier::new(nodes)).for_each(
                |node| ground.prefetch(node.0),
                |node| ground.prefetch_targets(node.0),
                |node| {
                    let holder = self.holder[node.index()];
                    ground.for_each_target(node.0, |target| self.reach_node(target, holder));
                },
            );
        }
    }

    /// Reaches an object from a holder, unless it is synthetic.
    pub(super) fn reach(&mut self, object: ObjectId, holder: u32) {
        if let Some(node) = self.ground.node(object) {
            self.reach_node(node, holder);
        }
    }

    /// Reaches a node from a holder.
    pub(super) fn start(&mut self, node: u32, holder: u32) {
        self.reach_node(node, holder);
    }

    /// The holder of each node.
    pub(super) fn holders(self) -> Vec<u32> {
        self.holder
    }

    /// Reaches an object that has no holder yet, and all objects that it leads to.
    pub(super) fn reach_first(&mut self, object: ObjectId, holder: u32) {
        if let Some(node) = self.ground.node(object)
            && self.holder[node as usize] == NOTHING
        {
            self.reach_node(node, holder);
            self.follow();
        }
    }

    #[inline]
    fn reach_node(&mut self, node: u32, holder: u32) {
        let known = self.holder[node as usize];
        if known == ALL || known == holder {
            return;
        }
        let both = self.both(known, holder);
        if both != known {
            self.holder[node as usize] = both;
            self.pending.push(ObjectId(node));
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

    /// Calls `each` with the objects that some roots but not all together hold, and their holder.
    pub(super) fn for_each_held(self, each: impl FnMut(ObjectId, u32)) {
        self.ground.for_each_held(&self.holder, each);
    }
}
