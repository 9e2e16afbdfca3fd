//! The heaps of each runtime as a person sees them.

use super::view::View;
use crate::cli::print::{Align, Table};
use crate::cli::session::Session;
use crate::cli::size::{count, duration, percent, plural};
use crate::cli::terminal::shown;
use crate::input::info::facts::Amount;
use crate::input::info::{BiggestType, FormatDetails, HeapInfo, Info, SnapshotInfo};

pub(super) fn show(info: &Info, heap: &HeapInfo, view: &mut View, session: &Session) {
    let Some(summary) = heap.summary(info) else {
        view.notes.push("  no readable snapshot".to_owned());
        return;
    };
    view.headline.extend(summary.headline.iter().map(|phrase| text(phrase, session)));
    for fact in &summary.facts {
        view.fact(fact.label, text(fact.amount.as_slice(), session), text(&fact.phrase, session));
    }
    let is_of_several =
        |snapshot: &SnapshotInfo| matches!(snapshot.details, FormatDetails::Mvmheap(_));
    if heap.snapshots.iter().all(is_of_several) {
        show_snapshots(&heap.snapshots, view, session);
    }
}

/// Words with amounts, as the session writes them.
fn text(parts: &[Amount], session: &Session) -> String {
    let part = |part: &Amount| match part {
        Amount::Text(text) => text.clone(),
        Amount::Count(number) => count(*number),
        Amount::Bytes(bytes) => session.size(*bytes),
        Amount::Share(share) => percent(*share),
        Amount::Counted(number, one, many) => plural(*number, one, many),
    };
    parts.iter().map(part).collect()
}

/// Snapshots shown at the start and at the end of a long file.
const FIRST: usize = 8;
const LAST: usize = 12;

/// A table of the snapshots of a file with several.
fn show_snapshots(snapshots: &[SnapshotInfo], view: &mut View, session: &Session) {
    let mut table = Table::new(&[
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ]);
    table.row(["#", "GC", "AT", "OBJECTS", "REFERENCES", "SIZE", "BIGGEST TYPE"]);
    let skipped = snapshots.len().saturating_sub(FIRST + LAST);
    for (i, snapshot) in snapshots.iter().enumerate() {
        if skipped > 1 && i == FIRST {
            table.row(["…".to_owned(), String::new(), String::new(), format!("{skipped} more")]);
        }
        if skipped <= 1 || i < FIRST || i >= FIRST + skipped {
            table.row(snapshot_row(snapshot, session));
        }
    }
    view.table = Some(table);
    if skipped > 1 {
        view.notes.push("  --format csv shows all snapshots".to_owned());
    }
}

fn snapshot_row(snapshot: &SnapshotInfo, session: &Session) -> Vec<String> {
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), count);
    let FormatDetails::Mvmheap(details) = &snapshot.details else { return Vec::new() };
    let bytes = match (snapshot.shallow_bytes, snapshot.external_bytes) {
        (Some(shallow), Some(external)) => Some(shallow.saturating_add(external)),
        _ => details.total_heap_size,
    };
    let biggest = match &details.biggest_type {
        Some(BiggestType { name: Some(name), bytes, .. }) => {
            format!("{} {}", shown(name), session.size(*bytes))
        }
        _ => String::new(),
    };
    let incomplete = if snapshot.complete { "" } else { "incomplete " };
    vec![
        snapshot.index.to_string(),
        number(details.gc_seq_num),
        snapshot.time_us.map_or_else(|| "-".to_owned(), duration),
        number(snapshot.objects),
        number(snapshot.references.or(details.total_refs)),
        bytes.map_or_else(|| "-".to_owned(), |bytes| session.size(bytes)),
        format!("{incomplete}{biggest}"),
    ]
}
