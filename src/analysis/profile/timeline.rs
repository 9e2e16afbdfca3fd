//! The calls of each thread from left to right as they were recorded.

use super::Groups;
use crate::model::profile::{Metric, Profile, StackId, ThreadId, Values};
use crate::model::stacks::Selection;

/// A call that lasted over one or more consecutive samples, or a line that contains such calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedCall {
    /// The depth of the line: 0 for the whole recording, 1 for a thread.
    pub depth: u32,
    /// The kind of the line.
    pub what: TimedItem,
    /// The sum of the call and all calls in it.
    pub total: u64,
    /// The part of the sum without further calls.
    pub own: u64,
}

/// The kind of a [`TimedCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedItem {
    /// All threads.
    All,
    /// A thread.
    Thread(ThreadId),
    /// A function, by its group.
    Function(u32),
    /// The caller itself, with calls that are too short to be shown.
    Short,
}

/// A part is shown if it is at least this fraction (1/n) of the whole.
const SHOWN: u64 = 2000;

/// The maximum for the total number of frames by which each stack differs from the one before it.
/// Recordings of programs have few per sample.
const MOST_FRAMES: u64 = 100_000_000;

/// Returns the calls in the order of time, depth first; at most about `most`. Empty if the profile has
/// no single samples, or their stacks have too little in common.
pub fn in_time(
    profile: &Profile,
    selection: &Selection,
    groups: &Groups,
    metric: &Metric,
    most: usize,
) -> Vec<TimedCall> {
    let Some(samples) = &profile.samples else { return Vec::new() };
    let selected: Vec<bool> =
        profile.threads.iter().map(|thread| selection.has(profile, thread)).collect();
    let each = || {
        let of_thread = samples.iter().filter(|sample| selected[sample.thread.index()]);
        of_thread.filter_map(|sample| {
            let value = u64::try_from(Values::of_sample(&sample).get(metric)).unwrap_or(0);
            (value > 0).then_some((sample.thread, sample.stack, value))
        })
    };
    let whole = each().fold(0, |sum: u64, (.., value)| sum.saturating_add(value));
    let mut least = (whole / SHOWN).max(1);
    if whole == 0 {
        return Vec::new();
    }
    let depths = depths(profile);
    let mut left = MOST_FRAMES;
    loop {
        let mut lines = Lines { profile, groups, depths: &depths, least, done: Vec::new(), left };
        let Some(calls) = lines.of(each()) else { return Vec::new() };
        left = lines.left;
        if calls.len() <= most || least > whole {
            return calls;
        }
        least = least.saturating_mul(2);
    }
}

/// The number of frames of each stack.
fn depths(profile: &Profile) -> Vec<u32> {
    let mut depths = vec![0; profile.stacks.len()];
    // Callers have smaller numbers than their callees.
    for stack in (1..depths.len() as u32).map(StackId) {
        depths[stack.index()] = depths[profile.stacks.parent(stack).index()] + 1;
    }
    depths
}

/// A call that has ended.
struct Done {
    what: TimedItem,
    total: u64,
    own: u64,
    children: Vec<u32>,
}

/// A call that has not ended.
struct Open {
    call: Done,
    /// The cost since the last call that is shown.
    short: u64,
}

impl Open {
    fn new(what: TimedItem) -> Self {
        Self { call: Done { what, total: 0, own: 0, children: Vec::new() }, short: 0 }
    }
}

/// The open calls of a thread, outermost first, with the stack that ends at each of them.
struct OfThread {
    open: Vec<Open>,
    stacks: Vec<StackId>,
}

struct Lines<'p> {
    profile: &'p Profile,
    groups: &'p Groups,
    /// By stack.
    depths: &'p [u32],
    least: u64,
    done: Vec<Done>,
    /// The number of frames that may still be processed.
    left: u64,
}

impl Lines<'_> {
    /// Returns `None` if there are too many frames.
    fn of(
        &mut self,
        samples: impl Iterator<Item = (ThreadId, StackId, u64)>,
    ) -> Option<Vec<TimedCall>> {
        let mut threads: Vec<OfThread> = Vec::new();
        let mut place = vec![None; self.profile.threads.len()];
        for (thread, stack, value) in samples {
            let at = *place[thread.index()].get_or_insert_with(|| {
                let open = vec![Open::new(TimedItem::Thread(thread))];
                threads.push(OfThread { open, stacks: Vec::new() });
                threads.len() - 1
            });
            let thread = &mut threads[at];
            self.change(thread, stack)?;
            if let Some(innermost) = thread.open.last_mut() {
                innermost.call.own = innermost.call.own.saturating_add(value);
                innermost.call.total = innermost.call.total.saturating_add(value);
                innermost.short = innermost.short.saturating_add(value);
            }
        }
        let mut all = vec![Open::new(TimedItem::All)];
        for mut thread in threads {
            self.change(&mut thread, StackId::EMPTY)?;
            all.append(&mut thread.open);
            self.close(&mut all);
        }
        Some(self.flat(all.pop()))
    }

    /// Ends the calls that are not in the stack any more, and begins those that are new.
    fn change(&mut self, thread: &mut OfThread, stack: StackId) -> Option<()> {
        let stacks = &self.profile.stacks;
        let (mut at, mut fresh) = (stack, Vec::new());
        let common = loop {
            let depth = self.depths[at.index()] as usize;
            if depth == 0 || thread.stacks.get(depth - 1) == Some(&at) {
                break depth;
            }
            fresh.push(at);
            at = stacks.parent(at);
        };
        fresh.reverse();
        let changed = fresh.len() + thread.stacks.len().saturating_sub(common);
        self.left = self.left.checked_sub(changed as u64)?;
        thread.stacks.truncate(common);
        let group = |stack: &StackId| {
            stacks
                .leaf(*stack)
                .map_or(TimedItem::Short, |frame| TimedItem::Function(self.groups.of_frame(frame)))
        };
        // A function that goes on in another line is the same call.
        let functions: Vec<TimedItem> = fresh.iter().map(group).collect();
        let goes_on = thread.open.iter().skip(common + 1).zip(&functions);
        let same = common + goes_on.take_while(|(open, what)| open.call.what == **what).count();
        while thread.open.len() > same + 1 {
            self.close(&mut thread.open);
        }
        thread.open.extend(functions.into_iter().skip(same - common).map(Open::new));
        thread.stacks.extend(fresh);
        Some(())
    }

    /// Ends the innermost call.
    fn close(&mut self, open: &mut Vec<Open>) {
        let Some(mut ended) = open.pop() else { return };
        let Some(caller) = open.last_mut() else { return };
        caller.call.total = caller.call.total.saturating_add(ended.call.total);
        if ended.call.total < self.least {
            caller.short = caller.short.saturating_add(ended.call.total);
            return;
        }
        if !ended.call.children.is_empty() {
            self.add_short(&mut ended);
        }
        self.add_short(caller);
        caller.call.children.push(self.done.len() as u32);
        self.done.push(ended.call);
    }

    /// Adds the cost since the last call that is shown, so that the next one has its true place.
    fn add_short(&mut self, open: &mut Open) {
        let total = std::mem::take(&mut open.short);
        if total >= self.least {
            open.call.children.push(self.done.len() as u32);
            let (what, children) = (TimedItem::Short, Vec::new());
            self.done.push(Done { what, total, own: total, children });
        }
    }

    fn flat(&self, all: Option<Open>) -> Vec<TimedCall> {
        let Some(Open { call: root, .. }) = all else { return Vec::new() };
        let mut calls = Vec::with_capacity(self.done.len() + 1);
        let mut open = vec![(0, &root)];
        while let Some((depth, Done { what, total, own, children })) = open.pop() {
            calls.push(TimedCall { depth, what: *what, total: *total, own: *own });
            let children = children.iter().rev().map(|child| &self.done[*child as usize]);
            open.extend(children.map(|child| (depth + 1, child)));
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::profile::FrameBy;
    use crate::model::names::Names;
    use crate::model::profile::{FrameKind, ProfileBuilder, ProfileFrame, ProfileSample};
    use proptest::prelude::*;

    /// A sample: functions with their lines, outermost first, and a time.
    type Sample = (Vec<(u8, u8)>, i64);

    fn profile(samples: &[Sample]) -> Profile {
        let mut builder = ProfileBuilder::new(true);
        let thread = builder.thread(1, None, Names::EMPTY);
        for (path, time) in samples {
            let mut stack = StackId::EMPTY;
            for (function, line) in path {
                let function = builder.name(format!("f{function}").as_bytes());
                let line = u32::from(*line);
                let kind = FrameKind::Code;
                let frame = ProfileFrame { function, file: Names::EMPTY, line, kind };
                let frame = builder.frame(frame);
                stack = builder.push(stack, frame);
            }
            let (time, memory) = (Some(*time), None);
            builder.sample(&ProfileSample { thread, stack, time, memory, idle: false, gc: false });
        }
        builder.finish()
    }

    /// A line: depth, function, total and own time. -1 is a caller by itself.
    type Line = (u32, i32, u64, u64);

    /// The lines of one call with its samples, found again and again from the whole stacks.
    fn naive(samples: &[Sample], depth: usize, what: i32) -> Vec<Line> {
        let sum = |samples: &[Sample]| samples.iter().map(|(_, time)| *time as u64).sum::<u64>();
        let at =
            |sample: &Sample| sample.0.get(depth).map_or(-1, |(function, _)| i32::from(*function));
        let runs: Vec<&[Sample]> = samples.chunk_by(|a, b| at(a) == at(b)).collect();
        let itself: Vec<Sample> =
            samples.iter().filter(|sample| at(sample) == -1).cloned().collect();
        let mut lines = vec![(depth as u32 + 1, what, sum(samples), sum(&itself))];
        if runs.iter().all(|run| at(&run[0]) == -1) {
            return lines;
        }
        for run in runs {
            match at(&run[0]) {
                -1 => lines.push((depth as u32 + 2, -1, sum(run), sum(run))),
                function => lines.extend(naive(run, depth + 1, function)),
            }
        }
        lines
    }

    proptest! {
        #[test]
        fn calls_are_runs_of_samples_with_one_path(
            samples in prop::collection::vec(
                (prop::collection::vec((0_u8..3, 0_u8..2), 0..5), 1_i64..9),
                1..30,
            ),
        ) {
            let profile = profile(&samples);
            let groups = Groups::of(&profile, FrameBy::Function);
            let metric = profile.default_metric();
            let found = in_time(&profile, &Selection::default(), &groups, &metric, usize::MAX);
            let line = |call: &TimedCall| {
                let what = match call.what {
                    TimedItem::Function(group) => groups.label(group).name[1..].parse().unwrap(),
                    TimedItem::Short => -1,
                    TimedItem::Thread(_) | TimedItem::All => 100,
                };
                (call.depth, what, call.total, call.own)
            };
            let found: Vec<Line> = found.iter().skip(1).map(line).collect();
            prop_assert_eq!(found, naive(&samples, 0, 100));
        }
    }
}
