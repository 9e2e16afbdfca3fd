//! Work that threads share, compiled once for the program.
//!
//! rayon's splitting, stealing and waiting are compiled anew for each closure, which is about 5,000
//! lines of LLVM IR for each loop. Here rayon sees closures behind a pointer only. Each item costs a
//! call and a lock, so items should be blocks of objects or parts of a file. Loops over single objects
//! call rayon themselves.

#[cfg(feature = "cli")]
mod beside;
pub(crate) mod on_demand;

#[cfg(feature = "cli")]
pub(crate) use beside::beside;

use crate::phases;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls a function for each item, on all threads. The results are in the order of the items.
pub(crate) fn map<I: Send, R: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    let slots = items.into_iter().map(|item| Mutex::new((Some(item), None)));
    let slots: Vec<Mutex<(Option<I>, Option<R>)>> = slots.collect();
    let part = phases::part();
    run(slots.len(), &|at| {
        let mut slot = lock(&slots[at]);
        let (item, result) = &mut *slot;
        *result = item.take().map(|item| part.run(|| work(item)));
    });
    let results = slots.into_iter().filter_map(|slot| {
        let (_, result) = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        result
    });
    results.collect()
}

/// The maximum number of [`parts`].
const PARTS: usize = 16;

/// Divides a range into few parts for all threads, because the result of each takes up to 24 bytes for each
/// type. A single thread takes the whole range.
pub(crate) fn parts(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let parts = match rayon::current_num_threads() {
        1 => 1,
        threads => (2 * threads).min(PARTS),
    };
    let (length, end) = (range.len().div_ceil(parts).max(1), range.end);
    range.step_by(length).map(move |first| first..(first + length).min(end))
}

/// Calls a function for each item, on all threads.
pub(crate) fn for_each<I: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) + Sync) {
    map(items, work);
}

/// One list of all items. Lists are freed as soon as they are copied, so that large ones do not all take
/// their memory twice.
pub(crate) fn joined<T: Copy>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    lists.into_iter().for_each(|list| all.extend_from_slice(&list));
    all
}

/// Creates a column. `fill` writes a part of it at a time, on all threads, and gets the place at which the
/// part begins.
pub(crate) fn column<T: Copy + Default + Send>(
    length: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut column = vec![T::default(); length];
    let parts = column.chunks_mut(PART).enumerate();
    for_each(parts, |(part, places)| fill(part * PART, places));
    column
}

/// Creates the words of a set of objects: `word` returns the bits of 64 objects.
pub(crate) fn words(objects: usize, word: impl Fn(usize) -> u64 + Sync) -> Vec<u64> {
    const WORDS: usize = PART / 64;
    let mut words = vec![0; objects.div_ceil(64)];
    for_each(words.chunks_mut(WORDS).enumerate(), |(part, words)| {
        (part * WORDS..).zip(words).for_each(|(at, bits)| *bits = word(at));
    });
    words
}

/// Places of a column that one thread works on before another may take the next ones.
pub(crate) const PART: usize = 1 << 16;

/// Runs two functions, on two threads if another one is free.
pub(crate) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    let part = phases::part();
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    both(&mut || of_a = a.take().map(|a| part.run(a)), &mut || {
        of_b = b.take().map(|b| part.run(b))
    });
    of_a.zip(of_b).expect("both functions have run")
}

/// Locks a mutex whose contents stay valid if a thread panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::Phase;

    #[test]
    fn phases_on_other_threads_belong_to_the_one_that_is_open() {
        let outer = Phase::new("outer");
        let within = |_| Phase::new("inner").within;
        assert_eq!(map(0..1000, within), vec![outer.number; 1000]);
        assert_eq!(join(|| within(0), || map(0..2, within)), (outer.number, vec![outer.number; 2]));
        let number = outer.number;
        drop(outer);
        assert!(Phase::new("next").within != number);
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let doubled: Vec<u64> = (0..10_000).map(|item| item * 2).collect();
        assert_eq!(map(0..10_000_u64, |item| item * 2), doubled);
        assert!(map(Vec::<u8>::new(), |item| item).is_empty());
    }

    #[test]
    fn each_item_is_changed_once() {
        let mut items = vec![0; 1000];
        for_each(&mut items, |item| *item += 1);
        assert_eq!(items, [1; 1000]);
    }

    #[test]
    fn each_place_of_a_column_is_filled() {
        let fill = |first: usize, places: &mut [u32]| {
            (first as u32..).zip(places).for_each(|(place, value)| *value += place);
        };
        for length in [0, 1, PART, PART * 3 + 1] {
            assert!(column(length, fill).into_iter().eq(0..length as u32));
        }
    }

    #[test]
    fn both_results_of_a_pair_come_back() {
        assert_eq!(join(|| 1, || join(|| "two", || 3.0)), (1, ("two", 3.0)));
    }
}
