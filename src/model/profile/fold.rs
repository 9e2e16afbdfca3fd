//! Folds frames into their callers.

use super::aggregates::AggregateIndex;
use super::{Aggregates, FrameId, Profile, StackId};

impl Profile {
    /// Moves the sums of stacks whose innermost frames are `folded` to the stacks of their callers.
    /// Stacks of such frames alone keep the outermost one. Single samples stay as they are.
    pub(crate) fn fold_innermost(&mut self, folded: impl Fn(&Self, FrameId) -> bool) {
        let is_folded: Vec<bool> =
            (0..self.frames.len() as u32).map(|frame| folded(self, FrameId(frame))).collect();
        if !is_folded.contains(&true) {
            return;
        }
        let mut moved = vec![StackId::EMPTY; self.stacks.len()];
        for stack in self.stacks.ids() {
            let caller = moved[self.stacks.parent(stack).index()];
            let leaf = self.stacks.leaf(stack);
            let is_folded = leaf.is_some_and(|leaf| is_folded[leaf.index()]);
            moved[stack.index()] =
                if is_folded && caller != StackId::EMPTY { caller } else { stack };
        }
        let (mut rows, mut index) = (Aggregates::default(), AggregateIndex::default());
        for row in self.aggregate.iter() {
            rows.add(&mut index, row.thread, moved[row.stack.index()], &row.values);
        }
        self.aggregate = rows;
    }
}
