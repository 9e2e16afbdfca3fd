//! The parts of the `info` summary that only Ruby heap dumps have.

use super::facts::{Amount, Phrase, Summary, phrase};
use super::{CountsByName, SnapshotInfo};
use serde::Serialize;

/// Details of a dump.
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
