//! The readers: one module for each format, and the few things they have in common.
//!
//! Every reader has a **pull iterator of records** with their offsets, which serves `cat`, `info`
//! and `check`, and a `FormatSpec` that describes its format. The set of formats is closed:
//! [`Format`] dispatches with plain `match`es.
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

pub mod austin;
mod callgrind;
pub mod check;
mod cprofile;
pub mod dart;
mod dhat;
mod firefox;
pub mod folded;
mod frames;
pub mod go;
mod gperftools;
pub mod heapsnapshot;
mod heaptrack;
pub mod histogram;
pub mod hprof;
pub mod info;
pub mod jfr;
pub mod json;
mod json_lines;
pub mod load;
mod massif;
pub mod mojo;
pub mod mvmheap;
mod native;
mod options;
pub mod origin;
pub mod perf_data;
pub mod perf_script;
pub mod pmat;
pub mod pprof;
mod profile_info;
mod pyheap;
mod read;
mod record;
pub mod ruby;
mod source_text;
mod spec;
pub mod speedscope;
pub mod v8profile;
mod waves;

pub use read::{Progress, ReadOptions, Visitor};
pub use source_text::{SourceText, source_texts};

use crate::error::{Error, Result};
use crate::model::heap::{LoadWarning, WarningKind};
use check::Findings;
use histogram::TypeCounts;
use info::Info;
use load::{LoadOptions, Loaded, LoadedProfile, ProfileOptions};
use origin::Provenance;
use read::visit;
use serde::{Serialize, Serializer};
use spec::{Detection, FormatSpec, HeapReader, Identity, Origin, ProfileReader};
use std::fmt;

/// Declares the formats: the enum, its list, the [`FormatSpec`] of each, and the source of its
/// records: an iterator, one that reads a header first, or a function that takes the visitor.
macro_rules! formats {
    ($(
        $(#[$doc:meta])*
        $format:ident = $spec:path
            $(, records $records:path)?
            $(, header_and_records $with_header:path)?
            $(, visit $for_each:path)?;
    )*) => {
        /// A format that is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        /// All formats that are read, in the order in which they are listed and detected.
        pub const FORMATS: [Format; [$(Format::$format),*].len()] = [$(Format::$format),*];

        impl Format {
            /// The format's own description.
            pub(crate) fn spec(self) -> &'static FormatSpec {
                match self {
                    $(Self::$format => &$spec,)*
                }
            }
        }

        /// Passes every record of a dump to the visitor, in the order of the file, with constant
        /// memory.
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
                $(Format::$format => {
                    $(visit($records(bytes), options, visitor))?
                    $(visit($with_header(bytes)?, options, visitor))?
                    $($for_each(bytes, options, visitor))?
                })*
            }
        }
    };
}

formats! {
    /// MoarVM heap snapshots.
    Mvmheap = mvmheap::SPEC, visit mvmheap::for_each_record;
    /// Dart VM heap snapshots.
    Dart = dart::SPEC, visit dart::for_each_record;
    /// Go heap dumps.
    Go = go::SPEC, header_and_records go::Records::new;
    /// Java heap dumps.
    Hprof = hprof::SPEC, visit hprof::for_each_record;
    /// V8 heap snapshots.
    Heapsnapshot = heapsnapshot::SPEC, visit heapsnapshot::for_each_record;
    /// Ruby heap dumps.
    Ruby = ruby::SPEC, visit ruby::for_each_record;
    /// Perl heap dumps.
    Pmat = pmat::SPEC, header_and_records pmat::Records::new;
    /// Python heap dumps.
    Pyheap = pyheap::SPEC, visit pyheap::for_each_record;
    /// Austin MOJO profiles.
    Mojo = mojo::SPEC, visit mojo::for_each_record;
    /// Profiles as Austin's text.
    Austin = austin::SPEC, records austin::Lines::new;
    /// pprof profiles.
    Pprof = pprof::SPEC, records pprof::Records::new;
    /// Folded stacks.
    Folded = folded::SPEC, records folded::FoldedLines::new;
    /// speedscope profiles.
    Speedscope = speedscope::SPEC, visit speedscope::for_each_record;
    /// The text of `perf script`.
    PerfScript = perf_script::SPEC, records perf_script::PerfLines::new;
    /// Recordings of perf.
    PerfData = perf_data::SPEC, visit perf_data::for_each_record;
    /// V8 CPU profiles.
    Cpuprofile = v8profile::CPU, visit v8profile::for_each_record;
    /// V8 sampling heap profiles.
    Heapprofile = v8profile::HEAP, visit v8profile::for_each_record;
    /// Recordings of Java's Flight Recorder.
    Jfr = jfr::SPEC, visit jfr::for_each_record;
    /// Recordings of heaptrack.
    Heaptrack = heaptrack::SPEC, records heaptrack::HeaptrackLines::new;
    /// Heap profiles of jemalloc.
    Jemalloc = gperftools::JEMALLOC, records gperftools::HeapTextLines::new;
    /// Heap profiles of gperftools.
    Gperftools = gperftools::HEAP, records gperftools::HeapTextLines::new;
    /// CPU profiles of gperftools.
    GperftoolsCpu = gperftools::CPU, records gperftools::CpuRecords::new;
    /// DHAT profiles.
    Dhat = dhat::SPEC, visit dhat::for_each_record;
    /// massif profiles.
    Massif = massif::SPEC, records massif::MassifLines::new;
    /// Call graphs of callgrind, cachegrind and Xdebug.
    Callgrind = callgrind::SPEC, records callgrind::CallgrindLines::new;
    /// Traces of Chrome.
    ChromeTrace = v8profile::TRACE, records v8profile::Events::new;
    /// Profiles of the Firefox Profiler.
    Firefox = firefox::SPEC, visit firefox::for_each_record;
    /// Statistics of Python's cProfile.
    Cprofile = cprofile::SPEC, records cprofile::Stats::new;
}

/// The two kinds of dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A graph of objects.
    Heap,
    /// A stream of samples.
    Profile,
}

/// The format's [name](Format::name).
impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Format {
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
        self.spec().magics()
    }

    /// The names of the records of the format, as `cat --record` takes them.
    pub fn record_names(self) -> Vec<&'static str> {
        self.spec().record_names.concat()
    }

    /// Whether profiles of the format may have frames of which only the address is known.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line asks"))]
    pub(crate) fn has_addresses(self) -> bool {
        matches!(
            self,
            Self::Pprof | Self::PerfData | Self::Jemalloc | Self::Gperftools | Self::GperftoolsCpu
        )
    }

    /// Whether profiles of the format are of native code alone.
    pub(crate) fn is_native(self) -> bool {
        matches!(
            self,
            Self::Jemalloc
                | Self::Gperftools
                | Self::GperftoolsCpu
                | Self::Heaptrack
                | Self::Dhat
                | Self::Massif
                | Self::Callgrind
                | Self::PerfData
                | Self::PerfScript
        )
    }

    /// Whether profiles of the format have samples in the order of time, and not only sums.
    pub(crate) fn has_order(self) -> bool {
        self.spec().profile().is_some_and(|profile| profile.has_order)
    }

    /// The kind of nearly all files of the format, heap or profile. [`kind()`] returns the kind of
    /// one file.
    pub fn kind(self) -> Kind {
        self.spec().kind()
    }

    /// The maximum number of objects and of references in a heap of this many bytes.
    #[cfg_attr(
        not(feature = "cli"),
        allow(dead_code, reason = "the command line estimates memory with it")
    )]
    pub(crate) fn most_objects_and_references(self, bytes: u64) -> (u64, u64) {
        let (object, reference) = self.spec().heap().map_or((1, 1), |heap| heap.least_bytes);
        (bytes.checked_div(object).unwrap_or(bytes), bytes.checked_div(reference).unwrap_or(bytes))
    }

    /// Whether these bytes begin like a file of the format.
    pub(crate) fn begins(self, bytes: &[u8]) -> bool {
        self.magics().iter().any(|magic| bytes.starts_with(magic))
    }

    /// Whether these bytes are of the format although they begin with none of its magics.
    pub(crate) fn begins_otherwise(self, bytes: &[u8]) -> bool {
        match self.spec().detection {
            Detection::Contents(looks_right) | Detection::MagicsOrContents(_, looks_right) => {
                looks_right(bytes)
            }
            Detection::Magics(_) => false,
        }
    }
}

/// The format's [name](Format::name).
impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
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

/// Reads the beginning of a file to identify the program that it is about.
pub fn origin(format: Format, bytes: &[u8]) -> Provenance {
    match format.spec().origin {
        Origin::Several => Provenance::default(),
        Origin::Runtime(runtime) => Provenance::of(runtime),
        Origin::Read(read) => read(bytes),
    }
}

/// Checks every invariant that the format promises. Damage is part of the findings.
///
/// # Errors
/// The errors of [`info()`].
pub fn check(format: Format, bytes: &[u8], options: ReadOptions<'_>) -> Result<Findings> {
    (format.spec().check)(bytes, options)
}

/// The roles of the types of a format of heaps.
#[cfg(all(test, feature = "cli"))]
pub(crate) fn roles(format: Format) -> crate::model::roles::Roles {
    heap(format).map(|reader| reader.roles).unwrap_or_default()
}

/// Loads a heap. A damaged dump gives what could be loaded, with [`Loaded::damage`] set.
///
/// # Errors
/// When nothing can be loaded: the header cannot be read, the version is unknown, there is no such
/// snapshot, or the dump is a profile.
pub fn load<'a>(format: Format, bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    let reader = heap(format)?;
    let mut loaded = (reader.load)(bytes, options)?;
    loaded.heap.roles = reader.roles;
    if loaded.heap.names.cut() > 0 {
        let count = loaded.heap.names.cut();
        loaded.heap.warnings.push(LoadWarning { kind: WarningKind::CutNames, count });
    }
    Ok(loaded)
}

/// The warning that most names of a program look minified, which [`info()`] gives where it costs
/// nothing. In snapshots of V8, only references identify the script of a function.
pub fn short_names(
    format: Format,
    bytes: &[u8],
    options: ReadOptions<'_>,
) -> Option<info::InfoWarning> {
    if format == Format::Heapsnapshot {
        return heapsnapshot::short_names(bytes, options);
    }
    let warnings = info(format, bytes, options).ok()?.warnings;
    warnings.into_iter().find(|warning| matches!(warning, info::InfoWarning::ShortNames { .. }))
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

/// Counts the objects of a heap by type in a pass or two, with memory for types but not for
/// objects. Types and sizes are those of [`load()`], except in Go, where types need the graph.
/// Objects that are in the file twice, which is damage, count twice.
///
/// A damaged dump gives the objects before the damage, with [`TypeCounts::damage`] set.
///
/// # Errors
/// Like [`load()`].
pub fn histogram(format: Format, bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    (heap(format)?.histogram)(bytes, options)
}

/// The identity hash codes of a heap's objects, in the order in which [`load()`] numbers them; 0
/// where an object has none. `None` if the file has no such codes. Only Dart writes them.
///
/// # Errors
/// When the file cannot be read up to its hash codes.
pub fn identity_hashes(format: Format, bytes: &[u8]) -> Result<Option<Vec<u32>>> {
    match format.spec().heap().map(|heap| heap.identity) {
        Some(Identity::Hashes(identity_hashes)) => identity_hashes(bytes),
        Some(Identity::Nothing | Identity::Ids) | None => Ok(None),
    }
}

/// Whether an object has the same id in several dumps of one process.
pub fn has_lasting_ids(format: Format) -> bool {
    matches!(format.spec().heap().map(|heap| heap.identity), Some(Identity::Ids))
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
