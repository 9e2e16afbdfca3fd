//! The phases of long computations, for programs that show or measure them.

use std::any::Any;
use std::sync::OnceLock;

/// A function that is called with the name of each phase when the phase begins. The returned value is
/// dropped when the phase ends.
pub type Watcher = fn(&'static str) -> Box<dyn Any>;

static WATCHER: OnceLock<Watcher> = OnceLock::new();

/// Calls a function at the beginning of each phase from now on. Only the first watcher counts.
pub fn watch(watcher: Watcher) {
    _ = WATCHER.set(watcher);
}

/// Begins a phase, which ends when the result is dropped.
#[must_use]
pub(crate) fn begin(phase: &'static str) -> Option<Box<dyn Any>> {
    WATCHER.get().map(|watcher| watcher(phase))
}
