//! The texts of a snapshot, found by their numbers and decoded on demand.

use crate::input::json::{Scanner, Text, closing_quote};
use crate::model::heap::Offsets;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Strings of more bytes are measured and decoded only once, even if several nodes have them.
const LONG: usize = 4096;

/// The limit of columns by string: one string for this many bytes of the file, plus a constant
/// number of strings. Real files have hundreds of bytes for each string.
const DENSE: (usize, usize) = (64, 1 << 20);

/// The start of each string, in 4 bytes, or 8 in files of 4 GiB and more. If there are too many
/// strings for the size of the file, only every second, fourth (and so on) start is stored.
#[derive(Clone, Debug)]
pub struct Strings<'a> {
    bytes: &'a [u8],
    positions: Offsets,
    count: usize,
    /// Positions are stored only for strings whose number ends with this many zero bits.
    skipped_bits: u32,
    /// The strings of more than [`LONG`] bytes, in the order of their numbers.
    long: Vec<LongString<'a>>,
}

#[derive(Clone, Debug)]
struct LongString<'a> {
    number: u64,
    raw: Text<'a>,
    text: OnceLock<Cow<'a, str>>,
    units: OnceLock<Units>,
}

/// The length of a text in UTF-16 code units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) count: usize,
    /// The largest possible length of the text in V8, which cuts characters above U+FFFF, such as
    /// emoji, to 16 bits: these become characters from U+F000 on, which are rare otherwise.
    pub(super) most: usize,
}

impl Units {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self { count: text.len(), most: text.len() };
        }
        let private = text.chars().filter(|own| matches!(own, '\u{f000}'..='\u{faff}')).count();
        let count = text.encode_utf16().count();
        Self { count, most: count.saturating_add(private) }
    }
}

impl<'a> Strings<'a> {
    /// Returns a list without strings, for the strings of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let positions = Offsets::with_capacity(0, bytes.len() as u64);
        Self { bytes, positions, count: 0, skipped_bits: 0, long: Vec::new() }
    }

    /// Adds a string, which begins with its quote at this offset.
    #[inline]
    pub(super) fn push(&mut self, offset: u64, raw: Text<'a>) {
        if raw.raw().len() > LONG {
            let number = self.len() as u64;
            let long = LongString { number, raw, text: OnceLock::new(), units: OnceLock::new() };
            self.long.push(long);
        }
        if self.count & self.skipped() == 0 {
            self.positions.push(offset);
            if self.positions.len() > self.most_dense() {
                self.thin_out();
            }
        }
        self.count = self.count.saturating_add(1);
    }

    /// The most rows that a column by string may have.
    fn most_dense(&self) -> usize {
        self.bytes.len().div_euclid(DENSE.0).saturating_add(DENSE.1)
    }

    /// The number of strings without a stored position after each one with a stored position.
    #[inline]
    fn skipped(&self) -> usize {
        1_usize.wrapping_shl(self.skipped_bits).wrapping_sub(1)
    }

    /// Drops every second position.
    fn thin_out(&mut self) {
        let kept = self.positions.len().div_ceil(2);
        let mut positions = Offsets::with_capacity(kept, self.bytes.len() as u64);
        (0..kept).for_each(|row| positions.push(self.positions.get(row.saturating_mul(2))));
        self.positions = positions;
        self.skipped_bits = self.skipped_bits.saturating_add(1);
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The number of rows of a column by string: one for each string, unless there are too many
    /// strings for the size of the file.
    pub(super) fn dense(&self) -> usize {
        self.count.min(self.most_dense())
    }

    /// Returns `true` if there are no strings, as in a file that ends before them.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offset of a string in the file.
    #[inline]
    pub fn offset(&self, number: u64) -> Option<u64> {
        let row = usize::try_from(number).ok().filter(|row| *row < self.len())?;
        let known = self.positions.get(row.wrapping_shr(self.skipped_bits));
        (0..row & self.skipped()).try_fold(known, |at, _| self.next(at))
    }

    /// Absolute offset of the string after the one at this offset.
    fn next(&self, offset: u64) -> Option<u64> {
        let (end, _) = closing_quote(self.bytes, usize::try_from(offset).ok()?.wrapping_add(1))?;
        let after = end.wrapping_add(1);
        let gap = memchr::memchr(b'"', self.bytes.get(after..)?)?;
        Some(after.wrapping_add(gap) as u64)
    }

    /// Bytes of a string in the file, including escapes and the separator before the next string.
    pub(super) fn extent(&self, number: u64) -> usize {
        let start = self.offset(number).unwrap_or_default();
        match self.offset(number.saturating_add(1)) {
            Some(next) => next.saturating_sub(start) as usize,
            None => self.raw(number).map_or(0, |text| text.raw().len()),
        }
    }

    /// The numbers of the strings whose raw form in the file contains a text, in order.
    pub(super) fn containing(&self, text: &[u8]) -> Vec<u64> {
        let mut found = Vec::new();
        let (Some(start), Some(last)) = (self.offset(0), (self.len() as u64).checked_sub(1)) else {
            return found;
        };
        let end = self.offset(last).unwrap_or(start).saturating_add(1);
        let end = end.saturating_add(self.raw(last).map_or(0, |text| text.raw().len() as u64));
        let all = start as usize..end as usize;
        let all = self.bytes.get(all).unwrap_or_default();
        let (mut number, mut known) = (0_u64, start);
        for at in memchr::memmem::find_iter(all, text) {
            let at = start.saturating_add(at as u64);
            while number < last {
                let next = match self.skipped_bits {
                    0 => self.offset(number.saturating_add(1)),
                    _ => self.next(known),
                };
                let Some(next) = next.filter(|next| *next <= at) else { break };
                (number, known) = (number.saturating_add(1), next);
            }
            if found.last() != Some(&number) {
                found.push(number);
            }
        }
        found
    }

    /// The string of a number. `None` if there is no such string.
    pub fn raw(&self, number: u64) -> Option<Text<'a>> {
        if let Some(long) = self.long(number) {
            return Some(long.raw);
        }
        let at = usize::try_from(self.offset(number)?).ok()?;
        Scanner::new(self.bytes.get(at..)?, 0).text().ok()
    }

    /// The text of a number; `#12` if the file ends before string 12.
    pub fn text(&self, number: u64) -> Cow<'_, str> {
        if let Some(long) = self.long(number) {
            return long.text().into();
        }
        self.raw(number).map_or_else(|| Cow::Owned(format!("#{number}")), |text| text.decode())
    }

    /// The text of a number, like [`Strings::text`], and its length.
    pub(super) fn measured(&self, number: u64) -> (Cow<'_, str>, Units) {
        if let Some(long) = self.long(number) {
            let text = long.text();
            return (text.into(), *long.units.get_or_init(|| Units::of(text)));
        }
        let text = self.text(number);
        let units = Units::of(&text);
        (text, units)
    }

    /// The position of a string in the list of long strings.
    #[inline]
    pub(super) fn long_row(&self, number: u64) -> Option<usize> {
        if self.long.is_empty() {
            return None;
        }
        self.long.binary_search_by_key(&number, |long| long.number).ok()
    }

    pub(super) fn long_count(&self) -> usize {
        self.long.len()
    }

    #[inline]
    fn long(&self, number: u64) -> Option<&LongString<'a>> {
        self.long.get(self.long_row(number)?)
    }
}

impl LongString<'_> {
    fn text(&self) -> &str {
        self.text.get_or_init(|| self.raw.decode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full columns would take 150 MB for a file that is 100 KB when compressed.
    #[test]
    fn of_too_many_strings_not_all_positions_are_kept() {
        const COUNT: usize = 3 << 20;
        let mut bytes = b"[".to_vec();
        let mut offsets = Vec::with_capacity(COUNT);
        for number in 0..COUNT {
            offsets.push(bytes.len() as u64);
            match number % 1_000_000 {
                999_999 => bytes.extend_from_slice(br#""needle\" ]" , "#),
                _ => bytes.extend_from_slice(b"\"\","),
            }
        }
        let mut strings = Strings::new(&bytes);
        for &offset in &offsets {
            let text = Scanner::new(&bytes[offset as usize..], 0).text().unwrap();
            strings.push(offset, text);
        }
        assert_eq!(strings.len(), COUNT);
        assert!(strings.positions.len() <= strings.dense() && strings.dense() < COUNT);
        for number in [0, 1, 2, 3, 999_998, 1_000_000, COUNT - 1] {
            assert_eq!(strings.offset(number as u64), Some(offsets[number]), "{number}");
        }
        assert_eq!(strings.offset(COUNT as u64), None);
        assert_eq!(strings.text(999_999), "needle\" ]");
        assert_eq!(strings.containing(b"needle"), [999_999, 1_999_999, 2_999_999]);
    }
}
