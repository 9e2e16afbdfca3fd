//! Sums over a snapshot without its rows: every column is read on its own, and several at the same time.
//!
//! Sizes do not need to be seen next to the kind of their row, and a column by itself is decompressed faster than four by
//! turns, which take the processor's caches from each other. Only the kinds and the numbers of references go in step.

use super::column::{Column, Decoders};
use super::dump::Snapshot;
use super::tally::Tally;

/// Bytes of a column that are decompressed at a time: a block of zstd.
const CHUNK_BYTES: usize = 128 << 10;
/// Rows of the two columns that are decompressed at a time.
const CHUNK_ROWS: usize = 16 << 10;

/// Sums up the wanted ones of `COLLECTABLES`, which must be kinds and references and may be sizes. `advance` is told how
/// many compressed bytes were read since it was last told.
///
/// None if other columns are wanted or one is damaged or shorter than others: what is wrong there, and which columns can be used
/// nevertheless, is found by reading the rows.
pub(super) fn sum_columns(
    snapshot: &Snapshot<'_>,
    wanted: [bool; 6],
    decoders: &Decoders,
    advance: &(dyn Fn(u64) + Sync),
) -> Option<Tally> {
    let [true, size, false, true, false, unmanaged] = wanted else { return None };
    let sum = |wanted, name| if wanted { Sum::read(open(snapshot, name, decoders)?, advance).map(Some) } else { Some(None) };
    let (kinds, (managed, unmanaged)) = rayon::join(
        || count_kinds(open(snapshot, "colkind", decoders)?, open(snapshot, "colrfcnt", decoders)?, advance),
        || rayon::join(|| sum(size, "colsize"), || sum(unmanaged, "colusize")),
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

fn count_kinds(mut kinds: Column<'_>, mut references: Column<'_>, advance: &(dyn Fn(u64) + Sync)) -> Option<Tally> {
    let mut tally = Tally::default();
    let (mut kind_chunk, mut reference_chunk) = (Vec::new(), Vec::new());
    loop {
        let before = kinds.consumed() + references.consumed();
        kinds.read(CHUNK_ROWS, &mut kind_chunk).ok()?;
        references.read(CHUNK_ROWS, &mut reference_chunk).ok()?;
        if kind_chunk.len() != reference_chunk.len() {
            return None;
        }
        if kind_chunk.is_empty() {
            return Some(tally);
        }
        tally.add_kinds(&kind_chunk, &reference_chunk);
        advance(kinds.consumed() + references.consumed() - before);
    }
}

/// The sum of a column, modulo 2⁶⁴, and how many numbers it has.
struct Sum {
    rows: u64,
    sum: u64,
}

impl Sum {
    fn read(mut column: Column<'_>, advance: &(dyn Fn(u64) + Sync)) -> Option<Self> {
        let mut total = Self { rows: 0, sum: 0 };
        loop {
            let before = column.consumed();
            let (rows, sum) = column.sum(CHUNK_BYTES).ok()?;
            if rows == 0 {
                return Some(total);
            }
            total.rows += rows as u64;
            total.sum = total.sum.wrapping_add(sum);
            advance(column.consumed() - before);
        }
    }
}
