//! Reachability from the roots.

use super::frontier::Frontier;
use super::graph::Graph;
use super::object_set::ObjectSet;

/// Returns the objects that the roots reach over strong references.
///
/// Weak references are not followed. The value of an ephemeron is reached if its holder and its key
/// are.
pub fn live(graph: &Graph<'_>) -> ObjectSet {
    let mut live = ObjectSet::none(graph.len());
    let mut next = Frontier::new(graph.len());
    graph.starts().iter().filter(|start| live.insert(**start)).for_each(|start| next.push(*start));
    while !next.is_empty() {
        let level = std::mem::replace(&mut next, Frontier::new(graph.len()));
        level.for_each_object(graph.references, |object| {
            for target in graph.targets(object) {
                if live.insert(target) {
                    next.push(target);
                }
            }
        });
    }
    live
}
