//! Arguments of `top`.

use super::heap::{LoadArgs, ObjectsArg, Snapshots, SortArg};
use super::profile::ProfileOptions;
use crate::input::Kind;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show what holds the memory by type (heaps), or where the time goes by function (profiles)
///
/// Retained bytes of an object are the shallow and external bytes of everything that would go with it: all that it
/// dominates, itself included, over strong references from the roots. Retained bytes of a type are the sum over its objects
/// that no other object of the same type dominates. Unreachable objects retain nothing.
///
/// SELF of a function is what was measured while it ran itself, TOTAL also what was measured while it waited for functions
/// that it called; a stack in which it is several times counts once.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool top app.heapdump
  dumptool top --by namespace app.dartheap
  dumptool top --by root app.mvmheap             what each kind of root alone keeps alive
  dumptool top --snapshot all app.mvmheap        how types grow over the snapshots
  dumptool top --quick huge.hprof                count and size, with constant memory
  dumptool top --suspects app.heapdump           what looks like a leak
  dumptool top --format csv app.dartheap > types.csv
  dumptool top profile.mojo                      where the time goes
  dumptool top --cum --thread 22312 profile.mojo
  dumptool top --by line --metric cpu profile.mojo

With --by root, a group gets the bytes of objects that only roots of this group reach; what several groups
reach is in the row `several roots`. So all rows add up to the live heap.
Where the dump has no roots (some tools write none), nothing can be called live or dead: all objects are counted.")]
pub(in crate::cli) struct TopArgs {
    /// Dump or profile to look at; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Heaps: type (default), namespace, root, size-class; profiles: function (default), file, line, thread, process
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHAT")]
    pub(in crate::cli) by: Option<ByArg>,
    /// Rows to show; 0 is all (default: 20 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: TopHeapOptions,
    /// Sort by what functions cost together with what they call, instead of by themselves
    #[arg(long, alias = "cumulative", help_heading = "Profiles")]
    pub(in crate::cli) cum: bool,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// What only heaps have.
#[derive(Args, Debug)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct TopHeapOptions {
    /// Sort by retained (default), shallow, count or external
    #[arg(long, value_enum, hide_possible_values = true, value_name = "COLUMN")]
    pub(in crate::cli) sort: Option<SortArg>,
    /// Count live (default), all or unreachable objects
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHICH")]
    pub(in crate::cli) objects: Option<ObjectsArg>,
    /// Only count and size, over all objects, in one pass with constant memory
    #[arg(long, conflicts_with_all = ["objects", "suspects"])]
    pub(in crate::cli) quick: bool,
    /// Show what looks like a leak or a waste, each with its path from a root
    #[arg(long, conflicts_with_all = ["by", "sort", "objects"])]
    pub(in crate::cli) suspects: bool,
    /// Which snapshot of a file with several (mvmheap): a number from 0, `last`, the last complete one (default), or `all` for
    /// growth over all of them
    #[arg(long, value_name = "N|last|all", allow_negative_numbers = true)]
    pub(in crate::cli) snapshot: Option<Snapshots>,
    #[command(flatten)]
    pub(in crate::cli) roots: LoadArgs,
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ByArg {
    /// Heaps: a type
    Type,
    /// Heaps: a library, package or file
    Namespace,
    /// Heaps: a group of roots
    Root,
    /// Heaps: objects of similar size
    SizeClass,
    /// Profiles: a function
    Function,
    /// Profiles: a source file
    File,
    /// Profiles: a line
    Line,
    /// Profiles: a thread
    Thread,
    /// Profiles: a process
    Process,
}

impl ByArg {
    /// The kind of input that can be grouped so.
    pub(in crate::cli) fn kind(self) -> Kind {
        match self {
            Self::Type | Self::Namespace | Self::Root | Self::SizeClass => Kind::Heap,
            Self::Function | Self::File | Self::Line | Self::Thread | Self::Process => Kind::Profile,
        }
    }

    /// The option as it was written, and whether it is for this kind of input.
    pub(in crate::cli) fn given(by: Option<Self>, kind: Kind) -> (&'static str, bool) {
        let name = match by {
            Some(Self::Type) => "--by type",
            Some(Self::Namespace) => "--by namespace",
            Some(Self::Root) => "--by root",
            Some(Self::SizeClass) => "--by size-class",
            Some(Self::Function) => "--by function",
            Some(Self::File) => "--by file",
            Some(Self::Line) => "--by line",
            Some(Self::Thread) => "--by thread",
            Some(Self::Process) => "--by process",
            None => "--by",
        };
        (name, by.is_some_and(|by| by.kind() == kind))
    }
}
