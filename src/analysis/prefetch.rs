//! Prefetching of memory before it is needed.
//!
//! Graph algorithms mostly wait for records in random order. If it is known early which record
//! comes next, the processor fetches it while it works on the present one.
#![allow(unsafe_code)]

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
