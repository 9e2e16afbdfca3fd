//! What can be reached from the roots.

use super::frontier::Frontier;
use super::graph::Graph;
use super::object_set::ObjectSet;

/// The objects that can be reached from the roots over strong references; weak ones are not followed, and the value of an
/// ephemeron is reached when its holder and its key are.
pub fn live(graph: &Graph<'_>) -> ObjectSet {
    let mut live = ObjectSet::none(graph.len());
    let mut next = Frontier::new(graph.len());
    graph.starts().iter().filter(|start| live.insert(**start)).for_each(|start| next.push(*start));
    while !next.is_empty() {
        let level = std::mem::replace(&mut next, Frontier::new(graph.len()));
        level.for_each(|object| graph.targets(object).filter(|target| live.insert(*target)).for_each(|target| next.push(target)));
    }
    live
}
