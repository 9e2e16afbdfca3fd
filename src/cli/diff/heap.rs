//! `diff` of heaps, by type or another group.

mod rows;

use super::{document, identity, side_json, with_rows};
use crate::analysis::diff::{HistogramChange, Side, changes, rise};
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::analysis::root_groups::HeldBy;
use crate::cli::args::{
    ByArg, DiffArgs, DiffObjects, DiffSort, LoadArgs, ObjectsArg, Snapshot, name_of,
};
use crate::cli::heap::grown::{Growth, Newer};
use crate::cli::heap::histogram::{count_types, default_sort, histogram, quick, root_group_text};
use crate::cli::heap::{Answers, load, no_such_type, report_loaded};
use crate::cli::known::Rules;
use crate::cli::open::Input;
use crate::cli::print::{Shown, print};
use crate::cli::session::Session;
use crate::cli::size::{count, plural, showing, size_change};
use crate::cli::status::{Status, UsageError};
use rows::{Row, Shares, column_of, columns, delta, status};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One of the two heaps.
struct Counted {
    histogram: Histogram,
    has_roots: bool,
    snapshot: u64,
    status: Status,
    /// Whether the options select a type of the heap.
    has_types: bool,
}

/// The group of roots that holds most objects of a type, by name and namespace.
type TypeHolders = FxHashMap<(String, String), String>;

/// The names that types have in the code that ran, for types that a mapping renamed.
type GeneratedNames = FxHashMap<(String, String), String>;

pub(super) fn run(
    args: &DiffArgs,
    old: &Input,
    new: &Input,
    by_layout: bool,
    session: &Session,
) -> anyhow::Result<Status> {
    if args.heap.objects == Some(DiffObjects::Identity) {
        args.known.only_with("two heaps by type", false)?;
        return identity::run(args, old, new, session);
    }
    let compared = Compared::of(args, (old, new), by_layout, session)?;
    compared.print(args, (old, new), session)
}

/// The counted groups of two heaps, and the growth between the heaps.
struct Compared {
    by: ByArg,
    old: Counted,
    new: Counted,
    /// `None` if a heap was only counted, or has no roots.
    growth: Option<Growth>,
    /// The holders of the newer heap's types. Empty unless people read the output, by type.
    holders: TypeHolders,
    /// The generated names of the older and of the newer heap.
    generated: [GeneratedNames; 2],
}

impl Compared {
    fn of(
        args: &DiffArgs,
        (old, new): (&Input, &Input),
        by_layout: bool,
        session: &Session,
    ) -> anyhow::Result<Self> {
        let rules = Rules::of(&args.known, session)?;
        let by = args.by.unwrap_or(ByArg::Type);
        let snapshots = args.heap.snapshot;
        // Heaps are loaded one after the other, so that only one is in memory: the newer one first,
        // because its owners are looked up in the older one.
        let roots = &args.heap.roots.with_layout_names(by_layout);
        let old_roots = roots.of_program(args.heap.old_exe.as_ref());
        let with_notes = by == ByArg::Type && session.common.format.is_for_people();
        let describe = |loaded: &Answers<'_>, histogram: &Histogram| {
            let holders = with_notes.then(|| holders(loaded, &histogram.rows));
            let newer = Newer::of(loaded, (&rules, new.format), session);
            (newer, holders.unwrap_or_default(), generated_names(loaded, by, histogram))
        };
        let at = (snapshots.map(|pair| pair.new), roots);
        let (new, newer) = counted(args, by, new, at, session, describe)?;
        let (newer, holders, new_names) = newer.unwrap_or_default();
        let since = |loaded: &Answers<'_>, histogram: &Histogram| {
            let growth = newer.as_ref().and_then(|newer| newer.since(loaded));
            (growth, generated_names(loaded, by, histogram))
        };
        let at = (snapshots.map(|pair| pair.old), &old_roots);
        let (old, growth) = counted(args, by, old, at, session, since)?;
        let is_sound = new.status.max(old.status) == Status::Done;
        if !new.has_types && !old.has_types && is_sound && !args.filter.filter().is_empty() {
            return Err(no_such_type(&args.filter, Vec::new()).into());
        }
        let (growth, old_names) = growth.unwrap_or_default();
        Ok(Self { by, old, new, growth, holders, generated: [old_names, new_names] })
    }

    /// Whether retained sizes are known for both heaps.
    fn has_retained(&self) -> bool {
        self.old.has_roots && self.new.has_roots
    }

    fn objects(&self, args: &DiffArgs) -> ObjectsArg {
        if self.has_retained() { wanted(args) } else { ObjectsArg::All }
    }

    /// The groups that changed, in the order in which they are shown.
    fn sorted(&self, args: &DiffArgs) -> (Vec<HistogramChange>, Shares) {
        let (before, after) = (&self.old.histogram, &self.new.histogram);
        let mut changes = changes(before, after);
        let is_retained = self.has_retained() && wanted(args) != ObjectsArg::Unreachable;
        let mut total = before.total;
        total.add_sum(&after.total);
        let sort = args.sort.and_then(DiffSort::of_heap);
        let sort = sort.unwrap_or_else(|| default_sort(&total, is_retained));
        let shares = Shares {
            column: column_of(sort, is_retained),
            wholes: [before, after].map(|side| side.whole.bytes()),
            are_shown: args.sort == Some(DiffSort::Share),
        };
        if shares.are_shown {
            let change = |row: &HistogramChange| shares.change(row).abs();
            changes.sort_by(|a, b| change(b).total_cmp(&change(a)));
        } else {
            changes.sort_by_key(|row| Reverse(delta(&row.delta(), sort).unsigned_abs()));
        }
        (changes, shares)
    }

    fn print(
        &self,
        args: &DiffArgs,
        (old, new): (&Input, &Input),
        session: &Session,
    ) -> anyhow::Result<Status> {
        let (before, after) = (&self.old.histogram, &self.new.histogram);
        let (changes, shares) = self.sorted(args);
        let shown = session.shown(&changes, args.limit, super::ROWS).0;
        let rows: Vec<Row> =
            shown.iter().map(|change| Row::of(change, note(change, &self.holders))).collect();
        let unchanged = unchanged(before, &changes);
        let objects = self.objects(args);
        let sentence = self.growth.as_ref().map(|growth| growth.sentence(session));
        let headed = self.growth.as_ref().map(|growth| growth.text(session)).unwrap_or_default();
        let document = || {
            let document = document(old, new)
                .with("old_snapshot", self.old.snapshot)
                .with("new_snapshot", self.new.snapshot)
                .with("by", name_of(self.by))
                .with("objects", name_of(objects))
                .with("filter", args.filter.json())
                .with("verdict", sentence.as_deref())
                .with("grown", self.growth.as_ref().map(Growth::json))
                .with("old_total", side_json(&total(before)))
                .with("new_total", side_json(&total(after)));
            with_rows(document, changes.len() - shown.len(), unchanged)
        };
        let text = || {
            let roots = if self.has_retained() || args.heap.quick { "" } else { NO_ROOTS };
            footer(&changes, shown.len(), unchanged, (before, after), objects, session) + roots
        };
        let shown_as = match &sentence {
            Some(_) => Shown::Headed(&headed, &text),
            None => Shown::Table(&text),
        };
        let [old, new] = &self.generated;
        let is_renamed = !old.is_empty() || !new.is_empty();
        let columns = columns(shown, self.by, &shares, session)
            .value_if(is_renamed, "old.generated_name", |row| generated_name(old, row))
            .value_if(is_renamed, "new.generated_name", |row| generated_name(new, row));
        print(session, document, &rows, &columns, &shown_as)?;
        Ok(self.old.status.max(self.new.status))
    }
}

fn wanted(args: &DiffArgs) -> ObjectsArg {
    match args.heap.objects {
        Some(DiffObjects::Of(objects)) => objects,
        Some(DiffObjects::Identity) | None => ObjectsArg::Live,
    }
}

const NO_ROOTS: &str =
    "a dump has no roots: all objects are counted, and retained sizes are not known\n";

fn total(histogram: &Histogram) -> Side {
    // The roots retain all live bytes.
    let retained_bytes = histogram.unreachable.map(|_| histogram.total.bytes());
    Side { sum: histogram.total, retained_bytes }
}

/// Counts one of the heaps, and passes it to `look` if it was loaded.
fn counted<T>(
    args: &DiffArgs,
    by: ByArg,
    input: &Input,
    (snapshot, roots): (Option<Snapshot>, &LoadArgs),
    session: &Session,
    look: impl FnOnce(&Answers<'_>, &Histogram) -> T,
) -> anyhow::Result<(Counted, Option<T>)> {
    if args.heap.quick {
        if !matches!(by, ByArg::Type | ByArg::Namespace | ByArg::PackageRoot)
            || args.sort == Some(DiffSort::Retained)
        {
            return Err(
                UsageError::new("--quick supports only --by type, namespace and package-root, without retained sizes").into()
            );
        }
        if let Some(option) = roots.needs_references() {
            let message = format!(
                "{option} cannot be used with --quick, which does not build the object graph"
            );
            return Err(UsageError::new(message).into());
        }
        let counted = count_types(session, "diff", input, snapshot, roots)?;
        let status = input.report_if_damaged(counted.damage.as_ref(), &session.terminal);
        let histogram = quick(&counted, by, &args.filter.filter());
        let snapshot = counted.snapshot;
        let has_types = !histogram.rows.is_empty();
        return Ok((Counted { histogram, has_roots: false, snapshot, status, has_types }, None));
    }
    let held = load(session, "diff", input, snapshot, roots)?;
    let loaded = held.get();
    if !loaded.heap.roots.is_empty() {
        // The search for what grew needs the dominator tree anyway, so the histogram uses it, too.
        loaded.tree();
    }
    let histogram = histogram(loaded, by, wanted(args), &args.filter.filter(), input)?;
    let has_roots = histogram.unreachable.is_some();
    let status = report_loaded(session, input, loaded);
    let seen = look(loaded, &histogram);
    let has_types = args.filter.filter().types(&loaded.heap).contains(&true);
    let snapshot = loaded.snapshot;
    Ok((Counted { histogram, has_roots, snapshot, status, has_types }, Some(seen)))
}

/// The names that a histogram's types have in the code that ran.
fn generated_names(loaded: &Answers<'_>, by: ByArg, histogram: &Histogram) -> GeneratedNames {
    let heap = &loaded.heap;
    if by != ByArg::Type || heap.generated_types.is_empty() {
        return GeneratedNames::default();
    }
    let named = |row: &HistogramRow| {
        let generated = heap.generated_name(&row.name, &row.namespace)?.to_owned();
        Some(((row.name.clone(), row.namespace.clone()), generated))
    };
    histogram.rows.iter().filter_map(named).collect()
}

/// The name that a row's type has in the code that ran, if a mapping renamed it.
fn generated_name(names: &GeneratedNames, row: &Row) -> Option<String> {
    names.get(&(row.change.name.clone(), row.change.namespace.clone())).cloned()
}

/// The number of rows of the older heap that did not change.
fn unchanged(old: &Histogram, changes: &[HistogramChange]) -> u64 {
    old.rows.len() as u64 - changes.iter().filter(|change| change.old.is_some()).count() as u64
}

/// The remark on a row: `gone`, or `new` with its holder if known. Empty for changed groups.
fn note(row: &HistogramChange, holders: &TypeHolders) -> String {
    let holder = || holders.get(&(row.name.clone(), row.namespace.clone()));
    match status(row) {
        "changed" => String::new(),
        "new" => holder().map_or("new".to_owned(), |holder| format!("new: held by {holder}")),
        status => status.to_owned(),
    }
}

/// For each type, the group of roots that alone holds most of its objects, if there is one.
fn holders(loaded: &Answers<'_>, rows: &[HistogramRow]) -> TypeHolders {
    let (heap, (tree, groups)) = (&loaded.heap, loaded.tree_and_roots());
    let of_rows = rows.iter().enumerate();
    let index: FxHashMap<(&str, &str), usize> =
        of_rows.map(|(at, row)| ((row.name.as_str(), row.namespace.as_str()), at)).collect();
    let text = |name| heap.names.text(name);
    let row_of: Vec<_> =
        heap.types.iter().map(|ty| index.get(&(text(ty.name), text(ty.namespace)))).collect();
    let mut counts: Vec<BTreeMap<u32, u64>> = rows.iter().map(|_| BTreeMap::new()).collect();
    for object in heap.objects() {
        let Some(&row) = row_of[heap.type_id(object).0 as usize] else { continue };
        if let HeldBy::Group(group) = groups.holder(&tree.dominators, object) {
            *counts[row].entry(group).or_default() += 1;
        }
    }
    let most = |(counts, row): (BTreeMap<u32, u64>, &HistogramRow)| {
        let (group, held) =
            counts.into_iter().max_by_key(|(group, held)| (*held, Reverse(*group)))?;
        let group = &groups.groups[group as usize];
        let name = (row.name.clone(), row.namespace.clone());
        (held > row.sum.count / 2).then(|| (name, root_group_text(group.kind.name(), &group.name)))
    };
    counts.into_iter().zip(rows).filter_map(most).collect()
}

fn footer(
    rows: &[HistogramChange],
    shown: usize,
    unchanged: u64,
    (old, new): (&Histogram, &Histogram),
    objects: ObjectsArg,
    session: &Session,
) -> String {
    let bytes = |histogram: &Histogram| session.size(histogram.total.bytes());
    let which = match objects {
        ObjectsArg::Live => "live",
        ObjectsArg::All => "all objects",
        ObjectsArg::Unreachable => "unreachable",
    };
    let changed = showing(shown, rows.len(), "changed", "changed");
    let number =
        |wanted: &str| count(rows.iter().filter(|row| status(row) == wanted).count() as u64);
    let rise = size_change(rise(old.total.bytes(), new.total.bytes()), session.common.bytes);
    format!(
        "{changed} ({} new, {} gone), {} unchanged; {which}: {} → {} ({rise}), {} → {}\n",
        number("new"),
        number("gone"),
        count(unchanged),
        bytes(old),
        bytes(new),
        count(old.total.count),
        plural(new.total.count, "object", "objects"),
    )
}
