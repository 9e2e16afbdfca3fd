//! The ends of shortest paths that follow from the dominators.

use crate::analysis::dominators::Dominators;
use crate::model::heap::{Heap, ObjectId};
use rustc_hash::FxHashMap;

/// The references from dominators to the objects of some paths.
pub(super) struct Down<'h, 'a> {
    heap: &'h Heap<'a>,
    rows: FxHashMap<ObjectId, usize>,
    /// The number of references that may still be looked at. A search looks at all.
    left: usize,
}

/// The maximum number of references in [`Down`], because each takes memory.
const MOST_DOWN: usize = 1 << 16;

impl<'h, 'a> Down<'h, 'a> {
    pub(super) fn of(heap: &'h Heap<'a>) -> Self {
        Self { heap, rows: FxHashMap::default(), left: heap.references.len() }
    }

    /// Goes up from an object while a reference of its dominator leads to it. Returns the object where this
    /// ends; `None` if that is on a path from before.
    ///
    /// All paths to an object lead through its dominator, and so does the shortest. A reference of the
    /// dominator is its last step: all other objects that refer to the object are farther from the roots.
    pub(super) fn climb(
        &mut self,
        dominators: &Dominators,
        mut object: ObjectId,
    ) -> Option<ObjectId> {
        while !self.rows.contains_key(&object) {
            let above = dominators.dominator(object).filter(|above| !self.heap.is_made_up(*above));
            let row = above.and_then(|above| self.first(above, object));
            let Some((above, row)) = above.zip(row).filter(|_| self.rows.len() < MOST_DOWN) else {
                return Some(object);
            };
            self.rows.insert(object, row);
            object = above;
        }
        None
    }

    /// The row of the reference to each object that was passed.
    pub(super) fn into_rows(self) -> FxHashMap<ObjectId, usize> {
        self.rows
    }

    /// The first reference of one object to another.
    fn first(&mut self, from: ObjectId, to: ObjectId) -> Option<usize> {
        let references = &self.heap.references;
        let rows = references.range(from).take(self.left);
        let leads = |row: &usize| references.target(*row) == to && !references.is_weak(*row);
        rows.inspect(|_| self.left -= 1).find(leads)
    }
}
