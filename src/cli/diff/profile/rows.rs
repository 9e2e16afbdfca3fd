//! The rows of `diff` of profiles.

use crate::analysis::profile::{FrameBy, ProfileChange, Sums, TopBy};
use crate::cli::print::{Align, Columns, Value};
use crate::cli::profile::{Amount, ShortFiles, headings};
use crate::cli::session::Session;
use crate::cli::terminal::shown as name;
use crate::model::profile::{Metric, Profile};

/// A function, file, line, thread or process whose cost changed.
pub(super) struct Row<'a> {
    change: &'a ProfileChange,
    old: Option<Cost>,
    new: Option<Cost>,
    pub(super) delta: Cost,
}

#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub(super) own: i64,
    pub(super) total: i64,
    samples_self: i64,
    samples_total: i64,
    /// The own value as a share of all samples of its profile.
    pub(super) share_self: f64,
    share_total: f64,
}

impl<'a> Row<'a> {
    pub(super) fn of(
        change: &'a ProfileChange,
        metrics: (&Metric, &Metric),
        amounts: (&Amount, &Amount),
    ) -> Self {
        let old = change.old.as_ref().map(|sums| Cost::of(sums, metrics.0, amounts.0));
        let new = change.new.as_ref().map(|sums| Cost::of(sums, metrics.1, amounts.1));
        let (before, after) = (old.unwrap_or(Cost::NONE), new.unwrap_or(Cost::NONE));
        let delta = Cost {
            own: after.own.saturating_sub(before.own),
            total: after.total.saturating_sub(before.total),
            samples_self: after.samples_self - before.samples_self,
            samples_total: after.samples_total - before.samples_total,
            share_self: after.share_self - before.share_self,
            share_total: after.share_total - before.share_total,
        };
        Self { change, old, new, delta }
    }

    /// The name that the function has in the code that ran, if a map renamed it.
    pub(super) fn generated_name<'p>(&self, profile: &'p Profile) -> Option<&'p str> {
        profile.generated_name(&self.change.label.name, &self.change.label.namespace)
    }

    /// `12.1 → 17.2 %`.
    fn shares(&self, read: fn(&Cost) -> f64) -> String {
        let percent = |cost: Option<Cost>| {
            cost.map_or("–".to_owned(), |cost| format!("{:.1}", read(&cost) * 100.0 + 0.0))
        };
        format!("{} → {} %", percent(self.old), percent(self.new))
    }
}

impl Cost {
    const NONE: Self = Self {
        own: 0,
        total: 0,
        samples_self: 0,
        samples_total: 0,
        share_self: 0.0,
        share_total: 0.0,
    };

    fn of(sums: &Sums, metric: &Metric, amount: &Amount) -> Self {
        let (own, total) = (sums.own.get(metric), sums.total.get(metric));
        Self {
            own,
            total,
            samples_self: sums.own.get(&Metric::SAMPLES),
            samples_total: sums.total.get(&Metric::SAMPLES),
            share_self: amount.share(own),
            share_total: amount.share(total),
        }
    }
}

/// Adds a column for a number of the costs before and after and of their difference.
macro_rules! costs {
    ($columns:expr, $side:literal, $cost:expr) => {
        $columns
            .value(concat!($side, ".self"), |row| $cost(row).map(|cost| cost.own))
            .value(concat!($side, ".total"), |row| $cost(row).map(|cost| cost.total))
            .value(concat!($side, ".samples_self"), |row| $cost(row).map(|cost| cost.samples_self))
            .value(concat!($side, ".samples_total"), |row| {
                $cost(row).map(|cost| cost.samples_total)
            })
            .value(concat!($side, ".share_self"), |row| $cost(row).map(|cost| cost.share_self))
            .value(concat!($side, ".share_total"), |row| $cost(row).map(|cost| cost.share_total))
    };
}

pub(super) fn columns<'c>(
    by: TopBy,
    amount: &'c Amount,
    files: &'c ShortFiles<'_>,
    session: &'c Session,
) -> Columns<'c, Row<'c>> {
    let (heading, second) = headings(by);
    let what = move |row: &Row| {
        let what = &row.change.label.name;
        let mark = match (&row.change.old, &row.change.new) {
            (None, _) => session.terminal.caution(" (new)"),
            (_, None) => session.terminal.dim(" (gone)"),
            _ => String::new(),
        };
        let what = if by == TopBy::Frames(FrameBy::File) { files.show(what) } else { name(what) };
        format!("{}{mark}", session.terminal.bold(&what))
    };
    let file = |row: &Row| {
        let line = row.change.label.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}", files.show(&row.change.label.namespace))
    };
    let now = |row: &Row| row.new.unwrap_or(Cost::NONE);
    let change = move |value: i64| session.terminal.change(&amount.change(value), value);
    let columns = Columns::new(session)
        .value("name", |row: &Row| &*row.change.label.name)
        .value("namespace", |row| Value::non_empty(&row.change.label.namespace))
        .value("line", |row| row.change.label.line);
    let columns = costs!(columns, "old", |row: &Row| row.old);
    let columns = costs!(columns, "new", |row: &Row| row.new);
    costs!(columns, "delta", |row: &Row| Some(row.delta))
        .cell("own", "SELF ±", Align::Right, move |row| change(row.delta.own))
        .cell("own_now", "SELF NOW", Align::Right, move |row| amount.show(now(row).own))
        .cell("own_share", "SHARE", Align::Right, |row| row.shares(|cost| cost.share_self))
        .cell("sum", "TOTAL ±", Align::Right, move |row| change(row.delta.total))
        .cell("sum_now", "TOTAL NOW", Align::Right, move |row| amount.show(now(row).total))
        .cell("sum_share", "SHARE", Align::Right, |row| row.shares(|cost| cost.share_total))
        .cell("what", heading, Align::Left, what)
        .cell("file", second, Align::Left, file)
        .csv(&CSV)
        .minor(&["own_share", "own_now", "sum_share", "sum_now"])
}

const CSV: [&str; 13] = [
    "name",
    "namespace",
    "line",
    "old.self",
    "new.self",
    "delta.self",
    "old.total",
    "new.total",
    "delta.total",
    "old.share_self",
    "new.share_self",
    "old.share_total",
    "new.share_total",
];
