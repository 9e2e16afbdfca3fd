//! `find` of heaps: objects by type, size, value, root, reachability.

use super::super::args::{Common, FindArgs, FindSortArg, OutputFormat};
use super::super::glob::Glob;
use super::super::load::{HeapLoader, report_loaded, without_roots};
use super::super::objects::{Analysed, ObjectRow, matching_types};
use super::super::open::Input;
use super::super::show::{self, value::ValueRow};
use super::super::size::{plural, size};
use super::super::status::{Status, UsageError};
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use crate::model::heap::{Heap, ObjectId, RootKind, TypeKind, Value};
use memchr::memmem::Finder;
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;

pub(super) fn run(args: &FindArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let options = &args.heap;
    let root = options.root.as_deref().map(root_kind).transpose()?;
    let loaded =
        HeapLoader::analysed("find", common, terminal).load(input, options.options.snapshot, options.options.roots.choice())?;
    if loaded.heap.roots.is_empty() && (options.live || options.unreachable) {
        return without_roots(input, &loaded, "nothing can be called live or unreachable", None, terminal);
    }
    let analysed = Analysed::of(&loaded.heap);
    let mut found = matching(&analysed, args, root);
    match options.sort.unwrap_or(FindSortArg::Retained) {
        // Of what retains nothing, the largest comes first.
        FindSortArg::Retained => {
            let bytes =
                |object: ObjectId| analysed.heap.shallow.get(object.index()).saturating_add(analysed.heap.external_bytes(object));
            found.par_sort_by_cached_key(|object| Reverse((analysed.retained(*object), bytes(*object))))
        }
        FindSortArg::Shallow => found.par_sort_by_key(|object| Reverse(analysed.heap.shallow.get(object.index()))),
        FindSortArg::Id => {}
    }
    let shown = common.rows(args.limit, 20).min(found.len());
    let text = text(&analysed, &found, shown, args, loaded.snapshot, common)?;
    super::super::print_text(&text, common)?;
    Ok(report_loaded(input, &loaded, terminal))
}

fn root_kind(name: &str) -> Result<RootKind, UsageError> {
    RootKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names: Vec<_> = RootKind::ALL.iter().map(|kind| kind.name()).collect();
        UsageError::new(format!("no kind of roots is called {name}")).hint(format!("there are {}", names.join(", ")))
    })
}

/// The objects that fit everything, in their order.
fn matching(analysed: &Analysed<'_, '_>, args: &FindArgs, root: Option<RootKind>) -> Vec<ObjectId> {
    let (heap, options) = (analysed.heap, &args.heap);
    let mut types = match &args.type_glob {
        Some(glob) => matching_types(heap, &Glob::new(glob)),
        None => vec![true; heap.types.len()],
    };
    types.iter_mut().zip(&heap.types).for_each(|(wanted, of)| *wanted &= of.kind != TypeKind::Root);
    if let Some(glob) = &args.namespace {
        let glob = Glob::new(glob);
        let fits = heap.types.iter().map(|of| glob.matches(heap.names.text(of.namespace)));
        types.iter_mut().zip(fits).for_each(|(wanted, fits)| *wanted &= fits);
    }
    let held = root.map(|kind| {
        let mut held: Vec<ObjectId> = heap.roots.iter().filter(|root| root.kind == kind).map(|root| root.object).collect();
        held.sort_unstable();
        held
    });
    let value = options.value.as_deref().map(Wanted::new);
    let fits = |object: ObjectId| {
        let shallow = heap.shallow.get(object.index());
        types[heap.type_of[object.index()].0 as usize]
            && options.min_size.is_none_or(|least| shallow >= least)
            && options.max_size.is_none_or(|most| shallow <= most)
            && (!options.live || analysed.is_live(object))
            && (!options.unreachable || !analysed.is_live(object))
            && options.min_retained.is_none_or(|least| analysed.retained(object) >= least)
            && held.as_ref().is_none_or(|held| held.binary_search(&object).is_ok())
            && value.as_ref().is_none_or(|value| value.fits(heap, object))
    };
    (0..heap.len() as u32).into_par_iter().map(ObjectId).filter(|object| fits(*object)).collect()
}

/// The text that values have to contain. Numbers have to be equal to it.
struct Wanted<'t> {
    text: &'t str,
    finder: Finder<'t>,
}

impl<'t> Wanted<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, finder: Finder::new(text) }
    }

    fn fits(&self, heap: &Heap<'_>, object: ObjectId) -> bool {
        match heap.value(object) {
            Value::Text { text, .. } | Value::Name(text) => self.finder.find(text.as_bytes()).is_some(),
            Value::Bytes(bytes) => self.finder.find(bytes).is_some(),
            Value::Boolean(value) => self.text == value.to_string(),
            Value::Integer(value) => self.text == value.to_string(),
            Value::Float(value) => self.text.parse() == Ok(value),
            Value::None | Value::Length(_) => false,
        }
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    snapshot: u64,
    total: Total,
    objects: Vec<FoundRow>,
    omitted: Total,
}

#[derive(Serialize)]
struct FoundRow {
    #[serde(flatten)]
    object: ObjectRow,
    external_bytes: u64,
    /// As `show` gives it. Null for bytes, of which there can be many.
    value: Option<ValueRow>,
}

#[derive(Default, Serialize)]
struct CsvRow {
    id: String,
    #[serde(rename = "type")]
    of: String,
    namespace: String,
    shallow_bytes: u64,
    retained_bytes: u64,
    external_bytes: u64,
    value: String,
}

impl FoundRow {
    fn of(analysed: &Analysed<'_, '_>, object: ObjectId) -> Self {
        let value = match analysed.heap.value(object) {
            Value::Bytes(_) => None,
            _ => ValueRow::of(analysed.heap, object, None),
        };
        Self { object: analysed.row(object), external_bytes: analysed.heap.external_bytes(object), value }
    }
}

impl CsvRow {
    fn of(analysed: &Analysed<'_, '_>, object: ObjectId) -> Self {
        let ObjectRow { id, of, namespace, shallow_bytes, retained_bytes } = analysed.row(object);
        let value = match analysed.heap.value(object) {
            Value::Text { text, .. } => text.into_owned(),
            value => show::value::line(&value).unwrap_or_default(),
        };
        let external_bytes = analysed.heap.external_bytes(object);
        Self { id, of, namespace, shallow_bytes, retained_bytes, external_bytes, value }
    }
}

#[derive(Serialize)]
struct Total {
    count: u64,
    shallow_bytes: u64,
}

fn total(heap: &Heap<'_>, objects: &[ObjectId]) -> Total {
    let shallow_bytes = objects.iter().fold(0, |sum: u64, object| sum.saturating_add(heap.shallow.get(object.index())));
    Total { count: objects.len() as u64, shallow_bytes }
}

fn text(
    analysed: &Analysed<'_, '_>,
    found: &[ObjectId],
    shown: usize,
    args: &FindArgs,
    snapshot: u64,
    common: &Common,
) -> anyhow::Result<String> {
    let rows = || found[..shown].iter().map(|object| FoundRow::of(analysed, *object)).collect::<Vec<_>>();
    Ok(match common.format {
        OutputFormat::Table => table(analysed, found, shown, args, common),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/find/1",
                file: args.file.display().to_string(),
                snapshot,
                total: total(analysed.heap, found),
                objects: rows(),
                omitted: total(analysed.heap, &found[shown..]),
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => super::super::export::lines(&rows())?,
        OutputFormat::Csv => super::super::export::csv(found[..shown].iter().map(|object| CsvRow::of(analysed, *object)))?,
    })
}

fn table(analysed: &Analysed<'_, '_>, found: &[ObjectId], shown: usize, args: &FindArgs, common: &Common) -> String {
    let heap = analysed.heap;
    let all = total(heap, found);
    if found.is_empty() {
        return "no object fits\n".to_owned();
    }
    // Nothing is retained by what nothing holds.
    let has_retained = !heap.roots.is_empty() && !args.heap.unreachable;
    let has_external = found[..shown].iter().any(|object| heap.external_bytes(*object) > 0);
    let numbers = 1 + usize::from(has_retained) + usize::from(has_external);
    let mut table = Table::new(&[&[Align::Right; 3][..numbers], &[Align::Left; 3]].concat());
    let columns = |retained: String, shallow: String, external: String, rest: [String; 3]| {
        let numbers = [has_retained.then_some(retained), Some(shallow), has_external.then_some(external)];
        numbers.into_iter().flatten().chain(rest).collect::<Vec<_>>()
    };
    let [retained, shallow, external, object, of] = ["RETAINED", "SHALLOW", "EXTERNAL", "OBJECT", "TYPE"].map(str::to_owned);
    table.row(columns(retained, shallow, external, [object, of, String::new()]));
    for &object in &found[..shown] {
        let retained = match analysed.is_live(object) {
            true => size(analysed.retained(object), common.bytes),
            false => "unreachable".to_owned(),
        };
        let shallow = size(heap.shallow.get(object.index()), common.bytes);
        let external = size(heap.external_bytes(object), common.bytes);
        let rest = [heap.id(object), analysed.describe(object), show::brief(analysed, object)];
        table.row(columns(retained, shallow, external, rest));
    }
    let objects = plural(all.count, "object", "objects");
    let line = format!(
        "showing {} of {objects}; {} shallow in all\n",
        super::super::size::count(shown as u64),
        size(all.shallow_bytes, common.bytes)
    );
    table.render() + &line
}
