//! A path as a person sees it: the root, then one line for each step, each a little further in.

use super::super::objects::Analysed;
use super::super::size::{count, size};
use super::super::terminal::Terminal;
use crate::analysis::paths::{Origin, Path};
use crate::model::heap::{Heap, ObjectId, RootKind};

/// Longer paths are cut in the middle.
const MOST_LINES: usize = 30;
/// Steps further in stay below each other.
const MOST_INDENT: usize = 12;

/// The kind of a root, and its name.
pub(in crate::cli) fn root_text(heap: &Heap<'_>, origin: Origin) -> (RootKind, String) {
    match origin {
        Origin::Root(row) => {
            heap.roots.get(row).map_or((RootKind::Other, String::new()), |root| (root.kind, root.text(&heap.names)))
        }
        Origin::Synthetic(object) => (RootKind::Runtime, heap.names.text(heap.type_of(object).name).to_owned()),
    }
}

/// Steps over one label to one type, in a row.
struct Run {
    label: String,
    steps: u64,
    /// The last object.
    object: ObjectId,
}

fn runs(heap: &Heap<'_>, path: &Path) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for step in &path.steps {
        let label = step.by.text(heap);
        match runs.last_mut() {
            Some(run) if run.label == label && heap.type_of(run.object) == heap.type_of(step.object) => {
                run.steps += 1;
                run.object = step.object;
            }
            _ => runs.push(Run { label: label.into_owned(), steps: 1, object: step.object }),
        }
    }
    runs
}

/// The lines of a path, the object marked at its end.
pub(in crate::cli) fn lines(analysed: &Analysed<'_, '_>, path: &Path, exact: bool, terminal: &Terminal) -> String {
    let heap = analysed.heap;
    let (kind, root) = root_text(heap, path.origin);
    let mut text = format!("  {}  {root}\n", terminal.bold(kind.name()));
    let runs = runs(heap, path);
    let cut = match runs.len() > MOST_LINES {
        true => MOST_LINES / 2..runs.len() - MOST_LINES / 2,
        false => 0..0,
    };
    let mut rows: Vec<[String; 6]> = Vec::new();
    for (depth, run) in runs.iter().enumerate() {
        if cut.contains(&depth) {
            if depth == cut.start {
                let left: u64 = runs[cut.clone()].iter().map(|run| run.steps).sum();
                rows.push([
                    format!("{}… {} steps left out", indent(depth), count(left)),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                ]);
            }
            continue;
        }
        let times = if run.steps > 1 { format!(" ×{}", count(run.steps)) } else { String::new() };
        rows.push([
            format!("{}└ {}{times}", indent(depth), run.label).trim_end().to_owned(),
            analysed.describe(run.object),
            heap.id(run.object),
            size(heap.shallow.get(run.object.index()), exact),
            format!("retains {}", size(analysed.retained(run.object), exact)),
            if depth + 1 == runs.len() { "◀".to_owned() } else { String::new() },
        ]);
    }
    text.push_str(&aligned(&rows));
    text
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(MOST_INDENT))
}

/// Columns without a header: sizes to the right, the rest to the left.
fn aligned(rows: &[[String; 6]]) -> String {
    let width = |column: usize| {
        // What says that steps are left out has no other columns and may stand beyond the first.
        let cells = rows.iter().filter(|row| column > 0 || !row[1].is_empty() || !row[2].is_empty());
        cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::from("   ");
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            match column {
                3 => line.extend([padding.as_str(), cell]),
                _ => line.extend([cell.as_str(), &padding]),
            }
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A path on one line: `static cache → _Map data_ → _List`. Long ones are cut in the middle.
pub(in crate::cli) fn one_line(analysed: &Analysed<'_, '_>, path: &Path) -> String {
    const ENDS: usize = 3;
    let heap = analysed.heap;
    let (kind, root) = root_text(heap, path.origin);
    let mut parts = vec![format!("{} {root}", kind.name())];
    for run in runs(heap, path) {
        let times = if run.steps > 1 { format!(" ×{}", count(run.steps)) } else { String::new() };
        let label = if run.label.is_empty() { String::new() } else { format!("{}{times} ", run.label) };
        parts.push(format!("{label}{}", analysed.describe(run.object)));
    }
    if parts.len() > 2 * ENDS + 2 {
        let left = parts.len() - 2 * ENDS - 1;
        parts.splice(ENDS + 1..=ENDS + left, [format!("… {} more …", count(left as u64))]);
    }
    parts.join(" → ")
}
