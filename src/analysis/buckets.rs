//! Lists of numbers, one list for each of `0..count`, in two columns.

use super::prefetch::{prefetch, prefetch_offset};
use crate::model::heap::Offsets;

/// The list of key k is `items[first[k]..first[k + 1]]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    first: Offsets,
    items: Vec<u32>,
}

impl Buckets {
    /// Sorts pairs of key and item by key: counts, then places. Items of a key are in the
    /// **reverse** of the order in which `pairs` gives them. `pairs` is called twice and has to
    /// give the same pairs, at most `total`, with keys below `count`.
    pub(super) fn of<I: Iterator<Item = (u32, u32)>>(
        count: usize,
        total: usize,
        pairs: impl Fn() -> I,
    ) -> Self {
        let mut first = Offsets::zeros(count + 1, total as u64);
        let mut items = vec![0; total];
        match &mut first {
            Offsets::Small(first) => fill(first, &mut items, pairs),
            Offsets::Large(first) => fill(first, &mut items, pairs),
        }
        Self { first, items }
    }

    /// The items of a key.
    #[inline]
    pub(super) fn get(&self, key: u32) -> &[u32] {
        &self.items
            [self.first.get(key as usize) as usize..self.first.get(key as usize + 1) as usize]
    }

    /// Prefetches the position of the items of a key.
    #[inline]
    pub(super) fn prefetch_position(&self, key: u32) {
        prefetch_offset(&self.first, key as usize);
    }

    /// Prefetches the items of a key, whose position should have been prefetched.
    #[inline]
    pub(super) fn prefetch_items(&self, key: u32) {
        prefetch(&self.items, self.first.get(key as usize) as usize);
    }

    /// Calls `each` with every key, from the last to the first, its items, and `records`.
    /// Prefetches the records of the items, and those that one and two applications of `next` lead
    /// to, because `each` may read all of them.
    pub(super) fn for_each_backward<T>(
        &self,
        records: &mut [T],
        next: impl Fn(&T) -> u32,
        each: impl FnMut(u32, &[u32], &mut [T]),
    ) {
        match &self.first {
            Offsets::Small(first) => backward(first, &self.items, records, next, each),
            Offsets::Large(first) => backward(first, &self.items, records, next, each),
        }
    }
}

/// The number of items ahead for which records are prefetched: enough to hide the latency of
/// memory, few enough for the records to stay in the cache until they are needed.
const AHEAD: usize = 48;

fn backward<P: Position, T>(
    first: &[P],
    items: &[u32],
    records: &mut [T],
    next: impl Fn(&T) -> u32,
    mut each: impl FnMut(u32, &[u32], &mut [T]),
) {
    let before = |start: usize, end: usize, by: usize| {
        &items[start.saturating_sub(by)..end.saturating_sub(by)]
    };
    for (key, ends) in first.windows(2).enumerate().rev() {
        let (start, end) = (ends[0].index(), ends[1].index());
        before(start, end, AHEAD).iter().for_each(|item| prefetch(records, *item as usize));
        for &item in before(start, end, AHEAD / 3 * 2) {
            prefetch(records, next(&records[item as usize]) as usize);
        }
        for &item in before(start, end, AHEAD / 3) {
            let second = next(&records[item as usize]) as usize;
            prefetch(records, next(&records[second]) as usize);
        }
        each(key as u32, &items[start..end], records);
    }
}

/// A position, narrow or wide.
trait Position: Copy + std::ops::AddAssign + std::ops::SubAssign + From<u8> {
    fn index(self) -> usize;
}

impl Position for u32 {
    #[inline]
    fn index(self) -> usize {
        self as usize
    }
}

impl Position for u64 {
    #[inline]
    fn index(self) -> usize {
        self as usize
    }
}

fn fill<P: Position, I: Iterator<Item = (u32, u32)>>(
    first: &mut [P],
    items: &mut [u32],
    pairs: impl Fn() -> I,
) {
    for (key, _) in pairs() {
        first[key as usize] += P::from(1);
    }
    let mut sum = P::from(0);
    for place in first.iter_mut() {
        sum += *place;
        *place = sum;
    }
    // Each place is now the end of its list. Filling moves it to the beginning.
    for (key, item) in pairs() {
        let place = &mut first[key as usize];
        *place -= P::from(1);
        items[place.index()] = item;
    }
}
