//! Arguments of `diff`.

use super::filter::FilterArgs;
use super::heap::{LoadArgs, ObjectsArg, SnapshotPair, SortArg};
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use super::top::ByArg;
use super::{Named, choice, one_of};
use crate::input::Kind;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show what grew and shrank between two dumps, by type or function
///
/// Types are matched by name and namespace, functions by name and file. Three heaps of one process are
/// compared object by object: what was born between the first two and is alive in the third, as far as
/// its objects last in the format (V8, Go, Ruby, Perl, Python, Dart with identity hashes).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool diff before.heapdump after.heapdump
  dumptool diff base.heapsnapshot before.heapsnapshot after.heapsnapshot
                                                 what was born between the first two and is alive in
                                                 the third
  dumptool diff app.mvmheap --snapshot 0..last   compare two snapshots of one file
  dumptool diff --objects old.dartheap new.dartheap
                                                 new and gone objects, by class and identity hash
  dumptool diff --by namespace --sort count old.dartheap new.dartheap
  dumptool diff before.mojo after.mojo
  dumptool diff --normalize short.mojo long.mojo
                                                 profiles of unequal length, by share")]
pub(in crate::cli) struct DiffArgs {
    /// Older dump or profile
    #[arg(value_name = "OLD")]
    pub(in crate::cli) old: PathBuf,
    /// Newer dump or profile; omit it to compare two snapshots of one file
    #[arg(value_name = "NEW")]
    pub(in crate::cli) new: Option<PathBuf>,
    /// Third heap dump: shows what was born between the first two and is alive in it
    #[arg(value_name = "AFTER")]
    pub(in crate::cli) after: Option<PathBuf>,
    /// More files, which `growth` compares
    #[arg(hide = true)]
    pub(in crate::cli) more: Vec<PathBuf>,
    /// Group by type (default), namespace, package-root, root or size-class (heaps); function
    /// (default), file, line, thread, process, class or state (profiles)
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHAT")]
    pub(in crate::cli) by: Option<ByArg>,
    /// Maximum number of rows (0 = all; default: 20 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Sort by the change in retained (default), shallow, count, external or share (heaps); in self
    /// (default), total or share (profiles)
    #[arg(long, value_enum, hide_possible_values = true, value_name = "COLUMN")]
    pub(in crate::cli) sort: Option<DiffSort>,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    #[command(flatten)]
    pub(in crate::cli) heap: DiffHeapOptions,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    /// Scale the old profile to the total of the new one, so that shares are compared
    #[arg(long, help_heading = "Profiles")]
    pub(in crate::cli) normalize: bool,
    /// Remove this folder from the paths of files, such as a checkout or a virtual environment; may
    /// be repeated (default: a guess, which is printed)
    #[arg(long, value_name = "PREFIX", help_heading = "Profiles")]
    pub(in crate::cli) trim_path: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// Options for heaps only.
#[derive(Args, Debug)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct DiffHeapOptions {
    /// Objects to count: live (default), all or unreachable. Without a value, compare single
    /// objects: by id (V8), address (Ruby, Perl, Python, Go), or class and identity hash (Dart)
    #[arg(long, value_parser = one_of(OBJECTS), hide_possible_values = true, value_name = "WHICH", num_args = 0..=1, require_equals = true,
          default_missing_value = "identity")]
    pub(in crate::cli) objects: Option<DiffObjects>,
    /// Count objects and bytes in one pass, without retained sizes
    #[arg(long, visible_alias = "no-retained", conflicts_with = "objects")]
    pub(in crate::cli) quick: bool,
    /// Snapshots to compare (mvmheap): A..B, or one number for both files; `last` is the last
    /// complete snapshot (default)
    #[arg(long, value_name = "A..B", allow_negative_numbers = true)]
    pub(in crate::cli) snapshot: Option<SnapshotPair>,
    #[command(flatten)]
    pub(in crate::cli) roots: LoadArgs,
    /// Executable that wrote the OLD dump, if different from --exe (Go)
    #[arg(long, value_name = "PROGRAM", requires = "exe")]
    pub(in crate::cli) old_exe: Option<PathBuf>,
}

/// The column whose change sorts the rows, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum DiffSort {
    Retained,
    Shallow,
    Count,
    External,
    /// The share of the heap or of the profile
    Share,
    #[value(name = "self")]
    Own,
    Total,
}

impl DiffSort {
    /// Returns the column of a heap. `None` for a share.
    pub(in crate::cli) fn of_heap(self) -> Option<SortArg> {
        match self {
            Self::Retained => Some(SortArg::Retained),
            Self::Shallow => Some(SortArg::Shallow),
            Self::Count => Some(SortArg::Count),
            Self::External => Some(SortArg::External),
            Self::Share | Self::Own | Self::Total => None,
        }
    }

    /// Returns the option as written, and whether it applies only to this kind of input.
    pub(in crate::cli) fn given(sort: Option<Self>, kind: Kind) -> (String, bool) {
        let is_of_kind = |sort: &Self| sort.of_heap().is_some() == (kind == Kind::Heap);
        choice("--sort", sort.filter(|sort| *sort != Self::Share && is_of_kind(sort)))
    }
}

/// The objects to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum DiffObjects {
    /// Groups of these.
    Of(ObjectsArg),
    /// Single objects.
    Identity,
}

const OBJECTS: [Named<DiffObjects>; 4] = [
    ("live", "Objects reachable from the roots", DiffObjects::Of(ObjectsArg::Live)),
    ("all", "All objects", DiffObjects::Of(ObjectsArg::All)),
    (
        "unreachable",
        "Objects not reachable from the roots",
        DiffObjects::Of(ObjectsArg::Unreachable),
    ),
    (
        "identity",
        "Single objects, by id, address, or class and identity hash",
        DiffObjects::Identity,
    ),
];
