//! The cost of each function, file, line, thread or process.

use super::{FrameBy, GroupLabel, Groups, Selected, Sums};
use crate::analysis::buckets::Buckets;
use crate::model::names::Names;
use crate::model::profile::{Metric, ProfileThread, StackId, StackTree, Values};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopBy {
    /// Frames, grouped.
    Frames(FrameBy),
    /// A thread. Its own cost equals its total cost.
    Thread,
    /// A process. Its own cost equals its total cost.
    Process,
    /// The value of a label, whose key is [`Selection::tag`](crate::model::stacks::Selection::tag).
    /// Its own cost equals its total cost.
    Tag,
}

/// One row: a function, file, line, thread or process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopRow {
    /// The name of the row.
    pub label: GroupLabel,
    /// Own and total cost.
    pub sums: Sums,
}

impl TopRow {
    /// The key by which [`Top::sort`] sorts rows.
    pub(crate) fn rank(
        &self,
        metric: &Metric,
        by_total: bool,
    ) -> (Reverse<(u64, u64)>, GroupLabel) {
        let (own, total) =
            (self.sums.own.get(metric).unsigned_abs(), self.sums.total.get(metric).unsigned_abs());
        let (first, second) = if by_total { (total, own) } else { (own, total) };
        (Reverse((first, second)), self.label.clone())
    }
}

/// The costs of all functions, files, lines, threads or processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// The rows with a cost, in the order of the file.
    pub rows: Vec<TopRow>,
}

impl Top {
    /// Sorts rows by self or total value, largest magnitude first.
    pub fn sort(&mut self, metric: &Metric, by_total: bool) {
        self.rows.sort_by_cached_key(|row| row.rank(metric, by_total));
    }

    /// Multiplies all costs.
    pub fn scale(&mut self, factor: f64) {
        for row in &mut self.rows {
            row.sums.own.scale(factor);
            row.sums.total.scale(factor);
        }
    }
}

/// The cost of every row, recursion counted once for each stack.
pub fn top(selected: &Selected<'_>, by: TopBy) -> Top {
    let mut sums = TopSums::new(by);
    sums.add(selected);
    sums.finish()
}

/// The cost of every row in all parts of a profile together. Frames and threads must have the same
/// numbers in all of them.
#[derive(Clone, Debug)]
pub struct TopSums {
    by: TopBy,
    /// The frames of all parts so far; `None` where rows are not frames.
    groups: Option<Groups>,
    /// The labels of the last part. If rows are not frames, all parts have these labels.
    labels: Vec<GroupLabel>,
    /// By label.
    sums: Vec<Sums>,
    /// Totals that were added up row by row, and are not in `sums` yet.
    by_row: RowTotals,
    /// The sums of the samples that are looked at.
    pub total: Values,
    /// The sums of those that have no frames.
    pub without_frames: Values,
}

impl TopSums {
    /// Creates empty sums.
    pub fn new(by: TopBy) -> Self {
        let groups = match by {
            TopBy::Frames(by) => Some(Groups::new(by)),
            TopBy::Thread | TopBy::Process | TopBy::Tag => None,
        };
        Self {
            by,
            groups,
            labels: Vec::new(),
            sums: Vec::new(),
            by_row: RowTotals::default(),
            total: Values::default(),
            without_frames: Values::default(),
        }
    }

    /// Adds a part of a profile.
    pub fn add(&mut self, selected: &Selected<'_>) {
        self.total.add(&selected.total);
        self.without_frames.add(&selected.without_frames);
        match self.by {
            TopBy::Frames(by) => {
                let mut groups = self.groups.take().unwrap_or_else(|| Groups::new(by));
                groups.extend(selected.profile);
                self.add_frames(selected, &groups);
                self.groups = Some(groups);
            }
            TopBy::Thread => {
                self.add_threads(selected, |thread, names| GroupLabel {
                    name: if thread.is_unknown() {
                        "<no thread>".into()
                    } else {
                        thread.label(names).into()
                    },
                    ..GroupLabel::default()
                });
            }
            TopBy::Process => {
                self.add_threads(selected, |thread, _| GroupLabel {
                    name: thread
                        .process()
                        .map_or("<no process>".to_owned(), |pid| format!("P{pid}"))
                        .into(),
                    ..GroupLabel::default()
                });
            }
            TopBy::Tag => {
                let key = selected.tag.as_deref().unwrap_or_default();
                self.add_threads(selected, |thread, _| GroupLabel {
                    name: selected.profile.label_value(thread, key).into(),
                    ..GroupLabel::default()
                });
            }
        }
    }

    /// The rows of all.
    pub fn finish(mut self) -> Top {
        for (sums, total) in self.sums.iter_mut().zip(self.by_row.totals()) {
            sums.total.add(&total);
        }
        let labels = self.groups.map_or(self.labels, Groups::into_labels);
        let all = labels.into_iter().zip(self.sums).map(|(label, sums)| TopRow { label, sums });
        match self.by {
            TopBy::Frames(_) => Top { rows: all.filter(|row| !row.sums.total.is_zero()).collect() },
            TopBy::Thread | TopBy::Process | TopBy::Tag => Top { rows: all.collect() },
        }
    }

    fn add_threads(
        &mut self,
        selected: &Selected<'_>,
        label: impl Fn(&ProfileThread, &Names) -> GroupLabel,
    ) {
        let profile = selected.profile;
        let mut numbers = HashMap::new();
        let mut of_thread = vec![0; profile.threads.len()];
        self.labels.clear();
        for thread in selected.threads() {
            let label = label(profile.thread(thread), &profile.names);
            of_thread[thread.index()] = *numbers.entry(label.clone()).or_insert_with(|| {
                self.labels.push(label);
                self.labels.len() - 1
            });
        }
        self.sums.resize(self.labels.len(), Sums::default());
        for row in selected.rows() {
            let sums = &mut self.sums[of_thread[row.thread.index()]];
            sums.own.add(&row.values);
            sums.total.add(&row.values);
        }
    }

    fn add_frames(&mut self, selected: &Selected<'_>, groups: &Groups) {
        let stacks = &selected.profile.stacks;
        self.sums.resize(groups.labels().len(), Sums::default());
        for row in selected.rows() {
            if let Some(frame) = stacks.leaf(row.stack) {
                self.sums[groups.of_frame(frame) as usize].own.add(&row.values);
            }
        }
        if stacks.may_repeat() || share_little(selected) {
            self.add_totals_by_row(selected, groups);
            return;
        }
        let under = selected.under();
        outermost(stacks, groups, |stack, group| {
            self.sums[group as usize].total.add(&under[stack.index()])
        });
    }

    /// If stacks share few frames, separate walks take less time than one over all.
    fn add_totals_by_row(&mut self, selected: &Selected<'_>, groups: &Groups) {
        let stacks = &selected.profile.stacks;
        self.by_row.begin(selected, groups.labels().len());
        for row in selected.rows() {
            self.by_row.begin_row(&row.values);
            for frame in stacks.frames(row.stack) {
                self.by_row.add(groups.of_frame(frame) as usize);
            }
        }
    }
}

/// Sums by group, of which each is added to once in a row at most. A group has as many numbers as
/// the profile has value types, so that the sums of many groups stay in the processor's cache.
#[derive(Clone, Debug, Default)]
struct RowTotals {
    /// Numbers of a group; 0 before the first part.
    width: usize,
    /// By group.
    numbers: Vec<i64>,
    /// By group: the last row that has it. The first row is 1.
    last_row: Vec<u32>,
    row: u32,
    /// The numbers of the row.
    values: Vec<i64>,
}

impl RowTotals {
    /// Makes room for the groups of a part.
    fn begin(&mut self, selected: &Selected<'_>, groups: usize) {
        let types = selected.profile.value_types.len();
        // The number of samples comes before those of value types.
        self.width = if types == 0 { Values::INLINE } else { types + 1 };
        self.numbers.resize(groups * self.width, 0);
        self.last_row.clear();
        self.last_row.resize(groups, 0);
        self.row = 0;
    }

    fn begin_row(&mut self, values: &Values) {
        self.row += 1;
        self.values.clear();
        self.values.extend(values.numbers().chain(std::iter::repeat(0)).take(self.width));
    }

    #[inline]
    fn add(&mut self, group: usize) {
        if std::mem::replace(&mut self.last_row[group], self.row) != self.row {
            let sums = &mut self.numbers[group * self.width..][..self.width];
            sums.iter_mut()
                .zip(&self.values)
                .for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        }
    }

    /// The sums of each group.
    fn totals(&self) -> impl Iterator<Item = Values> + '_ {
        self.numbers.chunks(self.width.max(1)).map(Values::of_numbers)
    }
}

/// Whether the stacks of the rows have hardly more frames than there are stacks, so that separate
/// walks take less time and memory than sums for every stack.
fn share_little(selected: &Selected<'_>) -> bool {
    /// A step of the walk over all stacks takes about as long as that many over the frames of a row.
    const STEPS: u64 = 4;
    let depths = selected.profile.stacks.depths();
    let most = (depths.len() as u64).saturating_mul(STEPS);
    let mut frames = 0u64;
    selected.rows().all(|row| {
        frames = frames.saturating_add(depths[row.stack.index()].into());
        frames <= most
    })
}

/// Visits every stack whose innermost frame is the only one of its group.
pub(super) fn outermost(stacks: &StackTree, groups: &Groups, mut visit: impl FnMut(StackId, u32)) {
    let children = Buckets::of(stacks.len(), stacks.len() - 1, || {
        stacks.ids().map(|stack| (stacks.parent(stack).0, stack.0))
    });
    let mut depth = vec![0u32; groups.labels().len()];
    let mut open = vec![Step::Enter(StackId::EMPTY)];
    while let Some(step) = open.pop() {
        let (Step::Enter(stack) | Step::Leave(stack)) = step;
        if let Some(frame) = stacks.leaf(stack) {
            let group = groups.of_frame(frame);
            let depth = &mut depth[group as usize];
            match step {
                Step::Leave(_) => *depth -= 1,
                Step::Enter(_) => {
                    if *depth == 0 {
                        visit(stack, group);
                    }
                    *depth += 1;
                }
            }
        }
        if let Step::Enter(stack) = step {
            open.push(Step::Leave(stack));
            open.extend(children.get(stack.0).iter().map(|&child| Step::Enter(StackId(child))));
        }
    }
}

#[derive(Clone, Copy)]
enum Step {
    Enter(StackId),
    Leave(StackId),
}
