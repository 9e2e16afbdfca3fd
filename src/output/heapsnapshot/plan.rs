//! The plan: the nodes, their order, and the number of edges of each.

use super::HeapSnapshotObjects;
use super::labels::TypeNames;
use super::numbering::Numbering;
use super::roots::Groups;
use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::unreachable::tops;
use crate::model::heap::{Heap, ObjectId, TypeKind};

/// The number of nodes before those of the groups of roots: the root and `(GC roots)`.
pub(super) const FIRST_GROUP: usize = 2;

/// The layout of a heap snapshot.
pub(super) struct Plan<'p, 'a> {
    pub(super) heap: &'p Heap<'a>,
    pub(super) graph: &'p Graph<'p>,
    pub(super) live: &'p ObjectSet,
    pub(super) numbering: Numbering,
    /// The heap's own object for the set of roots: node 1.
    pub(super) root: Option<ObjectId>,
    /// Other objects that nothing owns: node 0 refers to them.
    pub(super) unowned: &'p [ObjectId],
    /// Groups of roots, if no object of the heap represents the set of roots.
    pub(super) groups: Groups,
    /// The targets of the node `(unreachable)`. If there are none, the node is not written.
    pub(super) tops: Vec<ObjectId>,
    pub(super) types: TypeNames,
    pub(super) nodes: u64,
    pub(super) edges: u64,
    /// The number of objects that are texts.
    pub(super) texts: u64,
}

impl<'p, 'a> Plan<'p, 'a> {
    pub(super) fn of(
        heap: &'p Heap<'a>,
        graph: &'p Graph<'p>,
        live: &'p ObjectSet,
        which: HeapSnapshotObjects,
    ) -> Self {
        let root = heap.root_object();
        let unowned = root.and_then(|_| graph.starts().get(1..)).unwrap_or_default();
        let groups = if root.is_some() { Groups::default() } else { Groups::of(heap) };
        let all = which == HeapSnapshotObjects::All;
        let numbering = Numbering::of(heap.len(), root, |object| all || live.contains(object));
        let tops = if all {
            tops(graph.len(), live.clone(), |object| graph.targets(object))
        } else {
            Vec::new()
        };
        let types = TypeNames::of(heap);
        let mut plan = Self {
            heap,
            graph,
            live,
            numbering,
            root,
            unowned,
            groups,
            tops,
            types,
            nodes: 0,
            edges: 0,
            texts: 0,
        };
        let synthetic = plan.synthetic();
        plan.numbering.first = synthetic as u32;
        plan.nodes = synthetic as u64 + plan.numbering.count - u64::from(root.is_some());
        plan.edges = (0..synthetic).map(|node| plan.edges_of_synthetic(node)).sum();
        for object in plan.numbering.objects() {
            plan.edges += plan.edges_of(object);
            plan.texts += u64::from(heap.type_of(object).kind == TypeKind::Text);
        }
        plan
    }

    /// The number of nodes that are not objects, with the heap's own root object.
    pub(super) fn synthetic(&self) -> usize {
        FIRST_GROUP + self.groups.len() + usize::from(!self.tops.is_empty())
    }

    /// The number of edges of a node that is not an object.
    pub(super) fn edges_of_synthetic(&self, node: usize) -> u64 {
        match node {
            0 => 1 + u64::from(!self.tops.is_empty()) + self.unowned.len() as u64,
            1 => self.root.map_or(self.groups.len() as u64, |root| self.edges_of(root)),
            _ if node - FIRST_GROUP < self.groups.len() => self.groups.size(node - FIRST_GROUP),
            _ => self.tops.len() as u64,
        }
    }

    #[inline]
    pub(super) fn edges_of(&self, object: ObjectId) -> u64 {
        let references = &self.heap.references;
        let range = references.range(object);
        let dependent = self.graph.dependent_on(object).len();
        if references.weak.is_empty() {
            return (range.len() + dependent) as u64;
        }
        let left_out = range
            .clone()
            .filter(|row| references.is_weak(*row) && !self.numbering.has(references.target[*row]))
            .count();
        (range.len() - left_out + dependent) as u64
    }
}
