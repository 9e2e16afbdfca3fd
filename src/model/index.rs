//! Finds rows of columns by their contents.

/// An open-addressing table of row numbers that takes 4 bytes per slot. The keys stay in the
/// columns: callers compare and hash rows.
///
/// The low bits of a slot contain the row, as many as the size of the table needs. The other bits
/// are bits of the row's hash, so that lookups skip nearly all other rows without reading their
/// columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// A slot of 0 is free. The number of slots is a power of two.
    slots: Vec<u32>,
    rows: usize,
}

const SMALLEST: usize = 1 << 8;

/// The maximum number of rows of an index, and so of a column with one.
pub(crate) const MAX_ROWS: usize = 3 << 30;

impl Index {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns the row for which `is_meant` holds. If there is none, returns `None` and inserts the
    /// next row with this hash; its number is the number of rows. `hash_of` returns the hash of an
    /// existing row.
    #[inline]
    pub(crate) fn find_or_add(
        &mut self,
        hash: u64,
        is_meant: impl Fn(usize) -> bool,
        hash_of: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        // A quarter stays free, so that runs of occupied slots are short.
        if self.rows >= self.slots.len() / 4 * 3 {
            self.grow(hash_of);
        }
        let slots = Slots::of(self.slots.len());
        let tag = slots.tag(hash);
        let mut place = slots.place(hash);
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                self.slots[place] = tag | (self.rows + 1) as u32;
                self.rows += 1;
                return None;
            }
            if (slot ^ tag) & !slots.mask == 0 {
                let row = (slot & slots.mask) as usize - 1;
                if is_meant(row) {
                    return Some(row);
                }
            }
            place = (place + 1) & slots.mask as usize;
        }
    }

    #[cold]
    fn grow(&mut self, hash_of: impl Fn(usize) -> u64) {
        let size = (self.slots.len() * 2).max(SMALLEST);
        // The columns have all the data, so the old table is freed before the new one is allocated.
        self.slots = Vec::new();
        self.slots = vec![0; size];
        let slots = Slots::of(size);
        for row in 0..self.rows {
            let hash = hash_of(row);
            let mut place = slots.place(hash);
            while self.slots[place] != 0 {
                place = (place + 1) & slots.mask as usize;
            }
            self.slots[place] = slots.tag(hash) | (row + 1) as u32;
        }
    }
}

/// The layout of slots in a table of a given size.
#[derive(Clone, Copy)]
struct Slots {
    /// The bits of a slot that are a row.
    mask: u32,
}

impl Slots {
    fn of(size: usize) -> Self {
        Self { mask: (size - 1) as u32 }
    }

    #[inline]
    fn place(self, hash: u64) -> usize {
        (hash >> 32) as usize & self.mask as usize
    }

    #[inline]
    fn tag(self, hash: u64) -> u32 {
        hash as u32 & !self.mask
    }
}

/// A hash of two numbers whose bits are all well mixed.
#[inline]
pub(crate) fn hash(a: u32, b: u32) -> u64 {
    let product = u128::from((u64::from(a) << 32 | u64::from(b)) ^ 0x9e37_79b9_7f4a_7c15)
        * 0xa076_1d64_78bd_642f;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn rows_are_found_again(keys in prop::collection::vec((0u32..40, 0u32..40), 0..3000)) {
            let (mut index, mut column, mut known) = (Index::default(), Vec::new(), HashMap::new());
            for key in keys {
                let found = index.find_or_add(hash(key.0, key.1), |row| column[row] == key, |row: usize| {
                    let (a, b): (u32, u32) = column[row];
                    hash(a, b)
                });
                prop_assert_eq!(found, known.get(&key).copied());
                known.entry(key).or_insert(column.len());
                if found.is_none() {
                    column.push(key);
                }
            }
        }
    }

    #[test]
    fn rows_with_the_same_hash_are_told_apart() {
        let mut index = Index::default();
        for key in 0..1000 {
            assert_eq!(index.find_or_add(7, |_| false, |_| 7), None);
            assert_eq!(index.find_or_add(7, |row| row == key, |_| 7), Some(key));
        }
    }
}
