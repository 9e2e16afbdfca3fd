//! Asking for memory before it is needed.
//!
//! Graph work mostly waits for records in no order. Where it is known early which one comes next,
//! the processor fetches it while it works on the present one.
#![allow(unsafe_code)]

/// Asks for an element. Nothing happens if there is none, or if the processor cannot be asked.
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
