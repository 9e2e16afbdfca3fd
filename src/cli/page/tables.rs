//! Tables of a page about a heap.

use crate::analysis::histogram::HistogramRow;
use crate::analysis::threads::{ThreadGroup, Threads, program_functions};
use crate::analysis::waste::{Waste, WasteKind};
use crate::cli::heap::{type_name, value};
use crate::cli::size::{count, size};
use crate::model::heap::{Heap, ThreadKind};
use crate::output::report::{Report, ReportTable};

/// Groups of objects. Shares are of `whole` bytes.
pub(super) fn groups(
    report: &mut Report,
    title: &str,
    rows: &[HistogramRow],
    whole: u64,
    most: usize,
    name: impl Fn(&HistogramRow) -> String,
) -> ReportTable {
    let shown = &rows[..rows.len().min(most)];
    let names: Vec<String> = shown.iter().map(name).collect();
    let mut table = ReportTable::new(title, rows.len() as u64)
        .names(report, "Name", names.iter().map(String::as_str))
        .numbers("Count", "number", shown.iter().map(|row| number(row.sum.count)))
        .numbers("Shallow", "bytes", shown.iter().map(|row| number(row.sum.shallow_bytes)));
    if shown.iter().any(|row| row.sum.external_bytes > 0) {
        table = table.numbers(
            "External",
            "bytes",
            shown.iter().map(|row| number(row.sum.external_bytes)),
        );
    }
    let share = |row: &HistogramRow| row.retained_bytes.unwrap_or(0) as f64 / whole.max(1) as f64;
    table
        .shares("Share", shown.iter().map(share))
        .numbers("Retained", "bytes", shown.iter().map(|row| row.retained_bytes.and_then(number)))
        .sorted()
}

/// A number in a table. Those beyond 63 bits, which only damaged files have, are absent.
pub(super) fn number(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

/// Threads by their stacks. `None` if the dump has no threads.
pub(super) fn threads(
    report: &mut Report,
    heap: &Heap<'_>,
    threads: &Threads,
    most: usize,
) -> Option<ReportTable> {
    let shown = &threads.groups[..threads.groups.len().min(most)];
    let first = |group: usize| &heap.threads[shown[group].threads[0] as usize];
    let all = || 0..shown.len();
    let called: Vec<String> = all().map(|group| called(heap, &shown[group])).collect();
    let kinds: Vec<&str> = all().map(|group| first(group).kind.name()).collect();
    let states: Vec<&str> = all().map(|group| heap.names.text(first(group).state)).collect();
    let calls = |(function, times): (&str, u32)| {
        if times > 1 { format!("{function} ×{times}") } else { function.to_owned() }
    };
    let stack = |group| {
        program_functions(heap, first(group)).into_iter().map(calls).collect::<Vec<_>>().join(" ← ")
    };
    let stacks: Vec<String> = all().map(stack).collect();
    let table = ReportTable::new("Threads by stack", threads.groups.len() as u64)
        .names(report, "Kind", kinds.into_iter())
        .names(report, "Name", called.iter().map(String::as_str))
        .names(report, "State", states.into_iter())
        .names(report, "Stack", stacks.iter().map(String::as_str))
        .numbers("Threads", "number", shown.iter().map(|group| number(group.threads.len() as u64)))
        .numbers("Retained", "bytes", shown.iter().map(|group| number(group.retained.bytes())))
        .sorted();
    (!shown.is_empty()).then_some(ReportTable { finds: None, ..table })
}

/// The names of a few threads, or their ids.
fn called(heap: &Heap<'_>, group: &ThreadGroup) -> String {
    const MOST: usize = 3;
    let name = |row: &u32| {
        let thread = &heap.threads[*row as usize];
        match heap.names.text(thread.name) {
            name if thread.kind != ThreadKind::Goroutine && !name.is_empty() => name.to_owned(),
            _ => thread.id.to_string(),
        }
    };
    let mut names: Vec<String> = group.threads.iter().take(MOST).map(name).collect();
    if group.threads.len() > MOST {
        names.push(format!("… {} more", count((group.threads.len() - MOST) as u64)));
    }
    names.join(", ")
}

/// A table of the memory that could be saved. `None` if there is none.
pub(super) fn waste(
    report: &mut Report,
    heap: &Heap<'_>,
    waste: &Waste,
    most: usize,
) -> Option<ReportTable> {
    let mut rows: Vec<_> = waste
        .parts
        .iter()
        .flat_map(|part| part.rows.iter().map(move |row| (part.kind, row)))
        .filter(|(_, row)| row.bytes > 0)
        .collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.bytes));
    let shown = &rows[..rows.len().min(most)];
    let ids: Vec<String> = shown.iter().map(|(_, row)| heap.id(row.example)).collect();
    // Rows of duplicates all have one value, which the table shows.
    let is_value = |kind| matches!(kind, WasteKind::DuplicateText | WasteKind::DuplicateArray);
    let texts: Vec<String> = shown
        .iter()
        .map(|(kind, row)| is_value(*kind).then(|| value::brief(heap, row.example)))
        .map(Option::unwrap_or_default)
        .collect();
    let mut table = ReportTable::new("Waste", rows.len() as u64)
        .names(report, "Type", shown.iter().map(|(_, row)| type_name(heap, row.of)))
        .names(report, "Kind", shown.iter().map(|(kind, _)| kind.title()))
        .names(report, "Text", texts.iter().map(String::as_str))
        .names(report, "Example", ids.iter().map(String::as_str))
        .numbers("Count", "number", shown.iter().map(|(_, row)| number(row.count)))
        .numbers("Bytes", "bytes", shown.iter().map(|(_, row)| number(row.bytes)))
        .sorted();
    table.note = Some(format!(
        "{} could be saved; `dumptool waste` explains how each kind is computed.",
        size(waste.bytes(), false)
    ));
    (!shown.is_empty()).then_some(table)
}
