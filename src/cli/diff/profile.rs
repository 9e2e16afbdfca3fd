//! `diff` of profiles: which functions cost more or less than before.

use super::{document, with_rows};
use crate::analysis::profile::{
    FrameBy, ProfileChange, Selected, Sums, TopBy, changes, share_base, top,
};
use crate::cli::args::{DiffArgs, DiffSort};
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Shown, Value, print};
use crate::cli::profile::{
    Amount, ShortFiles, by_of, headings, load_profile, nouns, total_json, unit_name,
};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::{show_path, shown as name};
use crate::model::profile::Metric;

/// A function, file, line, thread or process whose cost changed.
struct Row<'a> {
    change: &'a ProfileChange,
    old: Option<Cost>,
    new: Option<Cost>,
    delta: Cost,
}

#[derive(Clone, Copy)]
struct Cost {
    own: i64,
    total: i64,
    samples_self: i64,
    samples_total: i64,
    /// Of all samples of its profile.
    share_self: f64,
    share_total: f64,
}

pub(super) fn run(
    args: &DiffArgs,
    old: &Input,
    new: &Input,
    session: &Session,
) -> anyhow::Result<Status> {
    let old = load_profile(old, &args.profile, session)?;
    let new = load_profile(new, &args.profile, session)?;
    let metrics = &(old.metric(&args.profile)?, new.metric(&args.profile)?);
    // The same value may be in different places of the two files.
    if metrics.0.of != metrics.1.of {
        let names = [&metrics.0, &metrics.1].map(|metric| name(metric.name()));
        let error = UsageError::new(match (&old.profile, &new.profile) {
            (old, new) if old.value_types.is_empty() && new.value_types.is_empty() => {
                format!(
                    "the old profile was recorded in {} mode, the new one in {} mode",
                    old.mode.name(),
                    new.mode.name()
                )
            }
            _ => format!("the old profile measures {}, the new one {}", names[0], names[1]),
        });
        return Err(error.hint("select a metric that both have, such as --metric samples").into());
    }
    let (metric, metrics) = (&metrics.1, (&metrics.0, &metrics.1));
    let (by, by_name) = by_of(args.by, args.profile.tag.as_ref());
    let selected =
        (Selected::of(&old.profile, &old.selection), Selected::of(&new.profile, &new.selection));
    let bases = (share_base(&selected.0.total, metrics.0), share_base(&selected.1.total, metric));
    let scale = args.normalize.then(|| bases.1 as f64 / bases.0.max(1) as f64);
    let mut before = top(&selected.0, by);
    scale.into_iter().for_each(|scale| before.scale(scale));
    let exact = session.common.bytes;
    let amounts = (
        Amount::new(metrics.0, if args.normalize { bases.1 } else { bases.0 }, exact),
        Amount::new(metric, bases.1, exact),
    );
    let mut all = changes(before, top(&selected.1, by), metrics);
    let known = all.len();
    // Scaled numbers of samples differ even where the metric does not.
    all.retain(|change| match scale {
        Some(_) => change.own(metrics) != 0 || change.total(metrics) != 0,
        None => change.old != change.new,
    });
    let unchanged = (known - all.len()) as u64;
    if args.sort.is_some_and(|sort| sort != DiffSort::Own) {
        all.sort_by(|a, b| {
            let change = |change| {
                let delta = Row::of(change, metrics, (&amounts.0, &amounts.1)).delta;
                match args.sort {
                    Some(DiffSort::Total) => (delta.total as f64).abs(),
                    _ => delta.share_self.abs(),
                }
            };
            change(b).total_cmp(&change(a))
        });
    }
    let (shown, rest) = session.shown(&all, args.limit, super::ROWS);
    let rows: Vec<Row> =
        shown.iter().map(|change| Row::of(change, metrics, (&amounts.0, &amounts.1))).collect();
    let document = || {
        let document = document(old.input, new.input)
            .with("by", by_name)
            .with("metric", metric.name())
            .with("unit", unit_name(metric))
            .with("scale", scale)
            .with("old_total", total_json(&selected.0.total, metrics.0))
            .with("new_total", total_json(&selected.1.total, metric));
        with_rows(document, rest.len(), unchanged)
    };
    let footer = || {
        let (one, many) = nouns(by);
        let changed =
            plural(all.len() as u64, &format!("changed {one}"), &format!("changed {many}"));
        let showing = if rest.is_empty() {
            String::new()
        } else {
            format!("showing {} of ", count(shown.len() as u64))
        };
        let mut text = format!("{showing}{changed}, {} unchanged", count(unchanged));
        for (name, input, selected, metric, amount) in [
            ("old", old.input, &selected.0, metrics.0, &amounts.0),
            ("new", new.input, &selected.1, metrics.1, &amounts.1),
        ] {
            let samples = plural(selected.total.samples(), "sample", "samples");
            let value = amount.show(selected.total.get(metric));
            text.push_str(&format!(" · {name} {}: {value} in {samples}", show_path(&input.path)));
        }
        if let Some(scale) = scale {
            text.push_str(&format!(" · old values multiplied by {scale:.4}"));
        }
        text + "\n"
    };
    let files = new.files(&old, session);
    let text = if shown.is_empty() { Shown::Text(&footer) } else { Shown::Table(&footer) };
    print(session, document, &rows, &columns(by, &amounts.1, &files, session), &text)?;
    Ok(old.report(session).max(new.report(session)))
}

impl<'a> Row<'a> {
    fn of(
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

fn columns<'c>(
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
