//! Numbers of a metric.

use crate::analysis::profile::{FrameBy, TopBy};
use crate::cli::args::ByArg;
use crate::cli::size::{percent, quantity};
use crate::cli::terminal::shown;
use crate::model::profile::{Metric, Unit, Values};

/// The name of a metric's unit in JSON.
pub(crate) fn unit_name(metric: &Metric) -> &str {
    if *metric == Metric::SAMPLES { "samples" } else { metric.unit().name() }
}

/// The whole that shares refer to, in words.
pub(crate) fn whole(total: &Values, metric: &Metric, amount: &Amount) -> String {
    let base = amount.show(metric.whole(total));
    if *metric == Metric::MEMORY {
        return format!("net {}, shares of {base} gained", amount.change(total.get(metric)));
    }
    let words = [
        (Metric::TIME, String::new()),
        (Metric::CPU, " on a CPU".to_owned()),
        (Metric::GC, " in the garbage collector".to_owned()),
        (Metric::SAMPLES, " samples".to_owned()),
        (Metric::MEMORY_GAINED, " gained".to_owned()),
        (Metric::MEMORY_FREED, " freed".to_owned()),
    ];
    let words = words.into_iter().find(|(known, _)| known == metric).map(|(_, words)| words);
    base + &words.unwrap_or_else(|| format!(" {}", shown(metric.name())))
}

/// The grouping of rows, from an option that has been checked to be for profiles, and its name.
pub(crate) fn by_of(by: Option<ByArg>, tag: Option<&String>) -> (TopBy, &'static str) {
    match by {
        _ if tag.is_some() => (TopBy::Tag, "tag"),
        Some(ByArg::File) => (TopBy::Frames(FrameBy::File), "file"),
        Some(ByArg::Line) => (TopBy::Frames(FrameBy::Line), "line"),
        Some(ByArg::Thread) => (TopBy::Thread, "thread"),
        Some(ByArg::Process) => (TopBy::Process, "process"),
        Some(ByArg::Class) => (TopBy::Tag, "class"),
        Some(ByArg::State) => (TopBy::Tag, "state"),
        _ => (TopBy::Frames(FrameBy::Function), "function"),
    }
}

/// The word for rows, singular and plural.
pub(crate) fn nouns(by: TopBy) -> (&'static str, &'static str) {
    match by {
        TopBy::Frames(FrameBy::Function) => ("function", "functions"),
        TopBy::Frames(FrameBy::File) => ("file", "files"),
        TopBy::Frames(FrameBy::Line) => ("line", "lines"),
        TopBy::Thread => ("thread", "threads"),
        TopBy::Process => ("process", "processes"),
        TopBy::Tag => ("value", "values"),
    }
}

/// The headings of the columns that name rows: name and file.
pub(crate) fn headings(by: TopBy) -> (&'static str, &'static str) {
    match by {
        TopBy::Frames(FrameBy::File) => ("FILE", ""),
        TopBy::Frames(_) => ("FUNCTION", "FILE"),
        TopBy::Thread => ("THREAD", ""),
        TopBy::Process => ("PROCESS", ""),
        TopBy::Tag => ("VALUE", ""),
    }
}

/// The display of a metric's numbers.
#[derive(Clone, Debug)]
pub(crate) struct Amount {
    unit: Unit,
    exact: bool,
    /// The number that 100 % represents.
    base: i64,
}

impl Amount {
    pub(crate) fn new(metric: &Metric, base: i64, exact: bool) -> Self {
        Self { unit: metric.unit().clone(), exact, base }
    }

    /// `33.4 s`, `-1.0 KiB`, `12 345`.
    pub(crate) fn show(&self, value: i64) -> String {
        shown(&quantity(value, &self.unit, self.exact))
    }

    /// Formats a difference: like [`Self::show`], but with a sign before positive numbers, too.
    pub(crate) fn change(&self, value: i64) -> String {
        let plus = if value > 0 { "+" } else { "" };
        format!("{plus}{}", self.show(value))
    }

    /// The share of the whole. 0 if the whole is 0.
    pub(crate) fn share(&self, value: i64) -> f64 {
        if self.base == 0 { 0.0 } else { value as f64 / self.base as f64 }
    }

    /// `12.3 %`.
    pub(crate) fn percent(&self, value: i64) -> String {
        // Adding 0.0 turns -0.0 into 0.0.
        percent(self.share(value) + 0.0)
    }
}
