//! The cost of each function, file, line, thread or process.

use super::call_totals::CallTotals;
use super::{FrameBy, GroupLabel, Groups, Selected, Sums};
use crate::analysis::buckets::Buckets;
use crate::model::names::Names;
use crate::model::profile::{Metric, ProfileThread, StackId, StackTree, Values};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

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
    /// Rows whose total is an upper bound, because the profile has calls instead of stacks and these
    /// call each other in circles.
    pub bounds: usize,
}

impl Top {
    /// Sorts rows by self or total value, largest magnitude first.
    pub fn sort(&mut self, metric: &Metric, by_total: bool) {
        self.rows.sort_by_cached_key(|row| row.rank(metric, by_total));
    }

    /// Multiplies all costs by a factor.
    pub fn scale(&mut self, factor: f64) {
        for row in &mut self.rows {
            row.sums.own.scale(factor);
            row.sums.total.scale(factor);
        }
    }
}

/// Returns the cost of every row. A recursive function counts once for each stack.
pub fn top(selected: &Selected<'_>, by: TopBy) -> Top {
    match by {
        TopBy::Frames(by) => of_frames(selected, &Groups::of(selected.profile, by), by),
        TopBy::Thread => of_threads(selected, |thread, names| {
            if thread.is_unknown() { "<no thread>".into() } else { thread.label(names).into() }
        }),
        TopBy::Process => of_threads(selected, |thread, _| {
            let process = thread.process();
            process.map_or("<no process>".to_owned(), |pid| format!("P{pid}")).into()
        }),
        TopBy::Tag => {
            let key = selected.tag.as_deref().unwrap_or_default();
            of_threads(selected, |thread, _| selected.profile.label_value(thread, key).into())
        }
    }
}

fn of_threads(selected: &Selected<'_>, name: impl Fn(&ProfileThread, &Names) -> Arc<str>) -> Top {
    let profile = selected.profile;
    let (mut rows, mut numbers) = (Vec::new(), HashMap::new());
    let mut of_thread = vec![0; profile.threads.len()];
    for thread in selected.threads() {
        let name = name(profile.thread(thread), &profile.names);
        of_thread[thread.index()] = *numbers.entry(Arc::clone(&name)).or_insert_with(|| {
            let label = GroupLabel { name, ..GroupLabel::default() };
            rows.push(TopRow { label, sums: Sums::default() });
            rows.len() - 1
        });
    }
    for row in selected.rows() {
        let sums = &mut rows[of_thread[row.thread.index()]].sums;
        sums.own.add(&row.values);
        sums.total.add(&row.values);
    }
    Top { rows, bounds: 0 }
}

fn of_frames(selected: &Selected<'_>, groups: &Groups, by: FrameBy) -> Top {
    let stacks = &selected.profile.stacks;
    let mut all = vec![Sums::default(); groups.labels().len()];
    for row in selected.rows() {
        if let Some(frame) = stacks.leaf(row.stack) {
            all[groups.of_frame(frame) as usize].own.add(&row.values);
        }
    }
    let mut bounds = 0;
    if selected.profile.calls.is_some() {
        let totals = CallTotals::of(selected, groups, by);
        bounds = totals.is_bound.iter().filter(|is_bound| **is_bound).count();
        all.iter_mut().zip(totals.totals).for_each(|(sums, total)| sums.total = total);
    } else if share_little(selected) {
        // Separate walks take less time than one over all.
        let totals = totals_by_row(selected, groups);
        all.iter_mut().zip(totals.sums()).for_each(|(sums, total)| sums.total = total);
    } else {
        let under = selected.under();
        outermost(stacks, groups, |stack, group| {
            all[group as usize].total.add(&under[stack.index()])
        });
    }
    let rows = groups.labels().iter().zip(all).filter(|(_, sums)| !sums.total.is_zero());
    let rows = rows.map(|(label, sums)| TopRow { label: label.clone(), sums }).collect();
    Top { rows, bounds }
}

fn totals_by_row(selected: &Selected<'_>, groups: &Groups) -> RowTotals {
    let mut totals = RowTotals::new(selected, groups.labels().len());
    for row in selected.rows() {
        totals.begin_row(&row.values);
        for frame in selected.profile.stacks.frames(row.stack) {
            totals.add(groups.of_frame(frame) as usize);
        }
    }
    totals
}

/// Sums by group. A row adds to each group at most once. A group has as many numbers as the profile
/// has value types, so that the sums of many groups stay in the processor's cache.
struct RowTotals {
    /// The number of values of a group.
    width: usize,
    /// The values of all groups, one group after the other.
    numbers: Vec<i64>,
    /// By group: the number of the last row that added to it. The first row is 1.
    last_row: Vec<u32>,
    row: u32,
    /// The values of the present row.
    values: Vec<i64>,
}

impl RowTotals {
    fn new(selected: &Selected<'_>, groups: usize) -> Self {
        let types = selected.profile.value_types.len();
        // Each group has the number of samples, followed by the values of the value types.
        let width = if types == 0 { Values::INLINE } else { types + 1 };
        let (numbers, last_row) = (vec![0; groups * width], vec![0; groups]);
        Self { width, numbers, last_row, row: 0, values: Vec::new() }
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
    fn sums(&self) -> impl Iterator<Item = Values> + '_ {
        self.numbers.chunks(self.width).map(Values::of_numbers)
    }
}

/// Whether the stacks of the rows have hardly more frames than there are stacks, so that separate
/// walks take less time and memory than sums for every stack.
fn share_little(selected: &Selected<'_>) -> bool {
    /// The cost of one step of the walk over all stacks, in steps over the frames of a row.
    const STEPS: u64 = 4;
    let depths = selected.profile.stacks.depths();
    let most = (depths.len() as u64).saturating_mul(STEPS);
    let mut frames = 0u64;
    selected.rows().all(|row| {
        frames = frames.saturating_add(depths[row.stack.index()].into());
        frames <= most
    })
}

/// The callees of each stack: the stacks with one more frame, in the order of their numbers.
pub(super) fn callees(stacks: &StackTree) -> Buckets {
    let pairs = || stacks.ids().rev().map(|stack| (stacks.parent(stack).0, stack.0));
    Buckets::of(stacks.len(), stacks.len() - 1, pairs)
}

/// Visits every stack whose innermost frame is the only one of its group.
pub(super) fn outermost(stacks: &StackTree, groups: &Groups, mut visit: impl FnMut(StackId, u32)) {
    let children = callees(stacks);
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
