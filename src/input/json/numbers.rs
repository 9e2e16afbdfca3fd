//! Numbers, one by one and in arrays.

use crate::error::{Error, Result};
use crate::parallel;

/// A number of a document, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    raw: &'a [u8],
    offset: u64,
}

impl<'a> Number<'a> {
    pub(super) fn new(raw: &'a [u8], offset: u64) -> Self {
        Self { raw, offset }
    }

    /// The bytes in the input.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The value as a whole number that is not negative. `1e3` and `2.0` are whole. Fails when the
    /// number is negative, not whole, or 2⁶⁴ or more.
    #[inline]
    pub fn unsigned(&self) -> Result<u64> {
        let plain = |value: Option<u64>, digit: &u8| {
            let digit = digit.wrapping_sub(b'0');
            value?.checked_mul(10)?.checked_add(u64::from(digit)).filter(|_| digit < 10)
        };
        match self.raw.iter().fold(Some(0), plain) {
            Some(value) if !self.raw.is_empty() => Ok(value),
            _ => self.unsigned_from_float(),
        }
    }

    #[cold]
    fn unsigned_from_float(&self) -> Result<u64> {
        let value = self.float()?;
        // 2⁶⁴ is the first float that does not fit; -0 does.
        if (0.0..18_446_744_073_709_551_616.0).contains(&value) && value.fract() == 0.0 {
            Ok(value as u64)
        } else {
            Err(self.not("a whole number from 0 to 18446744073709551615"))
        }
    }

    /// The value as a whole number. Fails when the number is not whole or beyond 64 bits.
    pub fn signed(&self) -> Result<i64> {
        if let Some(value) = std::str::from_utf8(self.raw).ok().and_then(|raw| raw.parse().ok()) {
            return Ok(value);
        }
        let value = self.float()?;
        if value.abs() < 9_223_372_036_854_775_808.0 && value.fract() == 0.0 {
            Ok(value as i64)
        } else {
            Err(self.not("a whole number of 64 bits"))
        }
    }

    /// The value as the nearest floating-point number. Fails when the bytes are not a number.
    pub fn float(&self) -> Result<f64> {
        let parsed = std::str::from_utf8(self.raw).ok().and_then(|raw| raw.parse().ok());
        parsed.ok_or_else(|| self.not("a number"))
    }

    #[cold]
    fn not(&self, expected: &'static str) -> Error {
        let head = self.raw.get(..32).unwrap_or(self.raw);
        Error::corrupt(self.offset, "malformed number")
            .expected(expected)
            .found(format!("`{}`", String::from_utf8_lossy(head)))
    }
}

/// The numbers of an array, read in place.
///
/// Plain digits take a load, a few shifts and three multiplications per eight digits, without a
/// branch on their number.
#[derive(Clone, Debug)]
pub struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Absolute offset of the first of `bytes`.
    base: u64,
    cut: bool,
}

impl<'a> Numbers<'a> {
    /// The numbers in `bytes`, separated by commas and without the brackets. `offset` is the
    /// absolute offset of the first byte. If the end of the input `cut` the array, its last number
    /// is dropped, because it may be cut too.
    pub fn new(bytes: &'a [u8], offset: u64, cut: bool) -> Self {
        let whole = if cut {
            bytes.get(..memchr::memrchr(b',', bytes).unwrap_or(0)).unwrap_or_default()
        } else {
            bytes
        };
        Self { bytes: whole, at: 0, base: offset, cut }
    }

    /// The bytes between the brackets, without a number that is cut off.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the input ends before the array does.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Absolute offset of the next number.
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    /// The next number, which must be whole and not negative. `None` at the end. Fails when
    /// something else comes next.
    #[inline(always)]
    pub fn unsigned(&mut self) -> Result<Option<u64>> {
        let Some(word) = self.word() else { return self.slow() };
        let digits = word ^ ZEROS;
        let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
        let width = others.trailing_zeros() & !7;
        if width == 0 {
            return self.slow();
        }
        let next = self.at.wrapping_add((width >> 3) as usize);
        match self.bytes.get(next) {
            Some(b',') => self.at = next.wrapping_add(1),
            // V8 12 and earlier end each node and edge with a line feed.
            Some(b'\n') if self.bytes.get(next.wrapping_add(1)) == Some(&b',') => {
                self.at = next.wrapping_add(2)
            }
            _ => return self.slow(),
        }
        Ok(Some(eight_digits(digits.wrapping_shl(64u32.wrapping_sub(width)))))
    }

    /// The next number. `None` at the end. Fails when something else comes next.
    #[inline]
    pub fn float(&mut self) -> Result<Option<f64>> {
        // Nearly all numbers are plain whole ones, which are exact up to 2⁵³.
        let before = self.at;
        match self.unsigned() {
            Ok(Some(value)) if value < 1 << 53 => Ok(Some(value as f64)),
            Ok(None) => Ok(None),
            _ => {
                self.at = before;
                self.skip_space();
                let number = self.number();
                let value = number.float()?;
                self.separator()?;
                Ok(Some(value))
            }
        }
    }

    /// The next eight bytes.
    #[inline(always)]
    fn word(&self) -> Option<u64> {
        let word = self.bytes.get(self.at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*word))
    }

    /// Reads a number of nine or more digits, near the end, or followed by something other than a
    /// comma.
    #[inline(never)]
    fn slow(&mut self) -> Result<Option<u64>> {
        self.skip_space();
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let number = self.number().unsigned()?;
        self.separator()?;
        Ok(Some(number))
    }

    /// The bytes of the next number.
    fn number(&mut self) -> Number<'a> {
        let (rest, offset) = (self.bytes.get(self.at..).unwrap_or_default(), self.offset());
        let is_end = |byte: &u8| matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t');
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.at = self.at.wrapping_add(length);
        Number::new(rest.get(..length).unwrap_or_default(), offset)
    }

    /// Moves past white space and the comma after a number.
    fn separator(&mut self) -> Result<()> {
        self.skip_space();
        match self.bytes.get(self.at) {
            None => {}
            Some(b',') => self.at = self.at.wrapping_add(1),
            Some(&byte) => {
                return Err(Error::corrupt(self.offset(), "malformed JSON")
                    .expected("a comma")
                    .found(super::text::shown(byte)));
            }
        }
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at = self.at.wrapping_add(1);
        }
    }
}

/// The end of the array of numbers that begins here. An array can be most of a file, so threads
/// search its parts in parallel.
pub(super) fn closing_bracket(bytes: &[u8]) -> Option<usize> {
    const PART: usize = 1 << 20;
    const WINDOW: usize = 8 * PART;
    let find = |bytes: &[u8]| memchr::memchr(b']', bytes);
    let (first, rest) = bytes.split_at_checked(PART).unwrap_or((bytes, &[]));
    find(first).or_else(|| {
        let mut before = first.len();
        for window in rest.chunks(WINDOW) {
            let mut ends = parallel::map(window.chunks(PART), find).into_iter().enumerate();
            if let Some((part, at)) = ends.find_map(|(part, at)| Some((part, at?))) {
                return Some(part.wrapping_mul(PART).wrapping_add(before).wrapping_add(at));
            }
            before = before.wrapping_add(window.len());
        }
        None
    })
}

/// The whole number with which the bytes begin, and what follows it. `None` if they do not begin
/// with a digit, or the number is 2⁶⁴ or more.
#[inline]
pub(crate) fn whole_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut rest) = (0u64, bytes);
    while let Some(word) = rest.first_chunk::<8>() {
        let digits = u64::from_le_bytes(*word) ^ ZEROS;
        let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
        let width = others.trailing_zeros() & !7;
        if width == 0 {
            break;
        }
        let digits = eight_digits(digits.wrapping_shl(64u32.wrapping_sub(width)));
        let width = (width >> 3) as usize;
        value = value.checked_mul(*POWERS.get(width)?)?.checked_add(digits)?;
        rest = rest.get(width..)?;
        if width < 8 {
            return Some((value, rest));
        }
    }
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        value = value.checked_mul(10)?.checked_add(u64::from(digit.wrapping_sub(b'0')))?;
        rest = after;
    }
    (rest.len() < bytes.len()).then_some((value, rest))
}

/// The powers of ten of up to eight digits.
const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The value of eight digits of 0 to 9, of which the first is in the lowest byte.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}
