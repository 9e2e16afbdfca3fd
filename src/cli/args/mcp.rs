//! Arguments of `mcp`.

use super::known::KnownArgs;
use crate::cli::size::parse_size;
use clap::Args;
use std::path::PathBuf;

/// Answer an AI assistant's questions about dumps, over the Model Context Protocol (MCP)
///
/// Reads requests from standard input and writes answers to standard output; the assistant starts it
/// as a subprocess. Its tools are `info`, `top`, `tree`, `path`, `show`, `find`, `diff`, `growth`,
/// `threads`, `waste`, `query`, `suspects` (`top --suspects`), `check` and `convert`, with the
/// arguments of the command line. They answer with the documents that `--format json` prints. A dump is loaded once and stays in memory
/// between requests; one that has changed is loaded again.
///
/// Tools read only the files given here or below a folder given with --allow. Symbolic links count as
/// the files that they point to. Only `convert` writes: a file that did not exist, below such a folder.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  claude mcp add dumptool -- dumptool mcp /srv/app.hprof
  dumptool mcp --allow ~/dumps                   every dump in a folder
  dumptool mcp --budget 4GiB old.hprof new.hprof
  dumptool mcp --print-skill > SKILL.md          instructions for an assistant without MCP")]
pub(in crate::cli) struct McpArgs {
    /// Dumps and profiles that may be read
    #[arg(value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Folder whose files may be read, with its subfolders; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) allow: Vec<PathBuf>,
    /// Memory for dumps that stay loaded (default: half of --max-memory). When they need more, the
    /// least recently used ones are dropped; the dump in use always stays
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub(in crate::cli) budget: Option<u64>,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    /// Print instructions for assistants that run commands (SKILL.md), and exit
    #[arg(long, conflicts_with_all = ["files", "allow", "budget"])]
    pub(in crate::cli) print_skill: bool,
}
