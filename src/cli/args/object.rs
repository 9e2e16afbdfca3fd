//! Arguments of the commands about heaps alone: `show`, `path`, `threads` and `waste`.

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
    /// Maximum number of entries of a collection, of keys and values of a dict, and of elements of an
    /// array (0 = all; default: 20)
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

/// List threads, goroutines or isolates with their stacks, and what only they keep alive
///
/// Threads in the same state with equal stacks share a line with a count. ONLY HERE is the memory
/// that only these threads keep alive: through the local variables of their frames, and through
/// what the runtime holds for them (a thread object, deferred calls, static fields of an isolate).
/// Objects that another root also reaches do not count. RETAINED adds the memory that the thread
/// objects retain where something else reaches them, too, as an executor reaches its threads with
/// their thread-local values. Where both are equal, there is only RETAINED.
///
/// WAIT is the minimum time that a goroutine has waited. Go records when a garbage collection first
/// saw it wait; dumptool counts from then to the latest such time in the dump. STACK shows the
/// functions of the program, innermost first; --each shows all frames.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool threads app.heapdump
  dumptool threads --each app.hprof              every thread with its frames and local variables
  dumptool threads --format json app.heapdump | jq '.groups[] | select(.count > 100)'")]
pub(in crate::cli) struct ThreadsArgs {
    /// Heap dump to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Show each thread by itself, with all frames and the objects that its local variables hold
    #[arg(long)]
    pub(in crate::cli) each: bool,
    /// Maximum number of rows (0 = all; default: 20 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
}

/// Show memory that could be saved: duplicates, empty and oversized collections, zeros, boxed
/// numbers
///
/// Counts only live objects, each in one kind. Rows group duplicates by value and everything else by
/// type; "held by" lists the fields (Class#field) that hold these objects. A note for each kind
/// explains how its bytes are computed. Some dumps lack the necessary data: Dart snapshots have
/// lengths and the first 128 units of text but no bytes (longer texts are not compared), Go dumps
/// have bytes but no types, and MoarVM snapshots have neither.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool waste app.hprof
  dumptool waste -n 50 app.hprof                 more rows of each kind
  dumptool waste --format json app.hprof | jq '.kinds[] | {kind, bytes}'")]
pub(in crate::cli) struct WasteArgs {
    /// Heap dump to read; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Maximum number of rows and of fields for each kind (0 = all; default: 5 in tables and json,
    /// all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
}
