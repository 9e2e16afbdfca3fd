//! Options and results of loading a heap or a profile.

pub use super::memory_limit::MemoryLimit;

use super::{Progress, ReadOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::model::heap::Heap;
use crate::model::profile::Profile;
use std::ops::ControlFlow;

/// The words of call frames that count as pointers (Go).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootScan {
    /// The words that the dump lists.
    Precise,
    /// Those, and all words of a frame that a live word points into: variables whose address was
    /// taken are not listed.
    #[default]
    Default,
    /// All words of all frames.
    Conservative,
}

/// The snapshot to load from a file with several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotChoice {
    /// The last complete one.
    #[default]
    Last,
    /// This one, from 0.
    Number(u64),
}

/// A JVM's layout of objects, as far as the user states it (hprof). All numbers are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutChoice {
    /// A reference: 4 or 8.
    pub references: Option<u64>,
    /// The header of an object: 8, 12 or 16.
    pub header: Option<u64>,
    /// The number of which addresses are multiples: a power of two from 8 to 256.
    pub alignment: Option<u64>,
}

/// The sizes of the objects of a V8 heap snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeSizes {
    /// The sizes in the file: each object has the memory that it takes.
    #[default]
    File,
    /// The sizes that Chrome DevTools shows: an array or hidden object with a single referrer is
    /// part of that referrer.
    Devtools,
}

/// Options for loading a heap.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct LoadOptions<'a> {
    /// The snapshot to load.
    pub snapshot: SnapshotChoice,
    /// The words of call frames that count as pointers.
    pub roots: RootScan,
    /// The layout of objects (hprof). Parts that the user does not state are inferred.
    pub layout: LayoutChoice,
    /// The sizes of objects (V8).
    pub sizes: NodeSizes,
    /// The executable that wrote the dump, for the names of its types (Go). Other formats ignore
    /// it.
    pub executable: Option<Executable<'a>>,
    /// Name objects whose type is only known by its address after their layout (Go), so that
    /// dumps of several builds have names in common.
    pub by_layout: bool,
    /// Omit everything that counting does not need and that takes memory or time: labels of
    /// references, and contents of objects (hprof, V8, Go with an executable).
    pub bare: bool,
    /// Told how far the reader is.
    pub progress: Progress<'a>,
}

impl<'a> LoadOptions<'a> {
    /// Sets which snapshot of the file to load.
    #[must_use]
    pub fn snapshot(self, snapshot: SnapshotChoice) -> Self {
        Self { snapshot, ..self }
    }

    /// Sets which words of call frames count as pointers.
    #[must_use]
    pub fn roots(self, roots: RootScan) -> Self {
        Self { roots, ..self }
    }

    /// Sets how objects are laid out (hprof).
    #[must_use]
    pub fn layout(self, layout: LayoutChoice) -> Self {
        Self { layout, ..self }
    }

    /// Sets whose sizes objects have (V8).
    #[must_use]
    pub fn sizes(self, sizes: NodeSizes) -> Self {
        Self { sizes, ..self }
    }

    /// Sets the executable that wrote the dump.
    #[must_use]
    pub fn executable(self, executable: Executable<'a>) -> Self {
        Self { executable: Some(executable), ..self }
    }

    /// Sets whether types known only by address are named after the layout of their objects.
    #[must_use]
    pub fn by_layout(self, by_layout: bool) -> Self {
        Self { by_layout, ..self }
    }

    /// Sets whether to leave out labels of references and contents of objects.
    #[must_use]
    pub fn bare(self, bare: bool) -> Self {
        Self { bare, ..self }
    }

    /// Sets the function that is told how far the reader is.
    #[must_use]
    pub fn progress(self, progress: Progress<'a>) -> Self {
        Self { progress, ..self }
    }
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        Self {
            snapshot: SnapshotChoice::default(),
            roots: RootScan::default(),
            layout: LayoutChoice::default(),
            sizes: NodeSizes::default(),
            executable: None,
            by_layout: false,
            bare: false,
            progress: &|_| {},
        }
    }
}

/// An executable and how to use it.
#[derive(Clone, Copy)]
pub struct Executable<'a> {
    /// The ELF, Mach-O or PE file, decompressed.
    pub bytes: &'a [u8],
    /// Whether to guess types of objects that nothing with a type leads to.
    pub guesses: bool,
}

/// Findings about an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutableReport {
    /// The version of Go, such as `go1.27.3`.
    pub go_version: String,
    /// Facts that agree between the executable and the dump, such as `118 stack frames`.
    pub checks: Vec<String>,
    /// Functions in the table of functions (pclntab).
    pub functions: u64,
    /// The source of the module data: its `section`, its `symbol` or a `scan`.
    pub module_data: &'static str,
    /// Type descriptors.
    pub descriptors: u64,
    /// Whether the executable has DWARF.
    pub has_debug: bool,
    /// Objects that two unrelated types explain equally well.
    pub conflicts: u64,
    /// Types that were not given to an object because its pointers contradict them.
    pub rejected: u64,
    /// Values of less than 16 bytes without pointers, which share objects: type name and count, by
    /// name.
    pub tiny_values: Vec<(String, u64)>,
}

impl ExecutableReport {
    /// The numbers of types that were in doubt, as a sentence without a full stop.
    pub fn remark(&self) -> String {
        let Self { conflicts, rejected, .. } = self;
        format!(
            "types of the executable: {conflicts} in conflict with others, {rejected} rejected because an object's pointers contradict them"
        )
    }
}

/// A loaded heap, with warnings and damage.
#[non_exhaustive]
pub struct Loaded<'a> {
    /// The part that could be loaded.
    pub heap: Heap<'a>,
    /// The damage that ended the reading early.
    pub damage: Option<Error>,
    /// Whether the damage hides roots or references, so that live and unreachable objects cannot be
    /// distinguished.
    pub incomplete: bool,
    /// The number of the snapshot.
    pub snapshot: u64,
    /// Notes for a person who asks for more, in sentences without a full stop.
    pub remarks: Vec<String>,
    /// Findings about [`LoadOptions::executable`].
    pub executable: Option<ExecutableReport>,
}

/// Options for loading a profile.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ProfileOptions<'a> {
    /// Keep every sample, and not only sums. Takes 12 to 16 bytes for each.
    pub keep_samples: bool,
    /// The memory that the profile may take.
    pub memory: MemoryLimit,
    /// Told how far the reader is.
    pub progress: Progress<'a>,
}

impl<'a> ProfileOptions<'a> {
    /// Sets whether every sample is kept, and not only sums.
    #[must_use]
    pub fn keep_samples(self, keep_samples: bool) -> Self {
        Self { keep_samples, ..self }
    }

    /// Sets the function that is told how far the reader is.
    #[must_use]
    pub fn progress(self, progress: Progress<'a>) -> Self {
        Self { progress, ..self }
    }
}

/// Options for readers that only summarize a profile.
impl<'a> From<ReadOptions<'a>> for ProfileOptions<'a> {
    fn from(options: ReadOptions<'a>) -> Self {
        Self { keep_samples: false, memory: options.memory, progress: options.progress }
    }
}

impl Default for ProfileOptions<'_> {
    fn default() -> Self {
        Self { keep_samples: false, memory: MemoryLimit::NONE, progress: &|_| {} }
    }
}

/// The damage that ended the reading of a profile, unless the reason was a lack of memory.
///
/// # Errors
/// [`ErrorKind::Memory`].
pub(super) fn damage(read: Result<()>) -> Result<Option<Error>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if error.kind() == ErrorKind::Memory => Err(error),
        Err(error) => Ok(Some(error)),
    }
}

/// A loaded profile, with notes and damage.
#[non_exhaustive]
pub struct LoadedProfile {
    /// The part that could be loaded.
    pub profile: Profile,
    /// The damage that ended the reading early.
    pub damage: Option<Error>,
}

impl LoadedProfile {
    /// The profile and the damage, for formats whose first line is a sample: damage before any
    /// sample is an error.
    pub(super) fn with_samples(self) -> Result<(Profile, Option<Error>)> {
        match self.damage {
            Some(error) if self.profile.total.samples() == 0 => Err(error),
            damage => Ok((self.profile, damage)),
        }
    }
}

/// Takes a profile in parts, so that it needs no memory for stacks that do not come again.
///
/// A part is a profile of which stacks and [`Profile::aggregate`] are those of the samples since
/// the part before, and all else is that of the samples so far. Names, frames and threads keep
/// their numbers from part to part; stacks do not, and in all but the first part a stack may stand
/// under several numbers ([`StackTree::may_repeat`](crate::model::profile::StackTree)): what is
/// counted for each stack, or wants it there once, must not rely on them.
#[non_exhaustive]
pub struct Parts<'p> {
    /// A part ends when its stacks and their sums are more than this together. After a part in
    /// which hardly a stack came again it is about a sixteenth of that, and stacks are not looked
    /// for.
    pub size: usize,
    /// Takes a part. `Break` ends the loading.
    pub take: &'p mut dyn FnMut(&mut Profile) -> ControlFlow<()>,
}

impl<'p> Parts<'p> {
    /// Parts of [`Parts::SIZE`], which `take` receives.
    pub fn new(take: &'p mut dyn FnMut(&mut Profile) -> ControlFlow<()>) -> Self {
        Self { size: Self::SIZE, take }
    }

    /// Sets the size of a part.
    #[must_use]
    pub fn size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Hardly a recording has more stacks than that. A sixteenth of it, and what is made of them,
    /// stays in the processor's caches.
    pub const SIZE: usize = 1 << 20;
}

/// The error for a snapshot that a file does not have: `no snapshot 7; the file has 0–3`.
#[cold]
pub fn no_snapshot(number: u64, count: u64) -> Error {
    Error::absent(format!("no snapshot {number}; {}", snapshots(count)))
}

/// Describes the snapshots of a file, for messages.
pub fn snapshots(count: u64) -> String {
    match count {
        0 => "the file has none".to_owned(),
        1 => "the file has only snapshot 0".to_owned(),
        _ => format!("the file has 0–{}", count.saturating_sub(1)),
    }
}

/// Refuses all but the only snapshot of a format that has one.
///
/// # Errors
/// When a snapshot other than the only one is requested.
pub(super) fn only_snapshot(choice: SnapshotChoice) -> Result<()> {
    match choice {
        SnapshotChoice::Number(number @ 1..) => Err(no_snapshot(number, 1)),
        SnapshotChoice::Number(0) | SnapshotChoice::Last => Ok(()),
    }
}
