//! The strong references of a heap, starting at its roots.

use super::ephemerons::Dependent;
use super::object_set::ObjectSet;
use super::prefetch::{prefetch_position, prefetch_targets};
use crate::model::heap::{Heap, ObjectId, References, Root, RootKind};
use crate::parallel;
use crate::parallel::on_demand::OnDemand;
use std::ops::Range;
use std::slice;

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
    /// See [`Graph::held_once`].
    pub(super) once: OnDemand<ObjectSet>,
}

impl<'h> Graph<'h> {
    /// The graph of a heap.
    pub fn of(heap: &'h Heap<'_>) -> Self {
        let starts = starts(heap);
        let dependent = Dependent::of(heap, &starts);
        Self { references: &heap.references, starts, dependent, once: OnDemand::default() }
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

    /// The object that roots hold, if there is only one.
    pub(super) fn single_root(&self) -> Option<ObjectId> {
        match self.starts[..] {
            [root] => Some(root),
            _ => None,
        }
    }

    /// The objects that an object keeps alive, in the order of its references; one may come several
    /// times.
    #[inline]
    pub fn targets(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let (references, values) = (self.references, self.dependent.on(object).iter());
        Targets { references, rows: references.range(object), values }
    }

    /// The objects to which exactly one reference leads, and no root: a bit for each object.
    /// Computed once and then kept.
    pub(crate) fn held_once(&self) -> &ObjectSet {
        self.once.get_or_compute(|| held_once(self))
    }

    /// Prefetches the position of an object's references.
    #[inline]
    pub(super) fn prefetch(&self, object: ObjectId) {
        prefetch_position(self.references, object);
    }

    /// Prefetches an object's references, whose position should have been prefetched.
    #[inline]
    pub(super) fn prefetch_targets(&self, object: ObjectId) {
        prefetch_targets(self.references, object);
    }

    /// Whether there are references in addition to those in the columns.
    #[inline]
    pub(super) fn has_dependent(&self) -> bool {
        !self.dependent.is_empty()
    }

    /// Holder and value of the ephemerons in effect whose holder is the given object.
    #[inline]
    pub fn dependent_on(&self, holder: ObjectId) -> &[(ObjectId, ObjectId)] {
        self.dependent.on(holder)
    }
}

/// See [`Graph::targets`]. This is not `Iterator::chain`, whose loops call a function for each item
/// where the compiler does not inline it.
struct Targets<'g> {
    references: &'g References,
    rows: Range<usize>,
    /// Holders and values of ephemerons.
    values: slice::Iter<'g, (ObjectId, ObjectId)>,
}

impl Iterator for Targets<'_> {
    type Item = ObjectId;

    #[inline]
    fn next(&mut self) -> Option<ObjectId> {
        for row in self.rows.by_ref() {
            if !self.references.is_weak(row) {
                return Some(self.references.target(row));
            }
        }
        self.values.next().map(|(_, value)| *value)
    }
}

fn starts(heap: &Heap<'_>) -> Vec<ObjectId> {
    let root = heap.root_object();
    let counts = |root_of: &&Root| root.is_none() || root_of.kind == RootKind::Unowned;
    let mut seen = ObjectSet::none(heap.len());
    let named = heap.roots.iter().filter(counts).map(|root| root.object);
    root.into_iter().chain(named).filter(|object| seen.insert(*object)).collect()
}

/// Parts of the references that are processed in parallel. Each takes two bits for each object of
/// the heap.
const PARTS: usize = 4;

/// The objects to which exactly one reference leads, and no root.
fn held_once(graph: &Graph<'_>) -> ObjectSet {
    let parts = rayon::current_num_threads().clamp(1, PARTS);
    let references = graph.references;
    let length = references.len().div_ceil(parts);
    let of_part = |part: usize| {
        let mut seen = Seen::none(graph.len());
        let row = |part: usize| (part * length).min(references.len());
        let rows = row(part)..row(part + 1);
        references.strong(rows).for_each(|target| seen.see(target, false));
        seen
    };
    let mut seen = parallel::map(0..parts, of_part)
        .into_iter()
        .reduce(Seen::and)
        .unwrap_or_else(|| Seen::none(graph.len()));
    graph.dependent.values().for_each(|value| seen.see(value, false));
    graph.starts().iter().for_each(|start| seen.see(*start, true));
    ObjectSet { bits: seen.0.into_iter().map(|[once, more]| once & !more).collect() }
}

/// Two bits per object: whether a reference leads to it, and whether more than one does. They are
/// side by side because both are needed.
struct Seen(Vec<[u64; 2]>);

impl Seen {
    fn none(objects: usize) -> Self {
        Self(vec![[0; 2]; objects.div_ceil(64)])
    }

    #[inline]
    fn see(&mut self, object: ObjectId, again: bool) {
        let [once, more] = &mut self.0[object.index() / 64];
        let bit = 1 << (object.index() % 64);
        *more |= if again { bit } else { *once & bit };
        *once |= bit;
    }

    /// Combines the marks of two parts.
    fn and(mut self, other: Self) -> Self {
        for ([once, more], [other_once, other_more]) in self.0.iter_mut().zip(other.0) {
            *more |= other_more | (*once & other_once);
            *once |= other_once;
        }
        self
    }
}
