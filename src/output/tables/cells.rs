//! The cells of a table, a column at a time.

use super::{Table, TableColumn};
use std::borrow::Cow;
use std::ops::Range;

/// The rows of a table, from which every syntax is written.
pub trait TableRows {
    /// The table.
    fn table(&self) -> Table;

    /// The columns.
    fn columns(&self) -> Cow<'static, [TableColumn]> {
        self.table().columns().into()
    }

    /// The number of rows.
    fn len(&self) -> usize;

    /// Returns `true` if the table has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the cells of a column in these rows. The ranges of a column rise, without gaps.
    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells);

    /// The text of a code that [`TableRows::fill`] appended to this column.
    fn text(&self, _column: &str, _code: u32) -> Cow<'_, str> {
        "".into()
    }
}

/// TableCells of one column in consecutive rows. Absent cells take no place among the values.
#[derive(Debug, Default)]
pub struct TableCells {
    /// Whether each row has a cell. Empty if all have one.
    pub(super) present: Vec<bool>,
    /// The values of columns of integers.
    pub(super) integers: Vec<i64>,
    /// The values of columns of truth values.
    pub(super) booleans: Vec<bool>,
    /// The values of columns of text as codes, if the rows have codes for them.
    pub(super) codes: Vec<u32>,
    /// The values of other columns of text, one after the other.
    pub(super) texts: String,
    /// Where each text ends.
    pub(super) ends: Vec<usize>,
}

impl TableCells {
    /// Removes all cells.
    pub(super) fn clear(&mut self) {
        self.present.clear();
        self.integers.clear();
        self.booleans.clear();
        self.codes.clear();
        self.texts.clear();
        self.ends.clear();
    }

    /// Appends integers. What is over 63 bits becomes the largest number.
    pub(super) fn integers(&mut self, numbers: impl Iterator<Item = u64>) {
        self.integers.extend(numbers.map(signed));
    }

    /// Appends integers that may be absent.
    pub(super) fn optional_integers(&mut self, numbers: impl Iterator<Item = Option<i64>>) {
        for number in numbers {
            self.present.push(number.is_some());
            self.integers.extend(number);
        }
    }

    /// Appends truth values.
    pub(super) fn booleans(&mut self, values: impl Iterator<Item = bool>) {
        self.booleans.extend(values);
    }

    /// Appends truth values that may be absent.
    pub(super) fn optional_booleans(&mut self, values: impl Iterator<Item = Option<bool>>) {
        for value in values {
            self.present.push(value.is_some());
            self.booleans.extend(value);
        }
    }

    /// Appends codes of texts.
    pub(super) fn codes(&mut self, codes: impl Iterator<Item = u32>) {
        self.codes.extend(codes);
    }

    /// Appends codes of texts that may be absent.
    pub(super) fn optional_codes(&mut self, codes: impl Iterator<Item = Option<u32>>) {
        for code in codes {
            self.present.push(code.is_some());
            self.codes.extend(code);
        }
    }

    /// Appends a text.
    pub(super) fn text(&mut self, text: &str) {
        self.texts.push_str(text);
        self.end_text();
    }

    /// Appends a text, or an absent cell.
    pub(super) fn optional_text(&mut self, text: Option<&str>) {
        self.present.push(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// Ends a text that was appended to [`TableCells::texts`].
    pub(super) fn end_text(&mut self) {
        self.ends.push(self.texts.len());
    }

    /// Whether the row has a cell.
    #[inline]
    pub(super) fn is_present(&self, row: usize) -> bool {
        self.present.get(row) != Some(&false)
    }

    /// The text with this number.
    #[inline]
    pub(super) fn text_at(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[number]]
    }
}

/// The number, or the largest one of 63 bits.
#[inline]
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
