//! Leaves out samples and frames of a profile, and folds frames into their callers.

use super::aggregates::{AggregateIndex, Aggregates};
use super::{
    FrameId, Profile, ProfileThread, Samples, StackId, StackTree, ThreadId, TimedEvent, Values,
};
use crate::model::distinct::Distinct;
use crate::model::names::Names;
use std::ops::Range;

/// The samples and frames of a profile that a filter keeps.
#[derive(Debug, Default)]
pub(crate) struct Narrowed {
    /// The new stacks, with frames of the profile, and the new stack for each stack of the profile,
    /// which is `None` if its samples are left out.
    pub(crate) stacks: Option<(StackTree, Vec<Option<StackId>>)>,
    /// Whether the samples of each thread stay. Empty if all do.
    pub(crate) threads: Vec<bool>,
    /// The range of start times of samples, in microseconds from the beginning of the recording.
    pub(crate) time: Option<Range<i64>>,
}

impl Profile {
    /// Leaves out samples and frames, and the threads without samples. The profile must have single
    /// samples or events if a time is given ([`Profile::has_times`]).
    ///
    /// Events of tasks and the curve of memory are about the whole recording, and are dropped.
    pub(crate) fn narrow(&mut self, to: Narrowed) {
        let Narrowed { stacks, threads, time } = to;
        let moved = stacks.map(|(stacks, moved)| {
            self.stacks = stacks;
            moved
        });
        let place = |thread: ThreadId, stack: StackId| {
            let is_kept = threads.get(thread.index()).copied().unwrap_or(true);
            let stack = moved.as_ref().map_or(Some(stack), |moved| moved[stack.index()]);
            stack.filter(|_| is_kept)
        };
        let old = std::mem::take(&mut self.aggregate);
        let mut left = Left { threads: std::mem::take(&mut self.threads), ..Left::default() };
        let is_timed = time.is_some();
        let within = |start: i64| time.as_ref().is_none_or(|time| time.contains(&start));
        if let Some(samples) = &mut self.samples {
            *samples = left.samples(samples, &place, &within, is_timed);
        }
        let events = std::mem::take(&mut self.events);
        for event in events.into_iter().filter(|event| within(event.start)) {
            let Some(stack) = place(event.thread, event.stack) else { continue };
            if is_timed {
                left.add(event.thread, stack, &sums_of(&event));
            }
            self.events.push(TimedEvent { thread: left.thread(event.thread), stack, ..event });
        }
        for row in old.iter().filter(|_| !is_timed) {
            if let Some(stack) = place(row.thread, row.stack) {
                left.add(row.thread, stack, &row.values);
            }
        }
        let kept = left.kept.all.iter().map(|thread| left.threads[thread.index()]);
        (self.aggregate, self.total, self.threads) = (left.sums, left.total, kept.collect());
        let samples = self.total.samples();
        self.metadata.iter_mut().for_each(|datum| datum.before = datum.before.min(samples));
        self.tasks.clear();
        self.curve = None;
    }

    /// Moves the sums of stacks whose innermost frames are `folded` to the stacks of their callers.
    /// Stacks of such frames alone keep the outermost one. Single samples stay as they are.
    pub(crate) fn fold_innermost(&mut self, folded: impl Fn(&Self, FrameId) -> bool) {
        let is_folded: Vec<bool> =
            (0..self.frames.len() as u32).map(|frame| folded(self, FrameId(frame))).collect();
        if !is_folded.contains(&true) {
            return;
        }
        let mut moved = vec![StackId::EMPTY; self.stacks.len()];
        for stack in self.stacks.ids() {
            let caller = moved[self.stacks.parent(stack).index()];
            let leaf = self.stacks.leaf(stack);
            let is_folded = leaf.is_some_and(|leaf| is_folded[leaf.index()]);
            moved[stack.index()] =
                if is_folded && caller != StackId::EMPTY { caller } else { stack };
        }
        self.aggregate = self.aggregate.moved(&moved);
    }

    /// Merges all threads into one unknown thread. Samples with different labels stay apart.
    pub fn merge_threads(&mut self) {
        for thread in &mut self.threads {
            let labels = thread.labels;
            *thread = ProfileThread { labels, ..ProfileThread::named(Names::EMPTY) };
        }
    }
}

/// The sums of an event: the value of its type, and its samples.
fn sums_of(event: &TimedEvent) -> Values {
    let mut numbers = vec![0; usize::from(event.metric) + 1];
    numbers[usize::from(event.metric)] = event.value;
    Values::of_types(event.samples.into(), &numbers)
}

#[derive(Default)]
struct Left {
    threads: Vec<ProfileThread>,
    kept: Distinct<ThreadId>,
    sums: Aggregates,
    rows: AggregateIndex,
    total: Values,
}

impl Left {
    /// The new number of a thread.
    fn thread(&mut self, thread: ThreadId) -> ThreadId {
        ThreadId(self.kept.number(thread))
    }

    fn add(&mut self, thread: ThreadId, stack: StackId, values: &Values) {
        let thread = self.thread(thread);
        self.total.add(values);
        self.sums.add(&mut self.rows, thread, stack, values);
    }

    fn samples(
        &mut self,
        old: &Samples,
        place: &impl Fn(ThreadId, StackId) -> Option<StackId>,
        within: &impl Fn(i64) -> bool,
        adds: bool,
    ) -> Samples {
        let mut clocks = vec![0i64; self.threads.len()];
        let mut samples = Samples::default();
        for mut sample in old.iter() {
            let clock = &mut clocks[sample.thread.index()];
            let start = *clock;
            *clock = start.saturating_add(sample.time.unwrap_or(0).max(0));
            let stack = place(sample.thread, sample.stack).filter(|_| within(start));
            let Some(stack) = stack else { continue };
            if adds {
                self.add(sample.thread, stack, &Values::of_sample(&sample));
            }
            (sample.thread, sample.stack) = (self.thread(sample.thread), stack);
            samples.push(&sample);
        }
        samples
    }
}
