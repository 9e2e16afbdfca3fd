//! The table `samples`.

use crate::model::profile::{
    Metric, Profile, ProfileSample, ProfileThread, StackId, ThreadId, Values,
};
use crate::model::stacks::Selection;
use crate::tables::cells::CellBlock;
use crate::tables::column::{Absent, Column, ColumnOf};
use crate::tables::relation::{Rows, declared};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// One row for each sample of the selected threads, or for each of their sums.
pub(in crate::tables) struct Samples<'p> {
    profile: &'p Profile,
    /// The numbers of the selected samples, or sums. `None` for all.
    selected: Option<Vec<u32>>,
    /// Microseconds from the beginning of a thread to each sample. Empty for sums.
    starts: OnceLock<Vec<i64>>,
    /// For each thread, the first thread with the same id.
    threads: OnceLock<Vec<u32>>,
    /// The metrics of columns, if they were measured.
    metrics: Vec<(Cow<'static, str>, Metric)>,
}

/// A sample, or the sum of a thread and a stack.
struct Row {
    thread: ThreadId,
    stack: StackId,
    values: Values,
    /// The single sample. `None` for sums.
    sample: Option<ProfileSample>,
}

impl<'p> Samples<'p> {
    pub(super) fn of(profile: &'p Profile, selection: &Selection) -> Self {
        let is_wanted: Vec<bool> =
            profile.threads.iter().map(|thread| selection.has(profile, thread)).collect();
        let mut this = Self {
            profile,
            selected: None,
            starts: OnceLock::new(),
            threads: OnceLock::new(),
            metrics: metrics(profile),
        };
        if is_wanted.contains(&false) {
            let rows = 0..this.len();
            let wanted = rows.filter(|row| is_wanted[this.row(*row).thread.index()]);
            this.selected = Some(wanted.map(|row| row as u32).collect());
        }
        this
    }

    fn row(&self, row: usize) -> Row {
        let row = self.selected.as_ref().map_or(row, |selected| selected[row] as usize);
        let Some(samples) = &self.profile.samples else {
            let sum = self.profile.aggregate.get(row);
            return Row { thread: sum.thread, stack: sum.stack, values: sum.values, sample: None };
        };
        let sample = samples.get(row);
        let values = Values::of_sample(&sample);
        Row { thread: sample.thread, stack: sample.stack, values, sample: Some(sample) }
    }

    fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = Row> + '_ {
        rows.map(|row| self.row(row))
    }

    fn start(&self, row: usize) -> Option<i64> {
        let starts = self.starts.get_or_init(|| {
            let mut clocks = vec![0i64; self.profile.threads.len()];
            let samples = self.rows(0..self.len()).filter_map(|row| row.sample);
            let start = |sample: ProfileSample| {
                let clock = &mut clocks[sample.thread.index()];
                let start = *clock;
                *clock = clock.saturating_add(sample.time.unwrap_or(0).max(0));
                start
            };
            samples.map(start).collect()
        });
        starts.get(row).copied()
    }

    /// Maps each thread to the first with its id: samples with other labels are another thread.
    fn threads(&self) -> &[u32] {
        self.threads.get_or_init(|| {
            let mut first = FxHashMap::default();
            let threads = (0..).zip(&self.profile.threads);
            threads
                .map(|(number, thread)| {
                    *first.entry(thread.id(&self.profile.names)).or_insert(number)
                })
                .collect()
        })
    }

    fn metric(&self, column: &str) -> Option<&Metric> {
        self.metrics.iter().find(|(name, _)| name == column).map(|(_, metric)| metric)
    }
}

/// The columns of standard metrics.
const STANDARD: [(&str, Metric); 5] = [
    ("time_us", Metric::TIME),
    ("cpu_us", Metric::CPU),
    ("memory_gained", Metric::MEMORY_GAINED),
    ("memory_freed", Metric::MEMORY_FREED),
    ("samples", Metric::SAMPLES),
];

/// The metrics of columns. A metric that the file names is a column with that name, except that
/// `samples` is the standard column, and that no other standard column is replaced.
fn metrics(profile: &Profile) -> Vec<(Cow<'static, str>, Metric)> {
    if profile.value_types.is_empty() {
        let measured = profile.metrics_to_choose();
        let standard = STANDARD.into_iter().filter(|(_, metric)| measured.contains(metric));
        return standard.map(|(name, metric)| (name.into(), metric)).collect();
    }
    let usual = declared::<Samples<'_>>();
    let mut metrics = vec![(Cow::from("samples"), Metric::SAMPLES)];
    for metric in profile.metrics_in_order() {
        if metric.name() == "samples" {
            metrics[0].1 = metric;
            continue;
        }
        let mut name = metric.name().to_owned();
        let is_taken = |name: &str| {
            let own = metrics.iter().map(|(name, _)| name);
            let mut all = usual.iter().map(|column| &column.name).chain(own);
            name.is_empty() || all.any(|other| other.eq_ignore_ascii_case(name))
        };
        while is_taken(&name) {
            name.push_str("_value");
        }
        metrics.push((name.into(), metric));
    }
    metrics
}

/// A column with the values of a metric. If the metric was not measured, cells are absent, or 0 if
/// they cannot be absent.
fn values<'p>(column: Column) -> ColumnOf<Samples<'p>> {
    let (name, is_optional) = (column.name.clone(), column.absent == Absent::Null);
    column.of(move |this: &Samples<'_>, rows, cells: &mut CellBlock| {
        let metric = this.metric(&name);
        let values = this.rows(rows).map(|row| Some(row.values.get(metric?)));
        if is_optional {
            cells.optional_integers(values);
        } else {
            cells.integers.extend(values.map(Option::unwrap_or_default));
        }
    })
}

fn thread_number<'p>(
    column: Column,
    number: fn(&ProfileThread) -> Option<i128>,
) -> ColumnOf<Samples<'p>> {
    column.optional_numbers(move |this: &Samples<'_>, row| {
        i64::try_from(number(this.profile.thread(this.row(row).thread))?).ok()
    })
}

fn sample_mark<'p>(column: Column, mark: fn(&ProfileSample) -> bool) -> ColumnOf<Samples<'p>> {
    column.or_null().of(move |this: &Samples<'_>, rows, cells: &mut CellBlock| {
        cells.optional_booleans(this.rows(rows).map(|row| row.sample.as_ref().map(mark)));
    })
}

impl Rows for Samples<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("sample", "The number of the row").numbers(|_: &Self, row| row as u64),
            thread_number(
                Column::size("process", "The number of the process"),
                ProfileThread::process,
            ),
            thread_number(
                Column::size("interpreter", "The number of the interpreter (Python)"),
                |thread| thread.interpreter,
            ),
            Column::name("thread", "The thread")
                .codes(|this: &Self, row| this.threads()[this.row(row).thread.index()])
                .text(|this, code, text| {
                    text.push_str(this.profile.thread(ThreadId(code)).id(&this.profile.names));
                    text
                }),
            Column::number(
                "start_us",
                "Time from the beginning of the thread; null in profiles that have only sums, as are \
                 `is_idle` and `is_gc`",
            )
            .microseconds()
            .optional_numbers(|this: &Self, row| this.start(row)),
            Column::size("stack", "A row of `stacks`; 0 is the empty stack, which has none")
                .numbers(|this: &Self, row| this.row(row).stack.0.into()),
            values(Column::size("time_us", "Time of the sample").microseconds().or_null()),
            values(Column::size("cpu_us", "CPU time of the sample").microseconds().or_null()),
            values(Column::size("memory_gained", "Memory that was allocated").bytes().or_null()),
            values(Column::size("memory_freed", "Memory that was freed").bytes().or_null()),
            sample_mark(Column::boolean("is_idle", "Whether the thread was idle"), |row| row.idle),
            sample_mark(Column::boolean("is_gc", "Whether garbage was collected"), |row| row.gc),
            values(Column::size("samples", "The number of samples")),
        ]
    }

    fn own_columns(&self) -> Vec<ColumnOf<Self>> {
        let usual = declared::<Self>();
        let own = self.metrics.iter().map(|(name, _)| name);
        let own = own.filter(|name| usual.iter().all(|column| column.name != **name));
        own.map(|name| values(Column::size(name.clone(), "A value type that the file names")))
            .collect()
    }

    fn len(&self) -> usize {
        let samples = self.profile.samples.as_ref();
        let all = samples.map_or(self.profile.aggregate.len(), |samples| samples.len());
        self.selected.as_ref().map_or(all, Vec::len)
    }
}
