//! Weighted stacks, the common form of profiles and dominator trees.
//!
//! In a profile, the numbers of a stack were measured while the program was in it. In a dominator
//! tree, a stack is a path of dominators: its own value is the shallow size of the objects there,
//! and the sum over all stacks that begin with it is their retained size. The same writers serve
//! both.
//!
//! [`WeightedStacksBuilder`] builds weighted stacks; [`of_profile()`] makes them from a profile.

mod builder;
mod of_profile;

pub use builder::WeightedStacksBuilder;
pub use of_profile::{Selection, of_profile};

use super::names::{NameId, Names};
pub use super::profile::ValueType;
use super::profile::{
    Code, FrameId, ProfileFrame, ProfileMetadatum, SampleLabel, StackId, StackTree, add_all,
    display_name,
};

/// Maximum number of frames of a stack. One more frame states how many deeper frames were cut.
pub const MAX_DEPTH: usize = 500;

/// A thread of a profile, or a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// `P19488;T0:19488` for a thread of a profile, split at the `;` where groups are shown; for a
    /// heap, its title.
    pub name: String,
    /// Process id; `None` for heaps.
    pub pid: Option<i128>,
    /// Thread id or name; `None` for heaps.
    pub thread: Option<String>,
    /// Interpreter id inside the process, in formats that have it.
    pub interpreter: Option<i128>,
    /// The labels of the track's entries, if labels are kept, including the thread and process.
    pub labels: Vec<SampleLabel>,
}

/// The time and state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds from the track's beginning to the beginning of the sample.
    pub start: i64,
    /// The duration of the sample in microseconds.
    pub length: i64,
    /// Whether the thread was idle.
    pub idle: bool,
    /// Whether the garbage collector was running.
    pub gc: bool,
    /// Change of memory in bytes, which may be negative.
    pub memory: i64,
}

/// Stacks with weights.
#[derive(Clone, Debug, Default)]
pub struct WeightedStacks {
    /// The title: the name of the input.
    pub title: String,
    /// All strings of the stacks.
    pub names: Names,
    /// The frames, indexed by [`FrameId`].
    pub frames: Vec<ProfileFrame>,
    /// The stacks, indexed by [`StackId`]. No stack has more than [`MAX_DEPTH`] frames.
    pub stacks: StackTree,
    /// The meaning of an entry's numbers, in order.
    pub values: Vec<ValueType>,
    /// The index of the main value.
    pub main: usize,
    /// The threads or heaps that entries belong to.
    pub tracks: Vec<Track>,
    entries: Entries,
    /// Whether entries are in the order of time. Otherwise each pair of a track and a stack occurs
    /// at most once.
    pub in_order: bool,
    /// The sampling interval in microseconds, if known.
    pub interval_us: Option<u64>,
    /// The duration of the recording in microseconds, if known.
    pub duration_us: Option<u64>,
    /// The places of frames, where they are kept.
    pub code: Option<Code>,
    /// Statements of the input about itself.
    pub metadata: Vec<ProfileMetadatum>,
    /// Entries whose stacks were cut at [`MAX_DEPTH`].
    pub cut_entries: u64,
}

#[derive(Clone, Debug, Default)]
struct Entries {
    track: Vec<u32>,
    stack: Vec<StackId>,
    /// The values of the entries: one for each value type, entry after entry.
    values: Vec<i64>,
    /// The moment of each entry. Empty if entries are not in the order of time.
    moments: Vec<Moment>,
}

/// One entry of [`WeightedStacks`].
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Index of the track.
    pub track: usize,
    /// The stack of the entry.
    pub stack: StackId,
    /// One number for each value type.
    pub values: &'a [i64],
    /// The time of the entry, if entries are in chronological order.
    pub moment: Option<Moment>,
}

impl WeightedStacks {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.stack.len()
    }

    /// Returns all entries.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> + '_ {
        (0..self.len()).map(|row| self.entry(row))
    }

    /// Returns the entry at a row.
    #[inline]
    pub fn entry(&self, row: usize) -> Entry<'_> {
        let width = self.values.len();
        Entry {
            track: self.entries.track[row] as usize,
            stack: self.entries.stack[row],
            values: &self.entries.values[row * width..(row + 1) * width],
            moment: self.entries.moments.get(row).copied(),
        }
    }

    /// The sum of each value type.
    pub fn totals(&self) -> Vec<i64> {
        let mut totals = vec![0i64; self.values.len()];
        for entry in self.iter() {
            add_all(&mut totals, entry.values);
        }
        totals
    }

    /// Returns a frame.
    #[inline]
    pub fn frame(&self, frame: FrameId) -> ProfileFrame {
        self.frames[frame.index()]
    }

    /// The function's name as people see it.
    pub fn function_name(&self, frame: FrameId) -> &str {
        let frame = self.frame(frame);
        display_name(frame.kind, self.names.text(frame.function))
    }

    /// Returns the text of a name.
    pub fn text(&self, name: NameId) -> &str {
        self.names.text(name)
    }
}
