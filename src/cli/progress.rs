//! The progress bar: on standard error, only on a terminal, and only for work that takes over half
//! a second.

use super::terminal::Terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Shows how much of an input has been read.
pub(super) struct Progress {
    enabled: bool,
    total: u64,
    started: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// Progress over an input of `total` bytes.
    pub(super) fn new(total: u64, terminal: &Terminal) -> Self {
        Self { enabled: terminal.progress, total, started: Instant::now(), bar: OnceLock::new() }
    }

    /// Notes that the reader has reached an offset.
    pub(super) fn reached(&self, offset: u64) {
        if !self.enabled || self.started.elapsed() < Duration::from_millis(500) {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(
                Some(self.total),
                ProgressDrawTarget::stderr_with_hz(10),
            );
            // The template is a constant that is known to be valid; the default style is a fine
            // fallback all the same.
            let style = ProgressStyle::with_template("{bar:40} {percent:>3} % of {total_bytes}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        bar.set_position(offset);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
