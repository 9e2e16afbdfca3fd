//! `path --type`: the shortest paths of all objects of some types, merged.

use super::super::args::{Common, OutputFormat, PathArgs};
use super::super::export;
use super::super::glob::Glob;
use super::super::memory;
use super::super::objects::{RootRow, matching_types, no_such_type, type_name};
use super::super::size::{count, percent, plural, size};
use super::super::status::UsageError;
use super::super::terminal::Terminal;
use super::omitted;
use crate::analysis::graph::Graph;
use crate::analysis::paths::VALUE_OF_KEY;
use crate::analysis::paths::merged::{Merged, MergedLabel, MergedStep, MergedSteps, Repeats, merged};
use crate::analysis::paths::shortest::Shortest;
use crate::model::heap::{Heap, Label, ObjectId, Root};
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
    /// In the middle of `steps`.
    omitted_steps: u64,
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
    /// The group of steps that ends here and repeats.
    repeats: Option<RepeatsRow>,
}

#[derive(Serialize)]
struct RepeatsRow {
    steps: usize,
    most: Option<u32>,
}

/// The objects of some types, and the paths that lead to them.
struct Paths {
    kinds: usize,
    /// Objects that can be reached.
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
    let wanted = wanted(heap, glob)?;
    let objects = || heap.objects().filter(|object| wanted[heap.type_of[object.index()].0 as usize]);
    let graph = Graph::of(heap);
    let shortest = Shortest::of(heap, &graph);
    let most = memory::limit(common).unwrap_or(u64::MAX);
    let Some(merged) = merged(&shortest, objects(), most) else {
        let message = format!("path --type {glob} needs more than {} for the kinds of paths", size(most, common.bytes));
        return Err(UsageError::new(message).hint("match fewer types; --max-memory allows more").into());
    };
    let paths = Paths {
        kinds: merged.rows.len(),
        total: sum(&merged.rows),
        unreachable: total(heap, objects().filter(|object| shortest.by(*object).is_none())),
    };
    let (shown, left) = merged.rows.split_at(common.rows(args.limit, 10).min(merged.rows.len()));
    let rows: Vec<Row> = shown.iter().map(|row| self::row(heap, row, merged.steps(row))).collect();
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

/// Whether a glob matches, by type.
///
/// # Errors
/// When no object has a type that matches.
fn wanted(heap: &Heap<'_>, glob: &str) -> Result<Vec<bool>, UsageError> {
    let mut types = matching_types(heap, &Glob::new(glob));
    types.resize(heap.types.len(), false);
    match heap.type_of.iter().any(|of| types[of.0 as usize]) {
        true => Ok(types),
        false => Err(no_such_type(heap, glob)),
    }
}

fn total(heap: &Heap<'_>, objects: impl Iterator<Item = ObjectId>) -> Total {
    objects.fold(Total::default(), |total, object| {
        let bytes = heap.shallow.get(object.index()).saturating_add(heap.external_bytes(object));
        Total { count: total.count + 1, bytes: total.bytes.saturating_add(bytes) }
    })
}

fn sum(merged: &[Merged]) -> Total {
    Total {
        count: merged.iter().map(|merged| merged.count).sum(),
        bytes: merged.iter().fold(0, |sum, merged| sum.saturating_add(merged.bytes)),
    }
}

fn table(rows: &[Row], paths: &Paths, left: &Omitted, glob: &str, common: &Common, terminal: &Terminal) -> String {
    let Paths { kinds, total, unreachable } = paths;
    let mut text = format!(
        "{} {}, {}, held over {}:\n",
        plural(total.count, "object", "objects"),
        terminal.bold(glob),
        size(total.bytes, common.bytes),
        plural(*kinds as u64, "kind of shortest path", "kinds of shortest paths"),
    );
    rows.iter().for_each(|row| text.push_str(&lines(row, *total, common.bytes, terminal)));
    text.push('\n');
    if let Some(omitted) = omitted(rows.len(), *kinds, "path", "paths") {
        let share = total.bytes.saturating_sub(left.of.bytes) as f64 / total.bytes.max(1) as f64;
        text.push_str(&format!("{omitted}; {} of {}\n", percent(share), size(total.bytes, common.bytes)));
    }
    if unreachable.count > 0 {
        let objects = plural(unreachable.count, "object", "objects");
        text.push_str(&format!("unreachable: {objects}, {}\n", size(unreachable.bytes, common.bytes)));
    }
    text
}

fn csv_row(row: &Row) -> CsvRow {
    let path: Vec<String> = groups(row)
        .into_iter()
        .map(|group| match group {
            Group::Omitted(steps) => format!("… {steps} steps …"),
            Group::Steps(steps) => {
                let again = |steps: &[StepRow]| if repeats(steps).is_some() { "+" } else { "" };
                let each: Vec<_> =
                    steps.iter().map(|step| format!("{}{}", text_of(step), if step.repeated { "+" } else { "" })).collect();
                if let [one] = each.as_slice() { one.clone() } else { format!("({}){}", each.join(" > "), again(steps)) }
            }
        })
        .collect();
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

fn row(heap: &Heap<'_>, merged: &Merged, steps: MergedSteps) -> Row {
    let root = merged.root;
    let text = match root.label {
        MergedLabel::One(label) => {
            Root { object: merged.example, kind: root.kind, group: root.group, label, frame: None }.text(&heap.names)
        }
        MergedLabel::Element | MergedLabel::Ephemeron => format!("{} [*]", heap.names.text(root.group)),
    };
    let step = |step: &MergedStep| StepRow {
        label: Some(label_text(heap, step.label).into_owned()).filter(|text| !text.is_empty()),
        object: (),
        of: type_name(heap, step.of).to_owned(),
        repeated: step.repeats.is_some_and(|repeats| repeats.steps == 1),
        repeats: step.repeats.map(|Repeats { steps, most }| RepeatsRow { steps, most }),
    };
    Row {
        root: RootRow { kind: root.kind.name(), label: text },
        steps: steps.first.iter().chain(&steps.last).map(step).collect(),
        omitted_steps: steps.omitted,
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

/// A line of a path: steps that repeat as a group, one step, or the place of those that are left out.
enum Group<'r> {
    Steps(&'r [StepRow]),
    Omitted(u64),
}

/// The lines of a path. Of groups that overlap only the later one is kept.
fn groups(row: &Row) -> Vec<Group<'_>> {
    let cut = if row.omitted_steps > 0 { MergedSteps::HALF.min(row.steps.len()) } else { 0 };
    let (first, last) = row.steps.split_at(cut);
    let mut groups = Vec::new();
    for part in [last, first] {
        let mut rest = part;
        while let Some(step) = rest.last() {
            let steps = step.repeats.as_ref().map_or(1, |repeats| repeats.steps);
            let (before, group) = rest.split_at(rest.len().saturating_sub(steps));
            groups.push(Group::Steps(group));
            rest = before;
        }
        if row.omitted_steps > 0 && !std::ptr::eq(part, first) {
            groups.push(Group::Omitted(row.omitted_steps));
        }
    }
    groups.reverse();
    groups
}

fn repeats(steps: &[StepRow]) -> Option<&RepeatsRow> {
    steps.last()?.repeats.as_ref()
}

fn text_of(step: &StepRow) -> String {
    match &step.label {
        Some(label) => format!("{label} {}", step.of),
        None => step.of.clone(),
    }
}

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
    for (depth, group) in groups(row).into_iter().enumerate() {
        let indent = "  ".repeat(depth);
        text.push_str(&match group {
            Group::Omitted(steps) => format!("   {indent}… {} left out\n", plural(steps, "step", "steps")),
            Group::Steps(steps) => format!("   {indent}└ {}\n", group_text(steps)),
        });
    }
    text
}

/// `next Node ×1–99`, `(value Scalar → next Node) ×1–19 999`.
fn group_text(steps: &[StepRow]) -> String {
    let times = |repeats: Option<&RepeatsRow>| match repeats {
        None => String::new(),
        Some(RepeatsRow { most: Some(most), .. }) => format!(" ×1–{}", count((*most).into())),
        Some(RepeatsRow { most: None, .. }) => " (one or more)".to_owned(),
    };
    let inner = |step: &StepRow| {
        let repeats = step.repeats.as_ref().filter(|repeats| repeats.steps == 1);
        format!("{}{}", text_of(step), times(repeats))
    };
    match steps {
        [one] => inner(one),
        several => {
            let each: Vec<_> = several.iter().map(inner).collect();
            format!("({}){}", each.join(" → "), times(repeats(several)))
        }
    }
}
