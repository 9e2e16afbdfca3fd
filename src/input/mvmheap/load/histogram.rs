//! The rows of a snapshot by type, without its references.

use super::super::dump::{COLLECTABLES, Dump, Snapshot};
use super::super::rows::{Chunk, RowReader};
use super::super::tally::KINDS;
use super::types::Slots;
use super::{candidates, cut, missing_column, not_whole};
use crate::error::Result;
use crate::input::histogram::TypeCounts;
use crate::input::load::LoadOptions;
use crate::input::read::Progress;
use crate::model::builder::HeapBuilder;
use crate::model::heap::Ids;
use crate::model::sum::Sum;

/// Counts the rows of the snapshot that [`super::load`] would load, by the same types. Of the
/// columns only kinds, sizes, types and unmanaged sizes are read, so that damage in references goes
/// unnoticed: it makes `load` take an earlier snapshot.
///
/// # Errors
/// When the magic is none of this format, there is no such snapshot, or it cannot be decompressed.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    let mut dump = Dump::read(bytes)?;
    let mut failure = None;
    for number in candidates(&dump, options.snapshot, bytes.len() as u64)? {
        let Some(snapshot) = dump.snapshots.get(number) else { continue };
        match count(&dump, snapshot, options.progress) {
            Ok(slots) => {
                let (types, counts) = name(&dump, snapshot, &slots);
                dump.note(failure);
                let heap = types.finish(Ids::Rows(0), None);
                return Ok(TypeCounts::new(
                    &heap.types,
                    &heap.names,
                    &counts,
                    number as u64,
                    dump.damage,
                ));
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.or(dump.damage).unwrap_or_else(|| cut(bytes.len() as u64)))
}

/// The rows of each slot.
fn count(dump: &Dump<'_>, snapshot: &Snapshot<'_>, progress: Progress<'_>) -> Result<Vec<Sum>> {
    if let Some(name) = missing_column(snapshot) {
        return Err(not_whole(snapshot, name));
    }
    let slots = Slots::new(dump, snapshot);
    let mut counts = vec![Sum::default(); slots.count()];
    let wanted = COLLECTABLES.map(|name| !name.starts_with("colrf"));
    let mut rows =
        RowReader::new(snapshot, wanted, &dump.decoders).map_err(|failed| failed.error)?;
    let mut chunk = Chunk::default();
    while rows.next(&mut chunk).map_err(|failed| failed.error)? {
        progress(snapshot.start.saturating_add(rows.consumed()));
        let [kinds, sizes, tofi, _, _, unmanaged] = &chunk.columns;
        for (((&kind, &size), &tofi), &unmanaged) in
            kinds.iter().zip(sizes).zip(tofi).zip(unmanaged)
        {
            let kind = if kind < KINDS as u64 { kind as u8 } else { 0 };
            if let Some(counts) = counts.get_mut(slots.slot(kind, tofi.min(u32::MAX.into()) as u32))
            {
                counts.add(size, unmanaged);
            }
        }
    }
    Ok(counts)
}

/// Types for the slots that have rows.
fn name(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    slots: &[Sum],
) -> (HeapBuilder<'static>, Vec<Sum>) {
    let names = Slots::new(dump, snapshot);
    let mut types = HeapBuilder::with_capacity(0, 0);
    let used: Vec<_> = (0..).zip(slots).filter(|(_, counts)| counts.count > 0).collect();
    let counts = used.iter().map(|(slot, counts)| {
        names.add(dump, *slot, &mut types);
        **counts
    });
    let counts = counts.collect();
    (types, counts)
}
