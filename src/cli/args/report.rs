//! Arguments of `report`.

use super::heap::HeapOptions;
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use crate::cli::size::parse_size;
use clap::Args;
use std::path::{Path, PathBuf};

/// The size of a page for which none was given: the default of `--max-size`.
pub(super) const DEFAULT_SIZE: u64 = 400_000;

/// Write an HTML page about a dump, or about what changed between dumps
///
/// The page contains suspects, the dominator tree or call tree as a picture to zoom and search, and
/// tables to sort and filter. It needs no network and no other file, so you can attach it to a CI
/// run or send it to a colleague. With two dumps, the page compares them. With more, it compares the
/// first and the last, and a table shows the types of each; a dump with several snapshots gets this
/// table, too. The data is JSON in the element with the id `data`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  dumptool report app.hprof                          writes app.hprof.report.html beside it
  dumptool report old.hprof new.hprof -o grown.html  what grew
  dumptool report mon.hprof tue.hprof wed.hprof      what grew from day to day
  dumptool report profile.mojo -o - | gzip > report.html.gz")]
pub(in crate::cli) struct ReportArgs {
    /// Dumps or profiles to read, oldest first; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Page to write; `-` is standard output (default: the last FILE with .report.html added)
    #[arg(short = 'o', long, value_name = "OUT")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Maximum size of the page. Lines of the tree are left out, smallest first, until it fits
    #[arg(long, value_name = "SIZE", default_value = "400kB", value_parser = parse_size)]
    pub(in crate::cli) max_size: u64,
    /// Title of the page (default: the name of the file)
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) title: Option<String>,
    /// Whether a server shows the page.
    #[arg(skip)]
    pub(in crate::cli) live: bool,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

impl ReportArgs {
    /// The last file, which the page is about.
    pub(in crate::cli) fn newest(&self) -> &Path {
        self.files.last().map_or(Path::new(""), PathBuf::as_path)
    }
}
