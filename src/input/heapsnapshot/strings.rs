//! The texts of a snapshot, found by their numbers and decoded on demand.

use crate::input::json::{Scanner, Text};
use crate::model::heap::Offsets;
use std::borrow::Cow;

/// Where each string begins. 4 bytes for each, 8 in files of 4 GiB and more.
#[derive(Clone, Debug)]
pub struct Strings<'a> {
    bytes: &'a [u8],
    positions: Offsets,
}

impl<'a> Strings<'a> {
    /// None yet.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, positions: Offsets::with_capacity(0, bytes.len() as u64) }
    }

    /// Adds the string that begins, with its quote, at this offset.
    #[inline]
    pub(super) fn push(&mut self, offset: u64) {
        self.positions.push(offset);
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns `true` if there are no strings, as in a file that ends before them.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Absolute offset of a string.
    pub fn offset(&self, number: u64) -> Option<u64> {
        let row = usize::try_from(number).ok().filter(|row| *row < self.len())?;
        Some(self.positions.get(row))
    }

    /// The numbers of the strings that contain a text as it is in the file, in order.
    pub(super) fn containing(&self, text: &[u8]) -> Vec<u64> {
        let mut found = Vec::new();
        let (Some(start), Some(last)) = (self.offset(0), (self.len() as u64).checked_sub(1)) else {
            return found;
        };
        let end = self.offset(last).unwrap_or(start).saturating_add(1);
        let end = end.saturating_add(self.raw(last).map_or(0, |text| text.raw().len() as u64));
        let all = start as usize..end as usize;
        let all = self.bytes.get(all).unwrap_or_default();
        let mut number = 0_u64;
        for at in memchr::memmem::find_iter(all, text) {
            let at = start.saturating_add(at as u64);
            while self.offset(number.saturating_add(1)).is_some_and(|next| next <= at) {
                number = number.saturating_add(1);
            }
            if found.last() != Some(&number) {
                found.push(number);
            }
        }
        found
    }

    /// The string of a number. `None` if there is no such string.
    pub fn raw(&self, number: u64) -> Option<Text<'a>> {
        let at = usize::try_from(self.offset(number)?).ok()?;
        Scanner::new(self.bytes.get(at..)?, 0).text().ok()
    }

    /// The text of a number; `#12` if the file ends before string 12.
    pub fn text(&self, number: u64) -> Cow<'a, str> {
        self.raw(number).map_or_else(|| Cow::Owned(format!("#{number}")), |text| text.decode())
    }
}
