//! Numbers and strings of a recording.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use std::borrow::Cow;

/// Reads an unsigned number: LEB128 of at most nine bytes, of which the ninth gives all its bits.
/// Signed numbers are stored as their two's complement.
#[inline]
pub(super) fn varint(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    match *cursor.rest() {
        [a, ..] if a < 0x80 => {
            cursor.skip_to_remaining(cursor.remaining().wrapping_sub(1));
            Ok(u64::from(a))
        }
        [a, b, ..] if b < 0x80 => {
            cursor.skip_to_remaining(cursor.remaining().wrapping_sub(2));
            Ok(u64::from(a & 0x7f) | u64::from(b) << 7)
        }
        _ => long_varint(cursor, what),
    }
}

fn long_varint(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    if let Some(value) = cursor.uleb128_in_word() {
        return Ok(value);
    }
    let mut value = 0u64;
    for shift in (0u32..56).step_by(7) {
        let byte = cursor.u8(what)?;
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Ok(value | u64::from(cursor.u8(what)?) << 56)
}

/// Skips numbers, eight bytes at a time. Fails if the input ends before the numbers do.
pub(super) fn skip_varints(cursor: &mut Cursor<'_>, count: u64) -> Result<()> {
    const LAST: u64 = 0x8080_8080_8080_8080;
    let mut left = count;
    while left > 0 {
        // A number ends with a byte below 0x80. A ninth byte, which may be any, is the first of its
        // word, because the bytes after the last end in a word are read again with the next word.
        let word = cursor.rest().first_chunk().filter(|_| left > 1);
        let ends = word.map_or(0, |word| !u64::from_le_bytes(*word) & LAST);
        let found = u64::from(ends.count_ones());
        if (1..=left).contains(&found) {
            let after = ends.leading_zeros() / 8;
            cursor
                .skip_to_remaining(cursor.remaining().wrapping_sub(8).wrapping_add(after as usize));
            left = left.wrapping_sub(found);
        } else {
            varint(cursor, "a number")?;
            left = left.wrapping_sub(1);
        }
    }
    Ok(())
}

/// A string as an event stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text<'a> {
    Null,
    Utf8(&'a [u8]),
    /// One character per byte.
    Latin1(&'a [u8]),
    /// UTF-16 code units, each of them a number.
    Utf16(Cursor<'a>),
    /// The number of a string in the chunk's pool of `java.lang.String`.
    Pooled(u64),
}

impl<'a> Text<'a> {
    /// Reads a string. Fails if the string ends beyond the input, or has an encoding that no known
    /// version writes.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let offset = cursor.offset();
        let length = |cursor: &mut Cursor<'a>| varint(cursor, "the length of a string");
        let bytes = |cursor: &mut Cursor<'a>| {
            let length = length(cursor)?;
            cursor.take(length, "a string")
        };
        Ok(match cursor.u8("the encoding of a string")? {
            0 => Self::Null,
            1 => Self::Utf8(b""),
            2 => Self::Pooled(varint(cursor, "the number of a string")?),
            3 => Self::Utf8(bytes(cursor)?),
            4 => {
                let count = length(cursor)?;
                let start = *cursor;
                (0..count).try_for_each(|_| varint(cursor, "a character").map(drop))?;
                let used = start.remaining().wrapping_sub(cursor.remaining());
                Self::Utf16(Cursor::new(start.rest().get(..used).unwrap_or_default(), offset))
            }
            5 => Self::Latin1(bytes(cursor)?),
            other => {
                let message = format!("unknown encoding {other} of a string");
                return Err(Error::corrupt(offset, message).expected("0 to 5"));
            }
        })
    }

    /// The string, with U+FFFD for what is not Unicode. `None` for null and for pooled strings.
    pub(super) fn decode(self) -> Option<Cow<'a, str>> {
        Some(match self {
            Self::Null | Self::Pooled(_) => return None,
            Self::Utf8(bytes) => String::from_utf8_lossy(bytes),
            Self::Latin1(bytes) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
            Self::Utf16(mut cursor) => {
                let mut units = Vec::new();
                while let Ok(unit) = varint(&mut cursor, "a character") {
                    units.push(unit as u16);
                }
                Cow::Owned(String::from_utf16_lossy(&units))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninth_byte_of_a_number_gives_all_its_bits() {
        let mut cursor = Cursor::new(&[0xff; 9], 0);
        assert_eq!(varint(&mut cursor, "x").unwrap(), u64::MAX);
        assert!(cursor.is_empty());
        for (bytes, value) in [(&[5u8][..], 5), (&[0x80, 1], 128), (&[0x80, 0x80, 1], 1 << 14)] {
            assert_eq!(varint(&mut Cursor::new(bytes, 0), "x").unwrap(), value);
        }
        assert!(varint(&mut Cursor::new(&[0x80, 0x80], 0), "x").is_err());
    }

    #[test]
    fn numbers_are_skipped_as_they_are_read() {
        let mut bytes = Vec::new();
        for n in 0..200usize {
            bytes.extend(std::iter::repeat_n(0x80 | n as u8, n * 7 % 9));
            bytes.push(if n * 7 % 9 == 8 { n as u8 | 0x80 } else { n as u8 & 0x7f });
        }
        for count in 0..200 {
            let (mut read, mut skipped) = (Cursor::new(&bytes, 0), Cursor::new(&bytes, 0));
            for _ in 0..count {
                varint(&mut read, "x").unwrap();
            }
            skip_varints(&mut skipped, count).unwrap();
            assert_eq!(read, skipped, "{count} numbers");
        }
        assert!(skip_varints(&mut Cursor::new(&bytes, 0), 201).is_err());
    }

    #[test]
    fn strings_of_every_encoding_are_decoded() {
        let decoded = |bytes: &[u8]| {
            let mut cursor = Cursor::new(bytes, 0);
            let text = Text::read(&mut cursor).unwrap();
            assert!(cursor.is_empty());
            text.decode().map(Cow::into_owned)
        };
        assert_eq!(decoded(&[0]), None);
        assert_eq!(decoded(&[1]), Some(String::new()));
        assert_eq!(decoded(&[3, 2, 0xc3, 0xa4]), Some("ä".into()));
        assert_eq!(decoded(&[4, 2, 0x41, 0xe5, 0xca, 1]), Some("A\u{6565}".into()));
        assert_eq!(decoded(&[5, 1, 0xe4]), Some("ä".into()));
        assert!(Text::read(&mut Cursor::new(&[6], 0)).is_err());
    }
}
