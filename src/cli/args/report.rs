//! Arguments of the commands that show all there is: `report`, `serve` and `explore`.

use super::heap::HeapOptions;
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use crate::cli::size::parse_size;
use clap::Args;
use std::path::{Path, PathBuf};

/// The default of `--max-size`, as people write it and in bytes.
const DEFAULT_SIZE: (&str, u64) = ("400kB", 400_000);

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
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_SIZE.0, value_parser = parse_size)]
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

/// Show a dump in the browser, or what changed between several
///
/// Serves the page of `report` on 127.0.0.1, with the dump in memory: click an object to see its
/// fields, what refers to it, why it is alive and what it retains. Every view has an address, so
/// the browser's back and forward buttons work. The address contains a random token; programs and
/// pages that do not know it get no data. Ctrl-C ends the server.
///
/// `api/COMMAND?OPTION=VALUE` below the address returns the JSON documents of `top`, `tree`, `path`,
/// `show`, `find`, `diff`, `growth`, `threads`, `waste`, `query` and `info`, the same bytes as
/// `--format json` prints, and `api/convert` a converted file.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool serve app.hprof                  opens the browser
  dumptool serve old.hprof new.hprof        what grew
  dumptool serve 1.hprof 2.hprof 3.hprof    what grew, and each of them in a curve
  dumptool serve app.hprof --no-open --port 8000
  curl 'http://127.0.0.1:8000/TOKEN/api/top?limit=5&by=namespace'")]
pub(in crate::cli) struct ServeArgs {
    /// Dump or profile to show; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Newer dumps or profiles, oldest first: the page shows what changed
    #[arg(value_name = "NEW")]
    pub(in crate::cli) new: Vec<PathBuf>,
    /// Port on 127.0.0.1 (default: any that is free)
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(in crate::cli) port: u16,
    /// Do not open the browser; only print the address
    #[arg(long)]
    pub(in crate::cli) no_open: bool,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

impl ServeArgs {
    /// The page to serve, as if it were written.
    pub(in crate::cli) fn report(&self) -> ReportArgs {
        ReportArgs {
            files: [&self.file].into_iter().chain(&self.new).cloned().collect(),
            output: None,
            max_size: DEFAULT_SIZE.1,
            title: None,
            live: true,
            heap: self.heap.clone(),
            known: self.known.clone(),
            profile: self.profile.clone(),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_size_is_the_same_in_both_forms() {
        assert_eq!(parse_size(DEFAULT_SIZE.0).ok(), Some(DEFAULT_SIZE.1));
    }
}
