//! The objects from which all unreachable ones can be reached.

use crate::analysis::graph::Graph;
use crate::analysis::live::Objects;
use crate::model::heap::ObjectId;

/// As few unreachable objects as it takes to reach all others from them: those that nothing refers to, then the first of
/// each cycle that is left, in the order of objects. So garbage keeps its shape.
pub(super) fn tops(graph: &Graph<'_>, live: &Objects) -> Vec<ObjectId> {
    let objects = || (0..graph.len() as u32).map(ObjectId).filter(|object| !live.contains(*object));
    let mut referred = Objects::none(graph.len());
    for object in objects() {
        graph.targets(object).filter(|target| *target != object).for_each(|target| _ = referred.insert(target));
    }
    let mut reached = Objects::none(graph.len());
    let mut tops = Vec::new();
    let mut pending = Vec::new();
    for in_cycles in [false, true] {
        for object in objects().filter(|object| referred.contains(*object) == in_cycles) {
            if !reached.insert(object) {
                continue;
            }
            tops.push(object);
            pending.push(object);
            while let Some(object) = pending.pop() {
                pending.extend(graph.targets(object).filter(|target| !live.contains(*target) && reached.insert(*target)));
            }
        }
    }
    tops
}
