//! Warnings that users should know before they trust the numbers of a summary.

use crate::model::heap::LoadWarning;
use crate::names::ShortNames;
use serde::{Serialize, Serializer};
use std::fmt;

/// A peculiarity of a file or of the summary's numbers. Displays as a text without a full stop,
/// which is also its form in JSON.
#[derive(Debug)]
#[non_exhaustive]
pub enum InfoWarning {
    /// A warning that loading the file also gives.
    Load(LoadWarning),
    /// The file has no heap dump (hprof).
    NoHeapDump,
    /// The dump lacks the contents of this many arrays (Android).
    OmittedContents(u64),
    /// Bytes after the record that ends the dump (Go).
    TrailingBytes(u64),
    /// Stack frames lack the counter that the final format of Go 1.3 added.
    DraftFrames,
    /// The params record is missing (Go).
    NoParams,
    /// The memory statistics, not the Go version, identified the object records that are phantoms.
    PhantomsByMemstats,
    /// The objects do not add up to the memory statistics (Go).
    MemstatsDiffer {
        /// Number and bytes of the objects in the dump.
        found: (u64, u64),
        /// Number and bytes of the objects according to the memory statistics.
        expected: (u64, u64),
    },
    /// Flags of the header that no known version of Dart sets.
    UnknownFlags(u64),
    /// DevTools exported the snapshot (Dart).
    DevtoolsExport,
    /// The snapshot has the objects of this many isolates (Dart).
    SeveralIsolates(u64),
    /// This many objects lack a class (Dart).
    UnknownClasses(u64),
    /// This many zeros follow the end of the snapshot (Dart).
    TrailingZeros(u64),
    /// The dump has no roots (Ruby).
    NoRoots,
    /// The filemeta block is missing or damaged (MoarVM).
    NoFilemeta,
    /// The table of contents is missing or damaged (MoarVM).
    NoTableOfContents,
    /// The profiled process did not close the file (MoarVM).
    NotClosed,
    /// Parts of the tables of names are lost (MoarVM).
    LostNames,
    /// The tables of names are missing (MoarVM).
    NoNames,
    /// Keys that no record defines (MOJO).
    UndefinedKeys(u64),
    /// The sum of all times is below zero (MOJO).
    NegativeTime,
    /// Samples that Austin could not unwind.
    InvalidSamples {
        /// The number of these samples.
        bad: u64,
        /// The number of all samples.
        all: u64,
    },
    /// A library whose functions have no names.
    Unnamed {
        /// The path of the library. Empty for addresses outside of all libraries.
        library: String,
        /// The share of the metric that is in the library itself.
        share: f64,
        /// The name of the metric.
        metric: String,
    },
    /// Samples that were not recorded because the buffer was full (perf).
    LostSamples(u64),
    /// Samples with bytes of the stack to unwind, which are not used (perf).
    StackBytes(u64),
    /// References to functions, locations or strings that the file lacks (pprof).
    DanglingReferences(u64),
    /// Names that are not UTF-8 (pprof).
    InvalidNames(u64),
    /// Indented lines that are not frames (perf script).
    SkippedLines(u64),
    /// Allocations were sampled once in this many bytes, and numbers are scaled (jemalloc,
    /// gperftools).
    Sampled(u64),
    /// Microseconds before the first sample (V8).
    TimeBeforeSamples(i64),
    /// Most names look as if they had been shortened (hprof, V8).
    ShortNames {
        /// The items that have the names, such as `functions of app.min.js`.
        of: String,
        /// The number of short names and of all names.
        names: ShortNames,
        /// The option that restores the names.
        option: &'static str,
    },
}

impl InfoWarning {
    /// A warning about the names of a script.
    pub(crate) fn of_script(what: &str, url: &str, names: ShortNames) -> Self {
        let file = url.rsplit('/').next().unwrap_or_default();
        let option = "--source-maps with the map of this script";
        Self::ShortNames { of: format!("{what} of {file}"), names, option }
    }

    /// Returns `true` if sound dumps of the runtime usually give this warning.
    pub fn is_usual(&self) -> bool {
        matches!(self, Self::Load(warning) if warning.is_usual())
    }

    /// Returns `true` if only damaged files give this warning.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Load(warning) if warning.is_damage())
    }
}

impl InfoWarning {
    /// Returns the warning for Austin's metadatum `errors`, such as `3/1024`. `None` if there were
    /// no errors.
    pub(crate) fn invalid_samples(errors: &str) -> Option<Self> {
        let (bad, all) = errors.split_once('/')?;
        let (bad, all) = (bad.trim().parse().ok()?, all.trim().parse().ok()?);
        (bad > 0).then_some(Self::InvalidSamples { bad, all })
    }
}

impl fmt::Display for InfoWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(warning) => f.write_str(&warning.text()),
            Self::NoHeapDump => {
                f.write_str("no heap dump in the file; it may be a profile of CPU time or allocations")
            }
            Self::OmittedContents(count) => write!(f, "arrays without their contents: {count}"),
            Self::TrailingBytes(count) => write!(f, "bytes after the eof record, ignored: {count}"),
            Self::DraftFrames => {
                f.write_str("the stack frames have the layout of Go 1.3 before May 31, 2014")
            }
            Self::NoParams => {
                f.write_str("no params record: the pointer size and byte order are not known")
            }
            Self::PhantomsByMemstats => f.write_str(
                "phantom records were identified by the memory statistics, not by the Go version",
            ),
            Self::MemstatsDiffer { found, expected } => {
                let (count, bytes) = found;
                f.write_str(if found.0 > expected.0 || found.1 > expected.1 { "more objects than in the memory statistics" } else { "fewer objects than in the memory statistics, as if the dump was written before a collection ended" })?;
                write!(f, ": {count} ({bytes} bytes), not {} ({} bytes)", expected.0, expected.1)
            }
            Self::UnknownFlags(flags) => {
                write!(f, "the header has the flags {flags:#x}, which no known version of Dart sets")
            }
            Self::DevtoolsExport => f.write_str(
                "exported by DevTools, which cuts strings to names and writes negative 64-bit ints wrongly",
            ),
            Self::SeveralIsolates(count) => write!(
                f,
                "the snapshot has the objects of all {count} isolates of the isolate group; the totals are those of the group",
            ),
            Self::UnknownClasses(count) => {
                write!(f, "objects whose class is not in the file: {count}")
            }
            Self::TrailingZeros(count) => {
                write!(f, "zero bytes after the end of the snapshot, ignored: {count}")
            }
            Self::NoRoots => f.write_str(
                "no roots, as in dumps with `since:`: every object that nothing refers to counts as a root",
            ),
            Self::NoFilemeta => f.write_str("no readable filemeta block; times are not known"),
            Self::NoTableOfContents => {
                f.write_str("no usable table of contents; blocks were found by scanning the file")
            }
            Self::NotClosed => f.write_str(
                "the file was not closed properly; the profiled process may have been killed",
            ),
            Self::LostNames => f.write_str(
                "parts of the tables of strings, types or frames are lost, so names are missing",
            ),
            Self::NoNames => {
                f.write_str("no tables of strings, types and frames; names are not known")
            }
            Self::UndefinedKeys(count) => write!(f, "keys that are never defined: {count}"),
            Self::NegativeTime => f.write_str("the times add up to less than zero"),
            Self::InvalidSamples { bad, all } => {
                write!(f, "Austin could not unwind {bad} of {all} samples properly")
            }
            Self::Unnamed { library, share, metric } => {
                let percent = share * 100.0;
                match library.as_str() {
                    "" => write!(f, "{percent:.1} % of {metric} is outside of all programs and libraries"),
                    library => write!(
                        f,
                        "{percent:.1} % of {metric} is in {library}, of which no symbols were found; --symbols PATH says where they are"
                    ),
                }
            }
            Self::LostSamples(count) => {
                write!(f, "records that were lost because perf's buffer was full: {count}")
            }
            Self::StackBytes(count) => write!(
                f,
                "samples whose stack was recorded as bytes (--call-graph dwarf) and not unwound: {count}; --symbols PATH says where the programs are"
            ),
            Self::DanglingReferences(count) => write!(
                f,
                "references to functions, locations or strings that are not in the file: {count}"
            ),
            Self::InvalidNames(count) => {
                write!(f, "names that are not UTF-8, whose invalid bytes become U+FFFD: {count}")
            }
            Self::SkippedLines(count) => {
                write!(f, "indented lines that are not frames, which were skipped: {count}")
            }
            Self::Sampled(rate) => write!(
                f,
                "one allocation in about {rate} bytes was sampled; numbers are scaled to all allocations (--raw-counts shows those of the samples)"
            ),
            Self::ShortNames { of, names: ShortNames { short, all }, option } => write!(
                f,
                "{short} of {all} {of} have names of one or two letters, which look minified: {option} gives them the names of the source"
            ),
            Self::TimeBeforeSamples(time) => {
                write!(f, "{time} microseconds before the first sample belong to no function")
            }
        }
    }
}

impl Serialize for InfoWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
