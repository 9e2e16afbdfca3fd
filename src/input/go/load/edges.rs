//! The third pass: the references of each object, and the shape by which it is typed.
//!
//! The number of pointers that lead to objects is known only after following all of them, which
//! should happen once. So some chunks of rows are processed at a time, each with a buffer of its
//! own, and their results are then appended to columns with room for all fields. Unused room is
//! memory that is never touched.

use super::old::OldLayout;
use super::place::Placed;
use super::pointers::{Faults, Reader};
use super::shape::{Shape, Shapes, Signature};
use super::{CHUNK, chunks_at_a_time};
use crate::bytes::Cursor;
use crate::input::go::fields::{Field, Fields};
use crate::input::go::phantoms::HEADER;
use crate::model::heap::{Label, ObjectId, Offsets, References, TypeId};
use crate::parallel;

pub(super) struct Edges {
    pub(super) references: References,
    /// The number of each object's shape in its chunk.
    pub(super) shape_of: Vec<TypeId>,
    pub(super) shapes: Vec<Vec<Shape>>,
    pub(super) faults: Faults,
}

/// Rows to work on and where their results go.
struct Work<'w> {
    first_row: usize,
    counts: &'w mut [u32],
    shape_of: &'w mut [TypeId],
    found: &'w mut Found,
}

/// The result for a chunk of rows.
#[derive(Default)]
struct Found {
    targets: Vec<ObjectId>,
    labels: Vec<Label>,
    shapes: Vec<Shape>,
    faults: Faults,
}

impl Edges {
    pub(super) fn new(reader: &Reader<'_, '_>, placed: &Placed, has_labels: bool) -> Self {
        let count = placed.sizes.len();
        let fields = usize::try_from(placed.fields).unwrap_or(usize::MAX);
        let mut counts = vec![0u32; count.saturating_add(1)];
        let mut shape_of = vec![TypeId(0); count];
        let mut target = Vec::with_capacity(fields);
        let mut label = Vec::with_capacity(if has_labels { fields } else { 0 });
        let mut shapes = Vec::with_capacity(count.div_ceil(CHUNK));

        let mut found: Vec<Found> = Vec::new();
        found.resize_with(chunks_at_a_time(), Found::default);
        let rows_at_a_time = CHUNK.saturating_mul(found.len());
        let columns = counts
            .get_mut(1..)
            .unwrap_or_default()
            .chunks_mut(rows_at_a_time)
            .zip(shape_of.chunks_mut(rows_at_a_time));
        for (first_row, (counts, shape_of)) in (0..).step_by(rows_at_a_time).zip(columns) {
            let chunks = counts.chunks_mut(CHUNK).zip(shape_of.chunks_mut(CHUNK)).zip(&mut found);
            let work = (first_row..).step_by(CHUNK).zip(chunks);
            let work = work.map(|(first_row, ((counts, shape_of), found))| Work {
                first_row,
                counts,
                shape_of,
                found,
            });
            for found in parallel::map(work, |work| chunk(reader, placed, has_labels, work)) {
                target.append(&mut found.targets);
                label.append(&mut found.labels);
                shapes.push(std::mem::take(&mut found.shapes));
            }
        }
        let faults = found.iter().map(|found| found.faults).sum();
        target.shrink_to_fit();
        label.shrink_to_fit();
        let references = References {
            first: first_of(counts, target.len() as u64),
            target,
            label,
            weak: Vec::new(),
        };
        Self { references, shape_of, shapes, faults }
    }
}

/// The position of each object's first reference. `counts` has 0, then the number for each object.
fn first_of(mut counts: Vec<u32>, sum: u64) -> Offsets {
    if u32::try_from(sum).is_ok() {
        let mut sum = 0u32;
        for count in &mut counts {
            sum = sum.wrapping_add(*count);
            *count = sum;
        }
        return Offsets::Small(counts);
    }
    let mut sum = 0u64;
    let sums = counts.into_iter().map(|count| {
        sum = sum.wrapping_add(count.into());
        sum
    });
    Offsets::Large(sums.collect())
}

/// Processes a chunk of rows. Returns the position of its results.
fn chunk<'w>(
    reader: &'w Reader<'_, '_>,
    placed: &Placed,
    has_labels: bool,
    work: Work<'w>,
) -> &'w mut Found {
    let mut follow = Follow { reader, has_labels, work, batch: [Open::default(); BATCH], open: 0 };
    let mut shapes = Shapes::default();
    for index in 0..follow.work.counts.len() {
        let row = follow.work.first_row.wrapping_add(index);
        let mut rest = Cursor::at(reader.bytes, placed.positions.get(row));
        let contents = rest.take(placed.sizes.get(row), "an object").unwrap_or_default();
        let layout = placed
            .layouts
            .get(row)
            .and_then(|layout| Some((*layout, reader.survey.old.layout(*layout)?)));
        let shape = match layout {
            None => follow.object(index, contents, Fields::new(rest.rest(), reader.survey.version)),
            Some((number, layout)) => follow.old_object(index, contents, number, layout),
        };
        if let Some(place) = follow.work.shape_of.get_mut(index) {
            *place = shapes.number(shape);
        }
    }
    follow.resolve();
    let found = follow.work.found;
    found.shapes = shapes.into_distinct();
    found
}

/// Pointers that are resolved together: the processor then waits for several places in memory at
/// once.
const BATCH: usize = 64;

/// A pointer that has not been resolved yet.
#[derive(Clone, Copy, Default)]
struct Open {
    address: u64,
    /// The word before the pointer, or 0 if that word is not a hint.
    before: u64,
    /// The offset in the object.
    offset: u32,
    /// The object, by its row in the chunk.
    index: u32,
}

/// Follows the pointers of one object after the other.
struct Follow<'w, 's, 'a> {
    reader: &'w Reader<'s, 'a>,
    /// Whether references get their offsets as labels.
    has_labels: bool,
    work: Work<'w>,
    batch: [Open; BATCH],
    open: usize,
}

impl Follow<'_, '_, '_> {
    #[inline]
    fn object(&mut self, index: usize, contents: &[u8], fields: Fields<'_>) -> Shape {
        let size = contents.len() as u64;
        let mut signature = Signature::new(size);
        let mut header = None;
        let may_have_header = self.reader.header_sizes.contains(&size);
        for field in fields {
            if may_have_header && signature.pointers == 0 && field.offset >= HEADER {
                header = self.reader.words.at(contents, 0).filter(|address| *address != 0);
            }
            signature.add(field);
            // The malloc header looks like the type word of an interface, but is not a hint.
            let hints = field.offset > HEADER || header.is_none();
            self.field(index, contents, field, hints);
        }
        match (signature.pointers, header) {
            (0, _) => Shape::Plain { size },
            (_, Some(address)) if self.reader.survey.is_name(address) => Shape::Type { address },
            _ => signature.shape(),
        }
    }

    fn old_object(
        &mut self,
        index: usize,
        contents: &[u8],
        number: u32,
        layout: &OldLayout,
    ) -> Shape {
        let size = contents.len() as u64;
        for field in layout.fields(size, self.reader.words.size) {
            self.field(index, contents, field, false);
        }
        self.work.found.faults.unknown_types += u64::from(layout.unknown);
        layout.shape(number, size)
    }

    #[inline]
    fn field(&mut self, index: usize, contents: &[u8], field: Field, hints: bool) {
        let Some(pointer) = self.reader.pointer(contents, field, &mut self.work.found.faults)
        else {
            return;
        };
        let before = if hints { self.reader.word_before(contents, pointer.offset) } else { 0 };
        let offset = u32::try_from(pointer.offset).unwrap_or(u32::MAX);
        if let Some(place) = self.batch.get_mut(self.open) {
            *place = Open { address: pointer.address, before, offset, index: index as u32 };
        }
        // About every fifth pointer is nil, in no order that the processor could predict, so this
        // code has no branch.
        self.open = self.open.wrapping_add(self.reader.is_in_heap(pointer.address).into());
        if self.open == BATCH {
            self.resolve();
        }
    }

    fn resolve(&mut self) {
        let batch = self.batch.get(..std::mem::take(&mut self.open)).unwrap_or_default();
        self.reader.addresses.warm(batch.iter().map(|open| open.address));
        for open in batch {
            let Some((object, inside)) = self.reader.object_at(open.address) else { continue };
            self.work.found.targets.push(object);
            if self.has_labels {
                self.work.found.labels.push(Label::offset(open.offset.into()));
            }
            if let Some(count) = self.work.counts.get_mut(open.index as usize) {
                *count = count.wrapping_add(1);
            }
            self.reader.hint(open.before, object, inside);
        }
    }
}
