//! `diff --objects`: which objects are new and which are gone, by class and identity hash (Dart).

use super::super::args::{Common, DiffArgs, OutputFormat};
use super::super::export;
use super::super::load::{HeapLoader, report_loaded};
use super::super::objects::{Analysed, ObjectRow};
use super::super::open::Input;
use super::super::size::{count, size};
use super::super::status::{Status, UsageError};
use super::super::table::{Align, Table};
use super::super::terminal::{Terminal, show_path};
use super::document::{SideJson, side};
use crate::analysis::diff::Side;
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::identity::{Fate, Hashed, fates};
use crate::input;
use crate::model::heap::{Heap, ObjectId};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    old: String,
    new: String,
    old_snapshot: u64,
    new_snapshot: u64,
    by: &'static str,
    objects: &'static str,
    old_total: SideJson,
    new_total: SideJson,
    rows: Vec<JsonRow<'a>>,
    omitted: Omitted,
    /// Types without new or gone objects.
    unchanged: u64,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
}

#[derive(Default, Clone, Serialize)]
struct RowJson<'a> {
    name: &'a str,
    namespace: &'a str,
    kept: u64,
    new: u64,
    gone: u64,
    /// Objects of the newer dump that nobody asked for a hash code.
    unknown: u64,
    new_shallow_bytes: u64,
    gone_shallow_bytes: u64,
    /// The new object that retains most.
    #[serde(skip)]
    largest: Option<ObjectId>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    #[serde(flatten)]
    row: &'a RowJson<'a>,
    /// The new object that retains most.
    largest: Option<ObjectRow>,
}

pub(super) fn run(args: &DiffArgs, old: &Input, new: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.by.is_some() || args.heap.sort.is_some() {
        return Err(UsageError::new("--objects compares objects by class: --by and --sort do not go with it").into());
    }
    let (old_hashes, new_hashes) = (hashes(old)?, hashes(new)?);
    let (loader, roots) = (HeapLoader::analysed("diff", common, terminal), args.heap.roots.choice());
    let loaded_old = loader.load(old, args.heap.snapshot.map(|pair| pair.old), roots)?;
    let loaded_new = loader.load(new, args.heap.snapshot.map(|pair| pair.new), roots)?;
    let all = fates(Hashed { heap: &loaded_old.heap, hashes: &old_hashes }, Hashed { heap: &loaded_new.heap, hashes: &new_hashes });
    let analysed = Analysed::of(&loaded_new.heap);
    let mut rows: Vec<RowJson<'_>> =
        all.iter().map(|fate| row(fate, &loaded_old.heap, &analysed)).filter(|row| row.new + row.gone > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.new_shallow_bytes.max(row.gone_shallow_bytes), row.new + row.gone)));
    let shown = &rows[..rows.len().min(common.rows(args.limit, super::ROWS))];
    let json_rows = || shown.iter().map(|row| json_row(row, &analysed)).collect::<Vec<_>>();
    let text = match common.format {
        OutputFormat::Table => text(&all, &rows, shown, &analysed, common, terminal),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/diff/1",
                file: new.path.display().to_string(),
                old: old.path.display().to_string(),
                new: new.path.display().to_string(),
                old_snapshot: loaded_old.snapshot,
                new_snapshot: loaded_new.snapshot,
                by: "type",
                objects: "identity",
                old_total: all_of(&loaded_old.heap),
                new_total: all_of(&loaded_new.heap),
                rows: json_rows(),
                omitted: Omitted { rows: (rows.len() - shown.len()) as u64 },
                unchanged: (all.len() - rows.len()) as u64,
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&json_rows())?,
        OutputFormat::Csv => export::csv(shown.iter().cloned())?,
    };
    super::super::print_text(&text, common)?;
    Ok(report_loaded(old, &loaded_old, terminal).max(report_loaded(new, &loaded_new, terminal)))
}

/// All objects, live or not, whose fates are told.
fn all_of(heap: &Heap<'_>) -> SideJson {
    let total = Histogram::of(heap, None, GroupBy::Type, Scope::All).total;
    side(&Side { sum: total, retained_bytes: None })
}

/// The identity hash codes of a dump.
fn hashes(input: &Input) -> anyhow::Result<Vec<u32>> {
    let hashes = input::identity_hashes(input.format, input.bytes()).map_err(|error| input.error(error))?;
    hashes.ok_or_else(|| {
        let message = format!("{} has no identity hashes", show_path(&input.path));
        UsageError::new(message).hint("without --objects, diff compares types").into()
    })
}

fn row<'a>(fate: &'a Fate, old: &Heap<'_>, new: &Analysed<'_, '_>) -> RowJson<'a> {
    let bytes = |heap: &Heap<'_>, objects: &[ObjectId]| {
        objects.iter().fold(0_u64, |sum, object| sum.saturating_add(heap.shallow.get(object.index())))
    };
    RowJson {
        name: &fate.name,
        namespace: &fate.namespace,
        kept: fate.kept,
        new: fate.new.len() as u64,
        gone: fate.gone.len() as u64,
        unknown: fate.unknown,
        new_shallow_bytes: bytes(new.heap, &fate.new),
        gone_shallow_bytes: bytes(old, &fate.gone),
        largest: fate.new.iter().copied().max_by_key(|object| (new.retained(*object), std::cmp::Reverse(*object))),
    }
}

fn json_row<'a>(row: &'a RowJson<'a>, new: &Analysed<'_, '_>) -> JsonRow<'a> {
    JsonRow { row, largest: row.largest.map(|object| new.row(object)) }
}

fn text(
    all: &[Fate],
    rows: &[RowJson<'_>],
    shown: &[RowJson<'_>],
    new: &Analysed<'_, '_>,
    common: &Common,
    terminal: &Terminal,
) -> String {
    let right = Align::Right;
    let mut table = Table::new(&[right, right, right, right, right, Align::Left, Align::Left]).minor(&[4, 3]);
    table.row(["NEW", "SHALLOW", "GONE", "KEPT", "NO HASH", "TYPE", "LARGEST NEW ONE"]);
    for row in shown {
        let largest = row.largest.map_or_else(String::new, |object| {
            let retained = size(new.retained(object), common.bytes);
            format!("{} {}", new.heap.id(object), terminal.dim(&format!("retains {retained}")))
        });
        table.row([
            count(row.new),
            size(row.new_shallow_bytes, common.bytes),
            count(row.gone),
            count(row.kept),
            count(row.unknown),
            row.name.to_owned(),
            largest,
        ]);
    }
    let sum = |of: fn(&Fate) -> u64| count(all.iter().map(of).sum());
    let types = match shown.len() == rows.len() {
        true => format!("{} types with new or gone objects", count(rows.len() as u64)),
        false => format!("showing {} of {} types with new or gone objects", count(shown.len() as u64), count(rows.len() as u64)),
    };
    table.render()
        + &format!(
            "{types}; {} new, {} gone, {} kept; {} objects have no identity hash, so nothing is known of them\n",
            sum(|fate| fate.new.len() as u64),
            sum(|fate| fate.gone.len() as u64),
            sum(|fate| fate.kept),
            sum(|fate| fate.unknown),
        )
}
