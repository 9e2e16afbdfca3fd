//! Warnings that users should know before they trust the numbers of a summary.

use crate::model::heap::LoadWarning;
use crate::model::named::worded;
use crate::names::ShortNames;
use serde::{Serialize, Serializer};

worded! {
    /// A peculiarity of a file or of the summary's numbers. Displays as a text without a full stop,
    /// which is also its form in JSON.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum InfoWarning {
        /// A warning that loading the file also gives.
        Load(warning: LoadWarning) = "{}", warning.text();
        /// The file has no heap dump (hprof).
        NoHeapDump = "no heap dump in the file; it may be a profile of CPU time or allocations";
        /// The dump lacks the contents of this many arrays (Android).
        OmittedContents(count: u64) = "arrays without their contents: {count}";
        /// Bytes after the record that ends the dump (Go).
        TrailingBytes(count: u64) = "bytes after the eof record, ignored: {count}";
        /// Stack frames lack the counter that the final format of Go 1.3 added.
        DraftFrames = "the stack frames have the layout of Go 1.3 before May 31, 2014";
        /// The params record is missing (Go).
        NoParams = "no params record: the pointer size and byte order are not known";
        /// The memory statistics, not the Go version, identified the object records that are phantoms.
        PhantomsByMemstats = "phantom records were identified by the memory statistics, not by the Go version";
        /// The objects do not add up to the memory statistics (Go).
        MemstatsDiffer {
            /// Number and bytes of the objects in the dump.
            found: (u64, u64),
            /// Number and bytes of the objects according to the memory statistics.
            expected: (u64, u64),
        } = "{}: {} ({} bytes), not {} ({} bytes)", more_or_fewer(*found, *expected), found.0, found.1, expected.0, expected.1;
        /// Flags of the header that no known version of Dart sets.
        UnknownFlags(flags: u64) = "the header has the flags {flags:#x}, which no known version of Dart sets";
        /// DevTools exported the snapshot (Dart).
        DevtoolsExport = "exported by DevTools, which cuts strings to names and writes negative 64-bit ints wrongly";
        /// The snapshot has the objects of this many isolates (Dart).
        SeveralIsolates(count: u64) = "the snapshot has the objects of all {count} isolates of the isolate group; the totals are those of the group";
        /// This many objects lack a class (Dart).
        UnknownClasses(count: u64) = "objects whose class is not in the file: {count}";
        /// This many zeros follow the end of the snapshot (Dart).
        TrailingZeros(count: u64) = "zero bytes after the end of the snapshot, ignored: {count}";
        /// The dump has no roots (Ruby).
        NoRoots = "no roots, as in dumps with `since:`: every object that nothing refers to counts as a root";
        /// The filemeta block is missing or damaged (MoarVM).
        NoFilemeta = "no readable filemeta block; times are not known";
        /// The table of contents is missing or damaged (MoarVM).
        NoTableOfContents = "no usable table of contents; blocks were found by scanning the file";
        /// The profiled process did not close the file (MoarVM).
        NotClosed = "the file was not closed properly; the profiled process may have been killed";
        /// Parts of the tables of names are lost (MoarVM).
        LostNames = "parts of the tables of strings, types or frames are lost, so names are missing";
        /// The tables of names are missing (MoarVM).
        NoNames = "no tables of strings, types and frames; names are not known";
        /// Keys that no record defines (MOJO).
        UndefinedKeys(count: u64) = "keys that are never defined: {count}";
        /// The sum of all times is below zero (MOJO).
        NegativeTime = "the times add up to less than zero";
        /// Samples that Austin could not unwind.
        InvalidSamples {
            /// The number of these samples.
            bad: u64,
            /// The number of all samples.
            all: u64,
        } = "Austin could not unwind {bad} of {all} samples properly";
        /// A library whose functions have no names.
        Unnamed {
            /// The path of the library. Empty for addresses outside of all libraries.
            library: String,
            /// The share of the metric that is in the library itself.
            share: f64,
            /// The name of the metric.
            metric: String,
        } = "{:.1} % of {metric} is {}", share * 100.0, outside_or_in(library, HAS_SYMBOLS);
        /// Samples that were not recorded because the buffer was full (perf).
        LostSamples(count: u64) = "records that were lost because perf's buffer was full: {count}";
        /// Samples with bytes of the stack to unwind, which are not used (perf).
        StackBytes(count: u64) = "samples whose stack was recorded as bytes (--call-graph dwarf) and not unwound: {count}; {}", to_unwind(HAS_SYMBOLS);
        /// References to functions, locations or strings that the file lacks (pprof).
        DanglingReferences(count: u64) = "references to functions, locations or strings that are not in the file: {count}";
        /// Names that are not UTF-8 (pprof).
        InvalidNames(count: u64) = "names that are not UTF-8, whose invalid bytes become U+FFFD: {count}";
        /// Indented lines that are not frames (perf script).
        SkippedLines(count: u64) = "indented lines that are not frames, which were skipped: {count}";
        /// Allocations were sampled once in this many bytes, and numbers are scaled (jemalloc,
        /// gperftools).
        Sampled(rate: u64) = "one allocation in about {rate} bytes was sampled; numbers are scaled to all allocations (--raw-counts shows those of the samples)";
        /// Microseconds before the first sample (V8).
        TimeBeforeSamples(time: i64) = "{time} microseconds before the first sample belong to no function";
        /// Most names look as if they had been shortened (hprof, V8).
        ShortNames {
            /// The items that have the names, such as `functions of app.min.js`.
            of: String,
            /// The number of short names and of all names.
            names: ShortNames,
            /// The option that restores the names.
            option: &'static str,
        } = "{} of {} {of} have names of one or two letters, which look minified: {option} gives them the names of the source", names.short, names.all;
    }
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

fn more_or_fewer(found: (u64, u64), expected: (u64, u64)) -> &'static str {
    if found.0 > expected.0 || found.1 > expected.1 {
        "more objects than in the memory statistics"
    } else {
        "fewer objects than in the memory statistics, as if the dump was written before a collection ended"
    }
}

/// Whether this build looks up symbols.
const HAS_SYMBOLS: bool = cfg!(feature = "symbols");
const NO_SYMBOLS: &str = "this build does not read symbols, one with `--features full` does";

fn outside_or_in(library: &str, has_symbols: bool) -> String {
    match (library, has_symbols) {
        ("", _) => "outside of all programs and libraries".to_owned(),
        (_, true) => format!(
            "in {library}, of which no symbols were found; --symbols PATH says where they are"
        ),
        (_, false) => format!("in {library}, whose functions have no names: {NO_SYMBOLS}"),
    }
}

fn to_unwind(has_symbols: bool) -> &'static str {
    if has_symbols { "--symbols PATH says where the programs are" } else { NO_SYMBOLS }
}

impl Serialize for InfoWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_without_symbols_advise_no_option_that_they_refuse() {
        assert!(outside_or_in("/usr/lib/libm.so.6", true).contains("--symbols PATH"));
        assert!(to_unwind(true).contains("--symbols PATH"));
        for text in [&*outside_or_in("/usr/lib/libm.so.6", false), to_unwind(false)] {
            assert!(text.ends_with("one with `--features full` does"), "{text}");
        }
    }
}
