//! The chosen samples of a profile, and the sums of their stacks.

use crate::model::profile::{
    Aggregate, Call, CallGraph, LabelsId, Metric, Profile, ProfileThread, ThreadId, Values,
};
use crate::model::stacks::Selection;
use rustc_hash::FxHashSet;

/// Own and total cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The sums of the samples in which the function is the innermost frame.
    pub own: Values,
    /// The sums of the samples whose stack contains the function, counted once under recursion.
    pub total: Values,
}

/// The samples of some threads of a profile.
#[derive(Clone, Debug)]
pub struct Selected<'a> {
    /// The whole profile.
    pub profile: &'a Profile,
    threads: Vec<bool>,
    /// The key of the labels by which samples are grouped.
    pub(super) tag: Option<String>,
    /// The sums of the chosen samples.
    pub total: Values,
    /// The sums of the chosen samples that have no frames.
    pub without_frames: Values,
    /// Only samples with a number for this metric, if the profile has events of several kinds.
    only: Option<Metric>,
}

impl<'a> Selected<'a> {
    /// Chooses the samples of the selected threads. The order of the selection has no effect, and its
    /// first metric only with [`Profile::has_separate_values`].
    pub fn of(profile: &'a Profile, selection: &Selection) -> Self {
        let threads = profile.threads.iter().map(|thread| selection.has(profile, thread)).collect();
        let mut selected = Self {
            profile,
            threads,
            tag: selection.tag.clone(),
            total: Values::default(),
            without_frames: Values::default(),
            only: profile.has_separate_values.then(|| {
                let chosen = selection.metrics.first().cloned();
                chosen.unwrap_or_else(|| profile.default_metric())
            }),
        };
        let (mut total, mut without_frames) = (Values::default(), Values::default());
        let mut has_samples = vec![selected.only.is_none(); profile.threads.len()];
        for row in selected.rows() {
            has_samples[row.thread.index()] = true;
            total.add(&row.values);
            if profile.stacks.leaf(row.stack).is_none() {
                without_frames.add(&row.values);
            }
        }
        // Threads whose samples are all of other metrics are not chosen.
        selected.threads.iter_mut().zip(has_samples).for_each(|(chosen, has)| *chosen &= has);
        (selected.total, selected.without_frames) = (total, without_frames);
        selected
    }

    /// The chosen threads.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        (0..)
            .map(ThreadId)
            .zip(&self.threads)
            .filter(|(_, wanted)| **wanted)
            .map(|(thread, _)| thread)
    }

    /// The number of chosen threads that are known; samples of one thread may have several labels.
    pub fn thread_count(&self) -> usize {
        let threads = self
            .threads()
            .map(|thread| *self.profile.thread(thread))
            .filter(|thread| !thread.is_unknown());
        threads
            .map(|thread| ProfileThread { labels: LabelsId::default(), ..thread })
            .collect::<FxHashSet<_>>()
            .len()
    }

    /// The sums of each thread in each of its stacks.
    pub fn rows(&self) -> impl Iterator<Item = Aggregate> + '_ {
        self.profile.aggregate.iter().filter(|row| {
            self.threads[row.thread.index()]
                && self.only.as_ref().is_none_or(|metric| row.values.get(metric) != 0)
        })
    }

    /// The calls of the chosen threads.
    pub(super) fn calls<'c>(&self, graph: &'c CallGraph) -> impl Iterator<Item = &'c Call> {
        graph.calls().iter().filter(|call| self.threads[call.thread.index()])
    }

    /// Whether calls add to the totals of functions, in a profile that has calls instead of stacks.
    pub fn has_calls(&self) -> bool {
        let calls = |graph| self.calls(graph).next().is_some();
        self.profile
            .calls
            .as_ref()
            .is_some_and(|graph| graph.totals().next().is_some() || calls(graph))
    }

    /// The number of calls, of a profile that has them instead of stacks; 0 if they are not counted.
    pub fn call_count(&self) -> Option<u64> {
        let graph = self.profile.calls.as_ref()?;
        // A file that states the total of each function also counts its calls, also from outside.
        if graph.totals().next().is_some() {
            return Some(self.total.samples());
        }
        let calls = self.calls(graph);
        Some(calls.fold(0, |sum, call| sum.saturating_add(call.count)))
    }

    /// Returns for each stack the sums of all stacks that begin with it, including the stack
    /// itself.
    pub fn under(&self) -> Vec<Values> {
        let stacks = &self.profile.stacks;
        let mut under = vec![Values::default(); stacks.len()];
        self.rows().for_each(|row| under[row.stack.index()].add(&row.values));
        // Callers have smaller numbers than their callees.
        for stack in stacks.ids().rev() {
            // The parent is another stack, before this one.
            let (before, rest) = under.split_at_mut(stack.index());
            if let (Some(parent), Some(sums)) =
                (before.get_mut(stacks.parent(stack).index()), rest.first())
            {
                parent.add(sums);
            }
        }
        under
    }

    /// The sums of several groups as if they were one.
    pub fn together(&self, groups: &super::Groups, wanted: &[bool], under: &[Values]) -> Sums {
        let stacks = &self.profile.stacks;
        let is_wanted =
            |stack| stacks.leaf(stack).is_some_and(|frame| wanted[groups.of_frame(frame) as usize]);
        let mut sums = Sums::default();
        self.rows().filter(|row| is_wanted(row.stack)).for_each(|row| sums.own.add(&row.values));
        let mut inside = vec![false; stacks.len()];
        for stack in stacks.ids() {
            inside[stack.index()] = inside[stacks.parent(stack).index()];
            if !inside[stack.index()] && is_wanted(stack) {
                inside[stack.index()] = true;
                sums.total.add(&under[stack.index()]);
            }
        }
        sums
    }
}
