//! `find` of heaps: objects by type, size, value, root, reachability.

use super::super::args::{Common, FindArgs, FindSortArg, OutputFormat};
use super::super::glob::Glob;
use super::super::load::{HeapLoader, report_loaded, without_roots};
use super::super::objects::{Analysed, ObjectRow, matching_types};
use super::super::open::Input;
use super::super::show;
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
        FindSortArg::Retained => {
            found.par_sort_by_key(|object| Reverse((analysed.retained(*object), analysed.heap.shallow.get(object.index()))))
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
    objects: Vec<ObjectRow>,
    omitted: Total,
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
    let rows = || found[..shown].iter().map(|object| analysed.row(*object)).collect::<Vec<_>>();
    Ok(match common.format {
        OutputFormat::Table => table(analysed, found, shown, common),
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
        OutputFormat::Csv => super::super::export::csv(rows())?,
    })
}

fn table(analysed: &Analysed<'_, '_>, found: &[ObjectId], shown: usize, common: &Common) -> String {
    let heap = analysed.heap;
    let all = total(heap, found);
    if found.is_empty() {
        return "no object fits\n".to_owned();
    }
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Left, Align::Left, Align::Left]);
    table.row(["RETAINED", "SHALLOW", "OBJECT", "TYPE", ""]);
    for &object in &found[..shown] {
        let retained = match analysed.is_live(object) {
            true => size(analysed.retained(object), common.bytes),
            false if heap.roots.is_empty() => "-".to_owned(),
            false => "unreachable".to_owned(),
        };
        let shallow = size(heap.shallow.get(object.index()), common.bytes);
        table.row([retained, shallow, heap.id(object), analysed.describe(object), show::brief(analysed, object)]);
    }
    let objects = plural(all.count, "object", "objects");
    let line = format!(
        "showing {} of {objects}; {} shallow in all\n",
        super::super::size::count(shown as u64),
        size(all.shallow_bytes, common.bytes)
    );
    table.render() + &line
}
