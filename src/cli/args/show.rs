//! Arguments of `show`.

use super::heap::HeapOptions;
use clap::Args;
use std::path::PathBuf;

/// Show one object: its type, sizes and value, what it refers to, what refers to it, and who holds it
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool show app.heapdump 0xc000514060
  dumptool show app.dartheap '#4711'
  dumptool show -n 0 app.mvmheap '#12'           all references and referrers")]
pub(in crate::cli) struct ShowArgs {
    /// Dump to look at; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Object, as other commands print it: an address (also inside of an object) or `#` and a number
    #[arg(value_name = "OBJECT")]
    pub(in crate::cli) object: String,
    /// References and referrers to show; 0 is all (default: 20 each in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
}
