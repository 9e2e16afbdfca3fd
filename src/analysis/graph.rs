//! The references that keep objects alive, and the objects at which they begin.

use super::live;
use crate::model::heap::{Heap, ObjectId, References};

/// The strong references of a heap, with ephemerons resolved, and what its roots hold.
///
/// An ephemeron whose holder and key are both alive counts as a reference from its key to its value: the value goes when its
/// key goes. (It also goes with the holder; a tree of dominators has room for one of both.)
pub struct Graph<'h> {
    pub(super) references: &'h References,
    /// The objects that roots hold, each once, in the order of the roots. If the dump has an object for the set of roots, it
    /// is the only one.
    pub(super) starts: Vec<ObjectId>,
    /// Key and value of ephemerons that are in effect, sorted.
    dependent: Vec<(ObjectId, ObjectId)>,
}

impl<'h> Graph<'h> {
    /// The graph of a heap.
    pub fn of(heap: &'h Heap<'_>) -> Self {
        let mut graph = Self { references: &heap.references, starts: starts(heap), dependent: Vec::new() };
        if !heap.ephemerons.is_empty() {
            graph.dependent = live::ephemerons_in_effect(&graph, heap);
            graph.dependent.sort_unstable();
        }
        graph
    }

    /// Objects.
    pub fn len(&self) -> usize {
        self.references.first.len().saturating_sub(1)
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the roots hold, each object once.
    pub fn starts(&self) -> &[ObjectId] {
        &self.starts
    }

    /// What an object keeps alive, in the order of its references; an object may come several times.
    #[inline]
    pub fn targets(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let strong = self.references.range(object).filter(|row| !self.references.is_weak(*row));
        strong.map(|row| self.references.target[row]).chain(self.dependent_on(object).iter().map(|(_, value)| *value))
    }

    /// Whether there are references besides those in the columns.
    #[inline]
    pub(super) fn has_dependent(&self) -> bool {
        !self.dependent.is_empty()
    }

    /// Values of ephemerons that the object is the key of.
    #[inline]
    pub fn dependent_on(&self, key: ObjectId) -> &[(ObjectId, ObjectId)] {
        if self.dependent.is_empty() {
            return &[];
        }
        let first = self.dependent.partition_point(|(other, _)| *other < key);
        let count = self.dependent[first..].partition_point(|(other, _)| *other == key);
        &self.dependent[first..first + count]
    }
}

fn starts(heap: &Heap<'_>) -> Vec<ObjectId> {
    if let Some(root) = heap.root_object() {
        return vec![root];
    }
    let mut seen = live::Objects::none(heap.len());
    heap.roots.iter().map(|root| root.object).filter(|object| seen.insert(*object)).collect()
}
