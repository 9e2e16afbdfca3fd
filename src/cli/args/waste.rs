//! Arguments of `waste`.

use super::heap::HeapOptions;
use clap::Args;
use std::path::PathBuf;

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
