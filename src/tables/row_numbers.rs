//! The rows of a table that a query reads, in order.

use std::ops::Range;
use std::vec;

/// The value that rows must have in a column.
#[derive(Clone, Copy)]
pub enum Key<'k> {
    /// The value of a column of numbers.
    Number(i64),
    /// The value of a column of texts.
    Text(&'k str),
}

impl<'k> Key<'k> {
    pub(super) fn number(self) -> Option<u32> {
        match self {
            Self::Number(number) => u32::try_from(number).ok(),
            Self::Text(_) => None,
        }
    }

    pub(super) fn text(self) -> Option<&'k str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }
}

/// A column of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Order<'c> {
    /// The name of the column.
    pub column: &'c str,
    /// Whether large values come first.
    pub is_descending: bool,
}

/// A sequence of row numbers.
pub enum RowNumbers {
    /// Consecutive rows.
    Range(Range<usize>),
    /// Rows that have been found.
    List(vec::IntoIter<usize>),
    /// Rows that are found one by one.
    Each(Box<dyn Iterator<Item = u32> + Send>),
}

impl RowNumbers {
    pub(super) fn list(rows: impl IntoIterator<Item = usize>) -> Self {
        Self::List(rows.into_iter().collect::<Vec<_>>().into_iter())
    }

    pub(super) fn of(range: Option<Range<usize>>) -> Self {
        Self::Range(range.unwrap_or(0..0))
    }

    pub(super) fn row(number: Option<u32>, len: usize) -> Self {
        let row = number.map(|row| row as usize).filter(|row| *row < len);
        Self::of(row.map(|row| row..row + 1))
    }
}

impl Iterator for RowNumbers {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Self::Range(rows) => rows.next(),
            Self::List(rows) => rows.next(),
            Self::Each(rows) => rows.next().map(|row| row as usize),
        }
    }
}
