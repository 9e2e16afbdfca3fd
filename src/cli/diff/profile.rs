//! `diff` of profiles: which functions cost more or less than before.

use super::super::args::{Common, DiffArgs};
use super::super::open::Input;
use super::super::profile::{Amount, ShortFiles, Total, load_profile, print, unit_name};
use super::super::size::{count, plural};
use super::super::status::{Status, UsageError};
use super::super::table::{Align, Table};
use super::super::terminal::{Terminal, show_path};
use super::super::top::by_of;
use crate::analysis::profile::{FrameBy, ProfileChange, Selected, Sums, TopBy, changes, share_base, top};
use crate::model::profile::{Metric, Values};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    old: String,
    new: String,
    by: &'static str,
    metric: &'static str,
    unit: &'static str,
    old_total: Total,
    new_total: Total,
    rows: Vec<DiffRow>,
    omitted: Omitted,
    /// Rows that cost what they did.
    unchanged: u64,
}

#[derive(Serialize)]
struct DiffRow {
    name: String,
    namespace: String,
    line: Option<u32>,
    old: Option<Cost>,
    new: Option<Cost>,
    delta: Cost,
}

#[derive(Clone, Copy, Serialize)]
struct Cost {
    #[serde(rename = "self")]
    own: i64,
    total: i64,
    samples_self: i64,
    samples_total: i64,
    /// Of all samples of its profile.
    share_self: f64,
    share_total: f64,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
}

/// The same without nesting.
#[derive(Default, Serialize)]
struct CsvRow {
    name: String,
    namespace: String,
    line: Option<u32>,
    old_self: Option<i64>,
    new_self: Option<i64>,
    delta_self: i64,
    old_total: Option<i64>,
    new_total: Option<i64>,
    delta_total: i64,
    old_share_self: Option<f64>,
    new_share_self: Option<f64>,
    old_share_total: Option<f64>,
    new_share_total: Option<f64>,
}

pub(super) fn run(args: &DiffArgs, old: &Input, new: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let old = load_profile(old, &args.profile, common, terminal)?;
    let new = load_profile(new, &args.profile, common, terminal)?;
    let metric = new.metric(&args.profile)?;
    if old.metric(&args.profile)? != metric {
        let (old_mode, new_mode) = (old.profile.mode.name(), new.profile.mode.name());
        let error = UsageError::new(format!("the old profile was recorded in the mode {old_mode}, the new one in {new_mode}"));
        return Err(error.hint("--metric says what to compare; both have samples").into());
    }
    let (by, by_name) = by_of(args.by);
    let selected = (Selected::of(&old.profile, &old.selection), Selected::of(&new.profile, &new.selection));
    let amounts = (amount(&selected.0.total, metric, common), amount(&selected.1.total, metric, common));
    let mut all = changes(top(&selected.0, by), top(&selected.1, by), metric);
    let known = all.len();
    all.retain(|change| change.old != change.new);
    let unchanged = (known - all.len()) as u64;
    let (shown, rest) = all.split_at(common.rows(args.limit, 20).min(all.len()));
    let document = Document {
        schema: "dumptool/diff/1",
        file: new.input.path.display().to_string(),
        old: old.input.path.display().to_string(),
        new: new.input.path.display().to_string(),
        by: by_name,
        metric: metric.name(),
        unit: unit_name(metric),
        old_total: Total::of(&selected.0.total, metric),
        new_total: Total::of(&selected.1.total, metric),
        rows: shown.iter().map(|change| DiffRow::of(change, metric, amounts)).collect(),
        omitted: Omitted { rows: rest.len() as u64 },
        unchanged,
    };
    let csv = || document.rows.iter().map(CsvRow::of).collect();
    print(common, &document, &document.rows, csv, || {
        let mut text = if shown.is_empty() {
            String::new()
        } else {
            table(shown, &document.rows, by, amounts, new.files(&old, common), terminal)
        };
        let (one, many) = kind(by);
        let changed = plural(all.len() as u64, &format!("changed {one}"), &format!("changed {many}"));
        let showing = if rest.is_empty() { String::new() } else { format!("showing {} of ", count(shown.len() as u64)) };
        text.push_str(&format!("{showing}{changed}, {} unchanged", count(unchanged)));
        for (name, input, selected, amount) in
            [("old", old.input, &selected.0, amounts.0), ("new", new.input, &selected.1, amounts.1)]
        {
            let samples = plural(selected.total.samples, "sample", "samples");
            let value = amount.show(selected.total.get(metric));
            text.push_str(&format!(" · {name} {}: {value} in {samples}", show_path(&input.path)));
        }
        text + "\n"
    })?;
    Ok(old.report(terminal).max(new.report(terminal)))
}

fn amount(total: &Values, metric: Metric, common: &Common) -> Amount {
    Amount::new(metric, share_base(total, metric), common.bytes)
}

fn kind(by: TopBy) -> (&'static str, &'static str) {
    match by {
        TopBy::Frames(FrameBy::Function) => ("function", "functions"),
        TopBy::Frames(FrameBy::File) => ("file", "files"),
        TopBy::Frames(FrameBy::Line) => ("line", "lines"),
        TopBy::Thread => ("thread", "threads"),
        TopBy::Process => ("process", "processes"),
    }
}

impl DiffRow {
    fn of(change: &ProfileChange, metric: Metric, amounts: (Amount, Amount)) -> Self {
        let old = change.old.map(|sums| Cost::of(&sums, metric, amounts.0));
        let new = change.new.map(|sums| Cost::of(&sums, metric, amounts.1));
        let (before, after) = (old.unwrap_or(Cost::NONE), new.unwrap_or(Cost::NONE));
        Self {
            name: change.label.name.to_string(),
            namespace: change.label.namespace.to_string(),
            line: change.label.line,
            old,
            new,
            delta: Cost {
                own: after.own.saturating_sub(before.own),
                total: after.total.saturating_sub(before.total),
                samples_self: after.samples_self - before.samples_self,
                samples_total: after.samples_total - before.samples_total,
                share_self: after.share_self - before.share_self,
                share_total: after.share_total - before.share_total,
            },
        }
    }
}

impl Cost {
    const NONE: Self = Self { own: 0, total: 0, samples_self: 0, samples_total: 0, share_self: 0.0, share_total: 0.0 };

    fn of(sums: &Sums, metric: Metric, amount: Amount) -> Self {
        let (own, total) = (sums.own.get(metric), sums.total.get(metric));
        Self {
            own,
            total,
            samples_self: sums.own.get(Metric::Samples),
            samples_total: sums.total.get(Metric::Samples),
            share_self: amount.share(own),
            share_total: amount.share(total),
        }
    }
}

impl CsvRow {
    fn of(row: &DiffRow) -> Self {
        Self {
            name: row.name.clone(),
            namespace: row.namespace.clone(),
            line: row.line,
            old_self: row.old.map(|cost| cost.own),
            new_self: row.new.map(|cost| cost.own),
            delta_self: row.delta.own,
            old_total: row.old.map(|cost| cost.total),
            new_total: row.new.map(|cost| cost.total),
            delta_total: row.delta.total,
            old_share_self: row.old.map(|cost| cost.share_self),
            new_share_self: row.new.map(|cost| cost.share_self),
            old_share_total: row.old.map(|cost| cost.share_total),
            new_share_total: row.new.map(|cost| cost.share_total),
        }
    }
}

fn table(
    changes: &[ProfileChange],
    rows: &[DiffRow],
    by: TopBy,
    amounts: (Amount, Amount),
    files: ShortFiles<'_>,
    terminal: &Terminal,
) -> String {
    let right = Align::Right;
    let mut table = Table::new(&[right, right, right, right, right, right, Align::Left, Align::Left]).minor(&[2, 1, 5, 4]);
    let (heading, second) = match by {
        TopBy::Frames(FrameBy::File) => ("FILE", ""),
        TopBy::Frames(_) => ("FUNCTION", "FILE"),
        TopBy::Thread => ("THREAD", ""),
        TopBy::Process => ("PROCESS", ""),
    };
    let headings = ["SELF", "NOW", "SHARE", "TOTAL", "NOW", "SHARE", heading, second];
    table.row(headings.map(|heading| terminal.dim(heading)));
    for (change, row) in changes.iter().zip(rows) {
        let shares = |read: fn(&Cost) -> f64| {
            let percent = |cost: Option<Cost>| cost.map_or("–".to_owned(), |cost| format!("{:.1}", read(&cost) * 100.0 + 0.0));
            format!("{} → {} %", percent(row.old), percent(row.new))
        };
        let new = row.new.unwrap_or(Cost::NONE);
        let name = match by {
            TopBy::Frames(FrameBy::File) => files.show(&row.name),
            _ => &row.name,
        };
        let mark = match (change.old, change.new) {
            (None, _) => terminal.caution(" new"),
            (_, None) => terminal.dim(" gone"),
            _ => String::new(),
        };
        let line = row.line.map(|line| format!(":{line}")).unwrap_or_default();
        table.row([
            amounts.1.change(row.delta.own),
            amounts.1.show(new.own),
            shares(|cost| cost.share_self),
            amounts.1.change(row.delta.total),
            amounts.1.show(new.total),
            shares(|cost| cost.share_total),
            format!("{}{mark}", terminal.bold(name)),
            format!("{}{line}", files.show(&row.namespace)),
        ]);
    }
    table.render()
}
