//! A table as CSV or JSON lines.

use super::{Absent, Cell, CellBlock, CellKind, Column, Relation};
use crate::output::{Syntax, csv_error, json};
use std::io::{self, Write};

/// The number of rows whose cells are in memory at a time.
const BLOCK: usize = 4096;

/// Writes a table and returns its number of rows. Takes constant memory. Fails when the output
/// cannot be written.
pub fn write(relation: &dyn Relation, syntax: Syntax, out: impl Write) -> io::Result<u64> {
    let columns = relation.columns();
    match syntax {
        Syntax::Csv => {
            let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(out);
            csv.write_record(columns.iter().map(|column| column.name.as_bytes()))
                .map_err(csv_error)?;
            let mut integer = itoa::Buffer::new();
            each_cell(relation, &columns, |column, cell| {
                match cell {
                    Cell::Absent => csv.write_field(""),
                    Cell::Integer(number) => csv.write_field(integer.format(number)),
                    Cell::Boolean(value) => csv.write_field(boolean(value)),
                    Cell::Text(text) => csv.write_field(text),
                }
                .map_err(csv_error)?;
                if column + 1 < columns.len() {
                    return Ok(());
                }
                csv.write_record(None::<&[u8]>).map_err(csv_error)
            })?;
            csv.flush()?;
        }
        Syntax::Jsonl => {
            let mut out = out;
            let keys: Vec<String> = columns.iter().enumerate().map(key).collect();
            each_cell(relation, &columns, |column, cell| {
                out.write_all(keys[column].as_bytes())?;
                match cell {
                    Cell::Absent => out.write_all(b"null")?,
                    Cell::Integer(number) => json::integer(&mut out, number)?,
                    Cell::Boolean(value) => out.write_all(boolean(value).as_bytes())?,
                    Cell::Text("") if columns[column].absent == Absent::Empty => {
                        out.write_all(b"null")?
                    }
                    Cell::Text(text) => json::line(&mut out, text)?,
                }
                if column + 1 < columns.len() { Ok(()) } else { out.write_all(b"}\n") }
            })?;
            out.flush()?;
        }
    }
    Ok(relation.len() as u64)
}

/// Calls `write` with the cells of each row and the numbers of their columns.
fn each_cell(
    relation: &dyn Relation,
    columns: &[&Column],
    mut write: impl FnMut(usize, Cell<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut blocks: Vec<((usize, CellKind), CellBlock)> = columns
        .iter()
        .map(|column| column.kind)
        .enumerate()
        .map(|column| (column, CellBlock::default()))
        .collect();
    let mut text = String::new();
    for start in (0..relation.len()).step_by(BLOCK) {
        let rows = start..(start + BLOCK).min(relation.len());
        for ((column, _), cells) in &mut blocks {
            relation.fill(*column, rows.clone(), cells);
        }
        for place in 0..rows.len() {
            for (column, cells) in &blocks {
                text.clear();
                write(column.0, cells.cell(relation, *column, place, &mut text))?;
            }
        }
    }
    Ok(())
}

/// Returns the text before the value of a column: `{"object":`, `,"id":`.
fn key((number, column): (usize, &&Column)) -> String {
    let name = json::text(&serde_json::Value::from(&*column.name));
    format!("{}{name}:", if number == 0 { '{' } else { ',' })
}

fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
