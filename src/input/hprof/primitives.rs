//! Ids, and the types of fields and elements.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::java::FieldType;
use byteorder::{BE, ByteOrder};

/// The bytes of an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdSize {
    Four,
    #[default]
    Eight,
}

impl IdSize {
    /// The size of an id in bytes.
    #[inline]
    pub fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    #[inline]
    pub(super) fn read(self, cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
        match self {
            Self::Four => cursor.u32::<BE>(what).map(u64::from),
            Self::Eight => cursor.u64::<BE>(what),
        }
    }

    /// The id at an offset. If too few bytes follow, returns 0, which is not the id of an object.
    #[inline]
    pub(super) fn at(self, bytes: &[u8], offset: usize) -> u64 {
        let bytes = bytes.get(offset..).unwrap_or_default();
        match self {
            Self::Four => bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes).into()),
            Self::Eight => bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)),
        }
    }

    /// The ids that some bytes consist of.
    #[inline]
    pub(super) fn all(self, bytes: &[u8]) -> impl ExactSizeIterator<Item = u64> + '_ {
        bytes.chunks_exact(self.bytes()).map(move |bytes| self.at(bytes, 0))
    }
}

impl FieldType {
    /// Reads the tag of a type.
    #[inline]
    pub(super) fn read(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Self> {
        let offset = cursor.offset();
        let tag = cursor.u8(what)?;
        Self::of_tag(tag).ok_or_else(|| {
            Error::corrupt(offset, format!("{what} is unknown"))
                .expected("2 or 4 to 11")
                .found(tag.to_string())
        })
    }

    /// Bytes of a value in the file.
    #[inline]
    pub(super) fn size(self, ids: IdSize) -> usize {
        self.width().unwrap_or(ids.bytes())
    }

    pub(super) fn value(self, bytes: &[u8]) -> Option<Value> {
        let word = |size: usize| bytes.get(..size).map(|bytes| BE::read_uint(bytes, size));
        Some(match self {
            Self::Object => Value::Object(word(bytes.len().clamp(1, 8))?),
            Self::Boolean => Value::Boolean(word(1)? != 0),
            Self::Char => Value::Integer(word(2)? as i64),
            Self::Float => Value::Float(f32::from_bits(word(4)? as u32).into()),
            Self::Double => Value::Float(f64::from_bits(word(8)?)),
            Self::Byte => Value::Integer((word(1)? as i8).into()),
            Self::Short => Value::Integer((word(2)? as i16).into()),
            Self::Int => Value::Integer((word(4)? as i32).into()),
            Self::Long => Value::Integer(word(8)? as i64),
        })
    }
}

/// The value of a field or element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Object(u64),
    Boolean(bool),
    /// A char, byte, short, int or long.
    Integer(i64),
    Float(f64),
}

#[inline]
pub(super) fn read_id(cursor: &mut Cursor<'_>, what: &'static str, ids: IdSize) -> Result<u64> {
    ids.read(cursor, what)
}

#[inline]
pub(super) fn u1(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u8> {
    cursor.u8(what)
}

#[inline]
pub(super) fn u2(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u16> {
    cursor.u16::<BE>(what)
}

#[inline]
pub(super) fn u8(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    cursor.u64::<BE>(what)
}

/// Takes all remaining bytes.
#[inline]
pub(super) fn rest<'a>(cursor: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8]> {
    cursor.take(cursor.remaining() as u64, what)
}

#[inline]
pub(super) fn u4(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u32> {
    cursor.u32::<BE>(what)
}

pub(super) fn i4(cursor: &mut Cursor<'_>, what: &'static str) -> Result<i32> {
    cursor.u32::<BE>(what).map(|value| value as i32)
}
