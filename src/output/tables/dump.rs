//! The table `dump`: one row.

use super::cells::signed;
use super::{Absent, Table, TableCells, TableRows};
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
    /// Number of references.
    pub references: u64,
    /// Objects that roots reach.
    pub live_count: u64,
    /// Bytes of live objects in the managed heap.
    pub live_shallow_bytes: u64,
    /// Bytes of live objects outside the managed heap.
    pub live_external_bytes: u64,
    /// Objects that no root reaches.
    pub unreachable_count: u64,
    /// Bytes of unreachable objects, including external bytes.
    pub unreachable_bytes: u64,
}

/// A cell of the table `dump`.
pub(crate) enum DumpValue<'r> {
    Integer(i64),
    Boolean(bool),
    Text(&'r str),
}

impl DumpRow {
    /// The cell of a column. `None` if it is absent.
    pub(crate) fn value(&self, column: &str) -> Option<DumpValue<'_>> {
        let number = |number| Some(DumpValue::Integer(signed(number)));
        let count = |of: fn(&DumpCounts) -> u64| number(self.counts.as_ref().map(of)?);
        let text = |text| Some(DumpValue::Text(text));
        match column {
            "file" => text(&self.file),
            "digest" => text(&self.digest),
            "format" => text(&self.format),
            "format_version" => text(self.format_version.as_deref()?),
            "kind" => text(&self.kind),
            "snapshot" => number(self.snapshot?),
            "time_us" => number(self.time_us?),
            "complete" => Some(DumpValue::Boolean(self.damage.is_none())),
            "damage" => text(self.damage.as_deref()?),
            "warnings" => number(self.warnings),
            "objects" => count(|of| of.objects),
            "references" => count(|of| of.references),
            "live_count" => count(|of| of.live_count),
            "live_shallow_bytes" => count(|of| of.live_shallow_bytes),
            "live_external_bytes" => count(|of| of.live_external_bytes),
            "unreachable_count" => count(|of| of.unreachable_count),
            "unreachable_bytes" => count(|of| of.unreachable_bytes),
            _ => text(env!("CARGO_PKG_VERSION")),
        }
    }
}

impl TableRows for DumpRow {
    fn table(&self) -> Table {
        Table::Dump
    }

    fn len(&self) -> usize {
        1
    }

    fn fill(&mut self, column: &str, _: Range<usize>, cells: &mut TableCells) {
        let of = Table::Dump.columns().iter().find(|of| of.name == column);
        let value = self.value(column);
        if of.is_some_and(|of| of.absent == Absent::Null) {
            cells.present.push(value.is_some());
        }
        match value {
            None => {}
            Some(DumpValue::Integer(number)) => cells.integers.push(number),
            Some(DumpValue::Boolean(value)) => cells.booleans.push(value),
            Some(DumpValue::Text(text)) => cells.text(text),
        }
    }
}
