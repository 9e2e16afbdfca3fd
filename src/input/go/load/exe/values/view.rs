//! The memory of the process, and simple values in it.

use super::super::image;
use super::super::types::Kind;
use super::{Place, View};
use crate::bytes::Cursor;
use crate::input::go::fields::Fields;
use crate::input::go::phantoms::HEADER;
use crate::model::heap::{FieldValue, ObjectId};
use std::borrow::Cow;

/// The most bytes of a string that are shown as text.
const MAX_TEXT: u64 = 4096;

impl<'v, 'a> View<'v, 'a> {
    /// The memory of an object, after its malloc header.
    pub(super) fn object(&self, object: ObjectId) -> &'a [u8] {
        let (memory, typed) = (self.memory, self.typed);
        let mut rest = Cursor::at(memory.bytes, memory.positions.get(object.index()));
        let bytes = rest.take(memory.sizes.get(object.index()), "an object").unwrap_or_default();
        if !typed.header_sizes.contains(&(bytes.len() as u64)) {
            return bytes;
        }
        let first = Fields::new(rest.rest(), typed.version).next();
        let has_header = first.is_some_and(|field| field.offset >= HEADER)
            && self.word(bytes, 0).is_some_and(|word| word != 0);
        if has_header { bytes.get(HEADER as usize..).unwrap_or_default() } else { bytes }
    }

    pub(super) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        let (object, start) = self.memory.addresses.floor_with_address(address)?;
        let inside = address.wrapping_sub(start);
        (inside < self.memory.sizes.get(object.index())).then_some((object, inside))
    }

    /// The bytes from an address to the end of its object, segment or frame.
    pub(super) fn bytes_at(&self, address: u64) -> Option<&'v [u8]> {
        if address == 0 {
            return None;
        }
        if let Some((object, inside)) = self.object_at(address) {
            let mut rest = Cursor::at(self.memory.bytes, self.memory.positions.get(object.index()));
            let bytes = rest.take(self.memory.sizes.get(object.index()), "an object").ok()?;
            return bytes.get(usize::try_from(inside).ok()?..);
        }
        let outside = &self.typed.outside;
        let before = outside
            .partition_point(|(start, _)| *start <= address)
            .checked_sub(1)
            .and_then(|before| outside.get(before));
        let inside = |start: u64| usize::try_from(address.wrapping_sub(start)).ok();
        let in_segment = before
            .and_then(|(start, bytes)| bytes.get(inside(*start)?..))
            .filter(|bytes| !bytes.is_empty());
        let (start, constants) = &self.typed.constants;
        in_segment.or_else(|| constants.get(inside(*start)?..))
    }

    pub(super) fn word(&self, bytes: &[u8], offset: u64) -> Option<u64> {
        self.typed.words.at(bytes, offset)
    }

    /// The word with index `number` of the value at a place.
    pub(super) fn word_of(&self, place: Place<'_>, number: u64) -> Option<u64> {
        self.word(
            place.bytes,
            place.offset.saturating_add(number.saturating_mul(self.typed.words.size)),
        )
    }

    pub(super) fn number(&self, place: Place<'_>, size: u64) -> Option<u64> {
        let start = usize::try_from(place.offset).ok()?;
        let bytes = place.bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)?;
        Some(image::number(bytes, self.typed.words.big_endian))
    }

    pub(super) fn pointer(&self, address: u64) -> FieldValue<'static> {
        match self.object_at(address) {
            _ if address == 0 => FieldValue::Null,
            Some((object, _)) => FieldValue::Object(object),
            None => FieldValue::Address(address),
        }
    }

    pub(super) fn string(&self, place: Place<'_>) -> Option<Cow<'v, str>> {
        let (data, length) = (self.word_of(place, 0)?, self.word_of(place, 1)?);
        if length == 0 {
            return Some("".into());
        }
        let bytes = self.bytes_at(data)?;
        // A string must not extend beyond its object.
        let shown = usize::try_from(length.min(MAX_TEXT)).ok()?;
        Some(String::from_utf8_lossy(bytes.get(..shown)?))
    }

    /// Passes the one value of a simple type. `None` if the memory does not hold it.
    pub(super) fn scalar<B>(
        &self,
        place: Place<'_>,
        each: &mut dyn FnMut(FieldValue<'_>) -> B,
    ) -> Option<B> {
        let described = self.typed.types.get(place.ty)?;
        if let Some(text) = self.text_of(place, described) {
            return Some(each(FieldValue::Text(&text)));
        }
        let size = described.size;
        let value = match &described.kind {
            Kind::Number(1) => FieldValue::Boolean(self.number(place, 1)? != 0),
            Kind::Number(2..=6) => {
                let unused = 64u32.saturating_sub(u32::try_from(size.saturating_mul(8)).ok()?);
                let value = self.number(place, size)?;
                FieldValue::Integer((value.checked_shl(unused)? as i64).checked_shr(unused)?)
            }
            Kind::Number(7..=12) => FieldValue::Unsigned(self.number(place, size)?),
            Kind::Number(13) => FieldValue::Float(
                f32::from_bits(u32::try_from(self.number(place, 4)?).ok()?).into(),
            ),
            Kind::Number(14) => FieldValue::Float(f64::from_bits(self.number(place, 8)?)),
            Kind::String => match self.string(place) {
                Some(text) => return Some(each(FieldValue::Text(&text))),
                None => self.pointer(self.word_of(place, 0)?),
            },
            Kind::Interface { .. } => self.pointer(self.word_of(place, 1)?),
            Kind::Pointer { .. }
            | Kind::UnsafePointer
            | Kind::Slice { .. }
            | Kind::Map { .. }
            | Kind::Channel { .. }
            | Kind::Function => self.pointer(self.word_of(place, 0)?),
            _ => FieldValue::Omitted,
        };
        Some(each(value))
    }
}
