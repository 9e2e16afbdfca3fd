//! References: targets and labels, each put into the place of its row as it is decoded.

use super::Steps;
use super::order::{Order, Placement, target};
use super::rows::decode_stored;
use crate::error::{Error, Result};
use crate::input::mvmheap::dump::{Data, Dump, Snapshot};
use crate::input::mvmheap::rows::{ReferenceChunk, ReferenceReader};
use crate::model::heap::{Label, ObjectId, Offsets, References};
use crate::parallel;
use crate::plain::Plain;

/// Decodes all references. Also returns the number of labels whose string is not in the file.
pub(super) fn read(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    first: Offsets,
    order: &Order,
    labels: &[Label],
    steps: &Steps<'_>,
) -> Result<(References, u64)> {
    let mut targets = Placement::new(order, &first);
    let mut descriptions = Placement::new(order, &first);
    match &snapshot.data {
        Data::Blocks(_) => {
            let (read, described) = parallel::join(
                || {
                    decode_stored(dump, snapshot, "reftrget", steps, &mut |numbers| {
                        targets.put_stored(numbers, target)
                    })
                },
                || {
                    decode_stored(dump, snapshot, "refdescr", steps, &mut |numbers| {
                        descriptions.put_stored(numbers, |description| label(description, labels));
                    })
                },
            );
            read.and(described)?;
        }
        Data::Sections { .. } => {
            read_sections(dump, snapshot, &mut targets, &mut descriptions, labels)?
        }
    }
    let unnamed = descriptions.unknown();
    let (target, targets) = targets.finish();
    let (label, descriptions) = descriptions.finish();
    for (name, found) in [("reftrget", targets), ("refdescr", descriptions)] {
        if found != order.references {
            let at = snapshot.block(name).map_or(snapshot.start, |block| block.start);
            return Err(Error::corrupt(
                at,
                "the number of references differs from the sum over the rows",
            )
            .expected(order.references.to_string())
            .found(found.to_string()));
        }
    }
    let (target, label) = (ObjectId::of_plain(target), Label::of_plain(label));
    Ok((References { first, target, label, weak: Vec::new() }, unnamed))
}

fn read_sections(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    targets: &mut Placement<'_>,
    descriptions: &mut Placement<'_>,
    labels: &[Label],
) -> Result<()> {
    let Some(reader) = ReferenceReader::new(snapshot, &dump.decoders) else { return Ok(()) };
    let (mut reader, mut chunk) = (reader?, ReferenceChunk::default());
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    while reader.next(&mut chunk)? {
        rows.clear();
        rows.extend(chunk.references.iter().map(|reference| reference.target));
        targets.put(&rows, target);
        values.clear();
        values.extend(
            chunk.references.iter().map(|reference| reference.value << 2 | reference.kind & 3),
        );
        descriptions.put(&values, |description| label(description, labels));
    }
    Ok(())
}

/// The label of a description, which is two bits of kind and a value, and whether it is a string
/// that is not in the file. Nearly all labels come from the table of [`super::types::labels`], to
/// avoid a branch on the kind, which changes too irregularly for the processor to predict.
#[inline]
fn label(description: u64, known: &[Label]) -> (u32, bool) {
    let row = usize::try_from(description).unwrap_or(usize::MAX);
    match (known.get(row), description & 3) {
        (Some(label), _) => (label.bits(), false),
        (None, 1) => (Label::index(description >> 2).bits(), false),
        (None, kind) => (Label::NONE.bits(), kind == 2),
    }
}
