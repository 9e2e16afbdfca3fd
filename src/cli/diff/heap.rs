//! `diff` of heaps, by type or another group.

use super::super::args::{ByArg, Common, DiffArgs, DiffObjectsArg, ObjectsArg, OutputFormat, Snapshot, SortArg};
use super::super::export;
use super::super::load::{load_heap, report_loaded};
use super::super::memory::refuse_too_large;
use super::super::open::Input;
use super::super::size::{count, plural, size};
use super::super::status::{self, Status, UsageError};
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use super::super::top::document::{by_name, objects_name, root_text};
use super::super::top::{heap as top, quick};
use super::identity;
use crate::analysis::diff::{Change, Delta, Side, changes};
use crate::analysis::histogram::Histogram;
use serde::Serialize;

/// Rows that are shown unless others are asked for.
pub(super) const ROWS: usize = 20;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    old: String,
    new: String,
    old_snapshot: u64,
    new_snapshot: u64,
    by: &'static str,
    objects: &'static str,
    old_total: SideJson,
    new_total: SideJson,
    rows: Vec<RowJson<'a>>,
    /// Changed rows that are not shown.
    omitted: Omitted,
    /// Rows that are the same in both.
    unchanged: u64,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
}

#[derive(Serialize)]
struct RowJson<'a> {
    name: &'a str,
    namespace: &'a str,
    /// 0 where the row is not there.
    old: SideJson,
    new: SideJson,
    delta: DeltaJson,
    /// new, gone, or changed.
    status: &'static str,
}

#[derive(Serialize)]
struct SideJson {
    count: u64,
    shallow_bytes: u64,
    external_bytes: u64,
    retained_bytes: Option<u64>,
}

#[derive(Serialize)]
struct DeltaJson {
    count: i64,
    shallow_bytes: i64,
    external_bytes: i64,
    retained_bytes: Option<i64>,
}

#[derive(Serialize)]
struct CsvRow<'a> {
    name: &'a str,
    namespace: &'a str,
    status: &'static str,
    old_count: u64,
    old_shallow_bytes: u64,
    old_external_bytes: u64,
    old_retained_bytes: Option<u64>,
    new_count: u64,
    new_shallow_bytes: u64,
    new_external_bytes: u64,
    new_retained_bytes: Option<u64>,
    delta_count: i64,
    delta_shallow_bytes: i64,
    delta_external_bytes: i64,
    delta_retained_bytes: Option<i64>,
}

/// One of the two heaps.
struct Counted {
    histogram: Histogram,
    has_roots: bool,
    snapshot: u64,
    status: Status,
}

pub(super) fn run(args: &DiffArgs, old: &Input, new: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.heap.objects == Some(DiffObjectsArg::Identity) {
        return identity::run(args, old, new, common, terminal);
    }
    let by = args.by.unwrap_or(ByArg::Type);
    let snapshots = args.heap.snapshot;
    // One heap after the other, so that only one is in memory.
    let old_counted = counted(args, by, old, snapshots.map(|pair| pair.old), common, terminal)?;
    let new_counted = counted(args, by, new, snapshots.map(|pair| pair.new), common, terminal)?;
    let mut rows = changes(&old_counted.histogram, &new_counted.histogram);
    let has_retained = old_counted.has_roots && new_counted.has_roots;
    let sort = args.heap.sort.unwrap_or(if has_retained { SortArg::Retained } else { SortArg::Shallow });
    rows.sort_by_key(|row| std::cmp::Reverse(delta(&row.delta(), sort).unsigned_abs()));
    let shown = &rows[..rows.len().min(common.rows(args.limit, ROWS))];
    let unchanged = unchanged(&old_counted.histogram, &rows);
    let objects = match (args.heap.objects, has_retained) {
        (_, false) | (Some(DiffObjectsArg::All), _) => ObjectsArg::All,
        (Some(DiffObjectsArg::Unreachable), _) => ObjectsArg::Unreachable,
        _ => ObjectsArg::Live,
    };
    let text = match common.format {
        OutputFormat::Table => {
            let table = table(shown, by, sort, has_retained, common);
            let footer = footer(&rows, shown, unchanged, &old_counted.histogram, &new_counted.histogram, objects, common);
            let roots = match has_retained || args.heap.quick {
                true => "",
                false => "a dump without roots: nothing can be called live or dead, and nothing is retained\n",
            };
            table.render() + &footer + roots
        }
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/diff/1",
                old: old.path.display().to_string(),
                new: new.path.display().to_string(),
                old_snapshot: old_counted.snapshot,
                new_snapshot: new_counted.snapshot,
                by: by_name(by),
                objects: objects_name(objects),
                old_total: side(&total(&old_counted.histogram)),
                new_total: side(&total(&new_counted.histogram)),
                rows: shown.iter().map(row_json).collect(),
                omitted: Omitted { rows: (rows.len() - shown.len()) as u64 },
                unchanged,
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&shown.iter().map(row_json).collect::<Vec<_>>())?,
        OutputFormat::Csv => export::csv(shown.iter().map(csv_row))?,
    };
    super::super::print(text.as_bytes())?;
    Ok(old_counted.status.max(new_counted.status))
}

/// Counts one of the heaps.
fn counted(
    args: &DiffArgs,
    by: ByArg,
    input: &Input,
    snapshot: Option<Snapshot>,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<Counted> {
    if args.heap.quick {
        if !matches!(by, ByArg::Type | ByArg::Namespace) || args.heap.sort == Some(SortArg::Retained) {
            return Err(UsageError::new("--quick builds no graph: it groups by type or namespace and retains nothing").into());
        }
        let counted = quick::count(input, snapshot, terminal)?;
        let mut status = Status::Done;
        if let Some(damage) = input.source.damage().or(counted.damage.as_ref()) {
            status::report_input(&input.path, damage, terminal);
            status = Status::Damaged;
        }
        let histogram = quick::histogram(&counted, by);
        return Ok(Counted { histogram, has_roots: false, snapshot: counted.snapshot, status });
    }
    refuse_too_large("diff", input, common)?;
    let objects = match args.heap.objects {
        Some(DiffObjectsArg::All) => ObjectsArg::All,
        Some(DiffObjectsArg::Unreachable) => ObjectsArg::Unreachable,
        _ => ObjectsArg::Live,
    };
    let loaded = load_heap(input, snapshot, args.heap.roots.choice(), terminal)?;
    let (histogram, has_roots) = top::histogram(&loaded.heap, by, objects, input)?;
    let status = report_loaded(input, &loaded, terminal);
    Ok(Counted { histogram, has_roots, snapshot: loaded.snapshot, status })
}

/// Rows of the older heap that did not change.
fn unchanged(old: &Histogram, changes: &[Change]) -> u64 {
    old.rows.len() as u64 - changes.iter().filter(|change| change.old.is_some()).count() as u64
}

fn delta(delta: &Delta, column: SortArg) -> i64 {
    match column {
        SortArg::Retained => delta.retained_bytes.unwrap_or(0),
        SortArg::Shallow => delta.shallow_bytes,
        SortArg::External => delta.external_bytes,
        SortArg::Count => delta.count,
    }
}

fn table(rows: &[Change], by: ByArg, sort: SortArg, has_retained: bool, common: &Common) -> Table {
    let column = match sort {
        SortArg::Count if has_retained => SortArg::Retained,
        SortArg::Count => SortArg::Shallow,
        other => other,
    };
    let name = match column {
        SortArg::Retained => "RETAINED",
        SortArg::External => "EXTERNAL",
        _ => "SHALLOW",
    };
    let has_namespaces = by == ByArg::Type && rows.iter().any(|row| !row.namespace.is_empty());
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left, Align::Left]);
    let mut head = vec!["DELTA".to_owned(), format!("{name} NOW"), "DELTA".to_owned(), "COUNT NOW".to_owned(), String::new()];
    head.push(if by == ByArg::Type { "TYPE" } else { by_name(by) }.to_uppercase());
    if has_namespaces {
        head.push("NAMESPACE".to_owned());
    }
    table.row(head);
    for row in rows {
        let rise = row.delta();
        let new = row.new.unwrap_or_default();
        let now = match column {
            SortArg::Retained => new.retained_bytes.unwrap_or(0),
            SortArg::External => new.sum.external_bytes,
            _ => new.sum.shallow_bytes,
        };
        let name = match by {
            ByArg::Namespace if row.namespace.is_empty() => "(none)".to_owned(),
            ByArg::Namespace => row.namespace.clone(),
            ByArg::Root => root_text(&row.namespace, &row.name),
            _ => row.name.clone(),
        };
        let mut cells = vec![
            signed(delta(&rise, column), |bytes| size(bytes, common.bytes)),
            size(now, common.bytes),
            signed(rise.count, count),
            count(new.sum.count),
            if status(row) == "changed" { String::new() } else { status(row).to_owned() },
            name,
        ];
        if has_namespaces {
            cells.push(row.namespace.clone());
        }
        table.row(cells);
    }
    table
}

/// With its sign, unless it is 0.
pub(super) fn signed(value: i64, text: impl Fn(u64) -> String) -> String {
    let sign = match value {
        ..0 => "-",
        0 => "",
        1.. => "+",
    };
    sign.to_owned() + &text(value.unsigned_abs())
}

fn footer(
    rows: &[Change],
    shown: &[Change],
    unchanged: u64,
    old: &Histogram,
    new: &Histogram,
    objects: ObjectsArg,
    common: &Common,
) -> String {
    let bytes = |histogram: &Histogram| size(histogram.total.bytes(), common.bytes);
    let objects_of = |histogram: &Histogram| count(histogram.total.count);
    let which = match objects {
        ObjectsArg::Live => "live",
        ObjectsArg::All => "all objects",
        ObjectsArg::Unreachable => "unreachable",
    };
    let changed = match shown.len() == rows.len() {
        true => format!("{} changed", count(rows.len() as u64)),
        false => format!("showing {} of {} changed", count(shown.len() as u64), count(rows.len() as u64)),
    };
    let of = |status_wanted: &str| rows.iter().filter(|row| status(row) == status_wanted).count() as u64;
    let (new_rows, gone) = (count(of("new")), count(of("gone")));
    let rise = i64::try_from(i128::from(new.total.bytes()) - i128::from(old.total.bytes())).unwrap_or(i64::MAX);
    let rise = signed(rise, |bytes| size(bytes, common.bytes));
    format!(
        "{changed} ({new_rows} new, {gone} gone), {} unchanged; {which}: {} → {} ({rise}), {} → {}\n",
        count(unchanged),
        bytes(old),
        bytes(new),
        objects_of(old),
        plural(new.total.count, "object", "objects"),
    )
}

fn status(row: &Change) -> &'static str {
    match (row.old, row.new) {
        (None, _) => "new",
        (_, None) => "gone",
        _ => "changed",
    }
}

fn total(histogram: &Histogram) -> Side {
    // All that is alive is retained by the roots.
    let retained_bytes = histogram.unreachable.map(|_| histogram.total.bytes());
    Side { sum: histogram.total, retained_bytes }
}

fn side(side: &Side) -> SideJson {
    SideJson {
        count: side.sum.count,
        shallow_bytes: side.sum.shallow_bytes,
        external_bytes: side.sum.external_bytes,
        retained_bytes: side.retained_bytes,
    }
}

fn row_json(row: &Change) -> RowJson<'_> {
    let Delta { count, shallow_bytes, external_bytes, retained_bytes } = row.delta();
    RowJson {
        name: &row.name,
        namespace: &row.namespace,
        old: side(&row.old.unwrap_or_default()),
        new: side(&row.new.unwrap_or_default()),
        delta: DeltaJson { count, shallow_bytes, external_bytes, retained_bytes },
        status: status(row),
    }
}

fn csv_row(row: &Change) -> CsvRow<'_> {
    let RowJson { name, namespace, old, new, delta, status } = row_json(row);
    CsvRow {
        name,
        namespace,
        status,
        old_count: old.count,
        old_shallow_bytes: old.shallow_bytes,
        old_external_bytes: old.external_bytes,
        old_retained_bytes: old.retained_bytes,
        new_count: new.count,
        new_shallow_bytes: new.shallow_bytes,
        new_external_bytes: new.external_bytes,
        new_retained_bytes: new.retained_bytes,
        delta_count: delta.count,
        delta_shallow_bytes: delta.shallow_bytes,
        delta_external_bytes: delta.external_bytes,
        delta_retained_bytes: delta.retained_bytes,
    }
}
