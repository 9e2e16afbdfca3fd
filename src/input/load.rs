//! Options and results of loading a heap or a profile.

pub use super::options::{LayoutChoice, MemoryLimit};

use super::options::options;
use super::{Progress, ReadOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::model::heap::{Heap, MAX_OBJECTS};
use crate::model::profile::Profile;
use crate::names::{JavaMapping, SourceMaps};

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
    /// The snapshot with this number, counted from 0.
    Number(u64),
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

/// The types of plain objects (V8): those made by `{…}`, whose class is `Object`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlainObjectTypes {
    /// Types named after the properties that many objects have, such as `{etag, data}`, as in
    /// Chrome DevTools.
    #[default]
    ByProperties,
    /// The type `Object`.
    One,
}

options! {
    /// Options for loading a heap.
    pub struct LoadOptions<'a> {
        /// The snapshot to load.
        snapshot: SnapshotChoice = SnapshotChoice::default(),
        /// The words of call frames that count as pointers.
        roots: RootScan = RootScan::default(),
        /// The layout of objects (hprof). Parts that the user does not state are inferred.
        layout: LayoutChoice = LayoutChoice::default(),
        /// The sizes of objects (V8).
        sizes: NodeSizes = NodeSizes::default(),
        /// The types of plain objects (V8).
        plain_objects: PlainObjectTypes = PlainObjectTypes::default(),
        /// The executable that wrote the dump, for the names of its types (Go). Other formats ignore
        /// it.
        executable: Option<Executable<'a>> = None,
        /// Name objects whose type is only known by its address after their layout (Go), so that
        /// dumps of several builds have names in common.
        by_layout: bool = false,
        /// The names that classes and fields had before the program was minified (hprof).
        mapping: Option<&'a JavaMapping> = None,
        /// The source maps of scripts, for the names of their functions and classes (V8).
        source_maps: Option<&'a SourceMaps> = None,
        /// Omit everything that counting does not need and that takes memory or time: labels of
        /// references, and contents of objects (hprof, V8, Go).
        bare: bool = false,
        /// Keep the labels of all references in memory (hprof), for work that needs most of them.
        /// Otherwise, a label is decoded from the file each time it is needed.
        stored_labels: bool = false,
        /// Receives the offset that the reader has reached.
        progress: Progress<'a> = &|_| {},
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
    /// Additional notes, in sentences without a full stop.
    pub remarks: Vec<String>,
    /// Findings about [`LoadOptions::executable`].
    pub executable: Option<ExecutableReport>,
}

impl<'a> Loaded<'a> {
    /// Wraps a heap that was loaded without damage from a file with one snapshot.
    pub fn of(heap: Heap<'a>) -> Self {
        Self {
            heap,
            damage: None,
            incomplete: false,
            snapshot: 0,
            remarks: Vec::new(),
            executable: None,
        }
    }
}

options! {
    /// Options for loading a profile.
    pub struct ProfileOptions<'a> {
        /// Keep every sample, and not only sums. Takes 12 to 16 bytes for each.
        keep_samples: bool = false,
        /// Keep the addresses of frames, and the programs and libraries that they are in (pprof).
        keep_code: bool = false,
        /// Keep the frames that the profile asks to leave out (`drop_frames` of pprof; `keep_code`
        /// keeps them as well), and those of allocators at the inner end of stacks.
        all_frames: bool = false,
        /// Keep the numbers of the samples instead of scaling them to all allocations (jemalloc,
        /// gperftools).
        raw_counts: bool = false,
        /// The snapshot to load (massif). `None`: the peak.
        snapshot: Option<SnapshotChoice> = None,
        /// The metrics whose samples are needed. Others may be left out (JFR).
        metrics: MetricChoice<'a> = MetricChoice::All,
        /// Looks up the functions of frames of which the file has only addresses.
        symbols: Option<&'a dyn NameCode> = None,
        /// The names that a minified Java program had (JFR).
        mapping: Option<&'a JavaMapping> = None,
        /// The source maps of scripts, for the names of their functions (V8, pprof).
        source_maps: Option<&'a SourceMaps> = None,
        /// The memory that the profile may take.
        memory: MemoryLimit = MemoryLimit::NONE,
        /// Receives the offset that the reader has reached.
        progress: Progress<'a> = &|_| {},
    }
}

/// The metrics to load from a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricChoice<'a> {
    /// All metrics.
    #[default]
    All,
    /// The main metric.
    Main,
    /// The metric with this name.
    Named(&'a str),
}

/// Looks up functions by their addresses.
pub trait NameCode: Sync {
    /// Names the frames of a profile that has [places](Profile::code) but not all functions. Keeps
    /// the places only with `keep_code`.
    fn name_code(&self, profile: &mut Profile, keep_code: bool);

    /// Returns an unwinder for the stacks of a recording. `None` if they cannot be unwound.
    fn unwinder(&self) -> Option<Box<dyn Unwind + '_>> {
        None
    }
}

/// Unwinds stacks of which registers and bytes were recorded.
pub trait Unwind {
    /// Appends the addresses of a stack, innermost first: those of calls, not return addresses.
    /// `find` returns the file and mapping of the code at an address.
    fn unwind<'m>(
        &mut self,
        stack: &RecordedStack<'_>,
        find: &dyn Fn(u64) -> Option<CodeRegion<'m>>,
        addresses: &mut Vec<u64>,
    );
}

/// A part of a stack, recorded on x86-64.
#[derive(Clone, Copy, Debug)]
pub struct RecordedStack<'a> {
    /// Values by DWARF register number; the last one is the address of the instruction.
    pub registers: &'a [Option<u64>; 17],
    /// The address of the first of `bytes`.
    pub start: u64,
    /// The recorded contents of the stack.
    pub bytes: &'a [u8],
}

/// Code of a program or library in memory.
#[derive(Clone, Copy, Debug)]
pub struct CodeRegion<'a> {
    /// The first address.
    pub start: u64,
    /// The offset in the file of the byte at the first address.
    pub offset: u64,
    /// The path of the file.
    pub file: &'a [u8],
    /// The build id of the file; empty if unknown.
    pub build_id: &'a str,
}

impl<'a> ProfileOptions<'a> {
    /// Looks up the functions of a profile that has places.
    pub(super) fn named(self, mut profile: Profile) -> Profile {
        if let Some(symbols) = self.symbols.filter(|_| profile.code.is_some()) {
            symbols.name_code(&mut profile, self.keep_code);
        }
        profile
    }
}

/// Options for readers that only summarize a profile.
impl<'a> From<ReadOptions<'a>> for ProfileOptions<'a> {
    fn from(options: ReadOptions<'a>) -> Self {
        let ReadOptions { symbols, mapping, source_maps, memory, progress, .. } = options;
        Self { symbols, mapping, source_maps, memory, progress, ..Self::default() }
    }
}

/// The damage that ended the reading of a profile, unless the reason was a lack of memory. Fails
/// with [`ErrorKind::Memory`].
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

/// Refuses a dump with more objects than can be numbered. Fails with [`ErrorKind::Limit`].
pub(super) fn check_count(objects: usize) -> Result<()> {
    if objects as u64 <= MAX_OBJECTS {
        return Ok(());
    }
    Err(Error::limit(0, "the dump has too many objects").expected(format!("at most {MAX_OBJECTS}")))
}

/// Refuses a snapshot number other than 0, for formats whose files have one snapshot.
pub(super) fn only_snapshot(choice: SnapshotChoice) -> Result<()> {
    match choice {
        SnapshotChoice::Number(number @ 1..) => Err(no_snapshot(number, 1)),
        SnapshotChoice::Number(0) | SnapshotChoice::Last => Ok(()),
    }
}
