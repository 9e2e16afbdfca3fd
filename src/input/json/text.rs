//! Strings, as slices of the input.

use std::borrow::Cow;

/// A string of a document: the bytes between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Returns the string of these bytes, in which backslashes escape if `escaped` is set.
    pub fn new(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The bytes in the input, escapes included.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The text. Unescapes; replaces lone surrogates and bytes that are not UTF-8 with U+FFFD, and
    /// drops the backslash of unknown escapes. Borrows from the input unless something had to be
    /// changed.
    pub fn decode(&self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(unescape(self.raw))
        } else {
            String::from_utf8_lossy(self.raw)
        }
    }
}

/// The position of the quote that ends the string from `start` on, and whether the string has
/// escapes.
#[inline]
pub(crate) fn closing_quote(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let mut at = start;
    // Nearly all strings are shorter than this. A word at a time is faster than a call for those.
    for _ in 0..8 {
        let Some(word) = bytes.get(at..at.wrapping_add(8)).and_then(|word| word.try_into().ok())
        else {
            break;
        };
        let word = u64::from_le_bytes(word);
        let found = zero_bytes(word ^ QUOTES) | zero_bytes(word ^ BACKSLASHES);
        if found != 0 {
            let end = at.wrapping_add((found.trailing_zeros() / 8) as usize);
            return match bytes.get(end) {
                Some(b'"') => Some((end, false)),
                _ => closing_quote_after_escape(bytes, end),
            };
        }
        at = at.wrapping_add(8);
    }
    let rest = bytes.get(at..)?;
    let end = at.wrapping_add(memchr::memchr2(b'"', b'\\', rest)?);
    match bytes.get(end) {
        Some(b'"') => Some((end, false)),
        _ => closing_quote_after_escape(bytes, end),
    }
}

/// Like [`closing_quote`], from a backslash on.
fn closing_quote_after_escape(bytes: &[u8], backslash: usize) -> Option<(usize, bool)> {
    let mut at = backslash.wrapping_add(2);
    loop {
        let rest = bytes.get(at..)?;
        let found = at.wrapping_add(memchr::memchr2(b'"', b'\\', rest)?);
        match bytes.get(found) {
            Some(b'"') => return Some((found, true)),
            _ => at = found.wrapping_add(2),
        }
    }
}

const QUOTES: u64 = 0x0101_0101_0101_0101 * b'"' as u64;
const BACKSLASHES: u64 = 0x0101_0101_0101_0101 * b'\\' as u64;

/// The high bit of each byte that is 0. Bytes after the first such byte may be marked too.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

fn unescape(raw: &[u8]) -> String {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(rest.get(..backslash).unwrap_or_default());
        rest = rest.get(backslash.wrapping_add(1)..).unwrap_or_default();
        let Some((&escape, after)) = rest.split_first() else { break };
        rest = after;
        match escape {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'u' => rest = push_code_point(&mut text, rest),
            other => text.push(other),
        }
    }
    text.extend_from_slice(rest);
    match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// Appends the character of `\uXXXX`; `rest` is the text after the `u`. Returns the text after the
/// character.
fn push_code_point<'a>(text: &mut Vec<u8>, rest: &'a [u8]) -> &'a [u8] {
    let (first, mut rest) = code_unit(rest);
    let mut character = first.and_then(char::from_u32);
    if let Some(high @ 0xd800..0xdc00) = first
        && let Some(after) = rest.strip_prefix(b"\\u")
        && let (Some(low @ 0xdc00..0xe000), after) = code_unit(after)
    {
        // Both are in their ranges, so the sum is a code point.
        character = char::from_u32(((high & 0x3ff) << 10 | low & 0x3ff).wrapping_add(0x1_0000));
        rest = after;
    }
    let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

/// Four hexadecimal digits, and the bytes after them.
fn code_unit(rest: &[u8]) -> (Option<u32>, &[u8]) {
    let Some((digits, after)) = rest.split_at_checked(4) else { return (None, rest) };
    let value = digits
        .iter()
        .try_fold(0u32, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?));
    if value.is_some() { (value, after) } else { (None, rest) }
}

/// Formats a byte for an error message.
pub(super) fn shown(byte: u8) -> String {
    match byte {
        b' '..=b'~' => format!("`{}`", char::from(byte)),
        _ => format!("byte {byte:#04x}"),
    }
}
