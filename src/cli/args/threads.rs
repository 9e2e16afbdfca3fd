//! Arguments of `threads`.

use super::heap::HeapOptions;
use clap::Args;
use std::path::PathBuf;

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
