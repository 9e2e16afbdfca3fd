//! Columns: the name, kind, unit and meaning of their cells, and how cells are made.

use super::cells::CellBlock;
use super::row_numbers::{Key, RowNumbers};
use std::borrow::Cow;
use std::ops::Range;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, in snake case.
    pub name: Cow<'static, str>,
    /// The kind of its cells.
    pub kind: CellKind,
    /// The unit of its numbers.
    pub unit: Option<&'static str>,
    /// The meaning of its cells, in a sentence without a full stop.
    pub doc: &'static str,
    /// Whether and how cells can be absent.
    pub absent: Absent,
    /// The encoding in Parquet.
    pub encoding: ColumnEncoding,
}

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A signed integer of 64 bits: readers disagree about unsigned ones.
    Integer,
    /// A signed integer of 32 bits.
    SmallInteger,
    /// A boolean.
    Boolean,
    /// Text in UTF-8.
    Text,
}

impl CellKind {
    /// The name of the type in SQL, which determines how SQLite compares values.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Integer | Self::SmallInteger => "INTEGER",
            Self::Boolean => "BOOLEAN",
            Self::Text => "TEXT",
        }
    }
}

/// Whether cells of a column can be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Every row has a cell.
    Never,
    /// An absent cell is null, which is an empty field in CSV.
    Null,
    /// An absent text is empty, but null in JSON.
    Empty,
}

/// The encoding of a column in Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnEncoding {
    /// Differences to the previous number. For numbers that rise, and large ones.
    Delta,
    /// A dictionary of values. For numbers that repeat, and for texts with codes.
    Dictionary,
    /// The bytes in which a text differs from the previous one. For texts that hardly repeat.
    DeltaText,
    /// Runs of bits, for truth values.
    Bits,
}

impl Column {
    fn new(
        name: impl Into<Cow<'static, str>>,
        kind: CellKind,
        encoding: ColumnEncoding,
        doc: &'static str,
    ) -> Self {
        Self { name: name.into(), kind, unit: None, doc, absent: Absent::Never, encoding }
    }

    /// Integers that rise or rarely repeat.
    pub(super) fn number(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Integer, ColumnEncoding::Delta, doc)
    }

    /// Integers that repeat, such as sizes.
    pub(super) fn size(name: impl Into<Cow<'static, str>>, doc: &'static str) -> Self {
        Self::new(name, CellKind::Integer, ColumnEncoding::Dictionary, doc)
    }

    /// Small integers that repeat.
    pub(super) fn small(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::SmallInteger, ColumnEncoding::Dictionary, doc)
    }

    pub(super) fn boolean(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Boolean, ColumnEncoding::Bits, doc)
    }

    /// Texts that repeat, such as names.
    pub(super) fn name(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Text, ColumnEncoding::Dictionary, doc)
    }

    /// Texts that differ in every row.
    pub(super) fn text(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Text, ColumnEncoding::DeltaText, doc)
    }

    pub(super) fn bytes(self) -> Self {
        self.unit("bytes")
    }

    pub(super) fn microseconds(self) -> Self {
        self.unit("µs")
    }

    fn unit(mut self, unit: &'static str) -> Self {
        self.unit = Some(unit);
        self
    }

    pub(super) fn or_null(mut self) -> Self {
        self.absent = Absent::Null;
        self
    }

    pub(super) fn or_empty(mut self) -> Self {
        self.absent = Absent::Empty;
        self
    }

    pub(super) fn numbers<R>(
        self,
        number: impl Fn(&R, usize) -> u64 + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        self.of(move |this, rows, cells| cells.integers(rows.map(|row| number(this, row))))
    }

    /// Sets the number of each row, of which some have none.
    pub(super) fn optional_numbers<R>(
        self,
        number: impl Fn(&R, usize) -> Option<i64> + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        let fill = move |this: &R, rows: Range<usize>, cells: &mut CellBlock| {
            cells.optional_integers(rows.map(|row| number(this, row)));
        };
        self.or_null().of(fill)
    }

    /// Sets the truth value of each row.
    pub(super) fn booleans<R>(
        self,
        value: impl Fn(&R, usize) -> bool + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        self.of(move |this, rows, cells| cells.booleans.extend(rows.map(|row| value(this, row))))
    }

    /// Sets the code of each row's text.
    pub(super) fn codes<R>(
        self,
        code: impl Fn(&R, usize) -> u32 + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        self.of(move |this, rows, cells| cells.codes.extend(rows.map(|row| code(this, row))))
    }

    /// Sets the code of each row's text, which some rows do not have.
    pub(super) fn optional_codes<R>(
        self,
        code: impl Fn(&R, usize) -> Option<u32> + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        let fill = move |this: &R, rows: Range<usize>, cells: &mut CellBlock| {
            cells.optional_codes(rows.map(|row| code(this, row)));
        };
        self.or_null().of(fill)
    }

    pub(super) fn texts<R>(
        self,
        text: impl Fn(&R, usize) -> &str + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        self.of(move |this, rows, cells| rows.for_each(|row| cells.text(text(this, row))))
    }

    /// Sets the text of each row, which some rows do not have.
    pub(super) fn optional_texts<R>(
        self,
        text: impl Fn(&R, usize) -> Option<Cow<'_, str>> + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        self.or_null().of(move |this, rows, cells| {
            rows.for_each(|row| cells.optional_text(text(this, row).as_deref()));
        })
    }

    /// Sets the function that appends the cells of a range of rows, one cell per row.
    pub(super) fn of<R>(
        self,
        fill: impl Fn(&R, Range<usize>, &mut CellBlock) + Send + Sync + 'static,
    ) -> ColumnOf<R> {
        ColumnOf {
            column: self,
            fill: Box::new(fill),
            text: |_, _, _| "",
            prepare: |_| {},
            lookup: None,
        }
    }
}

/// Returns the text of a code that a column appended: a text of the rows, or one that is written to
/// the buffer, which must be empty.
type TextOf<R> = for<'c> fn(&'c R, u32, &'c mut String) -> &'c str;

type Fill<R> = dyn Fn(&R, Range<usize>, &mut CellBlock) + Send + Sync;

/// A column with the functions that make its cells from the rows `R`.
pub(super) struct ColumnOf<R> {
    pub(super) column: Column,
    pub(super) fill: Box<Fill<R>>,
    pub(super) text: TextOf<R>,
    pub(super) prepare: fn(&R),
    pub(super) lookup: Option<Lookup<R>>,
}

impl<R> ColumnOf<R> {
    pub(super) fn text(mut self, text: TextOf<R>) -> Self {
        self.text = text;
        self
    }

    /// Calls a function before a query reads the column.
    pub(super) fn after(mut self, prepare: fn(&R)) -> Self {
        self.prepare = prepare;
        self
    }

    /// Lets queries find rows by the column. `cost` returns the approximate rows per value.
    pub(super) fn found(
        mut self,
        cost: fn(&R) -> u64,
        find: fn(&R, Key<'_>) -> RowNumbers,
    ) -> Self {
        self.lookup = Some(Lookup { cost, find });
        self
    }
}

/// Finds rows by the value of a column.
pub(super) struct Lookup<R> {
    /// Returns about how many rows have the same value.
    pub(super) cost: fn(&R) -> u64,
    pub(super) find: fn(&R, Key<'_>) -> RowNumbers,
}
