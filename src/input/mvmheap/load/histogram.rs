//! The rows of a snapshot by type, without its references.

use super::super::dump::{COLLECTABLES, Dump, Snapshot};
use super::super::rows::{Chunk, RowReader};
use super::super::tally::KINDS;
use super::types::Slots;
use super::{first_readable, missing_column, not_whole};
use crate::error::Result;
use crate::input::histogram::TypeCounts;
use crate::input::load::LoadOptions;
use crate::input::read::Progress;
use crate::model::builder::HeapBuilder;
use crate::model::heap::Ids;
use crate::model::sum::Sum;

/// Counts the rows of the snapshot that [`super::load`] would load, by the same types. Reads only
/// the columns of kinds, sizes, types and unmanaged sizes. Damaged references, which make `load`
/// take an earlier snapshot, go unnoticed here.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    let mut dump = Dump::read(bytes)?;
    let (number, (types, counts)) = first_readable(&mut dump, bytes, options, count)?;
    let heap = types.finish(Ids::Rows(0), None);
    Ok(TypeCounts::new(&heap.types, &heap.names, &counts, number as u64, dump.damage))
}

/// Counts the rows of each slot, and adds a type for each slot that has rows.
fn count(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    progress: Progress<'_>,
) -> Result<(HeapBuilder<'static>, Vec<Sum>)> {
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
    let mut types = HeapBuilder::with_capacity(0, 0);
    let used = (0..).zip(counts).filter(|(_, sum)| sum.count > 0).map(|(slot, sum)| {
        slots.add(dump, slot, &mut types);
        sum
    });
    let sums = used.collect();
    Ok((types, sums))
}
