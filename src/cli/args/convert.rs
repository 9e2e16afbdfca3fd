//! Arguments of `convert`.

use super::heap::HeapOptions;
use super::one_of;
use super::profile::ProfileOptions;
use super::tree::parse_share;
// `Target` is what a conversion writes; the command line's own `OutputFormat` is how results are
// printed.
use crate::model::Redaction;
pub(in crate::cli) use crate::output::OutputFormat as Target;
use crate::output::austin::Dialect;
use crate::output::heapsnapshot::HeapSnapshotObjects;
use crate::output::hprof::IdKind;
use crate::tables::{Table, TextLimit};
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;

/// Convert a dump to another format
///
/// The extension of OUT selects the format; .gz and .zst compress the output. dumptool replaces OUT
/// only after writing everything. It converts a damaged input up to the damage and exits with
/// status 3 (0 with --lenient).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool convert profile.mojo out.austin
  dumptool convert profile.mojo out.austin.gz
  dumptool convert profile.mojo - --to austin | head
  dumptool convert profile.mojo out.speedscope.json    every sample; sums with --aggregate
  dumptool convert profile.mojo out.pb.gz              for `go tool pprof`
  dumptool convert --metric cpu profile.mojo - --to folded | sort -t' ' -nk2
  dumptool convert profile.mojo - --to folded --no-threads --no-files | flamegraph.pl > out.svg
  dumptool convert 'day/*.pb.gz' week.pb.gz            the sum of many profiles
  dumptool convert app.heapdump out.hprof              for VisualVM or Eclipse MAT
  dumptool convert app.heapdump out.heapsnapshot       for Chrome DevTools (Memory) or memlab
  dumptool convert app.heapdump out.pb.gz              flat is the shallow size, cum the retained
  dumptool convert app.heapdump out.csv --table types
  dumptool convert app.hprof shared.hprof --redact     without the contents of memory
  dumptool convert app.hprof objects.parquet           for DuckDB, Polars, pandas, Spark
  dumptool convert app.hprof tables/ --to parquet      all tables but strings and events
  dumptool convert app.hprof lake/ --to parquet --table types,dump --partition service=shop
  dumptool convert new.mojo grown.svg --base old.mojo  a flame graph of what changed
  dumptool convert --snapshot 3 app.mvmheap out.hprof.gz")]
pub(in crate::cli) struct ConvertArgs {
    /// Dump or profile to convert; `-` is standard input. A pattern such as 'day/*.pb.gz' adds up all
    /// profiles that match it
    #[arg(value_name = "IN")]
    pub(in crate::cli) input: PathBuf,
    /// File to write; `-` is standard output and requires --to
    #[arg(value_name = "OUT")]
    pub(in crate::cli) output: PathBuf,
    /// Output format (default: from the extension of OUT)
    #[arg(long, value_name = "FORMAT", value_parser = one_of(Target::ALL.map(|target| (target.name(), target.summary(), target))))]
    pub(in crate::cli) to: Option<Target>,
    /// Dialect of Austin's text: `full`, as written by Austin 3 and mojo2austin 1.7 (default), or
    /// `peer`, as written by mojo2austin 2
    #[arg(long, value_parser = one_of([
        ("full", "Everything, in file order", Dialect::Full),
        ("peer", "As printed by mojo2austin of austin-python 2.x", Dialect::Peer),
    ]))]
    pub(in crate::cli) dialect: Option<Dialect>,
    /// Object ids in hprof: `compact` 4-byte numbers, which give exact sizes (default), or each
    /// object's `address`
    #[arg(long, value_parser = one_of([
        ("compact", "Consecutive 4-byte numbers", IdKind::Compact),
        ("address", "8-byte addresses", IdKind::Address),
    ]))]
    pub(in crate::cli) ids: Option<IdKind>,
    /// Turn unreachable objects into roots so that Eclipse MAT keeps them (hprof)
    #[arg(long)]
    pub(in crate::cli) root_unreachable: bool,
    /// Objects to write (heapsnapshot): `live`, as V8 does (default), or `all`, with unreachable
    /// objects below a separate node
    #[arg(long, value_parser = one_of([
        ("live", "Objects reachable from the roots", HeapSnapshotObjects::Live),
        ("all", "All objects", HeapSnapshotObjects::All),
    ]))]
    pub(in crate::cli) objects: Option<HeapSnapshotObjects>,
    /// Tables to write (parquet, csv, jsonl), separated by commas. Default for a file: `objects` of a
    /// heap, `samples` of a profile; for a folder (OUT ends with /): all but `strings`, which
    /// contains the texts of the heap
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = one_of(Table::ALL.iter().map(|table| (table.name(), table.summary(), *table))))]
    pub(in crate::cli) table: Vec<Table>,
    /// Write to OUT/TABLE/KEY=VALUE/…/NAME-DIGEST.parquet, as Spark and DuckDB read many dumps:
    /// `--partition service=shop,date=2026-11-21`
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub(in crate::cli) partition: Vec<PartitionKey>,
    /// Bytes of each text in the table `strings`: a number, `none` or `all` (default: 256)
    #[arg(long, value_name = "N", value_parser = parse_text_limit)]
    pub(in crate::cli) text: Option<TextLimit>,
    /// Remove contents so that the output can be shared (heaps): texts become asterisks (with
    /// `hash`, numbers that equal texts share), other values become zero, names of threads, keys of
    /// maps and properties of JavaScript become numbers. Names of types, fields, functions and files
    /// stay, as do sizes, references and lengths
    #[arg(
        long,
        value_parser = one_of([
            ("blank", "Asterisks and zeros", Redaction::Blank),
            ("hash", "Numbers that equal texts and arrays share, so that `waste` finds the same duplicates", Redaction::Hash),
        ]),
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "blank",
        conflicts_with = "base"
    )]
    pub(in crate::cli) redact: Option<Redaction>,
    /// With --redact, keep properties, keys and symbols of JavaScript that look like identifiers,
    /// and URLs in names of native nodes. A program may have used a user's name as a key
    #[arg(long, requires = "redact")]
    pub(in crate::cli) keep_names: bool,
    /// Combine subtrees with a smaller share of the live bytes into one frame when a heap becomes
    /// stacks (default: 0.001%)
    #[arg(long, value_name = "PERCENT", value_parser = parse_share)]
    pub(in crate::cli) min_share: Option<f64>,
    /// Write one sum per thread and stack instead of every sample in order (profiles to speedscope,
    /// firefox, jsonl, csv)
    #[arg(long)]
    pub(in crate::cli) aggregate: bool,
    /// Older dump: show what grew (red) and shrank (blue) since then, all threads together (svg)
    #[arg(long, value_name = "OLD")]
    pub(in crate::cli) base: Option<PathBuf>,
    /// Title of the picture (svg; default: the name of IN)
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) title: Option<String>,
    /// Begin with the innermost functions, each followed by its callers (svg)
    #[arg(long)]
    pub(in crate::cli) inverted: bool,
    /// Draw a box for each line of a function (svg)
    #[arg(long)]
    pub(in crate::cli) lines: bool,
    /// Write stacks without processes and threads, added up over all of them (folded)
    #[arg(long, conflicts_with_all = ["thread", "pid"])]
    pub(in crate::cli) no_threads: bool,
    /// Write functions without their files (folded), as stackcollapse does
    #[arg(long)]
    pub(in crate::cli) no_files: bool,
    /// Merge consecutive samples of a thread that have the same stack (mojo)
    #[arg(long)]
    pub(in crate::cli) merge: bool,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

fn parse_text_limit(text: &str) -> Result<TextLimit, &'static str> {
    match text {
        "none" => Ok(TextLimit::Nothing),
        "all" => Ok(TextLimit::All),
        _ => text.parse().map(TextLimit::Bytes).map_err(|_| "a number of bytes, `none` or `all`"),
    }
}

/// A key and a value that become a folder in the path of a table: `service=shop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct PartitionKey {
    pub(in crate::cli) key: String,
    pub(in crate::cli) value: String,
}

impl FromStr for PartitionKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
        if key.is_empty() || !key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_')) {
            return Err("a key consists of the letters a to z and _");
        }
        if value.is_empty() {
            return Err("the value is empty");
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}
