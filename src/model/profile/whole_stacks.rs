//! Whole stacks, which become a part of a [`StackTree`](super::StackTree) together.
//!
//! To find the place of each frame of a stack in the tree takes a lookup at random. If all stacks are
//! known, sorting them is faster: each then has its first frames in common with the one before, and
//! all its other frames are new. It also leaves the tree in the order of a depth-first search, so
//! that walks up and down the tree read memory in order.

use super::{FrameId, StackId, StackTree};
use crate::model::index::{Index, hash};
use crate::parallel;
use rayon::prelude::*;

/// The stacks that one thread puts into the tree before it takes the next ones.
const PART: usize = 1 << 10;

/// Distinct stacks, each with all its frames.
#[derive(Debug, Default)]
pub struct WholeStacks {
    /// The frames of all stacks, outermost first.
    frames: Vec<FrameId>,
    /// The end of each stack in the frames.
    ends: Vec<usize>,
    index: Index,
}

/// Stacks in the order of their frames.
#[derive(Debug)]
pub struct SortedStacks<'s> {
    stacks: &'s WholeStacks,
    /// The rows of the stacks.
    rows: Vec<u32>,
    /// By place in the rows: the number of outermost frames in common with the stack before.
    shared: Vec<u32>,
    /// By place: the number in the tree of the first stack that is new. One more is the length of
    /// the tree.
    starts: Vec<usize>,
}

impl WholeStacks {
    /// Returns the row of a stack, outermost frame first, and adds the stack if it is new. Of a stack
    /// with more than [`StackTree::DEEPEST`] frames, only the outermost ones are kept.
    pub fn add(&mut self, stack: &[FrameId]) -> u32 {
        let stack = stack.get(..StackTree::DEEPEST as usize).unwrap_or(stack);
        let Self { frames, ends, index } = self;
        let row_frames = |row: usize| {
            let start = row.checked_sub(1).map_or(0, |before| ends[before]);
            &frames[start..ends[row]]
        };
        let known = index.find_or_add(
            hash_of(stack),
            |row| row_frames(row) == stack,
            |row| hash_of(row_frames(row)),
        );
        let row = known.unwrap_or_else(|| {
            frames.extend_from_slice(stack);
            ends.push(frames.len());
            ends.len() - 1
        });
        row as u32
    }

    /// The approximate memory in bytes, with that of sorting.
    pub fn bytes(&self) -> u64 {
        self.frames.len() as u64 * 6 + self.ends.len() as u64 * 32
    }

    /// The frames of a stack, outermost first.
    fn frames(&self, row: u32) -> &[FrameId] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.frames[start..self.ends[row as usize]]
    }

    /// Sorts the stacks, on all threads.
    pub fn sorted(&self) -> SortedStacks<'_> {
        let mut rows: Vec<u32> = (0..self.ends.len() as u32).collect();
        rows.par_sort_unstable_by(|&one, &other| self.frames(one).cmp(self.frames(other)));
        let shared: Vec<u32> = parallel::column(rows.len(), |start, shared| {
            for (place, shared) in (start..).zip(shared) {
                let Some(before) = place.checked_sub(1) else { continue };
                let pairs = self.frames(rows[before]).iter().zip(self.frames(rows[place]));
                *shared = pairs.take_while(|(one, other)| one == other).count() as u32;
            }
        });
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(1);
        for (&row, &shared) in rows.iter().zip(&shared) {
            starts.push(starts[starts.len() - 1] + self.frames(row).len() - shared as usize);
        }
        SortedStacks { stacks: self, rows, shared, starts }
    }
}

impl SortedStacks<'_> {
    /// The length of their tree: the number of stacks in it, with the empty one.
    pub fn length(&self) -> usize {
        self.starts[self.rows.len()]
    }

    /// The number of each stack in the tree, by row.
    pub(super) fn numbers(&self) -> Vec<StackId> {
        let mut numbers = vec![StackId::EMPTY; self.rows.len()];
        for (&row, &end) in self.rows.iter().zip(&self.starts[1..]) {
            // Only the empty stack has no frame that is new, and it comes first.
            numbers[row as usize] = StackId(end as u32 - 1);
        }
        numbers
    }

    /// The tree of the stacks. Also a number for each stack in it, which `next` computes from the
    /// number of its caller and its frame; that of the empty stack is 0. Uses all threads.
    pub(super) fn tree(&self, next: impl Fn(u32, FrameId) -> u32 + Sync) -> (StackTree, Vec<u32>) {
        let (mut nodes, mut numbers) = (vec![[0; 2]; self.length()], vec![0; self.length()]);
        nodes[0] = StackTree::NO_FRAME;
        let (mut rest, mut rest_numbers) = (&mut nodes[1..], &mut numbers[1..]);
        let mut parts = Vec::new();
        for start in (0..self.rows.len()).step_by(PART) {
            let places = start..(start + PART).min(self.rows.len());
            let length = self.starts[places.end] - self.starts[start];
            let (part, part_numbers);
            (part, rest) = rest.split_at_mut(length);
            (part_numbers, rest_numbers) = rest_numbers.split_at_mut(length);
            parts.push((places, part, part_numbers));
        }
        parallel::for_each(parts, |(places, nodes, numbers)| {
            let mut new = nodes.iter_mut().zip(numbers);
            let mut path = self.path(places.start, &next);
            for place in places {
                let shared = self.shared[place] as usize;
                path.truncate(shared + 1);
                let (mut stack, mut number) = path[shared];
                let frames = &self.frames(place)[shared..];
                let frames = (self.starts[place] as u32..).zip(frames);
                for ((at, &frame), (node, of_node)) in frames.zip(&mut new) {
                    *node = [stack, frame.0];
                    (stack, number) = (at, next(number, frame));
                    *of_node = number;
                    path.push((stack, number));
                }
            }
        });
        (StackTree::of(nodes), numbers)
    }

    /// The empty stack, and the outermost frames that the stack at a place shares with the one
    /// before, as stacks of the tree and numbers.
    fn path(&self, place: usize, next: impl Fn(u32, FrameId) -> u32) -> Vec<(u32, u32)> {
        let mut wanted = self.shared[place] as usize;
        let mut path = vec![(StackId::EMPTY.0, 0); wanted + 1];
        let mut before = place;
        // Each of these stacks was new in one of the stacks before.
        while wanted > 0 {
            before -= 1;
            let shared = self.shared[before] as usize;
            for (depth, number) in (shared..wanted).zip(self.starts[before] as u32..) {
                path[depth + 1].0 = number;
            }
            wanted = wanted.min(shared);
        }
        for (depth, &frame) in self.frames(place)[..path.len() - 1].iter().enumerate() {
            path[depth + 1].1 = next(path[depth].1, frame);
        }
        path
    }

    fn frames(&self, place: usize) -> &[FrameId] {
        self.stacks.frames(self.rows[place])
    }
}

fn hash_of(stack: &[FrameId]) -> u64 {
    stack
        .iter()
        .fold(stack.len() as u64, |sum, frame| hash(sum as u32 ^ (sum >> 32) as u32, frame.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::{FrameKind, ProfileBuilder, ProfileFrame};
    use proptest::prelude::*;

    fn with_frames(count: usize) -> (ProfileBuilder, Vec<FrameId>) {
        let mut builder = ProfileBuilder::new(false);
        let frames = (0..count).map(|number| {
            let function = builder.name(format!("f{number}").as_bytes());
            let kind = if number == 0 { FrameKind::Gc } else { FrameKind::Code };
            builder.frame(ProfileFrame { function, file: function, line: 0, kind })
        });
        let frames = frames.collect();
        (builder, frames)
    }

    proptest! {
        #[test]
        fn the_tree_is_that_of_stacks_added_one_by_one(
            stacks in prop::collection::vec(prop::collection::vec(0usize..4, 0..9), 0..3000)
        ) {
            let ((mut builder, frames), (mut other, _)) = (with_frames(4), with_frames(4));
            let mut whole = WholeStacks::default();
            let stacks: Vec<Vec<FrameId>> = stacks
                .iter()
                .map(|stack| stack.iter().map(|frame| frames[*frame]).collect())
                .collect();
            let rows: Vec<u32> = stacks.iter().map(|stack| whole.add(stack)).collect();
            let sorted = whole.sorted();
            builder.set_stacks(&sorted);
            let numbers = sorted.numbers();
            for (stack, row) in stacks.iter().zip(rows) {
                let mut known = Vec::new();
                let number = numbers[row as usize];
                builder.stacks().outermost_first(number, &mut known);
                prop_assert_eq!(&known, stack);
                let one_by_one = other.push_all(StackId::EMPTY, stack);
                prop_assert_eq!(builder.is_code_only(number), other.is_code_only(one_by_one));
                // All stacks are in the tree already.
                prop_assert_eq!(builder.push_all(StackId::EMPTY, stack), number);
            }
            prop_assert_eq!(builder.stacks().len(), other.stacks().len());
            prop_assert!(builder.stacks().ids().all(|id| builder.stacks().parent(id) < id));
        }
    }

    #[test]
    fn frames_beyond_the_deepest_are_left_out() {
        let (mut builder, frames) = with_frames(2);
        let mut whole = WholeStacks::default();
        let row = whole.add(&vec![frames[1]; StackTree::DEEPEST as usize + 7]);
        let sorted = whole.sorted();
        builder.set_stacks(&sorted);
        assert_eq!(sorted.numbers()[row as usize].0, StackTree::DEEPEST);
    }
}
