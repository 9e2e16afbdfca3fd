//! Large allocations in files of their own (`--spill`), for heaps whose columns do not fit into
//! memory.
//!
//! A file has no name, so that nothing is left of it however the program ends, and all of its space
//! is reserved, so that a full disk is an allocation that fails and not a signal later on. The
//! kernel keeps as much of the files in memory as there is room for.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The folder of the files; none as long as memory is used.
static FOLDER: OnceLock<CString> = OnceLock::new();

/// Puts all large allocations from now on into files in a folder.
///
/// # Errors
/// The folder cannot be written to, or its file system has no files without names.
pub(crate) fn to(folder: &Path) -> io::Result<()> {
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    match file(&folder) {
        None => Err(io::Error::last_os_error()),
        Some(file) => {
            close(file);
            FOLDER.get_or_init(|| folder);
            Ok(())
        }
    }
}

/// Whether large allocations are files.
#[inline]
pub(crate) fn is_on() -> bool {
    FOLDER.get().is_some()
}

/// A mapping of a new file of zeros, which `munmap` frees; null if there is no space for it.
/// Allocates nothing.
pub(crate) fn map(size: usize) -> *mut u8 {
    let Some(file) = FOLDER.get().and_then(file) else { return null_mut() };
    let mapping = match reserve(file, size) {
        true => mapping(file, size),
        false => null_mut(),
    };
    close(file);
    mapping
}

fn file(folder: &CString) -> Option<libc::c_int> {
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero, and the mode that O_TMPFILE wants is given.
    let file = unsafe { libc::open(folder.as_ptr(), flags, 0o600) };
    (file >= 0).then_some(file)
}

fn reserve(file: libc::c_int, size: usize) -> bool {
    // SAFETY: the file is open, and no memory is passed.
    libc::off64_t::try_from(size)
        .is_ok_and(|size| unsafe { libc::fallocate64(file, 0, 0, size) == 0 })
}

fn mapping(file: libc::c_int, size: usize) -> *mut u8 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use. Nobody
    // else can open the file, which has no name.
    let pointer = unsafe { libc::mmap(null_mut(), size, protection, libc::MAP_SHARED, file, 0) };
    if pointer == libc::MAP_FAILED { null_mut() } else { pointer.cast() }
}

fn close(file: libc::c_int) {
    // SAFETY: the descriptor is this module's, and is not used any more. A mapping stays.
    unsafe { libc::close(file) };
}
