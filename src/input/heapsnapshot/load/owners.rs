//! Sizes as in DevTools: memory that belongs to a single object counts as part of it.

use super::edges::WEAK;
use super::essential::Graph;
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use crate::input::heapsnapshot::strings::Strings;
use crate::model::heap::Sizes;

const UNKNOWN: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// The sizes of nodes after those of arrays, hidden nodes and `system / ExternalStringData` have
/// moved to their only owner.
///
/// Unchanged if node 0 has no children that belong to the user, as in snapshots with internals.
pub(super) fn moved_sizes(graph: &Graph<'_>, meta: &Meta, strings: &Strings<'_>) -> Sizes {
    let nodes = graph.nodes;
    let mut sizes = nodes.size.clone();
    let node_type =
        |node: usize| nodes.kind.get(node).map_or(NodeType::Other, |&kind| meta.node_type(kind));
    let is_users = |node: usize| {
        node_type(node) != NodeType::Synthetic
            || graph.dom_trees.is_some_and(|trees| trees.index() == node)
    };
    if !graph.of(0).any(|(_, target)| target.index() < nodes.len() && is_users(target.index())) {
        return sizes;
    }
    let is_helper = |node: usize| match node_type(node) {
        NodeType::Array | NodeType::Hidden => true,
        NodeType::Native => {
            let name = nodes.name.get(node).copied().unwrap_or(0);
            strings
                .raw(name.into())
                .is_some_and(|text| text.raw() == b"system / ExternalStringData")
        }
        _ => false,
    };
    let mut owners: Vec<u32> =
        (0..nodes.len()).map(|node| if is_helper(node) { UNKNOWN } else { node as u32 }).collect();
    let mut pending: Vec<u32> = owners.iter().copied().filter(|owner| *owner != UNKNOWN).collect();
    while let Some(node) = pending.pop() {
        let owner = owners.get(node as usize).copied().unwrap_or(SEVERAL);
        for (kind, target) in graph.of(node as usize) {
            let Some(of_target) = owners.get_mut(target.index()).filter(|_| kind != WEAK) else {
                continue;
            };
            if *of_target == SEVERAL || *of_target == owner || *of_target == target.0 {
                continue;
            }
            // From none to one, or from one to several: each node is pending at most twice.
            *of_target = if *of_target == UNKNOWN { owner } else { SEVERAL };
            pending.push(target.0);
        }
    }
    for (node, &owner) in owners.iter().enumerate() {
        if matches!(owner, UNKNOWN | SEVERAL)
            || owner as usize == node
            || node_type(owner as usize) == NodeType::Synthetic
        {
            continue;
        }
        let moved = sizes.get(node).saturating_add(sizes.get(owner as usize));
        sizes.set(node, 0);
        sizes.set(owner as usize, moved);
    }
    sizes
}
