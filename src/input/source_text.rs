//! The texts of source files that stand in profiles.

use super::{Format, firefox, v8profile};

/// A source file, or a script in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The file as functions name it.
    pub name: String,
    /// The line at which the text begins, from 1.
    pub first_line: u32,
    pub text: String,
}

/// The source files that a profile holds, in the order of the file. Damage ends them.
pub fn source_texts(format: Format, bytes: &[u8]) -> Vec<SourceText> {
    match format {
        Format::ChromeTrace => v8profile::trace_source_texts(bytes),
        Format::Firefox => firefox::source_texts(bytes),
        _ => Vec::new(),
    }
}
