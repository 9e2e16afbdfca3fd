//! Calls between functions, in profiles without stacks.

use super::{FrameId, Profile, ProfileFrame, ThreadId, Values};
use rustc_hash::FxHashMap;

/// The calls of a file that has costs of functions and of calls, but no stacks (callgrind).
///
/// The stacks of its profile are single frames, with the own costs of the lines of functions. A line
/// may be of another file than its function, where code of that file was inlined.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// The frame of each frame's function, which has no line.
    functions: Vec<FrameId>,
    calls: Vec<Call>,
    /// By function: its inclusive costs, if the file states them.
    totals: FxHashMap<FrameId, Values>,
}

/// All calls of a function by a line of another one, in one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The thread.
    pub thread: ThreadId,
    /// The line that contains the calls.
    pub caller: FrameId,
    /// The function that is called, as [`CallGraph::function`] returns it.
    pub callee: FrameId,
    /// The number of calls.
    pub count: u64,
    /// The inclusive costs of the calls.
    pub values: Values,
}

impl CallGraph {
    /// Approximate bytes of a call, with its entry in a [`CallIndex`].
    pub(crate) const BYTES_PER_CALL: u64 = 180;

    /// The calls, in the order of the file.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(crate) fn retain_threads(&mut self, is_wanted: impl Fn(ThreadId) -> bool) {
        self.calls.retain(|call| is_wanted(call.thread));
    }

    /// The frame of the function that a frame is in.
    #[inline]
    pub fn function(&self, frame: FrameId) -> FrameId {
        self.functions.get(frame.index()).copied().unwrap_or(frame)
    }

    pub(crate) fn set_function(&mut self, frame: FrameId, function: FrameId) {
        for next in self.functions.len()..=frame.index() {
            self.functions.push(FrameId(next as u32));
        }
        self.functions[frame.index()] = function;
    }

    /// The total costs of functions, if the file has them, in no order.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (&FrameId, &Values)> {
        self.totals.iter()
    }

    pub(crate) fn state_total(&mut self, function: FrameId, total: Values) {
        self.totals.insert(function, total);
    }

    /// Adds calls to those of the same line, function and thread. The index must have been used
    /// with this graph only.
    pub(crate) fn add(&mut self, index: &mut CallIndex, call: Call) {
        let next = self.calls.len();
        let row = *index.0.entry((call.thread, call.caller, call.callee)).or_insert(next);
        match self.calls.get_mut(row) {
            Some(known) => {
                known.count = known.count.saturating_add(call.count);
                known.values.add(&call.values);
            }
            None => self.calls.push(call),
        }
    }
}

/// Finds the calls of a [`CallGraph`].
#[derive(Debug, Default)]
pub(crate) struct CallIndex(FxHashMap<(ThreadId, FrameId, FrameId), usize>);

impl Profile {
    /// The function that a frame is in: the frame itself, unless the profile has a call graph.
    pub fn function_of(&self, frame: FrameId) -> ProfileFrame {
        self.frame(self.calls.as_ref().map_or(frame, |calls| calls.function(frame)))
    }
}
