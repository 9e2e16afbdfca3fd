//! The table `samples`.

use crate::model::profile::{Metric, Profile, ProfileSample, Samples, StackId, ThreadId, Values};
use crate::model::stacks::Selection;
use crate::output::tables::{
    Absent, CellKind, ColumnEncoding, Table, TableCells, TableColumn, TableRows,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;

/// One row for each sample of the selected threads, or for each of their sums.
pub(super) struct SampleRows<'p> {
    profile: &'p Profile,
    /// The rows of samples, or of sums.
    rows: Vec<u32>,
    /// Microseconds from the beginning of a thread to each sample. Empty for sums.
    starts: Vec<i64>,
    /// By thread: the first thread with the same id.
    threads: Vec<u32>,
    /// The metric of each column that has one and was measured.
    metrics: Vec<(Cow<'static, str>, Metric)>,
    /// The columns after the usual ones.
    own: Vec<TableColumn>,
}

/// The columns of standard metrics.
const STANDARD: [(&str, Metric); 5] = [
    ("time_us", Metric::TIME),
    ("cpu_us", Metric::CPU),
    ("memory_gained", Metric::MEMORY_GAINED),
    ("memory_freed", Metric::MEMORY_FREED),
    ("samples", Metric::SAMPLES),
];

impl<'p> SampleRows<'p> {
    pub(super) fn new(profile: &'p Profile, selection: &Selection) -> Self {
        let wanted: Vec<bool> =
            profile.threads.iter().map(|thread| selection.has(profile, thread)).collect();
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        match &profile.samples {
            Some(samples) => {
                let mut clocks = vec![0i64; profile.threads.len()];
                let all = (0..).zip(samples.iter());
                for (row, sample) in all.filter(|(_, sample)| wanted[sample.thread.index()]) {
                    let clock = &mut clocks[sample.thread.index()];
                    rows.push(row);
                    starts.push(*clock);
                    *clock = clock.saturating_add(sample.time.unwrap_or(0).max(0));
                }
            }
            None => {
                let all = (0..).zip(profile.aggregate.iter());
                rows.extend(all.filter(|(_, sum)| wanted[sum.thread.index()]).map(|(row, _)| row));
            }
        }
        let (metrics, own) = sample_metrics(profile);
        Self { profile, rows, starts, threads: threads(profile), metrics, own }
    }

    /// A sample as the table shows it.
    fn row(&self, row: usize) -> Row {
        let number = self.rows[row] as usize;
        match &self.profile.samples {
            Some(samples) => self.of_sample(samples, number),
            None => {
                let sum = self.profile.aggregate.get(number);
                Row { thread: sum.thread, stack: sum.stack, values: sum.values, sample: None }
            }
        }
    }

    fn of_sample(&self, samples: &Samples, number: usize) -> Row {
        let sample = samples.get(number);
        Row {
            thread: sample.thread,
            stack: sample.stack,
            values: Values::of_sample(&sample),
            sample: Some(sample),
        }
    }
}

struct Row {
    thread: ThreadId,
    stack: StackId,
    values: Values,
    /// None for sums.
    sample: Option<ProfileSample>,
}

/// The first thread with the id of each thread: samples with other labels are of another thread.
fn threads(profile: &Profile) -> Vec<u32> {
    let mut first = FxHashMap::default();
    let threads = (0..).zip(&profile.threads);
    threads
        .map(|(number, thread)| *first.entry(thread.id(&profile.names)).or_insert(number))
        .collect()
}

/// The metrics of columns, and the columns of those that the file names itself: each has its name,
/// except that `samples` is the usual column, and that no other usual column is replaced.
pub(crate) fn sample_metrics(
    profile: &Profile,
) -> (Vec<(Cow<'static, str>, Metric)>, Vec<TableColumn>) {
    if profile.value_types.is_empty() {
        let measured = profile.metrics_to_choose();
        let standard = STANDARD.into_iter().filter(|(_, metric)| measured.contains(metric));
        return (standard.map(|(name, metric)| (name.into(), metric)).collect(), Vec::new());
    }
    let mut metrics = vec![(Cow::from("samples"), Metric::SAMPLES)];
    let mut own: Vec<TableColumn> = Vec::new();
    for metric in profile.metrics_in_order() {
        if metric.name() == "samples" {
            metrics[0].1 = metric;
            continue;
        }
        let is_taken = |name: &str| {
            let usual = Table::Samples.columns().iter();
            name.is_empty()
                || usual.chain(&own).any(|column| column.name.eq_ignore_ascii_case(name))
        };
        let mut name = metric.name().to_owned();
        while is_taken(&name) {
            name.push_str("_value");
        }
        let name = Cow::from(name);
        own.push(TableColumn {
            name: name.clone(),
            kind: CellKind::Integer,
            absent: Absent::Never,
            encoding: ColumnEncoding::Dictionary,
        });
        metrics.push((name, metric));
    }
    (metrics, own)
}

impl TableRows for SampleRows<'_> {
    fn table(&self) -> Table {
        Table::Samples
    }

    fn columns(&self) -> Cow<'static, [TableColumn]> {
        [Table::Samples.columns(), &self.own].concat().into()
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let this = &*self;
        let all = rows.clone().map(|row| this.row(row));
        let thread = |row: Row| this.profile.thread(row.thread);
        let small = |number: Option<i128>| number.and_then(|number| i64::try_from(number).ok());
        match column {
            "sample" => cells.integers(rows.map(|row| row as u64)),
            "process" => cells.optional_integers(all.map(|row| small(thread(row).process()))),
            "interpreter" => cells.optional_integers(all.map(|row| small(thread(row).interpreter))),
            "thread" => cells.codes(all.map(|row| this.threads[row.thread.index()])),
            "start_us" => {
                cells.optional_integers(rows.map(|row| this.starts.get(row).copied()));
            }
            "stack" => cells.integers(all.map(|row| row.stack.0.into())),
            "is_idle" => cells.optional_booleans(all.map(|row| row.sample.map(|of| of.idle))),
            "is_gc" => cells.optional_booleans(all.map(|row| row.sample.map(|of| of.gc))),
            _ => {
                let metric = this.metrics.iter().find(|(name, _)| name == column);
                let values = all.map(|row| metric.map(|(_, metric)| row.values.get(metric)));
                let usual = Table::Samples.columns().iter().find(|usual| usual.name == column);
                match usual.is_some_and(|usual| usual.absent == Absent::Null) {
                    true => cells.optional_integers(values),
                    false => cells.integers.extend(values.map(Option::unwrap_or_default)),
                }
            }
        }
    }

    fn text(&self, _: &str, code: u32) -> Cow<'_, str> {
        self.profile.thread(ThreadId(code)).id(&self.profile.names).into()
    }
}
