//! Large allocations in files of their own (`--spill`), for heaps whose columns do not fit into
//! memory.
//!
//! A file has no name, so it is gone when the program ends, even after a crash. All of its space is
//! reserved at once: if the disk is full, the allocation fails, and no signal follows later. The kernel
//! keeps as much of the files in memory as there is room for.
#![allow(unsafe_code)]

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The folder of the files. Empty until [`to`] is called.
static FOLDER: OnceLock<CString> = OnceLock::new();

/// Puts all large allocations from now on into files in a folder. Fails if the folder cannot be
/// written to, or its file system has no files without names.
pub(crate) fn to(folder: &Path) -> io::Result<()> {
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    file(&folder)?;
    FOLDER.get_or_init(|| folder);
    Ok(())
}

/// Whether large allocations become files.
#[inline]
pub(crate) fn is_on() -> bool {
    FOLDER.get().is_some()
}

/// A mapping of a new file of zeros, which `munmap` frees. Null if there is no space for it. Does
/// not allocate.
pub(crate) fn map(size: usize) -> *mut u8 {
    FOLDER.get().and_then(|folder| mapping(folder, size).ok()).unwrap_or(null_mut())
}

fn file(folder: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(open(folder, flags, Mode::RUSR | Mode::WUSR)?)
}

/// The file is closed; its mapping stays.
fn mapping(folder: &CStr, size: usize) -> io::Result<*mut u8> {
    let file = file(folder)?;
    fallocate(&file, FallocateFlags::empty(), 0, size as u64)?;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use. Nobody
    // else can open the file, which has no name.
    let mapping = unsafe { mmap(null_mut(), size, protection, MapFlags::SHARED, &file, 0) }?;
    Ok(mapping.cast())
}
