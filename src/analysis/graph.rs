//! The strong references of a heap, starting at its roots.

use super::ephemerons::Dependent;
use super::object_set::ObjectSet;
use super::prefetch::prefetch;
use crate::model::heap::{Heap, ObjectId, Offsets, References, Root, RootKind};

/// The strong references of a heap, with ephemerons resolved, and the targets of its roots.
///
/// An ephemeron whose holder and key are both live counts as a reference from its holder to its
/// value. The value also depends on the key, but a dominator tree can express only one of the two:
/// freeing a key may free more than its retained size, never less.
pub struct Graph<'h> {
    pub(super) references: &'h References,
    /// The objects that roots hold, each once, in the order of the roots. If the dump has an object
    /// for the set of roots, only that one and those that nothing owns ([`RootKind::Unowned`]).
    pub(super) starts: Vec<ObjectId>,
    pub(super) dependent: Dependent,
}

impl<'h> Graph<'h> {
    /// The graph of a heap.
    pub fn of(heap: &'h Heap<'_>) -> Self {
        let starts = starts(heap);
        let dependent = Dependent::of(heap, &starts);
        Self { references: &heap.references, starts, dependent }
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.references.first.len().saturating_sub(1)
    }

    /// Returns `true` if there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all objects, in order.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.len() as u32).map(ObjectId)
    }

    /// The objects that roots hold, each once.
    pub fn starts(&self) -> &[ObjectId] {
        &self.starts
    }

    /// The objects that an object keeps alive, in the order of its references; one may come several
    /// times.
    #[inline]
    pub fn targets(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let values = self.dependent.on(object).iter().map(|(_, value)| *value);
        self.references.strong_targets(object).chain(values)
    }

    /// Prefetches the position of an object's references.
    #[inline]
    pub(super) fn prefetch(&self, object: ObjectId) {
        match &self.references.first {
            Offsets::Small(first) => prefetch(first, object.index()),
            Offsets::Large(first) => prefetch(first, object.index()),
        }
    }

    /// Prefetches an object's references, whose position should have been prefetched.
    #[inline]
    pub(super) fn prefetch_targets(&self, object: ObjectId) {
        prefetch(&self.references.target, self.references.range(object).start);
    }

    /// Whether there are references in addition to those in the columns.
    #[inline]
    pub(super) fn has_dependent(&self) -> bool {
        !self.dependent.is_empty()
    }

    /// Holder and value of the ephemerons in effect that an object is the holder of.
    #[inline]
    pub fn dependent_on(&self, holder: ObjectId) -> &[(ObjectId, ObjectId)] {
        self.dependent.on(holder)
    }
}

fn starts(heap: &Heap<'_>) -> Vec<ObjectId> {
    let root = heap.root_object();
    let counts = |root_of: &&Root| root.is_none() || root_of.kind == RootKind::Unowned;
    let mut seen = ObjectSet::none(heap.len());
    let named = heap.roots.iter().filter(counts).map(|root| root.object);
    root.into_iter().chain(named).filter(|object| seen.insert(*object)).collect()
}
