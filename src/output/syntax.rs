//! The text syntax of rows.

/// The text syntax of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values after a line of names, as in RFC 4180 but with line feeds.
    Csv,
}
