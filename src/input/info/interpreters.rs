//! The parts of the `info` summary that only heap dumps of Perl, Ruby or Python have.

use super::facts::{Amount, Phrase, Summary, phrase};
use super::{CountsByName, SnapshotInfo};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct PmatDetails {
    /// SVs by type, most first. Pads are among the ARRAYs.
    pub by_type: CountsByName,
    pub blessed: u64,
}

impl PmatDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        to.fact("objects", count(snapshot.objects), self.by_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        to.fact("roots", count(snapshot.roots), Phrase::new());
        to.fact("packages", count(snapshot.types), Phrase::new());
        to.fact("blessed", Amount::Count(self.blessed), Phrase::new());
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct RubyDetails {
    /// Objects by type, most first.
    pub by_type: CountsByName,
    /// References of each root. An object may be there many times.
    pub roots: CountsByName,
    /// Shapes, which name instance variables.
    pub shapes: u64,
    /// Objects with the place where they were allocated.
    pub allocations_traced: u64,
    /// Lines that were skipped because they are not valid JSON.
    pub malformed_lines: u64,
}

impl RubyDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        to.fact("objects", count(snapshot.objects), self.by_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        to.fact("roots", count(snapshot.roots), self.roots.most());
        to.fact("classes", count(snapshot.types), Phrase::new());
        if self.allocations_traced > 0 {
            let traced = phrase!["objects with an allocation site"];
            to.fact("traced", Amount::Count(self.allocations_traced), traced);
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct PyheapDetails {
    /// Objects by type, most first.
    pub by_type: CountsByName,
    /// Threads that ran Python code.
    pub threads: u64,
    /// Call frames of all threads.
    pub frames: u64,
    /// Garbage collections before the dump, of all generations.
    pub collections: u64,
    /// Whether the dump has texts and numbers.
    pub contents: bool,
    /// The implementation of Python: `cpython` or `pypy`.
    pub implementation: Option<String>,
    pub python: Option<String>,
}

impl PyheapDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let python = [self.implementation.as_deref(), self.python.as_deref()];
        to.head(python.into_iter().flatten().collect::<Vec<_>>().join(" "));
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        to.fact("objects", count(snapshot.objects), self.by_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        let external = snapshot.external_bytes.unwrap_or(0);
        if external > 0 {
            to.fact("external", Amount::Bytes(external), phrase!["in memory maps"]);
        }
        to.fact("references", count(snapshot.references), Phrase::new());
        to.fact("types", count(snapshot.types), Phrase::new());
        let frames = Amount::Counted(self.frames, "frame", "frames");
        to.fact("threads", Amount::Count(self.threads), vec![frames]);
        if !self.contents {
            to.remark("contents", phrase!["left out by the writer: no texts and numbers"]);
        }
    }
}
