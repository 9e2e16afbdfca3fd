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
        let sort = move || {
            let part = part.sorted();
            lock(&sorted.0).push(part);
        };
        // A single thread would begin to sort when the search is done, and keep all parts until then.
        if rayon::current_num_threads() == 1 {
            sort();
        } else {
            self.scope.spawn(move |_| sort());
        }
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
    /// A part with more numbers than this is full. A last reference may add one more: 2 MiB.
    const FULL: usize = (1 << 19) - 1;

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
        let first_source = self.numbers.first().copied().unwrap_or(0);
        let start = |block| start(first_source, block);
        let mut sources: Vec<u32> = (0..=block_of(self.source)).map(start).collect();
        let mut first = vec![0; sources.len() + 1];
        self.for_each(|target, source| {
            let block = block_of(target);
            first[block + 1] += 1 + (source - sources[block]) / FARTHEST;
            sources[block] = source;
        });
        for block in 1..first.len() {
            first[block] += first[block - 1];
        }
        sources.iter_mut().enumerate().for_each(|(block, source)| *source = start(block));
        let mut next = first.clone();
        let places = first.last().map_or(0, |last| *last as usize);
        let mut steps = vec![Step::default(); places];
        self.for_each(|target, source| {
            let block = block_of(target);
            let (mut step, place) = (source - sources[block], &mut next[block]);
            sources[block] = source;
            while step >= FARTHEST {
                steps[*place as usize].source = FARTHEST as u16;
                *place += 1;
                step -= FARTHEST;
            }
            steps[*place as usize] = Step { target: target as u16, source: step as u16 };
            *place += 1;
        });
        SortedPart { first, first_source, steps }
    }
}

/// The block of a number: 65,536 numbers are one.
fn block_of(number: u32) -> usize {
    (number >> u16::BITS) as usize
}

/// A number that no source of a reference to a block is below, given the first source of the part. With
/// it, fewer than 2³² places are enough for any number of objects.
fn start(first_source: u32, block: usize) -> u32 {
    first_source.max((block as u32) << u16::BITS)
}

/// References by blocks of their targets. Sources rise in each block.
struct SortedPart {
    /// The place where the references to each block begin, and the end of those to the last one.
    first: Vec<u32>,
    first_source: u32,
    steps: Vec<Step>,
}

/// A reference, as the difference between its target and the first number of the block, and between its
/// source and the one before in the block. If the latter is [`FARTHEST`], it is only a step toward the
/// next source.
#[derive(Clone, Copy, Default)]
struct Step {
    target: u16,
    source: u16,
}

/// The difference between sources from which on it takes several steps.
const FARTHEST: u32 = u16::MAX as u32;

impl SortedPart {
    fn of_block(&self, block: usize) -> &[Step] {
        let end = |block: usize| self.first.get(block).map_or(self.steps.len(), |at| *at as usize);
        &self.steps[end(block)..end(block + 1)]
    }

    /// Frees the references to a block and those after it, once they are a sixteenth of all that are left.
    /// References to the first blocks are the most numerous, as those to classes are.
    fn drop_from(&mut self, block: usize) {
        let left = self.first.get(block).map_or(self.steps.len(), |at| *at as usize);
        if left < self.steps.capacity() / 16 * 15 {
            self.steps.truncate(left);
            self.steps.shrink_to_fit();
        }
    }
}

/// The references of parts to targets of a block: the difference between the target and the first
/// number of the block, and the source.
struct OfBlock<'p> {
    parts: std::slice::Iter<'p, SortedPart>,
    block: usize,
    /// Those of a part that are left.
    steps: std::slice::Iter<'p, Step>,
    source: u32,
}

impl Iterator for OfBlock<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        loop {
            for step in self.steps.by_ref() {
                self.source += u32::from(step.source);
                if u32::from(step.source) != FARTHEST {
                    return Some((step.target.into(), self.source));
                }
            }
            let part = self.parts.next()?;
            (self.steps, self.source) =
                (part.of_block(self.block).iter(), start(part.first_source, self.block));
        }
    }
}

/// All references that lead back.
#[derive(Default)]
pub(super) struct SortedParts(Mutex<Vec<SortedPart>>);

impl SortedParts {
    /// Calls `each` with the first number of each block, from the last to the first, and the
    /// sources, grouped by the difference between their target and that number. All targets are below
    /// `numbers`.
    pub(super) fn for_each_block_backward(
        self,
        numbers: usize,
        mut each: impl FnMut(u32, &Buckets),
    ) {
        let mut parts = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let blocks = parts.iter().map(|part| part.first.len() - 1).max().unwrap_or(0);
        for block in (0..blocks).rev() {
            let first = block << u16::BITS;
            let keys = (numbers - first).min(1 << u16::BITS);
            let steps = parts.iter().map(|part| part.of_block(block).len()).sum();
            let references = || OfBlock { parts: parts.iter(), block, steps: [].iter(), source: 0 };
            each(first as u32, &Buckets::of(keys, steps, references));
            parts.iter_mut().for_each(|part| part.drop_from(block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts references, and returns them as they come.
    fn sorted(references: &[(u32, u32)], numbers: u32) -> Vec<(u32, u32)> {
        let sorted = SortedParts::default();
        rayon::scope(|scope| {
            let mut backward = Backward::new(scope, &sorted);
            references.iter().for_each(|(target, source)| backward.push(*target, *source));
            backward.finish();
        });
        let (mut found, mut records) = (Vec::new(), vec![0; numbers as usize]);
        sorted.for_each_block_backward(numbers as usize, |first, buckets| {
            buckets.for_each_backward(
                &mut records,
                |next| *next,
                |key, sources, _| {
                    found.extend(sources.iter().map(|source| (first + key, *source)));
                },
            );
        });
        found
    }

    #[test]
    fn references_of_several_parts_come_by_target_from_the_last_to_the_first() {
        const NUMBERS: u32 = 500_000;
        let to = |source: u32, at: u32| (source.wrapping_mul(0x9e37_79b9) ^ at) % source;
        let references =
            (1..NUMBERS).flat_map(|source| (0..source % 9).map(move |at| (to(source, at), source)));
        let mut expected: Vec<(u32, u32)> = references.collect();
        assert!(expected.len() > Part::FULL && block_of(NUMBERS) > 1);
        let mut found = sorted(&expected, NUMBERS);
        assert!(found.is_sorted_by(|(a, _), (b, _)| a >= b));
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected);
    }

    #[test]
    fn sources_may_be_as_far_apart_as_there_are_numbers() {
        let sources = [1, 2, 65_536, 65_537, 131_071, 131_072, 400_000, 465_534, 465_535, 999_999];
        let mut expected: Vec<(u32, u32)> =
            sources.iter().flat_map(|source| [(0, *source), (*source - 1, *source)]).collect();
        let mut found = sorted(&expected, 1_000_000);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
