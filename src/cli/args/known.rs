//! Options about known leaks.

use crate::cli::status::UsageError;
use clap::Args;
use std::path::PathBuf;

/// Rules that recognize known leaks.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Known leaks")]
pub(in crate::cli) struct KnownArgs {
    /// File with rules that recognize known leaks, which are tried before those of dumptool (see
    /// docs/rules.md). May be repeated
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(in crate::cli) rules: Vec<PathBuf>,
    /// Do not use dumptool's own rules
    #[arg(long)]
    pub(in crate::cli) no_rules: bool,
}

impl KnownArgs {
    pub(in crate::cli) fn is_given(&self) -> bool {
        self.given().into_iter().any(|(_, given)| given)
    }

    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 2] {
        [("--rules", !self.rules.is_empty()), ("--no-rules", self.no_rules)]
    }

    /// Refuses the options where nothing is recognized. Fails with a [`UsageError`] that says with
    /// what they go.
    pub(in crate::cli) fn only_with(&self, what: &str, is_so: bool) -> Result<(), UsageError> {
        let given = self.given().into_iter().find(|(_, given)| *given && !is_so);
        given.map_or(Ok(()), |(name, _)| Err(UsageError::new(format!("{name} goes with {what}"))))
    }
}
