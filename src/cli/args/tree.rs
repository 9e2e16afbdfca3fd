//! Arguments of `tree`.

use super::filter::FilterArgs;
use super::heap::HeapOptions;
use super::profile::ProfileOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show the dominator tree (heaps) or the call tree (profiles)
///
/// In a heap, each object appears below its immediate dominator: the last object that every path
/// from the roots to it passes. Freeing the dominator frees the object. Objects of the same type
/// with the same dominator share a line with a count; so do chains of objects of the same type.
/// Objects that no single root holds are grouped by the kind of their roots, and by class loader
/// (JVM), library (Dart) or the package of the globals (Go).
///
/// In a profile, each function appears below its caller, with the total of all samples of that call
/// path. A function without samples of its own that calls only one other function shares its line:
/// `main → run → loop`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool tree app.heapdump
  dumptool tree --min-share 5% --depth 4 app.dartheap
  dumptool tree --by type app.mvmheap            merge objects of the same type at each level
  dumptool tree app.heapdump 0xc000514060        what one object retains
  dumptool tree --type '*Cache' app.hprof        what all objects of these types retain
  dumptool tree profile.mojo
  dumptool tree --focus 'json.py:*decode' profile.mojo
                                                 callers and callees of these functions
  dumptool tree --invert --ignore '/^runtime\\./' cpu.pb.gz
                                                 who calls the functions that cost most
  dumptool tree --format json app.heapdump | jq '.nodes[] | select(.depth == 1)'")]
pub(in crate::cli) struct TreeArgs {
    /// Dump or profile to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Show only what this object retains: an address, or a number with or without `#`
    #[arg(value_name = "OBJECT", conflicts_with_all = ["type", "namespace", "exclude"])]
    pub(in crate::cli) object: Option<String>,
    /// Minimum share of the whole that a line must have; with --focus, of the functions in focus
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_share)]
    pub(in crate::cli) min_share: f64,
    /// Maximum number of levels
    #[arg(long, value_name = "N")]
    pub(in crate::cli) depth: Option<u32>,
    /// Maximum number of lines (0 = all; default: 60 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Heaps: group siblings of the same type (`object`, the default), or merge all objects of a
    /// type at each level (`type`). Profiles: begin with the `thread`, the `class` that an event is
    /// about, or the `state` of the thread (jfr)
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHAT")]
    pub(in crate::cli) by: Option<TreeByArg>,
    /// Print the tree for Graphviz: `dumptool tree --dot app.hprof | dot -Tsvg > tree.svg`
    #[arg(long, help_heading = "Heaps")]
    pub(in crate::cli) dot: bool,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    /// Begin with the innermost functions, each followed by its callers
    #[arg(long, conflicts_with_all = ["focus", "by"], help_heading = "Profiles")]
    pub(in crate::cli) invert: bool,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// The grouping of objects into lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TreeByArg {
    /// Objects of one type with the same dominator
    Object,
    /// Objects of one type below merged dominators
    Type,
    /// Profiles: calls of each thread
    Thread,
    /// Profiles: calls for each class
    Class,
    /// Profiles: calls in each state of the thread
    State,
}

impl TreeByArg {
    /// The key of the label that is the outermost frame. `None` for heaps.
    pub(in crate::cli) fn label(self) -> Option<&'static str> {
        match self {
            Self::Object | Self::Type => None,
            Self::Thread => Some("thread"),
            Self::Class => Some("class"),
            Self::State => Some("state"),
        }
    }
}

/// Parses a share of a whole: `2%`, `0.5 %`, or a fraction such as `0.02`.
pub(in crate::cli) fn parse_share(text: &str) -> Result<f64, &'static str> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if (0.0..=scale).contains(&number) => Ok(number / scale),
        _ => Err("a share between 0% and 100%"),
    }
}
