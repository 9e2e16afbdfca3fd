//! `samples`: one row for each sample, or for each sum of a thread and a stack if the file has only
//! sums.

use crate::cli::query::relation::{At, Cell, Relation, SqlTable};
use crate::cli::query::tables::column;
use crate::model::profile::{Metric, Profile, ProfileSample, StackId, ThreadId, Values};
use crate::output::tables::{Absent, Table, TableColumn, sample_metrics};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

struct SampleRows {
    profile: Arc<Profile>,
    /// The contents of each column.
    contents: Vec<Content>,
    /// Microseconds from the beginning of a thread to each sample.
    starts: OnceLock<Vec<i64>>,
}

enum Content {
    Sample,
    Process,
    Interpreter,
    Thread,
    Start,
    Stack,
    IsIdle,
    IsGc,
    Metric(Metric),
    /// The profile does not have the metric.
    Nothing,
    /// As [`Content::Nothing`], in a column that is never null.
    Zero,
}

/// The table of samples, with the columns of the profile's own metrics.
pub(super) fn table(profile: &Arc<Profile>) -> SqlTable {
    let (metrics, own) = sample_metrics(profile);
    let all = [Table::Samples.columns(), &own].concat();
    let content = |of: &TableColumn| content(&of.name, of.absent == Absent::Null, &metrics);
    let rows = SampleRows {
        profile: Arc::clone(profile),
        contents: all.iter().map(content).collect(),
        starts: OnceLock::new(),
    };
    SqlTable { columns: all.iter().map(column).collect(), ..SqlTable::of(Table::Samples, rows) }
}

impl SampleRows {
    /// Thread, stack and values of a row, and the sample if it is one.
    fn row(&self, row: usize) -> (ThreadId, StackId, Values, Option<ProfileSample>) {
        match &self.profile.samples {
            Some(samples) => {
                let sample = samples.get(row);
                (sample.thread, sample.stack, Values::of_sample(&sample), Some(sample))
            }
            None => {
                let sum = self.profile.aggregate.get(row);
                (sum.thread, sum.stack, sum.values, None)
            }
        }
    }

    fn start(&self, row: usize) -> Option<i64> {
        let samples = self.profile.samples.as_ref()?;
        let starts = || {
            let mut clocks = vec![0i64; self.profile.threads.len()];
            let start = |sample: ProfileSample| {
                let clock = &mut clocks[sample.thread.index()];
                let start = *clock;
                *clock = clock.saturating_add(sample.time.unwrap_or(0).max(0));
                start
            };
            samples.iter().map(start).collect()
        };
        self.starts.get_or_init(starts).get(row).copied()
    }
}

fn content(name: &str, may_be_null: bool, metrics: &[(Cow<'static, str>, Metric)]) -> Content {
    match name {
        "sample" => Content::Sample,
        "process" => Content::Process,
        "interpreter" => Content::Interpreter,
        "thread" => Content::Thread,
        "start_us" => Content::Start,
        "stack" => Content::Stack,
        "is_idle" => Content::IsIdle,
        "is_gc" => Content::IsGc,
        _ => match metrics.iter().find(|(of, _)| of == name) {
            Some((_, metric)) => Content::Metric(metric.clone()),
            None if may_be_null => Content::Nothing,
            None => Content::Zero,
        },
    }
}

impl Relation for SampleRows {
    fn len(&self) -> u64 {
        let samples = self.profile.samples.as_ref();
        samples.map_or(self.profile.aggregate.len(), |samples| samples.len()) as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, text: &'c mut String) -> Cell<'c> {
        let Some(content) = self.contents.get(column) else { return Cell::Null };
        let (thread, stack, values, sample) = self.row(at.index());
        let thread = self.profile.thread(thread);
        let small = |number: Option<i128>| number.and_then(|number| i64::try_from(number).ok());
        match content {
            Content::Sample => at.row.into(),
            Content::Process => small(thread.process()).into(),
            Content::Interpreter => small(thread.interpreter).into(),
            Content::Thread => {
                text.push_str(&thread.id(&self.profile.names));
                Cell::Text(text)
            }
            Content::Start => self.start(at.index()).into(),
            Content::Stack => stack.0.into(),
            Content::IsIdle => sample.map(|sample| sample.idle).into(),
            Content::IsGc => sample.map(|sample| sample.gc).into(),
            Content::Metric(metric) => values.get(metric).into(),
            Content::Nothing => Cell::Null,
            Content::Zero => Cell::Integer(0),
        }
    }
}
