//! Arguments of `query`.

use super::heap::HeapOptions;
use clap::Args;
use std::path::PathBuf;

/// Query a dump with SQL, over the tables of `convert`
///
/// A heap dump has the tables objects, refs, types, roots, threads and frames; a profile has
/// samples, stacks, frames and functions; both have `dump`, one row about the file.
/// `dumptool query FILE` lists their columns and examples. The SQL is that of SQLite, read-only
/// and without files.
///
/// With two files, tables are `old.objects` and `new.objects`; a name without a schema refers to
/// NEW.
///
/// Functions take the id of an object: `path(id)` is the shortest path from a root, `value(id)` the
/// text or number that the object holds, `field(id, name)` the value of a field. With two files,
/// `path(id, 'old')` searches the older file.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool query app.hprof
                              list the tables, their columns and examples
  dumptool query app.hprof \"select kind, count(*) from roots group by kind\"
  dumptool query app.hprof \"select id, path(id) from objects where type = 'main.Session' limit 5\"
  dumptool query old.hprof new.hprof \"select type, n.count - o.count as more
    from old.types o join new.types n using (type, namespace, kind)
    order by more desc limit 10\"
  dumptool query --format csv app.hprof - < report.sql")]
#[cfg_attr(not(feature = "query"), allow(dead_code, reason = "a build without SQL refuses them"))]
pub(in crate::cli) struct QueryArgs {
    /// Dump or profile; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Newer dump or profile
    #[arg(id = "new", value_name = "NEW")]
    pub(in crate::cli) second: Option<String>,
    /// One SQL statement; `-` reads it from standard input. Without it, lists the tables
    #[arg(id = "sql", value_name = "SQL")]
    pub(in crate::cli) third: Option<String>,
    /// Maximum number of rows (0 = all; default: 1000 in tables, markdown and json, all in jsonl
    /// and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
}
