//! Arguments of `growth`.

use super::filter::FilterArgs;
use super::heap::LoadArgs;
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show what grows from dump to dump, by type or function
///
/// Give the files in chronological order, or one recording with histograms of classes (jfr:
/// jdk.ObjectCount or jdk.ObjectCountAfterGC). SLOPE is the growth per file, fitted to all files; PEAK is
/// the largest value in any file. In heaps, all objects count, live or not; each file is read in one
/// pass with little memory, or loaded if options need that (--exe). The first line names the holder
/// that grew most from the first heap to the last; for it these two are loaded, one after the other
/// (not with --quick). In profiles, the self value of each function counts.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool growth monday.heapdump tuesday.heapdump wednesday.heapdump
  dumptool growth --steady *.hprof                  only what grew in every step
  dumptool growth --sort peak --type 'com.example.*' *.hprof
  dumptool growth app.jfr                           classes over the histograms of a recording
  dumptool top --snapshot all app.mvmheap           the same over the snapshots of one file")]
pub(in crate::cli) struct GrowthArgs {
    /// Heap dumps, or profiles, oldest first
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Sort by slope (default), last or peak
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "COLUMN",
        default_value = "slope",
        hide_default_value = true
    )]
    pub(in crate::cli) sort: GrowthSort,
    /// Only rows that grew in every step
    #[arg(long)]
    pub(in crate::cli) steady: bool,
    /// Maximum number of rows (0 = all; default: 20 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    /// Only count types, without the first line about what grew
    #[arg(long, help_heading = "Heaps")]
    pub(in crate::cli) quick: bool,
    #[command(flatten)]
    pub(in crate::cli) heap: LoadArgs,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    /// Scale each profile to the total of the last one, so that shares are compared
    #[arg(long, help_heading = "Profiles")]
    pub(in crate::cli) normalize: bool,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// The column by which rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum GrowthSort {
    Slope,
    Last,
    Peak,
}
