//! `top` of heaps.

use super::super::args::{ByArg, Common, ObjectsArg, Snapshots, SortArg, TopArgs};
use super::super::load::{HeapLoader, report_loaded, without_roots};
use super::super::open::Input;
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;
use super::document::Document;
use super::{growth, quick};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::analysis::histogram::{GroupBy, Histogram, HistogramRow, Scope};
use crate::analysis::root_groups::RootGroups;
use crate::model::heap::Heap;
use crate::model::sum::Sum;

pub(super) fn run(args: &TopArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let snapshot = match args.heap.snapshot {
        Some(Snapshots::All) => return growth::run(args, input, common, terminal),
        Some(Snapshots::One(snapshot)) => Some(snapshot),
        None => None,
    };
    let by = args.by.unwrap_or(ByArg::Type);
    let objects = args.heap.objects.unwrap_or(ObjectsArg::Live);
    if by == ByArg::Root && objects != ObjectsArg::Live {
        return Err(UsageError::new("--by root counts live objects: roots hold no others").into());
    }
    if args.heap.quick {
        return quick::run(args, snapshot, input, common, terminal);
    }
    let loaded = HeapLoader::analysed("top", common, terminal).load(input, snapshot, args.heap.roots.choice())?;
    if by == ByArg::Root && loaded.heap.roots.is_empty() {
        return without_roots(input, &loaded, "there is nothing to group by", None, terminal);
    }
    let (mut histogram, has_roots) = histogram(&loaded.heap, by, objects, input)?;
    let is_retained = has_roots && objects != ObjectsArg::Unreachable;
    let sort_by = args.heap.sort.unwrap_or_else(|| default_sort(&histogram.total, is_retained));
    sort(&mut histogram.rows, sort_by);
    let document = Document {
        snapshot: loaded.snapshot,
        by,
        objects: if has_roots { objects } else { ObjectsArg::All },
        sort: sort_by,
        quick: false,
        incomplete: loaded.incomplete,
        histogram: &histogram,
    };
    document.print(input, common.rows(args.limit, super::ROWS), common, terminal)?;
    Ok(report_loaded(input, &loaded, terminal))
}

/// Counts the objects of a heap, and tells whether it has roots.
///
/// # Errors
/// When roots are asked for, and there are none.
pub(in crate::cli) fn histogram(
    heap: &Heap<'_>,
    by: ByArg,
    objects: ObjectsArg,
    input: &Input,
) -> Result<(Histogram, bool), UsageError> {
    let scope = match objects {
        ObjectsArg::Live => Scope::Live,
        ObjectsArg::All => Scope::All,
        ObjectsArg::Unreachable => Scope::Unreachable,
    };
    let graph = Graph::of(heap);
    let tree = (!heap.roots.is_empty()).then(|| DominatorTree::of_graph(heap, &graph));
    let histogram = match (by, &tree) {
        (ByArg::Root, Some(tree)) => Histogram::by_root(heap, tree, &RootGroups::of(heap, &graph)),
        (ByArg::Root, None) => {
            let file = super::super::terminal::show_path(&input.path);
            return Err(UsageError::new(format!("{file} has no roots to group by")));
        }
        (ByArg::Namespace, tree) => Histogram::of(heap, tree.as_ref(), GroupBy::Namespace, scope),
        (ByArg::SizeClass, tree) => Histogram::of(heap, tree.as_ref(), GroupBy::SizeClass, scope),
        (_, tree) => Histogram::of(heap, tree.as_ref(), GroupBy::Type, scope),
    };
    Ok((histogram, tree.is_some()))
}

/// Sorts rows by a column, largest first. What is equal stays as it is: by retained bytes, and so on.
pub(super) fn sort(rows: &mut [HistogramRow], by: SortArg) {
    rows.sort_by_key(|row| std::cmp::Reverse(value(row, by)));
}

/// The number in a column.
pub(super) fn value(row: &HistogramRow, column: SortArg) -> u64 {
    match column {
        SortArg::Retained => row.retained_bytes.unwrap_or(0),
        SortArg::Shallow => row.sum.shallow_bytes,
        SortArg::Count => row.sum.count,
        SortArg::External => row.sum.external_bytes,
        SortArg::Size => row.sum.bytes(),
    }
}

/// What rows are sorted by unless something else is asked for: what would go with them, or what there is of them if that is
/// nothing.
pub(in crate::cli) fn default_sort(total: &Sum, is_retained: bool) -> SortArg {
    match is_retained {
        true => SortArg::Retained,
        false if total.external_bytes == 0 => SortArg::Shallow,
        false => SortArg::Size,
    }
}
