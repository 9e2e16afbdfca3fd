//! Prints rows as they come, for results that need not fit into memory.

use super::{CsvSafe, Value, csv_error, to_output};
use crate::cli::args::OutputFormat;
use crate::cli::session::Session;
use crate::output::json;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, Write};

/// Prints rows as CSV, or as JSON lines in all other formats. `next` returns `None` after the last
/// row.
///
/// # Errors
/// Those of `next`, after the rows before; an `OutputError` if standard output cannot be written.
pub(crate) fn stream(
    session: &Session,
    names: &[String],
    mut next: impl FnMut() -> anyhow::Result<Option<Vec<Value<'static>>>>,
) -> anyhow::Result<()> {
    let mut failure = None;
    let mut row = || {
        next().unwrap_or_else(|error| {
            failure = Some(error);
            None
        })
    };
    to_output(session, &mut |out| match (session.common.format, session.common.csv_safe) {
        (OutputFormat::Csv, true) => csv(names, &mut row, &mut CsvSafe::new(out)),
        (OutputFormat::Csv, false) => csv(names, &mut row, out),
        _ => {
            while let Some(values) = row() {
                json::line(&mut *out, &Named { names, values: &values })?;
                writeln!(out)?;
            }
            Ok(())
        }
    })?;
    failure.map_or(Ok(()), Err)
}

fn csv(
    names: &[String],
    row: &mut dyn FnMut() -> Option<Vec<Value<'static>>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(names).map_err(csv_error)?;
    while let Some(values) = row() {
        writer.serialize(&values).map_err(csv_error)?;
    }
    writer.flush()
}

struct Named<'r> {
    names: &'r [String],
    values: &'r [Value<'static>],
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for (name, value) in self.names.iter().zip(self.values) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
