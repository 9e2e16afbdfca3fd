//! The synthetic objects with which the writer of a dump represents its roots.

use super::graph::Graph;
use super::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId};

/// The synthetic objects that paths of synthetic objects reach from the roots, and their targets.
/// Empty if roots hold objects themselves.
pub(super) struct MadeUp {
    /// Sorted by distance from the roots.
    pub(super) list: Vec<ObjectId>,
    objects: ObjectSet,
    /// The objects whose roots count. `None` if every root counts.
    targets: Option<ObjectSet>,
}

impl MadeUp {
    /// Finds the synthetic objects of a heap.
    pub(super) fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let mut objects = ObjectSet::none(heap.len());
        let mut targets = heap.root_object().map(|_| ObjectSet::none(heap.len()));
        let starts = graph.starts().iter().copied();
        let mut list: Vec<ObjectId> =
            starts.filter(|object| heap.is_made_up(*object) && objects.insert(*object)).collect();
        // Besides the targets of the object for the set of roots, the objects that nothing owns.
        if let Some(targets) = &mut targets {
            graph
                .starts()
                .iter()
                .filter(|object| !heap.is_made_up(**object))
                .for_each(|object| _ = targets.insert(*object));
        }
        let mut done = 0;
        while let Some(&object) = list.get(done) {
            done += 1;
            for target in graph.targets(object) {
                targets.iter_mut().for_each(|targets| _ = targets.insert(target));
                if heap.is_made_up(target) && objects.insert(target) {
                    list.push(target);
                }
            }
        }
        Self { list, objects, targets }
    }

    /// Whether an object is one of the synthetic objects.
    #[inline]
    pub(super) fn contains(&self, object: ObjectId) -> bool {
        self.objects.contains(object)
    }

    /// Whether a root of this object still counts. In a dump with an object for the set of roots,
    /// some roots may name objects that nothing holds any more, such as the static fields of an
    /// isolate that has ended.
    pub(super) fn is_held(&self, object: ObjectId) -> bool {
        self.contains(object)
            || self.targets.as_ref().is_none_or(|targets| targets.contains(object))
    }
}
