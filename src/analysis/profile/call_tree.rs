//! Who calls whom: the stacks of a profile with equal functions merged.

use super::{Groups, Selected, Sums};
use crate::model::profile::StackId;
use rustc_hash::FxHashMap;

/// A function below those that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The node of the caller. The root is its own.
    pub parent: u32,
    /// The number of the function in its [`Groups`]; None for the root of all.
    pub group: Option<u32>,
    /// What it costs, called in this way.
    pub sums: Sums,
}

/// A tree of calls. The first node is the root; callers come before what they call.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// The nodes.
    pub nodes: Vec<CallNode>,
    children: FxHashMap<u64, u32>,
}

/// What calls some functions, and what they call.
#[derive(Clone, Debug)]
pub struct Focus {
    /// The functions on top of those that called them: the root is what is called, and below it are callers. A caller by
    /// itself costs what the stacks cost that begin with it.
    pub callers: CallTree,
    /// Below the root are the functions, and below them what they call.
    pub callees: CallTree,
}

/// Callers that are followed. Beyond that nobody looks, and following all would take too long where stacks are very deep.
const MAX_CALLERS: usize = 500;

impl CallTree {
    fn new() -> Self {
        Self { nodes: vec![CallNode { parent: 0, group: None, sums: Sums::default() }], children: FxHashMap::default() }
    }

    /// All calls, from the outermost functions on. Samples without frames are in the root only.
    pub fn of(selected: &Selected<'_>, groups: &Groups) -> Self {
        let mut tree = Self::new();
        tree.grow(selected, groups, |_| true);
        tree
    }

    /// Merges the stacks below those that `is_root` chooses, which become children of the root themselves.
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
            if let Some(node) = self.nodes.get_mut(node_of[row.stack.index()] as usize) {
                node.sums.own.add(&row.values);
                node.sums.total.add(&row.values);
            }
        }
        for node in (1..self.nodes.len()).rev() {
            let CallNode { parent, sums, .. } = self.nodes[node];
            self.nodes[parent as usize].sums.total.add(&sums.total);
        }
    }

    fn child(&mut self, parent: u32, group: u32) -> u32 {
        let nodes = &mut self.nodes;
        *self.children.entry(u64::from(parent) << 32 | u64::from(group)).or_insert_with(|| {
            nodes.push(CallNode { parent, group: Some(group), sums: Sums::default() });
            nodes.len() as u32 - 1
        })
    }
}

impl Focus {
    /// Who calls the wanted functions, and what they call. A function that calls itself, by whatever way, is met once in a
    /// stack: where it is outermost.
    pub fn of(selected: &Selected<'_>, groups: &Groups, wanted: &[bool]) -> Self {
        let mut callees = CallTree::new();
        callees.grow(selected, groups, |group| wanted.get(group as usize).is_some_and(|wanted| *wanted));
        Self { callers: callers(selected, groups, wanted), callees }
    }
}

fn callers(selected: &Selected<'_>, groups: &Groups, wanted: &[bool]) -> CallTree {
    let stacks = &selected.profile.stacks;
    let under = selected.under();
    let mut tree = CallTree::new();
    let mut inside = vec![false; stacks.len()];
    for stack in stacks.ids() {
        let parent = stacks.parent(stack);
        inside[stack.index()] = inside[parent.index()];
        let is_wanted = stacks.leaf(stack).is_some_and(|frame| wanted[groups.of_frame(frame) as usize]);
        if inside[stack.index()] || !is_wanted {
            continue;
        }
        inside[stack.index()] = true;
        let values = &under[stack.index()];
        if values.is_zero() {
            continue;
        }
        let mut node = 0;
        tree.nodes[0].sums.total.add(values);
        for frame in stacks.frames(parent).take(MAX_CALLERS) {
            node = tree.child(node, groups.of_frame(frame));
            tree.nodes[node as usize].sums.total.add(values);
        }
        tree.nodes[node as usize].sums.own.add(values);
    }
    tree
}
