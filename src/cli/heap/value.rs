//! The value of an object: its contents other than references.

use super::objects::Analysed;
use crate::analysis::readable;
use crate::cli::print::Value as Json;
use crate::cli::size::{beginning, count, left_out, plural};
use crate::cli::terminal::shown;
use crate::model::heap::{Heap, LabelKind, ObjectId, Value};
use std::fmt::Write;

/// Default number of bytes that JSON shows.
const SHOWN_BYTES: usize = 4096;

/// A value in JSON: null if there is none. `limit` 0 shows all bytes.
pub(crate) fn json<'h>(heap: &'h Heap<'_>, object: ObjectId, limit: Option<u64>) -> Json<'h> {
    let kind = |name: &'static str| ("kind", Json::from(name));
    match heap.value(object) {
        Value::None => readable::text(heap, object)
            .map_or(Json::Null, |text| Json::from([kind("description"), ("value", text.into())])),
        Value::Boolean(value) => Json::from([kind("boolean"), ("value", value.into())]),
        Value::Integer(value) => Json::from([kind("integer"), ("value", value.into())]),
        // JSON has no infinities.
        Value::Float(value) => {
            let finite = Some(value).filter(|value| value.is_finite());
            Json::from([
                kind("float"),
                ("value", finite.into()),
                ("text", value.to_string().into()),
            ])
        }
        Value::Text { text, length } => {
            let complete = is_complete(&text, length).into();
            Json::from([
                kind("text"),
                ("value", text.into()),
                ("length", Some(length).filter(|length| *length != Value::UNKNOWN_LENGTH).into()),
                ("complete", complete),
            ])
        }
        Value::Length(value) => Json::from([kind("length"), ("value", value.into())]),
        Value::Name(name) => Json::from([kind("name"), ("value", name.into())]),
        Value::Bytes(bytes) => {
            let shown =
                if limit == Some(0) { &*bytes } else { &bytes[..bytes.len().min(SHOWN_BYTES)] };
            let hex = shown.iter().fold(String::with_capacity(shown.len() * 2), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}"); // Writing to a string cannot fail.
                hex
            });
            let complete = (shown.len() == bytes.len()).into();
            let text = text_of(heap, object, &bytes).into();
            Json::from([
                kind("bytes"),
                ("length", bytes.len().into()),
                ("hex", hex.into()),
                ("complete", complete),
                ("text", text),
            ])
        }
    }
}

/// The value of an object that is a number, a boolean or complete text; null for all others.
pub(crate) fn plain<'h>(heap: &'h Heap<'_>, object: ObjectId) -> Json<'h> {
    match heap.value(object) {
        Value::Boolean(value) => value.into(),
        Value::Integer(value) => value.into(),
        Value::Float(value) if value.is_finite() => value.into(),
        Value::Text { text, length } if is_complete(&text, length) => text.into(),
        Value::None => readable::text(heap, object).into(),
        _ => Json::Null,
    }
}

/// The beginning of an object's value, for lists of objects; `show` prints the rest. Empty for
/// names, because descriptions of objects already include them.
pub(crate) fn brief(heap: &Heap<'_>, object: ObjectId) -> String {
    let line = match heap.value(object) {
        Value::Name(_) => return String::new(),
        value if matches!(value, Value::None | Value::Integer(_)) => {
            described(heap, object).or_else(|| line(&value)).unwrap_or_default()
        }
        Value::Bytes(bytes) => {
            text_of(heap, object, &bytes).map(|text| format!("{text:?}")).unwrap_or_default()
        }
        value => line(&value).unwrap_or_default(),
    };
    cut(line)
}

/// Maximum number of characters of a value in a list of objects.
const WIDTH: usize = 60;

fn cut(line: String) -> String {
    beginning(&line, WIDTH).into_owned()
}

/// An object as people write it, such as the name of an enum constant or a thread, or a date.
pub(crate) fn described(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    description(heap, object).map(cut)
}

/// The same text as [`described`], without truncation.
pub(crate) fn description(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    readable::text(heap, object).map(|text| shown(&text))
}

/// The text of a string, or of an array decoded by [`text_of`], as far as the file contains it.
pub(crate) fn whole_text(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    match heap.value(object) {
        Value::Text { text, .. } => Some(text.into_owned()),
        Value::Bytes(bytes) => text_of(heap, object, &bytes),
        _ => None,
    }
}

/// The text of an array of chars, or of an array of bytes if all of them are printable.
pub(crate) fn text_of(heap: &Heap<'_>, object: ObjectId, bytes: &[u8]) -> Option<String> {
    let end = bytes.len().min(SHOWN_BYTES) & !1;
    match heap.array(object)?.element {
        "char" => {
            let unit: fn([u8; 2]) -> u16 =
                if heap.big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
            let (pairs, _) = bytes[..end].as_chunks();
            let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
            Some(String::from_utf16_lossy(&units))
        }
        "byte" => {
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let text = std::str::from_utf8(bytes.get(..used.min(SHOWN_BYTES))?).ok()?;
            let is_text =
                !text.is_empty() && !text.contains(|c: char| c.is_control() && !c.is_whitespace());
            is_text.then(|| text.to_owned())
        }
        _ => None,
    }
}

fn is_complete(text: &str, length: u64) -> bool {
    text.encode_utf16().count() as u64 >= length
}

/// A value on one line. `None` for bytes and for objects without a value.
pub(crate) fn line(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::None | Value::Bytes(_) => return None,
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Length(length) => format!("length {}", count(*length)),
        Value::Name(name) => name.to_string(),
        Value::Text { text, length } if is_complete(text, *length) => format!("{text:?}"),
        Value::Text { text, length: Value::UNKNOWN_LENGTH } => {
            let there = plural(text.encode_utf16().count() as u64, "code unit", "code units");
            format!("{text:?} … possibly only the first {there}")
        }
        Value::Text { text, length } => {
            let there = text.encode_utf16().count() as u64;
            format!(
                "{text:?} … the first {} of {}",
                count(there),
                plural(*length, "code unit", "code units")
            )
        }
    })
}

/// Prints memory, 16 bytes per line, with the targets of the pointers in each line.
pub(crate) fn hex(
    analysed: &Analysed<'_, '_>,
    object: ObjectId,
    bytes: &[u8],
    most_lines: usize,
) -> String {
    let heap = analysed.heap;
    let mut pointers: Vec<(usize, ObjectId)> = heap
        .references_of(object)
        .filter_map(|reference| match reference.label.kind() {
            LabelKind::Offset(offset) => Some((offset as usize, reference.target)),
            _ => None,
        })
        .collect();
    pointers.sort_unstable();
    let mut text = String::new();
    for (number, line) in bytes.chunks(16).enumerate().take(most_lines) {
        let start = number * 16;
        let digits = |part: &[u8]| {
            part.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
        };
        let (left, right) = line.split_at(line.len().min(8));
        let printable: String = line
            .iter()
            .map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' })
            .collect();
        let here = &pointers[pointers.partition_point(|(at, _)| *at < start)..];
        let targets: Vec<String> = here
            .iter()
            .take_while(|(at, _)| *at < start + 16)
            .map(|(at, target)| {
                format!("+{at:#x} → {} {}", shown(heap.type_name(*target)), heap.id(*target))
            })
            .collect();
        let line = format!(
            "  {start:#06x}  {:<23}  {:<23}  |{printable:<16}|  {}",
            digits(left),
            digits(right),
            targets.join(", ")
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text + &left_out(most_lines.saturating_mul(16), bytes.len(), "byte", "bytes")
}
