//! Arguments of the commands about one object: `show` and `path`.

use super::heap::HeapOptions;
use clap::Args;
use std::path::PathBuf;

/// Show one object: type, sizes, fields with their values, entries of collections, references and
/// referrers
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool show app.heapdump 0xc000514060
  dumptool show app.dartheap 4711
  dumptool show --entries 100 app.hprof 0xfd5e23a0    keys and values of a map
  dumptool show -n 0 app.mvmheap 12           show all references and referrers")]
pub(in crate::cli) struct ShowArgs {
    /// Heap dump to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Object as other commands print it: an address (inside the object is enough) or a number,
    /// with or without `#`
    #[arg(value_name = "OBJECT")]
    pub(in crate::cli) object: String,
    /// Maximum number of references and of referrers (0 = all; default: 20 in tables and json, all
    /// in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Maximum number of entries of a collection, and of elements of an array (0 = all; default:
    /// 20)
    #[arg(long, value_name = "N")]
    pub(in crate::cli) entries: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
}

/// Show why an object is alive: the shortest paths from the roots to it, with the name of every
/// reference
///
/// Paths do not follow weak references or immediate values (objects of size 0).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool path app.heapdump 0xc000514060
  dumptool path -k 5 app.dartheap 4711
  dumptool path -k 5 --dot app.heapdump 0xc000514060 | dot -Tsvg > paths.svg
  dumptool path --type '*Session*' app.heapdump  merge the paths of all objects of these types
  dumptool path app.jfr                       objects that were sampled and stayed alive (jfr)")]
pub(in crate::cli) struct PathArgs {
    /// Heap dump to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Object as other commands print it: an address (inside the object is enough) or a number,
    /// with or without `#`
    ///
    /// Recordings (jfr) need none: all sampled objects are shown
    #[arg(value_name = "OBJECT")]
    pub(in crate::cli) object: Option<String>,
    /// Maximum number of paths
    #[arg(short = 'k', long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) paths: u32,
    /// Merge the paths of all objects whose type matches, instead of one object. Repeated steps are
    /// shown once; paths of more than 12 steps are shortened in the middle
    #[arg(long = "type", value_name = "GLOB", id = "type", conflicts_with = "object")]
    pub(in crate::cli) type_glob: Option<String>,
    /// Maximum number of rows with --type (0 = all; default: 10 in tables and json, all in jsonl
    /// and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Output in Graphviz (DOT) format
    #[arg(long, conflicts_with = "type")]
    pub(in crate::cli) dot: bool,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
}
