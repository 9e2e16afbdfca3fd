//! The program's allocator: huge pages for columns, or files (`--spill`), and an orderly end where
//! memory or space runs out.
#![allow(unsafe_code)]

use crate::pages::{HugePages, is_mapped, rounded};
use crate::spill;
use std::alloc::{GlobalAlloc, Layout};

/// Makes glibc map allocations of 1 MiB and more, so that their memory is free for all once they are freed.
/// It raises this limit to as much as 32 MiB otherwise, and keeps the memory of smaller allocations for the
/// thread that made them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn map_mebibytes() {
    // SAFETY: the calls change settings of the allocator, before there are other threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 8 << 20);
    }
}

/// [`HugePages`], but large allocations are files once [`spill::to`] was called, and one that fails
/// ends the program with a message and status 3, and without temporary files, where Rust would
/// abort.
pub(crate) struct Allocator;

impl Allocator {
    fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
        if pointer.is_null() { dumptool::cli::out_of_memory(size) } else { pointer }
    }

    /// Maps a file for a large allocation while `--spill` is on. `None` for all other allocations.
    #[inline]
    fn spilled(layout: Layout) -> Option<*mut u8> {
        if !spill::is_on() || !is_mapped(layout) {
            return None;
        }
        let pointer = spill::map(rounded(layout.size()));
        if pointer.is_null() {
            dumptool::cli::out_of_spill(layout.size());
        }
        Some(pointer)
    }
}

// SAFETY: calls go to `HugePages` unchanged, except that `spill` makes some of the mappings. Those
// have the size that `HugePages` would map, are zeroed and aligned to a page, so `HugePages` can free
// and shrink them. A null pointer is never returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(pointer) = Self::spilled(layout) {
            return pointer;
        }
        // SAFETY: the caller's promise is passed on.
        Self::checked(unsafe { HugePages.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if let Some(pointer) = Self::spilled(layout) {
            return pointer;
        }
        // SAFETY: the caller's promise is passed on.
        Self::checked(unsafe { HugePages.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { HugePages.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A mapping of a file cannot grow beyond the file, which is closed.
        // SAFETY: the caller promises that the size is a valid one for this alignment.
        let grown = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if size > layout.size()
            && let Some(new) = Self::spilled(grown)
        {
            // SAFETY: both are allocations of at least this many bytes, and the old one is the
            // caller's to free.
            unsafe {
                new.copy_from_nonoverlapping(pointer, layout.size());
                HugePages.dealloc(pointer, layout);
            }
            return new;
        }
        // SAFETY: the caller's promise is passed on.
        Self::checked(unsafe { HugePages.realloc(pointer, layout, size) }, size)
    }
}
