//! The rows that a statement returns.

use super::connection::{explain, place};
use super::statement::only_statement;
use crate::cli::args::{OutputFormat, QueryArgs};
use crate::cli::print::{Align, Columns, Document, Shown, Value, print, stream};
use crate::cli::session::Session;
use crate::cli::size::plural;
use crate::cli::status::UsageError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Rows, Statement};
use std::fmt::Write;
use std::path::Path;

/// The default number of rows for formats that need all rows in memory.
const ROWS: usize = 1000;
/// Bytes of memory that a cell takes besides its text.
const CELL: u64 = 32;

type Row = Vec<Value<'static>>;

/// Runs a statement and prints its rows. `memory` is the number of bytes that rows may take in
/// formats that need all rows in memory. Fails with a [`UsageError`] if the statement is wrong or
/// fails, or with an `OutputError` if standard output cannot be written.
pub(super) fn print_answer(
    connection: &Connection,
    sql: &str,
    args: &QueryArgs,
    paths: &[&Path],
    memory: u64,
    session: &Session,
) -> anyhow::Result<()> {
    let explained = |error: rusqlite::Error| explain(&error, sql);
    let mut statement = prepared(connection, sql)?;
    let names = distinct(statement.column_names());
    let mut rows = statement.query([]).map_err(explained)?;
    let mut next = || next(&mut rows, names.len()).map_err(explained);
    let most = session.rows(args.limit, ROWS);
    if matches!(session.common.format, OutputFormat::Csv | OutputFormat::Jsonl) {
        let mut left = most;
        return stream(session, &names, || match left {
            0 => Ok(None),
            _ => {
                left -= 1;
                Ok(next()?)
            }
        });
    }
    let (mut kept, mut bytes, mut is_complete) = (Vec::<Row>::new(), 0u64, true);
    while let Some(row) = next()? {
        if kept.len() == most {
            is_complete = false;
            break;
        }
        bytes += row.iter().map(size).sum::<u64>();
        if bytes > memory {
            return Err(UsageError::new("SQL: the rows need more memory than the limit")
                .hint("--format csv and --format jsonl print rows as they come")
                .into());
        }
        kept.push(row);
    }
    let document = || {
        let file = paths.last().copied().unwrap_or(Path::new(""));
        let document = Document::new("dumptool/query/1", file);
        let document = match paths {
            [old, new] => document
                .with("old", old.display().to_string())
                .with("new", new.display().to_string()),
            _ => document,
        };
        document
            .with("sql", sql)
            .with("columns", names.iter().map(Value::from).collect::<Vec<_>>())
            .rows("rows")
            .with("complete", is_complete)
    };
    let footer = || {
        let rows = plural(kept.len() as u64, "row", "rows");
        if is_complete { format!("{rows}\n") } else { format!("the first {rows} (-n for more)\n") }
    };
    print(session, document, &kept, &columns(&names, &kept, session), &Shown::Table(&footer))
}

/// The statement, ready to be run.
fn prepared<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>, UsageError> {
    let statement = only_statement(sql).map_err(|second| {
        let place = place(sql, i32::try_from(second).unwrap_or(-1));
        UsageError::new(format!("SQL{place}: more than one statement"))
            .hint("give one SELECT statement")
    })?;
    let statement = connection.prepare(statement).map_err(|error| explain(&error, sql))?;
    if statement.column_count() == 0 {
        return Err(
            UsageError::new("SQL: the statement returns no rows").hint("give one SELECT statement")
        );
    }
    if statement.parameter_count() > 0 {
        return Err(UsageError::new("SQL: the statement has parameters, such as `?`"));
    }
    Ok(statement)
}

fn next(rows: &mut Rows<'_>, width: usize) -> rusqlite::Result<Option<Row>> {
    let Some(row) = rows.next()? else { return Ok(None) };
    (0..width)
        .map(|column| Ok(value(row.get_ref(column)?)))
        .collect::<rusqlite::Result<_>>()
        .map(Some)
}

/// A value of SQL. Bytes are hexadecimal digits, as in `show`.
fn value(value: ValueRef<'_>) -> Value<'static> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Signed(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => {
            let mut digits = String::with_capacity(bytes.len() * 2);
            for byte in bytes {
                let _ = write!(digits, "{byte:02x}"); // Writing to a string cannot fail.
            }
            digits.into()
        }
    }
}

fn size(value: &Value<'_>) -> u64 {
    match value {
        Value::Text(text) => CELL + text.len() as u64,
        _ => CELL,
    }
}

/// The names of the columns. A repeated name gets a number: `type`, `type_2`.
fn distinct<'n>(all: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
        names.extend(candidates.find(|candidate| !names.contains(candidate)));
    }
    names
}

/// The columns of a statement. Numbers are aligned to the right.
fn columns<'a>(names: &[String], rows: &'a [Row], session: &'a Session) -> Columns<'a, Row> {
    let is_number = |value: &Value<'_>| matches!(value, Value::Signed(_) | Value::Real(_));
    let is_text = |value: &Value<'_>| matches!(value, Value::Text(_));
    (0..).zip(names).fold(Columns::new(session), |columns, (at, name): (usize, _)| {
        let has = |is: fn(&Value<'_>) -> bool| rows.iter().any(|row| is(&row[at]));
        let align = if has(is_number) && !has(is_text) { Align::Right } else { Align::Left };
        columns.named(name, align, move |row: &'a Row| row[at].clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_again_get_numbers() {
        let names = distinct(["type", "n", "type", "type_2", "type"]);
        assert_eq!(names, ["type", "n", "type_2", "type_2_2", "type_3"]);
    }
}
