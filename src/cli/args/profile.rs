//! Options of the commands that read profiles.

use crate::model::profile::Metric;
use clap::{Args, ValueEnum};

/// Which samples of a profile, and what is measured.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Profiles")]
pub(in crate::cli) struct ProfileOptions {
    /// What to add up: time, cpu, memory (gained less freed), memory-gained, memory-freed, samples or gc (default: what the
    /// profiler measured). `convert` to what cannot hold less than nothing writes memory-gained for memory
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(in crate::cli) metric: Option<MetricArg>,
    /// Only samples of this thread: its id, its name, or what it is called in tables (P18851;T0:18853)
    #[arg(long, value_name = "THREAD")]
    pub(in crate::cli) thread: Option<String>,
    /// Only samples of this process
    #[arg(long, value_name = "PID")]
    pub(in crate::cli) pid: Option<u64>,
}

impl ProfileOptions {
    /// Which were given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 3] {
        [("--metric", self.metric.is_some()), ("--thread", self.thread.is_some()), ("--pid", self.pid.is_some())]
    }

    /// Whether only some threads were asked for.
    pub(in crate::cli) fn selects(&self) -> bool {
        self.thread.is_some() || self.pid.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum MetricArg {
    /// Wall-clock time
    Time,
    /// Time on a processor
    Cpu,
    /// Bytes that came into use less bytes that went out of use
    Memory,
    /// Bytes that came into use
    MemoryGained,
    /// Bytes that went out of use
    MemoryFreed,
    /// Number of samples
    Samples,
    /// Time in the garbage collector
    Gc,
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Self {
        match metric {
            MetricArg::Time => Self::Time,
            MetricArg::Cpu => Self::Cpu,
            MetricArg::Memory => Self::Memory,
            MetricArg::MemoryGained => Self::MemoryGained,
            MetricArg::MemoryFreed => Self::MemoryFreed,
            MetricArg::Samples => Self::Samples,
            MetricArg::Gc => Self::Gc,
        }
    }
}
