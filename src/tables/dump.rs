//! The table `dump`: one row.

use super::Table;
use super::cells::signed;
use super::column::{Column, ColumnOf};
use super::relation::{Relation, Rows, relation};
use std::borrow::Cow;
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
    /// The time of the snapshot, in microseconds since the beginning of the recording. `None` if
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
        let mut columns = file_columns();
        columns.extend(heap_columns());
        columns.push(
            Column::name("tool_version", "The version of dumptool")
                .texts(|_: &Self, _| env!("CARGO_PKG_VERSION")),
        );
        columns
    }

    fn len(&self) -> usize {
        1
    }
}

fn file_columns<'r>() -> Vec<ColumnOf<Dump<'r>>> {
    vec![
        Column::name("file", "The path of the file, as it was given")
            .texts(|this: &Dump<'_>, _| &this.0.file),
        Column::name("digest", "SHA-256 of the bytes, decompressed, in hexadecimal digits")
            .texts(|this: &Dump<'_>, _| &this.0.digest),
        Column::name("format", "The name of the format").texts(|this: &Dump<'_>, _| &this.0.format),
        Column::name("format_version", "The version of the format")
            .optional_texts(|this: &Dump<'_>, _| this.0.format_version.as_deref().map(Cow::from)),
        Column::name("kind", "`heap` or `profile`").texts(|this: &Dump<'_>, _| &this.0.kind),
        Column::number("snapshot", "The number of the snapshot, from 0")
            .optional_numbers(|this: &Dump<'_>, _| this.0.snapshot.map(signed)),
        Column::number("time_us", "When the snapshot was taken, since the recording began")
            .microseconds()
            .optional_numbers(|this: &Dump<'_>, _| this.0.time_us.map(signed)),
        Column::boolean("complete", "Whether the file is not damaged")
            .booleans(|this: &Dump<'_>, _| this.0.damage.is_none()),
        Column::name("damage", "The damage that ended the reading early")
            .optional_texts(|this: &Dump<'_>, _| this.0.damage.as_deref().map(Cow::from)),
        Column::number("warnings", "The number of warnings")
            .numbers(|this: &Dump<'_>, _| this.0.warnings),
    ]
}

/// The totals, which are null for profiles.
fn heap_columns<'r>() -> Vec<ColumnOf<Dump<'r>>> {
    type Total = fn(&DumpCounts) -> u64;
    let total = |column: Column, total: Total| {
        column.optional_numbers(move |this: &Dump<'_>, _| {
            this.0.counts.as_ref().map(|counts| signed(total(counts)))
        })
    };
    let count = |name, doc, of_heap: Total| total(Column::number(name, doc), of_heap);
    let bytes = |name, doc, of_heap: Total| total(Column::number(name, doc).bytes(), of_heap);
    vec![
        count("objects", "Objects, without those that only represent roots", |all| all.objects),
        count(
            "references",
            "Rows of the table of references, which has those to classes too; `info` counts what the file lists",
            |all| all.references,
        ),
        count("live_count", "Objects that roots reach", |all| all.live_count),
        bytes("live_shallow_bytes", "Live bytes in the managed heap", |all| all.live_shallow_bytes),
        bytes("live_external_bytes", "Live bytes outside the managed heap", |all| {
            all.live_external_bytes
        }),
        count("unreachable_count", "Objects that no root reaches", |all| all.unreachable_count),
        bytes("unreachable_bytes", "Bytes of unreachable objects, inside and outside", |all| {
            all.unreachable_bytes
        }),
    ]
}
