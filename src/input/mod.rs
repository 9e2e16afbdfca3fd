//! The readers: one module for each format, and the few things they have in common.
//!
//! Every reader has a **pull iterator of records** with their offsets, which serves `cat`, `info`
//! and `check`, and says of itself what it can read. The set of formats is closed: [`Format`]
//! dispatches with plain `match`es.
//!
//! A reader never panics on its input, never recurses over it, and allocates no more than the
//! input's size justifies. It stops at the first damage and gives what came before it together with
//! the error.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

#[doc(hidden)]
pub mod austin;
pub mod check;
#[doc(hidden)]
pub mod dart;
#[doc(hidden)]
pub mod folded;
mod format;
mod frames;
#[doc(hidden)]
pub mod go;
#[doc(hidden)]
pub mod heapsnapshot;
pub mod histogram;
#[doc(hidden)]
pub mod hprof;
pub mod info;
#[doc(hidden)]
pub mod json;
pub mod load;
#[doc(hidden)]
mod memory_limit;
pub mod mojo;
#[doc(hidden)]
pub mod mvmheap;
pub mod origin;
#[doc(hidden)]
pub mod perf_script;
#[doc(hidden)]
pub mod pmat;
#[doc(hidden)]
pub mod pprof;
mod profile_info;
mod read;
mod record;
#[doc(hidden)]
pub mod ruby;
#[doc(hidden)]
mod spec;
pub mod speedscope;
#[doc(hidden)]
pub mod v8profile;

pub use format::{Format, Kind};
pub use info::{
    BiggestType, ByKind, ByTag, CountsByName, DartDetails, DartTopClass, GoDetails, GoMemstats,
    Goroutines, HeaderTotals, HeapsnapshotDetails, HprofDetails, HprofLayout, HprofTopClass,
    InfoWarning, MvmheapDetails, NameCount, PhantomRule, PmatDetails, RootCount, RubyDetails,
    SegmentSize, Segments, TypeSourceCounts, TypesFromExecutable,
};
pub use read::{Progress, ReadOptions, Visitor};

use crate::error::{Error, Result};
use crate::model::heap::{LoadWarning, WarningKind};
use check::Findings;
use histogram::TypeCounts;
use info::Info;
use load::{LoadOptions, Loaded, LoadedProfile, Parts, ProfileOptions};
use origin::Provenance;
use spec::{FormatSpec, HeapReader, ProfileReader};

/// All formats that are read, in the order in which they are listed.
pub const FORMATS: [Format; 15] = [
    Format::Mvmheap,
    Format::Dart,
    Format::Go,
    Format::Hprof,
    Format::Heapsnapshot,
    Format::Ruby,
    Format::Pmat,
    Format::Mojo,
    Format::Austin,
    Format::Pprof,
    Format::Folded,
    Format::Speedscope,
    Format::PerfScript,
    Format::Cpuprofile,
    Format::Heapprofile,
];

impl Format {
    /// The format's own description.
    pub(crate) fn spec(self) -> &'static FormatSpec {
        match self {
            Self::Mvmheap => &mvmheap::SPEC,
            Self::Dart => &dart::SPEC,
            Self::Go => &go::SPEC,
            Self::Hprof => &hprof::SPEC,
            Self::Mojo => &mojo::SPEC,
            Self::Austin => &austin::SPEC,
            Self::Heapsnapshot => &heapsnapshot::SPEC,
            Self::Pprof => &pprof::SPEC,
            Self::Folded => &folded::SPEC,
            Self::Speedscope => &speedscope::SPEC,
            Self::PerfScript => &perf_script::SPEC,
            Self::Ruby => &ruby::SPEC,
            Self::Pmat => &pmat::SPEC,
            Self::Cpuprofile => &v8profile::CPU,
            Self::Heapprofile => &v8profile::HEAP,
        }
    }

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The versions that are read, for people.
    pub fn versions(self) -> &'static str {
        self.spec().versions
    }

    /// The extensions that such files usually have. They are never used to detect a format.
    pub fn extensions(self) -> &'static [&'static str] {
        self.spec().extensions
    }

    /// The bytes that such files begin with.
    pub fn magics(self) -> &'static [&'static [u8]] {
        self.spec().magics
    }

    /// The names of the records of the format, as `cat --record` takes them.
    pub fn record_names(self) -> Vec<&'static str> {
        self.spec().record_names.concat()
    }

    /// Whether profiles of the format have samples in the order of time, and not only sums.
    pub(crate) fn has_order(self) -> bool {
        self.spec().profile().is_some_and(|profile| profile.has_order)
    }

    /// Heap or profile: what nearly all files of the format are. [`kind()`] says what one of them
    /// is.
    pub fn kind(self) -> Kind {
        self.spec().kind()
    }

    /// The number of objects and of references that a heap of this many bytes has at most.
    #[cfg_attr(
        not(feature = "cli"),
        allow(dead_code, reason = "the command line estimates memory with it")
    )]
    pub(crate) fn most_objects_and_references(self, bytes: u64) -> (u64, u64) {
        let (object, reference) = self.spec().heap().map_or((1, 1), |heap| heap.least_bytes);
        (bytes.checked_div(object).unwrap_or(bytes), bytes.checked_div(reference).unwrap_or(bytes))
    }

    /// Whether such files begin like these bytes.
    pub(crate) fn begins(self, bytes: &[u8]) -> bool {
        self.magics().iter().any(|magic| bytes.starts_with(magic))
    }

    /// Whether these bytes are of the format although they begin with none of its magics.
    pub(crate) fn begins_otherwise(self, bytes: &[u8]) -> bool {
        (self.spec().begins_otherwise)(bytes)
    }
}

/// The kind of a file. Only hprof has both.
pub fn kind(format: Format, bytes: &[u8]) -> Kind {
    format.spec().kind_of(bytes)
}

/// Summarizes a dump in one pass with constant memory, without building its graph.
///
/// A damaged dump gives a summary of what could be read, with [`Info::damage`] set.
///
/// # Errors
/// When not even the header can be read, or its version is unknown.
pub fn info(format: Format, bytes: &[u8], options: ReadOptions<'_>) -> Result<Info> {
    (format.spec().info)(bytes, options)
}

/// Gives every record of a dump to the visitor, in the order of the file, with constant memory.
///
/// # Errors
/// The first damage. All records before it have been given to the visitor.
pub fn for_each_record(
    format: Format,
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    match format {
        Format::Mvmheap => mvmheap::for_each_record(bytes, options, visitor),
        Format::Dart => dart::for_each_record(bytes, options, visitor),
        Format::Go => go::for_each_record(bytes, options, visitor),
        Format::Hprof => hprof::for_each_record(bytes, options, visitor),
        Format::Mojo => mojo::for_each_record(bytes, options, visitor),
        Format::Austin => austin::for_each_record(bytes, options, visitor),
        Format::Heapsnapshot => heapsnapshot::for_each_record(bytes, options, visitor),
        Format::Pprof => pprof::for_each_record(bytes, options, visitor),
        Format::Folded => folded::for_each_record(bytes, options, visitor),
        Format::PerfScript => perf_script::for_each_record(bytes, options, visitor),
        Format::Speedscope => speedscope::for_each_record(bytes, options, visitor),
        Format::Ruby => ruby::for_each_record(bytes, options, visitor),
        Format::Pmat => pmat::for_each_record(bytes, options, visitor),
        Format::Cpuprofile | Format::Heapprofile => {
            v8profile::for_each_record(bytes, options, visitor)
        }
    }
}

/// Reads the beginning of a file for the program that it is of.
pub fn origin(format: Format, bytes: &[u8]) -> Provenance {
    match format {
        Format::Go => go::origin(bytes),
        Format::Hprof => hprof::origin(bytes),
        Format::Mvmheap => Provenance::of("MoarVM"),
        Format::Dart => Provenance::of("Dart"),
        Format::Heapsnapshot | Format::Cpuprofile | Format::Heapprofile => Provenance::of("V8"),
        Format::Ruby => Provenance::of("Ruby"),
        Format::Pmat => Provenance::of("Perl"),
        Format::Mojo | Format::Austin => Provenance::of("Python"),
        // Several runtimes write them.
        Format::Pprof | Format::Folded | Format::Speedscope | Format::PerfScript => {
            Provenance::default()
        }
    }
}

/// Checks every invariant that the format promises. Damage is part of the findings.
///
/// # Errors
/// As [`info()`].
pub fn check(format: Format, bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    (format.spec().check)(bytes, options)
}

/// Loads a heap. A damaged dump gives what could be loaded, with [`Loaded::damage`] set.
///
/// # Errors
/// When nothing can be loaded: the header cannot be read, the version is unknown, there is no such
/// snapshot, or the dump is a profile.
pub fn load<'a>(format: Format, bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    let mut loaded = (heap(format)?.load)(bytes, options)?;
    if loaded.heap.names.cut() > 0 {
        let count = loaded.heap.names.cut();
        loaded.heap.warnings.push(LoadWarning { kind: WarningKind::CutNames, count });
    }
    Ok(loaded)
}

/// Loads a profile in one pass. A damaged one gives what could be loaded, with
/// [`LoadedProfile::damage`] set.
///
/// # Errors
/// When nothing can be loaded: the header cannot be read, the dump is a heap, or the profile takes
/// more memory than it may.
pub fn load_profile(
    format: Format,
    bytes: &[u8],
    options: ProfileOptions<'_>,
) -> Result<LoadedProfile> {
    (profile(format)?.load)(bytes, options)
}

/// As [`load_profile()`], in parts. Returns the last part, which may have no samples. A profile
/// that is not larger than a part, or not of MOJO, is one part. Samples cannot be kept.
///
/// # Errors
/// As [`load_profile()`].
pub fn load_profile_in_parts(
    format: Format,
    bytes: &[u8],
    options: ProfileOptions<'_>,
    parts: Parts<'_>,
) -> Result<LoadedProfile> {
    let options = ProfileOptions { keep_samples: false, ..options };
    match profile(format)?.load_in_parts {
        Some(load) => load(bytes, options, parts),
        None => load_profile(format, bytes, options),
    }
}

/// Counts the objects of a heap by type in a pass or two, with memory for types but not for
/// objects. Where types need no graph, which is everywhere but in Go, types and sizes are those of
/// [`load()`]; objects that stand in the file twice, which is damage, count twice.
///
/// A damaged dump gives the objects before the damage, with [`TypeCounts::damage`] set.
///
/// # Errors
/// Like [`load()`].
pub fn histogram(format: Format, bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    (heap(format)?.histogram)(bytes, options)
}

/// The identity hash codes of a heap's objects, in the order in which [`load()`] numbers them; 0
/// where an object has none. None if the file has no such codes. Only Dart writes them.
///
/// # Errors
/// When the file cannot be read up to its hash codes.
pub fn identity_hashes(format: Format, bytes: &[u8]) -> Result<Option<Vec<u32>>> {
    match format.spec().heap().and_then(|heap| heap.identity_hashes) {
        Some(identity_hashes) => identity_hashes(bytes),
        None => Ok(None),
    }
}

fn heap(format: Format) -> Result<&'static HeapReader> {
    format.spec().heap().ok_or_else(|| Error::other_kind("a profile has no objects"))
}

fn profile(format: Format) -> Result<&'static ProfileReader> {
    format.spec().profile().ok_or_else(|| Error::other_kind("a heap has no samples"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named_alike_everywhere() {
        for format in FORMATS {
            assert_eq!(format.spec().format, format);
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
    }
}
