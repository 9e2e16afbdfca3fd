//! Changes between two heaps for people.

use super::super::args::{ByArg, Common, ObjectsArg, SortArg};
use super::super::size::{count, plural, size};
use super::super::table::{Align, Table};
use super::super::top::document::{by_name, root_text};
use super::document::status;
use crate::analysis::diff::{Delta, HistogramChange, rise};
use crate::analysis::graph::Graph;
use crate::analysis::histogram::Histogram;
use crate::analysis::root_groups::{HeldBy, RootGroups};
use crate::model::heap::Heap;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What each row is besides its numbers: gone, or new, and then what holds it.
pub(super) fn notes(rows: &[HistogramChange], by: ByArg, new: Option<&Heap<'_>>) -> Vec<String> {
    let is_new = |row: &HistogramChange| status(row) == "new";
    let holders = match new {
        Some(heap) if by == ByArg::Type && rows.iter().any(is_new) => holders(heap, rows),
        _ => rows.iter().map(|_| None).collect(),
    };
    let note = |(row, holder): (&HistogramChange, Option<String>)| match (status(row), holder) {
        ("changed", _) => String::new(),
        ("new", Some(holder)) => format!("new: held by {holder}"),
        (status, _) => status.to_owned(),
    };
    rows.iter().zip(holders).map(note).collect()
}

/// The group of roots that alone holds most objects of each type, if one does.
fn holders(heap: &Heap<'_>, rows: &[HistogramChange]) -> Vec<Option<String>> {
    let groups = RootGroups::of(heap, &Graph::of(heap));
    let index: FxHashMap<(&str, &str), usize> =
        rows.iter().enumerate().map(|(row, change)| ((change.name.as_str(), change.namespace.as_str()), row)).collect();
    let text = |name| heap.names.text(name);
    let row_of: Vec<_> = heap.types.iter().map(|of| index.get(&(text(of.name), text(of.namespace)))).collect();
    let mut counts: Vec<BTreeMap<u32, u64>> = rows.iter().map(|_| BTreeMap::new()).collect();
    for object in heap.objects() {
        let Some(&row) = row_of[heap.type_of[object.index()].0 as usize] else { continue };
        if let HeldBy::Group(group) = groups.holder(object) {
            *counts[row].entry(group).or_default() += 1;
        }
    }
    let most = |(counts, row): (BTreeMap<u32, u64>, &HistogramChange)| {
        let (group, held) = counts.into_iter().max_by_key(|(group, held)| (*held, std::cmp::Reverse(*group)))?;
        let all = row.new.map_or(0, |side| side.sum.count);
        let group = &groups.groups[group as usize];
        (held > all / 2).then(|| root_text(group.kind.name(), &group.name))
    };
    counts.into_iter().zip(rows).map(most).collect()
}

pub(super) fn table(
    rows: &[HistogramChange],
    notes: &[String],
    by: ByArg,
    sort: SortArg,
    has_retained: bool,
    common: &Common,
) -> Table {
    let column = match sort {
        SortArg::Count if has_retained => SortArg::Retained,
        SortArg::Count => SortArg::Shallow,
        other => other,
    };
    let name = match column {
        SortArg::Retained => "RETAINED",
        SortArg::External => "EXTERNAL",
        SortArg::Size => "SIZE",
        _ => "SHALLOW",
    };
    let has_namespaces = by == ByArg::Type && rows.iter().any(|row| !row.namespace.is_empty());
    let right = Align::Right;
    let mut table = Table::new(&[right, right, right, right, Align::Left, Align::Left, Align::Left]).minor(&[3, 1, 2]);
    let mut head = vec!["DELTA".to_owned(), format!("{name} NOW"), "DELTA".to_owned(), "COUNT NOW".to_owned()];
    head.push(if by == ByArg::Type { "TYPE" } else { by_name(by) }.to_uppercase());
    if has_namespaces {
        head.push("NAMESPACE".to_owned());
    }
    table.row(head);
    for (row, note) in rows.iter().zip(notes) {
        let rise = row.delta();
        let new = row.new.unwrap_or_default();
        let now = match column {
            SortArg::Retained => new.retained_bytes.unwrap_or(0),
            SortArg::External => new.sum.external_bytes,
            SortArg::Size => new.sum.bytes(),
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
            name,
        ];
        if has_namespaces {
            cells.push(row.namespace.clone());
        }
        cells.push(note.clone());
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

pub(super) fn footer(
    rows: &[HistogramChange],
    shown: &[HistogramChange],
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
    let rise = signed(rise(old.total.bytes(), new.total.bytes()), |bytes| size(bytes, common.bytes));
    format!(
        "{changed} ({new_rows} new, {gone} gone), {} unchanged; {which}: {} → {} ({rise}), {} → {}\n",
        count(unchanged),
        bytes(old),
        bytes(new),
        objects_of(old),
        plural(new.total.count, "object", "objects"),
    )
}

/// The change in a column.
pub(super) fn delta(delta: &Delta, column: SortArg) -> i64 {
    match column {
        SortArg::Retained => delta.retained_bytes.unwrap_or(0),
        SortArg::Shallow => delta.shallow_bytes,
        SortArg::External => delta.external_bytes,
        SortArg::Size => delta.shallow_bytes.saturating_add(delta.external_bytes),
        SortArg::Count => delta.count,
    }
}
