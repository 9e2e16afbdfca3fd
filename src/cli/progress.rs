//! The progress bar: on standard error, only on a terminal, and only once the program has worked for
//! half a second.

use super::{lock, own_profile};
use crate::phases::{self, Phase};
use crate::source::Source;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// When the program began.
static BEGAN: OnceLock<Instant> = OnceLock::new();
/// Whether bars are wanted.
static WANTED: AtomicBool = AtomicBool::new(false);

/// The numbers and names of the phases that are open, in the order in which they began, and their bars.
static OPEN: Mutex<Vec<(u32, &str, ProgressBar)>> = Mutex::new(Vec::new());

/// The outermost phase with its progress, for interfaces that draw it themselves.
#[cfg(feature = "explore")]
pub(super) fn current() -> Option<String> {
    let open = lock(&OPEN);
    let (_, name, bar) = open.first()?;
    Some(match bar.length() {
        Some(length @ 1..) => format!("{name} {} %", bar.position().min(length) * 100 / length),
        _ => (*name).to_owned(),
    })
}

/// The time after which the bar appears. Shorter waits need none.
const PATIENCE: Duration = Duration::from_millis(500);

/// Enables or disables bars from now on.
pub(super) fn allow(wanted: bool) {
    BEGAN.get_or_init(Instant::now);
    phases::watch(|phase| Box::new(Progress::of(phase, None)));
    WANTED.store(wanted, Relaxed);
}

/// A phase of the work, shown until it is dropped: its name with a bar if its end is known, and with
/// a spinner if not. Phases within another one are not shown.
pub(super) struct Progress {
    phase: Phase,
    bar: ProgressBar,
    /// Ends the thread that waits to show the bar.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins a phase over `total` bytes, or one whose end is not known.
    pub(super) fn new(phase: &'static str, total: Option<u64>) -> Self {
        Self::of(Phase::new(phase), total)
    }

    fn of(phase: Phase, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        own_profile::begin(&phase);
        let mut open = lock(&OPEN);
        let is_part = !open.is_empty();
        open.push((phase.number, phase.name, bar.clone()));
        drop(open);
        let Some(began) = BEGAN.get().filter(|_| WANTED.load(Relaxed) && !is_part) else {
            return Self { phase, bar, waiting: None };
        };
        let template = match total {
            Some(_) => "{bar:40} {percent:>3} % of {total_bytes}  {msg}",
            None => "{spinner} {msg}",
        };
        // The templates are constants that are known to be valid; the default style is a fine
        // fallback all the same.
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_message(phase.name);
        let (end, ended) = mpsc::channel();
        let (shown, rest) = (bar.clone(), PATIENCE.saturating_sub(began.elapsed()));
        let wait = move || {
            if ended.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        };
        // If the thread cannot be started, there is no bar, and the work continues.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(wait);
        Self { phase, bar, waiting: thread.ok().map(|thread| (end, thread)) }
    }

    /// Notes that the work has reached an offset.
    pub(super) fn reached(&self, offset: u64) {
        self.bar.set_position(offset);
    }

    /// Notes that the work has reached an offset of a source, and releases the memory before it.
    pub(super) fn passed(&self, offset: u64, source: &Source) {
        self.reached(offset);
        source.release_before(offset);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.waiting.take() {
            drop(end);
            // A thread that panicked showed nothing, and there is nothing to clean up.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
        lock(&OPEN).retain(|(number, ..)| *number != self.phase.number);
        own_profile::end(&self.phase);
    }
}
