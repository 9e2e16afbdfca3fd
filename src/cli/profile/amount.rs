//! Numbers of a metric.

use crate::analysis::profile::{FrameBy, TopBy, share_base};
use crate::cli::args::ByArg;
use crate::cli::size::{count, duration, percent, signed_size};
use crate::model::profile::{Metric, Unit, Values};

/// The name of a metric's unit in JSON.
pub(crate) fn unit_name(metric: Metric) -> &'static str {
    match metric.unit() {
        Unit::Count => "samples",
        unit => unit.name(),
    }
}

/// What shares are shares of, in words.
pub(crate) fn whole(total: &Values, metric: Metric, amount: Amount) -> String {
    let base = amount.show(share_base(total, metric));
    match metric {
        Metric::Time => base,
        Metric::Cpu => format!("{base} on a CPU"),
        Metric::Gc => format!("{base} in the garbage collector"),
        Metric::Samples => format!("{base} samples"),
        Metric::MemoryGained => format!("{base} gained"),
        Metric::MemoryFreed => format!("{base} freed"),
        Metric::Memory => format!("net {}, shares of {base} gained", amount.change(total.get(metric))),
    }
}

/// What rows are by, from an option that has been checked to be for profiles, and its name.
pub(crate) fn by_of(by: Option<ByArg>) -> (TopBy, &'static str) {
    match by {
        Some(ByArg::File) => (TopBy::Frames(FrameBy::File), "file"),
        Some(ByArg::Line) => (TopBy::Frames(FrameBy::Line), "line"),
        Some(ByArg::Thread) => (TopBy::Thread, "thread"),
        Some(ByArg::Process) => (TopBy::Process, "process"),
        _ => (TopBy::Frames(FrameBy::Function), "function"),
    }
}

/// What rows are called, one and several.
pub(crate) fn nouns(by: TopBy) -> (&'static str, &'static str) {
    match by {
        TopBy::Frames(FrameBy::Function) => ("function", "functions"),
        TopBy::Frames(FrameBy::File) => ("file", "files"),
        TopBy::Frames(FrameBy::Line) => ("line", "lines"),
        TopBy::Thread => ("thread", "threads"),
        TopBy::Process => ("process", "processes"),
    }
}

/// How a person sees the numbers of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    unit: Unit,
    exact: bool,
    /// What 100 % are.
    base: i64,
}

impl Amount {
    pub(crate) fn new(metric: Metric, base: i64, exact: bool) -> Self {
        Self { unit: metric.unit(), exact, base }
    }

    /// `33.4 s`, `-1.0 KiB`, `12 345`.
    pub(crate) fn show(&self, value: i64) -> String {
        let minus = if value < 0 { "-" } else { "" };
        match self.unit {
            Unit::Microseconds => format!("{minus}{}", duration(value.unsigned_abs())),
            Unit::Bytes => signed_size(value, self.exact),
            Unit::Count => format!("{minus}{}", count(value.unsigned_abs())),
        }
    }

    /// As [`Self::show`], with a sign always.
    pub(crate) fn change(&self, value: i64) -> String {
        let plus = if value > 0 { "+" } else { "" };
        format!("{plus}{}", self.show(value))
    }

    /// The share of the whole; 0 of nothing.
    pub(crate) fn share(&self, value: i64) -> f64 {
        if self.base == 0 { 0.0 } else { value as f64 / self.base as f64 }
    }

    /// `12.3 %`.
    pub(crate) fn percent(&self, value: i64) -> String {
        // A share of nothing is none, and -0.0 is 0.
        percent(self.share(value) + 0.0)
    }
}
