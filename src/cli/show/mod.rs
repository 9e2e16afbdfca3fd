//! `show`: all there is to say about one object.

mod text;
pub(in crate::cli) mod value;

use super::args::{Common, OutputFormat, ShowArgs};
use super::kind::only_heaps;
use super::load::{HeapLoader, report_loaded};
use super::objects::{Analysed, ObjectRow, RootRow};
use super::open::Input;
use super::path::root_text;
use super::status::Status;
use super::terminal::Terminal;
use crate::analysis::paths::Origin;
use crate::model::heap::{ObjectId, Reference};
use serde::Serialize;
use value::ValueRow;

pub(super) use text::brief;

pub(super) fn run(args: &ShowArgs, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    only_heaps("show", &input)?;
    let loaded = HeapLoader::analysed("show", common, terminal).load(&input, args.heap.snapshot, args.heap.roots.choice())?;
    let analysed = Analysed::of(&loaded.heap);
    let object = analysed.find(&args.object, &input)?;
    let neighbours = Neighbours::of(&analysed, object, common.rows(args.limit, SHOWN));
    let text = match common.format {
        OutputFormat::Table => text::text(&analysed, object, &neighbours, args, common, terminal),
        OutputFormat::Json => {
            let document = document(&analysed, object, &neighbours, args, loaded.snapshot);
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => super::export::lines(&neighbours.rows(&analysed))?,
        OutputFormat::Csv => super::export::csv(neighbours.rows(&analysed))?,
    };
    super::print_text(&text, common)?;
    Ok(report_loaded(&input, &loaded, terminal))
}

/// References and referrers that are shown when nothing else is asked for.
const SHOWN: usize = 20;

/// What an object refers to and what refers to it, as far as it is shown.
struct Neighbours {
    references: Vec<Reference>,
    /// How many there are.
    all_references: u64,
    /// The target is the object that refers.
    referrers: Vec<Reference>,
    all_referrers: u64,
    roots: Vec<usize>,
}

impl Neighbours {
    fn of(analysed: &Analysed<'_, '_>, object: ObjectId, most: usize) -> Self {
        let heap = analysed.heap;
        let references = heap.references.of(object);
        let all_references = references.len() as u64;
        let (mut referrers, mut all_referrers) = (Vec::new(), 0);
        // One look at all references, which takes no memory: turning them around is for those who ask more often.
        for from in heap.objects() {
            let range = heap.references.range(from);
            if !heap.references.target[range].contains(&object) {
                continue;
            }
            for reference in heap.references.of(from).filter(|reference| reference.target == object) {
                all_referrers += 1;
                if referrers.len() < most {
                    referrers.push(Reference { target: from, ..reference });
                }
            }
        }
        Self {
            references: references.take(most).collect(),
            all_references,
            referrers,
            all_referrers,
            roots: (0..heap.roots.len()).filter(|row| heap.roots[*row].object == object).collect(),
        }
    }

    fn rows(&self, analysed: &Analysed<'_, '_>) -> Vec<FlatRow> {
        let row = |direction: &'static str, reference: &Reference| {
            let ObjectRow { id, of, namespace, shallow_bytes, retained_bytes } = analysed.row(reference.target);
            let label = reference.label.text(&analysed.heap.names).into_owned();
            FlatRow { direction, label, weak: reference.weak, id, of, namespace, shallow_bytes, retained_bytes }
        };
        let references = self.references.iter().map(|reference| row("reference", reference));
        references.chain(self.referrers.iter().map(|reference| row("referrer", reference))).collect()
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    snapshot: u64,
    object: ObjectRow,
    external_bytes: u64,
    reachable: bool,
    dominator: Option<ObjectRow>,
    value: Option<ValueRow>,
    roots: Vec<RootRow>,
    references: Vec<ReferenceRow>,
    referrers: Vec<ReferenceRow>,
    omitted: Omitted,
}

#[derive(Serialize)]
struct ReferenceRow {
    label: Option<String>,
    weak: bool,
    #[serde(flatten)]
    object: ObjectRow,
}

/// A reference in formats that have nothing but rows. (Flattened structs are beyond the CSV writer.)
#[derive(Default, Serialize)]
struct FlatRow {
    direction: &'static str,
    label: String,
    weak: bool,
    id: String,
    #[serde(rename = "type")]
    of: String,
    namespace: String,
    shallow_bytes: u64,
    retained_bytes: u64,
}

#[derive(Serialize)]
struct Omitted {
    references: u64,
    referrers: u64,
}

fn document(analysed: &Analysed<'_, '_>, object: ObjectId, neighbours: &Neighbours, args: &ShowArgs, snapshot: u64) -> Document {
    let rows = |references: &[Reference]| references.iter().map(|reference| reference_row(analysed, reference)).collect();
    let roots = neighbours.roots.iter().map(|row| root_text(analysed.heap, Origin::Root(*row)));
    Document {
        schema: "dumptool/show/1",
        file: args.file.display().to_string(),
        snapshot,
        object: analysed.row(object),
        external_bytes: analysed.heap.external_bytes(object),
        reachable: analysed.is_live(object),
        dominator: analysed.tree.dominator(object).map(|dominator| analysed.row(dominator)),
        value: ValueRow::of(analysed.heap, object, args.limit),
        roots: roots.map(|(kind, label)| RootRow { kind: kind.name(), label }).collect(),
        references: rows(&neighbours.references),
        referrers: rows(&neighbours.referrers),
        omitted: Omitted {
            references: neighbours.all_references - neighbours.references.len() as u64,
            referrers: neighbours.all_referrers - neighbours.referrers.len() as u64,
        },
    }
}

fn reference_row(analysed: &Analysed<'_, '_>, reference: &Reference) -> ReferenceRow {
    let label = reference.label.text(&analysed.heap.names).into_owned();
    ReferenceRow {
        label: Some(label).filter(|label| !label.is_empty()),
        weak: reference.weak,
        object: analysed.row(reference.target),
    }
}
