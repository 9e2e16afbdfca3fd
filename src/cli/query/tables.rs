//! Tables with their columns: those that `convert` writes, as SQL has them, and those of SQL alone.

use super::relation::{Column, Kind, Relation, SqlTable};
use crate::output::tables::{CellKind, Table, TableColumn};
use std::borrow::Cow;

impl SqlTable {
    /// A table that `convert` writes as well.
    pub(super) fn of(table: Table, rows: impl Relation + 'static) -> Self {
        let columns = table.columns().iter().map(column).collect();
        Self { name: table.name(), columns, rows: Box::new(rows) }
    }

    /// A table that only SQL has.
    pub(super) fn own(
        name: &'static str,
        columns: &[(&'static str, Kind)],
        rows: impl Relation + 'static,
    ) -> Self {
        let column = |&(name, kind)| Column { name: Cow::Borrowed(name), kind };
        Self { name, columns: columns.iter().map(column).collect(), rows: Box::new(rows) }
    }
}

/// A column of a table that `convert` writes.
pub(super) fn column(of: &TableColumn) -> Column {
    let kind = match of.kind {
        CellKind::Integer | CellKind::SmallInteger => Kind::Integer,
        CellKind::Boolean => Kind::Boolean,
        CellKind::Text => Kind::Text,
    };
    Column { name: of.name.clone(), kind }
}
