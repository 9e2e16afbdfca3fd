//! Values that count as absent if they are of another kind.

use super::{Scanner, Text, ValueKind};
use crate::error::Result;

impl<'a> Scanner<'a> {
    /// A string. `None` if another value comes next, which is skipped.
    #[inline]
    pub fn optional_text(&mut self) -> Result<Option<Text<'a>>> {
        match self.peek()? {
            ValueKind::String => self.text().map(Some),
            _ => self.skip().map(|()| None),
        }
    }

    /// A whole number that is not negative. `None` if another value comes next, which is skipped.
    #[inline]
    pub fn optional_unsigned(&mut self) -> Result<Option<u64>> {
        match self.peek()? {
            ValueKind::Number => self.number().map(|number| number.unsigned().ok()),
            _ => self.skip().map(|()| None),
        }
    }

    /// Reads the items of an array that are of one kind with `each`, and skips the others.
    #[inline]
    pub fn items_of(
        &mut self,
        kind: ValueKind,
        mut each: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.begin_array()?;
        while self.item()? {
            if self.peek()? == kind { each(self)? } else { self.skip()? }
        }
        Ok(())
    }
}
