//! Options for commands that read profiles.

use crate::model::profile::Metric;
use clap::{Args, ValueEnum};

/// Selects the samples and the metric of a profile.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Profiles")]
pub(in crate::cli) struct ProfileOptions {
    /// Metric to add up: time, cpu, memory (gained minus freed), memory-gained, memory-freed, samples or gc (default: the
    /// metric of the recording). `convert` writes memory-gained for memory if the output format has no negative values
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(in crate::cli) metric: Option<MetricArg>,
    /// Only samples of this thread: its id, its name, or its label in tables (P18851;T0:18853)
    #[arg(long, value_name = "THREAD")]
    pub(in crate::cli) thread: Option<String>,
    /// Only samples of this process
    #[arg(long, value_name = "PID")]
    pub(in crate::cli) pid: Option<u64>,
}

impl ProfileOptions {
    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 3] {
        [("--metric", self.metric.is_some()), ("--thread", self.thread.is_some()), ("--pid", self.pid.is_some())]
    }

    /// Whether the options select only some threads.
    pub(in crate::cli) fn selects(&self) -> bool {
        self.thread.is_some() || self.pid.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum MetricArg {
    /// Wall-clock time
    Time,
    /// CPU time
    Cpu,
    /// Net memory: bytes gained minus bytes freed
    Memory,
    /// Memory gained
    MemoryGained,
    /// Memory freed
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
