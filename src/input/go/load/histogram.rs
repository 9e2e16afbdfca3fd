//! Counts objects by type, as far as the type is known without following a pointer.

use super::pointers::{header, header_sizes};
use super::shape::{Shape, Signature};
use super::survey::{Survey, Take};
use super::typing::{Typed, types_without_hints};
use crate::error::Result;
use crate::input::go::object::Object;
use crate::input::histogram::TypeCounts;
use crate::input::load::{LoadOptions, only_snapshot};
use crate::model::names::Names;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

/// Counts objects by type in one pass. Takes two passes if the statistics in the file show that its
/// version implies the wrong rule for phantoms.
///
/// The types of objects are those that [`super::load`] finds without following pointers: from type
/// records of 1.3 and malloc headers, otherwise from the size and the positions of pointers. The
/// loader also takes types from interfaces and from the records of goroutines, so the loaded heap
/// has more names, but the same number and size of all objects. Fails when the magic is not one of
/// a Go heap dump, or another snapshot than the only one is requested.
pub fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    only_snapshot(options.snapshot)?;
    let (mut survey, mut shapes) = Survey::with(bytes, options.progress, || Shapes {
        by_layout: options.by_layout,
        ..Shapes::default()
    })?;
    shapes.add_old(&survey);
    let mut names = Names::default();
    let types = types_without_hints(&shapes.found, &survey, &mut names);
    Ok(TypeCounts::new(&types, &names, &shapes.counts, 0, survey.damage.take()))
}

/// The shapes so far, and their objects.
#[derive(Default)]
struct Shapes {
    found: Typed,
    counts: Vec<Sum>,
    recent: Recent,
    /// Objects of the draft and of 1.3, by number of the layout and size. Layouts are known only
    /// after all types have been read.
    old: FxHashMap<(u32, u64), Sum>,
    /// [`LoadOptions::by_layout`].
    by_layout: bool,
}

impl<'a> Take<'a> for Shapes {
    #[inline]
    fn take(&mut self, _: u64, size: u64, object: Option<&Object<'a>>, survey: &Survey<'a>) {
        if let Some(typed) = object.and_then(|object| object.typed) {
            self.old.entry((survey.old.number(typed), size)).or_default().add(size, 0);
            return;
        }
        // An object whose record is no longer known has no pointers.
        let encoded = object.map_or(&[0][..], |object| object.fields.encoded());
        let place = Place::of(size, encoded)
            .filter(|_| encoded.len() == 1 || !header_sizes(survey).contains(&size));
        let row = match place.and_then(|place| self.recent.row(place)) {
            Some(row) => row,
            None => {
                let row =
                    self.row(object.map_or(Shape::Plain { size }, |object| {
                        shape(object, survey, self.by_layout)
                    }));
                place.into_iter().for_each(|place| self.recent.set(place, row));
                row
            }
        };
        if let Some(counts) = self.counts.get_mut(row) {
            counts.add(size, 0);
        }
    }
}

impl Shapes {
    fn row(&mut self, shape: Shape) -> usize {
        let number = self.found.add(shape);
        let row = number as usize;
        if row >= self.counts.len() {
            self.counts.resize(row.saturating_add(1), Sum::default());
        }
        row
    }

    fn add_old(&mut self, survey: &Survey<'_>) {
        let mut old: Vec<_> = std::mem::take(&mut self.old).into_iter().collect();
        old.sort_unstable_by_key(|(key, _)| *key);
        for ((number, size), counts) in old {
            let layout = survey.old.layout(number);
            let shape = layout.map_or(Shape::Plain { size }, |layout| layout.shape(number, size));
            let row = self.row(shape);
            if let Some(sum) = self.counts.get_mut(row) {
                sum.add_sum(&counts);
            }
        }
    }
}

#[inline]
fn shape(object: &Object<'_>, survey: &Survey<'_>, by_layout: bool) -> Shape {
    let size = object.size();
    let mut signature = Signature::new(size);
    let mut type_address = None;
    for field in object.fields.iter() {
        if signature.pointers == 0 {
            type_address = header(survey, object.contents, field.offset);
        }
        signature.add(field);
    }
    match (signature.pointers, type_address) {
        (0, _) => Shape::Plain { size },
        (_, Some(address)) if !by_layout || survey.type_at.contains_key(&address) => {
            Shape::Type { address }
        }
        _ => signature.shape(),
    }
}

/// A cache of the rows of recent layouts: spans hold few layouts, and comparing a list of pointers
/// is faster than reading it.
struct Recent(Box<[(Place, usize); 1024]>);

/// A size and a short encoded list of pointers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    size: u64,
    /// The encoded list, padded with zeros. A kind of 0 ends a list, so that padding does not make
    /// two lists equal.
    list: u128,
}

impl Default for Recent {
    fn default() -> Self {
        // The initial entries match no object, because no object has this size.
        Self(Box::new([(Place { size: u64::MAX, list: 0 }, 0); 1024]))
    }
}

impl Recent {
    #[inline]
    fn row(&self, place: Place) -> Option<usize> {
        self.0.get(place.index()).filter(|(known, _)| *known == place).map(|&(_, row)| row)
    }

    fn set(&mut self, place: Place, row: usize) {
        if let Some(entry) = self.0.get_mut(place.index()) {
            *entry = (place, row);
        }
    }
}

impl Place {
    #[inline]
    fn of(size: u64, encoded: &[u8]) -> Option<Self> {
        // Two overlapping loads take less time than a copy of variable length.
        let list = match encoded.len() {
            1..4 => encoded.iter().rev().fold(0, |list, &byte| list << 8 | u128::from(byte)),
            length @ 4..8 => {
                let (first, last) = (encoded.first_chunk()?, encoded.last_chunk()?);
                u128::from(u32::from_le_bytes(*first))
                    | shifted(u32::from_le_bytes(*last).into(), length.wrapping_sub(4))
            }
            length @ 8..=16 => {
                let (first, last) = (encoded.first_chunk()?, encoded.last_chunk()?);
                u128::from(u64::from_le_bytes(*first))
                    | shifted(u64::from_le_bytes(*last).into(), length.wrapping_sub(8))
            }
            _ => return None,
        };
        Some(Self { size, list })
    }

    #[inline]
    fn index(self) -> usize {
        let folded = self.size ^ (self.list as u64).rotate_left(20) ^ (self.list >> 64) as u64;
        (folded.wrapping_mul(0xf135_7aea_2e62_a9c5) >> 54) as usize
    }
}

/// Shifts a number left by `bytes` bytes.
#[inline]
fn shifted(value: u128, bytes: usize) -> u128 {
    value.wrapping_shl((bytes as u32).wrapping_mul(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lists_are_told_apart_and_found_again() {
        let lists: Vec<Vec<u8>> = (0..8u8)
            .map(|count| (0..count).flat_map(|i| [1, 8 * i]).chain([0]).collect())
            .collect();
        let mut recent = Recent::default();
        assert!(recent.row(Place { size: 8, list: 0 }).is_none());
        for (row, list) in lists.iter().enumerate() {
            recent.set(Place::of(64, list).unwrap(), row);
            assert_eq!(recent.row(Place::of(64, list).unwrap()), Some(row));
            assert!(recent.row(Place::of(72, list).unwrap()).is_none());
            let bytes: Vec<u8> = Place::of(64, list).unwrap().list.to_le_bytes().to_vec();
            assert!(
                bytes.starts_with(list) && bytes[list.len()..].iter().all(|&byte| byte == 0),
                "{list:?}"
            );
        }
        assert!(Place::of(64, &[1; 17]).is_none() && Place::of(64, &[]).is_none());
    }
}
