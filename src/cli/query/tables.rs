//! The columns of tables that `convert` writes, as SQL has them.

use super::relation::{Column, Kind};
use crate::output::tables::{CellKind, Table, TableColumn};
use std::borrow::Cow;

/// The columns of a table.
pub(super) fn columns(table: Table) -> Vec<Column> {
    table.columns().iter().map(column).collect()
}

pub(super) fn column(of: &TableColumn) -> Column {
    let kind = match of.kind {
        CellKind::Integer | CellKind::SmallInteger => Kind::Integer,
        CellKind::Boolean => Kind::Boolean,
        CellKind::Text => Kind::Text,
    };
    Column { name: of.name.clone(), kind }
}

/// The columns of a table that only SQL has.
pub(super) fn own(columns: &[(&'static str, Kind)]) -> Vec<Column> {
    let column =
        |(name, kind): &(&'static str, Kind)| Column { name: Cow::Borrowed(name), kind: *kind };
    columns.iter().map(column).collect()
}
