//! Arguments of `check`.

use super::heap::HeapOptions;
use super::known::KnownArgs;
use super::profile::ProfileOptions;
use clap::Args;
use std::path::PathBuf;

/// Check that a dump is consistent, or that it stays within limits
///
/// Without rules, checks every invariant of the format. With rules, checks only the rules and
/// prints one line for each that fails (-v lists all). Exits with status 1 if a check fails and
/// with status 3 if the dump is damaged.
///
/// For heaps, RULE is TYPE.COLUMN=LIMIT. TYPE is a glob that matches type names or
/// `namespace:name`; the rule applies to all matching objects together. `total` is the whole live
/// heap. COLUMN is count, shallow, external or retained. LIMIT is a number, or a size such as
/// 10MiB. `retained` is the memory that would be freed if all matching objects were gone. It can be
/// more than RETAINED in `top`, which does not include what only several objects together keep
/// alive, but never more than the live heap.
///
/// For profiles, RULE is FUNCTION.COLUMN=LIMIT. FUNCTION is a glob that matches function names or
/// `file:name`. COLUMN is self, total, share (of total) or samples. LIMIT is a time, a size, a
/// number of samples, or a percentage of the total of the metric (--metric).
///
/// `goroutines.count` and `threads.count` limit goroutines and threads, of heaps and of profiles:
/// `goroutines[FUNCTION].count` those with such a function on their stacks. With --max-each, the
/// limit is one for threads with equal stacks. `threads` are those that `dumptool threads` lists; in
/// profiles, the threads with samples, or those that a threadcreate profile counts.
///
/// With several files after --against, FILEs are runs of one program and so are these: each rule is
/// about the medians, and fails only if the median is beyond the limit by more than the noise: half
/// of the difference between the largest and the smallest number, added up over both sides (for
/// --max, of the new runs alone).
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool check app.heapdump || echo inconsistent
  dumptool check -v app.mvmheap
  dumptool check --format json app.dartheap | jq '.findings[] | select(.ok | not)'
  dumptool check --strict --max 'total.retained=64MiB' dumps/*.hprof
  dumptool check app.hprof --max '*HashMap$Node.count=100000' --max 'total.shallow=1GiB'
  dumptool check after.hprof --max-growth '*Session.retained=5%' --against before.hprof
  dumptool check app.dartheap --none '_LeakedTimer'
  dumptool check app.hprof --none-suspect 25%
  dumptool check app.heapdump --max 'goroutines.count=500' --max 'goroutines[main.slow*].count=50'
  dumptool check profile.mojo --max 'main.py:slow.share=30%' --max 'json.py:*.self=200ms'
  dumptool check profile.mojo --max-each '*.self=500ms'
  dumptool check new1.pb.gz new2.pb.gz new3.pb.gz --max-growth 'main.*.total=5%' \\
      --against old1.pb.gz old2.pb.gz old3.pb.gz
  dumptool check new.mojo --max-growth 'main.py:*.total=10%' --against old.mojo --normalize")]
pub(in crate::cli) struct CheckArgs {
    /// Dumps or profiles to check; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "against")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) rules: RuleOptions,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) known: KnownArgs,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

impl CheckArgs {
    /// The files to check. In `--against OLD NEW`, the last one is the newer one.
    pub(in crate::cli) fn files(&self) -> &[PathBuf] {
        match self.rules.against.as_slice() {
            [_, new @ ..] if self.files.is_empty() => new,
            _ => &self.files,
        }
    }

    /// The older files to compare with.
    pub(in crate::cli) fn older(&self) -> &[PathBuf] {
        match self.rules.against.as_slice() {
            [old, _] if self.files.is_empty() => std::slice::from_ref(old),
            older => older,
        }
    }

    /// Whether the files are repeated runs, which are compared as one.
    pub(in crate::cli) fn is_repeated(&self) -> bool {
        self.older().len() > 1
    }
}

/// Rules given on the command line.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Rules")]
pub(in crate::cli) struct RuleOptions {
    /// Upper limit: `TYPE.retained=10MiB`, `TYPE.count=1000`, `total.shallow=1GiB`
    #[arg(long, value_name = "RULE")]
    pub(in crate::cli) max: Vec<String>,
    /// Upper limit for each type or function that matches: `*.self=500ms`, `*.retained=10MiB`
    #[arg(long, value_name = "RULE")]
    pub(in crate::cli) max_each: Vec<String>,
    /// Upper limit for the growth since the dump given with --against: `TYPE.count=5%`,
    /// `total.retained=10MiB`
    #[arg(long, value_name = "RULE", requires = "against")]
    pub(in crate::cli) max_growth: Vec<String>,
    /// Older dump to compare with; or several runs, to compare the medians of both sides and fail
    /// only beyond the noise
    #[arg(long, value_name = "OLD", num_args = 1.., requires = "max_growth")]
    against: Vec<PathBuf>,
    /// Scale the older profile to the total of the new one, so that shares are compared (profiles)
    #[arg(long, requires = "max_growth")]
    pub(in crate::cli) normalize: bool,
    /// Fail if there are live objects of these types
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) none: Vec<String>,
    /// Fail if one owner holds more than this share of the live heap, such as `25%` (heaps; see
    /// `top --suspects`)
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(in crate::cli) none_suspect: Option<f64>,
    /// Fail a --max, --max-each or --max-growth rule that matches no type or function (default: it passes with
    /// a warning)
    #[arg(long)]
    pub(in crate::cli) strict: bool,
}

impl RuleOptions {
    /// Whether any rule was given.
    pub(in crate::cli) fn given(&self) -> bool {
        let limits = [&self.max, &self.max_each, &self.max_growth, &self.none];
        limits.into_iter().any(|rules| !rules.is_empty()) || self.none_suspect.is_some()
    }
}

/// Reads a share: `25%` or `0.25`.
fn parse_share(text: &str) -> Result<f64, &'static str> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    share
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or("expected a share of the live heap, such as 25% or 0.25")
}
