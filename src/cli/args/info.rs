//! Arguments of `info`.

use super::heap::Snapshot;
use clap::Args;
use std::path::PathBuf;

/// Say what is in a dump: header, totals, sizes, warnings
///
/// Reads each file once, with constant memory, and never builds the graph. A damaged file gives what could be read, says
/// where the damage is, and exits with status 3 (0 with --lenient).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool info app.heapdump
  dumptool info --format json *.mojo | jq '.[].profile.samples'
  dumptool info --quick big.mvmheap       from the summary blocks alone
  curl -s host/heap | dumptool info -

Dumps of Go 1.22 and later contain phantom records: the runtime writes slots that no object can
occupy. They are left out of objects and sizes, and counted apart.")]
pub(in crate::cli) struct InfoArgs {
    /// Dumps to look at; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Only read summary blocks where the format has them (mvmheap); counts that need data are left out
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Add the table of records
    #[arg(long)]
    pub(in crate::cli) records: bool,
    /// Only this snapshot of a file with several (mvmheap): a number from 0, or `last`
    #[arg(long, value_name = "N|last", allow_negative_numbers = true)]
    pub(in crate::cli) snapshot: Option<Snapshot>,
}
