//! Prefetching of memory before it is needed.
//!
//! Graph algorithms mostly wait for records in random order. If it is known early which record
//! comes next, the processor fetches it while it works on the present one.
#![allow(unsafe_code)]

use crate::model::heap::{ObjectId, Offsets, References};

/// The number of objects ahead for which columns are prefetched.
pub(crate) const AHEAD: usize = 24;

/// Prefetches an element. Does nothing if it does not exist or the processor has no prefetch.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching is a hint that reads nothing and does not fault at any address; the
        // address is not dereferenced.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

/// Prefetches the position of an object's references.
#[inline]
pub(super) fn prefetch_position(references: &References, object: ObjectId) {
    prefetch_offset(&references.first, object.index());
}

/// Prefetches an offset.
#[inline]
pub(super) fn prefetch_offset(offsets: &Offsets, index: usize) {
    match offsets {
        Offsets::Small(offsets) => prefetch(offsets, index),
        Offsets::Large(offsets) => prefetch(offsets, index),
    }
}

/// Prefetches an object's references, whose position should have been prefetched.
#[inline]
pub(super) fn prefetch_targets(references: &References, object: ObjectId) {
    prefetch(&references.target, references.range(object).start);
}
