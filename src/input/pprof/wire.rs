//! Protobuf's wire format: fields of a number and a value.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use byteorder::LE;

#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// Absolute offset of the field's first byte.
    pub(super) offset: u64,
    pub(super) number: u64,
    pub(super) value: Value<'a>,
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    /// A message, a text or packed numbers.
    Bytes(Cursor<'a>),
    /// Fixed 4 or 8 bytes, which no known field is.
    Fixed,
}

/// The fields of a message. After an error the iterator has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) Cursor<'a>);

impl<'a> Fields<'a> {
    #[inline]
    fn read(&mut self) -> Result<Field<'a>> {
        let cursor = &mut self.0;
        let offset = cursor.offset();
        let tag = cursor.uleb128("a field's number")?;
        let number = tag >> 3;
        let value = match tag & 7 {
            0 => Value::Number(cursor.uleb128("a number")?),
            1 => cursor.u64::<LE>("8 bytes").map(|_| Value::Fixed)?,
            2 => {
                let length = cursor.uleb128("a length")?;
                let start = cursor.offset();
                Value::Bytes(Cursor::new(cursor.take(length, "a field's bytes")?, start))
            }
            5 => cursor.u32::<LE>("4 bytes").map(|_| Value::Fixed)?,
            kind => {
                return Err(Error::corrupt(offset, format!("unknown wire type {kind}"))
                    .expected("0, 1, 2 or 5"));
            }
        };
        match number {
            0 => Err(Error::corrupt(offset, "field number 0")),
            _ => Ok(Field { offset, number, value }),
        }
    }
}

impl<'a> Fields<'a> {
    /// Skips copies of a field of `bytes` that follow it, and returns how many there are: a
    /// compressed file can have millions.
    pub(super) fn skip_copies(&mut self, bytes: &[u8], offset: u64) -> u64 {
        let field = offset as usize..self.0.offset() as usize;
        let Some(field) = bytes.get(field).filter(|field| !field.is_empty()) else { return 0 };
        let rest = self.0.rest().chunks_exact(field.len());
        let copies = rest.take_while(|next| *next == field).count();
        let length = copies.saturating_mul(field.len()) as u64;
        if self.0.take(length, "copies of a field").is_err() { 0 } else { copies as u64 }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.0 = Cursor::new(&[], self.0.offset());
        }
        Some(field)
    }
}

impl<'a> Value<'a> {
    /// The number; 0 for other values, because protobuf's own readers skip fields of a wrong type.
    #[inline]
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(_) | Self::Fixed => 0,
        }
    }

    /// The fields of a message; empty for other values.
    #[inline]
    pub(super) fn fields(self) -> Fields<'a> {
        match self {
            Self::Bytes(cursor) => Fields(cursor),
            Self::Number(_) | Self::Fixed => Fields(Cursor::new(&[], 0)),
        }
    }

    /// The numbers of the fields 1 to N of a message; 0 where it has none.
    #[inline]
    pub(super) fn numbers<const N: usize>(self) -> Result<[u64; N]> {
        let mut numbers = [0; N];
        for field in self.fields() {
            let Field { number, value, .. } = field?;
            let row = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            if let Some(place) = row.and_then(|row| numbers.get_mut(row)) {
                *place = value.number();
            }
        }
        Ok(numbers)
    }

    /// The maximum memory that one field can take: each byte in the file can be a number of 8 bytes
    /// with a frame of 4 bytes.
    #[inline]
    pub(super) fn bytes_at_most(self) -> u64 {
        match self {
            Self::Bytes(cursor) => (cursor.rest().len() as u64).saturating_mul(12),
            Self::Number(_) | Self::Fixed => 0,
        }
    }

    /// Passes on the numbers of a repeated field: one, or several that are packed.
    #[inline]
    pub(super) fn each(self, mut each: impl FnMut(u64)) -> Result<()> {
        match self {
            Self::Number(number) => each(number),
            Self::Bytes(mut cursor) => {
                while !cursor.is_empty() {
                    each(cursor.uleb128("a packed number")?);
                }
            }
            Self::Fixed => {}
        }
        Ok(())
    }
}
