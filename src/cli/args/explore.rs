//! Arguments of `explore`.

use super::heap::HeapOptions;
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use clap::Args;
use std::path::PathBuf;

/// Look around in a dump, in the terminal
///
/// Shows what the other commands print, with the dump in memory: what holds the memory, types, the
/// dominator tree, objects with their fields and referrers, threads, waste; of a profile functions,
/// calls, callers and a flame graph. Enter opens the selected row, Backspace leads back, `/` searches,
/// `?` lists the keys, `q` ends. The line at the bottom is the command that prints the same.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool explore app.hprof
  dumptool explore old.hprof new.hprof      what grew
  dumptool explore profile.mojo")]
#[cfg_attr(not(feature = "explore"), allow(dead_code, reason = "a build without it refuses them"))]
pub(in crate::cli) struct ExploreArgs {
    /// Dump or profile to show
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Newer dump or profile: also shows what changed
    #[arg(value_name = "NEW")]
    pub(in crate::cli) new: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}
