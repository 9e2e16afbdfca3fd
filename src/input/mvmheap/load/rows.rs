//! The columns of rows, narrowed while they are decoded.

use super::Steps;
use super::order::Order;
use crate::error::{Error, Result};
use crate::input::mvmheap::column::{Column, Numbers};
use crate::input::mvmheap::dump::{COLLECTABLES, Data, Dump, Snapshot};
use crate::input::mvmheap::rows::{Chunk, RowReader};
use crate::input::mvmheap::tally::KINDS;
use crate::model::heap::{MAX_OBJECTS, ObjectId, Offsets, Sizes};
use crate::parallel;

/// The count of numbers decoded at a time.
const CHUNK: usize = 4096;
/// The most rows, for each byte of a snapshot, for which memory is reserved before they are
/// decoded. Real snapshots take 20 bytes a row.
const ROWS_PER_BYTE: u64 = 4;

pub(super) struct Rows {
    /// The kind of each row, 1 to 11; 0 if unknown.
    pub(super) kinds: Vec<u8>,
    pub(super) shallow: Sizes,
    /// The type or frame index of each row; `u32::MAX` if it does not fit.
    pub(super) tofi: Vec<u32>,
    /// The position of the references of each row in the model: sums of the reference counts.
    pub(super) first: Offsets,
    pub(super) external: Vec<(ObjectId, u64)>,
    /// The position of the references of each row in the file.
    starts: Offsets,
    references: u64,
}

impl Rows {
    /// Returns empty columns with room for the rows that the snapshot announces.
    fn of(snapshot: &Snapshot<'_>) -> Self {
        let count = announced(snapshot);
        let mut first = Offsets::with_capacity(count.saturating_add(1), 0);
        first.push(0);
        Self {
            kinds: Vec::with_capacity(count),
            shallow: Sizes::with_capacity(count),
            tofi: Vec::with_capacity(count),
            first,
            external: Vec::new(),
            starts: Offsets::with_capacity(count, 0),
            references: 0,
        }
    }
}

/// The number of rows that the snapshot announces, as far as its size permits. It does not count
/// the parts of the root set and the frames of the call stack.
fn announced(snapshot: &Snapshot<'_>) -> usize {
    let counted = match &snapshot.data {
        Data::Sections { coll, .. } => coll.map_or(0, |coll| coll.rows),
        Data::Blocks(_) => ["total_objects", "total_typeobjects", "total_stables", "total_frames"]
            .iter()
            .filter_map(|key| snapshot.meta.as_ref()?.unsigned(key))
            .fold(0, u64::saturating_add),
    };
    let most = snapshot.stored_bytes().saturating_mul(ROWS_PER_BYTE);
    usize::try_from(counted.saturating_add(counted / 64).min(most)).unwrap_or(0)
}

/// Decodes all rows, and finds the order of their references in the file.
pub(super) fn read(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    steps: &Steps<'_>,
) -> Result<(Rows, Order)> {
    let mut rows = Rows::of(snapshot);
    match &snapshot.data {
        Data::Sections { .. } => read_sections(dump, snapshot, &mut rows)?,
        Data::Blocks(_) => {
            let order = read_columns(dump, snapshot, &mut rows, steps)?;
            return Ok((rows, order));
        }
    }
    let order = order(dump, snapshot, &mut rows.starts, &rows.first, rows.references)?;
    Ok((rows, order))
}

fn read_sections(dump: &Dump<'_>, snapshot: &Snapshot<'_>, rows: &mut Rows) -> Result<()> {
    let mut reader =
        RowReader::new(snapshot, [true; 6], &dump.decoders).map_err(|failed| failed.error)?;
    let mut chunk = Chunk::default();
    while reader.next(&mut chunk).map_err(|failed| failed.error)? {
        let [kinds, sizes, tofi, counts, starts, unmanaged] = &chunk.columns;
        add_external(&mut rows.external, rows.kinds.len(), unmanaged);
        add_kinds(&mut rows.kinds, kinds);
        rows.shallow.extend_from_slice(sizes);
        add_tofi(&mut rows.tofi, tofi);
        add_counts(&mut rows.first, &mut rows.references, counts);
        add_starts(&mut rows.starts, starts);
    }
    Ok(())
}

/// Decodes the columns on two threads. One decodes the columns that give the order of references,
/// and finds that order; the other decodes the rest.
fn read_columns(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    rows: &mut Rows,
    steps: &Steps<'_>,
) -> Result<Order> {
    let Rows { kinds, shallow, tofi, first, external, starts, references } = rows;
    let decode =
        |name: &str, each: &mut dyn FnMut(&[u64])| decode(dump, snapshot, name, steps, each);
    let (order, rest) = parallel::join(
        || {
            let counts = decode("colrfcnt", &mut |values| add_counts(first, references, values))?;
            let begins = decode("colrfstr", &mut |values| add_starts(starts, values))?;
            same_length(snapshot, "colrfstr", counts, begins)?;
            Ok((order(dump, snapshot, starts, first, *references)?, counts))
        },
        || {
            let rows = decode("coltofi", &mut |values| add_tofi(tofi, values))?;
            let mut read = 0;
            let unmanaged = decode("colusize", &mut |values| {
                add_external(external, read, values);
                read = read.saturating_add(values.len());
            })?;
            same_length(snapshot, "colusize", rows, unmanaged)?;
            let sizes = decode("colsize", &mut |values| shallow.extend_from_slice(values))?;
            same_length(snapshot, "colsize", rows, sizes)?;
            same_length(
                snapshot,
                "colkind",
                rows,
                decode("colkind", &mut |values| add_kinds(kinds, values))?,
            )?;
            Ok(rows)
        },
    );
    let (order, counts) = order?;
    same_length(snapshot, "colrfcnt", rest?, counts)?;
    Ok(order)
}

/// Finds the order and discards the starts, which have no other use.
fn order(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    starts: &mut Offsets,
    first: &Offsets,
    references: u64,
) -> Result<Order> {
    let block = snapshot.block("colrfstr").or(snapshot.block("colrfcnt"));
    let at = block.map_or(snapshot.start, |block| block.start);
    let most = match &snapshot.data {
        Data::Blocks(_) => dump.decoders.most_references(snapshot.stored_bytes()),
        Data::Sections { refs, .. } => refs.map_or(0, |refs| refs.rows),
    };
    if references > most {
        return Err(Error::corrupt(at, "the rows have more references than the file can hold")
            .expected(format!("at most {most}"))
            .found(references.to_string()));
    }
    let starts = std::mem::replace(starts, Offsets::with_capacity(0, 0));
    Order::find(&starts, first, references).ok_or_else(|| {
        Error::corrupt(
            at,
            "the references of some rows overlap, or some references belong to no row",
        )
    })
}

/// Decodes a column in chunks. Returns the number of rows.
fn decode(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    name: &str,
    steps: &Steps<'_>,
    each: &mut dyn FnMut(&[u64]),
) -> Result<u64> {
    let mut values = Vec::with_capacity(CHUNK);
    decode_stored(dump, snapshot, name, steps, &mut |numbers| {
        numbers.widen(&mut values);
        each(&values);
    })
}

/// Like [`decode`], with the numbers as they are stored.
pub(super) fn decode_stored(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    name: &str,
    steps: &Steps<'_>,
    each: &mut dyn FnMut(&Numbers<'_>),
) -> Result<u64> {
    let block = snapshot
        .block(name)
        .ok_or_else(|| Error::truncated(snapshot.end, format!("column \"{name}\" is missing")))?;
    let mut column = Column::new(block, snapshot.stored_bytes(), &dump.decoders)?;
    let (mut rows, mut reported) = (0u64, 0);
    loop {
        let numbers = column.next(CHUNK)?;
        if numbers.is_empty() {
            steps.add(column.consumed().saturating_sub(reported));
            return Ok(rows);
        }
        rows = rows.saturating_add(numbers.len() as u64);
        if name.starts_with("col") && rows > MAX_OBJECTS {
            return Err(Error::limit(block.start, "there are more rows than can be numbered")
                .expected(format!("at most {MAX_OBJECTS}")));
        }
        each(&numbers);
        let consumed = column.consumed();
        if consumed.saturating_sub(reported) > 1 << 20 {
            steps.add(consumed.saturating_sub(reported));
            reported = consumed;
        }
    }
}

fn same_length(snapshot: &Snapshot<'_>, name: &str, expected: u64, found: u64) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let at = snapshot.block(name).map_or(snapshot.start, |block| block.start);
    debug_assert!(COLLECTABLES.contains(&name));
    Err(Error::corrupt(
        at,
        format!("column \"{name}\" has a different number of rows than the others"),
    )
    .expected(expected.to_string())
    .found(found.to_string()))
}

fn add_kinds(kinds: &mut Vec<u8>, values: &[u64]) {
    kinds.extend(values.iter().map(|&kind| if kind < KINDS as u64 { kind as u8 } else { 0 }));
}

fn add_tofi(tofi: &mut Vec<u32>, values: &[u64]) {
    tofi.extend(values.iter().map(|&value| value.min(u32::MAX.into()) as u32));
}

fn add_counts(first: &mut Offsets, sum: &mut u64, values: &[u64]) {
    let most = values.iter().fold(*sum, |sum, count| sum.saturating_add(*count));
    let sums = values.iter().map(|count| {
        *sum = sum.saturating_add(*count);
        *sum
    });
    first.extend(sums, most);
}

fn add_starts(starts: &mut Offsets, values: &[u64]) {
    // A bound on the largest value: at least as large, and below the same power of two. Unlike a
    // maximum of 64-bit numbers, a bitwise OR is vectorized.
    let most = values.iter().fold(0, |all, value| all | value);
    starts.extend(values.iter().copied(), most);
}

fn add_external(external: &mut Vec<(ObjectId, u64)>, row: usize, values: &[u64]) {
    let rows = (row as u32..).map(ObjectId).zip(values.iter().copied());
    external.extend(rows.filter(|(_, bytes)| *bytes > 0));
}
