//! References of the search that lead back, from larger numbers to smaller ones.
//!
//! They are found by source and needed by target. Sorting all of them at once would write to memory
//! in random order. Instead, other threads sort parts of them by blocks of targets while the search
//! goes on, and each block is sorted by target when its turn comes, within the caches.

use crate::analysis::buckets::Buckets;
use crate::parallel::lock;
use std::sync::{Mutex, PoisonError};

/// Receives the references that lead backward from the search that finds them.
pub(super) struct Backward<'s, 'scope> {
    scope: &'s rayon::Scope<'scope>,
    sorted: &'scope SortedParts,
    part: Part,
}

impl<'s, 'scope> Backward<'s, 'scope> {
    /// Parts are sorted within the scope.
    pub(super) fn new(scope: &'s rayon::Scope<'scope>, sorted: &'scope SortedParts) -> Self {
        Self { scope, sorted, part: Part::default() }
    }

    /// Adds a reference. The source is not below the one before, and above the target.
    #[inline]
    pub(super) fn push(&mut self, target: u32, source: u32) {
        if self.part.numbers.len() >= Part::FULL {
            self.hand_over();
        }
        self.part.push(target, source);
    }

    /// Hands over the last references for sorting.
    pub(super) fn finish(mut self) {
        self.hand_over();
    }

    #[cold]
    fn hand_over(&mut self) {
        let (part, sorted) = (std::mem::take(&mut self.part), self.sorted);
        self.scope.spawn(move |_| {
            let part = part.sorted();
            lock(&sorted.0).push(part);
        });
    }
}

/// References in the order of their sources.
///
/// A source is stored once, before its targets. Sources rise, and targets are smaller than their
/// source, so a number above the last source is the next source. Most references take 4 bytes.
#[derive(Default)]
struct Part {
    numbers: Vec<u32>,
    source: u32,
}

impl Part {
    /// A part with more numbers than this is full. A last reference may add one more: 4 MiB.
    const FULL: usize = (1 << 20) - 1;

    #[inline]
    fn push(&mut self, target: u32, source: u32) {
        if self.source != source {
            self.source = source;
            self.numbers.push(source);
        }
        self.numbers.push(target);
    }

    /// Calls `each` with the target and the source of each reference.
    #[inline]
    fn for_each(&self, mut each: impl FnMut(u32, u32)) {
        let mut source = 0;
        for &number in &self.numbers {
            if number > source {
                source = number;
            } else {
                each(number, source);
            }
        }
    }

    fn sorted(self) -> SortedPart {
        let mut first = vec![0; block_of(self.source) + 2];
        self.for_each(|target, _| first[block_of(target) + 1] += 1);
        for block in 1..first.len() {
            first[block] += first[block - 1];
        }
        let mut next = first.clone();
        let references = first.last().map_or(0, |last| *last as usize);
        let (mut targets, mut sources) = (vec![0; references], vec![0; references]);
        self.for_each(|target, source| {
            let place = &mut next[block_of(target)];
            targets[*place as usize] = target as u16;
            sources[*place as usize] = source;
            *place += 1;
        });
        SortedPart { first, targets, sources }
    }
}

/// The block of a number: 65,536 numbers are one.
fn block_of(number: u32) -> usize {
    (number >> u16::BITS) as usize
}

/// References by blocks of their targets.
struct SortedPart {
    /// The place where the references to each block begin, and the end of those to the last one.
    first: Vec<u32>,
    /// The difference between each target and the first number of its block.
    targets: Vec<u16>,
    sources: Vec<u32>,
}

impl SortedPart {
    fn of_block(&self, block: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let end =
            |block: usize| self.first.get(block).map_or(self.sources.len(), |at| *at as usize);
        let range = end(block)..end(block + 1);
        let references = self.targets[range.clone()].iter().zip(&self.sources[range]);
        references.map(|(target, source)| ((*target).into(), *source))
    }
}

/// All references that lead back.
#[derive(Default)]
pub(super) struct SortedParts(Mutex<Vec<SortedPart>>);

impl SortedParts {
    /// Calls `each` with the first number of each block, from the last to the first, and the
    /// sources, grouped by the difference between their target and that number.
    pub(super) fn for_each_block_backward(self, mut each: impl FnMut(u32, &Buckets)) {
        let parts = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let blocks = parts.iter().map(|part| part.first.len() - 1).max().unwrap_or(0);
        for block in (0..blocks).rev() {
            let references = || parts.iter().flat_map(|part| part.of_block(block));
            let (mut count, mut last) = (0, 0);
            for (target, _) in references() {
                (count, last) = (count + 1, target.max(last));
            }
            let buckets = Buckets::of(last as usize + 1, count, references);
            each((block << u16::BITS) as u32, &buckets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_several_parts_come_by_target_from_the_last_to_the_first() {
        const NUMBERS: u32 = 500_000;
        let to = |source: u32, at: u32| (source.wrapping_mul(0x9e37_79b9) ^ at) % source;
        let references =
            (1..NUMBERS).flat_map(|source| (0..source % 9).map(move |at| (to(source, at), source)));
        let mut expected: Vec<(u32, u32)> = references.collect();
        assert!(expected.len() > Part::FULL && block_of(NUMBERS) > 1);
        let sorted = SortedParts::default();
        rayon::scope(|scope| {
            let mut backward = Backward::new(scope, &sorted);
            expected.iter().for_each(|(target, source)| backward.push(*target, *source));
            backward.finish();
        });
        let (mut found, mut records) = (Vec::new(), vec![0; NUMBERS as usize]);
        sorted.for_each_block_backward(|first, buckets| {
            buckets.for_each_backward(
                &mut records,
                |next| *next,
                |key, sources, _| {
                    found.extend(sources.iter().map(|source| (first + key, *source)));
                },
            );
        });
        assert!(found.is_sorted_by(|(a, _), (b, _)| a >= b));
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected);
    }
}
