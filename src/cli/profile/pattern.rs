//! The functions that a pattern on the command line means.

use crate::analysis::profile::{GroupLabel, Pattern};
use crate::cli::status::UsageError;
use crate::cli::terminal::shown;

/// Parses the pattern of an option.
///
/// # Errors
/// A [`UsageError`] that names the option, for a wrong regular expression.
pub(crate) fn pattern(option: &str, text: &str) -> Result<Pattern, UsageError> {
    let error = |error| UsageError::new(format!("{option} {}: {error}", shown(text)));
    Pattern::new(text).map_err(error)
}

/// Parses an optional pattern, as [`pattern`] does. `None` if the option was not given.
///
/// # Errors
/// As [`pattern`].
pub(crate) fn given_pattern(
    option: &str,
    text: Option<&String>,
) -> Result<Option<Pattern>, UsageError> {
    text.map(|text| pattern(option, text)).transpose()
}

/// The error for a pattern that means no function, with functions that may have been meant.
pub(crate) fn no_function(pattern: &str, labels: &[GroupLabel]) -> UsageError {
    const SHOWN: usize = 5;
    let part = pattern.rsplit(':').next().unwrap_or(pattern).trim_matches('*').to_lowercase();
    let alike =
        labels.iter().filter(|label| !part.is_empty() && label.name.to_lowercase().contains(&part));
    let mut alike: Vec<_> = alike.map(|label| shown(&label.name)).collect();
    alike.sort_unstable();
    alike.dedup();
    alike.truncate(SHOWN);
    let error = UsageError::new(format!("no function matches {pattern}"));
    match alike.is_empty() {
        true => error.hint("`dumptool top -n 0` lists all functions; * matches any characters"),
        false => error.hint(format!("did you mean {}? * matches any characters", alike.join(", "))),
    }
}
