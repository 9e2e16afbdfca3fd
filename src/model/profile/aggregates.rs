//! The sums of the samples of each thread in each of its stacks, in columns.

use super::column::ValueColumns;
use super::{StackId, ThreadId, Values};
use crate::model::index::{Index, MAX_ROWS, hash};

/// The sum of the samples of one thread in one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// The thread of the samples.
    pub thread: ThreadId,
    /// The stack of the samples.
    pub stack: StackId,
    /// The sums of the samples.
    pub values: Values,
}

/// Sums by thread and stack, in the order of first appearance. Most take 16 bytes, because most
/// sums are small and profiles measure few metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aggregates {
    thread: Vec<ThreadId>,
    stack: Vec<StackId>,
    sums: ValueColumns,
}

/// Finds the rows of [`Aggregates`].
#[derive(Debug, Default)]
pub(super) struct AggregateIndex(Index);

impl Aggregates {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Returns all sums.
    pub fn iter(&self) -> impl Iterator<Item = Aggregate> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Returns the sums at a row.
    #[inline]
    pub fn get(&self, row: usize) -> Aggregate {
        Aggregate { thread: self.thread[row], stack: self.stack[row], values: self.sums.get(row) }
    }

    /// Moves every row to another stack. Rows of a thread must stay in different ones.
    pub(super) fn move_stacks(&mut self, mut moved: impl FnMut(ThreadId, StackId) -> StackId) {
        for (thread, stack) in self.thread.iter().zip(&mut self.stack) {
            *stack = moved(*thread, *stack);
        }
    }

    /// Returns the same sums in other stacks. Several old stacks may become one.
    pub(super) fn moved(&self, moved: &[StackId]) -> Self {
        let (mut sums, mut index) = (Self::default(), AggregateIndex::default());
        for row in self.iter() {
            sums.add(&mut index, row.thread, moved[row.stack.index()], &row.values);
        }
        sums
    }

    /// Adds to the sums of a thread in a stack. The index must have been used with this column
    /// only, and for all of its rows.
    #[inline]
    pub(super) fn add(
        &mut self,
        index: &mut AggregateIndex,
        thread: ThreadId,
        stack: StackId,
        values: &Values,
    ) {
        let (threads, stacks) = (&self.thread, &self.stack);
        let is_meant = |row: usize| stacks[row] == stack && threads[row] == thread;
        let hash_of = |row: usize| hash(threads[row].0, stacks[row].0);
        let found = match stacks.len() {
            // There are no more row numbers: the last row takes the remaining samples, so that
            // totals stay correct.
            MAX_ROWS => Some(MAX_ROWS - 1),
            _ => index.0.find_or_add(hash(thread.0, stack.0), is_meant, hash_of),
        };
        let row = found.unwrap_or_else(|| {
            self.thread.push(thread);
            self.stack.push(stack);
            self.stack.len() - 1
        });
        self.sums.add(row, values);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ProfileSample, Values};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(
            samples in prop::collection::vec(
                (0u32..3, 0u32..4, any::<Option<i64>>(), prop_oneof![Just(None), (-9i64..9).prop_map(Some)], any::<bool>()),
                0..99,
            )
        ) {
            let (mut rows, mut index, mut expected) = (Aggregates::default(), AggregateIndex::default(), HashMap::new());
            for (thread, stack, time, memory, mark) in samples {
                let (thread, stack) = (ThreadId(thread), StackId(stack));
                let values = Values::of_sample(&ProfileSample { thread, stack, time, memory, idle: mark, gc: !mark });
                rows.add(&mut index, thread, stack, &values);
                expected.entry((thread, stack)).or_insert_with(Values::default).add(&values);
            }
            prop_assert_eq!(rows.len(), expected.len());
            for row in rows.iter() {
                prop_assert_eq!(&row.values, &expected[&(row.thread, row.stack)]);
            }
        }
    }
}
