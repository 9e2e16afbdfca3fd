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

    /// Returns each option with whether it was given.
    pub(in crate::cli) fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--type", self.type_glob.is_some()),
            ("--namespace", self.namespace.is_some()),
            ("--exclude", self.exclude.is_some()),
        ]
    }

    /// Returns the options as words for a shell, each after a space.
    pub(in crate::cli) fn words(&self) -> String {
        let options = [
            ("--type", &self.type_glob),
            ("--namespace", &self.namespace),
            ("--exclude", &self.exclude),
        ];
        let words = options.into_iter().filter_map(|(option, glob)| Some((option, glob.as_ref()?)));
        words.map(|(option, glob)| format!(" {option} {}", shell_word(glob))).collect()
    }

    /// The options in JSON; `None` if there are none.
    pub(in crate::cli) fn json(&self) -> Option<Value<'_>> {
        let text = |text: &Option<String>| Value::from(text.clone());
        self.given().iter().any(|(_, given)| *given).then(|| {
            Value::from([
                ("type", text(&self.type_glob)),
                ("namespace", text(&self.namespace)),
                ("exclude", text(&self.exclude)),
            ])
        })
    }
}
