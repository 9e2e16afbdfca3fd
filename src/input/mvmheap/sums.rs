//! Sums over a snapshot, column by column instead of row by row, several columns in parallel.
//!
//! Sizes are needed without the kind of their row, so their columns are summed as they are stored,
//! on other threads if there are any, and fewer windows of zstd are in use at a time. Only the
//! columns of kinds and of reference counts are read in step.

use super::column::{Column, Decoders, Numbers};
use super::dump::Snapshot;
use super::tally::Tally;
use crate::parallel;

/// The count of numbers of a column that are decompressed at a time.
const CHUNK: usize = 16 << 10;

/// Sums up the wanted columns of `COLLECTABLES`: kinds and references, and optionally sizes.
/// `advance` receives the number of compressed bytes read since its last call.
///
/// `None` if other columns are wanted, or if a column is damaged or shorter than others. Reading by
/// rows then finds the fault, and the columns that are still usable.
pub(super) fn sum_columns(
    snapshot: &Snapshot<'_>,
    wanted: [bool; 6],
    decoders: &Decoders,
    advance: &(dyn Fn(u64) + Sync),
) -> Option<Tally> {
    let [true, size, false, true, false, unmanaged] = wanted else { return None };
    let sum = |wanted, name| {
        if wanted {
            Sum::read(open(snapshot, name, decoders)?, advance).map(Some)
        } else {
            Some(None)
        }
    };
    let (kinds, (managed, unmanaged)) = parallel::join(
        || {
            count_kinds(
                open(snapshot, "colkind", decoders)?,
                open(snapshot, "colrfcnt", decoders)?,
                advance,
            )
        },
        || parallel::join(|| sum(size, "colsize"), || sum(unmanaged, "colusize")),
    );
    let (mut tally, managed, unmanaged) = (kinds?, managed?, unmanaged?);
    let same_rows = [&managed, &unmanaged].into_iter().flatten().all(|sum| sum.rows == tally.rows);
    tally.managed = managed.map_or(0, |sum| sum.sum);
    tally.unmanaged = unmanaged.map_or(0, |sum| sum.sum);
    same_rows.then_some(tally)
}

fn open<'a>(snapshot: &Snapshot<'a>, name: &str, decoders: &Decoders) -> Option<Column<'a>> {
    Column::new(snapshot.block(name)?, snapshot.stored_bytes(), decoders).ok()
}

fn count_kinds(
    mut kinds: Column<'_>,
    mut references: Column<'_>,
    advance: &(dyn Fn(u64) + Sync),
) -> Option<Tally> {
    let mut tally = Tally::default();
    let (mut wide_kinds, mut wide_references) = (Vec::new(), Vec::new());
    loop {
        let before = kinds.consumed().saturating_add(references.consumed());
        let next = (kinds.next(CHUNK).ok()?, references.next(CHUNK).ok()?);
        if next.0.len() != next.1.len() {
            return None;
        }
        if next.0.is_empty() {
            return Some(tally);
        }
        match next {
            // All real files have these widths, which need no conversion.
            (Numbers::U16(kinds), Numbers::U32(references)) => {
                let kinds = kinds.iter().map(|kind| u64::from(u16::from_le_bytes(*kind)));
                let references =
                    references.iter().map(|count| u64::from(u32::from_le_bytes(*count)));
                tally.add_kinds(kinds.zip(references));
            }
            (kinds, references) => {
                kinds.widen(&mut wide_kinds);
                references.widen(&mut wide_references);
                tally.add_kinds(wide_kinds.iter().copied().zip(wide_references.iter().copied()));
            }
        }
        advance(kinds.consumed().saturating_add(references.consumed()).saturating_sub(before));
    }
}

/// The sum of a column, modulo 2⁶⁴, and the count of its numbers.
struct Sum {
    rows: u64,
    sum: u64,
}

impl Sum {
    fn read(mut column: Column<'_>, advance: &(dyn Fn(u64) + Sync)) -> Option<Self> {
        let mut total = Self { rows: 0, sum: 0 };
        loop {
            let before = column.consumed();
            let numbers = column.next(CHUNK).ok()?;
            if numbers.is_empty() {
                return Some(total);
            }
            total.rows = total.rows.saturating_add(numbers.len() as u64);
            total.sum = total.sum.wrapping_add(numbers.sum());
            advance(column.consumed().saturating_sub(before));
        }
    }
}
