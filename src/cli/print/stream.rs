//! Prints rows as they come, for results that need not fit into memory.

use super::{Value, csv, to_output};
use crate::cli::args::OutputFormat;
use crate::cli::session::Session;
use crate::output::json;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Prints rows as CSV, or as JSON lines in all other formats. `next` returns `None` after the last
/// row. Fails with the error of `next`, after the rows before it; with an `OutputError` if the
/// output fails.
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
    let mut rows = std::iter::from_fn(&mut row);
    to_output(session, &mut |out| match session.common.format {
        OutputFormat::Csv => csv(session, names, &mut rows, out),
        _ => rows.try_for_each(|values| {
            json::line(&mut *out, &Named { names, values: &values })?;
            writeln!(out)
        }),
    })?;
    failure.map_or(Ok(()), Err)
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
