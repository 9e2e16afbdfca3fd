//! Known leaks: rules that recognize a finding of the verdict and advise what to do about it.
//!
//! The rules are data: `rules/*.toml` of the repository, and files of `--rules`. docs/rules.md
//! explains how to write one.

mod facts;
mod rule;
#[cfg(test)]
mod tests;

pub(crate) use facts::Facts;
pub(crate) use rule::Rule;

use super::args::KnownArgs;
use super::session::Session;
use super::status::{InputError, UsageError};
use super::terminal::show_path;
use crate::source::Source;
use rule::RuleFile;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The rules of this build, by the name of their file.
pub(crate) const BUILT_IN: [(&str, &str); 7] = [
    ("java.toml", include_str!("../../../rules/java.toml")),
    ("android.toml", include_str!("../../../rules/android.toml")),
    ("node.toml", include_str!("../../../rules/node.toml")),
    ("go.toml", include_str!("../../../rules/go.toml")),
    ("ruby.toml", include_str!("../../../rules/ruby.toml")),
    ("python.toml", include_str!("../../../rules/python.toml")),
    ("dart.toml", include_str!("../../../rules/dart.toml")),
];

/// Longest file of rules, in bytes.
const LONGEST: usize = 1 << 20;

/// Rules in the order in which they are tried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Vec<Arc<Rule>>);

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let files = BUILT_IN.iter().map(|(name, text)| parse(Path::new(name), text));
    // A test ensures that each of them can be read.
    Rules(files.filter_map(Result::ok).flatten().collect())
});

impl Rules {
    /// The rules that a command uses: those of `--rules` files, then those of this build. A command
    /// without such options uses those of the program that keeps dumps open. Fails with an
    /// [`InputError`] for a file that cannot be read; with a [`UsageError`] for one that contains
    /// no rules.
    pub(crate) fn of(args: &KnownArgs, session: &Session) -> anyhow::Result<Self> {
        let resident = session.resident.as_ref().map(|resident| &resident.given.known);
        let args = match resident.filter(|given| !args.is_given() || *given == args) {
            Some(given) => given,
            None => {
                args.rules.iter().try_for_each(|path| session.allow(path))?;
                args
            }
        };
        let mut rules = Vec::new();
        for path in &args.rules {
            let source = Source::open(path).map_err(|error| InputError::new(path, error))?;
            rules.extend(parse(path, &text(path, source.bytes())?)?);
        }
        let built_in = RULES.0.iter().filter(|_| !args.no_rules);
        rules.extend(built_in.cloned());
        let mut ids = FxHashSet::default();
        // A rule from a file replaces the rule of this build with the same id.
        rules.retain(|rule| ids.insert(rule.id().to_owned()));
        Ok(Self(rules))
    }

    /// The first rule that recognizes a finding.
    pub(crate) fn find(&self, facts: &Facts<'_, '_>) -> Option<&Arc<Rule>> {
        self.0.iter().find(|rule| rule.fits(facts))
    }
}

fn text(path: &Path, bytes: &[u8]) -> Result<String, UsageError> {
    let expected = |what: String| {
        UsageError::new(format!("{}: {what}", show_path(path))).hint("docs/rules.md has an example")
    };
    if bytes.len() > LONGEST {
        return Err(expected(format!("expected rules, at most {LONGEST} bytes")));
    }
    String::from_utf8(bytes.to_vec()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let (line, column) = position(&String::from_utf8_lossy(&bytes[..at]), at);
        expected(format!("line {line}, column {column}: expected UTF-8"))
    })
}

/// Reads a file of rules.
fn parse(path: &Path, text: &str) -> Result<Vec<Arc<Rule>>, UsageError> {
    let file: RuleFile = toml::from_str(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        let what = error.message().replace('\n', ", ");
        UsageError::new(format!("{}: line {line}, column {column}: {what}", show_path(path)))
            .hint("docs/rules.md describes the keys of a rule")
    })?;
    let mut ids = FxHashSet::default();
    for rule in &file.rule {
        if !ids.insert(rule.id()) {
            let (line, column) = position(text, rule.id.span().start);
            let what = format!("expected an id that no other rule has, found {:?}", rule.id());
            return Err(UsageError::new(format!(
                "{}: line {line}, column {column}: {what}",
                show_path(path)
            )));
        }
    }
    Ok(file.rule.into_iter().map(Arc::new).collect())
}

/// The line and the column of a place in a text, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}
