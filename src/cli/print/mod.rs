//! Prints results: one description of columns gives tables, JSON, JSON lines, CSV and Markdown.

mod columns;
mod csv_safe;
mod fitting;
pub(crate) mod markdown;
mod rows;
mod spark;
#[cfg(feature = "query")]
mod stream;
mod table;
mod value;

pub(crate) use columns::Columns;
pub(crate) use csv_safe::CsvSafe;
pub(crate) use spark::spark;
#[cfg(feature = "query")]
pub(crate) use stream::stream;
pub(crate) use table::{Align, Table};
pub(crate) use value::Value;

use super::args::{OutputFormat, name_of};
use super::lock;
use super::session::{Output, Session};
use super::status::{OutputError, UsageError};
use super::terminal::{self, Keep};
use crate::output::{csv_error, json};
use rows::{Object, Objects, Rows};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

/// The JSON document around the rows of a result.
#[derive(Default)]
pub(crate) struct Document<'a>(Vec<(&'static str, Field<'a>)>);

enum Field<'a> {
    Value(Value<'a>),
    Rows(Range<usize>),
}

impl<'a> Document<'a> {
    /// A document about a file. `schema` is its name and version: `dumptool/top/1`.
    pub(crate) fn new(schema: &'static str, file: &Path) -> Self {
        Self::default().with("schema", schema).with("file", file.display().to_string())
    }

    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Value<'a>>) -> Self {
        self.0.push((key, Field::Value(value.into())));
        self
    }

    pub(crate) fn rows(self, key: &'static str) -> Self {
        self.some_rows(key, 0..usize::MAX)
    }

    pub(crate) fn some_rows(mut self, key: &'static str, rows: Range<usize>) -> Self {
        self.0.push((key, Field::Rows(rows)));
        self
    }
}

/// The text for people.
pub(crate) enum Shown<'f> {
    /// A table, and a text below it.
    Table(&'f dyn Fn() -> String),
    /// A sentence, a table, and a text below it.
    Headed(&'f str, &'f dyn Fn() -> String),
    /// A separate text. Markdown still has the columns.
    Text(&'f dyn Fn() -> String),
}

/// Prints a result in the requested format. Formats for programs write the rows one by one, so that
/// the output is never in memory as a whole. Fails with an [`OutputError`] if standard output
/// cannot be written, and with a [`UsageError`] if the command has no such format.
pub(crate) fn print<'a, T>(
    session: &Session,
    document: impl FnOnce() -> Document<'a>,
    rows: &'a [T],
    columns: &Columns<'a, T>,
    text: &Shown<'_>,
) -> anyhow::Result<()> {
    let rows = Rows { layout: &columns.layout, cells: &(columns, rows) };
    print_rows(session, Box::new(document), rows, text)
}

/// Prints documents as a JSON array. Each has some of the rows.
pub(crate) fn print_documents<'a, T>(
    session: &Session,
    documents: &[Document<'_>],
    rows: &'a [T],
    columns: &Columns<'a, T>,
) -> anyhow::Result<()> {
    let rows = Rows { layout: &columns.layout, cells: &(columns, rows) };
    let whole = |document| Whole { document, rows };
    print_json(session, &documents.iter().map(whole).collect::<Vec<_>>())
}

/// Converts a document and its rows to JSON, for a document that contains several.
pub(crate) fn to_json<'a, T>(
    document: &Document<'_>,
    rows: &'a [T],
    columns: &Columns<'a, T>,
) -> serde_json::Value {
    let rows = Rows { layout: &columns.layout, cells: &(columns, rows) };
    // This could fail only for a map with keys that are not texts.
    serde_json::to_value(Whole { document, rows }).unwrap_or_default()
}

/// Writes rows as a table of GitHub-flavoured Markdown.
pub(crate) fn write_markdown<'a, T>(
    columns: &Columns<'a, T>,
    rows: &'a [T],
    out: &mut dyn Write,
) -> io::Result<()> {
    markdown::table(Rows { layout: &columns.layout, cells: &(columns, rows) }, out)
}

fn print_rows<'a>(
    session: &Session,
    document: Box<dyn FnOnce() -> Document<'a> + '_>,
    rows: Rows<'_, 'a>,
    text: &Shown<'_>,
) -> anyhow::Result<()> {
    match session.common.format {
        OutputFormat::Table => match text {
            Shown::Table(footer) => print_text(session, &(rows.render() + &footer())),
            Shown::Headed(sentence, footer) => {
                print_text(session, &format!("{sentence}\n\n{}{}", rows.render(), footer()))
            }
            Shown::Text(text) => print_text(session, &text()),
        },
        OutputFormat::Json => print_json(session, &Whole { document: &document(), rows }),
        OutputFormat::Jsonl => to_output(session, &mut |out| {
            (0..rows.cells.count()).try_for_each(|row| {
                json::line(&mut *out, &Object { rows, row })?;
                writeln!(out)
            })
        }),
        OutputFormat::Csv => to_output(session, &mut |out| {
            let (names, rows) = rows.fields();
            csv(session, &names, rows, out)
        }),
        OutputFormat::Markdown => to_output(session, &mut |out| {
            if let Shown::Headed(sentence, _) = text {
                writeln!(out, "{}", markdown::text(&format!("{sentence}\n")))?;
            }
            markdown::table(rows, out)?;
            match text {
                Shown::Table(footer) | Shown::Headed(_, footer) => {
                    write!(out, "\n{}", markdown::text(&footer()))
                }
                Shown::Text(_) => Ok(()),
            }
        }),
        format @ (OutputFormat::Github | OutputFormat::Junit | OutputFormat::Sarif) => {
            let name = name_of(format);
            Err(UsageError::new(format!("only check supports --format {name}")).into())
        }
    }
}

/// Prints text for people, wrapped to the width of the terminal. Tables fit already.
pub(crate) fn print_text(session: &Session, text: &str) -> anyhow::Result<()> {
    let text = terminal::printable(text, Keep { colors: session.terminal.color, lines: true });
    let text = terminal::columns()
        .map_or(Cow::Borrowed(&*text), |columns| terminal::wrapped(&text, columns).into());
    to_output(session, &mut |out| out.write_all(text.as_bytes()))
}

pub(crate) fn print_json(session: &Session, document: &impl Serialize) -> anyhow::Result<()> {
    to_output(session, &mut |out| {
        json::pretty(&mut *out, document)?;
        writeln!(out)
    })
}

/// Writes the result of a command: to standard output through a buffer, or into memory.
pub(crate) fn to_output(
    session: &Session,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let written = match &session.output {
        Output::Stdout => {
            let out = session.budget.counting(io::stdout().lock());
            let mut out = BufWriter::with_capacity(64 << 10, out);
            write(&mut out).and_then(|()| out.flush())
        }
        Output::Kept(kept) => {
            let mut kept = lock(kept);
            write(&mut session.budget.counting(&mut *kept))
        }
    };
    written.map_err(|error| OutputError::stdout(error).into())
}

/// Writes a header, even without rows, and a line for each row.
fn csv<'v>(
    session: &Session,
    names: &[String],
    rows: impl Iterator<Item = Vec<Value<'v>>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_safe = session.common.csv_safe;
    let out: Box<dyn Write + '_> =
        if is_safe { Box::new(CsvSafe::new(out)) } else { Box::new(out) };
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(names).map_err(csv_error)?;
    for fields in rows {
        writer.serialize(fields).map_err(csv_error)?;
    }
    writer.flush()
}

/// A document with its rows.
struct Whole<'d, 'a> {
    document: &'d Document<'d>,
    rows: Rows<'d, 'a>,
}

impl Serialize for Whole<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, field) in &self.document.0 {
            match field {
                Field::Value(value) => map.serialize_entry(key, value)?,
                Field::Rows(range) => {
                    let (rows, range) = (self.rows, range.clone());
                    map.serialize_entry(key, &Objects { rows, range })?;
                }
            }
        }
        map.end()
    }
}
