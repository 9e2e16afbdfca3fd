//! The largest nodes of a call tree.

use super::call_tree::{CallTree, weight};
use crate::model::profile::Metric;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Limits of [`prune`]. Nodes beyond them are left out.
#[derive(Clone, Copy, Debug)]
pub struct PruneLimits {
    /// Minimum share of `base`.
    pub min_share: f64,
    /// The value that counts as a share of 1.
    pub base: i64,
    /// Maximum depth. The root has depth 0.
    pub depth: u32,
    /// Maximum number of nodes. The largest are kept.
    pub nodes: usize,
}

/// A node that remains in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrunedNode {
    /// The number of the node in the tree.
    pub node: u32,
    /// The number of its callers.
    pub depth: u32,
    /// Whether no remaining sibling follows and nothing is left out beside the node.
    pub last: bool,
    /// Children that were left out.
    pub omitted: u64,
    /// The total cost of the children that were left out.
    pub omitted_value: i64,
}

/// Returns the remaining tree, depth-first, the largest child first. If enough nodes are allowed,
/// it contains all nodes that are large enough and not 0; otherwise the largest of them, each with
/// its callers.
pub fn prune(tree: &CallTree, metric: &Metric, limits: &PruneLimits) -> Vec<PrunedNode> {
    let value = |node: u32| tree.total(node).get(metric);
    let children = tree.children();
    let weight = |node: u32| weight(&tree.total(node), metric);
    let least = limits.min_share * limits.base.unsigned_abs() as f64;
    let fits = |node: u32| {
        !tree.total(node).is_zero()
            && (weight(node) > 0 || least == 0.0)
            && weight(node) as f64 >= least
    };
    let mut depth = vec![u32::MAX; tree.len()];
    let mut open = BinaryHeap::from([(weight(0), Reverse(0u32))]);
    depth[0] = 0;
    let mut kept = vec![false; tree.len()];
    let mut count = 0;
    while let Some((_, Reverse(node))) = open.pop().filter(|_| count < limits.nodes) {
        kept[node as usize] = true;
        count += 1;
        let below = depth[node as usize].saturating_add(1);
        if below > limits.depth {
            continue;
        }
        for &child in children.get(node).iter().filter(|child| fits(**child)) {
            depth[child as usize] = below;
            open.push((weight(child), Reverse(child)));
        }
    }
    let mut pruned = Vec::with_capacity(count);
    let mut open = vec![(0u32, true)];
    while let Some((node, last)) = open.pop() {
        let all = children.get(node).iter().copied();
        let left_out =
            || all.clone().filter(|child| !kept[*child as usize] && !tree.total(*child).is_zero());
        let omitted = left_out().count() as u64;
        let omitted_value = left_out().fold(0i64, |sum, child| sum.saturating_add(value(child)));
        pruned.push(PrunedNode { node, depth: depth[node as usize], last, omitted, omitted_value });
        let mut shown: Vec<u32> = all.filter(|child| kept[*child as usize]).collect();
        shown.sort_by_key(|child| (weight(*child), Reverse(*child)));
        open.extend(shown.iter().enumerate().map(|(i, &child)| (child, i == 0 && omitted == 0)));
    }
    pruned
}
