//! DOM nodes that are not attached to a document.

use super::edges::{HIDDEN, WEAK};
use super::essential::Graph;
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use rustc_hash::FxHashMap;

const ATTACHED: u8 = 1;
const DETACHED: u8 = 2;

/// Returns the native nodes that are detached, in ascending order.
///
/// V8 marks some nodes as attached or detached. As in DevTools, the marks spread to other native
/// nodes over all edges except `hidden` and `weak`: first from attached nodes, then from detached
/// nodes to those that are still unmarked.
pub(super) fn detached(graph: &Graph<'_>, meta: &Meta) -> Vec<u32> {
    let is_native = |node: u32| {
        graph
            .nodes
            .kind
            .get(node as usize)
            .is_some_and(|&kind| meta.node_type(kind) == NodeType::Native)
    };
    let known = graph.nodes.detachedness.iter().filter(|(node, _)| is_native(*node));
    let mut states: FxHashMap<u32, u8> = known.copied().collect();
    if !states.values().any(|state| *state == DETACHED) {
        return Vec::new();
    }
    // As in DevTools, a node that V8 has marked keeps its mark, even a detached one that attached
    // nodes refer to.
    for state in [ATTACHED, DETACHED] {
        let mut pending: Vec<u32> =
            states.iter().filter(|(_, known)| **known == state).map(|(node, _)| *node).collect();
        while let Some(node) = pending.pop() {
            for (kind, target) in graph.of(node as usize) {
                if !matches!(kind, HIDDEN | WEAK)
                    && is_native(target.0)
                    && !states.contains_key(&target.0)
                {
                    states.insert(target.0, state);
                    pending.push(target.0);
                }
            }
        }
    }
    let mut detached: Vec<u32> =
        states.into_iter().filter(|(_, state)| *state == DETACHED).map(|(node, _)| node).collect();
    detached.sort_unstable();
    detached
}
