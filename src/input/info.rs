//! The result of `info`: header, totals, sizes. Every reader fills the same structure.

mod dart;
pub mod facts;
mod go;
mod hprof;
mod interpreters;
mod jfr;
mod warning;

pub(super) use dart::TAG_NAMES;
pub use dart::{ByTag, DartDetails, DartTopClass, HeaderTotals};
pub use go::{
    GoDetails, GoMemstats, Goroutines, NameCount, PhantomRule, SegmentSize, Segments,
    TypeSourceCounts, TypesFromExecutable,
};
pub use hprof::{HprofDetails, HprofLayout, HprofTopClass, RootCount};
pub use interpreters::{BiggestType, ByKind, MvmheapDetails};
pub use interpreters::{CountsByName, HeapsnapshotDetails};
pub use interpreters::{PmatDetails, PyheapDetails, RubyDetails};
pub use jfr::{JfrDetails, JvmSetting};
pub use warning::InfoWarning;

use super::{Format, Kind};
use crate::error::Error;
use facts::{Phrase, Summary};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// A summary of a dump. Sizes are in bytes, times in microseconds.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Info {
    /// The format.
    pub format: Format,
    /// The version as the format counts it: `3.1`, `1.7`, `4`.
    pub format_version: Option<String>,
    /// Heap or profile.
    pub kind: Kind,
    /// Whether the file was read to its proper end.
    pub complete: bool,
    /// The damage that stopped the reading.
    pub damage: Option<Damage>,
    /// Warnings that a person should know before trusting the numbers.
    pub warnings: Vec<InfoWarning>,
    /// Key and value pairs of the file's own header, in its order.
    pub metadata: Vec<Metadatum>,
    /// The number of records of each name.
    pub records: RecordCounts,
    /// The summary of a heap. `None` for profiles.
    pub heap: Option<HeapInfo>,
    /// The summary of a profile. `None` for heaps.
    pub profile: Option<ProfileInfo>,
}

impl Info {
    /// An empty, complete summary. An empty version becomes `None`.
    pub(super) fn new(format: Format, kind: Kind, format_version: impl Into<String>) -> Self {
        Self {
            format,
            format_version: Some(format_version.into()).filter(|version| !version.is_empty()),
            kind,
            complete: true,
            damage: None,
            warnings: Vec::new(),
            metadata: Vec::new(),
            records: RecordCounts::default(),
            heap: None,
            profile: None,
        }
    }

    /// Records the damage that stopped the reading. The first damage counts.
    pub fn set_damage(&mut self, error: Option<Error>) {
        let Some(error) = error else { return };
        self.complete = false;
        self.damage.get_or_insert(Damage { error });
    }

    /// Sets the only heap of the file and the damage that stopped its reading.
    pub(super) fn set_heap(&mut self, heap: SnapshotInfo, damage: Option<Error>) {
        let snapshot = SnapshotInfo { complete: damage.is_none(), ..heap };
        self.heap = Some(HeapInfo { snapshots: vec![snapshot] });
        self.set_damage(damage);
    }

    /// Adds a key and value pair of the header.
    pub fn add_metadata(&mut self, key: impl Into<String>, value: impl ToString) {
        self.metadata.push(Metadatum { key: key.into(), value: value.to_string() });
    }
}

/// The damage that stopped the reading, and its place.
#[derive(Debug)]
pub struct Damage {
    /// The error that the reader met.
    pub error: Error,
}

impl Serialize for Damage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("offset", &self.error.offset())?;
        map.serialize_entry("kind", self.error.kind().name())?;
        map.serialize_entry("message", &self.error.message())?;
        map.end()
    }
}

/// A key and value pair of a file's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metadatum {
    /// The key, as in the file.
    pub key: String,
    /// The value, as in the file.
    pub value: String,
}

/// Counts by record name, in the order in which the names were declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts(Vec<(&'static str, u64)>);

impl RecordCounts {
    /// Adds to the count of a record name.
    pub fn add(&mut self, name: &'static str, count: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, total)) => *total = total.saturating_add(count),
            None => self.0.push((name, count)),
        }
    }

    /// Adds the given counts, except those that are 0.
    pub(super) fn add_all(&mut self, counts: impl IntoIterator<Item = (&'static str, u64)>) {
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        counts.for_each(|(name, count)| self.add(name, count));
    }

    /// The count of a record name, 0 if there were none.
    pub fn count(&self, name: &str) -> u64 {
        self.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }

    /// Names and counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Returns the number of records of all kinds.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |total, (_, count)| total.saturating_add(*count))
    }
}

impl Serialize for RecordCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The heaps of a dump. Only MoarVM writes several snapshots into one file.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct HeapInfo {
    /// The snapshots, in file order.
    pub snapshots: Vec<SnapshotInfo>,
}

/// One heap. The reader of each format defines what each count means. `None` means that the count
/// is unknown without more work.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct SnapshotInfo {
    /// Position in the file, from 0.
    pub index: u64,
    /// Whether the whole snapshot was readable.
    pub complete: bool,
    /// Objects of the runtime.
    pub objects: Option<u64>,
    /// References between objects.
    pub references: Option<u64>,
    /// References or pointers that keep objects alive.
    pub roots: Option<u64>,
    /// Types known to the file.
    pub types: Option<u64>,
    /// Bytes of the objects in the managed heap.
    pub shallow_bytes: Option<u64>,
    /// Bytes that objects own outside the managed heap.
    pub external_bytes: Option<u64>,
    /// The time of the snapshot, in microseconds since the start of the profiled program.
    pub time_us: Option<u64>,
    /// Details that only this format has.
    pub details: FormatDetails,
}

impl SnapshotInfo {
    /// A complete snapshot of which nothing but the details is known.
    pub(super) fn new(details: FormatDetails) -> Self {
        Self {
            index: 0,
            complete: true,
            objects: None,
            references: None,
            roots: None,
            types: None,
            shallow_bytes: None,
            external_bytes: None,
            time_us: None,
            details,
        }
    }

    /// The references between objects, or an upper bound of them. `None` if neither is known.
    pub fn most_references(&self) -> Option<u64> {
        match &self.details {
            FormatDetails::Hprof(details) => Some(details.reference_slots),
            _ => self.references,
        }
    }
}

/// Details that only one format has.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum FormatDetails {
    /// Details of a MoarVM heap snapshot.
    Mvmheap(Box<MvmheapDetails>),
    /// Details of a Dart VM heap snapshot.
    Dart(Box<DartDetails>),
    /// Details of a Go heap dump.
    Go(Box<GoDetails>),
    /// Details of a Java heap dump.
    Hprof(Box<HprofDetails>),
    /// Details of a V8 heap snapshot.
    Heapsnapshot(Box<HeapsnapshotDetails>),
    /// Details of a Ruby heap dump.
    Ruby(Box<RubyDetails>),
    /// Details of a Perl heap dump.
    Pmat(Box<PmatDetails>),
    /// Details of a Python heap dump.
    Pyheap(Box<PyheapDetails>),
}

impl HeapInfo {
    /// Summarizes the heaps for a person. Returns `None` if no heap is readable.
    pub fn summary(&self, info: &Info) -> Option<Summary> {
        let snapshot = self.snapshots.first()?;
        let mut summary = Summary::default();
        let to = &mut summary;
        match &snapshot.details {
            FormatDetails::Go(details) => details.summarize(snapshot, to),
            FormatDetails::Dart(details) => details.summarize(snapshot, to),
            FormatDetails::Hprof(details) => details.summarize(info, snapshot, to),
            FormatDetails::Heapsnapshot(details) => details.summarize(snapshot, to),
            FormatDetails::Pmat(details) => details.summarize(snapshot, to),
            FormatDetails::Ruby(details) => details.summarize(snapshot, to),
            FormatDetails::Pyheap(details) => details.summarize(snapshot, to),
            FormatDetails::Mvmheap(_) => interpreters::summarize(info, &self.snapshots, to),
        }
        Some(summary)
    }
}

impl CountsByName {
    /// The largest counts first, equal ones by name.
    pub(super) fn largest_first<N: ToString>(counts: impl IntoIterator<Item = (N, u64)>) -> Self {
        let counts = counts.into_iter().map(|(name, count)| (name.to_string(), count));
        let mut counts: Vec<(String, u64)> = counts.collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Self(counts)
    }

    /// The names with the largest counts.
    fn most(&self) -> Phrase {
        let mut counts: Vec<_> = self.0.iter().map(|(name, count)| (name, *count)).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        facts::numbers(counts.into_iter().take(4))
    }
}

/// A profile. Sums are over all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProfileInfo {
    /// The mode: `wall`, `cpu`, `memory`, `full`, `samples`.
    pub mode: Option<String>,
    /// Stacks that were taken.
    pub samples: u64,
    /// Samples without any frame.
    pub empty_samples: u64,
    /// Samples that the profiler marked as unreliable.
    pub invalid_samples: u64,
    /// Distinct process ids.
    pub processes: u64,
    /// Distinct threads: process, interpreter and thread id.
    pub threads: u64,
    /// Distinct frames.
    pub frames: u64,
    /// Distinct strings.
    pub strings: u64,
    /// Sum of the time metric; 0 if there is none.
    pub time_us: u64,
    /// Sum of the time metric of samples that were not idle, if the mode records that.
    pub cpu_time_us: Option<u64>,
    /// Net sum of the memory metric, where the mode has one.
    pub memory_bytes: Option<i64>,
    /// Samples taken while the garbage collector ran.
    pub gc_samples: u64,
    /// Time of the samples taken while the garbage collector ran.
    pub gc_time_us: u64,
    /// The sampling interval.
    pub interval_us: Option<u64>,
    /// The length of the recording.
    pub duration_us: Option<u64>,
    /// The metrics in the order of the file.
    pub metrics: Vec<MetricInfo>,
    /// The function with the largest self value.
    pub hottest: Option<Hottest>,
    /// The value of libraries whose functions have no names, the largest first.
    pub unnamed: Vec<UnnamedLibrary>,
    /// Details that only this format has.
    pub details: Option<ProfileDetails>,
}

/// A library whose functions have no names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnnamedLibrary {
    /// The path of the library. `None` for addresses outside of all libraries.
    pub library: Option<String>,
    /// The sum of the default metric in the library itself.
    pub value: i64,
    /// The share of the total, from 0 to 1.
    pub share: f64,
}

/// Details of profiles that only one format has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ProfileDetails {
    /// Details of a recording of Java's Flight Recorder.
    Jfr(Box<JfrDetails>),
    /// Details of a profile of native code: jemalloc, gperftools, heaptrack, DHAT, massif,
    /// callgrind, perf.
    Native(NativeDetails),
}

/// Details of a profile of native code.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NativeDetails {
    /// One allocation in about this many bytes was sampled. `None` if all were recorded.
    pub rate: Option<u64>,
    /// Whether numbers are scaled from the samples to all allocations.
    pub scaled: bool,
    /// The part of the default metric in functions without names.
    pub unnamed: UnnamedShare,
}

/// The libraries whose functions have no names, as shares of the default metric from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UnnamedShare {
    /// The share of all of them.
    pub share: f64,
    /// The share of each, the largest first.
    pub libraries: Vec<LibraryShare>,
}

/// A library whose functions have no names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LibraryShare {
    /// The path of the library. `None` for addresses outside of all libraries.
    pub name: Option<String>,
    /// The share of the default metric, from 0 to 1.
    pub share: f64,
}

impl NativeDetails {
    /// Describes a profile that was sampled at this rate.
    pub(super) fn of(unnamed: &[UnnamedLibrary], rate: Option<u64>, scaled: bool) -> Self {
        let library =
            |row: &UnnamedLibrary| LibraryShare { name: row.library.clone(), share: row.share };
        let share = unnamed.iter().fold(0.0, |sum, row| sum + row.share);
        let libraries = unnamed.iter().map(library).collect();
        Self { rate, scaled, unnamed: UnnamedShare { share, libraries } }
    }
}

/// A metric of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// The name, as in the file.
    pub name: String,
    /// The unit, as in the file.
    pub unit: String,
    /// The sum over all samples.
    pub total: i64,
    /// Whether the metric is the default.
    pub default: bool,
}

/// The function with the largest self value of time or memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hottest {
    /// The name of the function.
    pub name: String,
    /// The source file of the function, if known.
    pub namespace: Option<String>,
    /// The share of the total, from 0 to 1.
    pub share: f64,
}
