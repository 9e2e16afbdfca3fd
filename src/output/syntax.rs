//! The syntax of text: rows, characters that are escaped, and words for a shell.

use std::fmt::{self, Write};

/// The text syntax of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values after a line of names, as in RFC 4180 but with line feeds.
    Csv,
}

/// Whether a character has an effect beyond its place: it controls the terminal (C0, C1, delete),
/// ends a line (U+2028, U+2029), turns the direction of text (Unicode's bidirectional controls), or
/// is invisible.
pub(crate) fn is_disruptive(c: char) -> bool {
    let invisible = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || invisible
}

/// A word quoted for a POSIX shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_./:@%+=,-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Text with all characters percent-encoded that are not plain.
pub(crate) fn percent_encoded(text: &str, is_plain: impl Fn(char) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            encoded.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Text or the value of an attribute in XML. Characters that XML 1.0 has no place for, not even as
/// references, become U+FFFD; so do line ends.
pub(crate) struct Xml<'a>(pub(crate) &'a str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\0'..='\x1f' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                    f.write_char('\u{fffd}')?
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
