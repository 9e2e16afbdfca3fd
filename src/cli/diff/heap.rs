//! `diff` of heaps, by type or another group.

use super::super::args::{ByArg, Common, DiffArgs, DiffObjectsArg, ObjectsArg, OutputFormat, Snapshot, SortArg};
use super::super::export;
use super::super::load::{HeapLoader, report_loaded};
use super::super::open::Input;
use super::super::status::{self, Status, UsageError};
use super::super::terminal::Terminal;
use super::super::top::document::{by_name, objects_name};
use super::super::top::{heap as top, quick};
use super::document::{Document, Omitted, csv_row, row_json, side};
use super::identity;
use super::text::{delta, footer, notes, table};
use crate::analysis::diff::{HistogramChange, changes};
use crate::analysis::histogram::Histogram;
use crate::input::load::Loaded;

/// One of the two heaps.
struct Counted<'a> {
    histogram: Histogram,
    has_roots: bool,
    snapshot: u64,
    status: Status,
    /// Unless it was only counted.
    loaded: Option<Loaded<'a>>,
}

pub(super) fn run(args: &DiffArgs, old: &Input, new: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.heap.objects == Some(DiffObjectsArg::Identity) {
        return identity::run(args, old, new, common, terminal);
    }
    let by = args.by.unwrap_or(ByArg::Type);
    let snapshots = args.heap.snapshot;
    // One heap after the other, so that only one is in memory.
    let mut old_counted = counted(args, by, old, snapshots.map(|pair| pair.old), common, terminal)?;
    old_counted.loaded = None;
    let new_counted = counted(args, by, new, snapshots.map(|pair| pair.new), common, terminal)?;
    let mut rows = changes(&old_counted.histogram, &new_counted.histogram);
    let has_retained = old_counted.has_roots && new_counted.has_roots;
    let is_retained = has_retained && args.heap.objects != Some(DiffObjectsArg::Unreachable);
    let mut total = old_counted.histogram.total;
    total.add_sum(&new_counted.histogram.total);
    let sort = args.heap.sort.unwrap_or_else(|| top::default_sort(&total, is_retained));
    rows.sort_by_key(|row| std::cmp::Reverse(delta(&row.delta(), sort).unsigned_abs()));
    let shown = &rows[..rows.len().min(common.rows(args.limit, super::ROWS))];
    let unchanged = unchanged(&old_counted.histogram, &rows);
    let objects = match (args.heap.objects, has_retained) {
        (_, false) | (Some(DiffObjectsArg::All), _) => ObjectsArg::All,
        (Some(DiffObjectsArg::Unreachable), _) => ObjectsArg::Unreachable,
        _ => ObjectsArg::Live,
    };
    let text = match common.format {
        OutputFormat::Table => {
            let heap = new_counted.loaded.as_ref().map(|loaded| &loaded.heap);
            let notes = notes(shown, by, heap);
            let table = table(shown, &notes, by, sort, is_retained, common);
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
                file: new.path.display().to_string(),
                old: old.path.display().to_string(),
                new: new.path.display().to_string(),
                old_snapshot: old_counted.snapshot,
                new_snapshot: new_counted.snapshot,
                by: by_name(by),
                objects: objects_name(objects),
                old_total: side(&super::document::total(&old_counted.histogram)),
                new_total: side(&super::document::total(&new_counted.histogram)),
                rows: shown.iter().map(row_json).collect(),
                omitted: Omitted { rows: (rows.len() - shown.len()) as u64 },
                unchanged,
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&shown.iter().map(row_json).collect::<Vec<_>>())?,
        OutputFormat::Csv => export::csv(shown.iter().map(csv_row))?,
    };
    super::super::print_text(&text, common)?;
    Ok(old_counted.status.max(new_counted.status))
}

/// Counts one of the heaps.
fn counted<'a>(
    args: &DiffArgs,
    by: ByArg,
    input: &'a Input,
    snapshot: Option<Snapshot>,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<Counted<'a>> {
    if args.heap.quick {
        if !matches!(by, ByArg::Type | ByArg::Namespace) || args.heap.sort == Some(SortArg::Retained) {
            return Err(UsageError::new("--quick builds no graph: it groups by type or namespace and retains nothing").into());
        }
        let counted = quick::count(input, snapshot, terminal)?;
        let mut status = Status::Done;
        if let Some(damage) = input.source.damage().or(counted.damage.as_ref()) {
            status::report_damage(&input.path, damage, terminal);
            status = Status::Damaged;
        }
        let histogram = quick::histogram(&counted, by);
        return Ok(Counted { histogram, has_roots: false, snapshot: counted.snapshot, status, loaded: None });
    }
    let objects = match args.heap.objects {
        Some(DiffObjectsArg::All) => ObjectsArg::All,
        Some(DiffObjectsArg::Unreachable) => ObjectsArg::Unreachable,
        _ => ObjectsArg::Live,
    };
    let loaded = HeapLoader::analysed("diff", common, terminal).load(input, snapshot, args.heap.roots.choice())?;
    let (histogram, has_roots) = top::histogram(&loaded.heap, by, objects, input)?;
    let status = report_loaded(input, &loaded, terminal);
    Ok(Counted { histogram, has_roots, snapshot: loaded.snapshot, status, loaded: Some(loaded) })
}

/// Rows of the older heap that did not change.
fn unchanged(old: &Histogram, changes: &[HistogramChange]) -> u64 {
    old.rows.len() as u64 - changes.iter().filter(|change| change.old.is_some()).count() as u64
}
