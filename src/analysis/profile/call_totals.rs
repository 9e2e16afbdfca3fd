//! The total costs of functions, of profiles with calls instead of stacks.

use super::{FrameBy, Groups, Selected};
use crate::analysis::buckets::Buckets;
use crate::model::profile::{Call, CallGraph, FrameId, Values};

/// The total of each group of frames.
#[derive(Clone, Debug, Default)]
pub(super) struct CallTotals {
    pub(super) totals: Vec<Values>,
    /// The groups whose total is an upper bound: they call each other in circles, so that one call
    /// may be part of another.
    pub(super) is_bound: Vec<bool>,
}

impl CallTotals {
    /// Returns the totals that the file states, and computed ones for all other groups.
    pub(super) fn of(selected: &Selected<'_>, groups: &Groups, by: FrameBy) -> Self {
        let Some(graph) = &selected.profile.calls else { return Self::default() };
        let mut all = Self::computed(selected, graph, groups, by);
        // Functions that are in one group may call each other.
        let mut functions = vec![0_u32; all.totals.len()];
        let of_group = |frame: &FrameId| groups.of_frame(*frame) as usize;
        graph.totals().for_each(|(frame, _)| functions[of_group(frame)] += 1);
        for (frame, total) in graph.totals() {
            let group = of_group(frame);
            if functions[group] == 1 {
                all.totals[group] = total.clone();
                all.is_bound[group] = false;
            }
        }
        all
    }

    /// Computes totals: a function's own cost and that of its calls. Exact if it calls only itself
    /// again, because costs of such calls are left out. In a larger circle, none costs more than
    /// all of them together: their own costs, and those of the calls that leave the circle.
    fn computed(selected: &Selected<'_>, graph: &CallGraph, groups: &Groups, by: FrameBy) -> Self {
        let own = own(selected, groups);
        if by == FrameBy::Line {
            return Self::of_lines(selected, graph, groups, own);
        }
        let mut totals = own.clone();
        let calls = Edges::of(selected, graph, groups);
        for (call, edge) in &calls.edges {
            totals[edge.0 as usize].add(&call.values);
        }
        let circle_of = circles(own.len(), &calls);
        let mut members = vec![0u32; own.len()];
        circle_of.iter().for_each(|circle| members[*circle as usize] += 1);
        let is_bound: Vec<bool> =
            circle_of.iter().map(|circle| members[*circle as usize] > 1).collect();
        if is_bound.contains(&true) {
            let mut together = vec![Values::default(); own.len()];
            for (group, own) in own.iter().enumerate() {
                together[circle_of[group] as usize].add(own);
            }
            for (call, (caller, callee)) in &calls.edges {
                let [from, to] = [caller, callee].map(|group| circle_of[*group as usize]);
                if from != to {
                    together[from as usize].add(&call.values);
                }
            }
            for group in (0..own.len()).filter(|group| is_bound[*group]) {
                totals[group] = smaller(&totals[group], &together[circle_of[group] as usize]);
            }
        }
        Self { totals, is_bound }
    }

    /// Computes the total of each line: its own cost and that of its calls, at most its function's.
    fn of_lines(
        selected: &Selected<'_>,
        graph: &CallGraph,
        groups: &Groups,
        own: Vec<Values>,
    ) -> Self {
        let functions = Groups::of(selected.profile, FrameBy::Function);
        let of_functions = Self::of(selected, &functions, FrameBy::Function);
        let mut totals = own;
        let mut is_bound = vec![false; totals.len()];
        for call in selected.calls(graph) {
            let line = groups.of_frame(call.caller) as usize;
            let function = functions.of_frame(call.caller);
            totals[line].add(&call.values);
            let is_recursive = function == functions.of_frame(call.callee);
            if is_recursive || of_functions.is_bound[function as usize] {
                is_bound[line] = true;
                totals[line] = smaller(&totals[line], &of_functions.totals[function as usize]);
            }
        }
        Self { totals, is_bound }
    }
}

fn own(selected: &Selected<'_>, groups: &Groups) -> Vec<Values> {
    let mut own = vec![Values::default(); groups.labels().len()];
    for row in selected.rows() {
        if let Some(frame) = selected.profile.stacks.leaf(row.stack) {
            own[groups.of_frame(frame) as usize].add(&row.values);
        }
    }
    own
}

/// The smaller of the numbers at each place.
fn smaller(one: &Values, other: &Values) -> Values {
    let all = |values: &Values| values.numbers().collect::<Vec<_>>();
    let (mut one, mut other) = (all(one), all(other));
    let width = one.len().max(other.len());
    one.resize(width, 0);
    other.resize(width, 0);
    let numbers: Vec<i64> = one.into_iter().zip(other).map(|(a, b)| a.min(b)).collect();
    Values::of_numbers(&numbers)
}

/// The calls between different groups, by caller and callee.
struct Edges<'a> {
    edges: Vec<(&'a Call, (u32, u32))>,
}

impl<'a> Edges<'a> {
    fn of(selected: &Selected<'_>, graph: &'a CallGraph, groups: &Groups) -> Self {
        let edges = selected.calls(graph).filter_map(|call| {
            let (caller, callee) = (groups.of_frame(call.caller), groups.of_frame(call.callee));
            (caller != callee).then_some((call, (caller, callee)))
        });
        Self { edges: edges.collect() }
    }
}

/// The number of the circle that each group is in: groups that call each other, directly or not,
/// have the same number. Tarjan's algorithm, without recursion.
fn circles(groups: usize, calls: &Edges<'_>) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let callees = Buckets::of(groups, calls.edges.len(), || {
        calls.edges.iter().map(|(_, (caller, callee))| (*caller, *callee))
    });
    let (mut order, mut lowest) = (vec![NONE; groups], vec![NONE; groups]);
    let (mut circle_of, mut next, mut circles) = (vec![NONE; groups], 0u32, 0u32);
    // Groups whose circle is not complete yet, and the path with the next callee of each group.
    let (mut open, mut path) = (Vec::new(), Vec::<(u32, usize)>::new());
    for start in 0..groups as u32 {
        if order[start as usize] != NONE {
            continue;
        }
        path.push((start, 0));
        while let Some((group, at)) = path.pop() {
            let here = group as usize;
            if at == 0 {
                (order[here], lowest[here]) = (next, next);
                next += 1;
                open.push(group);
            }
            match callees.get(group).get(at) {
                Some(&callee) if order[callee as usize] == NONE => {
                    path.extend([(group, at + 1), (callee, 0)]);
                }
                Some(&callee) => {
                    if circle_of[callee as usize] == NONE {
                        lowest[here] = lowest[here].min(order[callee as usize]);
                    }
                    path.push((group, at + 1));
                }
                None => {
                    if lowest[here] == order[here] {
                        while let Some(member) = open.pop() {
                            circle_of[member as usize] = circles;
                            if member == group {
                                break;
                            }
                        }
                        circles += 1;
                    }
                    if let Some((caller, _)) = path.last() {
                        let caller = *caller as usize;
                        lowest[caller] = lowest[caller].min(lowest[here]);
                    }
                }
            }
        }
    }
    circle_of
}
