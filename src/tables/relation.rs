//! [`Relation`]: the rows of a table, as read by all outputs.

use super::cells::CellBlock;
use super::column::{Column, ColumnOf};
use super::row_numbers::{Key, Order, RowNumbers};
use std::ops::Range;

/// The rows of a table, by number. CSV, JSON lines, Parquet and SQL read them a range of a column
/// at a time. A cell, and any analysis that it needs, is computed on first use.
pub trait Relation: Send + Sync {
    /// The name of the table.
    fn name(&self) -> &'static str;

    /// The columns.
    fn columns(&self) -> Vec<&Column>;

    /// The number of rows.
    fn len(&self) -> usize;

    /// Replaces the cells by those of a column in these rows, which must exist.
    fn fill(&self, column: usize, rows: Range<usize>, cells: &mut CellBlock);

    /// The text of a code in the cells of a column. `text` is an empty buffer for texts that the
    /// dump does not have as such.
    fn text<'c>(&'c self, column: usize, code: u32, text: &'c mut String) -> &'c str;

    /// Announces a column that a query reads, before the query begins.
    fn prepare(&self, column: usize);

    /// About the number of rows with one value of a column; `None` if [`Relation::find`] cannot
    /// find them.
    fn lookup_cost(&self, column: usize) -> Option<u64>;

    /// The rows in which a column has a value, and possibly others.
    fn find(&self, column: usize, key: Key<'_>) -> RowNumbers;

    /// Whether [`Relation::ordered`] has rows for this order.
    fn has_order(&self, by: &[Order<'_>]) -> bool;

    /// All rows in this order; `None` if they would have to be sorted.
    fn ordered(&self, by: &[Order<'_>]) -> Option<RowNumbers>;
}

/// The declaration of a table: its columns, and the functions that make their cells.
pub(super) trait Rows: Send + Sync + Sized {
    fn columns() -> Vec<ColumnOf<Self>>;

    /// The columns that only this dump has, after the others.
    fn own_columns(&self) -> Vec<ColumnOf<Self>> {
        Vec::new()
    }

    /// The number of rows.
    fn len(&self) -> usize;

    /// Whether [`Rows::ordered`] has rows for this order.
    fn has_order(&self, by: &[Order<'_>]) -> bool {
        by.is_empty()
    }

    /// All rows in an order for which [`Rows::has_order`] is true.
    fn ordered(&self, _by: &[Order<'_>]) -> RowNumbers {
        RowNumbers::Range(0..self.len())
    }
}

/// The column with the numbers of the rows, by which they are found.
pub(super) fn row_numbers<R: Rows>(name: &'static str) -> ColumnOf<R> {
    Column::number(name, "The number of the row")
        .numbers(|_: &R, row| row as u64)
        .found(|_| 1, |this, key| RowNumbers::row(key.number(), this.len()))
}

/// The columns that every dump has, without their cells.
pub(super) fn declared<R: Rows>() -> Vec<Column> {
    R::columns().into_iter().map(|made| made.column).collect()
}

pub(super) fn relation<'r, R: Rows + 'r>(name: &'static str, rows: R) -> Box<dyn Relation + 'r> {
    let mut columns = R::columns();
    columns.extend(rows.own_columns());
    Box::new(Declared { name, columns, rows })
}

struct Declared<R> {
    name: &'static str,
    columns: Vec<ColumnOf<R>>,
    rows: R,
}

impl<R: Rows> Relation for Declared<R> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn columns(&self) -> Vec<&Column> {
        self.columns.iter().map(|made| &made.column).collect()
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn fill(&self, column: usize, rows: Range<usize>, cells: &mut CellBlock) {
        cells.clear();
        (self.columns[column].fill)(&self.rows, rows, cells);
    }

    fn text<'c>(&'c self, column: usize, code: u32, text: &'c mut String) -> &'c str {
        (self.columns[column].text)(&self.rows, code, text)
    }

    fn prepare(&self, column: usize) {
        (self.columns[column].prepare)(&self.rows);
    }

    fn lookup_cost(&self, column: usize) -> Option<u64> {
        Some((self.columns.get(column)?.lookup.as_ref()?.cost)(&self.rows))
    }

    fn find(&self, column: usize, key: Key<'_>) -> RowNumbers {
        let lookup = self.columns[column].lookup.as_ref();
        lookup.map_or(RowNumbers::Range(0..self.len()), |lookup| (lookup.find)(&self.rows, key))
    }

    fn has_order(&self, by: &[Order<'_>]) -> bool {
        self.rows.has_order(by)
    }

    fn ordered(&self, by: &[Order<'_>]) -> Option<RowNumbers> {
        self.rows.has_order(by).then(|| self.rows.ordered(by))
    }
}
