//! The values of Python's module `marshal` that statistics consist of.

use crate::error::{Error, Result};

/// Set in the type of a value that later values refer to.
const FLAG: u8 = 0x80;

/// A value, or the beginning of one that has others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// The end of a dictionary.
    End,
    /// A dictionary: keys and values up to [`Value::End`].
    Dict,
    /// A tuple of this many values.
    Tuple(u32),
    /// A tuple that was read before, by its number.
    Known(u32),
    Integer(i64),
    Float(f64),
    /// The bytes of a text: ASCII or UTF-8.
    Text(&'a [u8]),
}

/// Reads values one after the other.
pub(super) struct Marshal<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The values that later ones refer to by number. Tuples are [`Value::Known`] with their own number.
    known: Vec<Value<'a>>,
    /// The texts that Python 2 refers to by number.
    interned: Vec<&'a [u8]>,
}

impl<'a> Marshal<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, known: Vec::new(), interned: Vec::new() }
    }

    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Bytes of memory for the values that others refer to.
    pub(super) fn bytes_known(&self) -> u64 {
        let values = self.known.len().saturating_mul(size_of::<Value<'_>>());
        values.saturating_add(self.interned.len().saturating_mul(size_of::<&[u8]>())) as u64
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Reads the next value. A tuple that later values refer to gives its number too. Fails when
    /// the file ends, or the value is of a type that statistics do not have.
    pub(super) fn next(&mut self) -> Result<(Value<'a>, Option<u32>)> {
        let offset = self.offset();
        let [code] = self.array::<1>()?;
        let value = match code & !FLAG {
            b'0' => Value::End,
            b'{' => Value::Dict,
            b')' => Value::Tuple(u8::from_le_bytes(self.array()?).into()),
            b'(' => Value::Tuple(u32::from_le_bytes(self.array()?)),
            b'i' => Value::Integer(i32::from_le_bytes(self.array()?).into()),
            b'I' => Value::Integer(i64::from_le_bytes(self.array()?)),
            b'l' => Value::Integer(self.long(offset)?),
            b'g' => Value::Float(f64::from_le_bytes(self.array()?)),
            b'f' => Value::Float(self.decimal(offset)?),
            b'z' | b'Z' => self.text_of_u8()?,
            b's' | b'u' | b'a' | b'A' => self.text_of_u32()?,
            b't' => self.interned()?,
            b'R' => self.interned_before(offset)?,
            b'r' => return self.known_before(offset),
            b'c' => return Err(code_object(offset)),
            _ => return Err(unexpected(offset, "a number, a text, a tuple or a dictionary", code)),
        };
        if code & FLAG == 0 {
            return Ok((value, None));
        }
        let number = self.known.len() as u32;
        self.known.push(if let Value::Tuple(_) = value { Value::Known(number) } else { value });
        Ok((value, Some(number)))
    }

    fn known_before(&mut self, offset: u64) -> Result<(Value<'a>, Option<u32>)> {
        let number = u32::from_le_bytes(self.array()?);
        let value = self.known.get(number as usize).copied();
        let value = value.ok_or_else(|| {
            Error::corrupt(offset, format!("a reference to value {number}"))
                .expected(format!("a number below {}", self.known.len()))
        })?;
        Ok((value, None))
    }

    fn text_of_u8(&mut self) -> Result<Value<'a>> {
        let [length] = self.array()?;
        Ok(Value::Text(self.take(length.into())?))
    }

    fn text_of_u32(&mut self) -> Result<Value<'a>> {
        let length = u32::from_le_bytes(self.array()?);
        Ok(Value::Text(self.take(length as usize)?))
    }

    fn interned(&mut self) -> Result<Value<'a>> {
        let value = self.text_of_u32()?;
        if let Value::Text(text) = value {
            self.interned.push(text);
        }
        Ok(value)
    }

    fn interned_before(&mut self, offset: u64) -> Result<Value<'a>> {
        let number = u32::from_le_bytes(self.array()?);
        let text = self.interned.get(number as usize).copied();
        text.map(Value::Text).ok_or_else(|| {
            Error::corrupt(offset, format!("a reference to text {number}"))
                .expected(format!("a number below {}", self.interned.len()))
        })
    }

    /// An integer of more than 32 bits: digits of 15 bits each, the lowest first. Too large ones become the largest.
    fn long(&mut self, offset: u64) -> Result<i64> {
        let digits = i32::from_le_bytes(self.array()?);
        let bytes = self.take((digits.unsigned_abs() as usize).saturating_mul(2))?;
        let mut value = 0_i64;
        for (place, digit) in bytes.chunks_exact(2).enumerate() {
            let &[low, high] = digit else { continue };
            let digit = u16::from_le_bytes([low, high]);
            if digit >> 15 != 0 {
                return Err(Error::corrupt(offset, format!("the digit {digit} of an integer"))
                    .expected("a number below 32768"));
            }
            let weight = 1_i64.checked_shl(place.saturating_mul(15).min(64) as u32).unwrap_or(0);
            let fits = place < 4 || place == 4 && digit < 8;
            let part = if fits { i64::from(digit).saturating_mul(weight) } else { i64::MAX };
            value = value.saturating_add(if digit == 0 { 0 } else { part });
        }
        Ok(if digits < 0 { value.saturating_neg() } else { value })
    }

    /// A float as text, as the oldest version writes it.
    fn decimal(&mut self, offset: u64) -> Result<f64> {
        let [length] = self.array()?;
        let text = self.take(length.into())?;
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| Error::corrupt(offset, "a text that is not a number"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let offset = self.offset();
        let taken = self.take(N)?.first_chunk::<N>().copied();
        taken.ok_or_else(|| truncated(offset))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..length).ok_or_else(|| truncated(self.bytes.len() as u64))?;
        self.at = self.at.saturating_add(length);
        Ok(taken)
    }
}

#[cold]
fn truncated(offset: u64) -> Error {
    Error::truncated(offset, "the statistics end inside of a value")
}

#[cold]
fn code_object(offset: u64) -> Error {
    Error::unsupported(offset, "a code object, as `python -m profile` writes for the program").hint(
        "dumptool reads the statistics of `python -m cProfile -o FILE`, which also takes less time",
    )
}

/// The error for a value that the format does not have at an offset.
#[cold]
pub(super) fn unexpected(offset: u64, expected: &'static str, code: u8) -> Error {
    let found = code & !FLAG;
    Error::corrupt(offset, format!("a value of type {:?}", char::from(found))).expected(expected)
}
