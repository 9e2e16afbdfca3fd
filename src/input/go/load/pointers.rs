//! Follows pointers: from a field in some memory to the object that it points into.

use super::interfaces::{Hint, Hints, Interfaces};
use super::place::Placed;
use super::survey::Survey;
use super::words::Words;
use crate::input::go::fields::{Field, FieldKind};
use crate::input::go::phantoms::{HEADER, LARGEST_WITH_HEADER, Rule, largest};
use crate::model::addresses::Addresses;
use crate::model::heap::{ObjectId, Sizes};
use std::iter::Sum;
use std::num::Saturating;
use std::ops::Range;

/// The sizes of slots with pointers that may have a malloc header.
#[inline]
pub(super) fn header_sizes(survey: &Survey<'_>) -> Range<u64> {
    let smallest = match survey.rule {
        Rule::None => u64::MAX,
        Rule::AllocHeaders | Rule::GreenTea => largest(survey.words.size).saturating_add(1),
    };
    smallest..LARGEST_WITH_HEADER.saturating_add(1)
}

/// The address of the type in an object's malloc header. `None` without a header. `first` is the
/// offset of the object's first pointer.
#[inline]
pub(super) fn header(survey: &Survey<'_>, contents: &[u8], first: u64) -> Option<u64> {
    let may_have = first >= HEADER && header_sizes(survey).contains(&(contents.len() as u64));
    survey.words.at(contents, 0).filter(|&address| may_have && address != 0)
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// Fields beyond the end of the memory.
    pub(super) beyond: Saturating<u64>,
    /// Interfaces whose itab or type is not in the file.
    pub(super) unknown_interfaces: Saturating<u64>,
    /// Objects whose type is not in the file.
    pub(super) unknown_types: Saturating<u64>,
    /// Frames that do not belong to a goroutine.
    pub(super) lost_frames: Saturating<u64>,
}

impl Sum for Faults {
    fn sum<I: Iterator<Item = Self>>(faults: I) -> Self {
        faults.fold(Self::default(), |sum, faults| Self {
            beyond: sum.beyond + faults.beyond,
            unknown_interfaces: sum.unknown_interfaces + faults.unknown_interfaces,
            unknown_types: sum.unknown_types + faults.unknown_types,
            lost_frames: sum.lost_frames + faults.lost_frames,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) offset: u64,
    pub(super) address: u64,
}

/// The data needed to follow a pointer.
pub(super) struct Reader<'s, 'a> {
    pub(super) bytes: &'a [u8],
    pub(super) survey: &'s Survey<'a>,
    pub(super) words: Words,
    pub(super) hints: &'s Hints,
    pub(super) addresses: &'s Addresses,
    sizes: &'s Sizes,
    interfaces: Interfaces,
    /// The sizes of slots that may have a malloc header.
    pub(super) header_sizes: Range<u64>,
    /// The start of the first object; `span` is the distance to the end of the last object.
    low: u64,
    span: u64,
}

impl<'s, 'a> Reader<'s, 'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        survey: &'s Survey<'a>,
        placed: &'s Placed,
        hints: &'s Hints,
    ) -> Self {
        let addresses = &survey.addresses;
        let last = addresses.len().saturating_sub(1);
        let low = addresses.address(ObjectId(0)).unwrap_or(0);
        let high = addresses
            .address(ObjectId(last as u32))
            .unwrap_or(0)
            .saturating_add(placed.sizes.get(last));
        Self {
            bytes,
            survey,
            words: survey.words,
            hints,
            addresses,
            sizes: &placed.sizes,
            interfaces: Interfaces::new(survey),
            header_sizes: header_sizes(survey),
            low,
            span: high.saturating_sub(low),
        }
    }

    /// The object that contains an address, and the offset in it.
    #[inline]
    pub(super) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        if !self.is_in_heap(address) {
            return None;
        }
        let (object, start) = self.addresses.floor_with_address(address)?;
        let inside = address.wrapping_sub(start);
        (inside == 0 || inside < self.sizes.get(object.index())).then_some((object, inside))
    }

    /// Like [`Self::object_at`], but only if the program uses the address for the object.
    pub(super) fn object_of(&self, address: u64) -> Option<ObjectId> {
        let (object, inside) = self.object_at(address)?;
        self.is_start(object, inside).then_some(object)
    }

    fn is_start(&self, object: ObjectId, inside: u64) -> bool {
        inside == 0
            || inside == HEADER && self.header_sizes.contains(&self.sizes.get(object.index()))
    }

    /// Whether an address is between the first object and the end of the last. `false` for nil.
    #[inline]
    pub(super) fn is_in_heap(&self, address: u64) -> bool {
        (address != 0) & (address.wrapping_sub(self.low) < self.span)
    }

    /// Returns the distance of an address from the first object. `None` if it is not in the heap.
    #[inline]
    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        self.is_in_heap(address).then(|| address.wrapping_sub(self.low))
    }

    pub(super) fn span(&self) -> u64 {
        self.span
    }

    /// The pointer that a field holds, which may be nil.
    #[inline]
    pub(super) fn pointer(
        &self,
        contents: &[u8],
        field: Field,
        faults: &mut Faults,
    ) -> Option<Pointer> {
        let offset = match field.kind {
            FieldKind::Ptr | FieldKind::String | FieldKind::Slice => field.offset,
            FieldKind::Iface | FieldKind::Eface => self.data_word(contents, field, faults)?,
        };
        match self.words.at(contents, offset) {
            None => {
                faults.beyond += 1;
                None
            }
            Some(address) => Some(Pointer { offset, address }),
        }
    }

    /// The offset of the data word of an interface, if it is a pointer. Unknown words count as
    /// pointers.
    #[cold]
    fn data_word(&self, contents: &[u8], field: Field, faults: &mut Faults) -> Option<u64> {
        let Some(word) = self.words.at(contents, field.offset) else {
            faults.beyond += 1;
            return None;
        };
        let known = match field.kind {
            FieldKind::Iface => self.interfaces.itab(word),
            _ => self.interfaces.type_word(word),
        };
        faults.unknown_interfaces += u64::from(word != 0 && known.is_none());
        (word != 0 && known != Some(false)).then(|| field.offset.saturating_add(self.words.size))
    }

    /// The word before a pointer; 0 if there is none.
    #[inline]
    pub(super) fn word_before(&self, contents: &[u8], offset: u64) -> u64 {
        offset
            .checked_sub(self.words.size)
            .and_then(|offset| self.words.at(contents, offset))
            .unwrap_or(0)
    }

    /// Uses the word before a pointer as a hint at the type of the object to which it points.
    #[inline]
    pub(super) fn hint(&self, before: u64, object: ObjectId, inside: u64) {
        let Some((hint, size)) = self.interfaces.hint(before) else { return };
        if self.is_start(object, inside) && size <= self.sizes.get(object.index()) {
            self.hints.add(object, hint);
        }
    }

    /// Returns the object to which a field leads, with the offset of its pointer. Uses the word
    /// before the pointer as a hint.
    pub(super) fn follow(
        &self,
        contents: &[u8],
        field: Field,
        faults: &mut Faults,
    ) -> Option<(u64, ObjectId)> {
        let Pointer { offset, address } = self.pointer(contents, field, faults)?;
        let (object, inside) = self.object_at(address)?;
        self.hint(self.word_before(contents, offset), object, inside);
        Some((offset, object))
    }

    /// Adds a hint for the object at an address, if there is one.
    pub(super) fn hint_at(&self, address: u64, hint: Hint) {
        if let Some(object) = self.object_of(address) {
            self.hints.add(object, hint);
        }
    }
}
