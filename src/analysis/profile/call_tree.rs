//! The tree of callers and callees: the stacks of a profile with equal functions merged.

use super::top::callees;
use super::{FrameBy, GroupLabel, Groups, Selected, Sums, TopBy, top};
use crate::analysis::buckets::Buckets;
use crate::model::profile::{
    Aggregate, CallGraph, FrameId, Metric, StackId, StackIndex, StackTree, ValueColumns, Values,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A function below those that called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The node of the caller. The root is its own.
    pub parent: u32,
    /// The number of the function in its [`Groups`]; `None` for the root.
    pub group: Option<u32>,
    /// The sums of the function when called along this path.
    pub sums: Sums,
}

/// A tree of calls. The first node is the root; callers come before callees. A node takes about 30
/// bytes.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    /// The nodes; the frame of a stack is the number of a group.
    nodes: StackTree,
    index: StackIndex,
    own: ValueColumns,
    total: ValueColumns,
}

/// The callers of some functions, and their callees.
#[derive(Clone, Debug)]
pub struct Focus {
    /// The functions with their callers below them: the root is the called function. The self value
    /// of a caller is the value of the stacks that begin with it.
    pub callers: CallTree,
    /// Below the root are the functions, and below them their callees.
    pub callees: CallTree,
}

/// The maximum number of callers to follow. Following all of them takes too long in very deep
/// stacks.
const MAX_CALLERS: usize = 500;

impl CallTree {
    /// The number of nodes, including the root.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node by its number.
    pub fn node(&self, node: u32) -> CallNode {
        let sums = Sums { own: self.own.get(node as usize), total: self.total(node) };
        CallNode {
            parent: self.parent(node),
            group: self.nodes.leaf(StackId(node)).map(|group| group.0),
            sums,
        }
    }

    /// Returns all nodes, in the order of their numbers.
    pub fn nodes(&self) -> impl Iterator<Item = CallNode> + '_ {
        (0..self.len() as u32).map(|node| self.node(node))
    }

    /// The node of a node's caller.
    pub(super) fn parent(&self, node: u32) -> u32 {
        self.nodes.parent(StackId(node)).0
    }

    /// The nodes of the direct callees of each node.
    pub(super) fn children(&self) -> Buckets {
        callees(&self.nodes)
    }

    /// The cost of a node with all its callees.
    pub(super) fn total(&self, node: u32) -> Values {
        self.total.get(node as usize)
    }

    /// Builds the tree of all calls, from the outermost functions on. Only the root contains
    /// samples without frames.
    pub fn of(selected: &Selected<'_>, groups: &Groups) -> Self {
        let mut tree = Self::default();
        tree.grow(selected, groups, |_| true);
        tree
    }

    /// Builds the tree from the innermost functions on, each with its callers below it. The self value
    /// of a function is that of the stacks that begin with it. The callers of a node that costs less
    /// than `least` are not followed.
    pub fn inverted(
        selected: &Selected<'_>,
        groups: &Groups,
        (metric, least): (&Metric, f64),
    ) -> Self {
        let profile = selected.profile;
        let mut tree = Self::default();
        let rows: Vec<Aggregate> = selected.rows().collect();
        let all = rows.iter().enumerate().map(|(row, it)| (row as u32, it.stack));
        let all: Vec<(u32, StackId)> = all.collect();
        let mut open = vec![(0u32, 0u32, all)];
        rows.iter().for_each(|row| tree.total.add(0, &row.values));
        while let Some((node, depth, stacks)) = open.pop() {
            let mut below: BTreeMap<u32, (Values, Vec<(u32, StackId)>)> = BTreeMap::new();
            for (row, stack) in stacks {
                let values = &rows[row as usize].values;
                let Some(frame) = profile.stacks.leaf(stack) else {
                    tree.own.add(node as usize, values);
                    continue;
                };
                let (sum, list) = below.entry(groups.of_frame(frame)).or_default();
                sum.add(values);
                list.push((row, profile.stacks.parent(stack)));
            }
            for (group, (sum, list)) in below {
                let child = tree.child(node, group);
                tree.total.add(child as usize, &sum);
                if weight(&sum, metric) as f64 >= least && depth < MAX_CALLERS as u32 {
                    open.push((child, depth + 1, list));
                }
            }
        }
        tree
    }

    /// Merges the stacks below those that `is_root` chooses, which become children of the root
    /// themselves.
    fn grow(&mut self, selected: &Selected<'_>, groups: &Groups, is_root: impl Fn(u32) -> bool) {
        const OUTSIDE: u32 = u32::MAX;
        let stacks = &selected.profile.stacks;
        let mut node_of = vec![OUTSIDE; stacks.len()];
        let all = is_root(OUTSIDE);
        if all {
            node_of[StackId::EMPTY.index()] = 0;
        }
        for stack in stacks.ids() {
            let Some(frame) = stacks.leaf(stack) else { continue };
            let group = groups.of_frame(frame);
            node_of[stack.index()] = match node_of[stacks.parent(stack).index()] {
                OUTSIDE if is_root(group) => self.child(0, group),
                OUTSIDE => OUTSIDE,
                parent => self.child(parent, group),
            };
        }
        for row in selected.rows() {
            let node = node_of[row.stack.index()];
            if node != OUTSIDE {
                self.own.add(node as usize, &row.values);
                self.total.add(node as usize, &row.values);
            }
        }
        for node in (1..self.len() as u32).rev() {
            let total = self.total(node);
            self.total.add(self.parent(node) as usize, &total);
        }
    }

    fn child(&mut self, parent: u32, group: u32) -> u32 {
        self.nodes.child(&mut self.index, StackId(parent), FrameId(group)).0.0
    }
}

/// The magnitude of sums. Changes of memory cancel each other out: a caller that kept little may
/// have called functions that kept and freed much.
pub(super) fn weight(sums: &Values, metric: &Metric) -> u64 {
    if *metric == Metric::MEMORY {
        sums.memory_gained().max(sums.memory_freed())
    } else {
        sums.get(metric).unsigned_abs()
    }
}

impl Focus {
    /// Returns the callers and callees of the wanted functions. A recursive function counts once
    /// per stack, at its outermost frame.
    ///
    /// In a profile with [calls](crate::model::profile::Profile::calls) instead of stacks, the
    /// callers and callees are the direct ones.
    pub fn of(selected: &Selected<'_>, groups: &Groups, wanted: &[bool]) -> Self {
        if let Some(graph) = &selected.profile.calls {
            return Self::direct(selected, graph, groups, wanted);
        }
        let mut callees = CallTree::default();
        callees.grow(selected, groups, |group| {
            wanted.get(group as usize).is_some_and(|wanted| *wanted)
        });
        Self { callers: callers(selected, groups, wanted), callees }
    }

    /// The functions that call the wanted ones, and those that they call. A function's calls of
    /// itself are already part of its total.
    fn direct(
        selected: &Selected<'_>,
        graph: &CallGraph,
        groups: &Groups,
        wanted: &[bool],
    ) -> Self {
        let (mut callers, mut callees) = (CallTree::default(), CallTree::default());
        let sums = top(selected, TopBy::Frames(FrameBy::Function)).rows;
        let numbers: FxHashMap<&GroupLabel, u32> = groups.labels().iter().zip(0..).collect();
        for row in sums {
            let group = numbers.get(&row.label).copied();
            let Some(group) = group.filter(|group| wanted[*group as usize]) else { continue };
            let node = callees.child(0, group);
            callees.own.add(node as usize, &row.sums.own);
            for (tree, node) in [(&mut callees, node), (&mut callers, 0)] {
                tree.total.add(node as usize, &row.sums.total);
            }
            callees.total.add(0, &row.sums.total);
        }
        for call in selected.calls(graph) {
            let (caller, callee) = (groups.of_frame(call.caller), groups.of_frame(call.callee));
            if caller == callee {
                continue;
            }
            if wanted[callee as usize] {
                let node = callers.child(0, caller);
                callers.total.add(node as usize, &call.values);
            }
            if wanted[caller as usize] {
                let node = callees.child(0, caller);
                let node = callees.child(node, callee);
                callees.total.add(node as usize, &call.values);
            }
        }
        Self { callers, callees }
    }
}

fn callers(selected: &Selected<'_>, groups: &Groups, wanted: &[bool]) -> CallTree {
    let stacks = &selected.profile.stacks;
    let under = selected.under();
    let mut tree = CallTree::default();
    let mut inside = vec![false; stacks.len()];
    for stack in stacks.ids() {
        let parent = stacks.parent(stack);
        inside[stack.index()] = inside[parent.index()];
        let is_wanted =
            stacks.leaf(stack).is_some_and(|frame| wanted[groups.of_frame(frame) as usize]);
        if inside[stack.index()] || !is_wanted {
            continue;
        }
        inside[stack.index()] = true;
        let values = &under[stack.index()];
        if values.is_zero() {
            continue;
        }
        let mut node = 0;
        tree.total.add(0, values);
        for frame in stacks.frames(parent).take(MAX_CALLERS) {
            node = tree.child(node, groups.of_frame(frame));
            tree.total.add(node as usize, values);
        }
        tree.own.add(node as usize, values);
    }
    tree
}
