//! The format of callgrind: functions with their own costs by line, and calls with the costs of
//! what they called, for KCachegrind, QCachegrind and `callgrind_annotate`.
//!
//! Each value is an event. The number of calls is not known, so it is 0, as in `go tool pprof
//! -callgrind`. Where functions call themselves by others, a call that stands in a stack several
//! times counts once. Functions that call themselves directly have no such calls, so that their
//! own costs and those of their calls add up to what they cost in all.

use super::loss::LossKind;
use super::written::{Written, empty_entries};
use crate::model::profile::{FrameId, StackId, display_name};
use crate::model::stacks::WeightedStacks;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes all values.
///
/// # Errors
/// When the output cannot be written.
pub fn write(stacks: &WeightedStacks, out: &mut impl Write) -> io::Result<Written> {
    let mut written = Written::new(stacks);
    let graph = Graph::of(stacks, &mut written);
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
    let mut names = Names::default();
    for (function, costs) in graph.functions.iter().enumerate() {
        if costs.own.is_empty() && costs.calls.is_empty() {
            continue;
        }
        names.place(&graph, function, "fl", "fn", out)?;
        for (line, own) in &costs.own {
            write!(out, "{line}")?;
            write_costs(own, out)?;
        }
        for ((line, callee), (target, inclusive)) in &costs.calls {
            names.place(&graph, *callee, "cfi", "cfn", out)?;
            write!(out, "calls=0 {target}\n{line}")?;
            write_costs(inclusive, out)?;
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

/// A text without ends of lines.
fn line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

fn write_costs(costs: &[i64], out: &mut impl Write) -> io::Result<()> {
    costs.iter().try_for_each(|cost| write!(out, " {cost}"))?;
    writeln!(out)
}

/// The costs of a function.
#[derive(Default)]
struct Costs {
    /// By line.
    own: BTreeMap<u32, Vec<i64>>,
    /// By line and called function: the line of that function, and its costs.
    calls: BTreeMap<(u32, usize), (u32, Vec<i64>)>,
}

/// Functions and calls.
struct Graph {
    /// The name and the file of each function.
    names: Vec<(String, String)>,
    functions: Vec<Costs>,
    totals: Vec<i64>,
}

impl Graph {
    fn of(stacks: &WeightedStacks, written: &mut Written) -> Self {
        let (names, function_of) = functions(stacks);
        let totals = vec![0; stacks.values.len()];
        let mut graph =
            Self { functions: names.iter().map(|_| Costs::default()).collect(), names, totals };
        let mut under = vec![0i64; stacks.stacks.len() * stacks.values.len()];
        let mut negative = 0;
        for entry in stacks.iter() {
            if entry.values.iter().any(|value| *value < 0) {
                negative += 1;
                continue;
            }
            written.stacks += 1;
            written.add(entry.values);
            add(&mut graph.totals, entry.values);
            let leaf = stacks.stacks.leaf(entry.stack);
            let function = leaf.map_or(graph.names.len() - 1, |leaf| function_of[leaf.index()]);
            let line = leaf.map_or(0, |leaf| stacks.frame(leaf).line);
            let own = graph.functions[function].own.entry(line);
            add(own.or_insert_with(|| vec![0; entry.values.len()]), entry.values);
            add(row(&mut under, entry.stack, entry.values.len()), entry.values);
        }
        graph.calls(stacks, &function_of, under);
        written.lose(LossKind::NegativeStacks, negative);
        written.lose(LossKind::EmptyStacks, empty_entries(stacks));
        graph
    }

    /// Adds the calls of all stacks. Callers come before callees, so backwards all of what was
    /// called is known.
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
            add(row(&mut under, parent, width), &costs);
            let call = (caller, function_of[leaf.index()]);
            if function_of[caller.index()] == call.1
                || repeats(stacks, function_of, parent, call)
                || costs.iter().all(|cost| *cost == 0)
            {
                continue;
            }
            let (from, to) = (stacks.frame(caller).line, stacks.frame(leaf).line);
            let calls = &mut self.functions[function_of[caller.index()]].calls;
            let known = calls.entry((from, call.1)).or_insert_with(|| (to, vec![0; width]));
            add(&mut known.1, &costs);
        }
    }
}

/// Whether a call stands further out in its own stack, too.
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
fn functions(stacks: &WeightedStacks) -> (Vec<(String, String)>, Vec<usize>) {
    let mut names = Vec::new();
    let mut known = FxHashMap::default();
    let function = |frame: &crate::model::profile::ProfileFrame| {
        *known.entry((frame.function, frame.file, frame.kind)).or_insert_with(|| {
            let name = display_name(frame.kind, stacks.text(frame.function));
            names.push((line(name), line(stacks.text(frame.file))));
            names.len() - 1
        })
    };
    let function_of = stacks.frames.iter().map(function).collect();
    names.push(("<no frames>".to_owned(), String::new()));
    (names, function_of)
}

fn row(table: &mut [i64], stack: StackId, width: usize) -> &mut [i64] {
    &mut table[stack.index() * width..][..width]
}

fn add(sums: &mut [i64], values: &[i64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
}

/// Names that were written: from then on, their numbers are enough.
#[derive(Default)]
struct Names {
    functions: FxHashSet<usize>,
    files: FxHashMap<String, usize>,
}

impl Names {
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
        let next = self.files.len() + 1;
        match self.files.get(file) {
            Some(number) => writeln!(out, "{file_key}=({number})")?,
            None => {
                self.files.insert(file.clone(), next);
                let shown = if file.is_empty() { "???" } else { file };
                writeln!(out, "{file_key}=({next}) {shown}")?;
            }
        }
        match self.functions.insert(function) {
            true => writeln!(out, "{key}=({}) {name}", function + 1),
            false => writeln!(out, "{key}=({})", function + 1),
        }
    }
}
