//! The phases of long computations, for programs that show or measure them.

use std::any::Any;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A function that is called with each phase when the phase begins. The returned value, which has to
/// keep the phase, is dropped when the phase ends.
pub type Watcher = fn(Phase) -> Box<dyn Any>;

static WATCHER: OnceLock<Watcher> = OnceLock::new();
static COUNT: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The number of the phase in which the calling thread works; 0 for none.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// A phase. It ends when it is dropped, on the thread on which it began.
pub struct Phase {
    /// The name.
    pub name: &'static str,
    /// The number of the phase, from 1.
    pub number: u32,
    /// The number of the phase within which it began; 0 for none.
    pub within: u32,
}

impl Phase {
    /// Begins a phase without calling the watcher.
    pub(crate) fn new(name: &'static str) -> Self {
        let number = COUNT.fetch_add(1, Relaxed) + 1;
        Self { name, number, within: CURRENT.replace(number) }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        CURRENT.set(self.within);
    }
}

/// Calls a function at the beginning of each phase from now on. Only the first watcher counts.
pub fn watch(watcher: Watcher) {
    _ = WATCHER.set(watcher);
}

/// Begins a phase, which ends when the result is dropped.
#[must_use]
pub(crate) fn begin(name: &'static str) -> Option<Box<dyn Any>> {
    WATCHER.get().map(|watcher| watcher(Phase::new(name)))
}

/// The phase in which the calling thread works, for work that other threads may take over.
#[derive(Clone, Copy)]
pub(crate) struct Part(u32);

/// Returns the phase in which the calling thread works.
pub(crate) fn part() -> Part {
    Part(CURRENT.get())
}

impl Part {
    /// Runs work as part of the phase, whichever thread it is that calls this.
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        let _before = Before(CURRENT.replace(self.0));
        work()
    }
}

/// The phase in which a thread worked before, to which it returns when this is dropped.
struct Before(u32);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}
