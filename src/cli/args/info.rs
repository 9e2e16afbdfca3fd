//! Arguments of the commands that show a file as it is: `info` and `cat`.

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
    /// Executable that wrote the dump (Go): show how many live objects it names. Builds the graph
    #[arg(long, value_name = "PROGRAM", conflicts_with = "quick")]
    pub(in crate::cli) exe: Option<PathBuf>,
    /// Leave out types that are guessed (Go, with --exe)
    #[arg(long, requires = "exe")]
    pub(in crate::cli) no_guess: bool,
}

/// Print every record in file order, one line each, with its offset
///
/// Streams with constant memory. Text for people, `--format jsonl` for programs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool cat profile.mojo -n 20
  dumptool cat app.heapdump --record goroutine,stack_frame
  dumptool cat app.dartheap --format jsonl --record object | jq 'select(.shallow_size > 1000)'
  dumptool cat app.heapdump --offset 0x1f00 -n 1 --contents")]
pub(in crate::cli) struct CatArgs {
    /// Dump to print; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Only records of these names (`info --records` shows which there are)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(in crate::cli) record: Vec<String>,
    /// Stop after this many records; 0 is all
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Only records that begin at or after this offset (decimal or 0x…)
    #[arg(long, value_name = "FROM", value_parser = parse_offset)]
    pub(in crate::cli) offset: Option<u64>,
    /// Show memory contents (in hexadecimal) and long lists in full
    #[arg(long)]
    pub(in crate::cli) contents: bool,
}

fn parse_offset(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "an offset is a decimal number or 0x and hexadecimal digits".to_owned())
}
