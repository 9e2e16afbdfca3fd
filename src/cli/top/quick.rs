//! `top --quick`: counts and sizes in one pass that keeps no object.

use super::super::args::{ByArg, Common, ObjectsArg, Snapshot, SortArg, TopArgs};
use super::super::load::{load_options, refused};
use super::super::open::Input;
use super::super::progress::Progress;
use super::super::status::{self, Status, UsageError};
use super::super::terminal::Terminal;
use super::document::Document;
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::input;
use crate::input::histogram::TypeCounts;
use crate::input::load::RootScan;
use crate::model::heap::TypeKind;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

pub(super) fn run(
    args: &TopArgs,
    snapshot: Option<Snapshot>,
    input: &Input,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let by = args.by.unwrap_or(ByArg::Type);
    if let Some(needs) = needs_graph(by, args.heap.sort) {
        return Err(UsageError::new(format!("{needs} needs the graph, which --quick does not build")).into());
    }
    let counted = count(input, snapshot, terminal)?;
    let mut histogram = histogram(&counted, by);
    let sort = args.heap.sort.unwrap_or_else(|| super::heap::default_sort(&histogram.total, false));
    super::heap::sort(&mut histogram.rows, sort);
    let document = Document {
        snapshot: counted.snapshot,
        by,
        objects: ObjectsArg::All,
        sort,
        quick: true,
        incomplete: false,
        histogram: &histogram,
    };
    document.print(input, common.rows(args.limit, super::ROWS), common, terminal)?;
    if let Some(damage) = input.source.damage().or(counted.damage.as_ref()) {
        status::report_damage(&input.path, damage, terminal);
        return Ok(Status::Damaged);
    }
    Ok(Status::Done)
}

/// Counts the objects of an input by type.
///
/// # Errors
/// When the file has no such snapshot, or nothing of it can be read.
pub(in crate::cli) fn count(input: &Input, snapshot: Option<Snapshot>, terminal: &Terminal) -> anyhow::Result<TypeCounts> {
    let progress = Progress::new(input.bytes().len() as u64, terminal);
    let reached = |offset| progress.reached(offset);
    input::histogram(input.format, input.bytes(), load_options(snapshot, RootScan::Default, &reached))
        .map_err(|error| refused(error, input))
}

fn needs_graph(by: ByArg, sort: Option<SortArg>) -> Option<&'static str> {
    match (by, sort) {
        (ByArg::Root, _) => Some("--by root"),
        (ByArg::SizeClass, _) => Some("--by size-class"),
        (_, Some(SortArg::Retained)) => Some("--sort retained"),
        _ => None,
    }
}

/// Types of one name and namespace in one row, or those of one namespace.
pub(in crate::cli) fn histogram(counted: &TypeCounts, by: ByArg) -> Histogram {
    let mut rows: Vec<HistogramRow> = Vec::new();
    let mut index: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for row in counted.rows.iter().filter(|row| row.kind != TypeKind::Root) {
        let name = if by == ByArg::Namespace { "" } else { row.name.as_str() };
        let known = *index.entry((name, row.namespace.as_str())).or_insert_with(|| {
            let (name, namespace) = (name.to_owned(), row.namespace.clone());
            rows.push(HistogramRow { name, namespace, sum: Sum::default(), retained_bytes: None });
            rows.len() - 1
        });
        rows[known].sum.add_sum(&row.sum);
    }
    Histogram::of_rows(rows, None)
}
