//! `top --snapshot all`: how types grow over the snapshots of a file.

use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::{Growth, Series};
use crate::cli::args::{ByArg, OutputFormat, Snapshot, TopArgs};
use crate::cli::heap::histogram::{
    add_types, complete_snapshots, count_types, omitted_json, quick, sum_json,
};
use crate::cli::heap::no_such_type;
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print, spark};
use crate::cli::session::Session;
use crate::cli::size::{count, plural, showing, size, size_change};
use crate::cli::status::{Status, UsageError};
use crate::input::histogram::TypeCounts;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Last {
    whole: Sum,
    total: Sum,
    by_type: FxHashMap<(String, String), Sum>,
}

impl Last {
    fn of(counted: &TypeCounts, filter: &TypeFilter) -> Self {
        let histogram = quick(counted, ByArg::Type, filter);
        let by_type =
            histogram.rows.into_iter().map(|row| ((row.name, row.namespace), row.sum)).collect();
        Self { whole: histogram.whole, total: histogram.total, by_type }
    }

    /// The objects of a type in the last snapshot. Zeros if the type is gone.
    fn sum(&self, series: &Series) -> Sum {
        self.by_type
            .get(&(series.name.clone(), series.namespace.clone()))
            .copied()
            .unwrap_or_default()
    }
}

/// A type over all snapshots.
struct Row<'s> {
    series: &'s Series,
    last: Sum,
}

/// A type in one snapshot: a line of CSV.
struct Point<'s> {
    series: &'s Series,
    snapshot: u64,
    count: u64,
    bytes: u64,
}

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    if args.by.is_some() || args.heap.objects.is_some() || args.heap.sort.is_some() {
        return Err(UsageError::new(
            "--by, --objects and --sort cannot be used with --snapshot all, which sorts all types by growth",
        )
        .into());
    }
    let (snapshots, mut damage) = complete_snapshots(input)?;
    let numbers: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.index).collect();
    let filter = args.filter.filter();
    let mut growth = Growth::default();
    let mut last = Last::default();
    for number in &numbers {
        let snapshot = Some(Snapshot::Number(*number));
        let counted = count_types(session, "top", input, snapshot, &args.heap.roots)?;
        growth.begin_snapshot();
        add_types(&mut growth, &counted, &filter);
        if numbers.last() == Some(number) {
            last = Last::of(&counted, &filter);
        }
        damage = damage.or(counted.damage);
    }
    let series = growth.finish();
    if series.is_empty() && !filter.is_empty() && damage.is_none() {
        return Err(no_such_type(&args.filter, Vec::new()).into());
    }
    let (shown, omitted) = session.shown(&series, args.limit, super::ROWS);
    if session.common.format == OutputFormat::Csv {
        print_points(session, shown, &numbers)?;
    } else {
        let rows: Vec<Row> =
            shown.iter().map(|series| Row { series, last: last.sum(series) }).collect();
        let document = || {
            let mut sum = Sum::default();
            omitted.iter().for_each(|series| sum.add_sum(&last.sum(series)));
            Document::new("dumptool/top/1", &input.path)
                .with("snapshot", ())
                .with("by", "type")
                .with("snapshots", numbers.as_slice())
                .with("objects", "all")
                .with("filter", args.filter.json())
                .with("whole", sum_json(&last.whole))
                .with("total", sum_json(&last.total))
                .with("unreachable", ())
                .rows("rows")
                .with("omitted", omitted_json(omitted.len(), Some(&sum)))
                // Snapshots are counted without loading their references.
                .with("warnings", Vec::new())
        };
        let footer = || footer(session, &series, shown.len(), &numbers);
        print(session, document, &rows, &columns(session, &numbers), &Shown::Table(&footer))?;
    }
    Ok(input.report_if_damaged(damage.as_ref(), &session.terminal))
}

fn columns<'a>(session: &'a Session, numbers: &[u64]) -> Columns<'a, Row<'a>> {
    let exact = session.common.bytes;
    let bytes = move |value: Option<&u64>| size(value.copied().unwrap_or(0), exact);
    let (first, last) = ends(numbers);
    Columns::new(session)
        .text("name", "TYPE", |row: &Row| &row.series.name)
        .value("namespace", |row| Value::non_empty(&row.series.namespace))
        .number("counts", &format!("COUNT IN {last}"), |row| row.series.counts.as_slice())
        .shown_as(|row| count(row.series.counts.last().copied().unwrap_or(0)))
        .text("bytes", &format!("{first} … {last}"), |row| row.series.bytes.as_slice())
        .shown_as(|row| spark(&row.series.bytes))
        .drawn()
        .number("growth_bytes", "GROWTH", |row| saturated(row.series.growth()))
        .shown_as(move |row| size_change(saturated(row.series.growth()), exact))
        .value("count", |row| row.last.count)
        .value("shallow_bytes", |row| row.last.shallow_bytes)
        .value("external_bytes", |row| row.last.external_bytes)
        // The graph is not built.
        .value("retained_bytes", |_| ())
        .cell("first", &format!("IN {first}"), Align::Right, move |row| {
            bytes(row.series.bytes.first())
        })
        .cell("last", &format!("IN {last}"), Align::Right, move |row| {
            bytes(row.series.bytes.last())
        })
        .table(&["growth_bytes", "first", "last", "counts", "bytes", "name"])
        .minor(&["first", "counts"])
}

/// Prints a line for each type and snapshot, because CSV has no lists.
fn print_points(session: &Session, shown: &[Series], numbers: &[u64]) -> anyhow::Result<()> {
    let points = shown.iter().flat_map(|series| {
        let values = series.counts.iter().zip(&series.bytes).zip(numbers);
        values.map(move |((&count, &bytes), &snapshot)| Point { series, snapshot, count, bytes })
    });
    let points: Vec<Point> = points.collect();
    let columns = Columns::new(session)
        .value("name", |point: &Point| &point.series.name)
        .value("namespace", |point| Value::non_empty(&point.series.namespace))
        .value("snapshot", |point| point.snapshot)
        .value("count", |point| point.count)
        .value("bytes", |point| point.bytes);
    print(session, Document::default, &points, &columns, &Shown::Table(&String::new))
}

/// The names of the first and the last snapshot.
fn ends(numbers: &[u64]) -> (String, String) {
    let name = |index: Option<&u64>| index.map_or_else(String::new, |index| format!("#{index}"));
    (name(numbers.first()), name(numbers.last()))
}

fn footer(session: &Session, series: &[Series], shown: usize, numbers: &[u64]) -> String {
    let total =
        |at: fn(&Vec<u64>) -> Option<&u64>| {
            session.size(series.iter().fold(0_u64, |sum, series| {
                sum.saturating_add(at(&series.bytes).copied().unwrap_or(0))
            }))
        };
    let (from, to) = (total(|bytes| bytes.first()), total(|bytes| bytes.last()));
    let types = showing(shown, series.len(), "type", "types");
    let (first, last) = ends(numbers);
    let snapshots = plural(numbers.len() as u64, "snapshot", "snapshots");
    format!("{types} in {snapshots}; all objects: {from} in {first}, {to} in {last}\n")
}

fn saturated(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value > 0 { i64::MAX } else { i64::MIN })
}
