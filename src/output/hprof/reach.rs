//! Makes roots of unreachable objects.

use super::Writer;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::unreachable::{reach, tops};
use crate::model::heap::ObjectId;
use std::io::{self, Write};

impl<W: Write> Writer<'_, '_, W> {
    /// Writes roots for unreachable objects, as few as it takes to reach them all.
    pub(super) fn unreachable_roots(&mut self) -> io::Result<()> {
        let heap = self.heap;
        // Weak references count: readers that drop what is unreachable follow them.
        let successors = |object| heap.references.of(object).map(|reference| reference.target);
        let mut reached = ObjectSet::none(heap.len());
        let roots = heap
            .roots
            .iter()
            .map(|root| root.object)
            .chain(heap.threads.iter().filter_map(|thread| thread.object));
        let mut pending: Vec<ObjectId> = roots.filter(|object| reached.insert(*object)).collect();
        reach(&mut reached, &mut pending, successors);
        drop(pending);
        tops(heap.len(), reached, successors)
            .into_iter()
            .try_for_each(|object| self.plain_root(object))
    }
}
