//! The `mappings` of a source map: differences of numbers, in base 64 with a continuation bit.

use crate::error::{Error, Result};

/// A place in the generated code, and the place in a source that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    /// Line and column of the generated code, from 0.
    pub(super) at: Place,
    /// The number of the source; [`NONE`] for code that comes from no source.
    pub(super) source: u32,
    /// Line and column of the source, from 0.
    pub(super) original: Place,
    /// The number of the name; [`NONE`] for code without one.
    pub(super) name: u32,
}

/// A line and a column, from 0. Columns count UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Stands for no source, or no name.
pub(super) const NONE: u32 = u32::MAX;

/// The value of each byte in base 64; 255 for other bytes.
const DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut value = 0;
    while value < 64 {
        #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
        {
            digits[alphabet[value] as usize] = value as u8;
            value += 1;
        }
    }
    digits
};

/// The start of the generated code of a part of a file, and the first of its sources and names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) start: Place,
    pub(super) first_source: u32,
    pub(super) first_name: u32,
}

/// Appends the segments of `mappings`, whose first byte has this absolute offset.
///
/// Keeps only the first of consecutive segments without a source: it applies up to the next segment
/// with one. Fails with the first byte that is not a digit, or number that does not fit, with its
/// offset.
pub(super) fn decode(
    mappings: &[u8],
    offset: u64,
    part: Part,
    segments: &mut Vec<Segment>,
) -> Result<()> {
    let mut reader = Reader { bytes: mappings, at: 0 };
    let (mut line, mut column) = (part.start.line, i64::from(part.start.column));
    let mut state = [0_i64; 4];
    let mut is_unmapped = false;
    while let Some(&byte) = mappings.get(reader.at) {
        if matches!(byte, b';' | b',') {
            reader.at = reader.at.wrapping_add(1);
            if byte == b';' {
                (line, column, is_unmapped) = (line.saturating_add(1), 0, false);
            }
            continue;
        }
        let at = offset.saturating_add(reader.at as u64);
        let segment = reader.segment(&mut column, &mut state).map_err(|what| {
            Error::corrupt(at, what)
                .context(format!("in mappings, line {}", u64::from(line).saturating_add(1)))
        })?;
        let generated = Place { line, column: column as u32 };
        let [source, original_line, original_column, name] = state.map(|value| value as u32);
        let segment = match segment {
            1 if is_unmapped => continue,
            1 => Segment { at: generated, source: NONE, original: Place::default(), name: NONE },
            fields => Segment {
                at: generated,
                source: part.first_source.saturating_add(source),
                original: Place { line: original_line, column: original_column },
                name: if fields == 5 { part.first_name.saturating_add(name) } else { NONE },
            },
        };
        is_unmapped = segment.source == NONE;
        segments.push(segment);
    }
    Ok(())
}

/// Decodes base 64. `None` if the text contains any other character.
pub(super) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii_end();
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at.saturating_add(1));
    let mut bytes = Vec::with_capacity(text.len());
    let (mut value, mut bits) = (0_u32, 0_u32);
    for &byte in text.get(..end)? {
        let digit = DIGITS.get(usize::from(byte)).copied().filter(|digit| *digit < 64)?;
        value = value.wrapping_shl(6) | u32::from(digit);
        bits = bits.wrapping_add(6);
        if bits >= 8 {
            bits = bits.wrapping_sub(8);
            bytes.push(value.wrapping_shr(bits) as u8);
        }
    }
    Some(bytes)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Reads the numbers of a segment into the column and the other running values. Returns their
    /// count.
    fn segment(&mut self, column: &mut i64, state: &mut [i64; 4]) -> Result<usize, &'static str> {
        let mut fields = 0_usize;
        while self.bytes.get(self.at).is_some_and(|byte| !matches!(byte, b',' | b';')) {
            let value = self.number()?;
            let running = match fields.checked_sub(1) {
                None => &mut *column,
                Some(field) => state.get_mut(field).ok_or("a segment has more than 5 numbers")?,
            };
            *running = running.saturating_add(value);
            if !(0..i64::from(u32::MAX)).contains(running) {
                return Err("a line, column or index is out of range");
            }
            fields = fields.saturating_add(1);
        }
        match fields {
            1 | 4 | 5 => Ok(fields),
            _ => Err("a segment does not have 1, 4 or 5 numbers"),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<i64, &'static str> {
        let (mut value, mut shift) = (0_i64, 0_u32);
        loop {
            let byte = self.bytes.get(self.at).copied().unwrap_or(b';');
            let digit = DIGITS.get(usize::from(byte)).copied().unwrap_or(255);
            if digit == 255 {
                return Err(match byte {
                    b',' | b';' => "a number is not complete",
                    _ => "not a digit in base 64",
                });
            }
            self.at = self.at.wrapping_add(1);
            // 32 bits and the sign.
            if shift > 30 {
                return Err("a number has more than 32 bits");
            }
            value |= i64::from(digit & 31).wrapping_shl(shift);
            shift = shift.wrapping_add(5);
            if digit & 32 == 0 {
                let magnitude = value.wrapping_shr(1);
                return Ok(if value & 1 == 1 { magnitude.wrapping_neg() } else { magnitude });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fn number(value: i64, text: &mut String) {
        let mut rest = (value.unsigned_abs() << 1) | u64::from(value < 0);
        loop {
            let digit = (rest & 31) as usize;
            rest >>= 5;
            let more = if rest > 0 { 32 } else { 0 };
            text.push(char::from(ALPHABET[digit | more]));
            if rest == 0 {
                return;
            }
        }
    }

    /// Encodes segments, which must be sorted, as in a source map.
    fn encode(segments: &[Segment]) -> String {
        let mut text = String::new();
        let (mut line, mut column) = (0, 0);
        let mut state = [0_i64; 4];
        for segment in segments {
            if segment.at.line == line && !text.is_empty() && !text.ends_with(';') {
                text.push(',');
            }
            while line < segment.at.line {
                text.push(';');
                (line, column) = (line + 1, 0);
            }
            number(i64::from(segment.at.column) - column, &mut text);
            column = segment.at.column.into();
            if segment.source == NONE {
                continue;
            }
            let Place { line: original, column: at } = segment.original;
            let fields = [segment.source, original, at, segment.name];
            let count = if segment.name == NONE { 3 } else { 4 };
            for (field, running) in fields.into_iter().zip(&mut state).take(count) {
                number(i64::from(field) - *running, &mut text);
                *running = field.into();
            }
        }
        text
    }

    fn segment() -> impl Strategy<Value = Segment> {
        let place = (0..20_u32, 0..5_000_000_u32);
        (place, 0..9_u32, (0..70_000_u32, 0..3000_u32), prop::option::of(0..900_u32)).prop_map(
            |((line, column), source, (original, at), name)| Segment {
                at: Place { line, column },
                source: if source == 8 { NONE } else { source },
                original: if source == 8 {
                    Place::default()
                } else {
                    Place { line: original, column: at }
                },
                name: if source == 8 { NONE } else { name.unwrap_or(NONE) },
            },
        )
    }

    proptest! {
        #[test]
        fn segments_are_read_as_they_were_written(mut segments in prop::collection::vec(segment(), 0..60)) {
            segments.sort_unstable();
            segments.dedup_by_key(|segment| segment.at);
            let mut read = Vec::new();
            decode(encode(&segments).as_bytes(), 0, Part::default(), &mut read).unwrap();
            // Only the first of several without a source is kept, on each line.
            let mut kept: Vec<Segment> = Vec::new();
            for segment in segments {
                let after_none = kept.last().is_some_and(|last| last.source == NONE && last.at.line == segment.at.line);
                if segment.source != NONE || !after_none {
                    kept.push(segment);
                }
            }
            prop_assert_eq!(read, kept);
        }

        #[test]
        fn any_bytes_are_segments_or_an_error(bytes in prop::collection::vec(prop::sample::select(b"AAAgC9z/+,;;!\xff".to_vec()), 0..80)) {
            let mut read = Vec::new();
            if let Err(error) = decode(&bytes, 100, Part::default(), &mut read) {
                let offset = error.offset().unwrap();
                prop_assert!((100..100 + bytes.len() as u64).contains(&offset));
            }
            prop_assert!(read.len() <= bytes.len());
        }
    }

    #[test]
    fn numbers_that_are_wrong_are_named_with_their_offset() {
        let error =
            |text: &str| decode(text.as_bytes(), 10, Part::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(error("AAAA;C,A!").offset(), Some(17));
        assert!(error("AAAA;C,A!").to_string().contains("line 2"));
        for (text, what) in [
            ("AA", "1, 4 or 5"),
            ("AAAAAA", "more than 5"),
            ("D", "out of range"),
            ("g", "not complete"),
            ("gggggggggA", "more than 32 bits"),
        ] {
            assert!(error(text).to_string().contains(what), "{text}: {}", error(text));
        }
    }
}
