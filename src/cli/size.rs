//! Formats and parses sizes, times and counts for people, and shortens long texts.

use std::borrow::Cow;

pub(super) use crate::output::quantity::{
    count, duration, interval, percent, plural, quantity, signed_size, size,
};

/// `showing 20 of 414 types`, or `414 types` where all are shown.
pub(super) fn showing(shown: usize, all: usize, one: &str, many: &str) -> String {
    let named = plural(all as u64, one, many);
    if shown == all { named } else { format!("showing {} of {named}", count(shown as u64)) }
}

/// A line about the rows that a list leaves out; empty if there are none.
pub(super) fn left_out(shown: usize, all: usize, one: &str, many: &str) -> String {
    if shown < all { format!("  {}\n", showing(shown, all, one, many)) } else { String::new() }
}

/// A difference with its sign, unless it is 0.
pub(super) fn signed(value: i64, text: impl Fn(u64) -> String) -> String {
    let sign = match value {
        ..0 => "-",
        0 => "",
        1.. => "+",
    };
    sign.to_owned() + &text(value.unsigned_abs())
}

/// A difference of sizes: `+2.3 MiB`.
pub(super) fn size_change(bytes: i64, exact: bool) -> String {
    signed(bytes, |bytes| size(bytes, exact))
}

/// The beginning of a text, with `…` for the rest.
pub(super) fn beginning(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Reads a size: `10MiB`, `1.5 GiB`, `10kB`, `4096`. K, M, G … alone and with iB are powers of
/// 1024, with B of 1000.
pub(super) fn parse_size(text: &str) -> Result<u64, &'static str> {
    const WRONG: &str = "expected a number of bytes, or a number with KiB, MiB, GiB or TiB";
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start().to_ascii_lowercase());
    let (prefix, base) =
        match unit.strip_suffix("ib").or_else(|| (!unit.ends_with('b')).then_some(unit.as_str())) {
            Some(prefix) => (prefix, 1024_u64),
            None => (unit.trim_end_matches('b'), 1000),
        };
    let power =
        ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == prefix).ok_or(WRONG)?;
    let factor = base.pow(power as u32);
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor).ok_or(WRONG),
        // A fraction of a byte is cut off. Very large numbers saturate, which makes no difference
        // for a limit.
        Err(_) => {
            number.parse::<f64>().map(|number| (number * factor as f64) as u64).map_err(|_| WRONG)
        }
    }
}

/// Parses a time, such as `200ms`, `1.5 s`, `30us` or `2min`. Returns microseconds.
pub(super) fn parse_time(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 5] =
        [("µs", 1.0), ("us", 1.0), ("ms", 1e3), ("min", 60e6), ("s", 1e6)];
    let (number, factor) =
        UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let number = number
        .trim_end()
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0)?;
    Some((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_can_be_written_in_many_ways() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("10B"), Ok(10));
        assert_eq!(parse_size("10KiB"), Ok(10_240));
        assert_eq!(parse_size("10 k"), Ok(10_240));
        assert_eq!(parse_size("10kB"), Ok(10_000));
        assert_eq!(parse_size("1.5GiB"), Ok(3 << 29));
        for wrong in ["", "MiB", "1.2.3", "-1", "10 XiB", "10 bananas", "99999999999 PiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
