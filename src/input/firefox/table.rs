//! Tables: columns of numbers, in both layouts.

use crate::error::Result;
use crate::input::json::{Scanner, Text, ValueKind};

/// The wanted columns of a table. A value that is not a number is NaN.
#[derive(Clone, Debug)]
pub(super) struct Table<'a, const N: usize> {
    columns: [Vec<f64>; N],
    /// The columns that have numbers.
    has: [bool; N],
    /// The text `weightType`.
    pub(super) weight_type: Text<'a>,
}

impl<const N: usize> Default for Table<'_, N> {
    fn default() -> Self {
        Self {
            columns: std::array::from_fn(|_| Vec::new()),
            has: [false; N],
            weight_type: Text::default(),
        }
    }
}

impl<'a, const N: usize> Table<'a, N> {
    /// Reads a table with columns of these names. Fails at the first place that is not JSON.
    pub(super) fn read(scanner: &mut Scanner<'a>, names: [&str; N]) -> Result<Self> {
        let mut table = Self::default();
        // The position of each column in a row.
        let mut places = [usize::MAX; N];
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            let row = names.iter().position(|name| name.as_bytes() == key.raw());
            match (row.and_then(|row| table.columns.get_mut(row)), scanner.peek()?) {
                (Some(column), ValueKind::Array) => {
                    column.clear();
                    scanner.begin_array()?;
                    while scanner.item()? {
                        column.push(number(scanner)?);
                    }
                }
                (None, ValueKind::Object) if key.raw() == b"schema" => {
                    scanner.begin_object()?;
                    while let Some(key) = scanner.key()? {
                        let at = number(scanner)?;
                        let column = names.iter().position(|name| name.as_bytes() == key.raw());
                        if let Some(place) = column.and_then(|column| places.get_mut(column)) {
                            *place = at as usize;
                        }
                    }
                }
                (None, ValueKind::Array) if key.raw() == b"data" => {
                    table.rows(scanner, places)?;
                }
                (None, ValueKind::String) if key.raw() == b"weightType" => {
                    table.weight_type = scanner.text()?;
                }
                _ => scanner.skip()?,
            }
        }
        for (has, column) in table.has.iter_mut().zip(&table.columns) {
            *has = column.iter().any(|cell| cell.is_finite());
        }
        Ok(table)
    }

    fn rows(&mut self, scanner: &mut Scanner<'a>, places: [usize; N]) -> Result<()> {
        scanner.items_of(ValueKind::Array, |scanner| {
            let mut row = [f64::NAN; N];
            let mut at = 0_usize;
            scanner.begin_array()?;
            while scanner.item()? {
                match places.iter().position(|place| *place == at).and_then(|at| row.get_mut(at)) {
                    Some(cell) => *cell = number(scanner)?,
                    None => scanner.skip()?,
                }
                at = at.saturating_add(1);
            }
            self.columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
            Ok(())
        })
    }

    pub(super) fn len(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0)
    }

    pub(super) fn has(&self, column: usize) -> bool {
        self.has.get(column).copied().unwrap_or(false)
    }

    /// The number in a cell. `None` if the cell is `null` or missing.
    pub(super) fn number(&self, column: usize, row: usize) -> Option<f64> {
        self.columns.get(column)?.get(row).copied().filter(|number| number.is_finite())
    }

    /// A cell that refers to a row or a text. `None` also for -1, which old versions write.
    pub(super) fn index(&self, column: usize, row: usize) -> Option<usize> {
        self.number(column, row).filter(|number| *number >= 0.0).map(|number| number as usize)
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        let cells = self.columns.iter().map(|column| column.capacity() as u64);
        cells.fold(0, u64::saturating_add).saturating_mul(size_of::<f64>() as u64)
    }
}

fn number(scanner: &mut Scanner<'_>) -> Result<f64> {
    if scanner.peek()? == ValueKind::Number {
        return scanner.number()?.float();
    }
    scanner.skip()?;
    Ok(f64::NAN)
}
