//! The page about a heap, or about two.

mod compared;
mod stored;

use super::tables::{self};
use super::{LINES, PARTS, Subject, fitting, made_by, report, table_rows};
use crate::analysis::diff::HistogramChange;
use crate::analysis::dominator_stacks::{self};
use crate::analysis::histogram::{GroupBy, Histogram, Scope};
use crate::analysis::root_groups::{Lands, RootGroups};
use crate::analysis::threads::Threads;
use crate::analysis::tree::{Tops, TreeItem, TreeLine, TreeOptions};
use crate::analysis::verdict::{Suspect, Verdict};
use crate::analysis::waste::{Waste, WastePart};
use crate::cli::args::{ByArg, ObjectsArg, ReportArgs};
use crate::cli::heap::Answers;
use crate::cli::heap::grown::Newer;
use crate::cli::heap::histogram::root_group_text;
use crate::cli::heap::verdict::Words;
use crate::cli::heap::{Analysed, load, report_loaded, type_name, without_roots};
use crate::cli::known::Rules;
use crate::cli::open::Input;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural, size};
use crate::cli::status::Status;
use crate::input::Format;
use crate::input::load::Loaded;
use crate::model::heap::{Heap, ObjectId, Unreached};
use crate::output::report::{
    Answer, BarPart, Card, Report, ReportSuspect, ReportTree, Tile, Tone, address, object_address,
    without_packages,
};
use crate::parallel;
use compared::{Compared, Sums};
use std::cmp::Reverse;
use stored::{Sampled, Stored};

/// Maximum number of suspects that a page shows.
const SUSPECTS: usize = 10;
/// Maximum number of objects on the path to each suspect that a page describes.
const WAY: usize = 7;

pub(super) fn page(
    args: &ReportArgs,
    subject: Subject<'_>,
    session: &Session,
) -> anyhow::Result<(Option<String>, Status)> {
    let Subject { input, old, .. } = subject;
    let nothing = |input: &Input, loaded: &Loaded<'_>| {
        let status = without_roots(session, input, loaded, "there is nothing to report", None)?;
        Ok((None, status))
    };
    let rules = Rules::of(&args.known, session)?;
    let held = load(session, "report", input, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    if loaded.heap.roots.is_empty() {
        return nothing(input, loaded);
    }
    let status = report_loaded(session, input, loaded);
    let Some(old) = old else {
        let analysed = loaded.reached();
        let one = One::of(loaded, &analysed, (&rules, input.format), args.live, session);
        let build =
            |lines| one.report(report(args, "heap", subject, "bytes"), loaded, subject, lines);
        return Ok((Some(fitting(args, build)?), status));
    };
    // Only the sums of the newer heap are kept, so that only one heap is in memory.
    let (after, newer) = (Sums::of(loaded), Newer::of(loaded, (&rules, input.format), session));
    let sampled = (!args.live).then(|| {
        let ways: Vec<_> = ways(newer.iter().flat_map(Newer::on_page)).collect();
        Sampled::of(loaded, input, &after.live, &ways, session)
    });
    drop(held);
    let held = load(session, "report", old, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    if loaded.heap.roots.is_empty() {
        return nothing(old, loaded);
    }
    let growth = newer.and_then(|newer| newer.since(loaded));
    let before = Sums::of(loaded);
    let old_status = report_loaded(session, old, loaded);
    let stored = |changes: &[HistogramChange]| {
        sampled.map_or_else(Stored::default, |sampled| sampled.since(loaded, (input, old), changes))
    };
    let compared = Compared::of(before, after, growth, stored);
    let build =
        |lines| compared.report(report(args, "heap", subject, "bytes"), subject, session, lines);
    Ok((Some(fitting(args, build)?), old_status.max(status)))
}

struct One<'r, 'h, 'a> {
    analysed: &'r Analysed<'h, 'a>,
    types: Histogram,
    by_root: Histogram,
    suspects: Vec<ReportSuspect>,
    /// The headline with the bar of what holds the memory.
    headline: Headline,
    threads: Threads,
    waste: Waste,
    /// The lines of the tree on the largest page; smaller pages show fewer of them.
    lines: Vec<TreeLine>,
    stored: Stored,
}

impl<'r, 'h, 'a> One<'r, 'h, 'a> {
    fn of(
        loaded: &'h Answers<'a>,
        analysed: &'r Analysed<'h, 'a>,
        (rules, format): (&Rules, Format),
        is_live: bool,
        session: &Session,
    ) -> Self {
        let Analysed { heap, graph, .. } = analysed;
        let (tree, read) = analysed.tree_and_contents();
        let phase = Progress::new("preparing the page", None);
        // Waste takes most memory, so it comes before what stays, and what later parts do not need goes at once.
        let waste = Waste::without_owners(heap, tree, &analysed.measured(read));
        let held = || {
            let lands = Lands::of_dominators(heap, graph, &tree.dominators);
            let threads = Threads::over(&lands, heap, graph, false);
            let roots = RootGroups::over(lands, heap, graph);
            let by_root = Histogram::by_root(heap, tree, &roots);
            let tops = Tops::of(heap, tree, &roots);
            if is_live {
                loaded.keep_roots(roots);
            }
            (threads, by_root, tops)
        };
        let (verdict, (threads, by_root, tops)) = loaded.verdict_with(held);
        let described = || {
            let found = || verdict.suspects.iter().take(SUSPECTS);
            let words = Words::new(loaded, analysed, found(), session).knowing(rules, format);
            let suspects: Vec<_> = found().map(|finding| words.on_page(finding)).collect();
            let usual = verdict.usual.first().filter(|_| suspects.is_empty());
            let headline = Headline {
                answer: found().next().map(|finding| words.answer(finding)),
                nothing: words.nothing(usual),
                owners: owners_on_bar(verdict, &words),
            };
            (suspects, headline)
        };
        let counted = || {
            let options =
                TreeOptions { min_share: 0.0, depth: 500, lines: LINES, merge_types: false };
            let lines = tops.lines(heap, tree, options);
            (lines, Histogram::of(heap, Some(tree), GroupBy::Type, Scope::Live))
        };
        let ((lines, types), (suspects, headline)) = parallel::beside(counted, described);
        loaded.keep_histogram((ByArg::Type, ObjectsArg::Live), &types);
        let stored = if is_live {
            Stored::default()
        } else {
            Stored::of(loaded, analysed, ways(suspects.iter()), &lines, session)
        };
        drop(phase);
        Self { analysed, types, by_root, suspects, headline, threads, waste, lines, stored }
    }

    fn report(
        &self,
        mut report: Report,
        loaded: &Loaded<'_>,
        subject: Subject<'_>,
        most: usize,
    ) -> Report {
        let heap = self.analysed.heap;
        let whole = self.types.total.bytes();
        report.warnings = damage(loaded);
        report.notes.extend(remarks(loaded));
        report.suspects.clone_from(&self.suspects);
        report.answer = self.answer(loaded, whole);
        report.tiles = self.tiles(subject);
        let lines: Vec<_> = self.lines.iter().filter(|line| line.rank < most).collect();
        let owners = owners(&mut report, heap, &lines);
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
        self.stored.add_to(&mut report, most);
        let smallest = lines.iter().map(|line| line.total_bytes).min().unwrap_or(0);
        let shown = plural(lines.len() as u64, "line", "lines");
        report.notes.push(format!(
            "The tree shows {shown}; the smallest retains {}.",
            size(smallest, false)
        ));
        report.notes.push(made_by(&report, subject));
        report
    }

    fn tiles(&self, subject: Subject<'_>) -> Vec<Tile> {
        let total = &self.types.total;
        let unreachable = self.types.unreachable.as_ref().map(|sum| match sum.count {
            0 => ("unreachable objects", count(0)),
            objects => {
                let bytes = size(sum.bytes(), false);
                ("unreachable objects", format!("{} · {bytes}", count(objects)))
            }
        });
        let alive = [
            ("live", size(total.bytes(), false)),
            ("live objects", count(total.count)),
            ("types", count(self.types.rows.len() as u64)),
        ];
        let file = ("file", size(subject.input.source.stored_bytes(), false));
        let tiles = alive.into_iter().chain(unreachable).chain([file]);
        tiles.map(|(label, value)| Tile { label, value }).collect()
    }

    fn answer(&self, loaded: &Loaded<'_>, live: u64) -> Answer {
        let Headline { answer, nothing, owners } = &self.headline;
        let mut parts = owners.clone();
        let owned: u64 = parts.iter().fold(0, |sum, part| part.width.saturating_add(sum));
        let rest = live.saturating_sub(owned);
        if rest > 0 {
            parts.push(BarPart {
                name: "everything else".to_owned(),
                amount: format!("{} · {}", size(rest, false), share(rest, live)),
                width: rest,
                link: address("table/types", &[]),
                tone: Tone::Rest,
            });
        }
        let (nothing, usual) = nothing.split_once(": ").unwrap_or((nothing, ""));
        let first = Answer {
            headline: format!("N{}.", nothing.trim_start_matches('n')),
            details: vec![without_packages(usual)],
            ..Answer::default()
        };
        let held = self.suspects.first().map(held_by);
        let cards = [held, self.could_be_saved(live), self.not_alive(loaded)];
        Answer {
            parts,
            legend: "Each byte is counted once, under its highest owner. Each part is a link.",
            cards: cards.into_iter().flatten().collect(),
            ..answer.clone().unwrap_or(first)
        }
    }

    fn could_be_saved(&self, live: u64) -> Option<Card> {
        let bytes = self.waste.bytes();
        let mut kinds: Vec<_> = self.waste.parts.iter().filter(|part| part.bytes > 0).collect();
        kinds.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        let line = |part: &&WastePart| {
            let kind = part.kind.title();
            let text = format!("{} in {kind}", size(part.bytes, false));
            (text, address("table/waste", &[("filter", kind)]))
        };
        (bytes > 0).then(|| Card {
            title: "Could be saved",
            number: format!("{} · {}", size(bytes, false), share(bytes, live)),
            lines: kinds.iter().take(4).map(line).collect(),
            more: vec![("Show each case".to_owned(), address("table/waste", &[]))],
            ..Card::default()
        })
    }

    fn not_alive(&self, loaded: &Loaded<'_>) -> Option<Card> {
        let gone = self.types.unreachable.as_ref().filter(|gone| gone.count > 0)?;
        let meaning = match loaded.heap.unreached {
            Unreached::Garbage => "No root reaches them; the next collection frees them.",
            Unreached::Leaked => "No root reaches them: they are leaked.",
            Unreached::Cycles => "Cycles that no root reaches; the cycle collector frees them.",
        };
        Some(Card {
            title: "Not alive",
            number: format!(
                "{} · {}",
                size(gone.bytes(), false),
                plural(gone.count, "object", "objects")
            ),
            lines: vec![(meaning.to_owned(), String::new())],
            more: vec![("What is it?".to_owned(), address("objects", &[("unreachable", "1")]))],
            ..Card::default()
        })
    }
}

/// The first lines of the page about a heap.
struct Headline {
    answer: Option<Answer>,
    /// The sentence for a heap without suspects.
    nothing: String,
    /// The parts of the bar, one for each of the largest owners.
    owners: Vec<BarPart>,
}

/// The largest owners of the live heap, each byte once.
fn owners_on_bar(verdict: &Verdict, words: &Words<'_, '_, '_>) -> Vec<BarPart> {
    let found = verdict
        .suspects
        .iter()
        .filter(|finding| !finding.kind.is_unreached())
        .chain(&verdict.usual);
    let mut owners: Vec<&Suspect> = found.collect();
    owners.sort_by_key(|finding| Reverse(finding.bytes));
    owners.into_iter().take(PARTS).map(|finding| words.part(finding)).collect()
}

/// The objects on the paths to suspects, which a page without a server describes.
fn ways<'s>(suspects: impl Iterator<Item = &'s ReportSuspect>) -> impl Iterator<Item = ObjectId> {
    suspects.flat_map(|suspect| suspect.way.iter().take(WAY).copied())
}

/// The card with the path to a suspect.
fn held_by(suspect: &ReportSuspect) -> Card {
    let id = |at: usize| suspect.objects.get(at).filter(|id| !id.is_empty());
    let lines = suspect.path.iter().enumerate();
    let lines = lines.map(|(at, step)| {
        let address = id(at).map_or_else(String::new, |id| object_address(id));
        (without_packages(step), address)
    });
    Card {
        title: "Held by",
        number: format!("{} · {}", size(suspect.bytes, false), percent(suspect.share)),
        lines: lines.collect(),
        is_path: true,
        more: vec![("Open what it holds".to_owned(), suspect.link.clone())],
    }
}

fn share(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// The dominator tree as columns.
fn owners(report: &mut Report, heap: &Heap<'_>, lines: &[&TreeLine]) -> ReportTree {
    let object = |line: &&TreeLine| match line.what {
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
        TreeItem::Object(object) | TreeItem::Chain(object) => heap.shown_name(*object).to_owned(),
        TreeItem::Group(type_id) => type_name(heap, *type_id).to_owned(),
    }
}

fn namespace<'h>(heap: &'h Heap<'_>, item: &TreeItem) -> &'h str {
    match item {
        TreeItem::Object(object) | TreeItem::Chain(object) => {
            heap.names.text(heap.type_of(*object).namespace)
        }
        TreeItem::Group(type_id) => heap.names.text(heap.types[type_id.0 as usize].namespace),
        TreeItem::Heap | TreeItem::Selection | TreeItem::Root(_) | TreeItem::Part(_) => "",
    }
}

fn damage(loaded: &Loaded<'_>) -> Vec<String> {
    let damage = loaded.damage.iter();
    damage.map(|error| format!("The file is damaged: {}", error.message())).collect()
}

/// Remarks about the heap that do not cast doubt on its numbers.
fn remarks(loaded: &Loaded<'_>) -> impl Iterator<Item = String> {
    loaded.heap.warnings.iter().filter(|warning| !warning.is_usual()).map(|warning| warning.text())
}
