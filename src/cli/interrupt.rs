//! What happens when the program is stopped from outside: the temporary file of a conversion goes with it.
//!
//! * Ctrl-C, SIGTERM and SIGHUP: the file is removed, exit status 130.
//! * SIGBUS: another process shortened the input while it was mapped, so that a page that was there is gone. No code can go
//!   on from there; the handler removes the file, says what happened and exits with status 3 as for any damaged input.
//! * SIGXFSZ: the output would become larger than the limit of the shell (`ulimit -f`). It is ignored, so that writing fails
//!   with an error like on a full disk.
#![cfg_attr(unix, allow(unsafe_code))]

use std::path::Path;
use std::sync::Once;

/// Removes the file if the program is stopped before [`keep`] is called. One file at a time.
pub(super) fn remove_when_stopped(path: &Path) {
    pending::set(path);
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Without a handler an interrupt would leave the hidden temporary file behind, and nothing worse.
        let _ = ctrlc::set_handler(|| {
            pending::remove();
            std::process::exit(130);
        });
    });
}

/// The file is complete, or gone.
pub(super) fn keep() {
    pending::clear();
}

/// Turns signals about the input and the output into errors.
pub(super) fn report_signals() {
    #[cfg(unix)]
    {
        let handler: extern "C" fn(libc::c_int) = shortened;
        // SAFETY: the handler only calls what may be called in a handler of signals: unlink, write and _exit.
        unsafe {
            libc::signal(libc::SIGBUS, handler as libc::sighandler_t);
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }
}

#[cfg(unix)]
extern "C" fn shortened(_signal: libc::c_int) {
    const MESSAGE: &[u8] =
        b"error: the input became shorter while it was read\n  hint: wait until the dump is complete, or copy it first\n";
    pending::remove();
    // SAFETY: both calls are safe in a handler of signals; the message is static. Nothing is left to do if it cannot be written.
    unsafe {
        let _ = libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(3);
    }
}

/// The path of the temporary file, where a handler of signals can read it: no locks and no allocations there.
#[cfg(unix)]
mod pending {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, Ordering};

    static PATH: AtomicPtr<libc::c_char> = AtomicPtr::new(null_mut());

    pub(super) fn set(path: &Path) {
        if let Ok(path) = CString::new(path.as_os_str().as_bytes()) {
            // The few bytes stay allocated: a handler may be reading them at any moment.
            PATH.store(path.into_raw(), Ordering::SeqCst);
        }
    }

    pub(super) fn clear() {
        PATH.store(null_mut(), Ordering::SeqCst);
    }

    pub(super) fn remove() {
        let path = PATH.swap(null_mut(), Ordering::SeqCst);
        if !path.is_null() {
            // SAFETY: a path that is not null came from a CString and is never freed.
            unsafe { libc::unlink(path) };
        }
    }
}

#[cfg(not(unix))]
mod pending {
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, PoisonError};

    static PATH: Mutex<Option<PathBuf>> = Mutex::new(None);

    pub(super) fn set(path: &Path) {
        *PATH.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    }

    pub(super) fn clear() {
        *PATH.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn remove() {
        if let Some(path) = PATH.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = std::fs::remove_file(path);
        }
    }
}
