//! Arguments of `find`.

use super::filter::FilterArgs;
use super::heap::HeapOptions;
use super::one_of;
use super::profile::ProfileOptions;
use crate::cli::size::parse_size;
use crate::model::root::RootKind;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// List objects by type, size, text or root (heaps), or functions by name (profiles)
///
/// PATTERN is a glob that matches a name or `namespace:name`: `*` matches any characters, `?` one character, `{a,b}`
/// either a or b. For functions it may be `/REGEX/`, which part of a name or file has to match.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool find app.dartheap '_List' --min-size 10KiB
  dumptool find app.dartheap --value 'Bearer '
  dumptool find app.heapdump --unreachable --sort shallow -n 5
  dumptool find app.mvmheap 'NQP*' --min-retained 1MiB
  dumptool find profile.mojo '*decode*'")]
pub(in crate::cli) struct FindArgs {
    /// Dump or profile to search; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Only objects of these types, or functions with these names
    #[arg(value_name = "PATTERN")]
    pattern: Option<String>,
    /// The same as PATTERN
    #[arg(long = "type", value_name = "GLOB", visible_alias = "function", id = "type")]
    #[arg(conflicts_with = "pattern")]
    type_glob: Option<String>,
    /// Only this namespace (library, package or file)
    #[arg(long, value_name = "GLOB", visible_alias = "file")]
    pub(in crate::cli) namespace: Option<String>,
    /// Exclude types (functions) whose name or namespace (file) matches
    #[arg(long, value_name = "GLOB")]
    pub(in crate::cli) exclude: Option<String>,
    /// Maximum number of rows (0 = all; default: 20 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: FindHeapOptions,
    /// Only functions sampled at this source line
    #[arg(long, value_name = "N", help_heading = "Profiles")]
    pub(in crate::cli) line: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

impl FindArgs {
    /// The types or functions to find.
    pub(in crate::cli) fn name(&self) -> Option<&String> {
        self.pattern.as_ref().or(self.type_glob.as_ref())
    }

    /// The options that select types.
    pub(in crate::cli) fn filter(&self) -> FilterArgs {
        FilterArgs {
            type_glob: self.name().cloned(),
            namespace: self.namespace.clone(),
            exclude: self.exclude.clone(),
        }
    }
}

/// Options for heaps only.
#[derive(Args, Debug)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct FindHeapOptions {
    /// Minimum shallow size of an object
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub(in crate::cli) min_size: Option<u64>,
    /// Maximum shallow size of an object
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub(in crate::cli) max_size: Option<u64>,
    /// Minimum retained size of an object
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub(in crate::cli) min_retained: Option<u64>,
    /// Only objects whose value contains this text
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) value: Option<String>,
    /// Only objects referenced directly by a root of this kind: global, static, frame, thread,
    /// finalizer …
    #[arg(long, value_name = "KIND", value_parser = one_of(RootKind::ALL.map(|kind| (kind.name(), "", kind))), hide_possible_values = true)]
    pub(in crate::cli) root: Option<RootKind>,
    /// Only DOM nodes outside of their document (V8)
    #[arg(long)]
    pub(in crate::cli) detached: bool,
    /// Only objects that cannot be reached from a root
    #[arg(long, conflicts_with = "live")]
    pub(in crate::cli) unreachable: bool,
    /// Only objects that can be reached from a root
    #[arg(long)]
    pub(in crate::cli) live: bool,
    /// Sort column: retained (default), shallow or id
    #[arg(long, value_enum, hide_possible_values = true, value_name = "COLUMN")]
    pub(in crate::cli) sort: Option<FindSortArg>,
    /// Do not compute retained sizes: faster, needs less memory, sorts by shallow size
    #[arg(long, conflicts_with = "min_retained")]
    pub(in crate::cli) no_retained: bool,
    #[command(flatten)]
    pub(in crate::cli) options: HeapOptions,
}

/// The sort order of the objects found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FindSortArg {
    /// Retained bytes, largest first
    Retained,
    /// Shallow bytes, largest first
    Shallow,
    /// Order in the file
    Id,
}
