//! Reachability.

use super::frontier::{Frontier, next_level};
use super::graph::Graph;
use super::object_set::ObjectSet;
use crate::model::heap::ObjectId;

/// Returns the objects that the roots reach over strong references.
///
/// Weak references are not followed. The value of an ephemeron is reached if its holder and its key
/// are.
pub fn live(graph: &Graph<'_>) -> ObjectSet {
    let mut live = ObjectSet::none(graph.len());
    reach(graph, graph.starts().iter().map(|start| start.0), &mut live);
    live
}

/// Nodes, from 0, with edges to others. The objects of a heap are such nodes.
pub(super) trait Edges: Sync {
    /// The number of nodes.
    fn len(&self) -> usize;

    /// Calls `each` with the nodes to which the edges of a node lead.
    fn for_each_target(&self, node: u32, each: impl FnMut(u32));

    /// Prefetches the position of the edges of a node.
    fn prefetch(&self, node: u32);

    /// Prefetches the edges of a node, whose position should have been prefetched.
    fn prefetch_targets(&self, node: u32);

    /// Calls `each`, which follows their edges, with the nodes of a level.
    fn for_each_node(&self, level: Frontier, each: impl FnMut(ObjectId)) {
        level.for_each(|node| self.prefetch(node.0), |node| self.prefetch_targets(node.0), each);
    }
}

impl Edges for Graph<'_> {
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn for_each_target(&self, node: u32, mut each: impl FnMut(u32)) {
        self.targets(ObjectId(node)).for_each(|target| each(target.0));
    }

    fn prefetch(&self, node: u32) {
        self.prefetch(ObjectId(node));
    }

    fn prefetch_targets(&self, node: u32) {
        self.prefetch_targets(ObjectId(node));
    }
}

/// Adds nodes to `reached`, and all to which edges lead from them. Edges to nodes that are there already are
/// not followed.
pub(super) fn reach(edges: &impl Edges, from: impl Iterator<Item = u32>, reached: &mut ObjectSet) {
    let mut level = Frontier::new(edges.len());
    from.for_each(|node| level.push(ObjectId(node)));
    reach_from(edges, level, reached);
}

/// Like [`reach`], from the nodes of a level. All threads follow the edges of many nodes.
pub(super) fn reach_from(edges: &impl Edges, mut level: Frontier, reached: &mut ObjectSet) {
    level.add_to(reached);
    while !level.is_empty() {
        if let Some(nodes) = level.bits() {
            let known = &*reached;
            let next = next_level(nodes, |node, next| {
                edges.for_each_target(node.0, |target| {
                    if !known.contains(ObjectId(target)) {
                        next.add(ObjectId(target));
                    }
                });
            });
            reached.insert_all(&next);
            level = Frontier::in_order(next, edges.len());
            continue;
        }
        let mut next = Frontier::new(edges.len());
        edges.for_each_node(level, |node| {
            edges.for_each_target(node.0, |target| {
                if reached.insert(ObjectId(target)) {
                    next.push(ObjectId(target));
                }
            });
        });
        level = next;
    }
}
