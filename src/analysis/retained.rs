//! Retained sizes.

use super::dominators::Dominators;
use crate::model::heap::{Heap, ObjectId};
use rayon::prelude::*;

/// The retained bytes of each live object: shallow and external bytes of the object and all objects
/// that it dominates.
#[derive(Clone, Debug)]
pub struct Retained {
    /// Retained bytes by number; that of the roots is the sum over all live objects.
    by_number: Vec<u64>,
}

impl Retained {
    /// Adds up sizes over the dominator tree. Numbers of dominators are smaller than those of the
    /// objects that they dominate, so one pass from the last number to the first is enough. Sums
    /// stop at 2⁶⁴ − 1, which only damaged files reach.
    pub fn of(heap: &Heap<'_>, dominators: &Dominators) -> Self {
        let mut by_number = Vec::with_capacity(dominators.len() + 1);
        by_number.push(0);
        let own = |object: &ObjectId| heap.shallow.get(object.index());
        by_number.par_extend(dominators.order().par_iter().map(own));
        for (object, bytes) in &heap.external {
            if let Some(number) = dominators.number(*object) {
                let own = &mut by_number[number as usize];
                *own = own.saturating_add(*bytes);
            }
        }
        add_up(&mut by_number, dominators.dominators());
        Self { by_number }
    }

    /// Retained bytes of an object. An unreachable one retains nothing.
    #[inline]
    pub fn get(&self, dominators: &Dominators, object: ObjectId) -> u64 {
        dominators.number(object).map_or(0, |number| self.by_number[number as usize])
    }

    /// Returns the retained bytes by number of [`Dominators`]; 0 is the set of roots.
    #[inline]
    pub fn of_number(&self, number: u32) -> u64 {
        self.by_number[number as usize]
    }

    /// Shallow and external bytes of all live objects.
    pub fn total(&self) -> u64 {
        self.by_number[0]
    }
}

/// Adds to the bytes of each number those of all numbers that it dominates.
pub(super) fn add_up(by_number: &mut [u64], dominator: &[u32]) {
    for number in (1..by_number.len()).rev() {
        let held = by_number[number];
        let dominator = &mut by_number[dominator[number] as usize];
        *dominator = dominator.saturating_add(held);
    }
}
