//! The calls of each thread from left to right as they were recorded.

use super::Groups;
use crate::model::profile::{Metric, Profile, StackId, ThreadId, Values};
use crate::model::stacks::Selection;

/// A call that lasted over one or more samples in a row, or what contains such calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedCall {
    /// 0 is the whole recording, 1 a thread.
    pub depth: u32,
    /// What the line is.
    pub what: TimedItem,
    /// The sum of the call and all calls in it.
    pub total: u64,
    /// The part of the sum without further calls.
    pub own: u64,
}

/// What a [`TimedCall`] is.
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

/// A part of the whole is shown if it is at least one of so many.
const SHOWN: u64 = 2000;

/// Returns the calls in the order of time, depth first; at most about `most`. Empty if the profile has
/// no single samples.
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
    loop {
        let mut lines = Lines { least, done: Vec::new() };
        let calls = lines.of(profile, groups, each());
        if calls.len() <= most || least > whole {
            return calls;
        }
        least = least.saturating_mul(2);
    }
}

/// A call that has ended.
struct Done {
    what: TimedItem,
    total: u64,
    own: u64,
    children: Vec<u32>,
}

/// A call that goes on.
struct Open {
    call: Done,
    /// What came since the last call that is shown.
    short: u64,
}

impl Open {
    fn new(what: TimedItem) -> Self {
        Self { call: Done { what, total: 0, own: 0, children: Vec::new() }, short: 0 }
    }
}

/// The open calls of a thread, outermost first, with its last stack.
struct OfThread {
    last: StackId,
    open: Vec<Open>,
}

struct Lines {
    least: u64,
    done: Vec<Done>,
}

impl Lines {
    fn of(
        &mut self,
        profile: &Profile,
        groups: &Groups,
        samples: impl Iterator<Item = (ThreadId, StackId, u64)>,
    ) -> Vec<TimedCall> {
        let mut threads: Vec<OfThread> = Vec::new();
        let mut place = vec![None; profile.threads.len()];
        let mut path = Vec::new();
        for (thread, stack, value) in samples {
            let at = *place[thread.index()].get_or_insert_with(|| {
                let open = vec![Open::new(TimedItem::Thread(thread))];
                threads.push(OfThread { last: StackId::EMPTY, open });
                threads.len() - 1
            });
            let of = &mut threads[at];
            if of.last != stack {
                path.clear();
                path.extend(profile.stacks.frames(stack).map(|frame| groups.of_frame(frame)));
                path.reverse();
                self.change(&mut of.open, &path);
                of.last = stack;
            }
            if let Some(innermost) = of.open.last_mut() {
                innermost.call.own = innermost.call.own.saturating_add(value);
                innermost.call.total = innermost.call.total.saturating_add(value);
                innermost.short = innermost.short.saturating_add(value);
            }
        }
        let mut all = vec![Open::new(TimedItem::All)];
        for mut of in threads {
            self.change(&mut of.open, &[]);
            all.append(&mut of.open);
            self.close(&mut all);
        }
        self.flat(all.pop())
    }

    /// Ends the calls that are not on the path any more, and begins those that are new.
    fn change(&mut self, open: &mut Vec<Open>, path: &[u32]) {
        let functions = open.iter().skip(1).zip(path);
        let same = functions
            .take_while(|(open, group)| open.call.what == TimedItem::Function(**group))
            .count();
        while open.len() > same + 1 {
            self.close(open);
        }
        open.extend(path[same..].iter().map(|group| Open::new(TimedItem::Function(*group))));
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

    /// Adds what came since the last call that is shown, so that the next one stands where it began.
    fn add_short(&mut self, of: &mut Open) {
        let total = std::mem::take(&mut of.short);
        if total >= self.least {
            of.call.children.push(self.done.len() as u32);
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
