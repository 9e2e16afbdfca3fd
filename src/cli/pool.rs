//! The threads that share the work.

use super::lock;
use memmap2::MmapOptions;
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// The address space that a thread may reserve when it starts: its stack of 2 MiB, the stack on
/// which Rust handles an overflow, and the 64 MiB that glibc's `malloc` sets aside for each thread.
const RESERVED: usize = 72 << 20;

/// Starts the threads of the global pool: `wanted`, or one for each core.
///
/// If the system refuses some of the threads (`ulimit -u`, `ulimit -v`), the calling thread works
/// alone, and their memory is freed. rayon fails at the first thread that it cannot start, so the
/// threads are started here and wait for work.
pub(super) fn start(wanted: Option<u16>) {
    let wanted =
        wanted.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let (parts, waiting) = mpsc::channel::<ThreadBuilder>();
    let waiting = Arc::new(Mutex::new(waiting));
    let work = || {
        let waiting = Arc::clone(&waiting);
        move || {
            let part = lock(&waiting).recv();
            if let Ok(part) = part {
                part.run();
            }
        }
    };
    // A thread that starts but finds no room for its second stack aborts the program, so the room
    // is checked first.
    let room = MmapOptions::new()
        .len(wanted.saturating_mul(RESERVED))
        .no_reserve_swap()
        .map_anon()
        .is_ok();
    let startable = if room { wanted } else { 0 };
    let started: Vec<_> =
        (0..startable).map_while(|_| thread::Builder::new().spawn(work()).ok()).collect();
    // The global pool is set once, before anything uses it, and its threads are there, so neither
    // can fail.
    let _ = if started.len() == wanted {
        let hand_out =
            move |part| parts.send(part).map_err(|_| std::io::ErrorKind::BrokenPipe.into());
        ThreadPoolBuilder::new().num_threads(wanted).spawn_handler(hand_out).build_global()
    } else {
        drop(parts);
        started.into_iter().for_each(|thread| _ = thread.join());
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()
    };
}

/// Whether no other thread could be started. The calling thread then does all the work itself.
pub(super) fn is_alone() -> bool {
    rayon::current_thread_index().is_some()
}
