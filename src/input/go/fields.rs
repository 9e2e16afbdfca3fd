//! Field lists: the offsets of pointers in an object, a frame or a segment.

use super::version::Version;
use crate::bytes::{Cursor, push_uleb128};
use crate::error::{Error, Result};
use crate::model::fields::FieldSink;
use crate::model::named::named;

named! {
    /// The kind of value at the offset of a field.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FieldKind {
        /// One pointer.
        Ptr = "ptr",
        /// A pointer and a length (1.3).
        String = "string",
        /// A pointer, a length and a capacity (1.3).
        Slice = "slice",
        /// An itab and a data word (1.3, 1.4).
        Iface = "iface",
        /// A type and a data word (1.3, 1.4).
        Eface = "eface",
    }
    /// The name of the kind.
    pub fn name
}

impl FieldKind {
    /// Returns the kind for a number. 2 and 3 differ between 1.3 and later versions. From 1.5 on
    /// they are reserved for their meaning in 1.4 and never written.
    fn new(number: u64, version: Version) -> Option<Self> {
        match (number, version <= Version::Go13) {
            (1, _) => Some(Self::Ptr),
            (2, true) => Some(Self::String),
            (3, true) => Some(Self::Slice),
            (2, false) | (4, true) => Some(Self::Iface),
            (3, false) | (5, true) => Some(Self::Eface),
            _ => None,
        }
    }

    /// The field's size in words.
    pub fn words(self) -> u64 {
        match self {
            Self::Ptr => 1,
            Self::String | Self::Iface | Self::Eface => 2,
            Self::Slice => 3,
        }
    }
}

/// One entry of a field list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The kind of value there.
    pub kind: FieldKind,
    /// Offset in the contents, in bytes.
    pub offset: u64,
}

/// A field list, decoded when it is iterated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldList<'a> {
    /// The list as it is in the file, with the end mark.
    encoded: &'a [u8],
    count: u64,
    version: Version,
}

impl<'a> FieldList<'a> {
    /// Skips a field list and its end mark, and returns the list.
    #[inline]
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self> {
        let start = cursor.rest();
        // Walks over a slice, which stays in registers, unlike the caller's cursor. Most lists are
        // short and end among the plain fields.
        let mut count = plain_fields(start);
        let mut rest = start.get(count.wrapping_mul(2)..).unwrap_or_default();
        loop {
            match *rest {
                [0, ref after @ ..] => {
                    rest = after;
                    break;
                }
                [1, a, ref after @ ..] if a < 0x80 => rest = after,
                [1, _, b, ref after @ ..] if b < 0x80 => rest = after,
                _ => {
                    let mut wide = *cursor;
                    wide.take(start.len().wrapping_sub(rest.len()) as u64, "a field list")?;
                    let more = any_field(&mut wide, version)?;
                    rest = wide.rest();
                    if !more {
                        break;
                    }
                }
            }
            count = count.wrapping_add(1);
        }
        let length = start.len().wrapping_sub(rest.len()) as u64;
        let encoded = cursor.take(length, "a field list")?;
        Ok(Self { encoded, count: count as u64, version })
    }

    /// The list of a type, which only 1.3 has.
    pub(super) fn of_type(cursor: &mut Cursor<'a>, version: Version) -> Result<Self> {
        match version {
            Version::Go13 => Self::read(cursor, version),
            _ => Ok(Self::empty(version)),
        }
    }

    /// Like [`Self::read`], for at most four pointers with offsets of one byte. Returns the list
    /// and the bytes after it.
    #[inline(always)]
    pub(super) fn split_short(bytes: &'a [u8], version: Version) -> Option<(Self, &'a [u8])> {
        let head: &[u8; 9] = bytes.first_chunk()?;
        let (fields, _) = head.split_first_chunk()?;
        let count = plain_fields_in_chunk(fields);
        let end = count.wrapping_mul(2);
        let 0 = *head.get(end)? else { return None };
        let (encoded, rest) = bytes.split_at_checked(end.wrapping_add(1))?;
        Some((Self { encoded, count: count as u64, version }, rest))
    }

    /// A list without fields.
    pub(super) fn empty(version: Version) -> Self {
        Self { encoded: &[], count: 0, version }
    }

    /// Number of fields.
    #[inline]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether the list has no fields.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The list as it is in the file, with the end mark.
    #[inline]
    pub(super) fn encoded(&self) -> &'a [u8] {
        self.encoded
    }

    /// The fields in the order of the file, which is not always that of their offsets.
    pub fn iter(&self) -> Fields<'a> {
        Fields::new(self.encoded, self.version)
    }

    /// The number of fields that reach beyond `length` bytes of contents.
    pub fn beyond(&self, length: u64, pointer_size: u64) -> u64 {
        let end = |field: &Field| {
            field.offset.saturating_add(field.kind.words().saturating_mul(pointer_size))
        };
        self.iter().filter(|field| end(field) > length).count() as u64
    }

    /// The number of fields of kinds that are reserved, and not written, since 1.5.
    pub fn reserved(&self) -> u64 {
        if self.version >= Version::Go15 {
            self.iter().filter(|field| field.kind != FieldKind::Ptr).count() as u64
        } else {
            0
        }
    }

    /// Passes the number of fields to a sink, and the fields if the sink wants them.
    pub(super) fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("pointers", self.count);
        self.pass_each(sink);
    }

    /// Passes the fields to a sink if it wants them.
    pub(super) fn pass_each<S: FieldSink>(&self, sink: &mut S) {
        if sink.wants_contents() {
            sink.list("fields", self.iter(), |field, sink| {
                sink.text("kind", field.kind.name().as_bytes());
                sink.unsigned("offset", field.offset);
            });
        }
    }
}

/// The fields of a list up to its end mark.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    version: Version,
}

impl<'a> Fields<'a> {
    /// Returns the fields of the list at the start of `bytes`. The end need not be known.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], version: Version) -> Self {
        Self { rest: bytes, version }
    }

    /// Whether the encoded lists are equal, byte by byte. Another list may encode the same fields
    /// in a longer form.
    #[inline]
    pub(super) fn is_encoded_as(&self, list: &[u8]) -> bool {
        self.rest.starts_with(list)
    }

    fn any(&mut self) -> Option<Field> {
        let mut cursor = Cursor::new(self.rest, 0);
        let kind = FieldKind::new(cursor.uleb128("a field kind").ok()?, self.version)?;
        let offset = cursor.uleb128("a field offset").ok()?;
        self.rest = cursor.rest();
        Some(Field { kind, offset })
    }
}

impl Iterator for Fields<'_> {
    type Item = Field;

    #[inline]
    fn next(&mut self) -> Option<Field> {
        match *self.rest {
            [0, ..] => None,
            // Nearly all fields are pointers near the start.
            [1, offset @ 0..0x80, ref rest @ ..] => {
                self.rest = rest;
                Some(Field { kind: FieldKind::Ptr, offset: offset.into() })
            }
            [1, low, high @ 0..0x80, ref rest @ ..] => {
                self.rest = rest;
                Some(Field {
                    kind: FieldKind::Ptr,
                    offset: u64::from(low & 0x7f) | u64::from(high) << 7,
                })
            }
            _ => self.any(),
        }
    }
}

/// A list of pointers at these offsets, with the end mark.
pub(super) fn encoded_pointers(offsets: &[u64]) -> Box<[u8]> {
    let mut list = Vec::with_capacity(offsets.len().saturating_mul(2).saturating_add(1));
    for offset in offsets {
        list.push(1);
        push_uleb128(&mut list, *offset);
    }
    list.push(0);
    list.into()
}

/// The number of fields at the start that are pointers with an offset of one byte.
#[inline]
fn plain_fields(bytes: &[u8]) -> usize {
    let mut count = 0usize;
    for chunk in bytes.as_chunks().0 {
        let plain = plain_fields_in_chunk(chunk);
        count = count.wrapping_add(plain);
        if plain < 4 {
            break;
        }
    }
    count
}

/// The number of pointers with an offset of one byte at the start of a chunk, which holds up to
/// four such fields.
///
/// Each field is a kind in the low and an offset in the high byte of 16 bits. The code has no
/// branch, which the processor would mispredict for every second object.
#[inline(always)]
fn plain_fields_in_chunk(chunk: &[u8; 8]) -> usize {
    let other = (u64::from_le_bytes(*chunk) ^ 0x0001_0001_0001_0001) & 0x80ff_80ff_80ff_80ff;
    other.trailing_zeros() as usize / 16
}

/// Skips a field of any kind and offset. Returns `false` at the end mark.
fn any_field(cursor: &mut Cursor<'_>, version: Version) -> Result<bool> {
    let start = cursor.offset();
    let kind = cursor.uleb128("a field list")?;
    if kind == 0 {
        return Ok(false);
    }
    if FieldKind::new(kind, version).is_none() {
        let expected =
            if version <= Version::Go13 { "a kind of 0 to 5" } else { "a kind of 0 to 3" };
        return Err(Error::corrupt(start, format!("unknown field kind {kind}")).expected(expected));
    }
    cursor.uleb128("a field list")?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::tests::uleb;
    use proptest::prelude::*;

    fn read(bytes: &[u8], version: Version) -> Result<Vec<(&'static str, u64)>> {
        let mut cursor = Cursor::new(bytes, 0);
        let list = FieldList::read(&mut cursor, version)?;
        assert!(cursor.is_empty());
        let fields: Vec<_> = list.iter().map(|field| (field.kind.name(), field.offset)).collect();
        assert_eq!(fields.len() as u64, list.len());
        Ok(fields)
    }

    #[test]
    fn kinds_2_and_3_changed_their_meaning_after_1_3() {
        let bytes = [1, 0, 2, 8, 3, 0x90, 0x01, 0];
        assert_eq!(
            read(&bytes, Version::Go13).unwrap(),
            [("ptr", 0), ("string", 8), ("slice", 144)]
        );
        assert_eq!(
            read(&bytes, Version::Go14).unwrap(),
            [("ptr", 0), ("iface", 8), ("eface", 144)]
        );
        assert_eq!(read(&[4, 8, 5, 16, 0], Version::Go13).unwrap(), [("iface", 8), ("eface", 16)]);
    }

    #[test]
    fn unknown_kinds_are_reported_where_they_stand() {
        let error = read(&[1, 0, 0xac, 2, 8, 0], Version::Go17).unwrap_err();
        assert_eq!(
            (error.offset(), error.message().as_str()),
            (Some(2), "unknown field kind 300; expected a kind of 0 to 3")
        );
        assert!(read(&[4, 8, 0], Version::Go14).is_err());
        assert!(read(&[6, 8, 0], Version::Go13).is_err());
    }

    #[test]
    fn fields_beyond_the_contents_are_counted_by_their_last_byte() {
        let bytes = [1, 0, 2, 8, 3, 16, 0];
        let list = FieldList::read(&mut Cursor::new(&bytes, 0), Version::Go13).unwrap();
        assert_eq!(list.beyond(40, 8), 0);
        assert_eq!(list.beyond(39, 8), 1);
        assert_eq!(list.beyond(0, 8), 3);
    }

    proptest! {
        #[test]
        fn lists_of_any_length_come_back_whatever_follows(
            fields in prop::collection::vec((prop_oneof![9 => Just(1u64), 1 => 2u64..4], 0u64..300, 0u32..40), 0..20),
            after: Vec<u8>,
        ) {
            let mut bytes = Vec::new();
            let fields: Vec<_> = fields.into_iter().map(|(kind, offset, shift)| (kind, if shift > 30 { offset << shift } else { offset })).collect();
            for &(kind, offset) in &fields {
                bytes.extend(uleb(kind));
                bytes.extend(uleb(offset));
            }
            bytes.push(0);
            let length = bytes.len() as u64;
            bytes.extend(after);
            let mut cursor = Cursor::new(&bytes, 0);
            let list = FieldList::read(&mut cursor, Version::Go14).unwrap();
            prop_assert_eq!(cursor.offset(), length);
            prop_assert_eq!(list.len(), fields.len() as u64);
            let expected: Vec<_> = fields.iter().map(|&(kind, offset)| (FieldKind::new(kind, Version::Go14).unwrap(), offset)).collect();
            prop_assert_eq!(list.iter().map(|field| (field.kind, field.offset)).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn lists_of_pointers_are_encoded_as_dumps_have_them() {
        let offsets = [0, 8, 0x78, 0x80, 0x3ff8, 0x4000];
        let list = encoded_pointers(&offsets);
        let fields = Fields::new(&list, Version::Go17);
        assert!(fields.is_encoded_as(&list) && !fields.is_encoded_as(&encoded_pointers(&[0, 8])));
        assert_eq!(fields.map(|field| field.offset).collect::<Vec<_>>(), offsets);
        assert_eq!(*encoded_pointers(&[0, 0x90]), [1, 0, 1, 0x90, 1, 0]);
    }

    #[test]
    fn an_end_mark_in_a_longer_form_ends_a_list_too() {
        let mut cursor = Cursor::new(&[1, 8, 0x80, 0, 9], 0);
        let list = FieldList::read(&mut cursor, Version::Go17).unwrap();
        assert_eq!((list.iter().count(), list.len(), cursor.offset()), (1, 1, 4));
    }
}
