//! Consecutive heap dump segments, split into parts that are read in parallel.
//!
//! HotSpot ends a segment after 1 MiB since JDK 9, unless a single object is larger, and ART after 128
//! objects or 4 KiB. Before JDK 9, HotSpot wrote segments of up to 1 GiB, which are read one after the
//! other. Sources: `heapDumper.cpp` of OpenJDK, ART's `hprof.cc`, and dumps of JDK 17.

use super::objects::Object;
use super::primitives::{IdSize, u4};
use super::records::{HeapRec, Records, read_heap_record};
use crate::bytes::Cursor;
use crate::input::waves::in_waves;
use std::ops::Range;

/// The tag of a segment.
const SEGMENT: u8 = 0x1c;
/// The size of a part in bytes. A part ends with the segment that reaches this size.
const PART: usize = 2 << 20;
/// The largest segment read in parallel. Unmerged results of larger ones take too much memory.
const MOST: u32 = 16 << 20;

/// Reads the next segments in parallel, in parts. Passes the results of `read` to `take` in the
/// order of the file, up to the first damaged part. `take` returns the number of objects in its
/// part. Returns `false` if nothing was read: the caller must then read the next record itself.
pub(super) fn side_by_side<R: Send>(
    records: &mut Records<'_>,
    read: impl Fn(&Range<u64>) -> Option<R> + Sync,
    mut take: impl FnMut(R) -> u64 + Send,
) -> bool {
    let Some(cursor) = records.segments_ahead().filter(begins) else { return false };
    let parts = parts(cursor);
    // Do not split the same segments again, however many small ones there are.
    let end = parts.last().map_or(0, |part| part.end);
    records.read_singly(end.max(cursor.offset().saturating_add(1)));
    if parts.len() < 2 {
        return false;
    }
    let (mut end, mut objects) = (cursor.offset(), 0_u64);
    let read = |part: &Range<u64>| Some((read(part)?, part.end));
    in_waves(&parts, read, |part| {
        let Some((part, part_end)) = part else { return false };
        objects = objects.saturating_add(take(part));
        end = part_end;
        true
    });
    records.skip_segments(end, objects);
    end > cursor.offset()
}

/// Whether a segment begins at a cursor.
fn begins(cursor: &Cursor<'_>) -> bool {
    cursor.rest().first() == Some(&SEGMENT)
}

/// Splits the complete segments at a cursor into parts, and returns the range of each.
fn parts(mut cursor: Cursor<'_>) -> Vec<Range<u64>> {
    let (mut parts, mut start) = (Vec::new(), cursor);
    while next_segment(&mut cursor).is_some() {
        if start.remaining().saturating_sub(cursor.remaining()) >= PART {
            parts.push(start.offset()..cursor.offset());
            start = cursor;
        }
    }
    if start != cursor {
        parts.push(start.offset()..cursor.offset());
    }
    parts
}

/// The contents of the segment at a cursor. Moves the cursor after the segment. Returns `None` and
/// does not move for other records, and for segments that are truncated or too large.
fn next_segment<'a>(cursor: &mut Cursor<'a>) -> Option<Cursor<'a>> {
    let mut after = *cursor;
    if after.u8("a tag").ok()? != SEGMENT {
        return None;
    }
    after.take(4, "a time").ok()?;
    let length = u4(&mut after, "a length").ok().filter(|length| *length <= MOST)?;
    let offset = after.offset();
    let contents = Cursor::new(after.take(length.into(), "a segment").ok()?, offset);
    *cursor = after;
    Some(contents)
}

/// Passes the objects of a part to `object`, with their offsets, and the offsets of other records to
/// `other`. `None` if a record is damaged.
#[inline(always)]
pub(super) fn read_part<'a>(
    bytes: &'a [u8],
    part: &Range<u64>,
    ids: IdSize,
    mut object: impl FnMut(u64, &Object<'a>),
    mut other: impl FnMut(u64),
) -> Option<()> {
    let end = usize::try_from(part.end).ok()?;
    let mut segments = Cursor::at(bytes.get(..end)?, part.start);
    while let Some(mut heap) = next_segment(&mut segments) {
        while !heap.is_empty() {
            let offset = heap.offset();
            let found = match Object::at_start(heap.rest(), ids) {
                Some((found, length)) => {
                    heap.skip_to_remaining(heap.remaining().saturating_sub(length));
                    found
                }
                None => match read_heap_record(&mut heap, ids).ok()? {
                    HeapRec::Object(found) => found,
                    _ => {
                        other(offset);
                        continue;
                    }
                },
            };
            object(offset, &found);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::hprof::neighbours::Watch;
    use crate::input::hprof::objects::{Instance, ObjectArray};
    use proptest::prelude::*;

    /// An instance or an array of a class.
    fn object(id: u64, class: u64) -> Object<'static> {
        match class % 3 {
            0 => {
                let count = (class % 5) as u32;
                Object::ObjectArray(ObjectArray { id, trace: 0, count, class, elements: &[] })
            }
            _ => Object::Instance(Instance { id, trace: 0, class, values: &[] }),
        }
    }

    proptest! {
        #[test]
        fn parts_of_a_file_show_the_neighbours_that_all_of_it_shows(
            objects in prop::collection::vec((1..8u64, 1..12u64, 0..30u8), 1..300),
            mut cuts in prop::collection::vec(0..300usize, 0..6),
        ) {
            let mut id = 1 << 20;
            let objects: Vec<_> = objects.into_iter().map(|(step, class, jump)| {
                // Most objects follow the one before; now and then the file goes back.
                id = if jump == 0 { id - 500 } else { id + step * 8 };
                object(id, class)
            }).collect();
            let mut whole = Watch::default();
            let rows: Vec<_> = objects.iter().map(|object| whole.object(object, IdSize::Eight)).collect();
            cuts.extend([0, objects.len()]);
            cuts.iter_mut().for_each(|cut| *cut = (*cut).min(objects.len()));
            cuts.sort_unstable();
            let mut joined = Watch::default();
            for cut in cuts.windows(2) {
                let mut part = Watch::of_part(joined.limit());
                let of_part: Vec<_> = objects[cut[0]..cut[1]]
                    .iter()
                    .map(|object| part.object(object, IdSize::Eight))
                    .collect();
                let row_of = joined.append(part);
                let of_part: Vec<_> =
                    of_part.into_iter().map(|row| row.map(|row| row_of[row] as usize)).collect();
                prop_assert_eq!(&of_part, &rows[cut[0]..cut[1]]);
            }
            prop_assert_eq!(joined.is_ascending(), whole.is_ascending());
            let [joined, whole] = [joined, whole].map(Watch::finish);
            for class in 0..12 {
                prop_assert_eq!(joined.distance(class), whole.distance(class));
            }
            prop_assert_eq!(joined.alignment(), whole.alignment());
            prop_assert_eq!(format!("{:?}", joined.arrays), format!("{:?}", whole.arrays));
        }
    }
}
