//! A table as CSV or JSON lines.

use super::{Absent, CellKind, TableCells, TableColumn, TableRows};
use crate::output::{Syntax, csv_error, json};
use std::borrow::Cow;
use std::io::{self, Write};

/// Rows whose cells are in memory at a time.
const BLOCK: usize = 4096;

/// Writes a table and returns its number of rows. Memory: nothing that grows with the rows.
///
/// # Errors
/// When the output cannot be written.
pub fn write(rows: &mut dyn TableRows, syntax: Syntax, out: impl Write) -> io::Result<u64> {
    let columns = rows.columns();
    match syntax {
        Syntax::Csv => {
            let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(out);
            csv.write_record(columns.iter().map(|column| column.name.as_bytes()))
                .map_err(csv_error)?;
            let mut integer = itoa::Buffer::new();
            each_row(rows, &columns, |cells| {
                for (_, cell) in cells {
                    match cell {
                        Cell::Absent => csv.write_field(""),
                        Cell::Integer(number) => csv.write_field(integer.format(number)),
                        Cell::Boolean(value) => csv.write_field(boolean(value)),
                        Cell::Text(text) => csv.write_field(&*text),
                    }
                    .map_err(csv_error)?;
                }
                csv.write_record(None::<&[u8]>).map_err(csv_error)
            })?;
            csv.flush()?;
        }
        Syntax::Jsonl => {
            let mut out = out;
            let keys: Vec<String> = columns.iter().enumerate().map(key).collect();
            each_row(rows, &columns, |cells| {
                for (column, cell) in cells {
                    out.write_all(keys[column].as_bytes())?;
                    match cell {
                        Cell::Absent => out.write_all(b"null")?,
                        Cell::Integer(number) => json::integer(&mut out, number)?,
                        Cell::Boolean(value) => out.write_all(boolean(value).as_bytes())?,
                        Cell::Text(text) if text.is_empty() && is_null(&columns[column]) => {
                            out.write_all(b"null")?
                        }
                        Cell::Text(text) => json::line(&mut out, &*text)?,
                    }
                }
                out.write_all(b"}\n")
            })?;
            out.flush()?;
        }
    }
    Ok(rows.len() as u64)
}

enum Cell<'c> {
    Absent,
    Integer(i64),
    Boolean(bool),
    Text(Cow<'c, str>),
}

/// Calls `row` with the cells of each row, by the number of their column.
fn each_row(
    rows: &mut dyn TableRows,
    columns: &[TableColumn],
    mut row: impl FnMut(&mut dyn Iterator<Item = (usize, Cell<'_>)>) -> io::Result<()>,
) -> io::Result<()> {
    let mut blocks: Vec<TableCells> = columns.iter().map(|_| TableCells::default()).collect();
    let mut next = vec![0; columns.len()];
    for start in (0..rows.len()).step_by(BLOCK) {
        let range = start..(start + BLOCK).min(rows.len());
        for (column, cells) in columns.iter().zip(&mut blocks) {
            cells.clear();
            rows.fill(&column.name, range.clone(), cells);
        }
        next.fill(0);
        let rows = &*rows;
        for number in 0..range.len() {
            let cells = columns.iter().zip(&blocks).zip(&mut next);
            let mut cells = cells.enumerate().map(|(at, ((column, cells), next))| {
                if !cells.is_present(number) {
                    return (at, Cell::Absent);
                }
                let value = *next;
                *next += 1;
                (at, cell(rows, column, cells, value))
            });
            row(&mut cells)?;
        }
    }
    Ok(())
}

/// The value with this number.
fn cell<'c>(
    rows: &'c dyn TableRows,
    column: &TableColumn,
    cells: &'c TableCells,
    number: usize,
) -> Cell<'c> {
    match column.kind {
        CellKind::Integer | CellKind::SmallInteger => Cell::Integer(cells.integers[number]),
        CellKind::Boolean => Cell::Boolean(cells.booleans[number]),
        CellKind::Text => Cell::Text(match cells.codes.get(number) {
            Some(code) => rows.text(&column.name, *code),
            None => cells.text_at(number).into(),
        }),
    }
}

/// Returns the text before the value of a column: `{"object":`, `,"id":`.
fn key((number, column): (usize, &TableColumn)) -> String {
    let name = json::text(&serde_json::Value::from(&*column.name));
    format!("{}{name}:", if number == 0 { '{' } else { ',' })
}

/// Whether an empty text is null in JSON.
fn is_null(column: &TableColumn) -> bool {
    column.absent == Absent::Empty
}

fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
