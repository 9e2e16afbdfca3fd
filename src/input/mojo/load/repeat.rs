//! STACK_REPEAT: the previous stack of the same thread, without what belonged to its moment only.

use crate::input::frames::is_python_file;
use crate::model::profile::{FrameKind, ProfileBuilder, StackId};
use rustc_hash::FxHashMap;

/// The last stacks of all threads.
#[derive(Debug, Default)]
pub(super) struct Previous {
    threads: FxHashMap<(i128, Vec<u8>), u32>,
    stacks: Vec<StackId>,
}

impl Previous {
    /// The number of a thread: process and name, as austin-python keys them.
    pub(super) fn thread(&mut self, pid: i128, name: &[u8]) -> u32 {
        *self.threads.entry((pid, name.to_owned())).or_insert_with(|| {
            let number = self.stacks.len() as u32;
            self.stacks.push(StackId::EMPTY);
            number
        })
    }

    /// The stack of a sample that is complete.
    #[inline]
    pub(super) fn set(&mut self, thread: u32, stack: StackId) {
        if let Some(previous) = self.stacks.get_mut(thread as usize) {
            *previous = stack;
        }
    }

    /// The previous frames of the thread, and the frames of `stack` on top of them.
    pub(super) fn repeat(
        &self,
        thread: u32,
        stack: StackId,
        builder: &mut ProfileBuilder,
    ) -> StackId {
        let Some(&previous) = self.stacks.get(thread as usize) else { return stack };
        let kept = kept(previous, builder);
        if stack == StackId::EMPTY {
            return kept;
        }
        let mut frames = Vec::new();
        builder.stacks().outermost_first(stack, &mut frames);
        frames.into_iter().fold(kept, |stack, frame| builder.push(stack, frame))
    }
}

/// The frames of a stack that are code, without native ones at the end.
fn kept(stack: StackId, builder: &mut ProfileBuilder) -> StackId {
    let is_code = |kind| matches!(kind, FrameKind::Code | FrameKind::Native);
    let mut kept = stack;
    while let Some(frame) = builder.stacks().leaf(kept) {
        let frame = builder.definition(frame);
        if is_code(frame.kind) && is_python_file(builder.text(frame.file)) {
            break;
        }
        kept = builder.stacks().parent(kept);
    }
    if builder.is_code_only(kept) {
        return kept;
    }
    let mut frames = Vec::new();
    builder.stacks().outermost_first(kept, &mut frames);
    frames.retain(|&frame| is_code(builder.definition(frame).kind));
    frames.into_iter().fold(StackId::EMPTY, |stack, frame| builder.push(stack, frame))
}
