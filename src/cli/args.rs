//! The command line's grammar and its help.

use crate::input::Format;
use crate::model::profile::Metric;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Opens the heap dump or profile of any runtime it knows, says what is in it, checks it and converts it.
#[derive(Debug, Parser)]
#[command(name = "dumptool", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) common: Common,
}

const EXAMPLES: &str = "\
Examples:
  dumptool info app.mvmheap                 what is in it
  dumptool cat profile.mojo | less          every record, with its offset
  dumptool check app.heapdump && echo sound
  dumptool convert profile.mojo out.austin  for everything that reads Austin's text
  dumptool convert app.heapdump out.hprof   for VisualVM, Eclipse MAT, hprof-slurp

FILE is a path or `-` for standard input; gzip and zstd are undone. Formats are told by content.
Exit status: 0 done, 1 a check failed, 2 wrong usage, 3 input damaged, 4 output not writable.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Info(InfoArgs),
    Cat(CatArgs),
    Check(CheckArgs),
    Convert(ConvertArgs),
    /// List the formats that are read and written
    Formats,
    Completions(CompletionsArgs),
    /// Print the manual page (roff)
    #[command(after_help = "Examples:\n  dumptool man > ~/.local/share/man/man1/dumptool.1")]
    Man,
}

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
pub(super) struct InfoArgs {
    /// Dumps to look at; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Only read summary blocks where the format has them (mvmheap); counts that need data are left out
    #[arg(long)]
    pub(super) quick: bool,
    /// Add the table of records
    #[arg(long)]
    pub(super) records: bool,
    /// Only this snapshot of a file with several (mvmheap): a number from 0, or `last`
    #[arg(long, value_name = "N|last")]
    pub(super) snapshot: Option<Snapshot>,
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
pub(super) struct CatArgs {
    /// Dump to print; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Only records of these names (`info --records` shows which there are)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) record: Vec<String>,
    /// Stop after this many records
    #[arg(short = 'n', long, value_name = "N")]
    pub(super) limit: Option<u64>,
    /// Only records that begin at or after this offset (decimal or 0x…)
    #[arg(long, value_name = "FROM", value_parser = parse_offset)]
    pub(super) offset: Option<u64>,
    /// Show memory contents (in hexadecimal) and long lists in full
    #[arg(long)]
    pub(super) contents: bool,
}

/// Check a dump against everything that its format promises
///
/// Exits with status 1 when something does not hold, and 3 when the dump is damaged. With -v every rule is listed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool check app.heapdump || echo not to be trusted
  dumptool check -v app.mvmheap
  dumptool check --format json app.dartheap | jq '.findings[] | select(.ok | not)'")]
pub(super) struct CheckArgs {
    /// Dump to check; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
}

/// Convert a dump to another format
///
/// The extension of OUT picks the format; .gz and .zst compress. OUT is replaced only when all of it has been written. A
/// damaged input is converted as far as it can be read, with exit status 3 (0 with --lenient).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool convert profile.mojo out.austin
  dumptool convert profile.mojo out.austin.gz
  dumptool convert profile.mojo - --to austin | head
  dumptool convert profile.mojo out.speedscope.json    every sample; --aggregate for sums
  dumptool convert profile.mojo out.pb.gz              go tool pprof -http=: out.pb.gz
  dumptool convert --metric cpu profile.mojo - --to folded | sort -t' ' -nk2
  dumptool convert app.heapdump out.hprof              open it in VisualVM or Eclipse MAT
  dumptool convert --snapshot 3 app.mvmheap out.hprof.gz")]
pub(super) struct ConvertArgs {
    /// Dump to convert; `-` is standard input
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,
    /// File to write; `-` is standard output (then --to is needed)
    #[arg(value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Format to write, if OUT's extension does not say
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<Target>,
    /// Dialect of Austin's text: `full` as Austin 3 and mojo2austin 1.7 write it, `peer` as mojo2austin 2
    #[arg(long, value_enum, default_value_t = DialectArg::Full)]
    pub(super) dialect: DialectArg,
    /// What objects are called in hprof: `compact` numbers of 4 bytes, which give exact sizes, or their `address`
    #[arg(long, value_enum, default_value_t = IdsArg::Compact)]
    pub(super) ids: IdsArg,
    /// Make roots of unreachable objects, so that Eclipse MAT keeps them (hprof)
    #[arg(long)]
    pub(super) root_unreachable: bool,
    /// Which snapshot of a file with several (mvmheap): a number from 0, or `last`
    #[arg(long, value_name = "N|last")]
    pub(super) snapshot: Option<Snapshot>,
    /// What to count (profiles): time, cpu, memory, samples or gc. Default: all that was measured, or the main one where the
    /// format has one only
    #[arg(long, value_enum, value_name = "METRIC", hide_possible_values = true)]
    pub(super) metric: Option<MetricArg>,
    /// Only threads of this name or id (profiles)
    #[arg(long, value_name = "ID")]
    pub(super) thread: Option<String>,
    /// Only threads of this process (profiles)
    #[arg(long, value_name = "PID")]
    pub(super) pid: Option<i128>,
    /// One sum for each thread and stack instead of every sample in its order (speedscope, firefox, jsonl, csv)
    #[arg(long)]
    pub(super) aggregate: bool,
    /// Make one of neighbours in a thread that differ in their numbers only (mojo)
    #[arg(long)]
    pub(super) merge: bool,
    /// Which words of call frames count as pointers (Go): those that the dump lists (`precise`), also all of a frame that
    /// something points into (`default`), or all of all frames (`conservative`)
    #[arg(long, value_enum, default_value_t = RootsArg::Default)]
    pub(super) roots: RootsArg,
}

/// Print a completion script
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool completions bash > ~/.local/share/bash-completion/completions/dumptool
  dumptool completions zsh > ~/.zfunc/_dumptool")]
pub(super) struct CompletionsArgs {
    /// Shell to complete for
    pub(super) shell: clap_complete::Shell,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// Austin's text: collapsed stacks, one sample a line
    Austin,
    /// Folded stacks: a sum for each stack, for flamegraph.pl, inferno, grep
    Folded,
    /// A flame graph as one file for the browser
    #[cfg(feature = "flamegraph")]
    Svg,
    /// speedscope.app
    Speedscope,
    /// go tool pprof
    Pprof,
    /// profiler.firefox.com
    Firefox,
    /// A JSON object a line, for scripts
    Jsonl,
    /// A table, for scripts
    Csv,
    /// Austin's MOJO, version 3
    Mojo,
    /// hprof: for VisualVM, Eclipse MAT, hprof-slurp
    Hprof,
}

/// A metric of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MetricArg {
    /// Wall time
    Time,
    /// Wall time of threads that were not idle
    Cpu,
    /// Memory that came into use
    Memory,
    /// The number of samples
    Samples,
    /// Wall time during which the garbage collector ran
    Gc,
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Self {
        match metric {
            MetricArg::Time => Self::Time,
            MetricArg::Cpu => Self::Cpu,
            MetricArg::Memory => Self::Memory,
            MetricArg::Samples => Self::Samples,
            MetricArg::Gc => Self::Gc,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DialectArg {
    /// Everything, in the order of the file
    Full,
    /// What mojo2austin of austin-python 2.x prints
    Peer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum IdsArg {
    /// Running numbers of 4 bytes
    Compact,
    /// Addresses, in 8 bytes
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RootsArg {
    /// What the dump lists
    Precise,
    /// And all of a frame that something points into
    Default,
    /// All of all frames
    Conservative,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Common options")]
pub(super) struct Common {
    /// How to print the result: table (for people), json (one document), jsonl (one a line) or csv
    #[arg(long, global = true, value_enum, default_value_t = OutputFormat::Table, hide_possible_values = true)]
    pub(super) format: OutputFormat,
    /// Read the input as this format, whatever it looks like
    #[arg(long, global = true, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) from: Option<Format>,
    /// Exit with status 0 although the input is damaged
    #[arg(long, global = true)]
    pub(super) lenient: bool,
    /// Threads to use (default: one for each core). The result does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Sizes in bytes instead of KiB, MiB …
    #[arg(long, global = true)]
    pub(super) bytes: bool,
    /// No progress bar
    #[arg(long, global = true)]
    pub(super) no_progress: bool,
    /// When to use colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", hide_possible_values = true)]
    pub(super) color: Color,
    /// Say more
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// No warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// Text for people
    Table,
    /// One JSON document
    Json,
    /// One JSON document a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Which snapshot of a file with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Snapshot {
    Number(u64),
    /// The last complete one.
    Last,
}

impl std::str::FromStr for Snapshot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "last" => Ok(Self::Last),
            _ => text.parse().map(Self::Number).map_err(|_| "a number from 0, or `last`"),
        }
    }
}

fn parse_format(text: &str) -> Result<Format, String> {
    crate::input::FORMATS.into_iter().find(|format| format.name() == text).ok_or_else(|| {
        let names: Vec<_> = crate::input::FORMATS.iter().map(|format| format.name()).collect();
        format!("formats that are read: {}", names.join(", "))
    })
}

fn parse_offset(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "an offset is a decimal number or 0x and hexadecimal digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }
}
