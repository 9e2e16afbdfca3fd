//! The table `dump`: one row.

use super::cells::signed;
use super::{Table, TableCells, TableRows};
use std::ops::Range;

/// The only row of the table `dump`. A damaged dump has one too, so that a query over many dumps
/// sees what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpRow {
    /// The path of the file, as it was given.
    pub file: String,
    /// SHA-256 of the bytes, decompressed, in hexadecimal digits.
    pub digest: String,
    /// The format's name: `hprof`.
    pub format: String,
    /// The version, as the format counts it.
    pub format_version: Option<String>,
    /// `heap` or `profile`.
    pub kind: String,
    /// The number of the snapshot, from 0. `None` for profiles.
    pub snapshot: Option<u64>,
    /// When the snapshot was taken: microseconds since the beginning of the recording. `None` if
    /// the file does not state it.
    pub time_us: Option<u64>,
    /// The damage that ended the reading early, as text.
    pub damage: Option<String>,
    /// The number of warnings.
    pub warnings: u64,
    /// The totals of a heap. `None` for profiles.
    pub counts: Option<DumpCounts>,
}

/// The totals of a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpCounts {
    /// Objects, without rows that only represent roots.
    pub objects: u64,
    /// References.
    pub references: u64,
    /// Objects that roots reach.
    pub live_count: u64,
    /// Bytes of those in the managed heap.
    pub live_shallow_bytes: u64,
    /// Bytes that they hold outside it.
    pub live_external_bytes: u64,
    /// Objects that no root reaches.
    pub unreachable_count: u64,
    /// Bytes of those, external ones included.
    pub unreachable_bytes: u64,
}

impl TableRows for DumpRow {
    fn table(&self) -> Table {
        Table::Dump
    }

    fn len(&self) -> usize {
        1
    }

    fn fill(&mut self, column: &str, _: Range<usize>, cells: &mut TableCells) {
        let count = |of: fn(&DumpCounts) -> u64| self.counts.as_ref().map(of).map(signed);
        let mut number = |number: Option<i64>| cells.optional_integers([number].into_iter());
        match column {
            "snapshot" => number(self.snapshot.map(signed)),
            "time_us" => number(self.time_us.map(signed)),
            "objects" => number(count(|of| of.objects)),
            "references" => number(count(|of| of.references)),
            "live_count" => number(count(|of| of.live_count)),
            "live_shallow_bytes" => number(count(|of| of.live_shallow_bytes)),
            "live_external_bytes" => number(count(|of| of.live_external_bytes)),
            "unreachable_count" => number(count(|of| of.unreachable_count)),
            "unreachable_bytes" => number(count(|of| of.unreachable_bytes)),
            "warnings" => cells.integers([self.warnings].into_iter()),
            "complete" => cells.booleans([self.damage.is_none()].into_iter()),
            "file" => cells.text(&self.file),
            "digest" => cells.text(&self.digest),
            "format" => cells.text(&self.format),
            "format_version" => cells.optional_text(self.format_version.as_deref()),
            "kind" => cells.text(&self.kind),
            "damage" => cells.optional_text(self.damage.as_deref()),
            _ => cells.text(env!("CARGO_PKG_VERSION")),
        }
    }
}
