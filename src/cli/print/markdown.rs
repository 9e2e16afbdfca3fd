//! Tables of GitHub-flavoured Markdown.

use super::rows::Rows;
use super::table::Align;
use std::io::{self, Write};

/// Writes rows as a table. Names are code, so that nothing in them is a link, markup, HTML or a
/// mention.
pub(super) fn table(rows: Rows<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let (headings, rows) = rows.plain();
    for (heading, _) in &headings {
        write!(out, "| {} ", text(heading))?;
    }
    writeln!(out, "|")?;
    for (_, align) in &headings {
        write!(out, "{}", if *align == Align::Right { "| ---: " } else { "| --- " })?;
    }
    writeln!(out, "|")?;
    for row in rows {
        for (cell, (_, align)) in row.iter().zip(&headings) {
            write!(out, "| {} ", if *align == Align::Right { text(cell) } else { code(cell) })?;
        }
        writeln!(out, "|")?;
    }
    Ok(())
}

/// Text without markup, in a paragraph or a cell. What GitHub would make a link or a mention is
/// code.
pub(crate) fn text(text: &str) -> String {
    let is_link =
        |word: &str| word.contains(['@', '#']) || word.contains("://") || word.contains("www.");
    let word = |word: &str| if is_link(word) { code(word) } else { escaped(word) };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.split_inclusive('\n').map(line).collect()
}

/// Text as code in a cell.
fn code(name: &str) -> String {
    let trimmed = name.trim();
    // A backslash before a bar belongs to the bar in a cell, also in code.
    if trimmed.is_empty() || trimmed.contains(r"\|") {
        return escaped(trimmed);
    }
    let longest = trimmed.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if trimmed.starts_with('`') || trimmed.ends_with('`') { " " } else { "" };
    let end = if name.ends_with('\n') { "\n" } else { "" };
    format!("{fence}{space}{}{space}{fence}{end}", trimmed.replace('|', r"\|"))
}

/// Text with a backslash before each character that may be markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\`*_[]<>&|~#$".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
