//! Arguments of `convert`.

use super::heap::{RootsArg, Snapshot};
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
  dumptool convert app.heapdump out.hprof              open it in VisualVM or Eclipse MAT
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
    /// Dialect of Austin's text: `full` as Austin 3 and mojo2austin 1.7 write it, `peer` as mojo2austin 2
    #[arg(long, value_enum, default_value_t = DialectArg::Full)]
    pub(in crate::cli) dialect: DialectArg,
    /// What objects are called in hprof: `compact` numbers of 4 bytes, which give exact sizes, or their `address`
    #[arg(long, value_enum, default_value_t = IdsArg::Compact)]
    pub(in crate::cli) ids: IdsArg,
    /// Make roots of unreachable objects, so that Eclipse MAT keeps them (hprof)
    #[arg(long)]
    pub(in crate::cli) root_unreachable: bool,
    /// Which snapshot of a file with several (mvmheap): a number from 0, or `last`
    #[arg(long, value_name = "N|last")]
    pub(in crate::cli) snapshot: Option<Snapshot>,
    /// Which words of call frames count as pointers (Go): those that the dump lists (`precise`), also all of a frame that
    /// something points into (`default`), or all of all frames (`conservative`)
    #[arg(long, value_enum, default_value_t = RootsArg::Default)]
    pub(in crate::cli) roots: RootsArg,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Target {
    /// Austin's text: collapsed stacks, one sample a line
    Austin,
    /// hprof: for VisualVM, Eclipse MAT, hprof-slurp
    Hprof,
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
