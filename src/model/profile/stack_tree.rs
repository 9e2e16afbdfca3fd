//! Stacks as a tree: each is its caller's stack and one frame.

use super::FrameId;

/// A stack of a [`StackTree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

impl StackId {
    /// The stack without frames.
    pub const EMPTY: Self = Self(0);

    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stacks by their numbers. A stack's parent has a smaller number, so that a loop over all in order meets callers first.
#[derive(Clone, Debug)]
pub struct StackTree {
    parent: Vec<StackId>,
    frame: Vec<FrameId>,
}

impl Default for StackTree {
    /// The empty stack alone.
    fn default() -> Self {
        Self { parent: vec![StackId::EMPTY], frame: vec![FrameId(u32::MAX)] }
    }
}

impl StackTree {
    /// How many there are, with the empty one.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there is no stack but the empty one.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// All but the empty one; callers come before what they call.
    pub fn ids(&self) -> impl Iterator<Item = StackId> + use<> {
        (1..self.len() as u32).map(StackId)
    }

    /// The stack of the caller. The empty stack is its own.
    #[inline]
    pub fn parent(&self, stack: StackId) -> StackId {
        self.parent[stack.index()]
    }

    /// The innermost frame; None for the empty stack.
    #[inline]
    pub fn leaf(&self, stack: StackId) -> Option<FrameId> {
        (stack != StackId::EMPTY).then(|| self.frame[stack.index()])
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut stack = stack;
        std::iter::from_fn(move || {
            let frame = self.leaf(stack)?;
            stack = self.parent(stack);
            Some(frame)
        })
    }

    /// The frames of a stack, outermost first, into a buffer that is emptied before.
    pub fn outermost_first(&self, stack: StackId, frames: &mut Vec<FrameId>) {
        frames.clear();
        frames.extend(self.frames(stack));
        frames.reverse();
    }

    /// Adds a stack without looking whether there is one that is equal.
    pub fn add(&mut self, parent: StackId, frame: FrameId) -> StackId {
        let stack = StackId(self.parent.len() as u32);
        self.parent.push(parent);
        self.frame.push(frame);
        stack
    }
}
