//! The third pass: the references of each object, and the shape by which it is typed.
//!
//! How many pointers hit an object is known only when they have been followed, which is to be done once. So each chunk of
//! rows gets room for all of its fields and fills the beginning; then the parts are moved together. Room that was not
//! needed is memory that was never touched.

use super::CHUNK;
use super::old::OldLayout;
use super::place::Placed;
use super::pointers::{Faults, HEADER, Reader};
use super::shape::{Shape, Shapes, Signature};
use crate::bytes::Cursor;
use crate::input::go::fields::{Field, Fields};
use crate::model::heap::{Label, ObjectId, Offsets, References, TypeId};
use rayon::prelude::*;

/// The references of all objects, and their shapes.
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
    /// References of each row.
    counts: &'w mut [u32],
    shape_of: &'w mut [TypeId],
    targets: &'w mut [u32],
    /// Offsets in the object.
    labels: &'w mut [u32],
}

/// What comes of a chunk of rows.
struct Chunk {
    shapes: Vec<Shape>,
    faults: Faults,
    /// References in all.
    length: usize,
}

impl Edges {
    /// Follows all pointers of all objects.
    pub(super) fn new(reader: &Reader<'_, '_>, placed: &Placed) -> Self {
        let count = placed.sizes.len();
        let room: Vec<usize> = placed.fields.iter().map(|fields| usize::try_from(*fields).unwrap_or(usize::MAX)).collect();
        let all = room.iter().fold(0usize, |all, room| all.saturating_add(*room));
        let mut counts = vec![0u32; count.saturating_add(1)];
        let mut shape_of = vec![TypeId(0); count];
        let (mut targets, mut labels) = (vec![0u32; all], vec![0u32; all]);
        let mut work = Vec::with_capacity(room.len());
        let (mut rest_of_targets, mut rest_of_labels) = (&mut targets[..], &mut labels[..]);
        let counts_of_chunks = counts.get_mut(1..).unwrap_or_default().chunks_mut(CHUNK);
        let columns = counts_of_chunks.zip(shape_of.chunks_mut(CHUNK)).zip(&room).enumerate();
        for (number, ((counts, shape_of), room)) in columns {
            let (targets, rest) = std::mem::take(&mut rest_of_targets).split_at_mut(*room);
            rest_of_targets = rest;
            let (labels, rest) = std::mem::take(&mut rest_of_labels).split_at_mut(*room);
            rest_of_labels = rest;
            work.push(Work { first_row: number.saturating_mul(CHUNK), counts, shape_of, targets, labels });
        }
        let chunks: Vec<Chunk> = work.into_par_iter().map(|work| chunk(reader, placed, work)).collect();

        let (mut from, mut to) = (0usize, 0usize);
        let mut faults = Faults::default();
        for (chunk, room) in chunks.iter().zip(&room) {
            let filled = from..from.saturating_add(chunk.length);
            targets.copy_within(filled.clone(), to);
            labels.copy_within(filled, to);
            from = from.saturating_add(*room);
            to = to.saturating_add(chunk.length);
            faults.beyond += chunk.faults.beyond;
            faults.unknown_interfaces += chunk.faults.unknown_interfaces;
            faults.unknown_types += chunk.faults.unknown_types;
        }
        for column in [&mut targets, &mut labels] {
            column.truncate(to);
            column.shrink_to_fit();
        }
        // Collecting into elements of the same size leaves the memory where it is.
        let references = References {
            first: first_of(counts, to as u64),
            target: targets.into_iter().map(ObjectId).collect(),
            label: labels.into_iter().map(|offset| Label::offset(offset.into())).collect(),
            weak: Vec::new(),
        };
        Self { references, shape_of, shapes: chunks.into_iter().map(|chunk| chunk.shapes).collect(), faults }
    }
}

/// The row of the first reference of each object, from 0 and the number of references of each.
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

fn chunk(reader: &Reader<'_, '_>, placed: &Placed, work: Work<'_>) -> Chunk {
    let mut follow = Follow { reader, work, length: 0, batch: [Open::default(); BATCH], open: 0, faults: Faults::default() };
    let mut shapes = Shapes::default();
    for index in 0..follow.work.counts.len() {
        let row = follow.work.first_row.wrapping_add(index);
        let mut rest = Cursor::at(reader.bytes, placed.positions.get(row));
        let contents = rest.take(placed.sizes.get(row), "an object").unwrap_or_default();
        let layout = placed.layouts.get(row).and_then(|layout| Some((*layout, reader.survey.old.layout(*layout)?)));
        let shape = match layout {
            None => follow.object(index, contents, Fields::new(rest.rest(), reader.survey.version)),
            Some((number, layout)) => follow.old_object(index, contents, number, layout),
        };
        if let Some(place) = follow.work.shape_of.get_mut(index) {
            *place = shapes.number(shape);
        }
    }
    follow.resolve();
    Chunk { shapes: shapes.into_distinct(), faults: follow.faults, length: follow.length }
}

/// Pointers that are resolved together: the processor then waits for several places in memory at once.
const BATCH: usize = 64;

/// A pointer that has not been resolved yet.
#[derive(Clone, Copy, Default)]
struct Open {
    address: u64,
    /// The word before it, or 0 if that says nothing.
    before: u64,
    /// Where it stands in the object.
    offset: u32,
    /// The object, by its row in the chunk.
    index: u32,
}

/// Follows the pointers of one object after the other.
struct Follow<'w, 's, 'a> {
    reader: &'w Reader<'s, 'a>,
    work: Work<'w>,
    /// References so far.
    length: usize,
    batch: [Open; BATCH],
    /// Pointers in the batch.
    open: usize,
    faults: Faults,
}

impl Follow<'_, '_, '_> {
    #[inline]
    fn object(&mut self, index: usize, contents: &[u8], fields: Fields<'_>) -> Shape {
        let size = contents.len() as u64;
        let mut signature = Signature::new(size);
        let mut header = None;
        let may_have_header = self.reader.may_have_header(size);
        for field in fields {
            if may_have_header && signature.pointers == 0 && field.offset >= HEADER {
                header = self.reader.words.at(contents, 0).filter(|address| *address != 0);
            }
            signature.add(field);
            // A header is followed by the first field like a type by a data word.
            let hints = field.offset > HEADER || header.is_none();
            self.field(index, contents, field, hints);
        }
        match (signature.pointers, header) {
            (0, _) => Shape::Plain { size },
            (_, Some(address)) => Shape::Type { address },
            (_, None) => signature.shape(),
        }
    }

    fn old_object(&mut self, index: usize, contents: &[u8], number: u32, layout: &OldLayout) -> Shape {
        let size = contents.len() as u64;
        for field in layout.fields(size, self.reader.words.size) {
            self.field(index, contents, field, false);
        }
        self.faults.unknown_types += u64::from(layout.unknown);
        match (layout.is_typed(), layout.conservative) {
            (true, _) => Shape::Old { number },
            (false, true) => Shape::Conservative { size },
            (false, false) => Shape::Plain { size },
        }
    }

    #[inline]
    fn field(&mut self, index: usize, contents: &[u8], field: Field, hints: bool) {
        let Some(pointer) = self.reader.pointer(contents, field, &mut self.faults) else { return };
        let before = if hints { self.reader.word_before(contents, pointer.offset) } else { 0 };
        let offset = u32::try_from(pointer.offset).unwrap_or(u32::MAX);
        if let Some(place) = self.batch.get_mut(self.open) {
            *place = Open { address: pointer.address, before, offset, index: index as u32 };
        }
        // Every fifth pointer or so is nil, in no order that the processor could foresee. So this is no branch.
        self.open = self.open.wrapping_add(self.reader.is_in_heap(pointer.address).into());
        if self.open == BATCH {
            self.resolve();
        }
    }

    /// Resolves the batch.
    fn resolve(&mut self) {
        let batch = self.batch.get(..std::mem::take(&mut self.open)).unwrap_or_default();
        self.reader.addresses.warm(batch.iter().map(|open| open.address));
        for open in batch {
            let Some((object, inside)) = self.reader.object_at(open.address) else { continue };
            let places = (self.work.targets.get_mut(self.length), self.work.labels.get_mut(self.length));
            let (Some(target), Some(label)) = places else { continue };
            *target = object.0;
            *label = open.offset;
            self.length = self.length.wrapping_add(1);
            if let Some(count) = self.work.counts.get_mut(open.index as usize) {
                *count = count.wrapping_add(1);
            }
            self.reader.hint(open.before, object, inside);
        }
    }
}
