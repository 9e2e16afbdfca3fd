//! Arguments of `convert`.

use super::heap::HeapOptions;
use super::profile::ProfileOptions;
use super::tree::parse_share;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

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
  dumptool convert app.heapdump out.heapsnapshot       open it in Chrome's DevTools (Memory) or memlab
  dumptool convert app.heapdump out.pb.gz              the dominator tree: flat is shallow, cum is retained
  dumptool convert app.heapdump out.csv --table types
  dumptool convert --snapshot 3 app.mvmheap out.hprof.gz")]
pub(in crate::cli) struct ConvertArgs {
    /// Dump to convert; `-` is standard input
    #[arg(value_name = "IN")]
    pub(in crate::cli) input: PathBuf,
    /// File to write; `-` is standard output (then --to is needed)
    #[arg(value_name = "OUT")]
    pub(in crate::cli) output: PathBuf,
    /// Format to write, if OUT's extension does not say
    #[arg(long, value_name = "FORMAT")]
    pub(in crate::cli) to: Option<Target>,
    /// Dialect of Austin's text: `full` as Austin 3 and mojo2austin 1.7 write it (default), `peer` as mojo2austin 2
    #[arg(long, value_enum)]
    pub(in crate::cli) dialect: Option<DialectArg>,
    /// What objects are called in hprof: `compact` numbers of 4 bytes, which give exact sizes (default), or their `address`
    #[arg(long, value_enum)]
    pub(in crate::cli) ids: Option<IdsArg>,
    /// Make roots of unreachable objects, so that Eclipse MAT keeps them (hprof)
    #[arg(long)]
    pub(in crate::cli) root_unreachable: bool,
    /// Which objects are written (heapsnapshot): `live`, as V8 does (default), or `all`, with unreachable ones below a node of their
    /// own
    #[arg(long, value_enum)]
    pub(in crate::cli) objects: Option<WhichArg>,
    /// Which table of a heap (jsonl, csv; default: objects)
    #[arg(long, value_enum)]
    pub(in crate::cli) table: Option<TableArg>,
    /// Of a heap as stacks, put subtrees with a smaller share of all live bytes into one frame (default: 0.001%)
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    pub(in crate::cli) min_share: Option<f64>,
    /// One sum for each thread and stack instead of every sample in its order (speedscope, firefox, jsonl, csv of profiles)
    #[arg(long)]
    pub(in crate::cli) aggregate: bool,
    /// Make one of neighbours in a thread that differ in their numbers only (mojo)
    #[arg(long)]
    pub(in crate::cli) merge: bool,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Target {
    /// Austin's text: collapsed stacks, one sample a line
    Austin,
    /// Folded stacks: a sum for each stack, for flamegraph.pl, inferno, grep
    Folded,
    /// A flame graph as one file for the browser (if built with the feature flamegraph)
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
    /// V8's heap snapshot: for the Memory panel of Chrome DevTools, memlab
    Heapsnapshot,
}

/// Which objects a heap snapshot has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum WhichArg {
    /// Those that can be reached from the roots
    Live,
    /// Those and the others
    All,
}

/// A table of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TableArg {
    /// With sizes, what they retain, and who dominates them
    Objects,
    /// Source, target, name
    References,
    /// What keeps objects alive
    Roots,
    /// With the number and bytes of their objects
    Types,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum DialectArg {
    /// Everything, in the order of the file
    Full,
    /// What mojo2austin of austin-python 2.x prints
    Peer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum IdsArg {
    /// Running numbers of 4 bytes
    Compact,
    /// Addresses, in 8 bytes
    Address,
}
