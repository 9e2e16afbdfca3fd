//! Shows a [`Relation`] to SQLite as a virtual table.
//!
//! The traits of rusqlite are unsafe to implement because SQLite writes to the beginning of both
//! structures: each is `repr(C)` and begins with the structure of SQLite. Nothing else here is
//! unsafe.
#![allow(unsafe_code)]

use super::relation::{At, Cell, Column, Key, Kind, Lookup, Order, Rows, SqlTable};
use rusqlite::ffi::{sqlite3_vtab, sqlite3_vtab_cursor};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConnection,
    VTabCursor, VTabKind,
};
use rusqlite::{Connection, Error, Result};
use std::borrow::Cow;
use std::cell::{Cell as Hint, RefCell};
use std::ffi::{CStr, CString, c_int};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The tables of one schema.
pub(super) type Tables = Vec<Arc<Shared>>;

/// A table with what its cursors share.
pub(super) struct Shared {
    pub(super) table: SqlTable,
    plans: Mutex<Vec<Arc<Plan>>>,
    visited: AtomicU64,
}

impl Shared {
    pub(super) fn new(table: SqlTable) -> Arc<Self> {
        Arc::new(Self { table, plans: Mutex::default(), visited: AtomicU64::new(0) })
    }

    /// The number of rows that queries have looked at.
    pub(super) fn visited(&self) -> u64 {
        self.visited.load(Ordering::Relaxed)
    }

    fn plans(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Plan>>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to read a table.
#[derive(Default)]
struct Plan {
    /// The column whose value is the argument.
    lookup: Option<usize>,
    order: Vec<Order>,
    /// One bit for each column that is read.
    used: u64,
}

/// Adds the tables of a schema to a connection.
pub(super) fn create(connection: &Connection, schemas: Vec<(&'static str, Tables)>) -> Result<()> {
    const MODULE: &Module<'static, Table> = &Module::read_only_module();
    let names: Vec<(&str, &str)> = schemas
        .iter()
        .flat_map(|(schema, tables)| tables.iter().map(|shared| (*schema, shared.table.name)))
        .collect();
    connection.create_module(c"dumptool", MODULE, Some(schemas))?;
    names.iter().try_for_each(|(schema, table)| {
        connection.execute_batch(&format!("CREATE VIRTUAL TABLE {schema}.{table} USING dumptool"))
    })
}

#[repr(C)]
struct Table {
    base: sqlite3_vtab,
    shared: Arc<Shared>,
}

#[repr(C)]
struct Cursor {
    base: sqlite3_vtab_cursor,
    shared: Arc<Shared>,
    rows: Rows,
    row: Option<u64>,
    visited: u64,
    hint: Hint<u32>,
    text: RefCell<String>,
}

// SAFETY: the structure is `repr(C)` and begins with `sqlite3_vtab`.
unsafe impl VTab<'_> for Table {
    type Aux = Vec<(&'static str, Tables)>;
    type Cursor = Cursor;

    fn connect(
        _: &mut VTabConnection,
        schemas: Option<&Self::Aux>,
        _: &[u8],
        schema: &[u8],
        table: &[u8],
        _: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let shared = schemas
            .into_iter()
            .flatten()
            .filter(|(name, _)| name.as_bytes() == schema)
            .flat_map(|(_, tables)| tables)
            .find(|shared| shared.table.name.as_bytes() == table)
            .ok_or_else(|| Error::ModuleError("no such table".to_owned()))?;
        let declaration = declaration(&shared.table.columns);
        let table = Self { base: sqlite3_vtab::default(), shared: Arc::clone(shared) };
        Ok((Cow::Owned(CString::new(declaration)?), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let relation = &self.shared.table.rows;
        let rows = relation.len();
        let mut best: Option<(usize, Lookup)> = None;
        let lookups = relation.lookups();
        for (number, constraint) in info.constraints().enumerate() {
            let is_equal = constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ;
            if !is_equal || !constraint.is_usable() {
                continue;
            }
            // Indexes compare bytes; `collate nocase` finds more.
            if info.collation(number)? != "BINARY" {
                continue;
            }
            let found = lookups.iter().find(|lookup| lookup.column as c_int == constraint.column());
            if let Some(found) = found
                && best.as_ref().is_none_or(|(_, best)| found.rows < best.rows)
            {
                let (column, rows) = (found.column, found.rows);
                best = Some((number, Lookup { column, rows }));
            }
        }
        let mut plan = Plan { used: info.col_used(), ..Plan::default() };
        match best {
            Some((number, lookup)) => {
                info.constraint_usage(number).set_argv_index(1);
                plan.lookup = Some(lookup.column);
                info.set_estimated_rows(i64::try_from(lookup.rows).unwrap_or(i64::MAX));
                info.set_estimated_cost(lookup.rows as f64 + 1.0);
            }
            None => {
                let order: Vec<Order> = info
                    .order_bys()
                    .map(|by| Order {
                        column: usize::try_from(by.column()).unwrap_or(usize::MAX),
                        is_descending: by.is_order_by_desc(),
                    })
                    .collect();
                if !order.is_empty() && relation.has_order(&order) {
                    info.set_order_by_consumed(true);
                    plan.order = order;
                }
                info.set_estimated_rows(i64::try_from(rows).unwrap_or(i64::MAX));
                info.set_estimated_cost(rows as f64 + 10.0);
            }
        }
        let mut plans = self.shared.plans();
        info.set_idx_num(c_int::try_from(plans.len()).unwrap_or(c_int::MAX));
        plans.push(Arc::new(plan));
        Ok(true)
    }

    fn open(&mut self) -> Result<Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            shared: Arc::clone(&self.shared),
            rows: Rows::none(),
            row: None,
            visited: 0,
            hint: Hint::new(0),
            text: RefCell::default(),
        })
    }
}

impl CreateVTab<'_> for Table {
    const KIND: VTabKind = VTabKind::Default;
}

/// The columns as SQL. Names of a file can hold anything.
fn declaration(columns: &[Column]) -> String {
    let column = |column: &Column| {
        let name = column.name.replace('\0', "\u{fffd}").replace('"', "\"\"");
        format!("\"{name}\" {}", column.kind.name())
    };
    format!("CREATE TABLE x({})", columns.iter().map(column).collect::<Vec<_>>().join(", "))
}

// SAFETY: the structure is `repr(C)` and begins with `sqlite3_vtab_cursor`.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, plan: c_int, _: Option<&str>, args: &Filters<'_>) -> Result<()> {
        let plan =
            usize::try_from(plan).ok().and_then(|plan| self.shared.plans().get(plan).cloned());
        let plan = plan.unwrap_or_default();
        let relation = &self.shared.table.rows;
        relation.prepare(plan.used);
        self.rows = match (plan.lookup, args.iter().next()) {
            (Some(column), Some(value)) => match key(self.shared.table.columns[column].kind, value)
            {
                Sought::Key(key) => relation.find(column, key),
                Sought::Nothing => Rows::none(),
                Sought::Unknown => Rows::Range(0..relation.len()),
            },
            _ => relation.ordered(&plan.order).unwrap_or_else(|| Rows::Range(0..relation.len())),
        };
        self.next()
    }

    #[inline]
    fn next(&mut self) -> Result<()> {
        self.row = self.rows.next();
        self.visited += u64::from(self.row.is_some());
        Ok(())
    }

    #[inline]
    fn eof(&self) -> bool {
        self.row.is_none()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let (Some(row), Ok(column)) = (self.row, usize::try_from(column)) else { return Ok(()) };
        let mut text = self.text.borrow_mut();
        text.clear();
        let at = At { row, hint: &self.hint };
        context.set_result(ToSqlOutput::Borrowed(
            match self.shared.table.rows.cell(at, column, &mut text) {
                Cell::Null => ValueRef::Null,
                Cell::Integer(number) => ValueRef::Integer(number),
                Cell::Text(text) => ValueRef::Text(text.as_bytes()),
            },
        ))
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row.and_then(|row| i64::try_from(row).ok()).unwrap_or(0))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.shared.visited.fetch_add(self.visited, Ordering::Relaxed);
    }
}

/// The value that a lookup searches for.
enum Sought<'k> {
    Key(Key<'k>),
    /// No row is equal to null.
    Nothing,
    /// SQLite may convert the value before it compares: it has to look at all rows.
    Unknown,
}

fn key(kind: Kind, value: ValueRef<'_>) -> Sought<'_> {
    match (kind, value) {
        (_, ValueRef::Null) => Sought::Nothing,
        (Kind::Integer, ValueRef::Integer(number)) => Sought::Key(Key::Number(number)),
        (Kind::Text, ValueRef::Text(text)) => match std::str::from_utf8(text) {
            Ok(text) => Sought::Key(Key::Text(text)),
            Err(_) => Sought::Unknown,
        },
        _ => Sought::Unknown,
    }
}
