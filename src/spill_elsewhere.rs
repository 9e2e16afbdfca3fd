//! `--spill` where the program's allocator makes no mappings: refused.

use std::io;
use std::path::Path;
use std::ptr::null_mut;

pub(crate) fn to(_folder: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only supported on Linux"))
}

pub(crate) fn is_on() -> bool {
    false
}

pub(crate) fn map(_size: usize) -> *mut u8 {
    null_mut()
}
