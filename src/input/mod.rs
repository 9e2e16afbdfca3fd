//! The readers: one module for each format, and the few things they have in common.
//!
//! Every reader has a **pull iterator of records** with their offsets, which serves `cat`, `info` and `check`, and says
//! of itself what it can read. The set of formats is closed: [`Format`] dispatches with plain `match`es.
//!
//! A reader never panics on its input, never recurses over it, and allocates no more than the input's size justifies.
//! It stops at the first damage and gives what came before it together with the error.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

#[doc(hidden)]
pub mod austin;
pub mod check;
#[doc(hidden)]
pub mod dart;
mod frames;
#[doc(hidden)]
pub mod go;
pub mod histogram;
#[doc(hidden)]
pub mod hprof;
pub mod info;
pub mod load;
#[doc(hidden)]
pub mod mojo;
#[doc(hidden)]
pub mod mvmheap;
mod profile_info;
mod record;

pub use dart::details::{ByTag, DartDetails, DartTopClass, HeaderTotals};
pub use go::details::{GoDetails, GoMemstats, Goroutines, NameCount, SegmentSize, Segments};
pub use hprof::details::{HprofDetails, HprofTopClass, RootCount};
pub use mvmheap::summary::{BiggestType, ByKind, MvmheapDetails};

use crate::error::{Error, Result};
use crate::model::fields::Record;
use check::Findings;
use histogram::TypeCounts;
use info::Info;
use load::{LoadOptions, Loaded, LoadedProfile, Parts, ProfileOptions};
use std::ops::ControlFlow;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// MoarVM heap snapshots.
    Mvmheap,
    /// Dart VM heap snapshots.
    Dart,
    /// Go heap dumps.
    Go,
    /// Java heap dumps.
    Hprof,
    /// Austin MOJO profiles.
    Mojo,
    /// Profiles as Austin's text.
    Austin,
}

/// All formats that are read, in the order in which they are listed.
pub const FORMATS: [Format; 6] = [Format::Mvmheap, Format::Dart, Format::Go, Format::Hprof, Format::Mojo, Format::Austin];

/// The two kinds of dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A graph of objects.
    Heap,
    /// A stream of samples.
    Profile,
}

impl Format {
    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mvmheap => "mvmheap",
            Self::Dart => "dart",
            Self::Go => "go",
            Self::Hprof => "hprof",
            Self::Mojo => "mojo",
            Self::Austin => "austin",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Mvmheap => mvmheap::TITLE,
            Self::Dart => dart::TITLE,
            Self::Go => go::TITLE,
            Self::Hprof => hprof::TITLE,
            Self::Mojo => mojo::TITLE,
            Self::Austin => austin::TITLE,
        }
    }

    /// The versions that are read, for people.
    pub fn versions(self) -> &'static str {
        match self {
            Self::Mvmheap => mvmheap::VERSIONS,
            Self::Dart => dart::VERSIONS,
            Self::Go => go::VERSIONS,
            Self::Hprof => hprof::VERSIONS,
            Self::Mojo => mojo::VERSIONS,
            Self::Austin => austin::VERSIONS,
        }
    }

    /// The extensions that such files usually have. They are never used to tell a format.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Mvmheap => mvmheap::EXTENSIONS,
            Self::Dart => dart::EXTENSIONS,
            Self::Go => go::EXTENSIONS,
            Self::Hprof => hprof::EXTENSIONS,
            Self::Mojo => mojo::EXTENSIONS,
            Self::Austin => austin::EXTENSIONS,
        }
    }

    /// The bytes that such files begin with.
    pub fn magics(self) -> &'static [&'static [u8]] {
        match self {
            Self::Mvmheap => mvmheap::MAGICS,
            Self::Dart => dart::MAGICS,
            Self::Go => go::MAGICS,
            Self::Hprof => hprof::MAGICS,
            Self::Mojo => mojo::MAGICS,
            Self::Austin => austin::MAGICS,
        }
    }

    /// The names of the records of the format, as `cat --record` takes them.
    pub fn record_names(self) -> Vec<&'static str> {
        match self {
            Self::Mvmheap => mvmheap::RECORD_NAMES.to_vec(),
            Self::Dart => dart::RECORD_NAMES.to_vec(),
            Self::Go => go::RECORD_NAMES.concat(),
            Self::Hprof => hprof::RECORD_NAMES.concat(),
            Self::Mojo => mojo::RECORD_NAMES.to_vec(),
            Self::Austin => austin::RECORD_NAMES.to_vec(),
        }
    }

    /// Heap or profile: what nearly all files of the format are. [`kind()`] says what one of them is.
    pub fn kind(self) -> Kind {
        match self {
            Self::Mvmheap | Self::Dart | Self::Go | Self::Hprof => Kind::Heap,
            Self::Mojo | Self::Austin => Kind::Profile,
        }
    }
}

/// What a file is. Only hprof has both kinds.
pub fn kind(format: Format, bytes: &[u8]) -> Kind {
    match format {
        Format::Hprof => hprof::kind(bytes),
        _ => format.kind(),
    }
}

/// Called now and then with the offset that has been reached, for a progress bar.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// How to read.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Take what summaries in the file say instead of reading the data (mvmheap; no effect elsewhere).
    pub quick: bool,
    /// Told how far the reader is.
    pub progress: Progress<'a>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self { quick: false, progress: &|_| {} }
    }
}

/// Receives the records of a dump one by one.
pub trait Visitor {
    /// Takes one record, whose first byte is at `offset`. `Break` ends the reading.
    fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()>;
}

/// Gives the records of an iterator to the visitor, up to the first damage.
fn visit<R: Record>(
    records: impl Iterator<Item = Result<(u64, R)>>,
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<ControlFlow<()>> {
    for (i, record) in records.enumerate() {
        let (offset, record) = record?;
        if i % 65536 == 0 {
            (options.progress)(offset);
        }
        if visitor.record(offset, &record).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Summarizes a dump in one pass with constant memory, without building its graph.
///
/// A damaged dump gives a summary of what could be read, with [`Info::damage`] set.
///
/// # Errors
/// When not even the header can be read, or its version is unknown.
pub fn info(format: Format, bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    match format {
        Format::Mvmheap => mvmheap::info(bytes, options),
        Format::Dart => dart::info(bytes, options),
        Format::Go => go::info(bytes, options),
        Format::Hprof => hprof::info(bytes, options),
        Format::Mojo => mojo::info(bytes, options),
        Format::Austin => austin::info(bytes, options),
    }
}

/// Gives every record of a dump to the visitor, in the order of the file, with constant memory.
///
/// # Errors
/// The first damage. All records before it have been given to the visitor.
pub fn for_each_record(format: Format, bytes: &[u8], options: ReadOptions<'_>, visitor: &mut impl Visitor) -> Result<()> {
    match format {
        Format::Mvmheap => mvmheap::for_each_record(bytes, options, visitor),
        Format::Dart => dart::for_each_record(bytes, options, visitor),
        Format::Go => go::for_each_record(bytes, options, visitor),
        Format::Hprof => hprof::for_each_record(bytes, options, visitor),
        Format::Mojo => mojo::for_each_record(bytes, options, visitor),
        Format::Austin => austin::for_each_record(bytes, options, visitor),
    }
}

/// Checks every invariant that the format promises. Damage is part of the findings.
///
/// # Errors
/// As [`info()`].
pub fn check(format: Format, bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    match format {
        Format::Mvmheap => mvmheap::check(bytes, options),
        Format::Dart => dart::check(bytes, options),
        Format::Go => go::check(bytes, options),
        Format::Hprof => hprof::check(bytes, options),
        Format::Mojo => mojo::check(bytes, options),
        Format::Austin => austin::check(bytes, options),
    }
}

/// Loads a heap. A damaged dump gives what could be loaded, with [`Loaded::damage`] set.
///
/// # Errors
/// When nothing can be loaded: the header cannot be read, the version is unknown, there is no such snapshot, or the dump is a
/// profile.
pub fn load<'a>(format: Format, bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    match format {
        Format::Mvmheap => mvmheap::load(bytes, options),
        Format::Dart => dart::load(bytes, options),
        Format::Go => go::load(bytes, options),
        Format::Hprof => hprof::load(bytes, options),
        Format::Mojo | Format::Austin => Err(Error::unsupported(0, "a profile has no objects")),
    }
}

/// Loads a profile in one pass. A damaged one gives what could be loaded, with [`LoadedProfile::damage`] set.
///
/// # Errors
/// When nothing can be loaded: the header cannot be read, or the dump is a heap.
pub fn load_profile(format: Format, bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    match format {
        Format::Mojo => mojo::load(bytes, options),
        Format::Austin => austin::load(bytes, options),
        Format::Hprof => hprof::load_profile(bytes, options),
        Format::Mvmheap | Format::Dart | Format::Go => Err(Error::unsupported(0, "a heap has no samples")),
    }
}

/// As [`load_profile()`], in parts. What it returns is the last one, which may have no samples. A profile that is not larger than a
/// part, or not of MOJO, is one part. Samples cannot be kept.
///
/// # Errors
/// As [`load_profile()`].
pub fn load_profile_in_parts(format: Format, bytes: &[u8], options: ProfileOptions<'_>, parts: Parts<'_>) -> Result<LoadedProfile> {
    let options = ProfileOptions { keep_samples: false, ..options };
    match format {
        Format::Mojo => mojo::load_in_parts(bytes, options, parts),
        _ => load_profile(format, bytes, options),
    }
}

/// Counts the objects of a heap by type in a pass or two, with memory for types but not for objects. Where types need no graph,
/// which is everywhere but in Go, types and sizes are those of [`load()`]; objects that stand in the file twice, which is
/// damage, count twice.
///
/// A damaged dump gives the objects before the damage, with [`TypeCounts::damage`] set.
///
/// # Errors
/// As [`load()`].
pub fn histogram(format: Format, bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    match format {
        Format::Mvmheap => mvmheap::histogram(bytes, options),
        Format::Dart => dart::histogram(bytes, options),
        Format::Go => go::histogram(bytes, options),
        Format::Hprof => hprof::histogram(bytes, options),
        Format::Mojo | Format::Austin => Err(Error::unsupported(0, "a profile has no objects")),
    }
}

/// The identity hash codes of a heap's objects, in the order in which [`load()`] numbers them; 0 where an object has none. None
/// if the file has no such codes. Only Dart writes them.
///
/// # Errors
/// When the file cannot be read up to its hash codes.
pub fn identity_hashes(format: Format, bytes: &[u8]) -> Result<Option<Vec<u32>>> {
    match format {
        Format::Dart => dart::identity_hashes(bytes),
        Format::Mvmheap | Format::Go | Format::Hprof | Format::Mojo | Format::Austin => Ok(None),
    }
}

/// The error for an input that does not begin with the magic of the format it is said to have (`--from`).
pub(crate) fn wrong_magic(format: Format) -> Error {
    Error::corrupt(0, format!("this is no {} file", format.name())).expected(format!("the magic of a {} file", format.title()))
}
