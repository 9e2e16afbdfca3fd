//! Objects that need no search, because one reference alone leads to them.

use super::graph::Graph;
use super::object_set::{ObjectSet, bits};
use crate::model::heap::ObjectId;
use rayon::prelude::*;
use std::ops::Range;

/// Objects that one reference alone leads to, and no root, and that refer to nothing but such
/// objects, in at most [`HEIGHT`] levels: a string with its characters, a boxed number.
///
/// The object with this reference is their dominator, and they are alive if it is. In heaps of
/// programs these are most objects, so that the search for dominators leaves out the larger part.
#[derive(Clone, Debug)]
pub(super) struct Owned(ObjectSet);

/// The maximum number of levels of owned objects. More levels find few more objects, and with few
/// levels the code that follows them needs no stack.
const HEIGHT: usize = 3;

impl Owned {
    /// Finds them.
    pub(super) fn of(graph: &Graph<'_>) -> Self {
        let single = single(graph);
        let mut owned = ObjectSet::none(graph.len());
        for _ in 0..HEIGHT {
            let is_owned = |object| graph.targets(object).all(|target| owned.contains(target));
            let words = single.par_iter().zip(&owned.bits).enumerate();
            let words = words.map(|(word, (&single, &before))| {
                let object = |bit| ObjectId(word as u32 * u64::BITS + bit);
                let new = bits(single & !before).filter(|bit| is_owned(object(*bit)));
                new.fold(before, |owned, bit| owned | 1 << bit)
            });
            owned = ObjectSet { bits: words.collect() };
        }
        Self(owned)
    }

    /// Whether an object is one.
    #[inline]
    pub(super) fn contains(&self, object: ObjectId) -> bool {
        self.0.contains(object)
    }

    /// The objects of a range that are not owned. The range begins at a multiple of 64.
    #[inline]
    pub(super) fn others(&self, objects: Range<usize>) -> impl Iterator<Item = ObjectId> + '_ {
        self.0.others(objects)
    }

    /// The objects that are not owned, 64 in a word, of this many objects.
    pub(super) fn other_words(&self, objects: usize) -> impl Iterator<Item = u64> + '_ {
        self.0.other_words(0..objects)
    }

    /// Their number.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The owned ones among the objects that an object keeps alive.
    #[inline]
    pub(super) fn of_object<'s>(
        &'s self,
        graph: &'s Graph<'_>,
        object: ObjectId,
    ) -> impl Iterator<Item = ObjectId> + 's {
        graph.targets(object).filter(|target| self.contains(*target))
    }
}

/// Parts of the references that are looked at side by side. Each takes two bits for each object of the
/// heap.
const PARTS: usize = 4;

/// A bit for each object to which exactly one reference leads, and no root.
fn single(graph: &Graph<'_>) -> Vec<u64> {
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
    let mut seen = (0..parts)
        .into_par_iter()
        .map(of_part)
        .reduce_with(Seen::and)
        .unwrap_or_else(|| Seen::none(graph.len()));
    graph.dependent.values().for_each(|value| seen.see(value, false));
    graph.starts().iter().for_each(|start| seen.see(*start, true));
    seen.0.into_iter().map(|[once, more]| once & !more).collect()
}

/// Whether a reference leads to an object, and whether there is more; side by side, because both
/// are needed.
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
