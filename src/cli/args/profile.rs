//! Options for commands that read profiles.

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
    /// Only samples with this label, such as `--where request=17`; may be repeated (pprof)
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = label)]
    pub(in crate::cli) labels: Vec<(String, String)>,
    /// Group by the values of this label (pprof; `top`, `diff`), or make them the outermost frames
    /// (`tree`, `convert`)
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) tag: Option<String>,
    /// Only samples of this process
    #[arg(long, value_name = "PID")]
    pub(in crate::cli) pid: Option<u64>,
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl ProfileOptions {
    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 5] {
        [
            ("--metric", self.metric.is_some()),
            ("--thread", self.thread.is_some()),
            ("--where", !self.labels.is_empty()),
            ("--tag", self.tag.is_some()),
            ("--pid", self.pid.is_some()),
        ]
    }

    /// Whether the options select only some threads.
    pub(in crate::cli) fn selects(&self) -> bool {
        self.thread.is_some() || self.pid.is_some() || !self.labels.is_empty()
    }
}
