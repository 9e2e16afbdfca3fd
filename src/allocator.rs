//! The program's allocator: huge pages for columns, and an orderly end where memory runs out.
#![allow(unsafe_code)]

use crate::pages::HugePages;
use std::alloc::{GlobalAlloc, Layout};

/// [`HugePages`], but an allocation that fails ends the program with a message and status 3, and
/// without temporary files, where Rust would abort.
pub(crate) struct Allocator;

impl Allocator {
    fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
        match pointer.is_null() {
            true => dumptool::cli::out_of_memory(size),
            false => pointer,
        }
    }
}

// SAFETY: all calls go to `HugePages` unchanged; a null pointer is never returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        Self::checked(unsafe { HugePages.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        Self::checked(unsafe { HugePages.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { HugePages.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        Self::checked(unsafe { HugePages.realloc(pointer, layout, size) }, size)
    }
}
