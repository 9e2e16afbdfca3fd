//! The page about a profile, or about two.

use super::{Subject, cut_note, fitting, made_by, report, table_rows};
use crate::analysis::profile::{
    FrameBy, ProfileChange, Selected, Sums, Top, TopBy, TopRow, changes, top,
};
use crate::cli::args::ReportArgs;
use crate::cli::open::Input;
use crate::cli::profile::{Amount, load_profile, unit_name};
use crate::cli::session::Session;
use crate::cli::size::{count, size};
use crate::cli::status::Status;
use crate::model::profile::{Metric, Values};
use crate::model::stacks::{Selection, of_profile};
use crate::output::flamegraph::{FlamegraphOptions, FlamegraphWriter, Picture};
use crate::output::report::{Report, ReportTable, Tile};
use std::sync::Arc;

pub(super) fn page(
    args: &ReportArgs,
    subject: Subject<'_>,
    session: &Session,
) -> anyhow::Result<(Option<String>, Status)> {
    let Subject { input, old, .. } = subject;
    let before = old.map(|old| Side::of(args, old, true, session)).transpose()?;
    let after = Side::of(args, input, before.is_some(), session)?;
    let status = before.as_ref().map_or(after.status, |before| before.status.max(after.status));
    let unit = unit_name(&after.metric).to_owned();
    let page = match before {
        None => fitting(args, |lines| {
            after.report(report(args, "profile", subject, &unit), subject, lines)
        })?,
        Some(before) => {
            let calls = after.calls.compared_with(&before.calls);
            let metrics = (&before.metric, &after.metric);
            let totals = (before.total.get(metrics.0), after.total.get(metrics.1));
            let rows = changes(before.functions, after.functions, metrics);
            fitting(args, |lines| {
                compared(
                    report(args, "profile", subject, &unit),
                    subject,
                    metrics,
                    &rows,
                    totals,
                    &calls,
                    lines,
                )
            })?
        }
    };
    Ok((Some(page), status))
}

/// The results for one profile.
struct Side {
    metric: Metric,
    functions: Top,
    threads: Top,
    total: Values,
    calls: Picture,
    callers: Picture,
    warnings: Vec<String>,
    status: Status,
}

impl Side {
    fn of(
        args: &ReportArgs,
        input: &Input,
        merge_threads: bool,
        session: &Session,
    ) -> anyhow::Result<Self> {
        let loaded = load_profile(input, &args.profile, session)?;
        let metric = loaded.metric(&args.profile)?;
        // Boxes cannot have negative widths.
        let metric = if metric == Metric::MEMORY { Metric::MEMORY_GAINED } else { metric };
        let status = loaded.report(session);
        let warnings = loaded
            .damage()
            .map(|error| format!("The file is damaged: {}", error.message()))
            .into_iter()
            .collect();
        let selected = Selected::of(&loaded.profile, &loaded.selection);
        let [mut functions, mut threads] =
            [TopBy::Frames(FrameBy::Function), TopBy::Thread].map(|by| top(&selected, by));
        let total = selected.total.clone();
        functions.sort(&metric, false);
        threads.sort(&metric, true);
        let selection = Selection { metrics: vec![metric.clone()], ..loaded.selection };
        let stacks = of_profile(Arc::unwrap_or_clone(loaded.profile), "", &selection);
        let [calls, callers] = [false, true].map(|inverted| {
            let mut writer = FlamegraphWriter::new(
                &stacks,
                0,
                FlamegraphOptions { inverted, merge_threads, ..FlamegraphOptions::default() },
            );
            writer.part(&stacks);
            writer.picture(&stacks)
        });
        Ok(Self { metric, functions, threads, total, calls, callers, warnings, status })
    }

    fn report(&self, mut report: Report, subject: Subject<'_>, lines: usize) -> Report {
        let Self { metric, total, .. } = self;
        report.warnings.clone_from(&self.warnings);
        let amount = Amount::new(metric, total.get(metric), false);
        let mut tile = |label, value| report.tiles.push(Tile { label, value });
        tile("total", amount.show(total.get(metric)));
        tile("samples", count(total.samples()));
        tile("functions", count(self.functions.rows.len() as u64));
        let has_threads = self.threads.rows.len() > 1;
        if has_threads {
            tile("threads", count(self.threads.rows.len() as u64));
        }
        tile("file", size(subject.input.source.stored_bytes(), false));
        // The two trees share the lines.
        let (calls, all) = self.calls.tree(&mut report, "Calls", lines / 2);
        let (callers, all_callers) = self.callers.tree(&mut report, "Callers", lines / 2);
        report.notes.extend(cut_note("tree of calls", calls.depth.len(), all));
        report.notes.extend(cut_note("tree of callers", callers.depth.len(), all_callers));
        report.trees = vec![calls, callers];
        let functions =
            table(&mut report, "Functions", &self.functions.rows, table_rows(lines), metric);
        report.tables = vec![functions];
        // A single thread is the whole profile.
        if has_threads {
            let threads =
                table(&mut report, "Threads", &self.threads.rows, table_rows(lines), metric);
            report.tables.push(threads);
        }
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

fn compared(
    mut report: Report,
    subject: Subject<'_>,
    metrics: (&Metric, &Metric),
    rows: &[ProfileChange],
    (before, now): (i64, i64),
    calls: &Picture,
    lines: usize,
) -> Report {
    let unit = report.unit.clone();
    let amount = Amount::new(metrics.1, now, false);
    let mut tile = |label, value| report.tiles.push(Tile { label, value });
    tile("before", amount.show(before));
    tile("now", amount.show(now));
    tile("difference", amount.change(now.saturating_sub(before)));
    let (tree, all) = calls.tree(&mut report, "What grew (red) and shrank (blue)", lines);
    report.notes.extend(cut_note("tree", tree.depth.len(), all));
    report.trees.push(tree);
    let shown = &rows[..rows.len().min(table_rows(lines))];
    let own = |sums: &Option<Sums>, metric| sums.as_ref().map(|sums| sums.own.get(metric));
    let table = ReportTable::new("Functions that changed", rows.len() as u64)
        .names(&mut report, "Name", shown.iter().map(|row| &*row.label.name))
        .names(&mut report, "File", shown.iter().map(|row| &*row.label.namespace))
        .numbers("Self before", &unit, shown.iter().map(|row| own(&row.old, metrics.0)))
        .numbers("Self now", &unit, shown.iter().map(|row| own(&row.new, metrics.1)))
        .deltas("Self ±", &unit, shown.iter().map(|row| Some(row.own(metrics))))
        .sorted();
    report.tables.push(table);
    subject.add_growth(&mut report, lines);
    report.notes.push(
        "The width of a box is the larger of its two values. All threads are added up.".to_owned(),
    );
    report.notes.push(made_by(&report, subject));
    report
}
