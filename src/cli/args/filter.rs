//! Options that select types.

use crate::analysis::glob::{Glob, TypeFilter};
use crate::cli::print::Value;
use crate::output::syntax::shell_word;
use clap::Args;

/// Selects the types that a command is about.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Heaps")]
pub(in crate::cli) struct FilterArgs {
    /// Only types that match this glob, by name or `namespace:name`: `*` matches any characters,
    /// `?` one, `{a,b}` either
    #[arg(long = "type", value_name = "GLOB", id = "type")]
    pub(in crate::cli) type_glob: Option<String>,
    /// Only types in this namespace: a Java, Go or Raku package, or a Dart library
    #[arg(long, value_name = "GLOB")]
    pub(in crate::cli) namespace: Option<String>,
    /// Exclude types whose name or namespace matches
    #[arg(long, value_name = "GLOB")]
    pub(in crate::cli) exclude: Option<String>,
}

impl FilterArgs {
    /// Returns the filter. Without options, it selects all types.
    pub(in crate::cli) fn filter(&self) -> TypeFilter {
        let glob = |text: &Option<String>| text.as_deref().map(Glob::new);
        TypeFilter {
            of: glob(&self.type_glob),
            namespace: glob(&self.namespace),
            exclude: glob(&self.exclude),
        }
    }

    fn options(&self) -> [(&'static str, &Option<String>); 3] {
        [
            ("--type", &self.type_glob),
            ("--namespace", &self.namespace),
            ("--exclude", &self.exclude),
        ]
    }

    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 3] {
        self.options().map(|(name, glob)| (name, glob.is_some()))
    }

    /// Returns the options as words for a shell, each after a space.
    pub(in crate::cli) fn words(&self) -> String {
        let word = |(name, glob): (&str, &Option<String>)| {
            glob.as_ref().map(|glob| format!(" {name} {}", shell_word(glob)))
        };
        self.options().into_iter().filter_map(word).collect()
    }

    /// The options in JSON; `None` if there are none.
    pub(in crate::cli) fn json(&self) -> Option<Value<'_>> {
        let text = |(name, glob): (&'static str, &Option<String>)| {
            (name.trim_start_matches('-'), Value::from(glob.clone()))
        };
        self.given().iter().any(|(_, given)| *given).then(|| self.options().map(text).into())
    }
}
