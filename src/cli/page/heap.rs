//! The page about a heap, or about two.

use super::tables::{self, number};
use super::{LINES, Subject, cut_note, fitting, made_by, report, table_rows};
use crate::analysis::diff::{changes, rise};
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::root_groups::{Lands, RootGroups};
use crate::analysis::threads::Threads;
use crate::analysis::tree::{self, TreeItem, TreeLine, TreeOptions};
use crate::analysis::waste::contents::Read;
use crate::analysis::waste::{Measurements, Waste};
use crate::cli::args::{ByArg, ObjectsArg, ReportArgs};
use crate::cli::heap::Answers;
use crate::cli::heap::grown::{Growth, Newer};
use crate::cli::heap::histogram::root_group_text;
use crate::cli::heap::verdict::Words;
use crate::cli::heap::{Analysed, load, report_loaded, type_name, without_roots};
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::size::{count, plural, signed_size, size};
use crate::cli::status::Status;
use crate::input::load::Loaded;
use crate::model::heap::{Heap, ObjectId};
use crate::output::flamegraph::{FlamegraphOptions, Picture, picture};
use crate::output::report::{Report, ReportSuspect, ReportTable, ReportTree, Tile};

/// Suspects that a page shows.
const SUSPECTS: usize = 10;

pub(super) fn page(
    args: &ReportArgs,
    subject: Subject<'_>,
    session: &Session,
) -> anyhow::Result<(Option<String>, Status)> {
    let Subject { input, old, .. } = subject;
    let held = load(session, "report", input, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    if loaded.heap.roots.is_empty() {
        return Ok((
            None,
            without_roots(session, input, loaded, "there is nothing to report", None)?,
        ));
    }
    let status = report_loaded(session, input, loaded);
    let Some(old) = old else {
        let analysed = loaded.reached();
        let one = One::of(loaded, &analysed, session);
        let build =
            |lines| one.report(report(args, "heap", subject, "bytes"), loaded, subject, lines);
        return Ok((Some(fitting(args, build)?), status));
    };
    // The newer heap leaves its sums, so that only one is in memory.
    let (after, newer) = (Sums::of(loaded), Newer::of(loaded, true, session));
    drop(held);
    let held = load(session, "report", old, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    if loaded.heap.roots.is_empty() {
        return Ok((
            None,
            without_roots(session, old, loaded, "there is nothing to report", None)?,
        ));
    }
    let growth = newer.and_then(|newer| newer.since(loaded));
    let before = Sums::of(loaded);
    let old_status = report_loaded(session, old, loaded);
    let compared = Compared {
        live: (before.live, after.live),
        picture: after.picture.compared_with(&before.picture),
        warnings: after.warnings,
        growth,
    };
    let build =
        |lines| compared.report(report(args, "heap", subject, "bytes"), subject, session, lines);
    Ok((Some(fitting(args, build)?), old_status.max(status)))
}

/// The results for one heap.
struct One<'r, 'h, 'a> {
    analysed: &'r Analysed<'h, 'a>,
    roots: &'h RootGroups,
    types: Histogram,
    by_root: Histogram,
    suspects: Vec<ReportSuspect>,
    /// The sentence for a heap without suspects.
    nothing: Option<String>,
    threads: Threads,
    waste: Waste,
    /// The tree of a page that is not too large.
    lines: Vec<TreeLine>,
}

impl<'r, 'h, 'a> One<'r, 'h, 'a> {
    fn of(loaded: &'h Answers<'a>, analysed: &'r Analysed<'h, 'a>, session: &Session) -> Self {
        let Analysed { heap, graph, .. } = analysed;
        // The search for dominators keeps one thread busy.
        let (read, tree) = rayon::join(|| Read::of(heap), || analysed.tree());
        let phase = Progress::new("preparing the page", None);
        let held = || {
            let lands = Lands::of_dominators(heap, graph, &tree.dominators);
            let threads = Threads::over(&lands, heap, graph, false);
            let roots = loaded.keep_roots(RootGroups::over(&lands, heap, graph));
            drop(lands);
            let by_root = Histogram::by_root(heap, tree, roots);
            (threads, roots, by_root, tree_lines(heap, tree, roots, LINES))
        };
        let counted = || {
            let types = Histogram::of(heap, Some(tree), GroupBy::Type, Scope::Live);
            let measured = Measurements::of_read(heap, tree, read);
            let waste = Waste::without_owners(heap, tree, &measured);
            (types, waste)
        };
        let ((threads, roots, by_root, lines), (types, waste)) = rayon::join(held, counted);
        loaded.keep_histogram((ByArg::Type, ObjectsArg::Live), &types);
        let found = || loaded.verdict().suspects.iter().take(SUSPECTS);
        let words = Words::new(loaded, analysed, found(), session);
        let suspects: Vec<_> = found().map(|finding| words.on_page(finding)).collect();
        let usual = loaded.verdict().usual.as_ref().filter(|_| suspects.is_empty());
        let nothing = suspects.is_empty().then(|| words.nothing(usual));
        drop(phase);
        Self { analysed, roots, types, by_root, suspects, nothing, threads, waste, lines }
    }

    fn report(
        &self,
        mut report: Report,
        loaded: &Loaded<'_>,
        subject: Subject<'_>,
        most: usize,
    ) -> Report {
        let (Analysed { heap, .. }, tree) = (self.analysed, self.analysed.tree());
        let total = &self.types.total;
        let whole = total.bytes();
        report.warnings = warnings(loaded);
        report.suspects.clone_from(&self.suspects);
        report.notes.extend(self.nothing.clone());
        let mut tile = |label, value| report.tiles.push(Tile { label, value });
        tile("live", size(total.bytes(), false));
        tile("live objects", count(total.count));
        tile("types", count(self.types.rows.len() as u64));
        if let Some(unreachable) = &self.types.unreachable {
            let bytes = match unreachable.count {
                0 => String::new(),
                _ => format!(" · {}", size(unreachable.bytes(), false)),
            };
            tile("unreachable objects", count(unreachable.count) + &bytes);
        }
        tile("file", size(subject.input.source.stored_bytes(), false));
        let fewer = (most != LINES).then(|| tree_lines(heap, tree, self.roots, most));
        let lines = fewer.as_deref().unwrap_or(&self.lines);
        let owners = owners(&mut report, heap, lines);
        report.trees.push(owners);
        let types = tables::groups(
            &mut report,
            "Types",
            &self.types.rows,
            whole,
            table_rows(most),
            |row| row.name.clone(),
        );
        let roots = tables::groups(
            &mut report,
            "Roots",
            &self.by_root.rows,
            whole,
            table_rows(most),
            |row| root_group_text(&row.namespace, &row.name),
        );
        let threads = tables::threads(&mut report, heap, &self.threads, table_rows(most));
        let waste = tables::waste(&mut report, heap, &self.waste, table_rows(most));
        report.tables.push(types);
        subject.add_growth(&mut report, most);
        report.tables.extend([threads, waste, Some(roots)].into_iter().flatten());
        let smallest = lines.iter().map(|line| line.total_bytes).min().unwrap_or(0);
        let shown = plural(lines.len() as u64, "line", "lines");
        report.notes.push(format!(
            "The tree shows {shown}; the smallest retains {}.",
            size(smallest, false)
        ));
        report.notes.push(made_by(&report, subject));
        report
    }
}

/// So many lines of the dominator tree.
fn tree_lines(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    roots: &RootGroups,
    lines: usize,
) -> Vec<TreeLine> {
    let options = TreeOptions { min_share: 0.0, depth: 500, lines, merge_types: false };
    tree::lines(heap, tree, roots, options)
}

/// The dominator tree as columns.
fn owners(report: &mut Report, heap: &Heap<'_>, lines: &[TreeLine]) -> ReportTree {
    let object = |line: &TreeLine| match line.what {
        TreeItem::Object(object) | TreeItem::Chain(object) => heap.id(object),
        _ => String::new(),
    };
    ReportTree {
        title: "What holds the memory".to_owned(),
        depth: lines.iter().map(|line| line.depth).collect(),
        name: lines.iter().map(|line| report.name(&name(heap, &line.what))).collect(),
        namespace: Some(
            lines.iter().map(|line| report.name(namespace(heap, &line.what))).collect(),
        ),
        total: lines.iter().map(|line| line.total_bytes).collect(),
        own: lines.iter().map(|line| line.own_bytes).collect(),
        count: Some(lines.iter().map(|line| line.count).collect()),
        object: Some(lines.iter().map(|line| report.name(&object(line))).collect()),
        ..ReportTree::default()
    }
}

fn name(heap: &Heap<'_>, item: &TreeItem) -> String {
    match item {
        TreeItem::Heap | TreeItem::Selection => "live heap".to_owned(),
        TreeItem::Root(Some((kind, name))) => root_group_text(kind.name(), name),
        TreeItem::Root(None) => dominator_stacks::SEVERAL_ROOTS.trim_matches(['(', ')']).to_owned(),
        TreeItem::Part(part) => part.name.clone(),
        TreeItem::Object(object) | TreeItem::Chain(object) => of_object(heap, *object).to_owned(),
        TreeItem::Group(of) => type_name(heap, *of).to_owned(),
    }
}

fn of_object<'h>(heap: &'h Heap<'_>, object: ObjectId) -> &'h str {
    heap.shown_name(object)
}

fn namespace<'h>(heap: &'h Heap<'_>, item: &TreeItem) -> &'h str {
    match item {
        TreeItem::Object(object) | TreeItem::Chain(object) => {
            heap.names.text(heap.type_of(*object).namespace)
        }
        TreeItem::Group(of) => heap.names.text(heap.types[of.0 as usize].namespace),
        TreeItem::Heap | TreeItem::Selection | TreeItem::Root(_) | TreeItem::Part(_) => "",
    }
}

/// The part of a heap that a comparison needs.
struct Sums {
    live: Histogram,
    picture: Picture,
    warnings: Vec<String>,
}

impl Sums {
    fn of(loaded: &Answers<'_>) -> Self {
        let (heap, tree) = (&loaded.heap, loaded.tree());
        let live = Histogram::of(heap, Some(tree), GroupBy::Type, Scope::Live);
        let stacks = dominator_stacks::of(heap, &tree.dominators, "", 1e-5, Counted::Bytes).stacks;
        let picture = picture(&stacks, 0, &FlamegraphOptions::default());
        Self { live, picture, warnings: warnings(loaded) }
    }
}

/// Two heaps, and what grew.
struct Compared {
    live: (Histogram, Histogram),
    picture: Picture,
    warnings: Vec<String>,
    growth: Option<Growth>,
}

impl Compared {
    fn report(
        &self,
        mut report: Report,
        subject: Subject<'_>,
        session: &Session,
        lines: usize,
    ) -> Report {
        let (before, after) = &self.live;
        let total = (before.total.bytes(), after.total.bytes());
        report.warnings.clone_from(&self.warnings);
        let grown = self.growth.as_ref();
        match grown.and_then(|growth| growth.on_page(session)) {
            Some(suspect) => report.suspects.push(suspect),
            None => report.notes.extend(grown.map(|growth| growth.sentence(session))),
        }
        let growth = rise(total.0, total.1);
        let sign = if growth > 0 { "+" } else { "" };
        let mut tile = |label, value| report.tiles.push(Tile { label, value });
        tile("live before", size(total.0, false));
        tile("live now", size(total.1, false));
        tile("difference", format!("{sign}{}", signed_size(growth, false)));
        tile(
            "live objects",
            format!("{} → {}", count(before.total.count), count(after.total.count)),
        );
        let (tree, left_out) =
            self.picture.tree(&mut report, "What grew (red) and shrank (blue), by type", lines);
        let shown = tree.depth.len();
        report.trees.push(tree);
        let rows = changes(before, after);
        let shown_rows = &rows[..rows.len().min(table_rows(lines))];
        let new = |row: &crate::analysis::diff::HistogramChange| row.new.unwrap_or_default();
        let table = ReportTable::new("Types that changed", rows.len() as u64)
            .names(&mut report, "Name", shown_rows.iter().map(|row| row.name.as_str()))
            .deltas("Count ±", "number", shown_rows.iter().map(|row| Some(row.delta().count)))
            .numbers("Count now", "number", shown_rows.iter().map(|row| number(new(row).sum.count)))
            .deltas(
                "Shallow ±",
                "bytes",
                shown_rows.iter().map(|row| Some(row.delta().shallow_bytes)),
            )
            .numbers(
                "Retained now",
                "bytes",
                shown_rows.iter().map(|row| number(new(row).retained_bytes.unwrap_or(0))),
            )
            .deltas("Retained ±", "bytes", shown_rows.iter().map(|row| row.delta().retained_bytes))
            .sorted();
        report.tables.push(table);
        subject.add_growth(&mut report, lines);
        report.notes.extend(cut_note("tree", shown, left_out));
        report.notes.push(
        "The width of a box is the larger of its two sizes. Types with less than 0.001 % are merged."
            .to_owned(),
    );
        report.notes.push(made_by(&report, subject));
        report
    }
}

fn warnings(loaded: &Loaded<'_>) -> Vec<String> {
    let damage =
        loaded.damage.iter().map(|error| format!("The file is damaged: {}", error.message()));
    let warnings = loaded.heap.warnings.iter().filter(|warning| !warning.is_usual());
    damage.chain(warnings.map(|warning| warning.text())).collect()
}
