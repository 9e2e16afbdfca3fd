//! Arguments of `tree`.

use super::heap::HeapOptions;
use super::profile::ProfileOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show who holds what as a tree: the dominator tree (heaps), or the call tree (profiles)
///
/// An object stands below the one that dominates it: the last one that all paths from the roots to it pass, without which it
/// would go. Objects of one type below one owner are shown as one line with their number, chains of one type as `Node ×k`.
///
/// A function stands below the one that called it, with the cost of all stacks that begin so. Calls that lead on to a single
/// other one, without a cost of their own, share its line: `main → run → loop`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool tree app.heapdump
  dumptool tree --min-share 5% --depth 4 app.dartheap
  dumptool tree --by type app.mvmheap            the dominator tree with all objects of a type merged at each level
  dumptool tree profile.mojo
  dumptool tree --focus 'json.py:*decode' profile.mojo
                                                 who calls these functions, and what they call
  dumptool tree --format json app.heapdump | jq '.nodes[] | select(.depth == 1)'")]
pub(in crate::cli) struct TreeArgs {
    /// Dump or profile to look at; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Leave out what has a smaller share of the whole
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_share)]
    pub(in crate::cli) min_share: f64,
    /// Levels to show
    #[arg(long, value_name = "N")]
    pub(in crate::cli) depth: Option<u32>,
    /// Lines to show; 0 is all (default: 60 in tables and json, all in jsonl and csv)
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) limit: Option<u64>,
    /// Heaps: lines are groups of siblings (`object`, the default), or all objects of a type at a level merged (`type`)
    #[arg(long, value_enum, hide_possible_values = true, value_name = "WHAT", help_heading = "Heaps")]
    pub(in crate::cli) by: Option<TreeByArg>,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    /// Only what functions of this name (a glob) call, and who calls them
    #[arg(long, value_name = "GLOB", help_heading = "Profiles")]
    pub(in crate::cli) focus: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// What a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TreeByArg {
    /// Objects of one type below one owner
    Object,
    /// Objects of one type below all owners that are merged
    Type,
}

/// A share of a whole: `2%`, `0.5 %`, or a fraction such as `0.02`.
pub(in crate::cli) fn parse_share(text: &str) -> Result<f64, &'static str> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if (0.0..=scale).contains(&number) => Ok(number / scale),
        _ => Err("a share between 0% and 100%"),
    }
}
