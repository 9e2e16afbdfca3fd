//! Lines of text files with their offsets, and the words and numbers in them.

use crate::error::{Error, Result};
use memchr::memchr;

#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct TextLine<'a> {
    pub(in crate::input) offset: u64,
    /// The text, without the line feed.
    pub(in crate::input) text: &'a [u8],
    /// Whether the file ends before a line feed.
    pub(in crate::input) is_cut: bool,
}

impl TextLine<'_> {
    /// Returns the error about a line that cannot be read.
    pub(in crate::input) fn damage(&self, message: &'static str, expected: &'static str) -> Error {
        let error = if self.is_cut {
            Error::truncated(self.offset, message)
        } else {
            Error::corrupt(self.offset, message)
        };
        error.expected(expected)
    }
}

#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct TextLines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> TextLines<'a> {
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(in crate::input) fn stop(&mut self) {
        self.at = self.bytes.len();
    }

    /// Returns `length` bytes of the file from `offset` on, whatever they are, and goes on with the
    /// line after them. `None` if they are not followed by the end of a line.
    pub(in crate::input) fn bytes_at(&mut self, offset: u64, length: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(start..end)?;
        match self.bytes.get(end) {
            None | Some(b'\n') => {}
            Some(_) => return None,
        }
        self.at = end.saturating_add(1);
        Some(taken)
    }
}

impl<'a> Iterator for TextLines<'a> {
    type Item = TextLine<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let offset = self.at as u64;
        let end = memchr(b'\n', rest);
        let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at = self.at.saturating_add(text.len()).saturating_add(1);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        Some(TextLine { offset, text, is_cut: end.is_none() })
    }
}

/// A line with meaning; `Ok(None)` for other lines.
pub(in crate::input) type Parsed<L> = Result<Option<L>>;

/// The parser of the lines of a format.
pub(in crate::input) trait Meaning<'a>: Default {
    /// A line with meaning.
    type Line;

    /// The meaning of a line, which may go on in the next ones.
    fn parse(&mut self, line: &TextLine<'a>, next: &mut TextLines<'a>) -> Parsed<Self::Line>;
}

/// The lines of a file that have a meaning, with their offsets. After an error the iterator has
/// ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct Meanings<'a, M> {
    lines: TextLines<'a>,
    meaning: M,
}

impl<'a, M: Meaning<'a>> Meanings<'a, M> {
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        Self { lines: TextLines::new(bytes), meaning: M::default() }
    }
}

impl<'a, M: Meaning<'a>> Iterator for Meanings<'a, M> {
    type Item = Result<(u64, M::Line)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?;
            match self.meaning.parse(&line, &mut self.lines) {
                Ok(None) => {}
                Ok(Some(found)) => return Some(Ok((line.offset, found))),
                Err(error) => {
                    self.lines.stop();
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The words of a line, with blanks between them.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct Words<'a>(pub(in crate::input) &'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let text = self.0.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end)?;
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

impl Words<'_> {
    #[inline]
    pub(in crate::input) fn hex(&mut self) -> Option<u64> {
        hex(self.next()?)
    }

    #[inline]
    pub(in crate::input) fn decimal(&mut self) -> Option<u64> {
        decimal(self.next()?)
    }
}

/// A hexadecimal number of at most 64 bits, with or without `0x`.
#[inline]
pub(in crate::input) fn hex(text: &[u8]) -> Option<u64> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let digits = |number: u64, digit: &u8| {
        let digit = char::from(*digit).to_digit(16)?;
        (number >> 60 == 0).then_some(number << 4 | u64::from(digit))
    };
    if text.is_empty() { None } else { text.iter().try_fold(0, digits) }
}

/// A decimal number of at most 64 bits.
#[inline]
pub(in crate::input) fn decimal(text: &[u8]) -> Option<u64> {
    let digits = |number: u64, digit: &u8| {
        let digit = char::from(*digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    };
    if text.is_empty() { None } else { text.iter().try_fold(0, digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_more_than_64_bits_are_none() {
        assert_eq!(hex(b"0xffffffffffffffff"), Some(u64::MAX));
        assert_eq!((hex(b"10000000000000000"), hex(b"0x"), hex(b"g")), (None, None, None));
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!((decimal(b"18446744073709551616"), decimal(b"-1")), (None, None));
    }

    #[test]
    fn lines_have_offsets_and_the_last_may_be_cut() {
        let lines: Vec<_> = TextLines::new(b"a b\r\n\nc").collect();
        let parts = |line: &TextLine<'_>| (line.offset, line.text.len(), line.is_cut);
        assert_eq!(
            lines.iter().map(parts).collect::<Vec<_>>(),
            [(0, 3, false), (5, 0, false), (6, 1, true)]
        );
        let words: Vec<_> = Words(b"  x y  ").collect();
        assert_eq!(words, [b"x", b"y"]);
    }
}
