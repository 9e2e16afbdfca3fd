//! `path --type`: the shortest paths of all objects of some types, merged.

use crate::analysis::paths::VALUE_OF_KEY;
use crate::analysis::paths::merged::{
    Merged, MergedLabel, MergedStep, MergedSteps, Repeats, merged, without_indices,
};
use crate::cli::args::{FilterArgs, PathArgs};
use crate::cli::heap::Answers;
use crate::cli::heap::path::root_json;
use crate::cli::heap::{known_types, type_name};
use crate::cli::memory;
use crate::cli::open::Input;
use crate::cli::print::{Columns, Document, Shown, Value, print};
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural, showing};
use crate::cli::status::UsageError;
use crate::cli::terminal::shown as name;
use crate::model::heap::{Heap, Label, ObjectId, Root, RootKind};
use std::borrow::Cow;

#[derive(Clone, Copy, Default)]
struct Total {
    count: u64,
    bytes: u64,
}

/// Paths of one kind: the same root and the same steps.
struct Row<'h> {
    root: (RootKind, String),
    steps: Vec<StepRow<'h>>,
    /// Number of steps that were left out in the middle of `steps`.
    omitted_steps: u64,
    count: u64,
    bytes: u64,
    example: String,
}

struct StepRow<'h> {
    label: Cow<'h, str>,
    type_name: &'h str,
    /// The repetition of the group of steps that ends here, if the group repeats.
    repeats: Option<Repeats>,
}

/// Totals over the objects of some types, and the number of kinds of paths to them.
struct Paths {
    kinds: usize,
    /// The objects that roots reach.
    total: Total,
    unreachable: Total,
    /// Whether data that was not read may hold the unreachable objects.
    incomplete: bool,
}

/// Prints the result in the format that was requested.
pub(super) fn print_merged(
    loaded: &Answers<'_>,
    input: &Input,
    args: &PathArgs,
    session: &Session,
) -> anyhow::Result<()> {
    let heap = &loaded.heap;
    let glob = args.type_glob.as_deref().unwrap_or("*");
    let filter = FilterArgs { type_glob: Some(glob.to_owned()), ..FilterArgs::default() };
    let wanted = known_types(loaded, input, &filter)?;
    let objects = || heap.objects().filter(|object| wanted[heap.type_id(*object).0 as usize]);
    let shortest = loaded.shortest();
    let most = memory::limit(&session.common).unwrap_or(u64::MAX);
    let Some(merged) = merged(&shortest, objects(), most) else {
        let message = format!(
            "path --type {glob} needs more memory than the limit of {}",
            session.size(most)
        );
        return Err(UsageError::new(message)
            .hint("match fewer types, or raise the limit with --max-memory")
            .into());
    };
    let paths = Paths {
        kinds: merged.rows.len(),
        total: sum(&merged.rows),
        unreachable: total(heap, objects().filter(|object| shortest.by(*object).is_none())),
        incomplete: loaded.incomplete,
    };
    let (shown, left) = session.shown(&merged.rows, args.limit, 10);
    let rows: Vec<Row> = shown.iter().map(|row| self::row(heap, row, merged.steps(row))).collect();
    let document = || {
        let Total { count, bytes } = sum(left);
        let omitted =
            [("rows", left.len().into()), ("count", count.into()), ("bytes", bytes.into())];
        Document::new("dumptool/path/1", &args.file)
            .with("snapshot", loaded.snapshot)
            .with("type", glob)
            .with("object", ())
            .with("total", paths.total.json())
            .with("unreachable", paths.unreachable.json())
            .rows("paths")
            .with("omitted", Value::from(omitted))
    };
    let text = || text(&rows, &paths, sum(left), glob, session);
    print(session, document, &rows, &columns(session), &Shown::Text(&text))
}

impl Total {
    fn json(self) -> Value<'static> {
        Value::from([("count", self.count.into()), ("bytes", self.bytes.into())])
    }
}

fn columns<'a>(session: &'a Session) -> Columns<'a, Row<'a>> {
    Columns::new(session)
        .json("root", |row: &'a Row<'a>| root_json(row.root.0, &row.root.1))
        .json("steps", |row| row.steps.iter().map(step_json).collect::<Vec<_>>())
        .json("omitted_steps", |row| row.omitted_steps)
        .number("count", "COUNT", |row| row.count)
        .bytes("bytes", "BYTES", |row| row.bytes)
        .flat("root_kind", "ROOT", |row| row.root.0.name())
        .flat("root", "NAME", |row| &row.root.1)
        .flat("path", "PATH", path_text)
        .text("example", "EXAMPLE", |row| &row.example)
}

fn step_json<'a>(step: &'a StepRow<'a>) -> Value<'a> {
    let repeats = step.repeats.map(|Repeats { steps, most }| {
        Value::from([("steps", steps.into()), ("most", most.into())])
    });
    Value::from([
        ("label", Some(&*step.label).filter(|label| !label.is_empty()).into()),
        // Each of the paths has its own object.
        ("object", Value::Null),
        ("type", step.type_name.into()),
        ("repeated", step.repeats_alone().is_some().into()),
        ("repeats", repeats.into()),
    ])
}

fn total(heap: &Heap<'_>, objects: impl Iterator<Item = ObjectId>) -> Total {
    objects.fold(Total::default(), |total, object| Total {
        count: total.count + 1,
        bytes: total.bytes.saturating_add(heap.own_bytes(object)),
    })
}

fn sum(merged: &[Merged]) -> Total {
    Total {
        count: merged.iter().map(|merged| merged.count).sum(),
        bytes: merged.iter().fold(0, |sum, merged| sum.saturating_add(merged.bytes)),
    }
}

fn text(rows: &[Row<'_>], paths: &Paths, left: Total, glob: &str, session: &Session) -> String {
    let Paths { kinds, total, unreachable, incomplete } = paths;
    let mut text = match total.count {
        0 if *incomplete => format!("no path is known to an object of {}\n", name(glob)),
        0 => format!("{} has no live objects\n", name(glob)),
        _ => format!(
            "{} {}, {}, held by {}:\n",
            plural(total.count, "object", "objects"),
            session.terminal.bold(&name(glob)),
            session.size(total.bytes),
            plural(*kinds as u64, "distinct shortest path", "distinct shortest paths"),
        ),
    };
    rows.iter().for_each(|row| text.push_str(&lines(row, *total, session)));
    if !rows.is_empty() {
        text.push('\n');
    }
    if rows.len() < *kinds {
        let omitted = showing(rows.len(), *kinds, "path", "paths");
        let share = total.bytes.saturating_sub(left.bytes) as f64 / total.bytes.max(1) as f64;
        text.push_str(&format!("{omitted}; {} of {}\n", percent(share), session.size(total.bytes)));
    }
    if unreachable.count > 0 {
        let objects = plural(unreachable.count, "object", "objects");
        let what = if *incomplete { "not reached" } else { "unreachable" };
        text.push_str(&format!("{what}: {objects}, {}\n", session.size(unreachable.bytes)));
    }
    text
}

/// A path on one line, for programs.
fn path_text(row: &Row<'_>) -> String {
    let path = groups(row).into_iter().map(|group| match group {
        Group::Omitted(steps) => format!("… {steps} steps …"),
        Group::Steps(steps) => {
            let again = |repeats: bool| if repeats { "+" } else { "" };
            let each: Vec<_> = steps
                .iter()
                .map(|step| format!("{}{}", step.text(), again(step.repeats_alone().is_some())))
                .collect();
            match each.as_slice() {
                [one] => one.clone(),
                _ => format!("({}){}", each.join(" > "), again(repeats(steps).is_some())),
            }
        }
    });
    path.collect::<Vec<_>>().join(" > ")
}

fn row<'h>(heap: &'h Heap<'_>, merged: &Merged, steps: MergedSteps) -> Row<'h> {
    let root = merged.root;
    let text_with = |label| {
        let (object, kind, group) = (merged.example, root.kind, root.group);
        Root { label, ..Root::new(object, kind, group) }.text(&heap.names)
    };
    let text = match root.label {
        MergedLabel::One(label) => text_with(label),
        MergedLabel::OfElement(label) => {
            let text = text_with(label);
            without_indices(&text).unwrap_or(text)
        }
        MergedLabel::Element | MergedLabel::Ephemeron => {
            format!("{} [*]", heap.names.text(root.group))
        }
    };
    let step = |step: &MergedStep| StepRow {
        label: label_text(heap, step.label),
        type_name: type_name(heap, step.of),
        repeats: step.repeats,
    };
    Row {
        root: (root.kind, text),
        steps: steps.first.iter().chain(&steps.last).map(step).collect(),
        omitted_steps: steps.omitted,
        count: merged.count,
        bytes: merged.bytes,
        example: heap.id(merged.example),
    }
}

impl StepRow<'_> {
    /// The repetition of this step alone. `None` if it does not repeat or a longer group does.
    fn repeats_alone(&self) -> Option<Repeats> {
        self.repeats.filter(|repeats| repeats.steps == 1)
    }

    fn text(&self) -> String {
        let between = if self.label.is_empty() { "" } else { " " };
        format!("{}{between}{}", self.label, self.type_name)
    }
}

fn label_text<'h>(heap: &'h Heap<'_>, label: MergedLabel) -> Cow<'h, str> {
    match label {
        MergedLabel::One(Label::NONE) => "".into(),
        MergedLabel::One(label) => label.text(&heap.names),
        MergedLabel::OfElement(label) => {
            let text = label.text(&heap.names);
            without_indices(&text).map_or(text, Cow::Owned)
        }
        MergedLabel::Element => "[*]".into(),
        MergedLabel::Ephemeron => VALUE_OF_KEY.into(),
    }
}

/// A line of a path: steps that repeat as a group, one step, or the place of those that are left
/// out.
enum Group<'r> {
    Steps(&'r [StepRow<'r>]),
    Omitted(u64),
}

/// The lines of a path. If groups overlap, only the later one is kept.
fn groups<'r>(row: &'r Row<'r>) -> Vec<Group<'r>> {
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

fn repeats(steps: &[StepRow<'_>]) -> Option<Repeats> {
    steps.last()?.repeats
}

fn lines(row: &Row<'_>, total: Total, session: &Session) -> String {
    let share = row.bytes as f64 / total.bytes.max(1) as f64;
    let mut text = format!(
        "\n{}  {}  {}, {}{}\n  {}  {}\n",
        session.size(row.bytes),
        percent(share),
        plural(row.count, "object", "objects"),
        if row.count == 1 { "" } else { "such as " },
        row.example,
        session.terminal.bold(row.root.0.name()),
        name(&row.root.1)
    );
    for (depth, group) in groups(row).into_iter().enumerate() {
        let indent = "  ".repeat(depth);
        text.push_str(&match group {
            Group::Omitted(steps) => {
                format!("   {indent}… {} omitted\n", plural(steps, "step", "steps"))
            }
            Group::Steps(steps) => format!("   {indent}└ {}\n", group_text(steps)),
        });
    }
    text
}

/// `next Node ×1–99`, `(value Scalar → next Node) ×1–19 999`.
fn group_text(steps: &[StepRow<'_>]) -> String {
    let times = |repeats: Option<Repeats>| match repeats {
        None => String::new(),
        Some(Repeats { most: Some(most), .. }) => format!(" ×1–{}", count(most.into())),
        Some(Repeats { most: None, .. }) => " (one or more)".to_owned(),
    };
    let inner =
        |step: &StepRow<'_>| format!("{}{}", name(&step.text()), times(step.repeats_alone()));
    match steps {
        [one] => inner(one),
        several => {
            let each: Vec<_> = several.iter().map(inner).collect();
            format!("({}){}", each.join(" → "), times(repeats(several)))
        }
    }
}
