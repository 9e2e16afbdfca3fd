//! `top` of profiles: functions by what they cost.

use crate::analysis::profile::{FrameBy, Selected, TopBy, TopRow, TopSums, share_base};
use crate::cli::args::TopArgs;
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print};
use crate::cli::profile::{
    Amount, ShortFiles, by_of, cost_columns, headings, load_profile_in_parts, nouns, total_json,
    unit_name, whole,
};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::Status;
use crate::cli::terminal::shown;
use crate::model::profile::Metric;

pub(super) fn run(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let (by, by_name) = by_of(args.by, args.profile.tag.as_ref());
    let mut sums = TopSums::new(by);
    let loaded = load_profile_in_parts(input, &args.profile, session, |part| sums.add(part))?;
    let metric = &loaded.metric(&args.profile)?;
    let mut selected = Selected::of(&loaded.profile, &loaded.selection);
    sums.add(&selected);
    (selected.total, selected.without_frames) = (sums.total.clone(), sums.without_frames.clone());
    let mut all = sums.finish();
    all.sort(metric, args.cum);
    let (shown, rest) = session.shown(&all.rows, args.limit, super::ROWS);
    let document = || {
        let own = rest.iter().fold(0, |sum, row| row.sums.own.get(metric).saturating_add(sum));
        let samples: u64 = rest.iter().map(|row| row.sums.own.samples()).sum();
        Document::new("dumptool/top/1", &input.path)
            .with("by", by_name)
            .with("metric", metric.name())
            .with("unit", unit_name(metric))
            .with("total", total_json(&selected.total, metric))
            .with("without_frames", total_json(&selected.without_frames, metric))
            .rows("rows")
            .with(
                "omitted",
                Value::from([
                    ("rows", rest.len().into()),
                    ("self", own.into()),
                    ("samples_self", samples.into()),
                ]),
            )
    };
    let amount = Amount::new(metric, share_base(&selected.total, metric), session.common.bytes);
    let files = ShortFiles::of_profile(&loaded.profile, session.common.verbose);
    let view = View { selected: &selected, by, metric, amount, files };
    print(
        session,
        document,
        shown,
        &view.columns(session),
        &Shown::Table(&|| view.footer(shown, rest)),
    )?;
    Ok(loaded.report(session))
}

/// The columns of the table.
struct View<'a> {
    selected: &'a Selected<'a>,
    by: TopBy,
    metric: &'a Metric,
    amount: Amount,
    files: ShortFiles<'a>,
}

impl View<'_> {
    fn columns<'c>(&'c self, session: &'c Session) -> Columns<'c, TopRow> {
        let &Self { by, metric, ref amount, ref files, .. } = self;
        let own = move |row: &TopRow| row.sums.own.get(metric);
        let total = move |row: &TopRow| row.sums.total.get(metric);
        let (name, file) = headings(by);
        let keys: &[_] = match by {
            TopBy::Frames(_) => &["own", "own_share", "sum", "sum_share", "what", "file", "bar"],
            // A thread has one number only.
            TopBy::Thread | TopBy::Process | TopBy::Tag => &["sum", "sum_share", "samples", "what"],
        };
        let what = move |row: &TopRow| {
            if by == TopBy::Frames(FrameBy::File) {
                files.show(&row.label.name)
            } else {
                shown(&row.label.name)
            }
        };
        let position = |row: &TopRow| match row.label.line {
            Some(line) => format!("{}:{line}", files.show(&row.label.namespace)),
            None => files.show(&row.label.namespace),
        };
        cost_columns(session, metric)
            .cell("own", "SELF", Align::Right, move |row| amount.show(own(row)))
            .cell("own_share", "SHARE", Align::Right, move |row| amount.percent(own(row)))
            .cell("sum", "TOTAL", Align::Right, move |row| amount.show(total(row)))
            .cell("sum_share", "SHARE", Align::Right, move |row| amount.percent(total(row)))
            .cell("samples", "SAMPLES", Align::Right, |row| count(row.sums.total.samples()))
            .cell("what", name, Align::Left, what)
            .bold()
            .cell("file", file, Align::Left, position)
            .bar(move |row| amount.share(own(row)))
            .table(keys)
            .minor(&["sum_share", "own_share"])
    }

    /// `showing 20 of 414 functions; 92.1 % of 180.6 s · 268 631 samples in 4 threads`.
    fn footer(&self, shown: &[TopRow], rest: &[TopRow]) -> String {
        let rows = (shown.len() + rest.len()) as u64;
        let (one, many) = nouns(self.by);
        let kind = plural(rows, one, many);
        let selected = self.selected;
        let total = &selected.total;
        let sum =
            shown.iter().fold(0i64, |sum, row| sum.saturating_add(row.sums.own.get(self.metric)));
        let which = match rest {
            [] => format!("all {kind}"),
            _ => format!("showing {} of {kind}", count(shown.len() as u64)),
        };
        let is_samples = *self.metric == Metric::SAMPLES;
        let whole = whole(&self.selected.total, self.metric, &self.amount);
        let mut text = match *self.metric == Metric::MEMORY {
            // Changes cancel each other out, so that the sum of some says nothing of the others.
            true => format!("{which}; {whole}"),
            false if is_samples => format!("{which}; {}", self.amount.percent(sum)),
            false => format!("{which}; {} of {whole}", self.amount.percent(sum)),
        };
        let threads = match selected.thread_count() {
            0 => String::new(),
            count => format!(" in {}", plural(count as u64, "thread", "threads")),
        };
        let before = if is_samples { " of" } else { " ·" };
        text.push_str(&format!(
            "{before} {}{threads}",
            plural(total.samples(), "sample", "samples")
        ));
        let empty = &selected.without_frames;
        if !empty.is_zero() {
            text.push_str(&format!(", {} without frames", count(empty.samples())));
            if !is_samples {
                text.push_str(&format!(" ({})", self.amount.show(empty.get(self.metric))));
            }
        }
        text + "\n"
    }
}
