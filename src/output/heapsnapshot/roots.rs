//! The roots in groups: the nodes below `(GC roots)`.

use crate::model::distinct::Distinct;
use crate::model::heap::{Heap, Root, RootKind};
use crate::model::names::NameId;
use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct Groups {
    keys: Vec<(RootKind, NameId)>,
    /// The place in `order` where the roots of each group begin, and the end.
    first: Vec<u32>,
    order: Vec<u32>,
}

impl Groups {
    /// Groups in the order of their first roots, roots in the order of the heap.
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let mut keys = Distinct::default();
        let groups: Vec<u32> =
            heap.roots.iter().map(|root| keys.number((root.kind, root.group))).collect();
        let keys = keys.all;
        let mut order: Vec<u32> = (0..groups.len() as u32).collect();
        order.sort_by_key(|row| groups[*row as usize]);
        let mut first = vec![0u32; keys.len() + 1];
        groups.iter().for_each(|group| first[*group as usize + 1] += 1);
        (1..first.len()).for_each(|group| first[group] += first[group - 1]);
        Self { keys, first, order }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn names<'s>(&'s self, heap: &'s Heap<'_>) -> impl Iterator<Item = String> + 's {
        self.keys.iter().map(|(kind, group)| match heap.names.text(*group) {
            "" => format!("({})", kind.name()),
            group => format!("({group})"),
        })
    }

    pub(super) fn roots<'s>(
        &'s self,
        group: usize,
        heap: &'s Heap<'_>,
    ) -> impl ExactSizeIterator<Item = &'s Root> + 's {
        self.order[self.range(group)].iter().map(|row| &heap.roots[*row as usize])
    }

    pub(super) fn size(&self, group: usize) -> u64 {
        self.range(group).len() as u64
    }

    fn range(&self, group: usize) -> Range<usize> {
        self.first[group] as usize..self.first[group + 1] as usize
    }
}
