//! Stacks as a tree: each is its caller's stack and one frame.

use super::FrameId;
use crate::model::index::{Index, MAX_ROWS, hash};

/// A stack of a [`StackTree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

impl StackId {
    /// The stack without frames.
    pub const EMPTY: Self = Self(0);

    /// Returns the id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stacks by their numbers. A stack's parent has a smaller number, so that a loop in the order of
/// numbers visits callers first. Equal stacks are stored once.
#[derive(Clone, Debug)]
pub struct StackTree {
    /// The parent and frame of each stack, side by side because they are read together at random.
    nodes: Vec<[u32; 2]>,
}

impl Default for StackTree {
    /// Creates a tree with only the empty stack.
    fn default() -> Self {
        Self { nodes: vec![Self::NO_FRAME] }
    }
}

impl StackTree {
    /// The maximum number of frames in a stack of a profile. Only endless recursion exceeds it;
    /// readers drop the innermost frames beyond it.
    pub const DEEPEST: u32 = 65_536;

    /// The maximum number of stacks.
    pub(crate) const MOST: usize = MAX_ROWS;

    /// The empty stack, as a caller and a frame.
    pub(super) const NO_FRAME: [u32; 2] = [StackId::EMPTY.0, u32::MAX];

    /// The number of stacks, including the empty one.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns all stacks except the empty one; callers come before callees.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = StackId> + use<> {
        (1..self.len() as u32).map(StackId)
    }

    /// The stack of the caller. The parent of the empty stack is itself.
    #[inline]
    pub fn parent(&self, stack: StackId) -> StackId {
        StackId(self.nodes[stack.index()][0])
    }

    /// The innermost frame; `None` for the empty stack.
    #[inline]
    pub fn leaf(&self, stack: StackId) -> Option<FrameId> {
        (stack != StackId::EMPTY).then(|| FrameId(self.nodes[stack.index()][1]))
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut stack = stack;
        std::iter::from_fn(move || {
            let [parent, frame] = self.nodes[stack.index()];
            let known = (stack != StackId::EMPTY).then_some(FrameId(frame));
            stack = StackId(parent);
            known
        })
    }

    /// Replaces the contents of a buffer with the frames of a stack, outermost first.
    pub fn outermost_first(&self, stack: StackId, frames: &mut Vec<FrameId>) {
        frames.clear();
        frames.extend(self.frames(stack));
        frames.reverse();
    }

    /// The number of frames of each stack.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0u32; self.len()];
        for stack in self.ids() {
            depths[stack.index()] = depths[self.parent(stack).index()] + 1;
        }
        depths
    }

    /// Returns the stack of a frame on top of another stack, and whether it is new. The index must
    /// have been used with this tree only. If there are no more stack numbers, the frame is
    /// dropped.
    #[inline]
    pub(crate) fn child(
        &mut self,
        index: &mut StackIndex,
        parent: StackId,
        frame: FrameId,
    ) -> (StackId, bool) {
        let nodes = &self.nodes;
        // The empty stack is in no index: row 0 is stack 1.
        let is_meant = |row: usize| nodes[row + 1] == [parent.0, frame.0];
        let hash_of = |row: usize| hash(nodes[row + 1][0], nodes[row + 1][1]);
        if nodes.len() == MAX_ROWS {
            return (parent, false);
        }
        // Stacks may have been added without the index.
        while index.0.len() + 1 < nodes.len() {
            index.0.find_or_add(hash_of(index.0.len()), |_| false, hash_of);
        }
        match index.0.find_or_add(hash(parent.0, frame.0), is_meant, hash_of) {
            Some(row) => (StackId(row as u32 + 1), false),
            None => (self.add(parent, frame), true),
        }
    }

    /// A tree of these stacks. They begin with the empty one.
    pub(super) fn of(nodes: Vec<[u32; 2]>) -> Self {
        Self { nodes }
    }

    /// Adds a stack without checking whether an equal one exists.
    #[inline]
    pub fn add(&mut self, parent: StackId, frame: FrameId) -> StackId {
        let stack = StackId(self.nodes.len() as u32);
        self.nodes.push([parent.0, frame.0]);
        stack
    }
}

/// Finds the stacks of a [`StackTree`] by their callers and frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackIndex(Index);
