//! Patterns for functions.

use super::GroupLabel;
use crate::analysis::glob::Glob;
use crate::model::regex::Regex;
use std::cell::RefCell;

/// A pattern for functions: a glob over names, or over `file:name`, where the file may be the end
/// of a path in whole names; or a regular expression between slashes, which some part of the name
/// or of the file has to match.
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Glob {
        whole: Glob,
        /// The pattern, preceded by any folder.
        below: Glob,
    },
    Regex(Box<RefCell<Regex>>),
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If a regular expression is wrong or too large.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        Ok(Self(match expression(text) {
            Some(text) => {
                let regex = Regex::part(text);
                let regex = regex.ok_or("not a regular expression, or too large")?;
                Kind::Regex(Box::new(RefCell::new(regex)))
            }
            None => Kind::Glob { whole: Glob::new(text), below: Glob::new(&format!("*/{text}")) },
        }))
    }

    /// Returns `true` if the pattern matches a function by its name or its file.
    pub fn matches(&self, label: &GroupLabel) -> bool {
        let GroupLabel { name, namespace, line } = label;
        if self.matches_path(name) {
            return true;
        }
        if matches!(self.0, Kind::Regex(_)) {
            return self.matches_path(namespace);
        }
        let full = format!("{namespace}:{name}");
        self.matches_path(&full)
            || line.is_some_and(|line| self.matches_path(&format!("{full}:{line}")))
    }

    /// Returns `true` if the pattern matches a path or its end.
    pub fn matches_path(&self, path: &str) -> bool {
        match &self.0 {
            Kind::Glob { whole, below } => whole.matches(path) || below.matches(path),
            // An expression that gives up on a name counts as no match.
            Kind::Regex(regex) => regex.borrow_mut().matches(path.as_bytes()).unwrap_or(false),
        }
    }
}

/// The text between two slashes. `*` after the first one, as in `/*/lib.py:*`, begins a glob: no
/// regular expression begins with it.
fn expression(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('/')?.strip_suffix('/')?;
    (!inner.is_empty() && !inner.starts_with('*')).then_some(inner)
}

/// A pattern for values of labels: a glob, a regular expression between slashes, or a range of
/// numbers with units.
#[derive(Clone, Debug)]
pub enum LabelPattern {
    /// Some text.
    Text(Pattern),
    /// Numbers from the first to the second one, both included. The flag is `true` for times in
    /// nanoseconds, `false` for bytes or plain numbers.
    Range(i64, i64, bool),
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
            ("/dec.de/", true),
            (r"/^decode/", false),
            (r"/json\/reader\.py$/", true),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().matches(&label), expected, "{pattern}");
        }
        assert!(Pattern::new("/(/").is_err());
    }
}
