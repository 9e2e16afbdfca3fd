//! What the benchmarks and their floors share.

use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};
use std::hint::black_box;
use std::sync::atomic::AtomicU64;

/// What a benchmark has loaded; nothing if it loads nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) objects: u64,
    pub(crate) references: u64,
}

/// Letting go of the heap is a part of the work.
pub(crate) fn load(format: Format, bytes: &[u8]) -> Found {
    let loaded =
        input::load(format, bytes, LoadOptions::default()).expect("the input has a header");
    assert!(loaded.damage.is_none(), "{:?}", loaded.damage);
    black_box(Found {
        objects: loaded.heap.len() as u64,
        references: loaded.heap.references().len() as u64,
    })
}

/// Bytes of the last conversion, for the floor.
pub(crate) static CONVERTED: AtomicU64 = AtomicU64::new(0);
