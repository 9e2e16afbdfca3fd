//! Arguments of `source`.

use super::profile::ProfileOptions;
use clap::Args;
use std::path::PathBuf;

/// Show the source of a function with the values of its lines (profiles)
///
/// The columns are those of `go tool pprof -list`: SELF is the cost of the samples in which a line
/// is the innermost one, TOTAL that of the samples with the line on their stacks. FUNCTION is a
/// glob over names or `file:name`, or `/REGEX/`.
///
/// Sources come from --source, from the profile itself (traces of Chrome and profiles of the Firefox
/// Profiler may hold them), or from the source maps given with --source-maps. A warning says which
/// source is not the one that was profiled: it changed after the recording, or ends before the last
/// line that has samples.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool source cpu.pb.gz main.parse --source ~/app
  dumptool source cpu.pb.gz '/^main\\.(parse|scan)$/' --source ~/app --metric samples
  dumptool source app.cpuprofile '*render*' --source-maps dist
  dumptool source cpu.pb.gz main.parse              the lines with samples, without their text")]
pub(in crate::cli) struct SourceArgs {
    /// Profile to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Functions to show
    #[arg(value_name = "FUNCTION")]
    pub(in crate::cli) function: String,
    /// Folder with the sources. A file of the profile is searched there by its whole path, and then
    /// without its first folders; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) source: Vec<PathBuf>,
    /// Lines to show before and after those with samples
    #[arg(short = 'C', long, value_name = "N", default_value_t = 3)]
    pub(in crate::cli) context: u32,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}
