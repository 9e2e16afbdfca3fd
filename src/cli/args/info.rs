//! Arguments of the commands that show a file as it is: `info` and `cat`.

use super::heap::{Snapshot, snapshot};
use super::known::KnownArgs;
use clap::Args;
use std::path::PathBuf;

/// Show a summary: header, totals, sizes, warnings
///
/// Reads each file once, heaps in constant memory (except Perl's), without building the object graph.
/// For a damaged file, shows everything up to the damage and its offset, and exits with status 3
/// (0 with --lenient).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool info app.heapdump
  dumptool info --format json *.mojo | jq '.[].profile.samples'
  dumptool info --verdict app.hprof       and what holds the memory
  dumptool info --quick big.mvmheap       read only the summary blocks
  curl -s host/heap | dumptool info -

Go 1.22 and later write phantom records: heap slots that no object can occupy. dumptool filters
them out and counts them separately.")]
pub(in crate::cli) struct InfoArgs {
    /// Dumps or profiles to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Read only the summary blocks if the format has them (mvmheap); counts that need the data are
    /// omitted
    #[arg(long)]
    pub(in crate::cli) quick: bool,
    /// Also show the number and size of each kind of record
    #[arg(long)]
    pub(in crate::cli) records: bool,
    /// Snapshot to show if the file has several (mvmheap): a number from 0, or `last` (default:
    /// all)
    #[arg(long, value_name = "N|last", allow_negative_numbers = true, value_parser = snapshot)]
    pub(in crate::cli) snapshot: Option<Snapshot>,
    /// Executable that wrote the dump (Go): also show how many live objects get a type name. Builds
    /// the object graph
    #[arg(long, value_name = "PROGRAM", conflicts_with = "quick")]
    pub(in crate::cli) exe: Option<PathBuf>,
    /// Omit guessed types (Go, with --exe)
    #[arg(long, requires = "exe")]
    pub(in crate::cli) no_guess: bool,
    /// Also say what holds the memory, as the first line of `top --suspects` does, or which function
    /// of a profile costs most, as the first line of `top` does. Builds the object graph
    #[arg(long, conflicts_with = "quick")]
    pub(in crate::cli) verdict: bool,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
}

/// Print every record in file order, one line each, with its offset
///
/// Streams in little memory. Prints text, or JSON objects with `--format jsonl`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool cat profile.mojo -n 20
  dumptool cat app.heapdump --record goroutine,stack_frame
  dumptool cat app.dartheap --format jsonl --record object | jq 'select(.shallow_size > 1000)'
  dumptool cat app.heapdump --offset 0x1f00 -n 1 --contents
  dumptool cat app.jfr --type 'jdk.GC*'          events of these types")]
pub(in crate::cli) struct CatArgs {
    /// Dump or profile to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Only records with these names (`info --records` lists them)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(in crate::cli) record: Vec<String>,
    /// Only events whose type matches (jfr), such as `--type 'jdk.GC*'`
    #[arg(long = "type", value_name = "GLOB")]
    pub(in crate::cli) type_glob: Option<String>,
    /// Maximum number of records (0 = all)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Only records that start at or after this offset (decimal or 0x…)
    #[arg(long, value_name = "FROM", value_parser = parse_offset)]
    pub(in crate::cli) offset: Option<u64>,
    /// Show memory contents in hexadecimal, long lists in full, and the fields of Java instances
    #[arg(long)]
    pub(in crate::cli) contents: bool,
}

fn parse_offset(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "expected a decimal number, or 0x and hexadecimal digits".to_owned())
}
