//! The rows of `diff` of heaps.

use crate::analysis::diff::{Delta, HistogramChange, Side};
use crate::cli::args::{ByArg, SortArg};
use crate::cli::heap::histogram::{group_nouns, group_text, needs_namespace};
use crate::cli::print::{Align, Columns, Value};
use crate::cli::session::Session;
use crate::cli::size::{count, signed, size_change};

/// A group that changed.
pub(super) struct Row<'a> {
    pub(super) change: &'a HistogramChange,
    /// Zeros if the older heap does not have the group.
    old: Side,
    new: Side,
    delta: Delta,
    /// `gone`, or `new` with the group's holder. Empty for changed groups.
    note: String,
}

impl<'a> Row<'a> {
    pub(super) fn of(change: &'a HistogramChange, note: String) -> Self {
        let (old, new) =
            (change.old.unwrap_or(absent(change.new)), change.new.unwrap_or(absent(change.old)));
        Self { change, old, new, delta: change.delta(), note }
    }
}

/// The side of a heap that does not have the group: zeros. Retained bytes are 0 if the other heap
/// has roots, otherwise `None`.
fn absent(other: Option<Side>) -> Side {
    Side {
        retained_bytes: other.and_then(|side| side.retained_bytes).map(|_| 0),
        ..Side::default()
    }
}

pub(super) fn columns<'a>(
    shown: &[HistogramChange],
    by: ByArg,
    shares: &'a Shares,
    session: &'a Session,
) -> Columns<'a, Row<'a>> {
    let column = shares.column;
    let heading = name_of_column(column);
    let mut keys = vec!["bytes", "now", "objects", "new.count", "name"];
    if shares.are_shown {
        keys.insert(1, "share");
    }
    if needs_namespace(by, shown.iter().map(|row| (row.name.as_str(), row.namespace.as_str()))) {
        keys.push("namespace");
    }
    keys.push("note");
    let what = group_nouns(by).0;
    Columns::new(session)
        .text("name", &what.to_uppercase(), |row: &Row| &row.change.name)
        .shown_as(move |row| group_text(by, &row.change.name, &row.change.namespace))
        .text("namespace", "NAMESPACE", |row| Value::non_empty(&row.change.namespace))
        .value("old.count", |row| row.old.sum.count)
        .value("old.shallow_bytes", |row| row.old.sum.shallow_bytes)
        .value("old.external_bytes", |row| row.old.sum.external_bytes)
        .value("old.retained_bytes", |row| row.old.retained_bytes)
        .number("new.count", "COUNT NOW", |row| row.new.sum.count)
        .value("new.shallow_bytes", |row| row.new.sum.shallow_bytes)
        .value("new.external_bytes", |row| row.new.sum.external_bytes)
        .value("new.retained_bytes", |row| row.new.retained_bytes)
        .value("delta.count", |row| row.delta.count)
        .value("delta.shallow_bytes", |row| row.delta.shallow_bytes)
        .value("delta.external_bytes", |row| row.delta.external_bytes)
        .value("delta.retained_bytes", |row| row.delta.retained_bytes)
        .value("old.share", |row| row.change.old.map(|_| shares.of(row.change)[0]))
        .value("new.share", |row| row.change.new.map(|_| shares.of(row.change)[1]))
        .value("delta.share", |row| shares.change(row.change))
        .value("status", |row| status(row.change))
        .cell("share", "SHARE", Align::Right, |row| {
            let [old, new] = shares.of(row.change).map(|share| share * 100.0);
            format!("{old:.1} → {new:.1} %")
        })
        .cell("bytes", &format!("{heading} ±"), Align::Right, move |row| {
            let bytes = delta(&row.delta, column);
            session.terminal.change(&size_change(bytes, session.common.bytes), bytes)
        })
        .cell("now", &format!("{heading} NOW"), Align::Right, move |row| {
            session.size(now(&row.new, column))
        })
        .cell("objects", "COUNT ±", Align::Right, |row| {
            session.terminal.change(&signed(row.delta.count, count), row.delta.count)
        })
        .cell("note", "", Align::Left, |row| row.note.clone())
        .table(&keys)
        .csv(&CSV)
        .minor(&["new.count", "now", "objects"])
}

/// The columns of CSV, where the status comes before the numbers.
const CSV: [&str; 15] = [
    "name",
    "namespace",
    "status",
    "old.count",
    "old.shallow_bytes",
    "old.external_bytes",
    "old.retained_bytes",
    "new.count",
    "new.shallow_bytes",
    "new.external_bytes",
    "new.retained_bytes",
    "delta.count",
    "delta.shallow_bytes",
    "delta.external_bytes",
    "delta.retained_bytes",
];

/// The column of bytes that a table sorted by `sort` shows.
pub(super) fn column_of(sort: SortArg, is_retained: bool) -> SortArg {
    match sort {
        SortArg::Count if is_retained => SortArg::Retained,
        SortArg::Count => SortArg::Shallow,
        other => other,
    }
}

/// The shares of groups in their heaps.
pub(super) struct Shares {
    pub(super) column: SortArg,
    /// Bytes of the older and of the newer heap.
    pub(super) wholes: [u64; 2],
    /// Whether the table is sorted by shares.
    pub(super) are_shown: bool,
}

impl Shares {
    /// The share in the older and in the newer heap.
    fn of(&self, change: &HistogramChange) -> [f64; 2] {
        let share = |side: Option<Side>, whole: u64| {
            side.map_or(0.0, |side| now(&side, self.column) as f64 / whole.max(1) as f64)
        };
        [share(change.old, self.wholes[0]), share(change.new, self.wholes[1])]
    }

    pub(super) fn change(&self, change: &HistogramChange) -> f64 {
        let [old, new] = self.of(change);
        new - old
    }
}

fn name_of_column(column: SortArg) -> &'static str {
    match column {
        SortArg::Retained => "RETAINED",
        SortArg::External => "EXTERNAL",
        SortArg::Size => "SIZE",
        SortArg::Shallow | SortArg::Count => "SHALLOW",
    }
}

fn now(side: &Side, column: SortArg) -> u64 {
    match column {
        SortArg::Retained => side.retained_bytes.unwrap_or(0),
        SortArg::External => side.sum.external_bytes,
        SortArg::Size => side.sum.bytes(),
        SortArg::Shallow | SortArg::Count => side.sum.shallow_bytes,
    }
}

/// Whether a row is in one of the heaps only.
pub(super) fn status(row: &HistogramChange) -> &'static str {
    match (row.old, row.new) {
        (None, _) => "new",
        (_, None) => "gone",
        _ => "changed",
    }
}

pub(super) fn delta(delta: &Delta, column: SortArg) -> i64 {
    match column {
        SortArg::Retained => delta.retained_bytes.unwrap_or(0),
        SortArg::Shallow => delta.shallow_bytes,
        SortArg::External => delta.external_bytes,
        SortArg::Size => delta.shallow_bytes.saturating_add(delta.external_bytes),
        SortArg::Count => delta.count,
    }
}
