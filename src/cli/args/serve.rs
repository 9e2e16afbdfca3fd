//! Arguments of `serve`.

use super::heap::HeapOptions;
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use super::report::{DEFAULT_SIZE, ReportArgs};
use clap::Args;
use std::path::PathBuf;

/// Show a dump in the browser, or what changed between several
///
/// Serves the page of `report` on 127.0.0.1, with the dump in memory: click an object to see its
/// fields, what refers to it, why it is alive and what it retains. Every view has an address, so
/// the browser's back and forward buttons work. The address contains a random token; programs and
/// pages that do not know it get no data. Ctrl-C ends the server.
///
/// `api/COMMAND?OPTION=VALUE` below the address returns the JSON documents of `top`, `tree`, `path`,
/// `show`, `find`, `diff`, `threads`, `waste` and `info`, the same bytes as `--format json` prints.
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
            max_size: DEFAULT_SIZE,
            title: None,
            live: true,
            heap: self.heap.clone(),
            known: self.known.clone(),
            profile: self.profile.clone(),
        }
    }
}
