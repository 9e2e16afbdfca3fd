//! `top` of heaps: groups of objects by retained or own size.

use super::growth;
use crate::analysis::histogram::{Histogram, HistogramRow};
use crate::analysis::owners::repeated_classes;
use crate::cli::args::{ByArg, ObjectsArg, Snapshot, Snapshots, SortArg, TopArgs, name_of};
use crate::cli::heap::histogram::{
    count_types, default_sort, group_nouns, group_text, histogram, needs_namespace, omitted_json,
    quick, sum_json,
};
use crate::cli::heap::{known_types, load_as, no_such_type, report_loaded, without_roots};
use crate::cli::memory::Work;
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print};
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural, size};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::shown as shown_text;
use crate::input::Format;
use crate::input::load::Loaded;
use crate::model::heap::{Heap, LoadWarning, TypeId};
use crate::model::site::Sampling;
use crate::model::sum::Sum;
use rustc_hash::FxHashSet;

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    if args.heap.snapshot == Some(Snapshots::All) {
        return growth::run(args, input, session);
    }
    let snapshot = args.heap.snapshot.and_then(Snapshots::one);
    let by = args.by.unwrap_or(ByArg::Type);
    let objects = args.heap.objects.unwrap_or(ObjectsArg::Live);
    if by == ByArg::Root && objects != ObjectsArg::Live {
        return Err(UsageError::new("--by root supports only live objects").into());
    }
    input.only(&[Format::Heapsnapshot], "--detached", args.heap.detached)?;
    if args.heap.quick {
        return run_quick(args, by, snapshot, input, session);
    }
    let work = match by {
        ByArg::Root | ByArg::Loader | ByArg::Site => Work::Analysis,
        _ => Work::Counting,
    };
    let held = load_as(work, session, "top", input, snapshot, &args.heap.roots)?;
    let loaded = held.get();
    if session.resident.is_some() && !loaded.heap.roots.is_empty() {
        // A resident heap answers later requests from this.
        loaded.tree();
    }
    if by == ByArg::Root && loaded.heap.roots.is_empty() {
        return without_roots(session, input, loaded, "objects cannot be grouped by root", None);
    }
    known_types(loaded, input, &args.filter)?;
    let mut histogram = histogram(loaded, by, objects, &args.filter.filter(), input)?;
    let has_roots = histogram.unreachable.is_some();
    if args.heap.detached {
        retain_detached(&mut histogram, &loaded.heap);
    }
    let is_retained = has_roots && objects != ObjectsArg::Unreachable;
    let sort = args.heap.sort.unwrap_or_else(|| default_sort(&histogram.total, is_retained));
    sort_rows(&mut histogram.rows, sort);
    let objects = if has_roots { objects } else { ObjectsArg::All };
    let is_profile =
        by == ByArg::Site && loaded.heap.sites().sites.iter().any(|site| site.live.is_some());
    let top = Top {
        snapshot: loaded.snapshot,
        by,
        objects,
        sort,
        quick: false,
        incomplete: loaded.incomplete,
        warnings: &loaded.heap.warnings,
        names: Names::of(loaded, input),
        heap: Some(&loaded.heap),
        is_profile,
        sampling: if is_profile { loaded.heap.sites().sampling } else { Sampling::Complete },
        repeated: if by == ByArg::Loader { repeated(&loaded.heap) } else { Vec::new() },
        histogram: &histogram,
        session,
    };
    top.print(args, input)?;
    Ok(report_loaded(session, input, loaded))
}

/// Removes the rows of types without detached elements.
fn retain_detached(histogram: &mut Histogram, heap: &Heap<'_>) {
    let name = |type_id: &TypeId| heap.names.text(heap.types[type_id.0 as usize].name);
    let names: FxHashSet<&str> = heap.detached_types.iter().map(name).collect();
    histogram.rows.retain(|row| row.namespace == "native" && names.contains(&*row.name));
}

/// Counts objects and bytes in one pass that keeps no object.
fn run_quick(
    args: &TopArgs,
    by: ByArg,
    snapshot: Option<Snapshot>,
    input: &Input,
    session: &Session,
) -> anyhow::Result<Status> {
    let needs_references = match (by, args.heap.sort) {
        (ByArg::Type | ByArg::Namespace | ByArg::PackageRoot, Some(SortArg::Retained)) => {
            Some("--sort retained".to_owned())
        }
        (ByArg::Type | ByArg::Namespace | ByArg::PackageRoot, _) => {
            args.heap.roots.needs_references().map(str::to_owned)
        }
        _ => Some(format!("--by {}", name_of(by))),
    };
    if let Some(needs) = needs_references {
        return Err(UsageError::new(format!(
            "{needs} cannot be used with --quick, which does not build the object graph"
        ))
        .into());
    }
    let counted = count_types(session, "top", input, snapshot, &args.heap.roots)?;
    let mut histogram = quick(&counted, by, &args.filter.filter());
    if histogram.rows.is_empty() && !args.filter.filter().is_empty() && counted.damage.is_none() {
        let names = counted.rows.iter().map(|row| &*row.name).collect();
        return Err(no_such_type(&args.filter, names).into());
    }
    let sort = args.heap.sort.unwrap_or_else(|| default_sort(&histogram.total, false));
    sort_rows(&mut histogram.rows, sort);
    Top {
        snapshot: counted.snapshot,
        by,
        objects: ObjectsArg::All,
        sort,
        quick: true,
        incomplete: false,
        warnings: &[],
        names: Names::All,
        heap: None,
        is_profile: false,
        sampling: Sampling::Complete,
        repeated: Vec::new(),
        histogram: &histogram,
        session,
    }
    .print(args, input)?;
    Ok(input.report_if_damaged(counted.damage.as_ref(), &session.terminal))
}

/// Maximum number of classes defined by several loaders that are shown.
const REPEATED: usize = 5;

fn repeated<'h>(heap: &'h Heap<'_>) -> Vec<(&'h str, u64)> {
    repeated_classes(heap)
        .iter()
        .map(|class| (heap.names.text(class.name), class.loaders))
        .collect()
}

fn repeated_json<'a>(classes: &[(&'a str, u64)]) -> Vec<Value<'a>> {
    let class = |(name, loaders): &(&'a str, u64)| {
        Value::from([("name", (*name).into()), ("loaders", (*loaders).into())])
    };
    classes.iter().map(class).collect()
}

pub(super) fn warnings<'a>(all: &[LoadWarning]) -> Vec<Value<'a>> {
    all.iter().map(|warning| warning.text().into()).collect()
}

/// The source of type names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// The dump, which has all names.
    All,
    /// The dump, which has few names; an executable would have more.
    OfDump,
    /// An executable.
    OfProgram,
}

impl Names {
    fn of(loaded: &Loaded<'_>, input: &Input) -> Self {
        match (&loaded.executable, input.format) {
            (Some(_), _) => Self::OfProgram,
            (None, Format::Go) => Self::OfDump,
            (None, _) => Self::All,
        }
    }
}

struct Top<'a> {
    snapshot: u64,
    by: ByArg,
    objects: ObjectsArg,
    sort: SortArg,
    quick: bool,
    /// Whether roots or references are missing because of damage.
    incomplete: bool,
    names: Names,
    /// The heap, unless its objects were only counted.
    heap: Option<&'a Heap<'a>>,
    /// Whether the rows are counts from the file itself.
    is_profile: bool,
    /// The way in which the rows were sampled.
    sampling: Sampling,
    warnings: &'a [LoadWarning],
    /// Classes that several loaders defined, with their number.
    repeated: Vec<(&'a str, u64)>,
    /// The groups, with sorted rows.
    histogram: &'a Histogram,
    session: &'a Session,
}

impl<'a> Top<'a> {
    fn print(&self, args: &TopArgs, input: &Input) -> anyhow::Result<()> {
        let rows = &self.histogram.rows;
        let (shown, omitted) = self.session.shown(rows, args.limit, super::ROWS);
        let document = || {
            let document = Document::new("dumptool/top/1", &input.path)
                .with("snapshot", self.snapshot)
                .with("by", name_of(self.by))
                .with("objects", name_of(self.objects))
                .with("filter", args.filter.json())
                .with("whole", sum_json(&self.histogram.whole))
                .with("total", sum_json(&self.histogram.total))
                .with("unreachable", self.histogram.unreachable.as_ref().map(sum_json))
                .rows("rows")
                .with("omitted", omitted_json(omitted.len(), Some(&sum(omitted))))
                .with("warnings", warnings(self.warnings));
            match self.by {
                ByArg::Loader => document.with("repeated_classes", repeated_json(&self.repeated)),
                _ => document,
            }
        };
        print(
            self.session,
            document,
            shown,
            &self.columns(shown),
            &Shown::Table(&|| self.footer(shown)),
        )
    }

    fn columns(&self, shown: &[HistogramRow]) -> Columns<'a, HistogramRow> {
        let &Self { by, sort, session, .. } = self;
        let whole = self.whole().max(1) as f64;
        let share = move |row: &HistogramRow| value(row, sort) as f64 / whole;
        let minor: Vec<&str> = ["external_bytes", "shallow_bytes"]
            .into_iter()
            .filter(|minor| *minor != key(sort))
            .collect();
        let renamed =
            self.heap.filter(|heap| by == ByArg::Type && !heap.generated_types.is_empty());
        let generated =
            move |row: &HistogramRow| renamed?.generated_name(&row.name, &row.namespace);
        let columns = Columns::new(session)
            .text("name", &group_nouns(by).0.to_uppercase(), |row: &HistogramRow| &row.name)
            .shown_as(move |row| match generated(row).filter(|_| session.common.verbose) {
                Some(generated) => format!("{} ({})", shown_text(&row.name), shown_text(generated)),
                None => group_text(by, &row.name, &row.namespace),
            })
            .text("namespace", if by == ByArg::Site { "PLACE" } else { "NAMESPACE" }, |row| {
                Value::non_empty(&row.namespace)
            })
            .number("count", "COUNT", |row| row.sum.count)
            .bytes("shallow_bytes", "SHALLOW", |row| row.sum.shallow_bytes)
            .bytes("external_bytes", "EXTERNAL", |row| row.sum.external_bytes)
            .bytes("retained_bytes", "RETAINED", |row| row.retained_bytes)
            .cell("samples", "SAMPLES", Align::Right, |row| count(row.sum.count))
            .cell("size", "SIZE", Align::Right, |row| session.size(row.sum.bytes()))
            .cell("share", "SHARE", Align::Right, move |row| percent(share(row)))
            .bar(share)
            .minor(&minor)
            .value_if(renamed.is_some(), "generated_name", generated);
        let columns = match self.sampling {
            Sampling::Rate(_) => columns
                .number("estimated_count", "COUNT", |row| row.estimate.map(|sum| sum.count))
                .bytes("estimated_bytes", "ESTIMATE", |row| {
                    row.estimate.map(|sum| sum.shallow_bytes)
                }),
            _ => columns,
        };
        let has_sources = self.names == Names::OfProgram && by == ByArg::Type;
        columns
            .table(&self.keys(shown))
            .value_if(has_sources, "type_source", |row| row.source.name())
    }

    /// The columns of the table. The column that rows are sorted by comes first.
    fn keys(&self, shown: &[HistogramRow]) -> Vec<&'static str> {
        let sort = self.sort;
        let mut keys = match self.sampling {
            Sampling::Rate(_) => vec![estimate_key(sort), "share"],
            // Shares of samples would mislead, because small objects are hardly ever sampled.
            Sampling::Unknown => vec![key(sort)],
            Sampling::Complete => vec![key(sort), "share"],
        };
        if matches!(self.sampling, Sampling::Rate(_)) {
            keys.extend(self.other_columns().map(estimate_key));
            keys.push("samples");
        } else {
            keys.extend(self.other_columns().map(key));
        }
        keys.push("name");
        let names = shown.iter().map(|row| (row.name.as_str(), row.namespace.as_str()));
        if needs_namespace(self.by, names) {
            keys.push("namespace");
        }
        if self.sampling != Sampling::Unknown {
            keys.push("bar");
        }
        keys
    }

    fn other_columns(&self) -> impl Iterator<Item = SortArg> {
        let retains = |row: &HistogramRow| row.retained_bytes.is_some();
        // Unreachable objects retain nothing.
        let has_retained =
            self.objects != ObjectsArg::Unreachable && self.histogram.rows.iter().any(retains);
        let has_external = self.histogram.total.external_bytes > 0;
        let sort = self.sort;
        let all = [
            (SortArg::Retained, has_retained),
            (SortArg::Shallow, true),
            (SortArg::External, has_external),
        ];
        let shown = all
            .into_iter()
            .chain([(SortArg::Count, true)])
            .filter(|(_, shown)| *shown)
            .map(|(column, _)| column);
        shown.filter(move |column| *column != sort)
    }

    /// The whole that shares refer to: the sum of the column that rows are sorted by. Retained
    /// bytes refer to all bytes instead, because several types may retain the same bytes.
    fn whole(&self) -> u64 {
        match self.sampling {
            Sampling::Rate(_) => self.histogram.rows.iter().map(|row| value(row, self.sort)).sum(),
            _ => part(&self.histogram.whole, self.sort),
        }
    }

    /// `showing 20 of 414 types; 92.1 % of 13.3 MiB live · unreachable: 12 objects, 1.2 KiB`.
    fn footer(&self, shown: &[HistogramRow]) -> String {
        let rows = self.histogram.rows.len() as u64;
        let estimates =
            matches!(self.sampling, Sampling::Rate(_)).then(|| estimated(&self.histogram.rows));
        let total = estimates.as_ref().unwrap_or(&self.histogram.total);
        let bytes = |sum: &Sum| size(sum.bytes(), self.session.common.bytes);
        let what = match (self.objects, self.histogram.unreachable.is_some()) {
            (_, false) if self.is_profile => "live",
            (ObjectsArg::Live, true) if self.incomplete => "reached",
            (ObjectsArg::Live, true) => "live",
            (ObjectsArg::Unreachable, true) if self.incomplete => "not reached",
            (ObjectsArg::Unreachable, true) => "unreachable",
            _ => "in all objects",
        };
        let (one, many) = group_nouns(self.by);
        let whole = estimates.as_ref().unwrap_or(&self.histogram.whole);
        let footer = if shown.len() as u64 == rows {
            let part_of =
                if whole == total { String::new() } else { format!(" of {}", bytes(whole)) };
            format!("{}, {}{part_of} {what}", plural(rows, one, many), bytes(total))
        } else {
            let share = percent(estimated(shown).bytes() as f64 / whole.bytes().max(1) as f64);
            let (shown, rows) = (count(shown.len() as u64), count(rows));
            // The row of a root counts all that the root holds; the row of a type, only own bytes.
            let own = if self.by == ByArg::Root {
                String::new()
            } else {
                format!("own bytes of these {many}: ")
            };
            format!("showing {shown} of {rows} {many}; {own}{share} of {} {what}", bytes(whole))
        };
        footer + &self.not_alive() + &self.remarks() + "\n"
    }

    /// The part of the footer about unreachable objects, or why they are not known.
    fn not_alive(&self) -> String {
        let bytes = |bytes: u64| size(bytes, self.session.common.bytes);
        let is_counted = self.objects != ObjectsArg::Unreachable;
        match (&self.histogram.unreachable, self.sampling) {
            (Some(sum), _) => {
                let unreachable = if self.incomplete { "not reached" } else { "unreachable" };
                let (objects, bytes) = (plural(sum.count, "object", "objects"), bytes(sum.bytes()));
                let counted = if is_counted && sum.count > 0 { format!(" · {unreachable}: {objects}, {bytes}") } else { String::new() };
                let damaged = "\nthe dump is damaged: roots or references are missing, so live and unreachable objects cannot be distinguished";
                if self.incomplete { counted + damaged } else { counted }
            }
            (None, _) if self.incomplete => {
                "\nno roots before the damage: live and unreachable objects cannot be distinguished".to_owned()
            }
            (None, Sampling::Unknown) => {
                ": a sample of the allocations at an unknown rate, as the runtime's allocation profiler recorded it".to_owned()
            }
            (None, Sampling::Rate(rate)) => format!(
                ": estimated from the samples of the runtime's allocation profiler, one every {} on average",
                bytes(rate)
            ),
            (None, _) if self.is_profile => {
                ", as the runtime's allocation profiler recorded them".to_owned()
            }
            (None, _) if self.quick => ", live or not".to_owned(),
            (None, _) => {
                "\nthe dump has no roots: all objects are counted, and retained sizes are not known".to_owned()
            }
        }
    }

    /// Remarks on classes defined by several loaders, and on missing type names.
    fn remarks(&self) -> String {
        let mut remarks = String::new();
        if !self.repeated.is_empty() {
            let text = |(name, loaders): &(&str, u64)| {
                format!("{} ×{}", shown_text(name), count(*loaders))
            };
            let shown: Vec<String> = self.repeated.iter().take(REPEATED).map(text).collect();
            remarks = format!("\ndefined by several class loaders: {}", shown.join(", "));
            if let more @ 1.. = self.repeated.len().saturating_sub(REPEATED) {
                remarks.push_str(&format!(", … {} more", count(more as u64)));
            }
        }
        if self.names == Names::OfDump && self.by == ByArg::Type {
            remarks.push_str("\nthe dump has few type names; use --exe PROGRAM to read them from the executable that wrote it");
        }
        remarks
    }
}

/// Sorts rows by a column, largest first. Equal rows keep their previous order, which is by
/// retained bytes first.
fn sort_rows(rows: &mut [HistogramRow], by: SortArg) {
    rows.sort_by_key(|row| std::cmp::Reverse(value(row, by)));
}

/// The value of a column, scaled if the row is a sample.
fn value(row: &HistogramRow, column: SortArg) -> u64 {
    match column {
        SortArg::Retained => row.retained_bytes.unwrap_or(0),
        column => part(row.estimate.as_ref().unwrap_or(&row.sum), column),
    }
}

fn part(sum: &Sum, column: SortArg) -> u64 {
    match column {
        SortArg::Retained | SortArg::Size => sum.bytes(),
        SortArg::Shallow => sum.shallow_bytes,
        SortArg::Count => sum.count,
        SortArg::External => sum.external_bytes,
    }
}

fn key(column: SortArg) -> &'static str {
    match column {
        SortArg::Retained => "retained_bytes",
        SortArg::Shallow => "shallow_bytes",
        SortArg::Count => "count",
        SortArg::External => "external_bytes",
        SortArg::Size => "size",
    }
}

/// The key of the column with the estimate for another column.
fn estimate_key(column: SortArg) -> &'static str {
    match column {
        SortArg::Count => "estimated_count",
        _ => "estimated_bytes",
    }
}

/// The sum of the rows, scaled if they are samples.
fn estimated(rows: &[HistogramRow]) -> Sum {
    let mut sum = Sum::default();
    rows.iter().for_each(|row| sum.add_sum(row.estimate.as_ref().unwrap_or(&row.sum)));
    sum
}

fn sum(rows: &[HistogramRow]) -> Sum {
    let mut sum = Sum::default();
    rows.iter().for_each(|row| sum.add_sum(&row.sum));
    sum
}
