//! The table `dump`: one row.

use super::Table;
use super::cells::signed;
use super::column::{Column, ColumnOf};
use super::relation::{Relation, Rows, relation};
use std::sync::LazyLock;

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

/// Returns the table `dump`. `row` is called when the first cell is asked for.
pub fn of_dump<'r>(row: impl FnOnce() -> DumpRow + Send + 'r) -> Box<dyn Relation + 'r> {
    relation(Table::Dump.name(), Dump(LazyLock::new(Box::new(row))))
}

/// The table `dump`.
pub(super) struct Dump<'r>(LazyLock<DumpRow, Box<dyn FnOnce() -> DumpRow + Send + 'r>>);

impl Rows for Dump<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        let mut columns = of_file();
        columns.extend(of_heaps());
        columns
            .push(text("tool_version", "The version of dumptool", |_| env!("CARGO_PKG_VERSION")));
        columns
    }

    fn len(&self) -> usize {
        1
    }
}

fn of_file<'r>() -> Vec<ColumnOf<Dump<'r>>> {
    vec![
        text("file", "The path of the file, as it was given", |row| &row.file),
        text("digest", "SHA-256 of the bytes, decompressed, in hexadecimal digits", |row| {
            &row.digest
        }),
        text("format", "The name of the format", |row| &row.format),
        optional_text("format_version", "The version of the format", |row| {
            row.format_version.as_deref()
        }),
        text("kind", "`heap` or `profile`", |row| &row.kind),
        number(Column::number("snapshot", "The number of the snapshot, from 0"), |row| {
            row.snapshot
        }),
        number(
            Column::number("time_us", "When the snapshot was taken, since the recording began")
                .microseconds(),
            |row| row.time_us,
        ),
        Column::boolean("complete", "Whether the file is not damaged")
            .of(|this: &Dump<'_>, _, cells| cells.booleans([this.0.damage.is_none()].into_iter())),
        optional_text("damage", "The damage that ended the reading early", |row| {
            row.damage.as_deref()
        }),
        Column::number("warnings", "The number of warnings").of(|this: &Dump<'_>, _, cells| {
            cells.integers([this.0.warnings].into_iter());
        }),
    ]
}

/// The totals, which are null for profiles.
fn of_heaps<'r>() -> Vec<ColumnOf<Dump<'r>>> {
    let counts = |name, doc, of: fn(&DumpCounts) -> u64| total(Column::number(name, doc), of);
    let bytes =
        |name, doc, of: fn(&DumpCounts) -> u64| total(Column::number(name, doc).bytes(), of);
    vec![
        counts("objects", "Objects, without those that only represent roots", |of| of.objects),
        counts("references", "References", |of| of.references),
        counts("live_count", "Objects that roots reach", |of| of.live_count),
        bytes("live_shallow_bytes", "Live bytes in the managed heap", |of| of.live_shallow_bytes),
        bytes("live_external_bytes", "Live bytes outside the managed heap", |of| {
            of.live_external_bytes
        }),
        counts("unreachable_count", "Objects that no root reaches", |of| of.unreachable_count),
        bytes("unreachable_bytes", "Bytes of unreachable objects, inside and outside", |of| {
            of.unreachable_bytes
        }),
    ]
}

fn text<'r>(name: &'static str, doc: &'static str, of: fn(&DumpRow) -> &str) -> ColumnOf<Dump<'r>> {
    Column::name(name, doc).of(move |this: &Dump<'_>, _, cells| cells.text(of(&this.0)))
}

fn optional_text<'r>(
    name: &'static str,
    doc: &'static str,
    of: fn(&DumpRow) -> Option<&str>,
) -> ColumnOf<Dump<'r>> {
    let column = Column::name(name, doc).or_null();
    column.of(move |this: &Dump<'_>, _, cells| cells.optional_text(of(&this.0)))
}

fn number<'r>(
    column: Column,
    of: impl Fn(&DumpRow) -> Option<u64> + Send + Sync + 'static,
) -> ColumnOf<Dump<'r>> {
    column.or_null().of(move |this: &Dump<'_>, _, cells| {
        cells.optional_integers([of(&this.0).map(signed)].into_iter());
    })
}

fn total<'r>(column: Column, of: fn(&DumpCounts) -> u64) -> ColumnOf<Dump<'r>> {
    number(column, move |row| row.counts.as_ref().map(of))
}
