//! Shows a [`Relation`] to SQLite as a virtual table.
//!
//! The traits of rusqlite are unsafe to implement because SQLite writes to the beginning of both
//! structures: each is `repr(C)` and begins with the structure of SQLite. Nothing else here is
//! unsafe.
#![allow(unsafe_code)]

use super::relations::Relations;
use crate::cli::lock;
use crate::tables::{
    Cell, CellBlock, CellKind, Column, Key, Order, Relation, RowNumbers, Table as Known,
};
use rusqlite::ffi::{sqlite3_vtab, sqlite3_vtab_cursor};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConnection,
    VTabCursor, VTabKind,
};
use rusqlite::{Connection, Error, Result};
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_int};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The tables of one schema.
pub(super) type Tables = Vec<Arc<Shared>>;

/// A table with the state that its cursors share.
pub(super) struct Shared {
    relations: Arc<Relations>,
    /// The number of the table in its file.
    number: usize,
    plans: Mutex<Vec<Arc<Plan>>>,
    visited: AtomicU64,
}

impl Shared {
    pub(super) fn new(relations: Arc<Relations>, number: usize) -> Arc<Self> {
        Arc::new(Self { relations, number, plans: Mutex::default(), visited: AtomicU64::new(0) })
    }

    pub(super) fn relation(&self) -> &dyn Relation {
        &*self.relations.borrow_dependent()[self.number]
    }

    /// The name in SQL: `refs` for `references`, which is a keyword.
    pub(super) fn name(&self) -> &'static str {
        let name = self.relation().name();
        if name == Known::References.name() { "refs" } else { name }
    }

    /// The number of rows that queries have looked at.
    pub(super) fn visited(&self) -> u64 {
        self.visited.load(Ordering::Relaxed)
    }
}

/// The way to read a table.
#[derive(Default)]
struct Plan {
    /// The column whose value the argument gives. `None` to read all rows.
    lookup: Option<usize>,
    /// The columns of the order, and whether large values come first.
    order: Vec<(usize, bool)>,
    /// One bit for each column that is read.
    used: u64,
}

pub(super) fn create(connection: &Connection, schemas: Vec<(&'static str, Tables)>) -> Result<()> {
    const MODULE: &Module<'static, Table> = &Module::read_only_module();
    let names: Vec<(&str, &str)> = schemas
        .iter()
        .flat_map(|(schema, tables)| tables.iter().map(|shared| (*schema, shared.name())))
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
    rows: RowNumbers,
    row: Option<usize>,
    visited: u64,
    kinds: Vec<CellKind>,
    read: RefCell<Read>,
}

/// Cells that have been computed.
#[derive(Default)]
struct Read {
    /// The cells, by column.
    blocks: Vec<Block>,
    text: String,
}

/// Cells of a column in consecutive rows.
#[derive(Default)]
struct Block {
    rows: Range<usize>,
    cells: CellBlock,
}

/// Maximum number of rows of a block.
const BLOCK: usize = 4096;

impl Block {
    /// Computes a row if necessary, with a growing number of rows after it if reads are in order.
    fn read(&mut self, relation: &dyn Relation, column: usize, row: usize) {
        let Range { start, end } = self.rows;
        if (start..end).contains(&row) {
            return;
        }
        let is_near = (end..=end + (end - start)).contains(&row);
        let count = if is_near { (2 * (end - start)).clamp(1, BLOCK) } else { 1 };
        self.rows = row..(row + count).min(relation.len());
        relation.fill(column, self.rows.clone(), &mut self.cells);
    }
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
            .find(|shared| shared.name().as_bytes() == table)
            .ok_or_else(|| Error::ModuleError("no such table".to_owned()))?;
        let declaration = declaration(&shared.relation().columns());
        let table = Self { base: sqlite3_vtab::default(), shared: Arc::clone(shared) };
        Ok((Cow::Owned(CString::new(declaration)?), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let relation = self.shared.relation();
        let mut plan = Plan { used: info.col_used(), ..Plan::default() };
        let (rows, cost) = match cheapest(relation, info)? {
            Some((number, column, rows)) => {
                info.constraint_usage(number).set_argv_index(1);
                plan.lookup = Some(column);
                (rows, rows as f64 + 1.0)
            }
            None => {
                let column = |column| usize::try_from(column).unwrap_or(usize::MAX);
                let order = info.order_bys().map(|by| (column(by.column()), by.is_order_by_desc()));
                let order: Vec<(usize, bool)> = order.collect();
                if !order.is_empty() && relation.has_order(&named(&relation.columns(), &order)) {
                    info.set_order_by_consumed(true);
                    plan.order = order;
                }
                (relation.len() as u64, relation.len() as f64 + 10.0)
            }
        };
        info.set_estimated_rows(i64::try_from(rows).unwrap_or(i64::MAX));
        info.set_estimated_cost(cost);
        let mut plans = lock(&self.shared.plans);
        info.set_idx_num(c_int::try_from(plans.len()).unwrap_or(c_int::MAX));
        plans.push(Arc::new(plan));
        Ok(true)
    }

    fn open(&mut self) -> Result<Cursor> {
        let kinds: Vec<CellKind> =
            self.shared.relation().columns().iter().map(|column| column.kind).collect();
        let blocks = kinds.iter().map(|_| Block::default()).collect();
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            shared: Arc::clone(&self.shared),
            rows: RowNumbers::Range(0..0),
            row: None,
            visited: 0,
            kinds,
            read: RefCell::new(Read { blocks, text: String::new() }),
        })
    }
}

/// The constraint that finds the fewest rows: its number, its column and the approximate number of
/// rows.
fn cheapest(relation: &dyn Relation, info: &IndexInfo) -> Result<Option<(usize, usize, u64)>> {
    let mut best: Option<(usize, usize, u64)> = None;
    for (number, constraint) in info.constraints().enumerate() {
        let is_equal = constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ;
        // Indexes compare bytes; other collations, such as `nocase`, match more.
        if !is_equal || !constraint.is_usable() || info.collation(number)? != "BINARY" {
            continue;
        }
        let Ok(column) = usize::try_from(constraint.column()) else { continue };
        if let Some(rows) = relation.lookup_cost(column)
            && best.is_none_or(|(_, _, fewest)| rows < fewest)
        {
            best = Some((number, column, rows));
        }
    }
    Ok(best)
}

fn named<'c>(columns: &[&'c Column], order: &[(usize, bool)]) -> Vec<Order<'c>> {
    let name = |column: usize| columns.get(column).map_or("", |column| &column.name);
    order
        .iter()
        .map(|&(column, is_descending)| Order { column: name(column), is_descending })
        .collect()
}

impl CreateVTab<'_> for Table {
    const KIND: VTabKind = VTabKind::Default;
}

/// The columns as SQL. Names of a file can hold anything.
fn declaration(columns: &[&Column]) -> String {
    let column = |column: &&Column| {
        let name = column.name.replace('\0', "\u{fffd}").replace('"', "\"\"");
        format!("\"{name}\" {}", column.kind.sql())
    };
    format!("CREATE TABLE x({})", columns.iter().map(column).collect::<Vec<_>>().join(", "))
}

// SAFETY: the structure is `repr(C)` and begins with `sqlite3_vtab_cursor`.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, plan: c_int, _: Option<&str>, args: &Filters<'_>) -> Result<()> {
        let plan = usize::try_from(plan).ok();
        let plan = plan.and_then(|plan| lock(&self.shared.plans).get(plan).cloned());
        let plan = plan.unwrap_or_default();
        let relation = self.shared.relation();
        // The last bit stands for all columns from 63 on.
        let is_used = |column: &usize| plan.used >> (*column).min(63) & 1 == 1;
        (0..self.kinds.len()).filter(is_used).for_each(|column| relation.prepare(column));
        let all = RowNumbers::Range(0..relation.len());
        self.rows = match (plan.lookup, args.iter().next()) {
            (Some(column), Some(value)) => match key(self.kinds[column], value) {
                Sought::Key(key) => relation.find(column, key),
                Sought::Nothing => RowNumbers::Range(0..0),
                Sought::Unknown => all,
            },
            _ => relation.ordered(&named(&relation.columns(), &plan.order)).unwrap_or(all),
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
        let relation = self.shared.relation();
        let mut read = self.read.borrow_mut();
        let Read { blocks, text } = &mut *read;
        let block = &mut blocks[column];
        block.read(relation, column, row);
        text.clear();
        let (place, column) = (row - block.rows.start, (column, self.kinds[column]));
        context.set_result(ToSqlOutput::Borrowed(
            match block.cells.cell(relation, column, place, text) {
                Cell::Absent => ValueRef::Null,
                Cell::Integer(number) => ValueRef::Integer(number),
                Cell::Boolean(value) => ValueRef::Integer(value.into()),
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
    /// SQLite may convert the value before the comparison, so all rows must be read.
    Unknown,
}

fn key(kind: CellKind, value: ValueRef<'_>) -> Sought<'_> {
    match (kind, value) {
        (_, ValueRef::Null) => Sought::Nothing,
        (CellKind::Integer | CellKind::SmallInteger, ValueRef::Integer(number)) => {
            Sought::Key(Key::Number(number))
        }
        (CellKind::Text, ValueRef::Text(text)) => match std::str::from_utf8(text) {
            Ok(text) => Sought::Key(Key::Text(text)),
            Err(_) => Sought::Unknown,
        },
        _ => Sought::Unknown,
    }
}
