//! Options for commands that read profiles.

use super::narrow::NarrowOptions;
use crate::input::load::MetricChoice;
use clap::Args;

/// Selects the samples and the metric of a profile.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Profiles")]
pub(in crate::cli) struct ProfileOptions {
    /// Metric to add up, by its name in `info` (default: the main metric of the recording). Austin
    /// has time, cpu, memory (gained minus freed), memory-gained, memory-freed, samples and gc;
    /// `convert` writes memory-gained instead of memory if the output format has no negative values
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) metric: Option<String>,
    /// Only samples of this thread: its id, its name, or its label in tables (P18851;T0:18853)
    #[arg(long, value_name = "THREAD")]
    pub(in crate::cli) thread: Option<String>,
    /// Only events of this type (jfr), such as `--event jdk.FileRead`: as `--where event=NAME`
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) event: Option<String>,
    /// Group by the values of this label (`top`, `diff`), or make them the outermost frames (`tree`,
    /// `convert`): `thread` in all profiles, others in pprof, jfr, perf-script and perf-data
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) tag: Option<String>,
    /// Only samples of this process
    #[arg(long, value_name = "PID")]
    pub(in crate::cli) pid: Option<u64>,
    /// Keep the frames that the profile asks to leave out (pprof: drop_frames, keep_frames), and the
    /// functions of allocators (malloc, operator new), which otherwise count as their callers
    #[arg(long)]
    pub(in crate::cli) all_frames: bool,
    /// Show the numbers of the samples, instead of those scaled to all allocations (jemalloc,
    /// gperftools)
    #[arg(long)]
    pub(in crate::cli) raw_counts: bool,
    /// Split the costs of functions among their callers, for a file that has calls but no stacks
    /// (callgrind, cprofile): the stacks are estimated
    #[arg(long)]
    pub(in crate::cli) estimate: bool,
    #[command(flatten)]
    pub(in crate::cli) narrow: NarrowOptions,
}

impl ProfileOptions {
    /// The options as words of a command line.
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let word = |(name, value): (&str, String)| match &*value {
            "" => format!("--{name}"),
            value => format!("--{name}={value}"),
        };
        self.pairs().into_iter().map(word).collect()
    }

    /// The names of the options that were given, with their values; empty if an option has none.
    pub(in crate::cli) fn pairs(&self) -> Vec<(&'static str, String)> {
        let narrow = &self.narrow;
        let texts = [
            ("metric", &self.metric),
            ("thread", &self.thread),
            ("event", &self.event),
            ("tag", &self.tag),
            ("focus", &narrow.focus),
            ("ignore", &narrow.ignore),
            ("hide", &narrow.hide),
            ("show", &narrow.show),
            ("show-from", &narrow.show_from),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?)));
        let time = |micros: u64| format!("{micros}us");
        let flag = |is_given: bool| is_given.then(String::new);
        let others = [
            ("from-time", narrow.from_time.map(time)),
            ("to-time", narrow.to_time.map(time)),
            ("pid", self.pid.map(|pid| pid.to_string())),
            ("all-frames", flag(self.all_frames)),
            ("raw-counts", flag(self.raw_counts)),
            ("estimate", flag(self.estimate)),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let labels = narrow.labels.iter().map(|(key, value)| ("where", format!("{key}={value}")));
        texts.chain(others).chain(labels).collect()
    }

    /// These options, grouped by a label that `--by` names.
    pub(in crate::cli) fn grouped(&self, key: Option<&'static str>) -> Self {
        let tag = self.tag.clone().or(key.map(str::to_owned));
        Self { tag, ..self.clone() }
    }

    /// Whether the numbers and the stacks are those that are shown without options.
    pub(in crate::cli) fn is_usual(&self) -> bool {
        !self.raw_counts && !self.estimate
    }

    /// The metrics whose samples are needed. Those of a label may be of any metric.
    pub(in crate::cli) fn metrics(&self) -> MetricChoice<'_> {
        let selects = self.event.is_some() || self.tag.is_some() || !self.narrow.labels.is_empty();
        match &self.metric {
            _ if selects || self.thread.is_some() || self.pid.is_some() => MetricChoice::All,
            Some(name) => MetricChoice::Named(name),
            None => MetricChoice::Main,
        }
    }

    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> Vec<(&'static str, bool)> {
        let own = [
            ("--metric", self.metric.is_some()),
            ("--thread", self.thread.is_some()),
            ("--event", self.event.is_some()),
            ("--tag", self.tag.is_some()),
            ("--pid", self.pid.is_some()),
            ("--all-frames", self.all_frames),
            ("--raw-counts", self.raw_counts),
            ("--estimate", self.estimate),
        ];
        [&own[..], &self.narrow.given()].concat()
    }
}
