//! Changes between two heaps for programs.

use crate::analysis::diff::{Delta, HistogramChange, Side};
use crate::analysis::histogram::Histogram;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) schema: &'static str,
    /// The newer one.
    pub(super) file: String,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) old_snapshot: u64,
    pub(super) new_snapshot: u64,
    pub(super) by: &'static str,
    pub(super) objects: &'static str,
    pub(super) old_total: SideJson,
    pub(super) new_total: SideJson,
    pub(super) rows: Vec<RowJson<'a>>,
    /// Changed rows that are not shown.
    pub(super) omitted: Omitted,
    /// Rows that are the same in both.
    pub(super) unchanged: u64,
}

#[derive(Serialize)]
pub(super) struct Omitted {
    pub(super) rows: u64,
}

#[derive(Serialize)]
pub(super) struct RowJson<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    /// 0 where the row is not there.
    pub(super) old: SideJson,
    pub(super) new: SideJson,
    pub(super) delta: DeltaJson,
    /// new, gone, or changed.
    pub(super) status: &'static str,
}

#[derive(Serialize)]
pub(super) struct SideJson {
    pub(super) count: u64,
    pub(super) shallow_bytes: u64,
    pub(super) external_bytes: u64,
    pub(super) retained_bytes: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct DeltaJson {
    pub(super) count: i64,
    pub(super) shallow_bytes: i64,
    pub(super) external_bytes: i64,
    pub(super) retained_bytes: Option<i64>,
}

#[derive(Default, Serialize)]
pub(super) struct CsvRow<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) status: &'static str,
    pub(super) old_count: u64,
    pub(super) old_shallow_bytes: u64,
    pub(super) old_external_bytes: u64,
    pub(super) old_retained_bytes: Option<u64>,
    pub(super) new_count: u64,
    pub(super) new_shallow_bytes: u64,
    pub(super) new_external_bytes: u64,
    pub(super) new_retained_bytes: Option<u64>,
    pub(super) delta_count: i64,
    pub(super) delta_shallow_bytes: i64,
    pub(super) delta_external_bytes: i64,
    pub(super) delta_retained_bytes: Option<i64>,
}

/// Whether a row is in one of the heaps only.
pub(super) fn status(row: &HistogramChange) -> &'static str {
    match (row.old, row.new) {
        (None, _) => "new",
        (_, None) => "gone",
        _ => "changed",
    }
}

pub(super) fn total(histogram: &Histogram) -> Side {
    // All that is alive is retained by the roots.
    let retained_bytes = histogram.unreachable.map(|_| histogram.total.bytes());
    Side { sum: histogram.total, retained_bytes }
}

pub(super) fn side(side: &Side) -> SideJson {
    SideJson {
        count: side.sum.count,
        shallow_bytes: side.sum.shallow_bytes,
        external_bytes: side.sum.external_bytes,
        retained_bytes: side.retained_bytes,
    }
}

pub(super) fn row_json(row: &HistogramChange) -> RowJson<'_> {
    let Delta { count, shallow_bytes, external_bytes, retained_bytes } = row.delta();
    RowJson {
        name: &row.name,
        namespace: &row.namespace,
        old: side(&row.old.unwrap_or(absent(row.new))),
        new: side(&row.new.unwrap_or(absent(row.old))),
        delta: DeltaJson { count, shallow_bytes, external_bytes, retained_bytes },
        status: status(row),
    }
}

/// What there is of a group that is not there: nothing, and nothing retained if the other heap has roots.
fn absent(other: Option<Side>) -> Side {
    Side { retained_bytes: other.and_then(|side| side.retained_bytes).map(|_| 0), ..Side::default() }
}

pub(super) fn csv_row(row: &HistogramChange) -> CsvRow<'_> {
    let RowJson { name, namespace, old, new, delta, status } = row_json(row);
    CsvRow {
        name,
        namespace,
        status,
        old_count: old.count,
        old_shallow_bytes: old.shallow_bytes,
        old_external_bytes: old.external_bytes,
        old_retained_bytes: old.retained_bytes,
        new_count: new.count,
        new_shallow_bytes: new.shallow_bytes,
        new_external_bytes: new.external_bytes,
        new_retained_bytes: new.retained_bytes,
        delta_count: delta.count,
        delta_shallow_bytes: delta.shallow_bytes,
        delta_external_bytes: delta.external_bytes,
        delta_retained_bytes: delta.retained_bytes,
    }
}
