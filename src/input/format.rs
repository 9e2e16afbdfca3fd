//! The input formats.

use serde::Serialize;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
    /// V8 heap snapshots.
    Heapsnapshot,
    /// pprof profiles.
    Pprof,
    /// Folded stacks.
    Folded,
    /// speedscope profiles.
    Speedscope,
    /// The text of `perf script`.
    #[serde(rename = "perf-script")]
    PerfScript,
    /// Ruby heap dumps.
    Ruby,
    /// Perl heap dumps.
    Pmat,
    /// V8 CPU profiles.
    Cpuprofile,
    /// V8 sampling heap profiles.
    Heapprofile,
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
