//! The command line's grammar and its help.

mod check;
mod common;
mod convert;
mod diff;
mod filter;
mod find;
mod growth;
mod heap;
mod info;
mod known;
mod mcp;
mod narrow;
mod object;
mod profile;
mod query;
mod report;
mod source;
mod top;
mod tree;

use super::Command;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, ValueEnum};

pub(in crate::cli) use check::{CheckArgs, RuleOptions};
pub(in crate::cli) use common::{Color, Common, OutputFormat};
pub(in crate::cli) use convert::{ConvertArgs, PartitionKey, Target};
pub(in crate::cli) use diff::{DiffArgs, DiffObjects, DiffSort};
pub(in crate::cli) use filter::FilterArgs;
pub(in crate::cli) use find::{FindArgs, FindHeapOptions, FindSortArg};
pub(in crate::cli) use growth::{GrowthArgs, GrowthSort};
pub(in crate::cli) use heap::{HeapOptions, LoadArgs, ObjectsArg, Snapshot, Snapshots, SortArg};
pub(in crate::cli) use info::{CatArgs, InfoArgs};
pub(in crate::cli) use known::KnownArgs;
pub(in crate::cli) use mcp::McpArgs;
pub(in crate::cli) use narrow::NarrowOptions;
pub(in crate::cli) use object::{PathArgs, ShowArgs, ThreadsArgs, WasteArgs};
pub(in crate::cli) use profile::ProfileOptions;
pub(in crate::cli) use query::QueryArgs;
pub(in crate::cli) use report::{ExploreArgs, ReportArgs, ServeArgs};
pub(in crate::cli) use source::SourceArgs;
pub(in crate::cli) use top::{ByArg, TopArgs};
pub(in crate::cli) use tree::{TreeArgs, TreeByArg};

/// Returns the name of a value on the command line and in JSON.
pub(in crate::cli) fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// A choice that was made, as it is written after its option, and whether there is one.
fn choice(option: &str, value: Option<impl ValueEnum>) -> (String, bool) {
    let is_given = value.is_some();
    (format!("{option} {}", value.map(name_of).unwrap_or_default()), is_given)
}

/// A name on the command line, its help, and what it stands for.
type Named<T> = (&'static str, &'static str, T);

/// Reads one of some names as what it stands for.
fn one_of<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = Named<T>>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<_> = values.into_iter().collect();
    let names = values.iter().map(|(name, help, _)| match *help {
        "" => PossibleValue::new(*name),
        help => PossibleValue::new(*name).help(help),
    });
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |name| {
        let known = values.iter().find(|(known, ..)| *known == name);
        known.map(|(.., value)| value.clone()).ok_or("no such value")
    })
}

/// Find out what holds your memory or takes your time: inspect, compare, check and convert heap
/// dumps and profiles
#[derive(Debug, Parser)]
#[command(name = "dumptool", version, after_help = EXAMPLES, arg_required_else_help = true, args_override_self = true)]
pub(in crate::cli) struct Cli {
    #[command(subcommand)]
    pub(in crate::cli) command: Command,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

const EXAMPLES: &str = "\
Examples:
  dumptool app.hprof                        summary of a dump, and what holds the memory
  dumptool info app.mvmheap                 summary of a dump
  dumptool cat profile.mojo | less          every record with its offset
  dumptool top app.heapdump                 what holds the memory, or where the time goes
  dumptool tree app.dartheap                dominator tree, or call tree
  dumptool path app.heapdump 0xc000514060   why an object is alive
  dumptool threads app.heapdump             threads and goroutines by their stacks
  dumptool diff old.heapdump new.heapdump   what grew
  dumptool waste app.hprof                  what could be saved
  dumptool explore app.hprof                look around in the terminal
  dumptool query app.hprof \"select …\"       anything else, with SQL
  dumptool report app.hprof                 an HTML page to share
  dumptool serve app.hprof                  the same page in the browser, with every object
  dumptool mcp --allow dumps/               answer an AI assistant
  dumptool check app.heapdump && echo ok
  dumptool convert profile.mojo out.austin  for tools that read Austin's text
  dumptool convert app.heapdump out.hprof   for VisualVM, Eclipse MAT, hprof-slurp

FILE is a path, or `-` for standard input. dumptool detects the format by content and decompresses
gzip and zstd input.

Exit status: 0 success, 1 a check failed, 2 usage error or limit exceeded, 3 input error, 4 output error.";

/// Print a shell completion script
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool completions bash > ~/.local/share/bash-completion/completions/dumptool
  dumptool completions zsh > ~/.zfunc/_dumptool")]
pub(in crate::cli) struct CompletionsArgs {
    /// Shell that will use the script
    pub(in crate::cli) shell: clap_complete::Shell,
}

// Without a comment for documentation, which would become the help of the command.
#[derive(Args, Debug)]
pub(in crate::cli) struct NoArgs {}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }
}
