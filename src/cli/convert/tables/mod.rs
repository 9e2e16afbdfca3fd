//! A heap or a profile as tables: one file, or a folder of them.

mod places;
mod source;

use super::{Conversion, Converted, Report};
use crate::cli::args::{ConvertArgs, Target};
use crate::cli::destination::Destination;
use crate::cli::open::Input;
use crate::cli::print::CsvSafe;
use crate::cli::size::{count, plural};
use crate::cli::status::{FULL_BUILD, Status, UsageError};
use crate::input::Kind;
use crate::output::Syntax;
use crate::output::tables::{self, Table, TableRows};
use places::{Folders, Place};
use serde::Serialize;
use source::TableSource;
use std::io;

/// The report of all tables.
#[derive(Serialize)]
struct WrittenRows {
    rows: u64,
    /// Rows of objects that only represent roots and do not count as objects; 0 in other tables.
    root_rows: u64,
    tables: Vec<WrittenTable>,
}

#[derive(Serialize)]
struct WrittenTable {
    table: &'static str,
    output: String,
    rows: u64,
    /// None for standard output and devices.
    bytes: Option<u64>,
}

/// Whether an input becomes tables. A profile as CSV or JSON lines is a single table with whole
/// stacks, unless a table is named.
pub(super) fn are_meant(args: &ConvertArgs, target: Target, input: &Input) -> bool {
    match target {
        Target::Parquet => true,
        Target::Jsonl | Target::Csv => {
            input.kind == Kind::Heap || !args.table.is_empty() || places::is_folder(args)
        }
        _ => false,
    }
}

/// Whether the output is a folder, which only tables are written to.
pub(super) fn is_folder(args: &ConvertArgs) -> bool {
    places::is_folder(args)
}

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { target, input, session, .. } = *conversion;
    if target == Target::Parquet && !cfg!(feature = "parquet") {
        return Err(UsageError::new("this build of dumptool cannot write Parquet")
            .hint(format!("{FULL_BUILD}, or write CSV"))
            .into());
    }
    let places = places::plan(conversion)?;
    let tables: Vec<Table> = places.iter().map(|place| place.table).collect();
    let source = TableSource::load(conversion, &tables)?;
    // A profile may name columns of its own.
    if tables.contains(&Table::Samples) {
        let columns = source.rows(Table::Samples).columns();
        places::check_columns(&conversion.args.partition, Table::Samples, &columns)?;
    }
    let mut folders = Folders::default();
    let mut written = Vec::new();
    for place in &places {
        folders.create(&place.path)?;
        written.push(write(conversion, &source, place)?);
    }
    folders.keep();
    report(conversion, &source, written)?;
    Ok(source.report(session, input))
}

fn write(
    conversion: &Conversion<'_>,
    source: &TableSource<'_>,
    place: &Place,
) -> anyhow::Result<WrittenTable> {
    let mut rows = source.rows(place.table);
    let metadata = source.metadata();
    let (rows, bytes) = conversion.write_to(&place.path, |out| {
        let safe = conversion.session.common.csv_safe;
        match conversion.target {
            Target::Parquet => parquet(&mut *rows, &metadata, out),
            Target::Jsonl => tables::write(&mut *rows, Syntax::Jsonl, out),
            _ if safe => tables::write(&mut *rows, Syntax::Csv, CsvSafe::new(out)),
            _ => tables::write(&mut *rows, Syntax::Csv, out),
        }
    })?;
    let output = place.path.display().to_string();
    Ok(WrittenTable { table: place.table.name(), output, rows, bytes })
}

#[cfg(feature = "parquet")]
fn parquet(
    rows: &mut dyn TableRows,
    metadata: &[(&str, String)],
    out: &mut Destination,
) -> io::Result<u64> {
    tables::write_parquet(rows, metadata, out)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &mut dyn TableRows, _: &[(&str, String)], _: &mut Destination) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

fn report(
    conversion: &Conversion<'_>,
    source: &TableSource<'_>,
    tables: Vec<WrittenTable>,
) -> anyhow::Result<()> {
    let rows = tables.iter().map(|table| table.rows).sum();
    // They are numbered as objects are, so that references from and to them can be followed.
    let objects = tables.iter().find(|table| table.table == Table::Objects.name());
    let root_rows = match (objects, source.converted()) {
        (Some(table), Converted::Objects(objects)) => table.rows.saturating_sub(objects),
        _ => 0,
    };
    let stand_ins = match root_rows {
        0 => String::new(),
        some => format!(", including {} for roots", count(some)),
    };
    let what = match &tables[..] {
        [table] => table.table.to_owned(),
        tables => plural(tables.len() as u64, "table", "tables"),
    };
    let bytes = tables.iter().map(|table| table.bytes).sum();
    conversion.report(&Report {
        converted: source.converted(),
        bytes,
        written: &WrittenRows { rows, root_rows, tables },
        summary: format!("{} of {what}{stand_ins}", plural(rows, "row", "rows")),
        lost: Vec::new(),
    })
}
