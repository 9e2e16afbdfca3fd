//! `path`: why objects are alive.

mod merged;

use super::args::{OutputFormat, PathArgs};
use super::heap::path::{self, headline, lines, root_text};
use super::heap::{Analysed, find_object, load_heap, report_loaded, without_roots};
use super::print::{Columns, Document, Shown, Value, print, print_text};
use super::recording;
use super::session::Session;
use super::status::{Status, UsageError};
use crate::analysis::paths::{Path, ReachedBy, Step};
use crate::input::{Format, Kind};
use crate::model::heap::{Label, ObjectId};
use crate::output::dot::{self, Arrow, Drawing};

pub(super) fn run(args: &PathArgs, session: &Session) -> anyhow::Result<Status> {
    let input = session.open(&args.file)?;
    if input.format == Format::Jfr {
        input.refuse(Kind::Heap, &[("--dot", args.dot)])?;
        input.refuse(Kind::Heap, &args.heap.given())?;
        return recording::paths(args, &input, session);
    }
    if args.object.is_none() && args.type_glob.is_none() {
        return Err(UsageError::new("path needs OBJECT, or --type GLOB").into());
    }
    let instead = Some("`dumptool tree --focus GLOB` shows callers");
    let held = load_heap(session, "path", &input, &args.heap, instead)?;
    let loaded = held.get();
    match &args.object {
        Some(id) => {
            let analysed = loaded.analysed();
            let object = find_object(&loaded.heap, id, &input)?;
            let paths = loaded.paths(object, args.paths as usize);
            if args.dot {
                print_text(session, &drawing(&analysed, object, &paths, session)?)?
            } else {
                print_paths(&analysed, object, &paths, args, loaded.snapshot, session)?
            }
        }
        None if loaded.heap.roots.is_empty() => {
            return without_roots(session, &input, loaded, "there are no paths", None);
        }
        None => merged::print_merged(loaded, &input, args, session)?,
    }
    Ok(report_loaded(session, &input, loaded))
}

/// A step of a path, for formats that contain only rows.
struct Row<'p> {
    path: usize,
    step: usize,
    whole: &'p Path,
    at: &'p Step,
}

fn print_paths(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    paths: &[Path],
    args: &PathArgs,
    snapshot: u64,
    session: &Session,
) -> anyhow::Result<()> {
    let heap = analysed.heap;
    let text = || text(analysed, object, paths, session);
    if matches!(session.common.format, OutputFormat::Json | OutputFormat::Jsonl) {
        let document = || {
            Document::new("dumptool/path/1", &args.file)
                .with("snapshot", snapshot)
                .with("object", analysed.json(object))
                .with("reachable", analysed.reachable(object))
                .rows("paths")
        };
        let columns = path::columns(analysed, session);
        return print(session, document, paths, &columns, &Shown::Text(&text));
    }
    let steps = paths
        .iter()
        .enumerate()
        .flat_map(|(path, whole)| whole.steps.iter().enumerate().map(move |at| (path, whole, at)));
    let rows: Vec<Row> =
        steps.map(|(path, whole, (step, at))| Row { path, step, whole, at }).collect();
    let columns = Columns::new(session)
        .number("path", "PATH", |row: &Row| row.path)
        .number("step", "STEP", |row| row.step)
        .text("root_kind", "ROOT", |row| root_text(heap, row.whole.origin).0.name())
        .text("root", "NAME", |row| root_text(heap, row.whole.origin).1)
        .text("label", "LABEL", |row| row.at.by.text(heap))
        .text("id", "OBJECT", |row| heap.id(row.at.object))
        .text("type", "TYPE", |row| heap.type_name(row.at.object))
        .value("namespace", |row| Value::non_empty(analysed.namespace(row.at.object)))
        .bytes("shallow_bytes", "SHALLOW", |row| heap.shallow_bytes(row.at.object))
        .bytes("retained_bytes", "RETAINED", |row| analysed.retained(row.at.object));
    print(session, Document::default, &rows, &columns, &Shown::Text(&text))
}

fn text(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    paths: &[Path],
    session: &Session,
) -> String {
    let mut text = headline(session, analysed, object);
    text.push_str(&match (paths, analysed.reachable(object)) {
        ([], None) => format!(" No path is known: {}.\n", analysed.unknown()),
        ([], Some(_)) => {
            " Not reachable from a root: garbage, or only weakly referenced.\n".to_owned()
        }
        ([_], Some(false)) => " Not reachable from a root, but from a cycle:\n".to_owned(),
        ([_], _) => " Shortest path from a root:\n".to_owned(),
        (several, _) => format!(" The {} shortest paths from roots:\n", several.len()),
    });
    for path in paths {
        text.push('\n');
        text.push_str(&lines(session, analysed, path));
    }
    text
}

/// Draws the paths to an object for Graphviz.
fn drawing(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    paths: &[Path],
    session: &Session,
) -> anyhow::Result<String> {
    let heap = analysed.heap;
    let mut drawing = Drawing { marked: vec![object], ..Drawing::default() };
    for path in paths {
        let Some(first) = path.steps.first() else { continue };
        drawing.roots.push((root_text(heap, path.origin).1, first.object));
        for steps in path.steps.windows(2) {
            let [from, to] = steps else { continue };
            let label = match to.by {
                ReachedBy::Reference(row) => heap.label_of(from.object, row),
                ReachedBy::Root | ReachedBy::Ephemeron => Label::NONE,
            };
            drawing.references.push(Arrow { from: from.object, to: to.object, label, weak: false });
        }
    }
    drawing
        .fits()
        .map_err(|error| UsageError::new(error.to_string()).hint("show fewer paths with -k"))?;
    let sizes = |object: ObjectId| {
        format!(
            "{} / {}",
            session.size(heap.shallow_bytes(object)),
            session.size(analysed.retained(object))
        )
    };
    let mut out = Vec::new();
    dot::write(heap, &drawing, sizes, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
