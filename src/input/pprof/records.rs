//! The fields of a profile as records.

use super::wire::{Field, Fields, Value};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::model::fields::{FieldSink, Record};

/// The names of the fields, by their numbers from 1 on.
pub(super) const RECORD_NAMES: &[&str] = &[
    "sample_type",
    "sample",
    "mapping",
    "location",
    "function",
    "string",
    "drop_frames",
    "keep_frames",
    "time_nanos",
    "duration_nanos",
    "period_type",
    "period",
    "comment",
    "default_sample_type",
    "doc_url",
    "unknown",
];

/// A field of the profile.
#[derive(Clone, Copy, Debug)]
pub struct PprofRecord<'a>(pub(super) Field<'a>);

/// The fields of a profile with their offsets. After an error the iterator has ended.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a>(Fields<'a>);

impl<'a> Records<'a> {
    /// Reads from the beginning of the file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Fields(Cursor::new(bytes, 0)))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, PprofRecord<'a>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // The contents are shown, so they must be readable.
        let intact = |field: Field<'a>| {
            PprofRecord(field).is_intact().map(|()| (field.offset, PprofRecord(field)))
        };
        Some(self.0.next()?.and_then(intact))
    }
}

/// Whether `head`, the beginning of a file of `length` bytes, has fields of a profile. There is no
/// magic, so at least one must be a message whose fields are those of a sample type, a sample, a
/// location or a function.
pub(super) fn looks_right(head: &[u8], length: usize) -> bool {
    const LOOKED_AT: usize = 16;
    let mut cursor = Cursor::new(head, 0);
    // Some writers put the strings first, of which the first one is empty.
    let mut is_proven = head.starts_with(&[0x32, 0, 0x32]);
    for _ in 0..LOOKED_AT {
        let mut fields = Fields(cursor);
        match fields.next() {
            Some(Ok(field)) => {
                let is_right = match (field.number, field.value) {
                    (1 | 11, Value::Bytes(_)) => has_only(field, 2),
                    (2, Value::Bytes(_)) => has_only(field, 3),
                    (4 | 5, Value::Bytes(_)) => has_only(field, 5),
                    (3, Value::Bytes(_)) => has_only(field, 10),
                    (6 | 13, Value::Bytes(_)) | (7..=10 | 12..=15, Value::Number(_)) => true,
                    // Fields of later versions.
                    (16.., _) => true,
                    _ => false,
                };
                is_proven |= matches!(field.number, 1 | 2 | 4 | 5 | 11);
                if !is_right {
                    return false;
                }
                cursor = fields.0;
            }
            // A field that is longer than the head may be intact.
            Some(Err(_)) => {
                let tag = cursor.uleb128("").unwrap_or(0);
                let claimed = cursor.uleb128("").unwrap_or(u64::MAX);
                let rest = (length as u64).saturating_sub(cursor.offset());
                return tag & 7 == 2
                    && (1..=6).contains(&(tag >> 3))
                    && claimed > cursor.remaining() as u64
                    && claimed <= rest;
            }
            None => break,
        }
    }
    is_proven
}

/// Whether a message has fields up to this number, and no others.
fn has_only(field: Field<'_>, largest: u64) -> bool {
    let mut fields = field.value.fields();
    fields.all(|field| field.is_ok_and(|field| field.number <= largest))
        && PprofRecord(field).is_intact().is_ok()
}

impl PprofRecord<'_> {
    /// The position of the name in [`RECORD_NAMES`].
    fn index(&self) -> usize {
        usize::try_from(self.0.number)
            .unwrap_or(usize::MAX)
            .saturating_sub(1)
            .min(RECORD_NAMES.len().saturating_sub(1))
    }

    /// Checks that the contents can be read.
    pub(super) fn is_intact(&self) -> Result<()> {
        let messages = match self.0.number {
            1..=5 | 11 => self.0.value.fields(),
            _ => return Ok(()),
        };
        for field in messages {
            let field = field?;
            match (self.0.number, field.number) {
                (2, 1 | 2) => field.value.each(|_| {})?,
                (2, 3) | (4, 4) => field.value.fields().try_for_each(|field| field.map(|_| ()))?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The names of a message's fields that are numbers.
fn number_names(record: u64) -> &'static [&'static str] {
    match record {
        1 | 11 => &["type", "unit"],
        3 => &[
            "id",
            "memory_start",
            "memory_limit",
            "file_offset",
            "filename",
            "build_id",
            "has_functions",
            "has_filenames",
            "has_line_numbers",
            "has_inline_frames",
        ],
        4 => &["id", "mapping_id", "address", "", "is_folded"],
        5 => &["id", "name", "system_name", "filename", "start_line"],
        _ => &[],
    }
}

impl Record for PprofRecord<'_> {
    fn name(&self) -> &'static str {
        RECORD_NAMES.get(self.index()).copied().unwrap_or_default()
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        let Field { number, value, .. } = self.0;
        match (number, value) {
            (2, _) => self.sample(sink),
            (6, Value::Bytes(text)) => sink.text("text", text.rest()),
            (1 | 3 | 4 | 5 | 11, Value::Bytes(_)) => {
                for field in value.fields().flatten() {
                    let index =
                        usize::try_from(field.number).unwrap_or(usize::MAX).saturating_sub(1);
                    match (number_names(number).get(index), field.value) {
                        (
                            Some(&name @ ("address" | "memory_start" | "memory_limit")),
                            Value::Number(number),
                        ) => sink.address(name, number),
                        (Some(&name), Value::Number(number)) if !name.is_empty() => {
                            sink.unsigned(name, number)
                        }
                        _ => {}
                    }
                }
                if number == 4 {
                    let lines = value.fields().flatten().filter(|field| field.number == 4);
                    sink.list("lines", lines, |line, sink| {
                        numbers(line.value, &["function_id", "line", "column"], sink)
                    });
                }
            }
            (13, Value::Bytes(_)) => {
                sink.list("strings", packed(value), |number, sink| sink.unsigned("string", number))
            }
            (9 | 10 | 12, _) => sink.signed("value", i128::from(value.number() as i64)),
            (_, Value::Number(number)) => sink.unsigned("value", number),
            (_, Value::Bytes(bytes)) => sink.contents("contents", bytes.rest()),
            (_, Value::Fixed) => {}
        }
    }
}

impl PprofRecord<'_> {
    fn sample<S: FieldSink>(&self, sink: &mut S) {
        let numbered = |number: u64| {
            self.0.value.fields().flatten().filter(move |field| field.number == number)
        };
        sink.list("locations", numbered(1).flat_map(|field| packed(field.value)), |id, sink| {
            sink.unsigned("id", id)
        });
        sink.list("values", numbered(2).flat_map(|field| packed(field.value)), |value, sink| {
            sink.signed("value", (value as i64).into())
        });
        sink.list("labels", numbered(3), |label, sink| {
            numbers(label.value, &["key", "str", "num", "num_unit"], sink)
        });
    }
}

fn numbers<S: FieldSink>(message: Value<'_>, names: &[&'static str], sink: &mut S) {
    for field in message.fields().flatten() {
        let index = usize::try_from(field.number).unwrap_or(usize::MAX).saturating_sub(1);
        if let (Some(name), Value::Number(number)) = (names.get(index), field.value) {
            sink.signed(name, (number as i64).into());
        }
    }
}

/// The numbers of a repeated field.
fn packed(value: Value<'_>) -> impl Iterator<Item = u64> + use<'_> {
    let (mut one, mut cursor) = match value {
        Value::Number(number) => (Some(number), Cursor::new(&[], 0)),
        Value::Bytes(cursor) => (None, cursor),
        Value::Fixed => (None, Cursor::new(&[], 0)),
    };
    std::iter::from_fn(move || match one.take() {
        Some(number) => Some(number),
        None if cursor.is_empty() => None,
        None => cursor.uleb128("a packed number").ok(),
    })
}

/// The error of a file that has none of the fields of a profile.
pub(super) fn nothing_read(error: Option<Error>) -> Error {
    error.unwrap_or_else(|| Error::corrupt(0, "no field of a profile"))
}
