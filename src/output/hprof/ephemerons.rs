//! Ephemerons, which hprof does not have: their values are written as strong references.

use crate::model::heap::{Heap, ObjectId, Reference};

/// Whether a reference is to be written as weak. The value of an ephemeron is not: nothing else
/// would keep it alive.
#[inline]
pub(super) fn is_weak(heap: &Heap<'_>, holder: ObjectId, reference: &Reference) -> bool {
    reference.weak && !ephemerons(heap, holder).any(|value| value == reference.target)
}

/// The values of an object's ephemerons.
pub(super) fn ephemerons<'h>(
    heap: &'h Heap<'_>,
    holder: ObjectId,
) -> impl Iterator<Item = ObjectId> + 'h {
    let first = heap.ephemerons.partition_point(|pair| pair.holder < holder);
    heap.ephemerons[first..]
        .iter()
        .take_while(move |pair| pair.holder == holder)
        .map(|pair| pair.value)
}
