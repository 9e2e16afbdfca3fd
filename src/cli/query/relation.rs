//! Tables as SQLite reads them: rows by number, cells by column.

use std::borrow::Cow;
use std::cell::Cell as Hint;
use std::ops::Range;
use std::vec;

/// A table as SQL has it.
pub(super) struct SqlTable {
    pub(super) name: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Box<dyn Relation>,
}

/// The rows of a table over a loaded file. Nothing of the file is copied: a cell is computed when a
/// query asks for it, and so is an analysis that the cell needs.
pub(super) trait Relation: Send + Sync {
    /// The number of rows.
    fn len(&self) -> u64;

    /// The cell of a row. `text` is empty and takes text that the file does not have as such.
    fn cell<'c>(&'c self, at: At<'_>, column: usize, text: &'c mut String) -> Cell<'c>;

    /// The columns by which rows can be found without reading all of them.
    fn lookups(&self) -> Vec<Lookup> {
        Vec::new()
    }

    /// The rows in which a column of [`Relation::lookups`] has a value. May contain others, which
    /// SQLite leaves out. Unless a table has other lookups, it is the row with a number.
    fn find(&self, _column: usize, key: Key<'_>) -> Rows {
        self.row(key)
    }

    /// The row with a number, if there is one.
    fn row(&self, key: Key<'_>) -> Rows {
        Rows::one(key.number().filter(|row| u64::from(*row) < self.len()))
    }

    /// All rows in this order; `None` if that takes sorting.
    fn ordered(&self, by: &[Order]) -> Option<Rows> {
        by.is_empty().then(|| Rows::Range(0..self.len()))
    }

    /// Whether [`Relation::ordered`] has rows for this order.
    fn has_order(&self, by: &[Order]) -> bool {
        by.is_empty()
    }

    /// Told which columns a query reads before it begins; bit 63 represents all beyond.
    fn prepare(&self, _columns: u64) {}
}

/// A column of a [`Relation`].
pub(super) struct Column {
    pub(super) name: Cow<'static, str>,
    pub(super) kind: Kind,
}

/// The kind of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    /// 0 or 1.
    Boolean,
    Text,
}

impl Kind {
    /// The name in SQL, which also says how SQLite compares.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Boolean => "BOOLEAN",
            Self::Text => "TEXT",
        }
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'c> {
    Null,
    Integer(i64),
    Text(&'c str),
}

/// A number as a cell. SQL has no unsigned numbers; larger ones become the largest.
impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(value: bool) -> Self {
        Self::Integer(value.into())
    }
}

impl<'c> From<&'c str> for Cell<'c> {
    fn from(text: &'c str) -> Self {
        Self::Text(text)
    }
}

impl<'c, V: Into<Cell<'c>>> From<Option<V>> for Cell<'c> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The place of a cursor.
#[derive(Clone, Copy)]
pub(super) struct At<'h> {
    pub(super) row: u64,
    /// Kept between the cells of a cursor, for what is near the last row.
    pub(super) hint: &'h Hint<u32>,
}

impl At<'_> {
    /// The row as an index.
    pub(super) fn index(self) -> usize {
        self.row as usize
    }
}

/// A column by which rows can be found.
pub(super) struct Lookup {
    pub(super) column: usize,
    /// About the number of rows that a value has.
    pub(super) rows: u64,
}

/// The value that a column of a [`Lookup`] has to have.
#[derive(Clone, Copy)]
pub(super) enum Key<'k> {
    Number(i64),
    Text(&'k str),
}

impl<'k> Key<'k> {
    /// The number, as that of a row or an object.
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
pub(super) struct Order {
    pub(super) column: usize,
    pub(super) is_descending: bool,
}

/// The numbers of rows, one after the other.
pub(super) enum Rows {
    Range(Range<u64>),
    List(vec::IntoIter<u64>),
    /// Computed one by one.
    Each(Box<dyn Iterator<Item = u32> + Send>),
}

impl Rows {
    pub(super) fn none() -> Self {
        Self::Range(0..0)
    }

    /// One row, if there is one.
    pub(super) fn one(row: Option<u32>) -> Self {
        row.map_or_else(Self::none, |row| Self::Range(row.into()..u64::from(row) + 1))
    }
}

impl Iterator for Rows {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Range(rows) => rows.next(),
            Self::List(rows) => rows.next(),
            Self::Each(rows) => rows.next().map(u64::from),
        }
    }
}
