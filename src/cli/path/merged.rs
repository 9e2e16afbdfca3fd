//! `path --type`: the shortest paths of all objects of some types, merged.

use super::super::args::{Common, OutputFormat, PathArgs};
use super::super::export;
use super::super::glob::Glob;
use super::super::objects::{RootRow, matching_types, no_such_type, type_name};
use super::super::size::{count, percent, plural, size};
use super::super::status::UsageError;
use super::super::terminal::Terminal;
use super::omitted;
use crate::analysis::graph::Graph;
use crate::analysis::paths::VALUE_OF_KEY;
use crate::analysis::paths::merged::{Merged, MergedLabel, merged};
use crate::analysis::paths::shortest::Shortest;
use crate::model::heap::{Heap, Label, Root, TypeId};
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    snapshot: u64,
    #[serde(rename = "type")]
    of: String,
    object: Option<()>,
    total: Total,
    unreachable: Total,
    paths: Vec<Row>,
    omitted: Omitted,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Total {
    count: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
    #[serde(flatten)]
    of: Total,
}

#[derive(Serialize)]
struct Row {
    root: RootRow,
    steps: Vec<StepRow>,
    count: u64,
    bytes: u64,
    example: String,
}

#[derive(Serialize)]
struct StepRow {
    label: Option<String>,
    /// Null: there is one on each of the paths.
    object: (),
    #[serde(rename = "type")]
    of: String,
    repeated: bool,
}

/// The paths to all objects of some types.
struct Paths {
    all: Vec<Merged>,
    /// What they lead to.
    total: Total,
    unreachable: Total,
}

/// The result in the format that was asked for.
pub(super) fn text(
    heap: &Heap<'_>,
    args: &PathArgs,
    snapshot: u64,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<String> {
    let glob = args.type_glob.as_deref().unwrap_or("*");
    let paths = paths(heap, glob)?;
    let (shown, left) = paths.all.split_at(common.rows(args.limit, 10).min(paths.all.len()));
    let rows: Vec<Row> = shown.iter().map(|merged| row(heap, merged)).collect();
    let left = Omitted { rows: left.len() as u64, of: sum(left) };
    Ok(match common.format {
        OutputFormat::Table => table(&rows, &paths, &left, glob, common, terminal),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/path/1",
                file: args.file.display().to_string(),
                snapshot,
                of: glob.to_owned(),
                object: None,
                total: paths.total,
                unreachable: paths.unreachable,
                paths: rows,
                omitted: left,
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&rows)?,
        OutputFormat::Csv => export::csv(rows.iter().map(csv_row))?,
    })
}

/// Merges the paths to the objects of the types that a glob matches.
///
/// # Errors
/// When no object has such a type.
fn paths(heap: &Heap<'_>, glob: &str) -> Result<Paths, UsageError> {
    let types = matching_types(heap, &Glob::new(glob));
    let wanted = |of: &TypeId| types.get(of.0 as usize).copied().unwrap_or(false);
    if !heap.type_of.iter().any(wanted) {
        return Err(no_such_type(heap, glob));
    }
    let graph = Graph::of(heap);
    let shortest = Shortest::of(heap, &graph);
    let objects = || heap.objects().filter(|object| wanted(&heap.type_of[object.index()]));
    let all = merged(&shortest, objects());
    let mut unreachable = Total::default();
    for object in objects().filter(|object| shortest.by(*object).is_none()) {
        unreachable.count += 1;
        let bytes = heap.shallow.get(object.index()).saturating_add(heap.external(object));
        unreachable.bytes = unreachable.bytes.saturating_add(bytes);
    }
    Ok(Paths { total: sum(&all), all, unreachable })
}

fn sum(merged: &[Merged]) -> Total {
    Total {
        count: merged.iter().map(|merged| merged.count).sum(),
        bytes: merged.iter().fold(0, |sum, merged| sum.saturating_add(merged.bytes)),
    }
}

fn table(rows: &[Row], paths: &Paths, left: &Omitted, glob: &str, common: &Common, terminal: &Terminal) -> String {
    let Paths { all, total, unreachable } = paths;
    let mut text = format!(
        "{} {}, {}, held over {}:\n",
        plural(total.count, "object", "objects"),
        terminal.bold(glob),
        size(total.bytes, common.bytes),
        plural(all.len() as u64, "kind of shortest path", "kinds of shortest paths"),
    );
    rows.iter().for_each(|row| text.push_str(&lines(row, *total, common.bytes, terminal)));
    text.push('\n');
    if let Some(omitted) = omitted(rows.len(), all.len(), "path", "paths") {
        let share = (total.bytes - left.of.bytes) as f64 / total.bytes.max(1) as f64;
        text.push_str(&format!("{omitted}; {} of {}\n", percent(share), size(total.bytes, common.bytes)));
    }
    if unreachable.count > 0 {
        let objects = plural(unreachable.count, "object", "objects");
        text.push_str(&format!("unreachable: {objects}, {}\n", size(unreachable.bytes, common.bytes)));
    }
    text
}

fn csv_row(row: &Row) -> CsvRow {
    let step = |step: &StepRow| {
        format!(
            "{}{}{}",
            step.label.as_deref().map_or(String::new(), |label| format!("{label} ")),
            step.of,
            if step.repeated { "+" } else { "" }
        )
    };
    let path: Vec<String> = row.steps.iter().map(step).collect();
    CsvRow {
        count: row.count,
        bytes: row.bytes,
        root_kind: row.root.kind,
        root: row.root.label.clone(),
        path: path.join(" > "),
        example: row.example.clone(),
    }
}

#[derive(Default, Serialize)]
struct CsvRow {
    count: u64,
    bytes: u64,
    root_kind: &'static str,
    root: String,
    path: String,
    example: String,
}

fn row(heap: &Heap<'_>, merged: &Merged) -> Row {
    let root = merged.root;
    let text = match root.label {
        MergedLabel::One(label) => {
            Root { object: merged.example, kind: root.kind, group: root.group, label, frame: None }.text(&heap.names)
        }
        MergedLabel::Element | MergedLabel::Ephemeron => format!("{} [*]", heap.names.text(root.group)),
    };
    let steps = merged.steps.iter().map(|step| StepRow {
        label: Some(label_text(heap, step.label).into_owned()).filter(|text| !text.is_empty()),
        object: (),
        of: type_name(heap, step.of).to_owned(),
        repeated: step.repeated,
    });
    Row {
        root: RootRow { kind: root.kind.name(), label: text },
        steps: steps.collect(),
        count: merged.count,
        bytes: merged.bytes,
        example: heap.id(merged.example),
    }
}

fn label_text<'h>(heap: &'h Heap<'_>, label: MergedLabel) -> Cow<'h, str> {
    match label {
        MergedLabel::One(Label::NONE) => "".into(),
        MergedLabel::One(label) => label.text(&heap.names),
        MergedLabel::Element => "[*]".into(),
        MergedLabel::Ephemeron => VALUE_OF_KEY.into(),
    }
}

/// Longer paths are cut in the middle.
const MOST_STEPS: usize = 12;

fn lines(row: &Row, total: Total, exact: bool, terminal: &Terminal) -> String {
    let share = row.bytes as f64 / total.bytes.max(1) as f64;
    let mut text = format!(
        "\n{}  {}  {}, such as {}\n  {}  {}\n",
        size(row.bytes, exact),
        percent(share),
        plural(row.count, "object", "objects"),
        row.example,
        terminal.bold(row.root.kind),
        row.root.label
    );
    let cut = match row.steps.len() > MOST_STEPS {
        true => MOST_STEPS / 2..row.steps.len() - MOST_STEPS / 2,
        false => 0..0,
    };
    for (depth, step) in row.steps.iter().enumerate() {
        let indent = "  ".repeat(depth.min(MOST_STEPS));
        if depth == cut.start && !cut.is_empty() {
            text.push_str(&format!("   {indent}… {} steps left out\n", count(cut.len() as u64)));
        }
        if cut.contains(&depth) {
            continue;
        }
        let label = step.label.as_ref().map_or(String::new(), |label| format!("{label} "));
        let again = if step.repeated { " (one or more)" } else { "" };
        text.push_str(&format!("   {indent}└ {label}{}{again}\n", step.of));
    }
    text
}
