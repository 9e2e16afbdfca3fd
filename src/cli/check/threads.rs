//! The numbers of threads and goroutines, by equal stacks.

use super::measure::{Measure, SHOWN};
use super::rules::Threads;
use crate::analysis::profile::{GroupLabel, Groups, Selected};
use crate::analysis::threads::{by_stack, frames, program_calls, program_functions};
use crate::model::heap::{Heap, StackFrame, Thread, ThreadKind};
use crate::model::profile::{LabelsId, Metric, ProfileThread, StackId};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn of_heap(wanted: &Threads, heap: &Heap<'_>) -> Measure {
    let has_function = |thread: &Thread| {
        let Some(pattern) = &wanted.function else { return true };
        frames(heap, thread).iter().any(|StackFrame { function, file, .. }| {
            let [name, namespace] = [function, file].map(|name| heap.names.text(*name).into());
            pattern.matches(&GroupLabel { name, namespace, line: None })
        })
    };
    let is_meant = |thread: &Thread| {
        (!wanted.goroutines || thread.kind == ThreadKind::Goroutine) && has_function(thread)
    };
    let mut stacks = BTreeMap::<u32, (&Thread, u64)>::new();
    let threads = heap.threads.iter().zip(by_stack(heap)).filter(|(thread, _)| is_meant(thread));
    for (thread, stack) in threads {
        stacks.entry(stack).or_insert((thread, 0)).1 += 1;
    }
    measure(stacks.into_values().collect(), |thread| program_functions(heap, thread))
}

/// Counts goroutines or created threads if the profile has such a metric, and otherwise threads
/// with samples.
pub(super) fn of_profile(wanted: &Threads, selected: &Selected<'_>, groups: &Groups) -> Measure {
    let profile = selected.profile;
    let metric = profile.metric(if wanted.goroutines { "goroutine" } else { "threadcreate" });
    let inside = inside(wanted, selected, groups);
    match metric {
        Some(metric) => counted(&metric, &inside, selected),
        None if wanted.goroutines => measure(Vec::new(), |_: StackId| Vec::new()),
        None => {
            let rows = selected.rows().filter(|row| inside[row.stack.index()]);
            let threads = rows.map(|row| *profile.thread(row.thread));
            let threads = threads.filter(|thread| !thread.is_unknown());
            // Samples of one thread may have several labels.
            let threads =
                threads.map(|thread| ProfileThread { labels: LabelsId::default(), ..thread });
            let threads = threads.collect::<FxHashSet<_>>().len();
            Measure { value: Ok(threads as u64), matching: threads, parts: Vec::new() }
        }
    }
}

/// Whether each stack contains the wanted function.
fn inside(wanted: &Threads, selected: &Selected<'_>, groups: &Groups) -> Vec<bool> {
    let stacks = &selected.profile.stacks;
    let Some(pattern) = &wanted.function else { return vec![true; stacks.len()] };
    let is_wanted: Vec<bool> = groups.labels().iter().map(|label| pattern.matches(label)).collect();
    let mut inside = vec![false; stacks.len()];
    for stack in stacks.ids() {
        let leaf = stacks.leaf(stack);
        inside[stack.index()] = inside[stacks.parent(stack).index()]
            || leaf.is_some_and(|frame| is_wanted[groups.of_frame(frame) as usize]);
    }
    inside
}

/// The sums of a metric that counts threads.
fn counted(metric: &Metric, inside: &[bool], selected: &Selected<'_>) -> Measure {
    let profile = selected.profile;
    let mut stacks = BTreeMap::<StackId, u64>::new();
    for row in selected.rows().filter(|row| inside[row.stack.index()]) {
        let threads = stacks.entry(row.stack).or_default();
        *threads = u64::saturating_add(*threads, row.values.get(metric).max(0).unsigned_abs());
    }
    measure(stacks.into_iter().collect(), |stack| {
        let names =
            |frame| (profile.function_name(frame), profile.names.text(profile.frame(frame).file));
        program_calls(&profile.stacks.frames(stack).map(names).collect::<Vec<_>>())
    })
}

/// Adds up stacks. The stacks that messages show are named after functions of the program.
fn measure<'n, S: Copy>(
    mut stacks: Vec<(S, u64)>,
    functions: impl Fn(S) -> Vec<(&'n str, u32)>,
) -> Measure {
    stacks.sort_by_key(|(_, threads)| Reverse(*threads));
    let name = |(row, (stack, threads)): (usize, &(S, u64))| {
        let functions = if row < SHOWN { functions(*stack) } else { Vec::new() };
        let names: Vec<_> = functions.into_iter().map(|(name, _)| name).collect();
        let text = if names.is_empty() { "no frames".to_owned() } else { names.join(" ← ") };
        (text, *threads)
    };
    Measure {
        value: Ok(stacks.iter().fold(0, |sum, (_, threads)| sum.saturating_add(*threads))),
        matching: stacks.len(),
        parts: stacks.iter().enumerate().map(name).collect(),
    }
}
