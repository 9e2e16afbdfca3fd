//! The program's allocator of large columns, which belongs to the program and not to the library.
#![allow(unsafe_code)]

#[path = "../../src/pages.rs"]
mod allocator;

use allocator::{HugePages, LARGE};
use std::alloc::{GlobalAlloc, Layout};

#[test]
fn contents_survive_growing_and_shrinking_over_the_limit() {
    let half = LARGE / 2;
    let sizes = [100, half, LARGE - 1, LARGE, LARGE + 1, 3 * LARGE, 2 * LARGE, half, LARGE - 1, 10];
    let layout = |size| Layout::from_size_align(size, 8).unwrap();
    // SAFETY: every access is inside of the allocation's present size.
    unsafe {
        let mut pointer = HugePages.alloc_zeroed(layout(sizes[0]));
        (0..10).for_each(|i| *pointer.add(i) = i as u8);
        for pair in sizes.windows(2) {
            pointer = HugePages.realloc(pointer, layout(pair[0]), pair[1]);
            assert!(!pointer.is_null());
            assert!((0..10).all(|i| *pointer.add(i) == i as u8), "from {} to {}", pair[0], pair[1]);
            *pointer.add(pair[1] - 1) = 9;
        }
        HugePages.dealloc(pointer, layout(10));
    }
}

#[test]
fn large_allocations_are_zeroed_when_asked() {
    // SAFETY: as above.
    unsafe {
        let layout = Layout::from_size_align(LARGE, 8).unwrap();
        let pointer = HugePages.alloc_zeroed(layout);
        assert!((0..LARGE).step_by(4096).all(|i| *pointer.add(i) == 0));
        HugePages.dealloc(pointer, layout);
    }
}
