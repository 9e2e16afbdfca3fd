//! The functions that match a pattern.

use crate::analysis::glob::Glob;
use crate::analysis::profile::GroupLabel;
use crate::cli::status::UsageError;
use crate::cli::terminal::shown;

/// A pattern for functions: a glob over names, or over `file:name`, where the file may be the end
/// of a path in whole names.
pub(crate) struct Pattern {
    whole: Glob,
    /// As a pattern after any folder.
    below: Glob,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { whole: Glob::new(text), below: Glob::new(&format!("*/{text}")) }
    }

    /// Whether a function is meant, or a file.
    pub(crate) fn matches(&self, label: &GroupLabel) -> bool {
        let GroupLabel { name, namespace, line } = label;
        if self.matches_path(name) {
            return true;
        }
        let full = format!("{namespace}:{name}");
        self.matches_path(&full)
            || line.is_some_and(|line| self.matches_path(&format!("{full}:{line}")))
    }

    /// Whether a path is meant, or its end.
    pub(crate) fn matches_path(&self, path: &str) -> bool {
        self.whole.matches(path) || self.below.matches(path)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_functions_with_or_without_their_file() {
        let label = GroupLabel {
            name: "Reader.decode".into(),
            namespace: "/lib/json/reader.py".into(),
            line: None,
        };
        for (pattern, expected) in [
            ("Reader.decode", true),
            ("*decode", true),
            ("decode", false),
            ("reader.py:*", true),
            ("json/reader.py:Reader.decode", true),
            ("/lib/json/reader.py:*", true),
            ("eader.py:*", false),
            ("*eader.py:*", true),
            ("reader.py", false),
            ("{decode,Reader.decode}", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(&label), expected, "{pattern}");
        }
    }
}
