//! The page about a profile, or about two.

mod timeline;

use super::{Subject, bar, cut_note, fitting, made_by, report, table_rows};
use crate::analysis::profile::{
    FrameBy, Groups, MovedFolder, ProfileChange, Selected, Sums, Top, TopBy, TopRow, Words,
    changes, hottest, places, slower, top,
};
use crate::cli::args::ReportArgs;
use crate::cli::profile::{
    Amount, Kept, ProfileInput, ShortFiles, load_parts, load_profile, require_stacks, unit_name,
    whole as in_words,
};
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural, size};
use crate::cli::status::Status;
use crate::model::profile::{Metric, Unit, Values};
use crate::model::stacks::{Selection, of_profile};
use crate::output::flamegraph::{FlamegraphOptions, Picture, package, picture};
use crate::output::report::{
    Answer, BarPart, Card, Report, ReportCurve, ReportSuspect, ReportTable, Tile, Tone, address,
};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use timeline::{Timeline, curve};

pub(super) fn page(
    args: &ReportArgs,
    subject: Subject<'_>,
    session: &Session,
) -> anyhow::Result<(Option<String>, Status)> {
    let Subject { input, old, .. } = subject;
    let mut old = old.map(|old| load_profile(old, &args.profile, session)).transpose()?;
    // Only the page about a single profile shows calls in the order of time.
    let kept = Kept { samples: old.is_none(), ..Kept::of(&args.profile, session) };
    let mut new = load_parts(input, &args.profile, session, kept)?;
    for side in old.iter().chain([&new]) {
        require_stacks(&side.profile, &side.input.path, "report", "")?;
    }
    let moved = old.as_mut().map_or_else(Vec::new, |old| old.follow(&mut new));
    let before = old.map(|old| Side::of(args, old, Subjects::Older, session)).transpose()?;
    let of_newer = before.as_ref().map_or(Subjects::Only, Subjects::Newer);
    let after = Side::of(args, new, of_newer, session)?;
    let status = before.as_ref().map_or(after.status, |before| before.status.max(after.status));
    let unit = unit_name(&after.metric).to_owned();
    let page = match before {
        None => fitting(args, |lines| {
            after.report(report(args, "profile", subject, &unit), subject, lines)
        })?,
        Some(before) => {
            let compared = Compared::of(before, after, moved);
            fitting(args, |lines| {
                compared.report(report(args, "profile", subject, &unit), subject, lines)
            })?
        }
    };
    Ok((Some(page), status))
}

/// The other profile that a page compares this one with.
#[derive(Clone, Copy)]
enum Subjects<'a> {
    /// None: the page is about this profile only.
    Only,
    /// A newer profile; this one is the older.
    Older,
    /// An older profile; this one is the newer.
    Newer(&'a Side),
}

struct Side {
    metric: Metric,
    functions: Top,
    threads: Top,
    total: Values,
    without_frames: i64,
    calls: Picture,
    callers: Picture,
    /// The calls in the order of time; empty if the file has none.
    timeline: Timeline,
    /// The hottest function, or the function that became slower.
    verdict: Option<ReportSuspect>,
    warnings: Vec<String>,
    curve: Option<ReportCurve>,
    /// Whether the stacks were made from calls.
    is_estimated: bool,
    status: Status,
}

/// The note on a page about a profile that asks to leave out frames.
const DROPPED: &str = "Frames that the profile asks to leave out (drop_frames) are not shown; --all-frames shows them.";

impl Side {
    fn of(
        args: &ReportArgs,
        loaded: ProfileInput<'_>,
        subjects: Subjects<'_>,
        session: &Session,
    ) -> anyhow::Result<Self> {
        let metric = loaded.metric(&args.profile)?;
        // Boxes cannot have negative widths.
        let metric = if metric == Metric::MEMORY { Metric::MEMORY_GAINED } else { metric };
        let status = loaded.report(session);
        let warnings = loaded
            .damage()
            .map(|error| format!("The file is damaged: {}", error.message()))
            .into_iter()
            .chain((loaded.profile.notes.dropped > 0).then(|| DROPPED.to_owned()))
            .collect();
        let selected = Selected::of(&loaded.profile, &loaded.selection);
        let [mut functions, mut threads] =
            [TopBy::Frames(FrameBy::Function), TopBy::Thread].map(|by| top(&selected, by));
        let total = selected.total.clone();
        let without_frames = selected.without_frames.get(&metric);
        functions.sort(&metric, false);
        threads.sort(&metric, true);
        let verdict = verdict(&selected, &functions, &metric, subjects);
        let merge_threads = !matches!(subjects, Subjects::Only);
        let curve = curve(&loaded.profile);
        let timeline = Timeline::of(&loaded, &metric, subjects);
        let selection = Selection { metrics: vec![metric.clone()], ..loaded.selection };
        let stacks = of_profile(Arc::unwrap_or_clone(loaded.profile), "", &selection);
        let [calls, callers] = [false, true].map(|inverted| {
            let options =
                FlamegraphOptions { inverted, merge_threads, ..FlamegraphOptions::default() };
            picture(&stacks, 0, &options)
        });
        Ok(Self {
            metric,
            functions,
            threads,
            total,
            without_frames,
            calls,
            callers,
            timeline,
            verdict,
            warnings,
            curve,
            is_estimated: args.profile.estimate,
            status,
        })
    }

    fn answer(&self) -> Answer {
        let amount = Amount::new(&self.metric, self.total.get(&self.metric), false);
        let own = |row: &TopRow| row.sums.own.get(&self.metric);
        let mut packages: BTreeMap<Cow<'_, str>, i64> = BTreeMap::new();
        for row in &self.functions.rows {
            let package_name = package(&row.label.name, &row.label.namespace);
            let sum = packages.entry(package_name).or_default();
            *sum = sum.saturating_add(own(row));
        }
        let change = |value| format!("{} · {}", amount.show(value), percent(amount.share(value)));
        let packages = packages.iter().map(|(name, value)| (&**name, *value)).collect();
        let parts = parts(packages, Tone::Distinct, &change);
        let first = Answer {
            headline: "No function stands out in this profile.".to_owned(),
            ..Answer::default()
        };
        let cards = [
            self.verdict.as_ref().map(|verdict| called_by(verdict, &change)),
            self.by_thread(&change),
            self.waiting(&change),
        ];
        Answer {
            parts,
            legend: "Each sample is counted once, in the package of the function that was running.",
            cards: cards.into_iter().flatten().collect(),
            ..self.verdict.as_ref().map_or(first, |verdict| headline(verdict, whole(&self.metric)))
        }
    }

    /// The card about time that was not spent on a CPU, or else about samples without frames.
    fn waiting(&self, show: &impl Fn(i64) -> String) -> Option<Card> {
        let time = self.total.get(&Metric::TIME);
        let waiting = match self.total.get(&Metric::CPU) {
            cpu @ 1.. if self.metric == Metric::TIME => time.saturating_sub(cpu),
            _ => 0,
        };
        let (title, value) = match (waiting, self.without_frames) {
            (1.., _) => ("Waiting", waiting),
            (_, 1..) => ("Without frames", self.without_frames),
            _ => return None,
        };
        let cpu = || ("not on a CPU".to_owned(), address("", &[("metric", "cpu")]));
        let unknown = format!("{} in samples without frames", show(self.without_frames));
        let lines =
            [(waiting > 0).then(cpu), (self.without_frames > 0).then(|| (unknown, String::new()))];
        let lines = lines.into_iter().flatten().collect();
        Some(Card { title, number: show(value), lines, ..Card::default() })
    }

    fn by_thread(&self, show: &impl Fn(i64) -> String) -> Option<Card> {
        let rows = &self.threads.rows;
        let total = |row: &TopRow| row.sums.total.get(&self.metric);
        let line = |row: &TopRow| {
            let name = &*row.label.name;
            (format!("{name}: {}", show(total(row))), address("", &[("only", name)]))
        };
        (rows.len() > 1).then(|| Card {
            title: "By thread",
            number: plural(rows.len() as u64, "thread", "threads"),
            lines: rows.iter().take(5).map(line).collect(),
            more: vec![("All threads".to_owned(), address("table/threads", &[]))],
            ..Card::default()
        })
    }

    fn report(&self, mut report: Report, subject: Subject<'_>, lines: usize) -> Report {
        let Self { metric, total, .. } = self;
        report.warnings.extend_from_slice(&self.warnings);
        report.suspects.extend(self.verdict.clone());
        report.answer = self.answer();
        report.curves.extend(self.curve.clone());
        let amount = Amount::new(metric, total.get(metric), false);
        let mut tile = |label, value| report.tiles.push(Tile { label, value });
        tile("total", in_words(total, metric, &amount));
        if !self.is_estimated {
            tile("samples", count(total.samples()));
        }
        tile("functions", count(self.functions.rows.len() as u64));
        let has_threads = self.threads.rows.len() > 1;
        if has_threads {
            tile("threads", count(self.threads.rows.len() as u64));
        }
        tile("file", size(subject.input.source.stored_bytes(), false));
        // The two trees share the lines.
        let shared = lines / 2;
        let (calls, left_out) = self.calls.tree(&mut report, "Calls", shared);
        let (callers, left_out_callers) = self.callers.tree(&mut report, "Callers", shared);
        report.notes.extend(cut_note("tree of calls", calls.depth.len(), left_out));
        report.notes.extend(cut_note("tree of callers", callers.depth.len(), left_out_callers));
        report.trees = vec![calls, callers];
        let timeline = self.timeline.tree(&mut report, lines);
        report.trees.extend(timeline);
        let functions =
            table(&mut report, "Functions", &self.functions.rows, table_rows(lines), metric);
        report.tables = vec![functions];
        // With a single thread, the table would show the whole profile again.
        if has_threads {
            let threads =
                table(&mut report, "Threads", &self.threads.rows, table_rows(lines), metric);
            report.tables.push(threads);
        }
        subject.add_growth(&mut report, lines);
        report.notes.push(
            "Callers are added up over the whole profile: below each function are its callers."
                .to_owned(),
        );
        report.notes.push(made_by(&report, subject));
        report
    }
}

fn table(
    report: &mut Report,
    title: &str,
    rows: &[TopRow],
    most: usize,
    metric: &Metric,
) -> ReportTable {
    let unit = report.unit.clone();
    let shown = &rows[..rows.len().min(most)];
    ReportTable::new(title, rows.len() as u64)
        .names(report, "Name", shown.iter().map(|row| &*row.label.name))
        .names(report, "File", shown.iter().map(|row| &*row.label.namespace))
        .numbers(
            "Samples",
            "number",
            shown.iter().map(|row| i64::try_from(row.sums.total.samples()).ok()),
        )
        .numbers("Total", &unit, shown.iter().map(|row| Some(row.sums.total.get(metric))))
        .numbers("Self", &unit, shown.iter().map(|row| Some(row.sums.own.get(metric))))
        .sorted()
}

/// Two profiles, and what changed from the older to the newer one.
struct Compared {
    metrics: (Metric, Metric),
    totals: (i64, i64),
    rows: Vec<ProfileChange>,
    calls: Picture,
    verdict: Option<ReportSuspect>,
    moved: Vec<MovedFolder>,
}

impl Compared {
    fn of(before: Side, after: Side, moved: Vec<MovedFolder>) -> Self {
        let metrics = (before.metric, after.metric);
        Self {
            totals: (before.total.get(&metrics.0), after.total.get(&metrics.1)),
            rows: changes(before.functions, after.functions, (&metrics.0, &metrics.1)),
            calls: after.calls.compared_with(&before.calls),
            verdict: after.verdict,
            metrics,
            moved,
        }
    }

    fn answer(&self) -> Answer {
        let (before, now) = self.totals;
        let amount = Amount::new(&self.metrics.1, before.max(now), false);
        let change = |value| amount.change(value);
        let metrics = (&self.metrics.0, &self.metrics.1);
        let rows = self.rows.iter().map(|row| (&*row.label.name, row.own(metrics))).collect();
        let first =
            Answer { headline: "No function became slower.".to_owned(), ..Answer::default() };
        let total = Card {
            title: "In total",
            number: amount.change(now.saturating_sub(before)),
            lines: vec![(format!("{} → {}", amount.show(before), amount.show(now)), String::new())],
            more: vec![("Each function".to_owned(), address("table/functions-that-changed", &[]))],
            ..Card::default()
        };
        let caller = self.verdict.as_ref().map(|verdict| called_by(verdict, &change));
        Answer {
            parts: parts(rows, Tone::Up, &change),
            legend: "What came (red) and went (blue), by function, without what it calls.",
            cards: caller.into_iter().chain([total]).collect(),
            ..self.verdict.as_ref().map_or(first, changed)
        }
    }

    fn report(&self, mut report: Report, subject: Subject<'_>, lines: usize) -> Report {
        let unit = report.unit.clone();
        let metrics = (&self.metrics.0, &self.metrics.1);
        let (before, now) = self.totals;
        let amount = Amount::new(metrics.1, now, false);
        report.suspects.extend(self.verdict.clone());
        report.answer = self.answer();
        let mut tile = |label, value| report.tiles.push(Tile { label, value });
        tile("metric", metrics.1.name().to_owned());
        tile("before", amount.show(before));
        tile("now", amount.show(now));
        tile("difference", amount.change(now.saturating_sub(before)));
        let title = "What grew (red) and shrank (blue)";
        let (tree, left_out) = self.calls.tree(&mut report, title, lines);
        report.notes.extend(cut_note("tree", tree.depth.len(), left_out));
        report.trees.push(tree);
        let shown = &self.rows[..self.rows.len().min(table_rows(lines))];
        let own = |sums: &Option<Sums>, metric| sums.as_ref().map(|sums| sums.own.get(metric));
        let table = ReportTable::new("Functions that changed", self.rows.len() as u64)
            .names(&mut report, "Name", shown.iter().map(|row| &*row.label.name))
            .names(&mut report, "File", shown.iter().map(|row| &*row.label.namespace))
            .numbers("Self before", &unit, shown.iter().map(|row| own(&row.old, metrics.0)))
            .numbers("Self now", &unit, shown.iter().map(|row| own(&row.new, metrics.1)))
            .deltas("Self ±", &unit, shown.iter().map(|row| Some(row.own(metrics))))
            .sorted();
        report.tables.push(table);
        subject.add_growth(&mut report, lines);
        let notes = self.moved.iter().map(|MovedFolder { old, new, files }| {
            let files = plural(*files, "file", "files");
            format!("It seems that {old} is {new} in the newer profile; {files} matched.")
        });
        report.notes.extend(notes);
        report.notes.push(
            "The width of a box is the larger of its two values. All threads are added up."
                .to_owned(),
        );
        report.notes.push(made_by(&report, subject));
        report
    }
}

/// The largest rows as parts of the bar. Changes are red and blue; rows that shrank come last.
fn parts(mut rows: Vec<(&str, i64)>, tone: Tone, show: &impl Fn(i64) -> String) -> Vec<BarPart> {
    rows.retain(|(_, value)| *value != 0);
    rows.sort_by_key(|(name, value)| (Reverse(value.unsigned_abs()), *name));
    let part = |(name, value): &(&str, i64)| {
        let is_change = tone == Tone::Up;
        let link = if is_change {
            address("function", &[("name", name)])
        } else {
            address("table/functions", &[("package", name)])
        };
        let short = name.rsplit('/').next().unwrap_or(name);
        let tone = if is_change && *value < 0 { Tone::Down } else { tone };
        let width = value.unsigned_abs();
        BarPart { name: short.to_owned(), amount: show(*value), width, link, tone }
    };
    bar(
        &rows,
        |(_, value)| value.unsigned_abs(),
        part,
        |rest, all| BarPart {
            name: "everything else".to_owned(),
            amount: format!("{:.1} %", 100.0 * rest as f64 / all as f64),
            width: rest,
            link: address("", &[("as", "table")]),
            tone: Tone::Rest,
        },
    )
}

/// The hottest function of a profile as a headline.
fn headline(finding: &ReportSuspect, whole: &str) -> Answer {
    let (headline, detail) = finding.message.split_once(": ").unwrap_or((&finding.message, ""));
    Answer {
        share: format!("{} {whole}:", percent(finding.share)),
        headline: headline.to_owned(),
        details: Some(detail.to_owned()).filter(|text| !text.is_empty()).into_iter().collect(),
        ..Answer::default()
    }
}

/// The whole that shares of a metric refer to, in words.
fn whole(metric: &Metric) -> &'static str {
    match metric.of.unit {
        Unit::Nanoseconds | Unit::Microseconds | Unit::Milliseconds | Unit::Seconds => {
            "of the time"
        }
        Unit::Bytes => "of the memory",
        Unit::Count | Unit::Other(_) => "of all",
    }
}

/// The function that changed most as a headline: `+14.5 ms (+5.2 %): work (aio.py) +108.7 ms`.
fn changed(finding: &ReportSuspect) -> Answer {
    let (share, headline) = finding.message.split_once(": ").unwrap_or(("", &finding.message));
    Answer {
        share: if share.is_empty() { String::new() } else { format!("{share}:") },
        headline: headline.to_owned(),
        ..Answer::default()
    }
}

/// The card with the heaviest stack of a function.
fn called_by(finding: &ReportSuspect, show: &impl Fn(i64) -> String) -> Card {
    let function = |name: &String| {
        let plain = name.rsplit_once(" (").map_or(&**name, |(function, _)| function);
        (name.clone(), address("function", &[("name", plain)]))
    };
    Card {
        title: "Heaviest stack",
        number: show(i64::try_from(finding.bytes).unwrap_or(i64::MAX)),
        lines: finding.path.iter().map(function).collect(),
        is_path: true,
        more: vec![("Callers and callees".to_owned(), finding.link.clone())],
    }
}

/// The first sentence of the page, with the heaviest stack.
fn verdict(
    selected: &Selected<'_>,
    functions: &Top,
    metric: &Metric,
    subjects: Subjects<'_>,
) -> Option<ReportSuspect> {
    let profile = selected.profile;
    let groups = Groups::of(profile, FrameBy::Function);
    let whole = metric.whole(&selected.total);
    let amount = Amount::new(metric, whole, false);
    let files = ShortFiles::of_profile(profile, false);
    let words = Words {
        name: &|label| files.name(&label.name, &label.namespace, None),
        amount: &|value| amount.show(value),
    };
    let (function, value, message) = match subjects {
        Subjects::Older => return None,
        Subjects::Only => {
            let hottest = hottest(selected, &groups, metric)?;
            let message = hottest.message(&words)?;
            (hottest.function, hottest.own, message)
        }
        Subjects::Newer(old) => {
            let metrics = (&old.metric, metric);
            let changes = changes(old.functions.clone(), functions.clone(), metrics);
            let whole = (old.metric.whole(&old.total), whole);
            let slower = slower(&changes, whole, (selected, &groups), metrics)?;
            let message = slower.sentence(&words);
            (slower.function, slower.own.1.saturating_sub(slower.own.0), message)
        }
    };
    let group = groups.labels().iter().position(|label| *label == function)?;
    let place = places(selected, &groups, metric).swap_remove(group)?;
    let frames = profile.stacks.frames(place.until);
    let mut path: Vec<String> =
        frames.map(|frame| (words.name)(groups.label(groups.of_frame(frame)))).collect();
    path.reverse();
    Some(ReportSuspect {
        bytes: u64::try_from(value).unwrap_or(0),
        share: amount.share(value),
        message,
        path,
        link: address("function", &[("name", &function.name)]),
        ..ReportSuspect::default()
    })
}
