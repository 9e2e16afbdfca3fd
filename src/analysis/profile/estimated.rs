//! Estimated stacks for profiles that have calls instead.

use super::call_totals::CallTotals;
use super::{FrameBy, Groups, Selected};
use crate::model::names::Names;
use crate::model::profile::{
    CallGraph, FrameId, FrameKind, Metric, Profile, ProfileBuilder, ProfileFrame, ProfileThread,
    StackId, ThreadId, Values,
};
use crate::model::stacks::Selection;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum number of calls to follow, the most expensive ones first.
const MOST_CALLS: usize = 100_000;

/// The maximum number of sums of the estimate for each sum of the profile, and in any case.
const MOST_SUMS: (usize, usize) = (16, 1 << 19);

/// The maximum number of functions in a stack.
const DEEPEST: usize = 500;

/// Calls with a smaller part of the whole are not followed.
const LEAST: f64 = 1e-6;

/// Splits the costs of each function among its callers, in proportion to what the calls cost in the
/// main metric, as gprof does. Own costs stay exact; the stacks are a guess. A function that is
/// called again inside itself is not followed there. What is not followed is in stacks that begin
/// with `[callers not followed]`.
///
/// Returns the profile with stacks, and without [calls](Profile::calls).
pub fn estimate_stacks(profile: &Profile) -> Profile {
    let Some(graph) = &profile.calls else { return profile.clone() };
    let groups = Groups::of(profile, FrameBy::Function);
    let mut builder = ProfileBuilder::new(false);
    builder.set_value_types(profile.value_types.clone(), profile.default_value);
    for metadatum in &profile.metadata {
        builder.metadata(metadatum.key.as_bytes(), metadatum.value.as_bytes());
    }
    builder.metadata(b"stacks", b"estimated from a call graph");
    let threads = profile.threads.iter().map(|thread| {
        let name = builder.name(profile.names.text(thread.name).as_bytes());
        builder.labelled_thread(ProfileThread { name, ..*thread })
    });
    let threads = threads.collect();
    let functions = functions(profile, graph, &groups);
    let mut estimate = Estimate { builder, profile, threads, functions, frames: Vec::new() };
    estimate.name_functions(&groups);
    estimate.follow();
    estimate.give_rest();
    let mut estimated = estimate.builder.finish();
    estimated.notes = profile.notes;
    estimated
}

struct Estimate<'a> {
    builder: ProfileBuilder,
    profile: &'a Profile,
    /// The thread of the result for each thread of the profile.
    threads: Vec<ThreadId>,
    functions: Vec<Function>,
    /// The frame of each function, without a line.
    frames: Vec<ProfileFrame>,
}

/// A function with its callers.
struct Context {
    function: usize,
    /// The context of the caller. The outermost context is its own caller.
    caller: usize,
    depth: usize,
    /// The stack of the caller.
    below: StackId,
    /// The share of the function's total cost in this context.
    part: f64,
}

/// The costs of a function.
#[derive(Default)]
struct Function {
    own: Vec<Own>,
    /// Callees with the costs of the calls, the most expensive first.
    calls: Vec<(usize, f64)>,
    /// The total cost of its calls by others, and the rest of its cost, which has no call.
    called: f64,
    outermost: f64,
    /// The sum of the shares given to contexts, and the stack below the last of these.
    given: f64,
    last: Option<StackId>,
}

/// The own costs of a line, and the part of them that has been given to contexts.
struct Own {
    thread: ThreadId,
    line: FrameId,
    values: Values,
    given: Values,
}

fn functions(profile: &Profile, graph: &CallGraph, groups: &Groups) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    functions.resize_with(groups.labels().len(), Function::default);
    for row in profile.aggregate.iter() {
        if let Some(line) = profile.stacks.leaf(row.stack) {
            let (thread, values, given) = (row.thread, row.values, Values::default());
            let own = &mut functions[groups.of_frame(line) as usize].own;
            own.push(Own { thread, line, values, given });
        }
    }
    let metric = profile.default_metric();
    for ((caller, callee), cost) in costs_of_calls(graph, groups, &metric) {
        functions[caller].calls.push((callee, cost));
        functions[callee].called += cost;
    }
    let selected = Selected::of(profile, &Selection::default());
    let totals = CallTotals::of(&selected, groups, FrameBy::Function).totals;
    for (function, total) in functions.iter_mut().zip(totals) {
        function.calls.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let total = total.get(&metric).max(0) as f64;
        function.outermost = (total - function.called).max(0.0);
    }
    functions
}

/// The costs of the calls between different functions.
fn costs_of_calls(
    graph: &CallGraph,
    groups: &Groups,
    metric: &Metric,
) -> FxHashMap<(usize, usize), f64> {
    let mut costs: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for call in graph.calls() {
        let (caller, callee) = (groups.of_frame(call.caller), groups.of_frame(call.callee));
        let cost = call.values.get(metric).max(0) as f64;
        if caller != callee && cost > 0.0 {
            *costs.entry((caller as usize, callee as usize)).or_default() += cost;
        }
    }
    costs
}

impl Estimate<'_> {
    fn name_functions(&mut self, groups: &Groups) {
        let unknown = ProfileFrame {
            function: Names::EMPTY,
            file: Names::EMPTY,
            line: 0,
            kind: FrameKind::Native,
        };
        self.frames = vec![unknown; groups.labels().len()];
        for frame in (0..self.profile.frames.len() as u32).map(FrameId) {
            let of_frame = self.profile.function_of(frame);
            let [function, file] = [of_frame.function, of_frame.file]
                .map(|name| self.builder.name(self.profile.names.text(name).as_bytes()));
            let group = groups.of_frame(frame) as usize;
            self.frames[group] = ProfileFrame { function, file, line: 0, kind: of_frame.kind };
        }
    }

    /// Follows the most expensive calls from the functions that nothing calls.
    fn follow(&mut self) {
        let mut contexts: Vec<Context> = Vec::new();
        let mut open = BinaryHeap::new();
        for (number, function) in self.functions.iter().enumerate() {
            if function.outermost > 0.0 && contexts.len() < MOST_CALLS {
                let caller = contexts.len();
                let part = function.outermost / (function.outermost + function.called);
                open.push((function.outermost as u64, Reverse(caller)));
                contexts.push(Context {
                    function: number,
                    caller,
                    depth: 1,
                    below: StackId::EMPTY,
                    part,
                });
            }
        }
        let least = LEAST * self.functions.iter().map(|function| function.outermost).sum::<f64>();
        let mut sums = self.profile.aggregate.len().saturating_mul(MOST_SUMS.0).max(MOST_SUMS.1);
        while let Some((_, Reverse(at))) = open.pop() {
            let Context { function, depth, below, part, .. } = contexts[at];
            let Some(rest) = sums.checked_sub(self.functions[function].own.len()) else { continue };
            sums = rest;
            self.give(function, below, part);
            if depth == DEEPEST {
                continue;
            }
            let inside = callers(&contexts, at);
            let frame = self.builder.frame(self.frames[function]);
            let below = self.builder.push(below, frame);
            for &(callee, cost) in &self.functions[function].calls {
                let cost = cost * part;
                if cost < least || contexts.len() >= MOST_CALLS {
                    break;
                }
                if inside.contains(&callee) {
                    continue;
                }
                let costs = &self.functions[callee];
                let part = cost / (costs.outermost + costs.called);
                open.push((cost as u64, Reverse(contexts.len())));
                contexts.push(Context {
                    function: callee,
                    caller: at,
                    depth: depth + 1,
                    below,
                    part,
                });
            }
        }
    }

    /// Gives a part of the own costs of a function to a stack. The parts given add up without
    /// rounding errors.
    fn give(&mut self, number: usize, below: StackId, part: f64) {
        let mut own = std::mem::take(&mut self.functions[number].own);
        let function = &mut self.functions[number];
        function.given = (function.given + part).min(1.0);
        function.last = Some(below);
        let until = function.given;
        for own in &mut own {
            let values = part_of(own, |whole| (whole as f64 * until) as i64);
            own.given.add(&values);
            self.add(number, below, own, &values);
        }
        self.functions[number].own = own;
    }

    /// Gives the remaining costs: to the last stack of a function if the rest is a rounding error,
    /// otherwise to a stack of its own.
    fn give_rest(&mut self) {
        let function = self.builder.name(b"[callers not followed]");
        let (file, kind) = (Names::EMPTY, FrameKind::Native);
        let frame = ProfileFrame { function, file, line: 0, kind };
        for number in 0..self.functions.len() {
            let function = &mut self.functions[number];
            let own = std::mem::take(&mut function.own);
            let last = function.last.filter(|_| function.given > 1.0 - 1e-6);
            for own in &own {
                let values = part_of(own, |whole| whole);
                if !values.is_zero() {
                    let below = last.unwrap_or_else(|| {
                        let frame = self.builder.frame(frame);
                        self.builder.push(StackId::EMPTY, frame)
                    });
                    self.add(number, below, own, &values);
                }
            }
        }
    }

    fn add(&mut self, function: usize, below: StackId, own: &Own, values: &Values) {
        if values.is_zero() {
            return;
        }
        let (line, entry) = (self.profile.frame(own.line), self.profile.function_of(own.line));
        // A line of code that was inlined from another file is not one of the function's.
        let line = if line.file == entry.file { line.line } else { 0 };
        let frame = self.builder.frame(ProfileFrame { line, ..self.frames[function] });
        let stack = self.builder.push(below, frame);
        self.builder.add(self.threads[own.thread.index()], stack, values);
    }
}

/// The functions of a context and its callers.
fn callers(contexts: &[Context], at: usize) -> FxHashSet<usize> {
    let mut functions = FxHashSet::default();
    let mut at = at;
    while functions.insert(contexts[at].function) && contexts[at].caller != at {
        at = contexts[at].caller;
    }
    functions
}

/// The part of the costs of a line up to `until`, less the part that was given before.
fn part_of(own: &Own, until: impl Fn(i64) -> i64) -> Values {
    let numbers = own.values.numbers().zip(own.given.numbers().chain(std::iter::repeat(0)));
    let numbers: Vec<i64> =
        numbers.map(|(whole, given)| until(whole).saturating_sub(given)).collect();
    Values::of_numbers(&numbers)
}
