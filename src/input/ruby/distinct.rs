//! Values of a part of the lines, each kept once.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Values by rows. Hashing a value reads its texts, which are slices of the file: while a line is
/// read they are in the processor's cache, and later they are not.
pub(super) struct Distinct<T> {
    all: Vec<T>,
    rows: FxHashMap<T, u32>,
    last: u32,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { all: Vec::new(), rows: FxHashMap::default(), last: 0 }
    }
}

impl<T: Copy + Eq + Hash> Distinct<T> {
    /// The row of a value, which is new if the value is.
    #[inline]
    pub(super) fn row(&mut self, value: T) -> u32 {
        // Lines next to each other are often alike.
        if self.get(self.last) != Some(value) {
            let next = self.all.len() as u32;
            self.last = *self.rows.entry(value).or_insert(next);
            if self.last == next {
                self.all.push(value);
            }
        }
        self.last
    }

    #[inline]
    pub(super) fn get(&self, row: u32) -> Option<T> {
        self.all.get(row as usize).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}
