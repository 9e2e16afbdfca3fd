//! The second pass: the row of each object, and its size and place in the file.

use super::CHUNK;
use super::survey::Survey;
use crate::input::go::object::Object;
use crate::input::go::records::{Rec, Records};
use crate::input::go::version::Version;
use crate::model::heap::{Offsets, Sizes};
use crate::parallel;
use crate::plain::Plain;
use std::num::Saturating;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

pub(super) struct Placed {
    pub(super) sizes: Sizes,
    /// Offset of the contents in the file.
    pub(super) positions: Offsets,
    /// The number of each object's layout, in the draft and 1.3. Otherwise empty.
    pub(super) layouts: Vec<u32>,
    /// The number of entries in the field lists of all objects.
    pub(super) fields: u64,
    /// The number of objects that overlap the next one.
    pub(super) overlapping: Saturating<u64>,
}

impl Placed {
    pub(super) fn new<'a>(bytes: &'a [u8], survey: &Survey<'a>) -> Self {
        let count = survey.addresses.len();
        let end = bytes.len() as u64;
        let typed = !survey.chunks.is_empty() && survey.version <= Version::Go13;
        let placing = Placing {
            bytes,
            survey,
            sizes: Scatter::new(count, u32::MAX.into()),
            positions: Scatter::new(count, end),
            layouts: Scatter::new(if typed { count } else { 0 }, u32::MAX.into()),
        };
        let chunks = (0u64..).zip(&survey.chunks).collect::<Vec<_>>();
        // Of several records at one address, the first one counts. Only reading in the order of the
        // file finds it.
        let done: Vec<Done> = match survey.duplicates {
            0 => parallel::map(chunks, |(number, records)| placing.chunk(number, records.clone())),
            _ => chunks
                .into_iter()
                .map(|(number, records)| placing.chunk(number, records.clone()))
                .collect(),
        };
        let mut sizes = match placing.sizes.into_offsets() {
            Offsets::Small(low) => Sizes::from(low),
            Offsets::Large(_) => Sizes::default(),
        };
        for &(row, size) in done.iter().flat_map(|done| &done.huge) {
            sizes.set(row, size);
        }
        Self {
            sizes,
            positions: placing.positions.into_offsets(),
            layouts: match placing.layouts.into_offsets() {
                Offsets::Small(layouts) => layouts,
                Offsets::Large(_) => Vec::new(),
            },
            fields: done.iter().fold(0, |all, done| all.saturating_add(done.fields)),
            overlapping: done.iter().map(|done| done.overlapping).sum(),
        }
    }
}

struct Placing<'s, 'a> {
    bytes: &'a [u8],
    survey: &'s Survey<'a>,
    sizes: Scatter,
    positions: Scatter,
    layouts: Scatter,
}

/// The results for a part of the file.
#[derive(Default)]
struct Done {
    overlapping: Saturating<u64>,
    /// Row and size of the objects whose size does not fit into 32 bits.
    huge: Vec<(usize, u64)>,
    /// The number of entries in the field lists.
    fields: u64,
}

impl<'a> Placing<'_, 'a> {
    fn chunk(&self, number: u64, mut records: Records<'a>) -> Done {
        let mut left = self
            .survey
            .object_records
            .0
            .saturating_sub(number.saturating_mul(CHUNK as u64))
            .min(CHUNK as u64);
        let mut done = Done::default();
        while left > 0 {
            let taken = records.take_some_objects(left, |_, object| {
                left = left.wrapping_sub(1);
                self.object(object, &mut done);
            });
            if taken.is_err() || left == 0 {
                break;
            }
            match records.next() {
                Some(Ok((_, Rec::Object(object)))) => {
                    left = left.wrapping_sub(1);
                    self.object(&object, &mut done);
                }
                Some(Ok(_)) => {}
                _ => break,
            }
        }
        done
    }

    #[inline]
    fn object(&self, object: &Object<'_>, done: &mut Done) {
        // An object that is not in the table is a phantom.
        let Some(id) = self.survey.addresses.at(object.addr) else { return };
        let (row, size) = (id.index(), object.size());
        if self.positions.get(row) != 0 {
            return;
        }
        self.positions.set(row, self.position(object.contents));
        self.sizes.set(row, size);
        if size >= u32::MAX.into() {
            done.huge.push((row, size));
        }
        if size > 0 && self.survey.addresses.floor(object.end().saturating_sub(1)) != Some(id) {
            done.overlapping += 1;
        }
        let fields = match object.typed {
            None => object.fields.len(),
            Some(typed) => {
                let number = self.survey.old.number(typed);
                self.layouts.set(row, number.into());
                self.survey
                    .old
                    .layout(number)
                    .map_or(0, |layout| layout.count(size, self.survey.words.size))
            }
        };
        done.fields = done.fields.saturating_add(fields);
    }

    /// The offset of a part of the file, computed from its address in memory.
    #[inline]
    fn position(&self, part: &[u8]) -> u64 {
        part.as_ptr().addr().wrapping_sub(self.bytes.as_ptr().addr()) as u64
    }
}

/// A column of numbers that are 0 until set. Several threads fill the column in any order, but no
/// two threads the same row.
///
/// Relaxed atomic stores compile to plain stores. Every row is written at most once, so the result
/// does not depend on the order.
enum Scatter {
    Small(Vec<AtomicU32>),
    Large(Vec<AtomicU64>),
}

impl Scatter {
    /// Returns `count` zeros, with room for numbers up to `max`.
    fn new(count: usize, max: u64) -> Self {
        match u32::try_from(max) {
            Ok(_) => Self::Small(AtomicU32::zeros(count)),
            Err(_) => Self::Large((0..count).map(|_| AtomicU64::new(0)).collect()),
        }
    }

    /// The number of a row.
    #[inline]
    fn get(&self, row: usize) -> u64 {
        match self {
            Self::Small(small) => small.get(row).map_or(0, |number| number.load(Relaxed).into()),
            Self::Large(large) => large.get(row).map_or(0, |number| number.load(Relaxed)),
        }
    }

    /// Sets the number of a row. Too large numbers become the largest that fits.
    #[inline]
    fn set(&self, row: usize, number: u64) {
        match self {
            Self::Small(small) => {
                if let Some(place) = small.get(row) {
                    place.store(u32::try_from(number).unwrap_or(u32::MAX), Relaxed);
                }
            }
            Self::Large(large) => {
                if let Some(place) = large.get(row) {
                    place.store(number, Relaxed);
                }
            }
        }
    }

    /// Converts the finished column, without a copy.
    fn into_offsets(self) -> Offsets {
        match self {
            Self::Small(small) => Offsets::Small(AtomicU32::plain(small)),
            Self::Large(large) => {
                Offsets::Large(large.into_iter().map(AtomicU64::into_inner).collect())
            }
        }
    }
}
