//! An allocator that asks for huge pages where columns are large.
//!
//! Graph work reads columns of hundreds of megabytes in no order. With pages of 4 KiB nearly every
//! read misses the processor's table of pages, and a third of the time to fill a column goes into
//! the kernel's handing out of pages. Linux gives pages of 2 MiB to memory that asks for them
//! (`madvise`, transparent huge pages); elsewhere this is the system's allocator.
//!
//! Allocations of [`LARGE`] and more are mappings of their own, so growing one moves pages, not
//! bytes. Some of those that are freed are kept for the next ones: a page that the kernel hands out
//! again has to be zeroed again, which takes longer than to fill it.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// Allocations from this size on, two huge pages, get huge pages. Smaller ones would waste too much
/// of a page, except those of the size of one, such as the tables of `model::addresses`.
pub(crate) const LARGE: usize = 4 << 20;

/// The system's allocator, with huge pages for large allocations. It belongs to the program: the
/// library leaves the choice of an allocator to the programs that use it.
pub(crate) struct HugePages;

/// Whether an allocation is a mapping of its own. It depends on the layout alone, so that `dealloc`
/// decides as `alloc` did.
pub(crate) fn is_mapped(layout: Layout) -> bool {
    let is_large = layout.size() >= LARGE || layout.size() == HUGE;
    cfg!(target_os = "linux") && is_large && layout.align() <= 4096
}

/// Mappings of whole huge pages are aligned to them by the kernel.
const HUGE: usize = 2 << 20;

/// The bytes that the mapping of an allocation takes.
pub(crate) fn rounded(size: usize) -> usize {
    size.div_ceil(HUGE).saturating_mul(HUGE)
}

// SAFETY: small allocations are the system allocator's; large ones are private mappings, which are
// aligned to a page and of the rounded size that `dealloc` and `realloc` compute again from the same
// layout.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_mapped(layout) {
            true => mapping::new(layout.size()),
            // SAFETY: the caller's promise is passed on.
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match is_mapped(layout) {
            true => mapping::zeroed(layout.size()),
            // SAFETY: the caller's promise is passed on.
            false => unsafe { System.alloc_zeroed(layout) },
        }
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
    use super::kept::{self, Block};
    use super::rounded;
    use std::ptr::null_mut;

    /// Memory with any contents.
    pub(super) fn new(size: usize) -> *mut u8 {
        allocated(size).0
    }

    pub(super) fn zeroed(size: usize) -> *mut u8 {
        let (pointer, used) = allocated(size);
        if !pointer.is_null() {
            // SAFETY: the mapping has at least as many bytes.
            unsafe { pointer.write_bytes(0, used) };
        }
        pointer
    }

    /// A mapping, and its bytes from the first on that may not be zero.
    fn allocated(size: usize) -> (*mut u8, usize) {
        let size = rounded(size);
        let pointer = match kept::take(size) {
            None => fresh(size),
            Some(block) if block.size == size => return (block.pointer(), size),
            Some(block) => {
                // SAFETY: `kept` has given the mapping away.
                let pointer = unsafe { resized(block.pointer(), block.size, size) };
                if !pointer.is_null() {
                    return (pointer, block.size);
                }
                // SAFETY: it is left as it was, and nobody else knows it.
                unsafe { unmap(block) };
                null_mut()
            }
        };
        if !pointer.is_null() {
            return (pointer, 0);
        }
        // There may be a limit to what the process maps.
        while let Some(block) = kept::take_any() {
            // SAFETY: `kept` has given the mapping away.
            unsafe { unmap(block) };
        }
        (fresh(size), 0)
    }

    fn fresh(size: usize) -> *mut u8 {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new private mapping at an address of the kernel's choice touches no memory in
        // use.
        let pointer = unsafe {
            libc::mmap(null_mut(), size, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        advised(pointer, size)
    }

    /// # Safety
    /// `pointer` came from [`new`], [`zeroed`] or [`resize`] with this size, and is not used any
    /// more.
    pub(super) unsafe fn free(pointer: *mut u8, size: usize) {
        if let Some(block) = kept::keep(Block::of(pointer, rounded(size))) {
            // SAFETY: the whole mapping is the caller's.
            unsafe { unmap(block) };
        }
    }

    /// # Safety
    /// Like [`free`], with the old size.
    pub(super) unsafe fn resize(pointer: *mut u8, old_size: usize, size: usize) -> *mut u8 {
        kept::resized(rounded(old_size), rounded(size));
        // SAFETY: the caller's promise is passed on.
        unsafe { resized(pointer, rounded(old_size), rounded(size)) }
    }

    /// # Safety
    /// It is a mapping of this module of the old size.
    unsafe fn resized(pointer: *mut u8, old_size: usize, size: usize) -> *mut u8 {
        // SAFETY: the whole mapping is the caller's; when it fails it is left as it was.
        let pointer = unsafe { libc::mremap(pointer.cast(), old_size, size, libc::MREMAP_MAYMOVE) };
        advised(pointer, size)
    }

    /// # Safety
    /// Nobody uses the memory.
    unsafe fn unmap(block: Block) {
        // SAFETY: it can only fail for arguments that are not a mapping.
        unsafe { libc::munmap(block.pointer().cast(), block.size) };
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

/// Mappings that were freed and will be used again.
#[cfg(target_os = "linux")]
mod kept {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Mappings that are kept.
    const BLOCKS: usize = 32;

    /// The mappings that are kept are at most one of so many parts of those that are in use, so that
    /// little memory waits for nothing.
    const PART: usize = 2;

    /// A mapping of whole huge pages, or a part of one.
    #[derive(Clone, Copy)]
    pub(super) struct Block {
        address: usize,
        pub(super) size: usize,
    }

    impl Block {
        pub(super) fn of(pointer: *mut u8, size: usize) -> Self {
            Self { address: pointer.expose_provenance(), size }
        }

        pub(super) fn pointer(self) -> *mut u8 {
            std::ptr::with_exposed_provenance_mut(self.address)
        }
    }

    /// A list that needs no memory of the allocator that it belongs to.
    struct Kept {
        blocks: [Block; BLOCKS],
        count: usize,
        bytes: usize,
        /// Bytes of the mappings that are in use.
        used: usize,
    }

    static KEPT: Mutex<Kept> = Mutex::new(Kept {
        blocks: [Block { address: 0, size: 0 }; BLOCKS],
        count: 0,
        bytes: 0,
        used: 0,
    });

    impl Kept {
        fn list(&self) -> &[Block] {
            &self.blocks[..self.count]
        }

        fn remove(&mut self, at: usize) -> Block {
            let block = self.blocks[at];
            self.count -= 1;
            self.blocks[at] = self.blocks[self.count];
            self.bytes -= block.size;
            block
        }

        fn add(&mut self, block: Block) {
            self.blocks[self.count] = block;
            self.count += 1;
            self.bytes += block.size;
        }
    }

    fn lock() -> MutexGuard<'static, Kept> {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a mapping, or returns it if there are enough.
    pub(super) fn keep(block: Block) -> Option<Block> {
        let mut kept = lock();
        kept.used = kept.used.saturating_sub(block.size);
        if kept.count == BLOCKS || kept.bytes.saturating_add(block.size) > kept.used / PART {
            return Some(block);
        }
        kept.add(block);
        None
    }

    /// A mapping of this size, or the largest one if none is large enough. In any case, the caller
    /// uses this size from now on.
    pub(super) fn take(size: usize) -> Option<Block> {
        let mut kept = lock();
        kept.used = kept.used.saturating_add(size);
        let sizes = || kept.list().iter().map(|block| block.size).enumerate();
        let fitting = sizes().filter(|(_, of)| *of >= size).min_by_key(|(_, of)| *of);
        let (at, _) = fitting.or_else(|| sizes().max_by_key(|(_, of)| *of))?;
        let mut block = kept.remove(at);
        if block.size > size {
            kept.add(Block { address: block.address + size, size: block.size - size });
            block.size = size;
        }
        Some(block)
    }

    /// A mapping in use has another size now.
    pub(super) fn resized(old_size: usize, size: usize) {
        let mut kept = lock();
        kept.used = kept.used.saturating_sub(old_size).saturating_add(size);
    }

    /// One of the mappings.
    pub(super) fn take_any() -> Option<Block> {
        let mut kept = lock();
        (kept.count > 0).then(|| kept.remove(0))
    }
}

#[cfg(not(target_os = "linux"))]
mod mapping {
    pub(super) fn new(_size: usize) -> *mut u8 {
        unreachable!("nothing is mapped here")
    }

    pub(super) fn zeroed(_size: usize) -> *mut u8 {
        unreachable!("nothing is mapped here")
    }

    pub(super) unsafe fn free(_pointer: *mut u8, _size: usize) {
        unreachable!("nothing is mapped here")
    }

    pub(super) unsafe fn resize(_pointer: *mut u8, _old_size: usize, _size: usize) -> *mut u8 {
        unreachable!("nothing is mapped here")
    }
}
