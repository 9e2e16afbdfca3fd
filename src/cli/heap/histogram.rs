//! Groups of objects: counts, order and names.

use super::held::Answers;
use super::load::{load_for, load_options, refused};
use crate::analysis::core_tree::CoreTree;
use crate::analysis::glob::TypeFilter;
use crate::analysis::growth::Growth;
use crate::analysis::histogram::{GroupBy, Histogram, HistogramRow, Scope, package_root};
use crate::cli::args::{ByArg, LoadArgs, ObjectsArg, Snapshot, SortArg};
use crate::cli::memory::Work;
use crate::cli::open::Input;
use crate::cli::print::Value;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::status::UsageError;
use crate::cli::terminal::{show_path, shown};
use crate::error::Error;
use crate::input::histogram::{TypeCounts, TypeRow};
use crate::input::info::SnapshotInfo;
use crate::input::load::snapshots;
use crate::input::{self, Format, ReadOptions};
use crate::model::heap::{Heap, TypeKind, TypeSource};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

/// Counts the objects of a heap. Without a filter, the result is kept for later calls.
/// [`Histogram::unreachable`] is `None` if the heap has no roots or counts do not depend on them.
/// Fails when the heap lacks the data to group by.
pub(crate) fn histogram(
    loaded: &Answers<'_>,
    by: ByArg,
    objects: ObjectsArg,
    filter: &TypeFilter,
    input: &Input,
) -> Result<Histogram, UsageError> {
    let count = || count_objects(loaded, by, objects, filter, input);
    if filter.is_empty() { loaded.histogram((by, objects), count) } else { count() }
}

fn count_objects(
    loaded: &Answers<'_>,
    by: ByArg,
    objects: ObjectsArg,
    filter: &TypeFilter,
    input: &Input,
) -> Result<Histogram, UsageError> {
    let scope = match objects {
        ObjectsArg::Live => Scope::Live,
        ObjectsArg::All => Scope::All,
        ObjectsArg::Unreachable => Scope::Unreachable,
    };
    let heap = &loaded.heap;
    let has_roots = !heap.roots.is_empty();
    let tree = match by {
        ByArg::Root if has_roots => Some(loaded.tree()),
        _ => loaded.known_tree(),
    };
    let lacks = |what: &str| UsageError::new(format!("{} {what}", show_path(&input.path)));
    let histogram = match (by, tree) {
        (ByArg::Root, Some(tree)) => {
            Histogram::by_root_of_types(heap, tree, loaded.tree_and_roots().1, filter)
        }
        (ByArg::Root, None) => return Err(lacks("has no roots to group by")),
        (ByArg::Loader, _) if !has_loaders(heap) => {
            return Err(lacks("has no class loaders to group by"));
        }
        (ByArg::Site, _) if heap.sites.sites.is_empty() => {
            return Err(lacks("does not record where objects were allocated"));
        }
        (ByArg::Generation, _) if !has_generations(heap) => {
            return Err(lacks("does not record when objects were allocated"));
        }
        // The file's own counts do not depend on roots.
        (ByArg::Site, tree) if heap.sites.sites.iter().any(|site| site.live.is_some()) => {
            return Ok(Histogram::by_site(heap, tree, scope, filter));
        }
        (by, tree) => {
            let by = match by {
                ByArg::Namespace => GroupBy::Namespace,
                ByArg::PackageRoot => GroupBy::PackageRoot,
                ByArg::SizeClass => GroupBy::SizeClass,
                ByArg::Loader => GroupBy::Owner,
                ByArg::Site => GroupBy::Site,
                ByArg::Generation => GroupBy::Generation,
                _ => GroupBy::Type,
            };
            match tree {
                None if has_roots => {
                    let _phase = Progress::new("computing dominators", None);
                    let tree = CoreTree::of(heap, loaded.graph());
                    Histogram::of_types(heap, Some(&tree), by, scope, filter)
                }
                tree => Histogram::of_types(heap, tree, by, scope, filter),
            }
        }
    };
    Ok(histogram)
}

/// Whether class objects name their loaders.
fn has_loaders(heap: &Heap<'_>) -> bool {
    heap.classes.iter().any(|class| class.instances.is_some())
}

/// Whether the allocation of objects was recorded with its generation (Ruby).
fn has_generations(heap: &Heap<'_>) -> bool {
    heap.sites.sites.iter().any(|site| site.generation.is_some())
}

/// Counts the objects of an input by type, in one pass that keeps no object unless the options need
/// the references. Fails when the file has no such snapshot, or nothing of it can be read.
pub(crate) fn count_types(
    session: &Session,
    command: &'static str,
    input: &Input,
    snapshot: Option<Snapshot>,
    roots: &LoadArgs,
) -> anyhow::Result<TypeCounts> {
    let has_maps = session.source_maps().is_some();
    if roots.needs_references().is_some() || has_maps && input.format == Format::Heapsnapshot {
        let loaded = load_for(Work::Counting, session, command, input, snapshot, roots)?;
        return Ok(TypeCounts::of_heap(&loaded.heap, loaded.snapshot, loaded.damage));
    }
    input.accept(&roots.of_formats())?;
    let progress = session.progress(input);
    let reached = |offset| progress.reached(offset);
    let options = load_options(snapshot, roots, &reached).mapping(input.mapping.as_deref());
    input::histogram(input.format, input.bytes(), options).map_err(|error| refused(error, input))
}

/// Adds counted types to the last snapshot of `growth`.
pub(crate) fn add_types(growth: &mut Growth, counted: &TypeCounts, filter: &TypeFilter) {
    let selected =
        |row: &&TypeRow| row.kind != TypeKind::Root && filter.selects(&row.name, &row.namespace);
    for row in counted.rows.iter().filter(selected) {
        growth.add(&row.name, &row.namespace, row.sum.count, row.sum.bytes());
    }
}

/// The numbers of the complete snapshots of a file, and the damage that ended its reading. Fails
/// when there is none, or nothing can be read.
pub(crate) fn complete_snapshots(
    input: &Input,
) -> anyhow::Result<(Vec<SnapshotInfo>, Option<Error>)> {
    let options = ReadOptions { quick: true, ..ReadOptions::default() };
    let info = input::info(input.format, input.bytes(), options);
    let info = info.map_err(|error| input.error(error))?;
    let mut complete = info.heap.map(|heap| heap.snapshots).unwrap_or_default();
    let all = complete.len() as u64;
    complete.retain(|snapshot| snapshot.complete);
    if complete.is_empty() {
        return Err(UsageError::new(format!("no complete snapshot; {}", snapshots(all))).into());
    }
    Ok((complete, info.damage.map(|damage| damage.error)))
}

/// Merges counted types into one row per name and namespace, or per namespace.
pub(crate) fn quick(counted: &TypeCounts, by: ByArg, filter: &TypeFilter) -> Histogram {
    let mut left_out = Sum::default();
    let mut rows: Vec<HistogramRow> = Vec::new();
    let mut index: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for row in counted.rows.iter().filter(|row| row.kind != TypeKind::Root) {
        if !filter.selects(&row.name, &row.namespace) {
            left_out.add_sum(&row.sum);
            continue;
        }
        let (name, namespace) = match by {
            ByArg::Namespace => ("", row.namespace.as_str()),
            ByArg::PackageRoot => ("", package_root(&row.namespace)),
            _ => (row.name.as_str(), row.namespace.as_str()),
        };
        let known = *index.entry((name, namespace)).or_insert_with(|| {
            let (name, namespace) = (name.to_owned(), namespace.to_owned());
            rows.push(HistogramRow {
                name,
                namespace,
                source: TypeSource::None,
                sum: Sum::default(),
                retained_bytes: None,
                estimate: None,
            });
            rows.len() - 1
        });
        rows[known].sum.add_sum(&row.sum);
    }
    let mut histogram = Histogram::of_rows(rows, None);
    histogram.whole.add_sum(&left_out);
    histogram
}

/// The default column to sort by: retained bytes if they are known, otherwise own bytes (including
/// external memory if there is any).
pub(crate) fn default_sort(total: &Sum, is_retained: bool) -> SortArg {
    match is_retained {
        true => SortArg::Retained,
        false if total.external_bytes == 0 => SortArg::Shallow,
        false => SortArg::Size,
    }
}

pub(crate) fn sum_json(sum: &Sum) -> Value<'static> {
    Value::from([
        ("count", sum.count.into()),
        ("shallow_bytes", sum.shallow_bytes.into()),
        ("external_bytes", sum.external_bytes.into()),
    ])
}

/// The number of omitted rows, and their sum, in JSON.
pub(crate) fn omitted_json(rows: usize, sum: Option<&Sum>) -> Value<'static> {
    Value::from([
        ("rows", rows.into()),
        ("count", sum.map(|sum| sum.count).into()),
        ("shallow_bytes", sum.map(|sum| sum.shallow_bytes).into()),
    ])
}

/// The name of a group: the type, namespace, root or size class.
pub(crate) fn group_text(by: ByArg, name: &str, namespace: &str) -> String {
    match by {
        ByArg::Namespace | ByArg::PackageRoot if namespace.is_empty() => "(none)".to_owned(),
        ByArg::Namespace | ByArg::PackageRoot => shown(namespace),
        ByArg::Root => root_group_text(namespace, name),
        _ => shown(name),
    }
}

/// The name of a group of roots: `global data +0x1c0`, `goroutine 17 [chan receive]`.
pub(crate) fn root_group_text(kind: &str, name: &str) -> String {
    match kind {
        "global" | "static" if !name.starts_with("several ") => format!("{kind} {}", shown(name)),
        _ => shown(name),
    }
}

/// Whether rows need a column for the namespaces of their types. Type names include the namespace,
/// except in Dart.
pub(crate) fn needs_namespace<'r>(
    by: ByArg,
    mut rows: impl Iterator<Item = (&'r str, &'r str)>,
) -> bool {
    by == ByArg::Site
        || by == ByArg::Type
            && rows.any(|(name, namespace)| !namespace.is_empty() && !name.contains(namespace))
}

/// The word for groups, singular and plural.
pub(crate) fn group_nouns(by: ByArg) -> (&'static str, &'static str) {
    match by {
        ByArg::Namespace => ("namespace", "namespaces"),
        ByArg::PackageRoot => ("package", "packages"),
        ByArg::Root => ("root", "roots"),
        ByArg::SizeClass => ("size", "sizes"),
        ByArg::Loader => ("class loader", "class loaders"),
        ByArg::Site => ("site", "sites"),
        ByArg::Generation => ("generation", "generations"),
        _ => ("type", "types"),
    }
}
