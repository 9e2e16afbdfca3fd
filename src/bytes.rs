//! The checked cursor that every reader decodes with.
//!
//! A [`Cursor`] knows the absolute offset of its next byte, even within a part of the input, so
//! that every error has a position in the file. No method panics, and none allocates.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::error::{Error, Result};
use byteorder::ByteOrder;
use std::borrow::Cow;

/// Appends an unsigned LEB128 number.
pub fn push_uleb128(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A position in a slice of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    /// Absolute offset of the end of `rest`: the offset of the next byte is `end - rest.len()`.
    end: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`, whose first byte has the absolute offset `offset`.
    pub fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, end: offset.saturating_add(bytes.len() as u64) }
    }

    /// Creates a cursor over `bytes` at `offset`, or at the end if `offset` is beyond it.
    #[inline]
    pub fn at(bytes: &'a [u8], offset: u64) -> Self {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        Self { rest: bytes.get(start..).unwrap_or_default(), end: bytes.len() as u64 }
    }

    /// Absolute offset of the next byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.end.wrapping_sub(self.rest.len() as u64)
    }

    /// The number of remaining bytes.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The bytes that `read` moves past. Fails as `read` does.
    #[inline]
    pub fn span(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<&'a [u8]> {
        let start = self.rest;
        read(self)?;
        Ok(start.get(..start.len().saturating_sub(self.rest.len())).unwrap_or_default())
    }

    /// Returns `true` if no bytes remain.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Moves forward until `remaining` bytes are left. Does nothing if fewer are left.
    #[inline]
    pub fn skip_to_remaining(&mut self, remaining: usize) {
        let skipped = self.rest.len().saturating_sub(remaining);
        self.rest = self.rest.get(skipped..).unwrap_or_default();
    }

    /// The remaining bytes. Does not move the cursor.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Creates the error for an input that ends inside `what`. Its offset is the end of the input.
    #[cold]
    pub fn truncated(&self, what: &'static str) -> Error {
        Error::truncated(self.end, format!("the input ends inside {what}"))
    }

    /// Reads the next byte.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8> {
        match self.rest {
            [byte, rest @ ..] => {
                self.rest = rest;
                Ok(*byte)
            }
            [] => Err(self.truncated(what)),
        }
    }

    /// The next `length` bytes, borrowed from the input.
    #[inline]
    pub fn take(&mut self, length: u64, what: &'static str) -> Result<&'a [u8]> {
        match usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length)) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.too_few(length, what)),
        }
    }

    #[cold]
    fn too_few(&self, length: u64, what: &'static str) -> Error {
        let found = format!("{} left", self.rest.len());
        self.truncated(what)
            .expected(format!("{length} bytes from offset {:#x}", self.offset()))
            .found(found)
    }

    /// A `u16` in the byte order `B`.
    #[inline]
    pub fn u16<B: ByteOrder>(&mut self, what: &'static str) -> Result<u16> {
        self.take(2, what).map(B::read_u16)
    }

    /// A `u32` in the byte order `B`.
    #[inline]
    pub fn u32<B: ByteOrder>(&mut self, what: &'static str) -> Result<u32> {
        self.take(4, what).map(B::read_u32)
    }

    /// A `u64` in the byte order `B`.
    #[inline]
    pub fn u64<B: ByteOrder>(&mut self, what: &'static str) -> Result<u64> {
        self.take(8, what).map(B::read_u64)
    }

    /// An unsigned LEB128 number of at most 64 bits. Non-minimal forms are accepted.
    #[inline]
    pub fn uleb128(&mut self, what: &'static str) -> Result<u64> {
        // Nearly all numbers in dumps take one to three bytes; unrolling those is twice as fast as
        // the loop.
        match *self.rest {
            [a, ref rest @ ..] if a < 0x80 => {
                self.rest = rest;
                Ok(u64::from(a))
            }
            [a, b, ref rest @ ..] if b < 0x80 => {
                self.rest = rest;
                Ok(u64::from(a & 0x7f) | u64::from(b) << 7)
            }
            [a, b, c, ref rest @ ..] if c < 0x80 => {
                self.rest = rest;
                Ok(u64::from(a & 0x7f) | u64::from(b & 0x7f) << 7 | u64::from(c) << 14)
            }
            _ => self.uleb128_long(what),
        }
    }

    /// Like [`Cursor::uleb128`], for numbers that usually take four to eight bytes, as addresses do.
    #[inline]
    pub fn uleb128_wide(&mut self, what: &'static str) -> Result<u64> {
        match self.uleb128_in_word() {
            Some(value) => Ok(value),
            None => self.uleb128(what),
        }
    }

    /// An unsigned LEB128 number of at most eight bytes, without a branch for each byte. `None`,
    /// without moving, if it is longer or fewer than eight bytes are left.
    #[inline]
    pub fn uleb128_in_word(&mut self) -> Option<u64> {
        let word = u64::from_le_bytes(*self.rest.first_chunk()?);
        let last = !word & 0x8080_8080_8080_8080;
        if last == 0 {
            return None;
        }
        // Everything above the first byte without its high bit belongs to what follows. Then pairs
        // of 7-bit groups are moved together, pairs of 14 bits, and pairs of 28.
        let groups = word & (last ^ last.wrapping_sub(1)) & 0x7f7f_7f7f_7f7f_7f7f;
        let groups = groups & 0x007f_007f_007f_007f | (groups & 0x7f00_7f00_7f00_7f00) >> 1;
        let groups = groups & 0x0000_3fff_0000_3fff | (groups & 0x3fff_0000_3fff_0000) >> 2;
        let value = groups & 0x0fff_ffff | (groups & 0x0fff_ffff_0000_0000) >> 4;
        self.rest = self
            .rest
            .get((last.trailing_zeros() as usize / 8).wrapping_add(1)..)
            .unwrap_or_default();
        Some(value)
    }

    fn uleb128_long(&mut self, what: &'static str) -> Result<u64> {
        self.leb128(what, |tenth| tenth <= 1).map(|(value, _)| value)
    }

    /// The bits of a LEB128 number and their count. `fits` tells whether the tenth byte fits into 64
    /// bits.
    #[inline]
    fn leb128(&mut self, what: &'static str, fits: impl Fn(u8) -> bool) -> Result<(u64, u32)> {
        let mut value = 0u64;
        for (i, &byte) in self.rest.iter().take(10).enumerate() {
            if i == 9 && !fits(byte) {
                break;
            }
            value |= u64::from(byte & 0x7f).wrapping_shl((i as u32).wrapping_mul(7));
            if byte < 0x80 {
                let length = i.wrapping_add(1);
                self.rest = self.rest.get(length..).unwrap_or_default();
                return Ok((value, (length as u32).wrapping_mul(7)));
            }
        }
        Err(self.not_leb128(what))
    }

    /// Skips `count` unsigned LEB128 numbers of at most 64 bits and returns how many of them are 0.
    ///
    /// Eight bytes are taken at a time, without decoding: a number ends at a byte below 0x80, and a
    /// byte 0 that begins a number is the number 0. `count` need not be trusted: the cost is
    /// bounded by the remaining bytes. Fails like [`Cursor::uleb128`]; the cursor then stands at
    /// the number that could not be read.
    #[inline]
    pub fn skip_uleb128s(&mut self, count: u64, what: &'static str) -> Result<u64> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x80 * ONES;
        let mut left = count;
        let mut zeros = 0u64;
        while left > 0 {
            let Some(word) = self.rest.first_chunk() else {
                return Ok(self.skip_uleb128s_one_by_one(left, what)?.wrapping_add(zeros));
            };
            let word = u64::from_le_bytes(*word);
            // The marks below are the high bits of the bytes that end a number, begin one, and are
            // 0.
            let ends = !word & HIGH;
            let starts = ends << 8 | 0x80;
            let nulls = !(word & !HIGH).wrapping_add(!HIGH) & ends;
            // Byte i of `totals` is how many numbers end in bytes 0 to i; no carry crosses bytes,
            // as 8 is the most.
            let totals = (ends >> 7).wrapping_mul(ONES);
            let numbers = totals >> 56;
            if numbers == 0 || nulls & !starts != 0 {
                // A number longer than the word, or one padded with zero groups: rare enough to
                // decode.
                zeros = zeros.wrapping_add(self.skip_uleb128s_one_by_one(1, what)?);
                left = left.wrapping_sub(1);
                continue;
            }
            let last = if numbers <= left {
                63u32.wrapping_sub(ends.leading_zeros())
            } else {
                // The lowest byte of `totals` that equals `left` is where the last wanted number
                // ends.
                let difference = totals ^ left.wrapping_mul(ONES);
                (difference.wrapping_sub(ONES) & !difference & HIGH).trailing_zeros()
            };
            let wanted = nulls & u64::MAX.wrapping_shr(63u32.wrapping_sub(last));
            zeros = zeros.wrapping_add((wanted >> 7).wrapping_mul(ONES) >> 56);
            left = left.saturating_sub(numbers);
            self.rest = self.rest.get((last as usize >> 3).wrapping_add(1)..).unwrap_or_default();
        }
        Ok(zeros)
    }

    #[cold]
    #[inline(never)]
    fn skip_uleb128s_one_by_one(&mut self, count: u64, what: &'static str) -> Result<u64> {
        let mut zeros = 0u64;
        for _ in 0..count {
            zeros = zeros.wrapping_add((self.uleb128(what)? == 0).into());
        }
        Ok(zeros)
    }

    /// The error for bytes of which no LEB128 number of 64 bits can be read: too few or too many.
    #[cold]
    fn not_leb128(&self, what: &'static str) -> Error {
        if self.rest.len() < 10 {
            return self.truncated(what);
        }
        Error::corrupt(self.offset(), format!("{what} is a number of more than 64 bits"))
            .expected("at most 10 bytes of LEB128")
    }

    /// A signed LEB128 number of at most 64 bits (the sign is bit 6 of the last byte).
    pub fn sleb128(&mut self, what: &'static str) -> Result<i64> {
        let (value, bits) = self.leb128(what, |tenth| matches!(tenth, 0 | 0x7f))?;
        let unused = 64u32.saturating_sub(bits);
        Ok((value as i64).wrapping_shl(unused).wrapping_shr(unused))
    }

    /// The bytes up to the next NUL, which is consumed and not returned.
    pub fn c_string(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let Some(length) = memchr::memchr(0, self.rest) else {
            return Err(self.truncated(what));
        };
        let string = self.take(length as u64, what)?;
        self.u8(what)?;
        Ok(string)
    }
}

/// Decodes Latin-1, each byte of which is the code point of the same number.
pub fn latin1(units: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(units) {
        // Nearly all text is ASCII, which is the same in both.
        Ok(text) if units.is_ascii() => text.into(),
        _ => units.iter().map(|&unit| char::from(unit)).collect::<String>().into(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use byteorder::{BE, LE};
    use proptest::prelude::*;

    /// A number as unsigned LEB128.
    pub(crate) fn uleb(value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_uleb128(&mut bytes, value);
        bytes
    }

    fn sleb(mut value: i64) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let byte = value as u8 & 0x7f;
            value >>= 7;
            if (value == 0 && byte & 0x40 == 0) || (value == -1 && byte & 0x40 != 0) {
                bytes.push(byte);
                return bytes;
            }
            bytes.push(byte | 0x80);
        }
    }

    proptest! {
        #[test]
        fn leb128_numbers_come_back(value: u64, signed: i64, shift in 0u32..64) {
            let (value, signed) = (value >> shift, signed >> shift);
            let mut bytes = uleb(value);
            bytes.extend(sleb(signed));
            let mut cursor = Cursor::new(&bytes, 100);
            prop_assert_eq!(cursor.uleb128("a").unwrap(), value);
            prop_assert_eq!(cursor.sleb128("b").unwrap(), signed);
            prop_assert_eq!(cursor.offset(), 100 + bytes.len() as u64);
            let mut wide = Cursor::new(&bytes, 100);
            prop_assert_eq!(wide.uleb128_wide("a").unwrap(), value);
            prop_assert_eq!(wide.sleb128("b").unwrap(), signed);
        }

        #[test]
        fn skipped_numbers_are_those_that_reading_gives(
            numbers in prop::collection::vec((any::<u64>(), 0u32..=64, 0usize..3), 0..60),
            count in 0u64..70,
            cut in 0usize..40,
        ) {
            let mut bytes = Vec::new();
            for (value, shift, padding) in numbers {
                bytes.extend(uleb(value.checked_shr(shift).unwrap_or(0)));
                if padding == 2 && bytes.len() % 10 < 8 {
                    *bytes.last_mut().unwrap() |= 0x80;
                    bytes.push(0);
                }
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            let (mut skipping, mut reading) = (Cursor::new(&bytes, 9), Cursor::new(&bytes, 9));
            let skipped = skipping.skip_uleb128s(count, "a number");
            let read: Result<Vec<u64>> = (0..count).map(|_| reading.uleb128("a number")).collect();
            prop_assert_eq!(skipping.offset(), reading.offset());
            match (skipped, read) {
                (Ok(zeros), Ok(read)) => prop_assert_eq!(zeros, read.iter().filter(|&&value| value == 0).count() as u64),
                (Err(skipped), Err(read)) => prop_assert_eq!(skipped.to_string(), read.to_string()),
                (skipped, read) => prop_assert!(false, "{:?} {:?}", skipped, read),
            }
        }

        #[test]
        fn no_bytes_make_the_cursor_panic(bytes: Vec<u8>) {
            let mut cursor = Cursor::new(&bytes, 0);
            while cursor.uleb128("a").is_ok() && cursor.sleb128("b").is_ok() && cursor.c_string("c").is_ok() {}
        }
    }

    #[test]
    fn numbers_beyond_64_bits_are_refused_at_their_start() {
        let error = Cursor::new(&[0xff; 11], 7).uleb128("a size").unwrap_err();
        assert_eq!(error.offset(), Some(7));
        assert_eq!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 0)
                .uleb128("a size")
                .unwrap(),
            u64::MAX
        );
        assert!(
            Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], 0)
                .uleb128("a size")
                .is_err()
        );
    }

    #[test]
    fn a_cut_number_reports_the_end_of_the_input() {
        assert_eq!(
            Cursor::new(&[0x80, 0x80], 40).uleb128("a size").unwrap_err().offset(),
            Some(42)
        );
    }

    #[test]
    fn both_byte_orders_are_read() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Cursor::new(&bytes, 0).u16::<BE>("x").unwrap(), 0x0102);
        assert_eq!(Cursor::new(&bytes, 0).u32::<LE>("x").unwrap(), 0x0403_0201);
        assert_eq!(Cursor::new(&bytes, 0).u64::<BE>("x").unwrap(), 0x0102_0304_0506_0708);
        assert_eq!(Cursor::at(&bytes, 99).remaining(), 0);
    }
}
