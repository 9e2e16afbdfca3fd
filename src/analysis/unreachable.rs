//! The objects from which all unreachable ones can be reached.

use super::object_set::ObjectSet;
use crate::model::heap::ObjectId;

/// Returns the fewest unreached objects from which all others of `count` can be reached: those
/// without referrers, then the first of each remaining cycle, in the order of objects. Garbage
/// keeps its structure: objects are shown below the objects that hold them.
pub fn tops<S: Iterator<Item = ObjectId>>(
    count: usize,
    mut reached: ObjectSet,
    successors: impl Fn(ObjectId) -> S,
) -> Vec<ObjectId> {
    let objects = || (0..count as u32).map(ObjectId);
    let mut referred = ObjectSet::none(count);
    for object in objects().filter(|object| !reached.contains(*object)) {
        successors(object)
            .filter(|target| *target != object)
            .for_each(|target| _ = referred.insert(target));
    }
    let mut tops = Vec::new();
    let mut pending = Vec::new();
    for in_cycles in [false, true] {
        for object in objects().filter(|object| referred.contains(*object) == in_cycles) {
            if reached.insert(object) {
                tops.push(object);
                pending.push(object);
                reach(&mut reached, &mut pending, &successors);
            }
        }
    }
    tops
}

/// Adds everything below the objects that are pending.
pub fn reach<S: Iterator<Item = ObjectId>>(
    reached: &mut ObjectSet,
    pending: &mut Vec<ObjectId>,
    successors: impl Fn(ObjectId) -> S,
) {
    while let Some(object) = pending.pop() {
        pending.extend(successors(object).filter(|target| reached.insert(*target)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tops of the objects that object 0 does not reach.
    fn tops_of(references: &[&[u32]]) -> Vec<u32> {
        let successors =
            |object: ObjectId| references[object.index()].iter().copied().map(ObjectId);
        let mut reached = ObjectSet::none(references.len());
        reached.insert(ObjectId(0));
        reach(&mut reached, &mut vec![ObjectId(0)], successors);
        tops(references.len(), reached, successors).into_iter().map(|object| object.0).collect()
    }

    #[test]
    fn garbage_keeps_its_shape() {
        assert!(tops_of(&[&[1], &[0]]).is_empty());
        // 4 refers to 1; 3 refers to itself and to a live object.
        assert_eq!(tops_of(&[&[2], &[], &[], &[3, 0], &[1]]), [3, 4]);
        // An object that a cycle refers to is below it; a cycle below something else has no top.
        assert_eq!(tops_of(&[&[], &[2], &[3], &[2, 1], &[5], &[5, 4], &[4]]), [6, 1]);
    }
}
