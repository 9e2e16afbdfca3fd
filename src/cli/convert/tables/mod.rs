//! A heap or a profile as tables: one file, or a folder of them.

mod places;

use super::{Converted, Job, Report};
use crate::cli::args::Target;
use crate::cli::heap::report_loaded;
use crate::cli::profile::{Kept, named, read_several, require_stacks};
use crate::cli::size::{count, plural};
use crate::cli::status::{FULL_BUILD, Status, UsageError};
use crate::convert::TableSource;
use crate::input::{Format, Kind};
use crate::tables::Table;
pub(super) use places::is_folder;
use places::{Folders, Place};
use serde::Serialize;

#[derive(Serialize)]
struct WrittenRows {
    rows: u64,
    /// Number of rows for synthetic root objects, which `rows` excludes. 0 without such a table.
    root_rows: u64,
    tables: Vec<WrittenTable>,
}

#[derive(Serialize)]
struct WrittenTable {
    table: &'static str,
    output: String,
    rows: u64,
    /// The size of the file. `None` for standard output and devices.
    bytes: Option<u64>,
}

/// Whether an input becomes tables. A profile as CSV or JSON lines is a single table with whole
/// stacks, unless a table is named.
pub(super) fn are_meant(job: &Job<'_>) -> bool {
    let is_format = matches!(job.conversion.target, Target::Parquet | Target::Jsonl | Target::Csv);
    is_format && (job.conversion.writes_table(job.input.kind) || is_folder(job.args))
}

pub(super) fn run(job: &Job<'_>) -> anyhow::Result<Status> {
    if job.conversion.target == Target::Parquet && !cfg!(feature = "parquet") {
        return Err(UsageError::new("this build of dumptool cannot write Parquet")
            .hint(format!("{FULL_BUILD}, or write CSV"))
            .into());
    }
    let places = places::plan(job)?;
    let tables: Vec<Table> = places.iter().map(|place| place.table).collect();
    match job.input.kind {
        Kind::Heap => of_heap(job, &places, &tables),
        Kind::Profile => of_profile(job, &places, &tables),
    }
}

fn of_heap(job: &Job<'_>, places: &[Place], tables: &[Table]) -> anyhow::Result<Status> {
    let loaded = job.load_heap()?;
    let source = TableSource::of_heap(&job.conversion, &loaded, tables)?;
    write(job, &source, places, Converted::Objects(loaded.heap.object_count()))?;
    Ok(report_loaded(job.session, job.input, &loaded))
}

fn of_profile(job: &Job<'_>, places: &[Place], tables: &[Table]) -> anyhow::Result<Status> {
    let Job { args, input, session, .. } = *job;
    if args.profile.tag.is_some() {
        return Err(UsageError::new("--tag does not apply to tables").into());
    }
    input.only(&[Format::Jfr], "--table events", tables.contains(&Table::Events))?;
    let filter = args.profile.narrow.given().into_iter().find(|(_, given)| *given);
    if let ([Table::Dump], Some((name, _))) = (tables, filter) {
        let error = UsageError::new(format!("{name} has no effect on the table dump"));
        return Err(error.hint("it has one row about the whole file").into());
    }
    let samples = tables.contains(&Table::Samples) && !args.aggregate;
    let kept = Kept { samples, ..Kept::default() };
    let (loaded, of_others) = read_several(job.several(), &args.profile, session, kept)?;
    if let Some(table) =
        tables.iter().find(|table| !matches!(table, Table::Functions | Table::Dump))
    {
        let table = format!("the table {}", table.name());
        require_stacks(&loaded.profile, &input.path, &table, super::profile::EXACT)?;
    }
    if let Some(name) = &args.profile.metric {
        named(&loaded.profile, name, &input.path)?;
    }
    let (samples, damage) = (loaded.profile.total.samples(), loaded.damage.clone());
    let source = TableSource::of_profile(&job.conversion, loaded, tables)?;
    write(job, &source, places, Converted::Samples(samples))?;
    Ok(input.report_if_damaged(damage.as_ref(), &session.terminal).max(of_others))
}

fn write(
    job: &Job<'_>,
    source: &TableSource<'_>,
    places: &[Place],
    converted: Converted,
) -> anyhow::Result<()> {
    // A profile may name columns of its own.
    if places.iter().any(|place| place.table == Table::Samples) {
        let samples = source.relation(Table::Samples);
        places::check_columns(&job.args.partition, Table::Samples, &samples.columns())?;
    }
    let mut folders = Folders::default();
    let mut written = Vec::new();
    for Place { table, path } in places {
        folders.create(path)?;
        let (rows, bytes) = job.write_to(path, |out| source.write(*table, out))?;
        let output = path.display().to_string();
        written.push(WrittenTable { table: table.name(), output, rows, bytes });
    }
    folders.keep();
    report(job, converted, written)
}

fn report(job: &Job<'_>, converted: Converted, tables: Vec<WrittenTable>) -> anyhow::Result<()> {
    let rows = tables.iter().map(|table| table.rows).sum();
    // Synthetic objects are numbered, too, so that references from and to them can be followed.
    let objects = tables.iter().find(|table| table.table == Table::Objects.name());
    let root_rows = match (objects, converted) {
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
    job.report(&Report {
        converted,
        bytes,
        written: &WrittenRows { rows, root_rows, tables },
        summary: format!("{} of {what}{stand_ins}", plural(rows, "row", "rows")),
        lost: Vec::new(),
    })
}
