//! Records one by one, for people and for programs.
//!
//! A [`RecordFormat`] appends a record to a buffer; the caller writes the buffer when it is large
//! enough. Nothing is allocated for a record once the buffer has grown.

use super::json;
use super::syntax::is_disruptive;
use crate::model::fields::{FieldSink, Record};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;

/// Options for showing records.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordFormat {
    /// Print one JSON object per line instead of aligned text.
    pub json: bool,
    /// Show memory contents and long lists in full.
    pub contents: bool,
    /// Text: pad names to this many columns.
    pub name_width: usize,
    /// Text: mark names and offsets with ANSI colours.
    pub color: bool,
}

impl RecordFormat {
    /// Appends a record and a line feed.
    pub fn append<R: Record>(self, offset: u64, record: &R, out: &mut Vec<u8>) {
        if self.json {
            self.append_json(offset, record, out)
        } else {
            self.append_text(offset, record, out)
        }
        out.push(b'\n');
    }

    fn append_json<R: Record>(self, offset: u64, record: &R, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"offset\":");
        push_json(out, &offset);
        out.extend_from_slice(b",\"record\":\"");
        out.extend_from_slice(record.name().as_bytes());
        out.push(b'"');
        record.fields(&mut JsonSink { out, contents: self.contents, first: false, raw: false });
        out.push(b'}');
    }

    fn append_text<R: Record>(self, offset: u64, record: &R, out: &mut Vec<u8>) {
        let start = out.len();
        let style = |out: &mut Vec<u8>, code: &[u8]| {
            if self.color {
                out.extend_from_slice(code);
            }
        };
        style(out, b"\x1b[2m");
        push_hex_number(out, offset, 8);
        style(out, b"\x1b[0m");
        out.push(b' ');
        style(out, b"\x1b[1m");
        out.extend_from_slice(record.name().as_bytes());
        for _ in record.name().len()..self.name_width {
            out.push(b' ');
        }
        style(out, b"\x1b[0m");
        record.fields(&mut TextSink { out, contents: self.contents, separator: " " });
        while out.len() > start && out.last() == Some(&b' ') {
            out.pop();
        }
    }
}

struct TextSink<'o> {
    out: &'o mut Vec<u8>,
    contents: bool,
    separator: &'static str,
}

impl TextSink<'_> {
    fn field(&mut self, name: &str) -> &mut Vec<u8> {
        self.separator.bytes().for_each(|byte| self.out.push(byte));
        self.separator = " ";
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'=');
        self.out
    }
}

impl FieldSink for TextSink<'_> {
    fn unsigned(&mut self, name: &str, value: u64) {
        push_number(self.field(name), value);
    }

    fn signed(&mut self, name: &str, value: i128) {
        push_number(self.field(name), value);
    }

    fn address(&mut self, name: &str, value: u64) {
        push_hex_number(self.field(name), value, 1);
    }

    fn float(&mut self, name: &str, value: f64) {
        let _ = write!(self.field(name), "{value}");
    }

    fn boolean(&mut self, name: &str, value: bool) {
        let _ = write!(self.field(name), "{value}");
    }

    fn text(&mut self, name: &str, value: &[u8]) {
        push_escaped(self.field(name), value);
    }

    /// Omitted unless requested. Records have a field for the size.
    fn contents(&mut self, name: &str, value: &[u8]) {
        if self.contents {
            push_hex(self.field(name), value);
        }
    }

    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self)) {
        self.field(name).push(b'[');
        for (i, item) in items.enumerate() {
            self.separator = if i == 0 { "" } else { ", " };
            each(item, self);
        }
        self.separator = " ";
        self.out.push(b']');
    }

    fn wants_contents(&self) -> bool {
        self.contents
    }
}

struct JsonSink<'o> {
    out: &'o mut Vec<u8>,
    contents: bool,
    /// Whether the next field is the first of its object.
    first: bool,
    /// Whether the object has a key `raw`.
    raw: bool,
}

impl JsonSink<'_> {
    #[inline]
    fn field(&mut self, name: &str) -> &mut Vec<u8> {
        self.field_with(name, "")
    }

    #[inline]
    fn field_with(&mut self, name: &str, suffix: &str) -> &mut Vec<u8> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(suffix.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}

impl FieldSink for JsonSink<'_> {
    fn unsigned(&mut self, name: &str, value: u64) {
        push_json(self.field(name), &value);
    }

    fn signed(&mut self, name: &str, value: i128) {
        let out = self.field(name);
        match i64::try_from(value) {
            Ok(small) => push_json(out, &small),
            Err(_) => push_json(out, &value),
        }
    }

    fn address(&mut self, name: &str, value: u64) {
        let out = self.field(name);
        out.push(b'"');
        push_hex_number(out, value, 1);
        out.push(b'"');
    }

    /// Infinities and NaN have no number in JSON: they are strings.
    fn float(&mut self, name: &str, value: f64) {
        let out = self.field(name);
        if value.is_finite() { push_json(out, &value) } else { push_json(out, &value.to_string()) }
    }

    fn boolean(&mut self, name: &str, value: bool) {
        push_json(self.field(name), &value);
    }

    fn text(&mut self, name: &str, value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        push_json(self.field(name), &text);
        if matches!(text, std::borrow::Cow::Borrowed(_)) {
            return;
        }
        // A record hardly ever has two such texts; the second key contains the field's name.
        let out = if self.raw { self.field_with("raw_", name) } else { self.field("raw") };
        push_quoted_hex(out, value);
        self.raw = true;
    }

    /// `contents_length` always, `contents` in hexadecimal on request.
    fn contents(&mut self, name: &str, value: &[u8]) {
        push_json(self.field_with(name, "_length"), &value.len());
        if self.contents {
            push_quoted_hex(self.field(name), value);
        }
    }

    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self)) {
        self.field(name).push(b'[');
        let raw = std::mem::take(&mut self.raw);
        for (i, item) in items.enumerate() {
            self.out.extend_from_slice(if i == 0 { b"{" } else { b",{" });
            self.first = true;
            self.raw = false;
            each(item, self);
            self.out.push(b'}');
        }
        self.first = false;
        self.raw = raw;
        self.out.push(b']');
    }

    fn wants_contents(&self) -> bool {
        self.contents
    }
}

#[inline]
fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing numbers and strings to a vector cannot fail.
    let _ = json::line(out, value);
}

/// Appends a number in decimal.
#[inline]
fn push_number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends a number after `0x`, with at least this many digits. Every line has one, and the
/// formatting of the standard library would take most of the time.
#[inline]
fn push_hex_number(out: &mut Vec<u8>, value: u64, digits: u32) {
    let digits = (u64::BITS - value.leading_zeros()).div_ceil(4).max(digits) as usize;
    let mut text = [0; 2 + 16];
    let (prefix, places) = text[..2 + digits].split_at_mut(2);
    prefix.copy_from_slice(b"0x");
    for (digit, place) in places.iter_mut().rev().enumerate() {
        *place = DIGITS[(value >> (4 * digit) & 15) as usize];
    }
    out.extend_from_slice(&text[..2 + digits]);
}

fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(2 * bytes.len());
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

fn push_quoted_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    push_hex(out, bytes);
    out.push(b'"');
}

/// Quotes text and escapes characters that control a terminal. Bytes that are not UTF-8 are shown
/// in hexadecimal.
fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\r' => out.extend_from_slice(b"\\r"),
                character if is_disruptive(character) => {
                    let mut escaped = String::new();
                    let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
                    out.extend_from_slice(escaped.as_bytes());
                }
                character => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Example;

    impl Record for Example {
        fn name(&self) -> &'static str {
            "example"
        }

        fn fields<S: FieldSink>(&self, sink: &mut S) {
            sink.address("addr", 0xc000);
            sink.text("name", b"a\"b\n\xff");
            sink.contents("contents", &[0, 255]);
            sink.list("frames", [1u64, 2].into_iter(), |line, sink| sink.unsigned("line", line));
            sink.signed("delta", -1);
            sink.float("value", f64::NAN);
        }
    }

    fn show(format: RecordFormat) -> String {
        let mut out = Vec::new();
        format.append(31, &Example, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_aligned_and_escaped() {
        assert_eq!(
            show(RecordFormat { name_width: 9, ..RecordFormat::default() }),
            "0x0000001f example   addr=0xc000 name=\"a\\\"b\\n\\xff\" frames=[line=1, line=2] delta=-1 value=NaN\n"
        );
    }

    #[test]
    fn hexadecimal_numbers_are_those_of_the_standard_library() {
        for value in [0, 1, 15, 16, 0xc000, 0xffff_ffff, 0x1_0000_0000, u64::MAX >> 1, u64::MAX] {
            let (mut short, mut padded) = (Vec::new(), Vec::new());
            push_hex_number(&mut short, value, 1);
            push_hex_number(&mut padded, value, 8);
            assert_eq!(
                [short, padded].map(|text| String::from_utf8(text).unwrap()),
                [format!("{value:#x}"), format!("{value:#010x}")]
            );
        }
    }

    #[test]
    fn json_is_one_valid_object_with_the_raw_bytes() {
        let line = show(RecordFormat { json: true, contents: true, ..RecordFormat::default() });
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["offset"], 31);
        assert_eq!(value["record"], "example");
        assert_eq!(value["name"], "a\"b\n\u{fffd}");
        assert_eq!(value["raw"], "6122620aff");
        assert_eq!(value["contents_length"], 2);
        assert_eq!(value["contents"], "00ff");
        assert_eq!(value["frames"][1]["line"], 2);
        assert_eq!(value["value"], "NaN");
    }
}
