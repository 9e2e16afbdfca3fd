//! Objects that need no search, because exactly one reference leads to them.

use super::graph::Graph;
use super::hubs::Hubs;
use super::object_set::ObjectSet;
use super::set_bits::SetBits;
use crate::model::heap::ObjectId;
use crate::parallel;
use crate::phases;
use std::ops::Range;

/// Objects to which exactly one reference leads, and no root, and that refer only to such objects,
/// in at most [`HEIGHT`] levels, and to hubs: a string with its characters, a boxed number.
///
/// The object with this reference is their dominator, and they are alive if it is. In heaps of
/// programs these are most objects, so that the search for dominators leaves out the larger part.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    objects: ObjectSet,
    hubs: Hubs,
}

/// The maximum number of levels of owned objects. More levels find few more objects, and with few
/// levels the code that follows them needs no stack.
pub(super) const HEIGHT: usize = 3;

impl Owned {
    /// Finds the owned objects of a graph.
    pub(super) fn of(graph: &Graph<'_>, hubs: Hubs) -> Self {
        let _phase = phases::begin("finding owned objects");
        let once = graph.held_once();
        // Hubs are among them until the end, so that one set tells to which objects references may lead.
        let mut owned = hubs.set().clone();
        for _ in 0..HEIGHT {
            let is_owned = |object| graph.targets(object).all(|target| owned.contains(target));
            let bits = parallel::words(graph.len(), |word| {
                let (once, before) = (once.bits[word], owned.bits[word]);
                let new = SetBits::of(word * 64, std::iter::once(once & !before))
                    .filter(|at| is_owned(ObjectId(*at as u32)));
                new.fold(before, |owned, at| owned | 1 << (at % 64))
            });
            owned = ObjectSet { bits };
        }
        let only = owned.bits.iter_mut().zip(&hubs.set().bits);
        only.for_each(|(owned, hubs)| *owned &= !hubs);
        Self { objects: owned, hubs }
    }

    /// Whether an object is owned.
    #[inline]
    pub(super) fn contains(&self, object: ObjectId) -> bool {
        self.objects.contains(object)
    }

    /// The objects of a range that are not owned. The range begins at a multiple of 64.
    #[inline]
    pub(super) fn others(&self, objects: Range<usize>) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.others(objects)
    }

    /// The objects that are not owned among the first `objects`, 64 in a word.
    pub(super) fn other_words(&self, objects: usize) -> impl Iterator<Item = u64> + '_ {
        self.objects.other_words(0..objects)
    }

    /// The owned objects, 64 in a word.
    pub(super) fn words(&self) -> &[u64] {
        &self.objects.bits
    }

    /// The hubs to which owned objects may refer.
    pub(super) fn hubs(&self) -> &Hubs {
        &self.hubs
    }

    /// See [`Owned::hubs`].
    pub(super) fn into_hubs(self) -> Hubs {
        self.hubs
    }

    /// Calls a function with the hubs to which an owned object refers, and with those to which the objects
    /// that it owns do. The function calls itself for each level of these, of which there are at most
    /// [`HEIGHT`].
    pub(super) fn for_each_hub_below(
        &self,
        graph: &Graph<'_>,
        object: ObjectId,
        each: &mut impl FnMut(ObjectId),
    ) {
        for target in graph.targets(object) {
            if self.contains(target) {
                self.for_each_hub_below(graph, target, each);
            } else {
                each(target);
            }
        }
    }

    /// The number of owned objects.
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The owned ones among the objects that an object keeps alive.
    #[inline]
    pub(super) fn of_object<'s>(
        &'s self,
        graph: &'s Graph<'_>,
        object: ObjectId,
    ) -> impl Iterator<Item = ObjectId> + 's {
        OwnedTargets { targets: graph.targets(object), owned: self }
    }
}

/// See [`Owned::of_object`]. This is not `Iterator::filter`, which searches with a function that the
/// compiler does not inline everywhere.
struct OwnedTargets<'s, T> {
    targets: T,
    owned: &'s Owned,
}

impl<T: Iterator<Item = ObjectId>> Iterator for OwnedTargets<'_, T> {
    type Item = ObjectId;

    #[inline]
    fn next(&mut self) -> Option<ObjectId> {
        loop {
            let target = self.targets.next()?;
            if self.owned.contains(target) {
                return Some(target);
            }
        }
    }
}
