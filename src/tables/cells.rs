//! The cells of a table, a range of a column at a time.

use super::{CellKind, Relation};

/// The cells of one column in consecutive rows. The value of an absent cell is arbitrary.
#[derive(Debug, Default)]
pub struct CellBlock {
    /// Whether each row has a cell. Empty if all have one.
    pub(super) present: Vec<bool>,
    pub(super) integers: Vec<i64>,
    pub(super) booleans: Vec<bool>,
    /// The codes of columns of text, if the rows have codes for their texts.
    pub(super) codes: Vec<u32>,
    /// The values of other columns of text, one after the other.
    pub(super) texts: String,
    pub(super) ends: Vec<usize>,
}

/// The value of a row in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'c> {
    /// An absent cell.
    Absent,
    /// A number.
    Integer(i64),
    Boolean(bool),
    Text(&'c str),
}

impl CellBlock {
    /// Returns a cell by its place among those that were filled in. `column` is the number of the
    /// column and the kind of its cells, `text` an empty buffer.
    #[inline]
    pub fn cell<'c>(
        &'c self,
        relation: &'c dyn Relation,
        column: (usize, CellKind),
        place: usize,
        text: &'c mut String,
    ) -> Cell<'c> {
        if self.present.get(place) == Some(&false) {
            return Cell::Absent;
        }
        match column.1 {
            CellKind::Integer | CellKind::SmallInteger => Cell::Integer(self.integers[place]),
            CellKind::Boolean => Cell::Boolean(self.booleans[place]),
            CellKind::Text => Cell::Text(match self.codes.get(place) {
                Some(code) => relation.text(column.0, *code, text),
                None => self.text_at(place),
            }),
        }
    }

    pub(super) fn clear(&mut self) {
        self.present.clear();
        self.integers.clear();
        self.booleans.clear();
        self.codes.clear();
        self.texts.clear();
        self.ends.clear();
    }

    /// Appends integers. Numbers above 63 bits become the largest number.
    pub(super) fn integers(&mut self, numbers: impl Iterator<Item = u64>) {
        self.integers.extend(numbers.map(signed));
    }

    pub(super) fn optional_integers(&mut self, numbers: impl Iterator<Item = Option<i64>>) {
        for number in numbers {
            self.present.push(number.is_some());
            self.integers.push(number.unwrap_or_default());
        }
    }

    pub(super) fn optional_booleans(&mut self, values: impl Iterator<Item = Option<bool>>) {
        for value in values {
            self.present.push(value.is_some());
            self.booleans.push(value.unwrap_or_default());
        }
    }

    pub(super) fn optional_codes(&mut self, codes: impl Iterator<Item = Option<u32>>) {
        for code in codes {
            self.present.push(code.is_some());
            self.codes.push(code.unwrap_or_default());
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.append_text(|texts| texts.push_str(text));
    }

    pub(super) fn optional_text(&mut self, text: Option<&str>) {
        self.present.push(text.is_some());
        self.text(text.unwrap_or_default());
    }

    /// Appends the text that `append` writes to a buffer.
    pub(super) fn append_text(&mut self, append: impl FnOnce(&mut String)) {
        append(&mut self.texts);
        self.ends.push(self.texts.len());
    }

    #[inline]
    fn text_at(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[number]]
    }
}

/// The number, or the largest `i64` if it does not fit.
#[inline]
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
