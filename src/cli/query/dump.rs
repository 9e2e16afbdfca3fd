//! `dump`: one row about the file itself.

use super::relation::{At, Cell, Relation};
use crate::cli::dump_row;
use crate::cli::heap::HeldHeap;
use crate::cli::open::Input;
use crate::output::tables::{DumpRow, DumpValue, Table};
use std::sync::{Arc, OnceLock};

pub(super) struct Dump {
    input: Input,
    damage: Option<String>,
    /// None for profiles.
    held: Option<Arc<HeldHeap>>,
    row: OnceLock<DumpRow>,
}

impl Dump {
    pub(super) fn of(input: &Input, damage: Option<String>, held: Option<Arc<HeldHeap>>) -> Self {
        Self { input: input.clone(), damage, held, row: OnceLock::new() }
    }

    fn row(&self) -> &DumpRow {
        self.row.get_or_init(|| {
            let heap = self.held.as_ref().map(|held| (&**held.get(), held.get().tree()));
            let row = dump_row::read(&self.input, self.damage.clone(), heap);
            // The file could be loaded; if it cannot be read again, this much is known of it.
            row.unwrap_or_else(|_| dump_row::known(&self.input, self.damage.clone()))
        })
    }
}

impl Relation for Dump {
    fn len(&self) -> u64 {
        1
    }

    fn cell<'c>(&'c self, _: At<'_>, column: usize, _: &'c mut String) -> Cell<'c> {
        let column = Table::Dump.columns().get(column);
        let value = column.and_then(|column| self.row().value(&column.name));
        match value {
            None => Cell::Null,
            Some(DumpValue::Integer(number)) => number.into(),
            Some(DumpValue::Boolean(value)) => value.into(),
            Some(DumpValue::Text(text)) => text.into(),
        }
    }
}
