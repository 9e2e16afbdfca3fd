//! All fuzz targets in one program, whose `main` is libFuzzer's.
//!
//! The program runs the target whose name it has: `fuzz/run` links it to the name of each. As
//! `fuzz`, it lists them. Any other name is an error.
#![no_main]

use dumptool_fuzz::{Target, targets};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::process;
use std::sync::OnceLock;

static TARGET: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
    TARGET.get().expect("a target is chosen first").test(bytes);
});

fn choose() {
    let program = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default();
    let mut targets = targets();
    match targets.iter().position(|target| name == target.name.as_str()) {
        Some(at) => drop(TARGET.set(targets.swap_remove(at))),
        None if name == "fuzz" => {
            targets.iter().for_each(|target| println!("{}", target.name));
            process::exit(0);
        }
        None => {
            eprintln!("there is no target {}", name.display());
            process::exit(2);
        }
    }
}

/// The largest allocation that an input of 64 KiB justifies.
///
/// `-malloc_limit_mb` of libFuzzer works only with a sanitizer.
const LARGEST: usize = 256 << 20;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// The system's allocator, which ends the program where an allocation is too large.
struct Limited;

impl Limited {
    fn check(bytes: usize) {
        if bytes > LARGEST {
            eprintln!("an allocation of {bytes} bytes");
            process::abort();
        }
    }
}

// SAFETY: all calls go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::check(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::check(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::check(size);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
