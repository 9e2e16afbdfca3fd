//! The program's allocator of large columns, which belongs to the program and not to the library.
#![allow(unsafe_code)]

#[path = "../src/pages.rs"]
mod pages;

use pages::{HugePages, LARGE, unmap};
use std::alloc::{GlobalAlloc, Layout};

#[test]
fn contents_survive_growing_and_shrinking_over_the_limit() {
    let sizes = [
        100,
        LARGE - 1,
        LARGE,
        LARGE + 1,
        3 * LARGE,
        2 * LARGE,
        LARGE / 2,
        LARGE - 1,
        LARGE / 2,
        10,
    ];
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

#[test]
fn freed_mappings_are_used_again_and_zeroed_when_asked() {
    let layout = |size| Layout::from_size_align(size, 8).unwrap();
    for round in 0..20 {
        let sizes = [LARGE / 2, LARGE, 3 * LARGE, 40 * LARGE, LARGE + 5];
        // SAFETY: every access is inside of an allocation that is not freed yet.
        unsafe {
            let pointers = sizes.map(|size| {
                let pointer = match round % 2 {
                    0 => HugePages.alloc(layout(size)),
                    _ => HugePages.alloc_zeroed(layout(size)),
                };
                if round % 2 == 1 {
                    assert!((0..size).step_by(4096).all(|i| *pointer.add(i) == 0), "{size}");
                }
                (0..size).step_by(4096).for_each(|i| *pointer.add(i) = size as u8 | 1);
                pointer
            });
            for (pointer, size) in pointers.into_iter().zip(sizes) {
                assert!((0..size).step_by(4096).all(|i| *pointer.add(i) == size as u8 | 1));
                match round % 3 {
                    0 => unmap(pointer, layout(size)),
                    _ => HugePages.dealloc(pointer, layout(size)),
                }
            }
        }
    }
}
