//! `path`: why objects are alive.

mod drawing;
mod merged;
mod text;

use text::lines;
pub(super) use text::{one_line, root_text};

use super::args::{Common, OutputFormat, PathArgs};
use super::kind::only_heaps;
use super::load::{HeapLoader, report_loaded, without_roots};
use super::objects::{Analysed, ObjectRow, RootRow};
use super::open::Input;
use super::size::{plural, size};
use super::status::Status;
use super::terminal::Terminal;
use crate::analysis::paths::{Path, several::several};
use crate::model::heap::ObjectId;
use serde::Serialize;

pub(super) fn run(args: &PathArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    only_heaps("path", &input)?;
    let loaded = HeapLoader::analysed("path", common, terminal).load(&input, args.heap.snapshot, args.heap.roots.choice())?;
    let text = match &args.object {
        Some(id) => {
            let analysed = Analysed::of(&loaded.heap);
            let object = analysed.find(id, &input)?;
            let paths = several(&loaded.heap, &analysed.graph, object, args.paths as usize);
            match args.dot {
                true => drawing::text(&analysed, object, &paths, common)?,
                false => of_object(&analysed, object, &paths, args, loaded.snapshot, common, terminal)?,
            }
        }
        None if loaded.heap.roots.is_empty() => {
            return without_roots(&input, &loaded, "there are no paths", None, terminal);
        }
        None => merged::text(&loaded.heap, args, loaded.snapshot, common, terminal)?,
    };
    super::print_text(&text, common)?;
    Ok(report_loaded(&input, &loaded, terminal))
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    snapshot: u64,
    object: ObjectRow,
    reachable: bool,
    paths: Vec<PathRow>,
}

/// A path in JSON.
#[derive(Serialize)]
pub(super) struct PathRow {
    root: RootRow,
    steps: Vec<StepRow>,
}

#[derive(Serialize)]
struct StepRow {
    label: Option<String>,
    object: ObjectRow,
}

impl PathRow {
    pub(super) fn of(analysed: &Analysed<'_, '_>, path: &Path) -> Self {
        let label = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let steps = path.steps.iter();
        let (kind, text) = root_text(analysed.heap, path.origin);
        Self {
            root: RootRow { kind: kind.name(), label: text },
            steps: steps
                .map(|step| StepRow { label: label(&step.by.text(analysed.heap)), object: analysed.row(step.object) })
                .collect(),
        }
    }
}

#[derive(Default, Serialize)]
struct CsvRow<'r> {
    path: usize,
    step: usize,
    root_kind: &'r str,
    root: &'r str,
    label: &'r str,
    id: &'r str,
    #[serde(rename = "type")]
    of: &'r str,
    namespace: &'r str,
    shallow_bytes: u64,
    retained_bytes: u64,
}

fn of_object(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    paths: &[Path],
    args: &PathArgs,
    snapshot: u64,
    common: &Common,
    terminal: &Terminal,
) -> anyhow::Result<String> {
    let rows = || paths.iter().map(|path| PathRow::of(analysed, path)).collect::<Vec<_>>();
    Ok(match common.format {
        OutputFormat::Table => table(analysed, object, paths, common, terminal),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/path/1",
                file: args.file.display().to_string(),
                snapshot,
                object: analysed.row(object),
                reachable: analysed.is_live(object),
                paths: rows(),
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => super::export::lines(&rows())?,
        OutputFormat::Csv => {
            let paths = rows();
            let steps =
                paths.iter().enumerate().flat_map(|(path, row)| row.steps.iter().enumerate().map(move |step| (path, row, step)));
            super::export::csv(steps.map(|(path, row, (step, at))| CsvRow {
                path,
                step,
                root_kind: row.root.kind,
                root: &row.root.label,
                label: at.label.as_deref().unwrap_or(""),
                id: &at.object.id,
                of: &at.object.of,
                namespace: &at.object.namespace,
                shallow_bytes: at.object.shallow_bytes,
                retained_bytes: at.object.retained_bytes,
            }))?
        }
    })
}

fn table(analysed: &Analysed<'_, '_>, object: ObjectId, paths: &[Path], common: &Common, terminal: &Terminal) -> String {
    let mut text = headline(analysed, object, common, terminal);
    text.push_str(&match (paths, analysed.heap.roots.is_empty()) {
        ([], true) => " The dump has no roots, so there are no paths.\n".to_owned(),
        ([], false) => " No root reaches it: it is garbage, or only weakly held.\n".to_owned(),
        ([_], _) => " Shortest path from a root:\n".to_owned(),
        (several, _) => format!(" The {} shortest paths from roots:\n", several.len()),
    });
    for path in paths {
        text.push('\n');
        text.push_str(&lines(analysed, path, common.bytes, terminal));
    }
    text
}

/// `main.Node at 0xc000514060: 40 B, retains 2.1 MiB.`
pub(super) fn headline(analysed: &Analysed<'_, '_>, object: ObjectId, common: &Common, terminal: &Terminal) -> String {
    let heap = analysed.heap;
    let external = match heap.external_bytes(object) {
        0 => String::new(),
        bytes => format!(" and {} outside of the heap", size(bytes, common.bytes)),
    };
    let held = match analysed.is_live(object) {
        true => format!(", retains {}", size(analysed.retained(object), common.bytes)),
        false => String::new(),
    };
    let shallow = size(heap.shallow.get(object.index()), common.bytes);
    format!("{} at {}: {shallow}{external}{held}.", terminal.bold(&analysed.describe(object)), heap.id(object))
}

/// What a list leaves out: `showing 20 of 1 412 paths`.
fn omitted(shown: usize, all: usize, one: &str, many: &str) -> Option<String> {
    (shown < all).then(|| format!("showing {} of {}", super::size::count(shown as u64), plural(all as u64, one, many)))
}
