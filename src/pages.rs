//! An allocator that asks for huge pages where columns are large.
//!
//! Graph work reads columns of hundreds of megabytes in no order. With pages of 4 KiB nearly every
//! read misses the processor's table of pages, and the kernel takes a third of the time to fill a
//! column for providing pages. Linux gives pages of 2 MiB to memory that asks for them
//! (`madvise`, transparent huge pages); elsewhere this is the system's allocator.
//!
//! Allocations of [`LARGE`] and more are mappings of their own, so growing one moves pages, not
//! bytes.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// Allocations from this size on, two huge pages, get huge pages. Smaller ones would waste too much
/// of a page, except those of the size of one, such as the tables of `model::addresses`.
pub(crate) const LARGE: usize = 4 << 20;

/// The system's allocator, with huge pages for large allocations. It belongs to the program: the
/// library leaves the choice of an allocator to the programs that use it.
pub(crate) struct HugePages;

/// Whether an allocation is a mapping of its own. Depends only on the layout, so `dealloc` decides as
/// `alloc` did.
pub(crate) fn is_mapped(layout: Layout) -> bool {
    let is_large = layout.size() >= LARGE || layout.size() == HUGE;
    cfg!(target_os = "linux") && is_large && layout.align() <= 4096
}

/// Mappings of whole huge pages are aligned to them by the kernel.
const HUGE: usize = 2 << 20;

/// The size of the mapping for an allocation, in bytes.
pub(crate) fn rounded(size: usize) -> usize {
    size.div_ceil(HUGE).saturating_mul(HUGE)
}

// SAFETY: small allocations are the system allocator's; large ones are private mappings, which are
// zeroed, aligned to a page and of the rounded size that `dealloc` and `realloc` compute again from
// the same layout.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return mapping::new(layout.size());
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return mapping::new(layout.size());
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller promises that the layout is the one of the allocation, so it is of the
        // same kind.
        unsafe {
            if is_mapped(layout) {
                mapping::free(pointer, layout.size())
            } else {
                System.dealloc(pointer, layout)
            }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size is a valid one for this alignment, and that
        // the layout is the allocation's. Where the kind changes, the smaller of both sizes is
        // copied into a new allocation.
        unsafe {
            let new_layout = Layout::from_size_align_unchecked(new_size, layout.align());
            match (is_mapped(layout), is_mapped(new_layout)) {
                (true, true) => mapping::resize(pointer, layout.size(), new_size),
                (false, false) => System.realloc(pointer, layout, new_size),
                _ => {
                    let new = self.alloc(new_layout);
                    if !new.is_null() {
                        new.copy_from_nonoverlapping(pointer, layout.size().min(new_size));
                        self.dealloc(pointer, layout);
                    }
                    new
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod mapping {
    use super::rounded;
    use std::ptr::null_mut;

    pub(super) fn new(size: usize) -> *mut u8 {
        let (size, protection) = (rounded(size), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new private mapping at an address of the kernel's choice touches no memory in
        // use.
        let pointer = unsafe {
            libc::mmap(null_mut(), size, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        advised(pointer, size)
    }

    /// # Safety
    /// `pointer` came from [`new`] or [`resize`] with this size, and is not used any more.
    pub(super) unsafe fn free(pointer: *mut u8, size: usize) {
        // SAFETY: the whole mapping is the caller's. It can only fail for arguments that are not a
        // mapping.
        unsafe { libc::munmap(pointer.cast(), rounded(size)) };
    }

    /// # Safety
    /// Like [`free`], with the old size.
    pub(super) unsafe fn resize(pointer: *mut u8, old_size: usize, size: usize) -> *mut u8 {
        let (old_size, size) = (rounded(old_size), rounded(size));
        // SAFETY: the whole mapping is the caller's; when it fails it is left as it was.
        let pointer = unsafe { libc::mremap(pointer.cast(), old_size, size, libc::MREMAP_MAYMOVE) };
        advised(pointer, size)
    }

    fn advised(pointer: *mut libc::c_void, size: usize) -> *mut u8 {
        if pointer == libc::MAP_FAILED {
            return null_mut();
        }
        // SAFETY: the mapping is this module's. The advice changes no contents, and a kernel
        // without huge pages refuses it.
        unsafe { libc::madvise(pointer, size, libc::MADV_HUGEPAGE) };
        pointer.cast()
    }
}

#[cfg(not(target_os = "linux"))]
mod mapping {
    pub(super) fn new(_size: usize) -> *mut u8 {
        unreachable!("nothing is mapped here")
    }

    pub(super) unsafe fn free(_pointer: *mut u8, _size: usize) {
        unreachable!("nothing is mapped here")
    }

    pub(super) unsafe fn resize(_pointer: *mut u8, _old_size: usize, _size: usize) -> *mut u8 {
        unreachable!("nothing is mapped here")
    }
}
