//! `top` of profiles: functions by what they cost.

use super::super::args::{ByArg, Common, TopArgs};
use super::super::open::Input;
use super::super::profile::{Amount, CostRow, ShortFiles, Total, load_profile_in_parts, print, unit_name, whole};
use super::super::size::{count, plural};
use super::super::status::Status;
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use crate::analysis::profile::{FrameBy, Selected, TopBy, TopRow, TopSums, share_base};
use crate::model::profile::Metric;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    by: &'static str,
    metric: &'static str,
    unit: &'static str,
    total: Total,
    /// Samples that have no frames, which no row can have.
    without_frames: Total,
    rows: Vec<CostRow>,
    omitted: Omitted,
}

#[derive(Serialize)]
struct Omitted {
    rows: u64,
    #[serde(rename = "self")]
    own: i64,
    samples_self: u64,
}

pub(super) fn run(args: &TopArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let (by, by_name) = by_of(args.by);
    let mut sums = TopSums::new(by);
    let loaded = load_profile_in_parts(input, &args.profile, common, terminal, |part| sums.add(part))?;
    let metric = loaded.metric(&args.profile)?;
    let mut selected = Selected::of(&loaded.profile, &loaded.selection);
    sums.add(&selected);
    (selected.total, selected.without_frames) = (sums.total, sums.without_frames);
    let mut all = sums.finish();
    all.sort(metric, args.cum);
    let (shown, rest) = all.rows.split_at(common.rows(args.limit, 20).min(all.rows.len()));
    let document = Document {
        schema: "dumptool/top/1",
        file: input.path.display().to_string(),
        by: by_name,
        metric: metric.name(),
        unit: unit_name(metric),
        total: Total::of(&selected.total, metric),
        without_frames: Total::of(&selected.without_frames, metric),
        rows: shown.iter().map(|row| CostRow::of(row, metric)).collect(),
        omitted: Omitted {
            rows: rest.len() as u64,
            own: rest.iter().fold(0, |sum, row| row.sums.own.get(metric).saturating_add(sum)),
            samples_self: rest.iter().map(|row| row.sums.own.samples).sum(),
        },
    };
    let table = || {
        let amount = Amount::new(metric, share_base(&selected.total, metric), common.bytes);
        let files = ShortFiles::of_profile(&loaded.profile, common.verbose);
        View { selected: &selected, by, metric, amount, files }.table(shown, rest, terminal)
    };
    print(common, &document, &document.rows, || document.rows.clone(), table)?;
    Ok(loaded.report(terminal))
}

/// What rows are by an option that has been checked to be for profiles.
pub(in crate::cli) fn by_of(by: Option<ByArg>) -> (TopBy, &'static str) {
    match by {
        Some(ByArg::File) => (TopBy::Frames(FrameBy::File), "file"),
        Some(ByArg::Line) => (TopBy::Frames(FrameBy::Line), "line"),
        Some(ByArg::Thread) => (TopBy::Thread, "thread"),
        Some(ByArg::Process) => (TopBy::Process, "process"),
        _ => (TopBy::Frames(FrameBy::Function), "function"),
    }
}

/// The table for people.
struct View<'a> {
    selected: &'a Selected<'a>,
    by: TopBy,
    metric: Metric,
    amount: Amount,
    files: ShortFiles<'a>,
}

impl View<'_> {
    fn table(&self, shown: &[TopRow], rest: &[TopRow], terminal: &Terminal) -> String {
        let text = match self.by {
            TopBy::Frames(by) => self.of_frames(shown, by, terminal),
            TopBy::Thread | TopBy::Process => self.of_threads(shown, terminal),
        };
        text + &self.footer(shown, rest)
    }

    fn of_frames(&self, shown: &[TopRow], by: FrameBy, terminal: &Terminal) -> String {
        let mut table =
            Table::new(&[Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left, Align::Left])
                .minor(&[3, 1]);
        let headings = if by == FrameBy::File { ["FILE", ""] } else { ["FUNCTION", "FILE"] };
        let [first, second] = headings;
        table.row(["SELF", "SHARE", "TOTAL", "SHARE", first, second, ""].map(|heading| terminal.dim(heading)));
        for TopRow { label, sums } in shown {
            let (own, total) = (sums.own.get(self.metric), sums.total.get(self.metric));
            let file = match label.line {
                Some(line) => format!("{}:{line}", self.files.show(&label.namespace)),
                None => self.files.show(&label.namespace).to_owned(),
            };
            let name = if by == FrameBy::File { self.files.show(&label.name) } else { &label.name };
            let mut cells = vec![
                self.amount.show(own),
                self.amount.percent(own),
                self.amount.show(total),
                self.amount.percent(total),
                terminal.bold(name),
                file,
            ];
            cells.extend(terminal.bar(self.amount.share(own)));
            table.row(cells);
        }
        table.render()
    }

    /// Of a thread there is one number only.
    fn of_threads(&self, shown: &[TopRow], terminal: &Terminal) -> String {
        let mut table = Table::new(&[Align::Right, Align::Right, Align::Right, Align::Left]);
        let heading = if self.by == TopBy::Thread { "THREAD" } else { "PROCESS" };
        table.row(["TOTAL", "SHARE", "SAMPLES", heading].map(|heading| terminal.dim(heading)));
        for TopRow { label, sums } in shown {
            let total = sums.total.get(self.metric);
            let samples = count(sums.total.samples);
            table.row([self.amount.show(total), self.amount.percent(total), samples, terminal.bold(&label.name)]);
        }
        table.render()
    }

    /// `showing 20 of 414 functions; 92.1 % of 180.6 s · 268 631 samples in 4 threads`.
    fn footer(&self, shown: &[TopRow], rest: &[TopRow]) -> String {
        let rows = (shown.len() + rest.len()) as u64;
        let kind = match self.by {
            TopBy::Frames(FrameBy::Function) => plural(rows, "function", "functions"),
            TopBy::Frames(FrameBy::File) => plural(rows, "file", "files"),
            TopBy::Frames(FrameBy::Line) => plural(rows, "line", "lines"),
            TopBy::Thread => plural(rows, "thread", "threads"),
            TopBy::Process => plural(rows, "process", "processes"),
        };
        let selected = self.selected;
        let total = &selected.total;
        let sum = shown.iter().fold(0i64, |sum, row| sum.saturating_add(row.sums.own.get(self.metric)));
        let which = match rest {
            [] => format!("all {kind}"),
            _ => format!("showing {} of {kind}", count(shown.len() as u64)),
        };
        let mut text = match self.metric {
            // Changes cancel each other out, so that the sum of some says nothing of the others.
            Metric::Samples => format!("{which}; {}", self.amount.percent(sum)),
            Metric::Memory => format!("{which}; {}", whole(&self.selected.total, self.metric, self.amount)),
            _ => format!("{which}; {} of {}", self.amount.percent(sum), whole(&self.selected.total, self.metric, self.amount)),
        };
        let threads = plural(selected.threads().count() as u64, "thread", "threads");
        let before = if self.metric == Metric::Samples { " of" } else { " ·" };
        text.push_str(&format!("{before} {} in {threads}", plural(total.samples, "sample", "samples")));
        let empty = &selected.without_frames;
        if !empty.is_zero() {
            text.push_str(&format!(", {} without frames", count(empty.samples)));
            if self.metric != Metric::Samples {
                text.push_str(&format!(" ({})", self.amount.show(empty.get(self.metric))));
            }
        }
        text + "\n"
    }
}
