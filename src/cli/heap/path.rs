//! Paths from roots: in JSON, as lines, and on one line.

use super::objects::{Analysed, describe_briefly};
use super::value::described;
use crate::analysis::paths::{CYCLE, Origin, Path};
use crate::cli::print::{Align, Columns, Table, Value};
use crate::cli::session::Session;
use crate::cli::size::count;
use crate::cli::terminal::shown;
use crate::model::heap::{Heap, ObjectId, RootKind};

/// Maximum number of lines of a path. Longer paths are cut in the middle.
const MOST_LINES: usize = 30;
/// Maximum depth of indentation. Deeper steps are not indented further.
const MOST_INDENT: usize = 12;
/// The index of the column of sizes.
const SIZE: usize = 3;
/// The width that names of types keep; sizes are dropped first.
const WHOLE_NAME: usize = 60;

/// The kind of a root, and its name.
pub(crate) fn root_text(heap: &Heap<'_>, origin: Origin) -> (RootKind, String) {
    match origin {
        Origin::Root(row) => heap
            .roots
            .get(row)
            .map_or((RootKind::Other, String::new()), |root| (root.kind, root.text(&heap.names))),
        Origin::Synthetic(object) => {
            (RootKind::Runtime, heap.names.text(heap.type_of(object).name).to_owned())
        }
        Origin::Cycle => (RootKind::Unowned, CYCLE.to_owned()),
    }
}

pub(crate) fn json<'h>(analysed: &Analysed<'h, '_>, path: &Path) -> Value<'h> {
    Value::from([("root", root(analysed, path)), ("steps", steps(analysed, path))])
}

pub(crate) fn columns<'c>(
    analysed: &'c Analysed<'_, '_>,
    session: &'c Session,
) -> Columns<'c, Path> {
    Columns::new(session)
        .json("root", |path: &Path| root(analysed, path))
        .json("steps", |path| steps(analysed, path))
}

fn root(analysed: &Analysed<'_, '_>, path: &Path) -> Value<'static> {
    let (kind, label) = root_text(analysed.heap, path.origin);
    root_json(kind, label)
}

fn steps<'h>(analysed: &Analysed<'h, '_>, path: &Path) -> Value<'h> {
    let steps = path.steps.iter().map(|step| {
        let label = Some(step.by.text(analysed.heap).into_owned()).filter(|text| !text.is_empty());
        Value::from([("label", label.into()), ("object", analysed.json(step.object))])
    });
    steps.collect::<Vec<_>>().into()
}

pub(crate) fn root_json<'v>(kind: RootKind, label: impl Into<Value<'v>>) -> Value<'v> {
    Value::from([("kind", kind.name().into()), ("label", label.into())])
}

/// `main.Node at 0xc000514060: 40 B, retains 2.1 MiB.`
pub(crate) fn headline(session: &Session, analysed: &Analysed<'_, '_>, object: ObjectId) -> String {
    let heap = analysed.heap;
    let external = match heap.external_bytes(object) {
        0 => String::new(),
        bytes => format!(" and {} external", session.size(bytes)),
    };
    let held = if analysed.is_live(object) {
        format!(", retains {}", session.size(analysed.retained(object)))
    } else {
        String::new()
    };
    let shallow = session.size(heap.shallow_bytes(object));
    format!(
        "{} at {}: {shallow}{external}{held}.",
        session.terminal.bold(&analysed.describe(object)),
        heap.id(object)
    )
}

/// Consecutive steps with the same label and the same type.
struct Run {
    label: String,
    steps: u64,
    /// The last object of the run.
    object: ObjectId,
}

fn runs(heap: &Heap<'_>, path: &Path) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for step in &path.steps {
        let label = step.by.text(heap);
        match runs.last_mut() {
            Some(run)
                if run.label == label && heap.type_of(run.object) == heap.type_of(step.object) =>
            {
                run.steps += 1;
                run.object = step.object;
            }
            _ => runs.push(Run { label: label.into_owned(), steps: 1, object: step.object }),
        }
    }
    runs
}

/// The lines of a path, the object marked at its end.
pub(crate) fn lines(session: &Session, analysed: &Analysed<'_, '_>, path: &Path) -> String {
    let heap = analysed.heap;
    let (kind, root) = root_text(heap, path.origin);
    let text = format!("  {}  {}\n", session.terminal.bold(kind.name()), shown(&root));
    let runs = runs(heap, path);
    let cut =
        if runs.len() > MOST_LINES { MOST_LINES / 2..runs.len() - MOST_LINES / 2 } else { 0..0 };
    let mut aligns = [Align::Left; 6];
    aligns[SIZE] = Align::Right;
    let mut table = Table::new(&aligns);
    (table.whole, table.names, table.minor) = (vec![0, 2, 4, 5], WHOLE_NAME, vec![SIZE]);
    for (depth, run) in runs.iter().enumerate() {
        if cut.contains(&depth) {
            if depth == cut.start {
                let left: u64 = runs[cut.clone()].iter().map(|run| run.steps).sum();
                table.span([format!(" {}… {} steps omitted", indent(depth), count(left))]);
            }
            continue;
        }
        let times = if run.steps > 1 { format!(" ×{}", count(run.steps)) } else { String::new() };
        table.row([
            format!(" {}└ {}{times}", indent(depth), shown(&run.label)).trim_end().to_owned(),
            match described(heap, run.object) {
                Some(text) => format!("{} {text}", analysed.describe(run.object)),
                None => analysed.describe(run.object),
            },
            heap.id(run.object),
            session.size(heap.shallow_bytes(run.object)),
            format!("retains {}", session.size(analysed.retained(run.object))),
            if depth + 1 == runs.len() { "◀".to_owned() } else { String::new() },
        ]);
    }
    text + &table.render()
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(MOST_INDENT))
}

/// The object of each line of [`outline`]. `None` for the root and for omitted steps.
pub(crate) fn outlined_objects(heap: &Heap<'_>, path: &Path) -> Vec<Option<ObjectId>> {
    let objects = runs(heap, path).into_iter().map(|run| Some(run.object));
    shortened([None].into_iter().chain(objects).collect(), |_| None)
}

/// The root and the steps of a path, each as a text, in at most 30 lines.
pub(crate) fn outline(session: &Session, analysed: &Analysed<'_, '_>, path: &Path) -> Vec<String> {
    let sizes = |object| {
        format!(
            " {}, retains {}",
            analysed.heap.id(object),
            session.size(analysed.retained(object))
        )
    };
    shortened(parts(analysed.heap, path, sizes), more)
}

/// A path on one line with the id of each object: `global main.cache → main.Cache 0xc000010000 →
/// table []main.Entry 0xc000020000`. Long paths are cut in the middle, as in [`outline`].
#[cfg(feature = "query")]
pub(crate) fn with_ids(heap: &Heap<'_>, path: &Path) -> String {
    shortened(parts(heap, path, |object| format!(" {}", heap.id(object))), more).join(" → ")
}

/// Shortens a path to 30 parts. `middle` returns the part that stands for so many omitted ones.
fn shortened<T>(mut parts: Vec<T>, middle: impl Fn(usize) -> T) -> Vec<T> {
    if parts.len() > MOST_LINES {
        let left = parts.len() - MOST_LINES + 1;
        parts.splice(MOST_LINES / 2..MOST_LINES / 2 + left, [middle(left)]);
    }
    parts
}

fn more(left: usize) -> String {
    format!("… {} more", count(left as u64))
}

/// A root with its kind, unless the root's name already contains it: `system class: Main`.
pub(crate) fn named_root(kind: RootKind, root: &str) -> String {
    let says_kind = root
        .split_whitespace()
        .take(2)
        .any(|word| word.trim_end_matches(':').eq_ignore_ascii_case(kind.name()));
    if says_kind { shown(root) } else { format!("{} {}", kind.name(), shown(root)) }
}

/// The root, and each run of steps as its label and object, followed by the text of `behind`.
fn parts(heap: &Heap<'_>, path: &Path, behind: impl Fn(ObjectId) -> String) -> Vec<String> {
    let (kind, root) = root_text(heap, path.origin);
    let mut parts = vec![named_root(kind, &root)];
    for run in runs(heap, path) {
        let times = if run.steps > 1 { format!(" ×{}", count(run.steps)) } else { String::new() };
        let label = if run.label.is_empty() {
            String::new()
        } else {
            format!("{}{times} ", shown(&run.label))
        };
        let object = describe_briefly(heap, run.object);
        parts.push(format!("{label}{object}{}", behind(run.object)));
    }
    parts
}

/// A path on one line: `static cache → _Map data_ → _List`. Long ones are cut in the middle.
pub(crate) fn one_line(analysed: &Analysed<'_, '_>, path: &Path) -> String {
    const ENDS: usize = 3;
    let mut parts = parts(analysed.heap, path, |_| String::new());
    if parts.len() > 2 * ENDS + 2 {
        let left = parts.len() - 2 * ENDS - 1;
        parts.splice(ENDS + 1..=ENDS + left, [format!("… {} more …", count(left as u64))]);
    }
    parts.join(" → ")
}
