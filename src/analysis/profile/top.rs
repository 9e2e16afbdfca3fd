//! The cost of each function, file, line, thread or process.

use super::{FrameBy, GroupLabel, Groups, Selected, Sums};
use crate::analysis::buckets::Buckets;
use crate::model::names::Names;
use crate::model::profile::{Metric, ProfileThread, StackId, StackTree, Values};
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
    /// The label.
    pub label: GroupLabel,
    /// Own and total cost.
    pub sums: Sums,
}

/// The costs of all functions, files, lines, threads or processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// The rows with a cost, in the order of the file.
    pub rows: Vec<TopRow>,
}

impl Top {
    /// Sorts rows by what they cost by themselves, or in all: the largest first, be it positive or
    /// negative.
    pub fn sort(&mut self, metric: &Metric, by_total: bool) {
        self.rows.sort_by_cached_key(|row| {
            let (own, total) = (
                row.sums.own.get(metric).unsigned_abs(),
                row.sums.total.get(metric).unsigned_abs(),
            );
            let (first, second) = if by_total { (total, own) } else { (own, total) };
            (std::cmp::Reverse((first, second)), row.label.clone())
        });
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
    /// Those of the last part, which are those of all.
    labels: Vec<GroupLabel>,
    /// By label.
    sums: Vec<Sums>,
    /// The sums of the samples that are looked at.
    pub total: Values,
    /// The sums of those that have no frames.
    pub without_frames: Values,
}

impl TopSums {
    /// Nothing yet.
    pub fn new(by: TopBy) -> Self {
        Self {
            by,
            labels: Vec::new(),
            sums: Vec::new(),
            total: Values::default(),
            without_frames: Values::default(),
        }
    }

    /// Adds a part.
    pub fn add(&mut self, selected: &Selected<'_>) {
        self.total.add(&selected.total);
        self.without_frames.add(&selected.without_frames);
        match self.by {
            TopBy::Frames(by) => self.add_frames(selected, &Groups::of(selected.profile, by)),
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
    pub fn finish(self) -> Top {
        let all =
            self.labels.into_iter().zip(self.sums).map(|(label, sums)| TopRow { label, sums });
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
        self.labels = groups.labels().to_vec();
        self.sums.resize(self.labels.len(), Sums::default());
        for row in selected.rows() {
            if let Some(frame) = stacks.leaf(row.stack) {
                self.sums[groups.of_frame(frame) as usize].own.add(&row.values);
            }
        }
        if stacks.may_repeat() {
            self.add_totals_by_row(selected, groups);
            return;
        }
        let under = selected.under();
        outermost(stacks, groups, |stack, group| {
            self.sums[group as usize].total.add(&under[stack.index()])
        });
    }

    /// Where stacks share nearly nothing, each by itself takes less than a walk over all.
    fn add_totals_by_row(&mut self, selected: &Selected<'_>, groups: &Groups) {
        let stacks = &selected.profile.stacks;
        let mut last_row = vec![usize::MAX; groups.labels().len()];
        for (number, row) in selected.rows().enumerate() {
            for frame in stacks.frames(row.stack) {
                let group = groups.of_frame(frame) as usize;
                if std::mem::replace(&mut last_row[group], number) != number {
                    self.sums[group].total.add(&row.values);
                }
            }
        }
    }
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
