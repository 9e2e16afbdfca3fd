//! Removes the temporary file of a conversion when the program is stopped from outside.
//!
//! * SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGXCPU: the handler removes the file and ends the program
//!   by the signal's default action, so that shells see the signal. Signals that are ignored at the
//!   start, as `nohup` does, stay ignored.
//! * SIGBUS: another process truncated the input while it was mapped, so pages are gone. No code
//!   can continue from there; the handler removes the file, reports the cause and exits with status
//!   3 as for any damaged input.
//! * SIGXFSZ: the output would exceed the limit of the shell (`ulimit -f`). The signal is ignored,
//!   so writing fails with an error as on a full disk.
//! * SIGXCPU after [`limit_seconds`]: the command used up its processor time; the handler removes the
//!   file, reports that and exits with status 2.
//! * A failed allocation: see [`out_of_memory`].
//!
//! Each of them also restores the terminal that `explore` uses.
#![cfg_attr(unix, allow(unsafe_code))]

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Removes the file at `path`, which need not exist yet, if the program is stopped before [`keep`]
/// is called.
///
/// Only the last file that was registered is removed.
pub(super) fn remove_when_stopped(path: &Path) {
    pending::set(path);
    INSTALLED.call_once(stop::install);
}

static INSTALLED: Once = Once::new();

/// Restores the current state of the terminal if the program is stopped before
/// [`terminal_is_restored`] is called.
#[cfg(feature = "explore")]
pub(super) fn restore_terminal_when_stopped() {
    screen::remember();
    INSTALLED.call_once(stop::install);
}

/// Cancels [`restore_terminal_when_stopped`].
#[cfg(feature = "explore")]
pub(super) fn terminal_is_restored() {
    screen::forget();
}

/// Cancels [`remove_when_stopped`], because the file is complete or does not exist.
pub(super) fn keep() {
    pending::clear();
}

/// The source of an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// The memory of the machine.
    Memory,
    /// Files in the folder of `--spill`.
    Spill,
}

/// The memory that the kernel lets this process take, in bytes, and its processor time in seconds. 0
/// if dumptool set no limit.
static MEMORY: AtomicU64 = AtomicU64::new(0);
static SECONDS: AtomicU64 = AtomicU64::new(0);

/// Notes the memory limit that allocations fail at from now on, in bytes.
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has such limits"))]
pub(super) fn limit_memory(bytes: u64) {
    MEMORY.store(bytes, Ordering::Relaxed);
}

/// The processor time at which the kernel will end this process, in seconds since its start.
#[cfg(unix)]
static END: AtomicU64 = AtomicU64::new(0);

/// Notes that a SIGXCPU after `end` seconds of processor time reports a limit of `seconds`.
#[cfg(unix)]
pub(super) fn limit_seconds(seconds: u64, end: u64) {
    SECONDS.store(seconds, Ordering::Relaxed);
    END.store(end, Ordering::Relaxed);
    stop::report_timeout();
}

/// Ends the program because an allocation failed: one line on standard error, no temporary file
/// left. The status is 2 if the limit was dumptool's own, otherwise 3.
///
/// Allocates nothing itself, so the program's allocator may call it.
pub(super) fn out_of_memory(bytes: usize, space: Space) -> ! {
    // Several threads may fail at once. The first one ends the program.
    static FIRST: AtomicBool = AtomicBool::new(true);
    if !FIRST.swap(false, Ordering::SeqCst) {
        loop {
            std::hint::spin_loop();
        }
    }
    pending::remove();
    let mut line = Cursor::new([0; 256]);
    let limit = MEMORY.load(Ordering::Relaxed) >> 20;
    // The line has room for the largest number.
    let _ = match space {
        Space::Memory if limit > 0 => writeln!(
            line,
            "error: the command needs more memory than the limit of {limit} MiB\n  hint: --max-memory raises the limit"
        ),
        Space::Memory => writeln!(
            line,
            "error: out of memory: an allocation of {bytes} bytes failed\n  hint: --max-memory sets a limit that dumptool checks before it starts"
        ),
        Space::Spill => writeln!(
            line,
            "error: out of space: an allocation of {bytes} bytes failed\n  hint: choose a folder with more free space for --spill"
        ),
    };
    let is_own = space == Space::Memory && limit > 0;
    let length = line.position() as usize;
    stop::exit(line.get_ref().get(..length).unwrap_or_default(), if is_own { 2 } else { 3 })
}

#[cfg(unix)]
pub(super) use stop::report_signals;

/// Does nothing: there are no such signals.
#[cfg(not(unix))]
pub(super) fn report_signals() {}

#[cfg(unix)]
mod stop {
    use super::{END, SECONDS, pending, screen};
    use rustix::time::{ClockId, clock_gettime};
    use std::io::{Cursor, Write};
    use std::sync::atomic::Ordering;

    /// Handles the signals that end a program, except those that are ignored.
    pub(super) fn install() {
        for signal in
            [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGABRT, libc::SIGXCPU]
        {
            // SAFETY: a zeroed sigaction is the default action without flags. The handler only
            // calls what is safe in a handler. Its action is reset on entry, so it runs once.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(signal, std::ptr::null(), &mut action) != 0
                    || action.sa_sigaction != libc::SIG_DFL
                {
                    continue;
                }
                let handler: extern "C" fn(libc::c_int) = stopped;
                action.sa_sigaction = handler as libc::sighandler_t;
                action.sa_flags = libc::SA_RESETHAND;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }

    extern "C" fn stopped(signal: libc::c_int) {
        pending::remove();
        screen::restore();
        // SAFETY: raise is safe in a handler. The signal is blocked until the handler returns; then
        // its default action, which SA_RESETHAND has restored, ends the program.
        unsafe { libc::raise(signal) };
    }

    /// Turns signals about the input and the output into errors.
    pub(in super::super) fn report_signals() {
        let handler: extern "C" fn(libc::c_int) = truncated;
        // SAFETY: the handler only calls what is safe in a handler: unlink, write and _exit.
        unsafe {
            libc::signal(libc::SIGBUS, handler as libc::sighandler_t);
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }

    /// Turns SIGXCPU into an error.
    pub(in super::super) fn report_timeout() {
        let handler: extern "C" fn(libc::c_int) = timed_out;
        // SAFETY: the handler only calls what is safe in a handler: unlink, write and _exit.
        unsafe { libc::signal(libc::SIGXCPU, handler as libc::sighandler_t) };
    }

    extern "C" fn timed_out(signal: libc::c_int) {
        let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
        // The kernel may count slightly more time than the clock.
        if used.saturating_add(1) < END.load(Ordering::Relaxed) {
            // Another process sent the signal. SAFETY: both calls are safe in a handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            return stopped(signal);
        }
        pending::remove();
        let mut line = Cursor::new([0; 256]);
        let seconds = SECONDS.load(Ordering::Relaxed);
        // The line has room for the largest number.
        let _ = writeln!(
            line,
            "error: the command took more than {seconds} s of processor time\n  hint: --timeout raises the limit"
        );
        let length = line.position() as usize;
        exit(line.get_ref().get(..length).unwrap_or_default(), 2)
    }

    extern "C" fn truncated(_signal: libc::c_int) {
        const MESSAGE: &[u8] =
            b"error: the input was truncated while it was read\n  hint: wait until the dump is complete, or copy it first\n";
        pending::remove();
        exit(MESSAGE, 3)
    }

    /// Writes a message to standard error and ends the program at once. Safe in a signal handler.
    pub(super) fn exit(message: &[u8], status: i32) -> ! {
        screen::restore();
        // If the message cannot be written, there is no other way to report it.
        let _ = rustix::io::write(rustix::stdio::stderr(), message);
        // SAFETY: the call is safe in a handler.
        unsafe { libc::_exit(status) }
    }
}

#[cfg(not(unix))]
mod stop {
    use super::pending;
    use std::io::Write;

    /// The status of a program that Ctrl-C ended: STATUS_CONTROL_C_EXIT.
    const INTERRUPTED: i32 = 0xc000_013a_u32 as i32;

    pub(super) fn install() {
        // Without a handler, an interrupt leaves the hidden temporary file behind; no other harm.
        let _ = ctrlc::set_handler(|| {
            pending::remove();
            std::process::exit(INTERRUPTED);
        });
    }

    pub(super) fn exit(message: &[u8], status: i32) -> ! {
        let _ = std::io::stderr().write_all(message);
        std::process::exit(status)
    }
}

/// The state of the terminal before `explore`, which a signal handler can restore.
#[cfg(all(unix, feature = "explore"))]
mod screen {
    use rustix::stdio::{stdin, stdout};
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static MODE: OnceLock<Option<Termios>> = OnceLock::new();
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    /// Ends bracketed paste, mouse reports and the alternate screen, and shows the cursor.
    const LEAVE: &[u8] =
        b"\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1049l\x1b[?25h";

    pub(super) fn remember() {
        MODE.get_or_init(|| tcgetattr(stdin()).ok());
        IS_TAKEN.store(true, Ordering::SeqCst);
    }

    pub(super) fn forget() {
        IS_TAKEN.store(false, Ordering::SeqCst);
    }

    pub(super) fn restore() {
        if !IS_TAKEN.swap(false, Ordering::SeqCst) {
            return;
        }
        // Both are system calls without locks, which a signal handler requires.
        let _ = rustix::io::write(stdout(), LEAVE);
        if let Some(Some(mode)) = MODE.get() {
            let _ = tcsetattr(stdin(), OptionalActions::Now, mode);
        }
    }
}

/// Does nothing, in builds without `explore` or on systems without signals.
#[cfg(not(all(unix, feature = "explore")))]
mod screen {
    #[cfg(feature = "explore")]
    pub(super) fn remember() {}

    #[cfg(feature = "explore")]
    pub(super) fn forget() {}

    #[cfg(unix)]
    pub(super) fn restore() {}
}

/// The path of the temporary file. A signal handler can read it without locks and allocations.
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
    use crate::parallel::lock;
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    static PATH: Mutex<Option<PathBuf>> = Mutex::new(None);

    pub(super) fn set(path: &Path) {
        *lock(&PATH) = Some(path.to_owned());
    }

    pub(super) fn clear() {
        *lock(&PATH) = None;
    }

    pub(super) fn remove() {
        if let Some(path) = lock(&PATH).take() {
            let _ = std::fs::remove_file(path);
        }
    }
}
