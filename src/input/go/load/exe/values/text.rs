//! Values that read best as text: times, durations, complex numbers, and the keys of maps.

use super::super::types::{Kind, Type};
use super::{Place, View};
use crate::model::calendar::{fraction, rfc3339};
use crate::model::heap::FieldValue;
use std::fmt::Write;

/// The most parts of a key that are shown.
const KEY_PARTS: usize = 8;
/// The most characters of a text in a key.
const KEY_TEXT: usize = 64;

/// Whether values of a type are shown as a single text rather than by their fields.
pub(super) fn is_text(name: &str) -> bool {
    matches!(name, "time.Time" | "time.Duration")
}

impl View<'_, '_> {
    /// The text of a time, a duration or a complex number.
    pub(super) fn text_of(&self, place: Place<'_>, described: &Type) -> Option<String> {
        match (&described.kind, described.name.as_str()) {
            (Kind::Struct { .. }, "time.Time") => {
                // `time.Time`: u64 wall, i64 ext, pointer to the location.
                let wall = self.number(place, 8)?;
                let ext = self.number(place.at(8, place.ty), 8)? as i64;
                Some(time(wall, ext))
            }
            (Kind::Number(_), "time.Duration") => Some(duration(self.number(place, 8)? as i64)),
            (Kind::Number(15), _) => {
                let part = |offset| {
                    Some(f32::from_bits(
                        u32::try_from(self.number(place.at(offset, place.ty), 4)?).ok()?,
                    ))
                };
                Some(complex(part(0)?.into(), part(4)?.into()))
            }
            (Kind::Number(16), _) => {
                let part =
                    |offset| Some(f64::from_bits(self.number(place.at(offset, place.ty), 8)?));
                Some(complex(part(0)?, part(8)?))
            }
            _ => None,
        }
    }

    /// A key on one line: `"alice"`, `42`, `{7 "x"}`, `0xc000012340`. For an interface, the value
    /// that it holds.
    pub(super) fn brief(&self, place: Place<'_>) -> String {
        let kind = self.typed.types.get(place.ty).map(|ty| &ty.kind);
        if self.typed.is_simple(place.ty) && !matches!(kind, Some(Kind::Interface { .. })) {
            let text = self.scalar(place, &mut |value| self.brief_value(value));
            return text.unwrap_or_else(|| "…".to_owned());
        }
        let mut parts = Vec::new();
        let mut take = |field: crate::model::heap::Field<'_>| {
            if parts.len() >= KEY_PARTS {
                parts.push("…".to_owned());
                return std::ops::ControlFlow::Break(());
            }
            parts.push(self.brief_value(field.value));
            std::ops::ControlFlow::Continue(())
        };
        let _ = self.flatten("", place, &mut take);
        match (kind, parts.as_slice()) {
            (Some(Kind::Interface { .. }), [only]) => only.clone(),
            _ => format!("{{{}}}", parts.join(" ")),
        }
    }

    fn brief_value(&self, value: FieldValue<'_>) -> String {
        match value {
            FieldValue::Null => "nil".to_owned(),
            FieldValue::Object(object) => match self.memory.addresses.address(object) {
                Some(address) => format!("{address:#x}"),
                None => "…".to_owned(),
            },
            FieldValue::Address(address) => format!("{address:#x}"),
            FieldValue::Boolean(value) => value.to_string(),
            FieldValue::Integer(value) => value.to_string(),
            FieldValue::Unsigned(value) => value.to_string(),
            FieldValue::Float(value) => value.to_string(),
            FieldValue::Text(text) => match text.char_indices().nth(KEY_TEXT) {
                Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
                None => format!("{text:?}"),
            },
            _ => "…".to_owned(),
        }
    }
}

fn complex(real: f64, imaginary: f64) -> String {
    format!("({real}{imaginary:+}i)")
}

/// A time in UTC, in the format of `time.RFC3339Nano`. `wall` has nanoseconds in 30 bits and, if
/// the highest bit is set, seconds since 1885 in 33 bits. Otherwise `ext` is the number of seconds
/// since year 1 (`time/time.go`).
fn time(wall: u64, ext: i64) -> String {
    const YEARS_TO_1885: i64 = 59_453_308_800;
    const YEARS_TO_1970: i64 = 62_135_596_800;
    let nanoseconds = wall & 0x3fff_ffff;
    let seconds =
        if wall >> 63 == 1 { YEARS_TO_1885.saturating_add((wall << 1 >> 31) as i64) } else { ext };
    let since_1970 = seconds.saturating_sub(YEARS_TO_1970);
    rfc3339(since_1970, nanoseconds)
}

/// A duration as Go writes it: `1h2m3.5s`, `1.5ms`, `0s`.
fn duration(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (unit, digits) = match all {
        0 => return "0s".to_owned(),
        1..1_000 => ("ns", 0),
        1_000..1_000_000 => ("µs", 3),
        1_000_000..1_000_000_000 => ("ms", 6),
        _ => ("s", 9),
    };
    let scale = 10u64.saturating_pow(digits);
    let whole = all.checked_div(scale).unwrap_or(0);
    let rest = fraction(all.checked_rem(scale).unwrap_or(0) as i64, digits as usize);
    let mut text = sign.to_owned();
    // Writing to a string cannot fail.
    let _ = match (unit, whole) {
        ("s", 3600..) => write!(text, "{}h{}m{}{rest}s", whole / 3600, whole / 60 % 60, whole % 60),
        ("s", 60..) => write!(text, "{}m{}{rest}s", whole / 60, whole % 60),
        _ => write!(text, "{whole}{rest}{unit}"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_writes_them() {
        let cases = [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (1_500_000_000, "1.5s"),
            (-90_000_000_000, "-1m30s"),
            (3_723_500_000_000, "1h2m3.5s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(duration(nanoseconds), text);
        }
    }

    #[test]
    fn times_are_dates_with_and_without_a_monotonic_clock() {
        assert_eq!(time(0, 0), "0001-01-01T00:00:00Z");
        // 2000-02-29T12:00:00.25Z, 951825600 seconds after 1970.
        assert_eq!(time(250_000_000, 62_135_596_800 + 951_825_600), "2000-02-29T12:00:00.25Z");
        let since_1885 = 62_135_596_800u64 + 951_825_600 - 59_453_308_800;
        assert_eq!(time(1 << 63 | since_1885 << 30, 12_345), "2000-02-29T12:00:00Z");
        assert_eq!(time(0, i64::MAX).len(), time(0, i64::MAX).trim().len());
    }

    #[test]
    fn complex_numbers_have_both_parts() {
        assert_eq!(complex(1.5, -2.0), "(1.5-2i)");
    }
}
