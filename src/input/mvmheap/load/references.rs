//! References: targets and labels, each put to its row as it is decoded.

use super::Steps;
use super::order::{Order, Placement, objects, target};
use super::rows::decode_stored;
use crate::error::{Error, Result};
use crate::input::mvmheap::dump::{Data, Dump, Snapshot};
use crate::input::mvmheap::rows::{ReferenceChunk, ReferenceReader};
use crate::model::heap::{Label, Offsets, References};
use std::cell::Cell;

/// Decodes all references. The number is that of labels that are in no table of strings.
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
    let unnamed = match &snapshot.data {
        Data::Blocks(_) => {
            let (read, unnamed) = rayon::join(
                || decode_stored(dump, snapshot, "reftrget", steps, &mut |numbers| targets.put_stored(numbers, target)),
                || {
                    let unnamed = Cell::new(0);
                    decode_stored(dump, snapshot, "refdescr", steps, &mut |numbers| {
                        descriptions.put_stored(numbers, |description| label(description, labels, &unnamed));
                    })
                    .map(|_| unnamed.get())
                },
            );
            read.and(unnamed)?
        }
        Data::Sections { .. } => read_sections(dump, snapshot, &mut targets, &mut descriptions, labels)?,
    };
    let (target, targets) = targets.finish();
    let (label, descriptions) = descriptions.finish();
    for (name, found) in [("reftrget", targets), ("refdescr", descriptions)] {
        if found != order.references {
            let at = snapshot.block(name).map_or(snapshot.start, |block| block.start);
            return Err(Error::corrupt(at, "there are more or fewer references than the rows have")
                .expected(order.references.to_string())
                .found(found.to_string()));
        }
    }
    let label = label.into_iter().map(Label::from_bits).collect();
    Ok((References { first, target: objects(target), label, weak: Vec::new() }, unnamed))
}

fn read_sections(
    dump: &Dump<'_>,
    snapshot: &Snapshot<'_>,
    targets: &mut Placement<'_>,
    descriptions: &mut Placement<'_>,
    labels: &[Label],
) -> Result<u64> {
    let unnamed = Cell::new(0);
    let Some(reader) = ReferenceReader::new(snapshot, &dump.decoders) else { return Ok(0) };
    let (mut reader, mut chunk) = (reader?, ReferenceChunk::default());
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    while reader.next(&mut chunk)? {
        rows.clear();
        rows.extend(chunk.references.iter().map(|reference| reference.target));
        targets.put(&rows, target);
        values.clear();
        values.extend(chunk.references.iter().map(|reference| reference.value << 2 | reference.kind & 3));
        descriptions.put(&values, |description| label(description, labels, &unnamed));
    }
    Ok(unnamed.get())
}

/// Two bits of kind and a value. All labels that it may be are made, because the kind changes with every other row in no
/// order that the processor could foresee.
#[inline]
fn label(description: u64, strings: &[Label], unnamed: &Cell<u64>) -> u32 {
    let value = description >> 2;
    let string = strings.get(usize::try_from(value).unwrap_or(usize::MAX)).copied();
    unnamed.set(unnamed.get().wrapping_add(u64::from(description & 3 == 2 && string.is_none())));
    let labels = [Label::NONE, Label::index(value), string.unwrap_or_default(), Label::NONE];
    labels.get((description & 3) as usize).copied().unwrap_or_default().bits()
}
