//! The format of callgrind: functions with their own costs by line, and calls with their inclusive
//! costs, for KCachegrind, QCachegrind and `callgrind_annotate`.
//!
//! Each value is an event. The number of calls is not known, so it is 0, as in `go tool pprof
//! -callgrind`. In indirect recursion, a call that occurs in a stack several times counts once.
//! Direct recursion produces no calls, so that the own costs of a function and those of its calls
//! add up to its total cost. They add up to more for functions that call each other in a circle, as
//! in callgrind's own files.
//!
//! A profile that has calls instead of stacks is written with its own calls, counts and costs.

use super::loss::LossKind;
use super::written::{Written, empty_entries};
use crate::model::distinct::Distinct;
use crate::model::names::{NameId, Names};
use crate::model::profile::{CallGraph, FrameId, Metric, StackId, add_all, display_name};
use crate::model::stacks::WeightedStacks;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes all values. A profile without stacks has calls, and a metric for each value. Fails when
/// the output cannot be written.
pub fn write(
    stacks: &WeightedStacks,
    calls: Option<(&CallGraph, &[Metric])>,
    out: &mut impl Write,
) -> io::Result<Written> {
    let mut written = Written::new(stacks);
    let graph = Graph::of(stacks, calls, &mut written);
    write!(
        out,
        "# callgrind format\nversion: 1\ncreator: dumptool\ncmd: {}\n",
        line(&stacks.title)
    )?;
    let events: Vec<String> =
        stacks.values.iter().map(|value| event(&value.name, value.unit.name())).collect();
    writeln!(out, "positions: line\nevents: {}", events.join(" "))?;
    write!(out, "summary:")?;
    write_costs(&graph.totals, out)?;
    let mut names = WrittenNames::default();
    for (function, costs) in graph.functions.iter().enumerate() {
        if costs.own.is_empty() && costs.calls.is_empty() {
            continue;
        }
        names.place(&graph, function, "fl", "fn", out)?;
        let mut here = graph.names[function].1.as_str();
        for ((file, line), own) in &costs.own {
            names.inlined(&mut here, stacks.text(*file), out)?;
            write!(out, "{line}")?;
            write_costs(own, out)?;
        }
        for ((file, line, callee), call) in &costs.calls {
            names.inlined(&mut here, stacks.text(*file), out)?;
            names.place(&graph, *callee, "cfi", "cfn", out)?;
            write!(out, "calls={} {}\n{line}", call.count, call.target)?;
            write_costs(&call.costs, out)?;
        }
    }
    write!(out, "\ntotals:")?;
    write_costs(&graph.totals, out)?;
    Ok(written)
}

/// The name of an event: one word, with its unit.
fn event(name: &str, unit: &str) -> String {
    let word = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    match unit {
        unit if unit == "count" || name.ends_with(unit) => word(name),
        unit => format!("{}_{}", word(name), word(unit)),
    }
}

/// A text without line ends.
fn line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

fn write_costs(costs: &[i64], out: &mut impl Write) -> io::Result<()> {
    costs.iter().try_for_each(|cost| write!(out, " {cost}"))?;
    writeln!(out)
}

#[derive(Default)]
struct Costs {
    /// By file and line.
    own: BTreeMap<(NameId, u32), Vec<i64>>,
    /// By file, line and called function.
    calls: BTreeMap<(NameId, u32, usize), Called>,
}

struct Called {
    /// 0 if the number of calls is not known.
    count: u64,
    /// The line of the called function.
    target: u32,
    costs: Vec<i64>,
}

struct Graph {
    /// The name and the file of each function.
    names: Vec<(String, String)>,
    functions: Vec<Costs>,
    totals: Vec<i64>,
}

impl Graph {
    fn of(
        stacks: &WeightedStacks,
        calls: Option<(&CallGraph, &[Metric])>,
        written: &mut Written,
    ) -> Self {
        let (names, function_of) = functions(stacks, calls.map(|(calls, _)| calls));
        let totals = vec![0; stacks.values.len()];
        let mut graph =
            Self { functions: names.iter().map(|_| Costs::default()).collect(), names, totals };
        let mut under = vec![0i64; stacks.stacks.len() * stacks.values.len()];
        let mut negative = 0;
        for entry in stacks.iter() {
            // In Xdebug's file, negative values are memory that calls freed.
            if calls.is_none() && entry.values.iter().any(|value| *value < 0) {
                negative += 1;
                continue;
            }
            written.stacks += 1;
            written.add(entry.values);
            add_all(&mut graph.totals, entry.values);
            let leaf = stacks.stacks.leaf(entry.stack);
            let function = leaf.map_or(graph.names.len() - 1, |leaf| function_of[leaf.index()]);
            let frame = leaf.map(|leaf| stacks.frame(leaf));
            let place = frame.map_or((Names::EMPTY, 0), |frame| (frame.file, frame.line));
            let own = graph.functions[function].own.entry(place);
            add_all(own.or_insert_with(|| vec![0; entry.values.len()]), entry.values);
            add_all(row(&mut under, entry.stack, entry.values.len()), entry.values);
        }
        match calls {
            Some((calls, metrics)) => graph.exact_calls(stacks, &function_of, calls, metrics),
            None => graph.calls(stacks, &function_of, under),
        }
        written.lose(LossKind::NegativeStacks, negative);
        written.lose(LossKind::EmptyStacks, empty_entries(stacks));
        graph
    }

    /// Adds the calls of a profile that has no stacks.
    fn exact_calls(
        &mut self,
        stacks: &WeightedStacks,
        function_of: &[usize],
        calls: &CallGraph,
        metrics: &[Metric],
    ) {
        for call in calls.calls() {
            let caller = stacks.frame(call.caller);
            let costs: Vec<i64> = metrics.iter().map(|metric| call.values.get(metric)).collect();
            let key = (caller.file, caller.line, function_of[call.callee.index()]);
            let known = &mut self.functions[function_of[call.caller.index()]].calls;
            let known = known.entry(key).or_insert_with(|| Called::new(0, metrics.len()));
            known.count = known.count.saturating_add(call.count);
            add_all(&mut known.costs, &costs);
        }
    }

    /// Adds the calls of all stacks. Callers precede callees, so a backward pass knows the total of
    /// each call.
    fn calls(&mut self, stacks: &WeightedStacks, function_of: &[usize], mut under: Vec<i64>) {
        let width = stacks.values.len();
        let ids: Vec<StackId> = stacks.stacks.ids().collect();
        for &stack in ids.iter().rev() {
            let costs = row(&mut under, stack, width).to_vec();
            let parent = stacks.stacks.parent(stack);
            let (Some(leaf), Some(caller)) =
                (stacks.stacks.leaf(stack), stacks.stacks.leaf(parent))
            else {
                continue;
            };
            add_all(row(&mut under, parent, width), &costs);
            let call = (caller, function_of[leaf.index()]);
            if function_of[caller.index()] == call.1
                || repeats(stacks, function_of, parent, call)
                || costs.iter().all(|cost| *cost == 0)
            {
                continue;
            }
            let (from, to) = (stacks.frame(caller), stacks.frame(leaf).line);
            let calls = &mut self.functions[function_of[caller.index()]].calls;
            let known = calls.entry((from.file, from.line, call.1));
            add_all(&mut known.or_insert_with(|| Called::new(to, width)).costs, &costs);
        }
    }
}

impl Called {
    fn new(target: u32, width: usize) -> Self {
        Self { count: 0, target, costs: vec![0; width] }
    }
}

/// Whether the same call occurs further out in its stack.
fn repeats(
    stacks: &WeightedStacks,
    function_of: &[usize],
    caller: StackId,
    (from, to): (FrameId, usize),
) -> bool {
    let frames = stacks.stacks.frames(caller);
    let callers = stacks.stacks.frames(caller).skip(1);
    frames.zip(callers).any(|(callee, caller)| caller == from && function_of[callee.index()] == to)
}

/// The names of functions, the last one for stacks without any, and the function of each frame.
/// Frames of inlined code are in other files than the functions of a call graph that they are in.
fn functions(
    stacks: &WeightedStacks,
    calls: Option<&CallGraph>,
) -> (Vec<(String, String)>, Vec<usize>) {
    let mut known = Distinct::default();
    let function = |number: usize| {
        let frame = FrameId(number as u32);
        let frame = stacks.frame(calls.map_or(frame, |calls| calls.function(frame)));
        known.number((frame.function, frame.file, frame.kind)) as usize
    };
    let function_of = (0..stacks.frames.len()).map(function).collect();
    let name = |(function, file, kind)| {
        (line(display_name(kind, stacks.text(function))), line(stacks.text(file)))
    };
    let mut names: Vec<_> = known.all.into_iter().map(name).collect();
    names.push(("<no frames>".to_owned(), String::new()));
    (names, function_of)
}

fn row(table: &mut [i64], stack: StackId, width: usize) -> &mut [i64] {
    &mut table[stack.index() * width..][..width]
}

/// Names that have been written: from then on, their numbers are enough.
#[derive(Default)]
struct WrittenNames {
    functions: FxHashSet<usize>,
    files: FxHashMap<String, usize>,
}

impl WrittenNames {
    /// Writes the file and the function of what follows.
    fn place(
        &mut self,
        graph: &Graph,
        function: usize,
        file_key: &str,
        key: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (name, file) = &graph.names[function];
        if key == "fn" {
            writeln!(out)?;
        }
        self.file(file_key, file, out)?;
        if self.functions.insert(function) {
            writeln!(out, "{key}=({}) {name}", function + 1)
        } else {
            writeln!(out, "{key}=({})", function + 1)
        }
    }

    /// Writes the file of code that was inlined, if it is not the one here.
    fn inlined<'g>(
        &mut self,
        here: &mut &'g str,
        file: &'g str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if std::mem::replace(here, file) == file { Ok(()) } else { self.file("fi", file, out) }
    }

    fn file(&mut self, key: &str, file: &str, out: &mut impl Write) -> io::Result<()> {
        let file = line(file);
        let next = self.files.len() + 1;
        if let Some(number) = self.files.get(&file) {
            return writeln!(out, "{key}=({number})");
        }
        writeln!(out, "{key}=({next}) {}", if file.is_empty() { "???" } else { &file })?;
        self.files.insert(file, next);
        Ok(())
    }
}
