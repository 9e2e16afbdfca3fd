//! `top` of profiles: functions by cost.

use crate::analysis::profile::{FrameBy, GroupLabel, Groups, Selected, TopBy, TopRow, top};
use crate::cli::args::{ByArg, TopArgs};
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print};
use crate::cli::profile::{
    Amount, ProfileInput, Several, ShortFiles, by_of, cost_columns, headings, hottest_function,
    load_several, nouns, total_json, unit_name, whole, with_filters,
};
use crate::cli::session::Session;
use crate::cli::size::{count, plural, showing};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::shown;
use crate::model::profile::{Metric, ThreadId};
use crate::parallel;
use std::collections::HashMap;
use std::path::PathBuf;

/// The key of the label with the number of the file that a sample is from.
const FILE: &str = "dumptool input";

pub(super) fn run(
    args: &TopArgs,
    (input, more): (&Input, &[PathBuf]),
    session: &Session,
) -> anyhow::Result<Status> {
    let (by, by_name) = by_of(args.by, args.profile.tag.as_ref());
    let options = args.profile.grouped(args.by.and_then(ByArg::label));
    let several = Several { input, more, tag: args.each.then_some(FILE) };
    let (loaded, of_others) = load_several(several, &options, session)?;
    let metric = &loaded.metric(&options)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let rows = || {
        let mut all = top(&selected, by);
        all.sort(metric, args.cum);
        all
    };
    let (all, verdict) = parallel::join(rows, || hottest_function(&selected, metric, session));
    let (shown, rest) = session.shown(&all.rows, args.limit, super::ROWS);
    let each = match by {
        _ if !args.each => None,
        TopBy::Frames(by) => Some(Each::of(&selected, more.len() + 1, by, metric)),
        _ => return Err(UsageError::new("--each applies to functions, files and lines").into()),
    };
    let document = || {
        let own = rest.iter().fold(0, |sum, row| row.sums.own.get(metric).saturating_add(sum));
        let samples: u64 = rest.iter().map(|row| row.sums.own.samples()).sum();
        let document =
            with_filters(Document::new("dumptool/top/1", &input.path), [("samples", &loaded)]);
        with_files(document, several)
            .with("by", by_name)
            .with("metric", metric.name())
            .with("unit", unit_name(metric))
            .with("verdict", verdict.as_deref())
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
    let amount = Amount::new(metric, metric.whole(&selected.total), session.common.bytes);
    let files = ShortFiles::of_profile(&loaded.profile, session.common.verbose);
    let is_histogram = loaded.profile.has_separate_values && metric.name() == "objects";
    let counts = loaded.profile.metric("object-count").filter(|_| is_histogram);
    let file_count = more.len() + 1;
    let selected = &selected;
    let view =
        View { loaded: &loaded, selected, by, metric, amount, files, counts, each, file_count };
    let footer = || view.footer(shown, rest) + &bounds(all.bounds, by);
    let shown_as = match &verdict {
        Some(verdict) => Shown::Headed(verdict, &footer),
        None => Shown::Table(&footer),
    };
    print(session, document, shown, &view.columns(session), &shown_as)?;
    Ok(loaded.report(session).max(of_others))
}

/// The line about totals that are upper bounds, if there are any.
fn bounds(bounds: usize, by: TopBy) -> String {
    let (one, many) = nouns(by);
    match bounds {
        0 => String::new(),
        _ => format!(
            "TOTAL is an upper bound for {}, in circles of calls\n",
            plural(bounds as u64, one, many)
        ),
    }
}

struct View<'a> {
    loaded: &'a ProfileInput<'a>,
    selected: &'a Selected<'a>,
    by: TopBy,
    metric: &'a Metric,
    amount: Amount,
    files: ShortFiles<'a>,
    /// The metric with numbers of objects, where the rows are classes of a histogram (JFR).
    counts: Option<Metric>,
    /// The costs in each of several files.
    each: Option<Each>,
    file_count: usize,
}

impl View<'_> {
    fn columns<'c>(&'c self, session: &'c Session) -> Columns<'c, TopRow> {
        let &Self { by, metric, ref amount, ref files, ref each, .. } = self;
        let file_count = self.file_count;
        let own = move |row: &TopRow| row.sums.own.get(metric);
        let total = move |row: &TopRow| row.sums.total.get(metric);
        let (mut name, file) = headings(by);
        let counts = self.counts.as_ref();
        let objects = move |row: &TopRow| counts.map(|counts| row.sums.own.get(counts));
        if counts.is_some() && by == TopBy::Frames(FrameBy::Function) {
            name = "CLASS";
        }
        let profile = self.selected.profile;
        let generated =
            move |row: &TopRow| profile.generated_name(&row.label.name, &row.label.namespace);
        let what = move |row: &TopRow| match generated(row).filter(|_| session.common.verbose) {
            _ if by == TopBy::Frames(FrameBy::File) => files.show(&row.label.name),
            Some(generated) => format!("{} ({})", shown(&row.label.name), shown(generated)),
            None => shown(&row.label.name),
        };
        let position = |row: &TopRow| match row.label.line {
            Some(line) => format!("{}:{line}", files.show(&row.label.namespace)),
            None => files.show(&row.label.namespace),
        };
        let costs =
            cost_columns(session, profile, metric).value_if(counts.is_some(), "objects", objects);
        let costs = match each {
            None => costs,
            Some(each) => costs.value("each", move |row: &TopRow| {
                Vec::from_iter(each.costs(row, file_count).into_iter().map(Value::from))
            }),
        };
        costs
            .cell("of_files", "IN EACH FILE", Align::Right, move |row| {
                let costs = each.as_ref().map_or(Vec::new(), |each| each.costs(row, file_count));
                costs.iter().map(|cost| amount.show(*cost)).collect::<Vec<_>>().join("  ")
            })
            .cell("objects", "OBJECTS", Align::Right, move |row| {
                count(u64::try_from(objects(row).unwrap_or(0)).unwrap_or(0))
            })
            .cell("own", "SELF", Align::Right, move |row| amount.show(own(row)))
            .cell("own_share", "SHARE", Align::Right, move |row| amount.percent(own(row)))
            .cell("sum", "TOTAL", Align::Right, move |row| amount.show(total(row)))
            .cell("sum_share", "SHARE", Align::Right, move |row| amount.percent(total(row)))
            .cell("samples", "SAMPLES", Align::Right, |row| count(row.sums.total.samples()))
            .cell("what", name, Align::Left, what)
            .bold()
            .cell("file", file, Align::Left, position)
            .bar(move |row| amount.share(own(row)))
            .table(self.keys())
            .minor(&["sum_share", "own_share"])
    }

    fn keys(&self) -> &'static [&'static str] {
        match self.by {
            TopBy::Frames(_) if self.each.is_some() => {
                &["own", "own_share", "sum", "sum_share", "of_files", "what", "file"]
            }
            TopBy::Frames(_) if self.counts.is_some() => {
                &["own", "own_share", "objects", "what", "bar"]
            }
            TopBy::Frames(_) => &["own", "own_share", "sum", "sum_share", "what", "file", "bar"],
            // A thread has the same own and total cost.
            TopBy::Thread | TopBy::Process | TopBy::Tag => &["sum", "sum_share", "samples", "what"],
        }
    }

    /// `showing 20 of 414 functions; 92.1 % of 180.6 s · 268 631 samples in 4 threads`.
    fn footer(&self, shown: &[TopRow], rest: &[TopRow]) -> String {
        let (one, many) = match self.counts {
            Some(_) => ("class", "classes"),
            None => nouns(self.by),
        };
        let selected = self.selected;
        let sum =
            shown.iter().fold(0i64, |sum, row| sum.saturating_add(row.sums.own.get(self.metric)));
        let which = showing(shown.len(), shown.len() + rest.len(), one, many);
        let which = if rest.is_empty() { format!("all {which}") } else { which };
        let is_samples = *self.metric == Metric::SAMPLES;
        let whole = whole(&self.selected.total, self.metric, &self.amount);
        let mut text = match *self.metric == Metric::MEMORY {
            // Changes cancel each other out, so a sum of some of them is not a share of the whole.
            true => format!("{which}; {whole}"),
            false if is_samples => format!("{which}; {}", self.amount.percent(sum)),
            false => format!("{which}; {} of {whole}", self.amount.percent(sum)),
        };
        let threads = match selected.thread_count() {
            0 => String::new(),
            count => format!(" in {}", plural(count as u64, "thread", "threads")),
        };
        let before = if is_samples { " of" } else { " ·" };
        match selected.call_count() {
            Some(0) if !selected.has_calls() => text.push_str("; no calls, so that TOTAL is SELF"),
            _ => text.push_str(&format!("{before} {}{threads}", self.loaded.events(selected))),
        }
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

/// Adds the list of files whose profiles were added up, if there are several.
fn with_files<'d>(document: Document<'d>, several: Several<'_>) -> Document<'d> {
    if !several.is_merged() {
        return document;
    }
    let paths = [&several.input.path].into_iter().chain(several.more);
    document
        .with("files", paths.map(|path| path.display().to_string().into()).collect::<Vec<Value>>())
}

/// The own costs of rows in each of several files.
struct Each {
    of_label: HashMap<GroupLabel, Vec<i64>>,
}

impl Each {
    fn of(selected: &Selected<'_>, files: usize, by: FrameBy, metric: &Metric) -> Self {
        let profile = selected.profile;
        let groups = Groups::of(profile, by);
        let file_of = |thread| profile.label_value(profile.thread(thread), FILE).parse::<usize>();
        let files_of: Vec<usize> = (0..profile.threads.len() as u32)
            .map(|thread| file_of(ThreadId(thread)).unwrap_or(0))
            .collect();
        let mut of_label: HashMap<GroupLabel, Vec<i64>> = HashMap::new();
        for row in selected.rows() {
            let Some(frame) = profile.stacks.leaf(row.stack) else { continue };
            let label = groups.label(groups.of_frame(frame));
            let costs = match of_label.get_mut(label) {
                Some(costs) => costs,
                None => of_label.entry(label.clone()).or_insert_with(|| vec![0; files]),
            };
            if let Some(cost) = costs.get_mut(files_of[row.thread.index()]) {
                *cost = cost.saturating_add(row.values.get(metric));
            }
        }
        Self { of_label }
    }

    /// The costs of a row, in the order of the files.
    fn costs(&self, row: &TopRow, files: usize) -> Vec<i64> {
        self.of_label.get(&row.label).cloned().unwrap_or_else(|| vec![0; files])
    }
}
