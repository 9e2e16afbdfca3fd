//! The live objects in preorder of the dominator tree, before each object's number is known.

use super::Dominators;
use super::ends::{Ends, Least, least};
use crate::analysis::prefetch::{AHEAD, prefetch};
use crate::model::heap::ObjectId;
use crate::parallel::{self, PART};
use crate::phases;
use crate::plain::Plain;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The live objects in preorder, and their dominators: enough to add up what each one retains.
pub(in crate::analysis) struct Ordered {
    pub(super) order: Vec<ObjectId>,
    pub(super) dominator: Vec<u32>,
    /// The [`short`](super::ends::short) size of the subtree of each number.
    pub(super) size: Vec<u8>,
}

/// The number of each object of the heap, and what finds the ends of subtrees.
pub(in crate::analysis) struct Located {
    number: Vec<u32>,
    least: Least,
}

impl Ordered {
    /// The live objects by number, from 1.
    pub(in crate::analysis) fn order(&self) -> &[ObjectId] {
        &self.order
    }

    /// The dominators of all numbers; 0, the set of roots, for number 0.
    pub(in crate::analysis) fn dominators(&self) -> &[u32] {
        &self.dominator
    }

    /// Finds numbers and ends, for a heap with so many objects.
    pub(in crate::analysis) fn located(&self, objects: usize) -> Located {
        let _phase = phases::begin("numbering objects in preorder");
        let (order, number) = (&self.order, AtomicU32::zeros(objects));
        parallel::for_each((0..order.len()).step_by(PART), |first| {
            for (place, object) in (first..order.len()).zip(&order[first..]).take(PART) {
                if let Some(soon) = order.get(place + AHEAD) {
                    prefetch(&number, soon.index());
                }
                number[object.index()].store(place as u32 + 1, Relaxed);
            }
        });
        Located { number: AtomicU32::plain(number), least: least(&self.dominator) }
    }

    pub(in crate::analysis) fn finish(self, Located { number, least }: Located) -> Dominators {
        let Self { order, dominator, size } = self;
        Dominators { order, dominator, number, ends: Ends::of(size, least) }
    }
}
