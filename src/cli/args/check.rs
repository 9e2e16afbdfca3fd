//! Arguments of `check`.

use super::heap::HeapOptions;
use super::profile::ProfileOptions;
use clap::Args;
use std::path::PathBuf;

/// Check a dump against everything that its format promises, or against limits
///
/// Without rules: does everything hold that the format promises? With rules: only those, one line for each that is broken.
/// Exits with status 1 when something does not hold, and 3 when the dump is damaged. With -v every rule is listed.
///
/// RULE is TYPE.COLUMN=LIMIT. TYPE is a glob over names of types, or `namespace:name`, and the rule is about all types together
/// that match; `total` is the whole live heap. COLUMN is count, shallow, external or retained. LIMIT is a number, or a size
/// such as 10MiB. In profiles it is FUNCTION.COLUMN=LIMIT: FUNCTION a glob over names, or `file:name`; COLUMN self, total or samples;
/// LIMIT a time, a size, a number of samples, or a share of all, which --metric says of what.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  dumptool check app.heapdump || echo not to be trusted
  dumptool check -v app.mvmheap
  dumptool check --format json app.dartheap | jq '.findings[] | select(.ok | not)'
  dumptool check app.hprof --max '*HashMap$Node.count=100000' --max 'total.shallow=1GiB'
  dumptool check after.hprof --max-growth '*Session.retained=5%' --against before.hprof
  dumptool check app.dartheap --none '_LeakedTimer'
  dumptool check profile.mojo --max 'main.py:slow.total=30%' --max 'json.py:*.self=200ms'")]
pub(in crate::cli) struct CheckArgs {
    /// Dump or profile to check; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) rules: RuleOptions,
    #[command(flatten)]
    pub(in crate::cli) heap: HeapOptions,
    #[command(flatten)]
    pub(in crate::cli) profile: ProfileOptions,
}

/// Limits.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Rules")]
pub(in crate::cli) struct RuleOptions {
    /// At most this much: `TYPE.retained=10MiB`, `TYPE.count=1000`, `total.shallow=1GiB`
    #[arg(long, value_name = "RULE")]
    pub(in crate::cli) max: Vec<String>,
    /// At most this much more than in the dump of --against: `TYPE.count=5%`, `total.retained=10MiB`
    #[arg(long, value_name = "RULE", requires = "against")]
    pub(in crate::cli) max_growth: Vec<String>,
    /// The older dump that --max-growth compares with
    #[arg(long, value_name = "OLD", requires = "max_growth")]
    pub(in crate::cli) against: Option<PathBuf>,
    /// No live object of these types
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) none: Vec<String>,
}

impl RuleOptions {
    /// Whether there is any rule.
    pub(in crate::cli) fn given(&self) -> bool {
        !(self.max.is_empty() && self.max_growth.is_empty() && self.none.is_empty())
    }
}
