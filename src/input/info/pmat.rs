//! The parts of the `info` summary that only Perl heap dumps have.

use super::facts::{Amount, Phrase, Summary};
use super::{CountsByName, SnapshotInfo};
use serde::Serialize;

/// Details of a dump.
#[derive(Clone, Debug, Serialize)]
pub struct PmatDetails {
    /// SVs by type, most first. Pads are among the ARRAYs.
    pub by_type: CountsByName,
    /// SVs that are blessed.
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
