//! Arguments of `top`.

use super::choice;
use super::filter::FilterArgs;
use super::heap::{LoadArgs, ObjectsArg, Snapshots, SortArg};
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use crate::input::Kind;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show which types hold the memory (heaps), or which functions take the time (profiles)
///
/// RETAINED of an object is the memory that would be freed with it: the shallow and external bytes
/// of the object and all objects it dominates. Weak references do not count. RETAINED of a type is
/// the sum over its objects that no other object of the same type dominates. Unreachable objects
/// retain nothing.
///
/// SELF of a function counts samples with the function at the top of the stack. TOTAL counts
/// samples with the function anywhere on the stack; a recursive function counts once per sample.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool top app.heapdump
  dumptool top --by namespace app.dartheap
  dumptool top --by package-root --exclude 'dart:*' app.dartheap
                                                 packages, without the SDK
  dumptool top --type 'com.example.*' app.hprof  only these types
  dumptool top --by root app.mvmheap             what only one kind of root keeps alive
  dumptool top --by loader app.hprof             loaders, and classes defined more than once
  dumptool top --by site app.heapdump            where live objects were allocated
  dumptool top --by generation app.json          when live objects were allocated (Ruby, V8)
  dumptool top --snapshot all app.mvmheap        growth of types over all snapshots
  dumptool top --quick huge.hprof                count and size, without retained sizes
  dumptool top --suspects app.heapdump           likely leaks and waste
  dumptool top --format csv app.dartheap > types.csv
  dumptool top profile.mojo                      which functions take the time
  dumptool top --cum --thread 22312 profile.mojo
  dumptool top --by line --metric cpu profile.mojo
  dumptool top --metric alloc --by class app.jfr
  dumptool top 'day/*.pb.gz' --each              the sum of many profiles, and the parts
  dumptool top --focus 'main.*' --hide '/^runtime/' cpu.pb.gz

With --by root, each group shows the objects that only its roots can reach. The row `held by more than one root`
shows the rest, so that the rows add up to the live heap.

If a dump has no roots (some tools write none), dumptool cannot distinguish live objects from dead ones and counts all.")]
pub(in crate::cli) struct TopArgs {
    /// Dump or profile to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// More profiles, which are added to the first one
    #[arg(value_name = "MORE")]
    pub(in crate::cli) more: Vec<PathBuf>,
    /// Group by type (default), namespace, package-root, root, size-class, loader, site or generation (heaps);
    /// function (default), file, line, thread, process, class or state (profiles)
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHAT")]
    pub(in crate::cli) by: Option<ByArg>,
    /// Maximum number of rows (0 = all; default: 20 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    #[command(flatten)]
    pub(in crate::cli) heap: TopHeapOptions,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    /// Sort by TOTAL (cumulative) instead of SELF
    #[arg(long, alias = "cumulative", help_heading = "Profiles")]
    pub(in crate::cli) cum: bool,
    /// Show the cost of each row in each of several profiles
    #[arg(long, help_heading = "Profiles")]
    pub(in crate::cli) each: bool,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// Options for heaps only.
#[derive(Args, Debug)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct TopHeapOptions {
    /// Sort column: retained (default), shallow, count or external
    #[arg(long, value_enum, hide_possible_values = true, value_name = "COLUMN")]
    pub(in crate::cli) sort: Option<SortArg>,
    /// Objects to count: live (default), all or unreachable
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHICH")]
    pub(in crate::cli) objects: Option<ObjectsArg>,
    /// Only DOM nodes outside of their document (V8)
    #[arg(long, conflicts_with_all = ["by", "quick", "suspects"])]
    pub(in crate::cli) detached: bool,
    /// Count objects and bytes in one pass, without retained sizes
    #[arg(long, visible_alias = "no-retained", conflicts_with_all = ["objects", "suspects"])]
    pub(in crate::cli) quick: bool,
    /// Show likely leaks and wasted memory, each with a path from a root (heaps, jfr). Of native heap
    /// profiles (heaptrack, dhat, massif, jemalloc, gperftools), who allocated what leaked or was
    /// never used
    #[arg(long, conflicts_with_all = ["by", "sort", "objects"])]
    pub(in crate::cli) suspects: bool,
    /// Snapshot to use if the file has several (mvmheap, massif): a number from 0, `last` for the last
    /// complete one (default of mvmheap; massif: the peak), or `all` for growth over all snapshots
    /// (mvmheap)
    #[arg(long, value_name = "N|last|all", allow_negative_numbers = true)]
    pub(in crate::cli) snapshot: Option<Snapshots>,
    #[command(flatten)]
    pub(in crate::cli) roots: LoadArgs,
}

/// The key by which rows are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ByArg {
    /// Heaps: a type
    Type,
    /// Heaps: a library, package or file
    #[value(alias = "package")]
    Namespace,
    /// Heaps: the first parts of a library or package, such as `package:sass` or `com.example`
    PackageRoot,
    /// Heaps: a group of roots
    Root,
    /// Heaps: objects of similar size
    SizeClass,
    /// Heaps: a class loader (JVM)
    Loader,
    /// Heaps: the place that allocated them (Go, V8, Ruby, Java 8)
    Site,
    /// Heaps: the number of garbage collections before they were allocated (Ruby), or of samples
    /// of a recording (V8)
    Generation,
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
    /// Profiles: the class that an event is about (jfr), such as that of the allocated object
    Class,
    /// Profiles: the state of the thread (jfr)
    State,
}

impl ByArg {
    /// Returns the kind of input that has this grouping.
    pub(in crate::cli) fn kind(self) -> Kind {
        use ByArg::{Class, File, Function, Line, Process, State, Thread};
        match self {
            Function | File | Line | Thread | Process | Class | State => Kind::Profile,
            _ => Kind::Heap,
        }
    }

    /// The key of the label by which samples are grouped, if they are.
    pub(in crate::cli) fn label(self) -> Option<&'static str> {
        match self {
            Self::Class => Some("class"),
            Self::State => Some("state"),
            _ => None,
        }
    }

    /// Returns the option as written, and whether it applies to this kind of input.
    pub(in crate::cli) fn given(by: Option<Self>, kind: Kind) -> (String, bool) {
        choice("--by", by.filter(|by| by.kind() == kind))
    }
}
