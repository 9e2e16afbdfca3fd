//! What an object holds besides references.

use super::super::objects::Analysed;
use super::super::size::{count, plural};
use crate::model::heap::{Heap, LabelKind, ObjectId, Value};
use serde::Serialize;
use std::fmt::Write;

/// A value in JSON.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(in crate::cli) enum ValueRow {
    Boolean { value: bool },
    Integer { value: i64 },
    Float { value: Option<f64>, text: String },
    Text { value: String, length: u64, complete: bool },
    Length { value: u64 },
    Name { value: String },
    Bytes { length: u64, hex: String, complete: bool },
}

/// Bytes that JSON shows unless all are wanted.
const SHOWN_BYTES: usize = 4096;

impl ValueRow {
    pub(in crate::cli) fn of(heap: &Heap<'_>, object: ObjectId, limit: Option<u64>) -> Option<Self> {
        Some(match heap.value(object) {
            Value::None => return None,
            Value::Boolean(value) => Self::Boolean { value },
            Value::Integer(value) => Self::Integer { value },
            // JSON has no infinities.
            Value::Float(value) => Self::Float { value: Some(value).filter(|value| value.is_finite()), text: value.to_string() },
            Value::Text { text, length } => Self::Text { complete: is_complete(&text, length), value: text.into_owned(), length },
            Value::Length(value) => Self::Length { value },
            Value::Name(name) => Self::Name { value: name.into_owned() },
            Value::Bytes(bytes) => {
                let shown = if limit == Some(0) { bytes } else { &bytes[..bytes.len().min(SHOWN_BYTES)] };
                let hex = shown.iter().fold(String::with_capacity(shown.len() * 2), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}"); // Writing to a string cannot fail.
                    hex
                });
                Self::Bytes { length: bytes.len() as u64, hex, complete: shown.len() == bytes.len() }
            }
        })
    }
}

fn is_complete(text: &str, length: u64) -> bool {
    text.encode_utf16().count() as u64 >= length
}

/// A value on one line; bytes are none.
pub(in crate::cli) fn line(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::None | Value::Bytes(_) => return None,
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Length(length) => format!("length {}", count(*length)),
        Value::Name(name) => name.to_string(),
        Value::Text { text, length } if is_complete(text, *length) => format!("{text:?}"),
        Value::Text { text, length } => {
            let there = text.encode_utf16().count() as u64;
            format!("{text:?} … the first {} of {}", count(there), plural(*length, "code unit", "code units"))
        }
    })
}

/// Memory, 16 bytes a line, with what the pointers in each line refer to.
pub(super) fn hex(analysed: &Analysed<'_, '_>, object: ObjectId, bytes: &[u8], most_lines: usize) -> String {
    let heap = analysed.heap;
    let mut pointers: Vec<(usize, ObjectId)> = heap
        .references
        .of(object)
        .filter_map(|reference| match reference.label.kind() {
            LabelKind::Offset(offset) => Some((offset as usize, reference.target)),
            _ => None,
        })
        .collect();
    pointers.sort_unstable();
    let mut text = String::new();
    for (number, line) in bytes.chunks(16).enumerate().take(most_lines) {
        let start = number * 16;
        let digits = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let (left, right) = line.split_at(line.len().min(8));
        let printable: String =
            line.iter().map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' }).collect();
        let here = &pointers[pointers.partition_point(|(at, _)| *at < start)..];
        let targets: Vec<String> = here
            .iter()
            .take_while(|(at, _)| *at < start + 16)
            .map(|(at, target)| format!("+{at:#x} → {} {}", analysed.type_name(*target), heap.id(*target)))
            .collect();
        let line =
            format!("  {start:#06x}  {:<23}  {:<23}  |{printable:<16}|  {}", digits(left), digits(right), targets.join(", "));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let lines = bytes.len().div_ceil(16);
    if lines > most_lines {
        text.push_str(&format!("  showing {} of {}\n", count(most_lines as u64 * 16), plural(bytes.len() as u64, "byte", "bytes")));
    }
    text
}
