//! Values that are computed from several fields.

use crate::analysis::collections::get;
use crate::model::calendar::{fraction, rfc3339};
use crate::model::heap::{FieldValue, Heap, ObjectId, Value};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;

/// The maximum number of 32-bit words of a number written in decimal. Larger ones take too long.
const MOST_WORDS: usize = 128;
/// The maximum number of characters of a string builder.
const MOST_TEXT: usize = 4096;

fn integer(heap: &Heap<'_>, object: ObjectId, path: &str) -> Option<i64> {
    match get(heap, object, path)? {
        FieldValue::Integer(value) => Some(value),
        _ => None,
    }
}

fn inner(heap: &Heap<'_>, object: ObjectId, path: &str) -> Option<ObjectId> {
    get(heap, object, path).and_then(FieldValue::object)
}

pub(super) fn character(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let FieldValue::Character(unit) = heap.field(object, "value")? else { return None };
    Some(match char::from_u32(unit.into()) {
        Some(character) => format!("{character:?}"),
        None => format!("'\\u{unit:04x}'"),
    })
}

/// The present text of a string builder: chars up to JDK 8, since 9 bytes of Latin-1 or UTF-16.
pub(super) fn builder(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let count = usize::try_from(integer(heap, object, "count")?).ok()?.min(MOST_TEXT);
    let array = inner(heap, object, "value")?;
    let Value::Bytes(bytes) = heap.value(array) else { return None };
    let is_wide = heap.array(array)?.element == "char";
    if !is_wide && integer(heap, object, "coder") != Some(1) {
        return Some(bytes.get(..count)?.iter().copied().map(char::from).collect());
    }
    // UTF-16 bytes are in the byte order of the machine, and nearly all machines are little-endian.
    let unit: fn([u8; 2]) -> u16 = if is_wide { u16::from_be_bytes } else { u16::from_le_bytes };
    let (pairs, _) = bytes.get(..count * 2)?.as_chunks();
    let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
    Some(String::from_utf16_lossy(&units))
}

pub(super) fn big_integer(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let (sign, words) = (integer(heap, object, "signum")?, inner(heap, object, "mag")?);
    if heap.array(words)?.length > MOST_WORDS as u64 {
        return None;
    }
    let mut number = Vec::new();
    heap.elements(words, 0, |_, word| {
        number.extend(match word {
            FieldValue::Integer(word) => Some(word as u32),
            _ => None,
        });
        ControlFlow::Continue(())
    });
    let digits = decimal(number);
    Some(if sign < 0 { format!("-{digits}") } else { digits })
}

/// The decimal digits of a number of words, the most significant word first.
fn decimal(mut words: Vec<u32>) -> String {
    const BILLION: u64 = 1_000_000_000;
    let mut groups = Vec::new();
    while words.iter().any(|word| *word > 0) {
        let mut rest = 0u64;
        for word in &mut words {
            let value = rest << 32 | u64::from(*word);
            *word = (value / BILLION) as u32;
            rest = value % BILLION;
        }
        groups.push(rest);
    }
    let first = groups.pop().unwrap_or(0);
    groups.iter().rev().fold(first.to_string(), |text, group| format!("{text}{group:09}"))
}

/// A number with `scale` digits after the point.
pub(super) fn big_decimal(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let scale = integer(heap, object, "scale")?;
    let unscaled = match integer(heap, object, "intCompact")? {
        // The mark of a number that does not fit.
        i64::MIN => big_integer(heap, inner(heap, object, "intVal")?)?,
        compact => compact.to_string(),
    };
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", &*unscaled), |rest| ("-", rest));
    match usize::try_from(scale) {
        Ok(0) => Some(unscaled),
        Ok(scale) if scale <= MOST_TEXT => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            Some(format!("{sign}{whole}.{fraction}"))
        }
        _ => Some(format!("{unscaled}E{}", scale.checked_neg()?)),
    }
}

pub(super) fn instant(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let nanoseconds = integer(heap, object, "nanos")?;
    Some(rfc3339(integer(heap, object, "seconds")?, u64::try_from(nanoseconds).ok()?))
}

pub(super) fn date(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let milliseconds = integer(heap, object, "fastTime")?;
    let nanoseconds = milliseconds.rem_euclid(1000) as u64 * 1_000_000;
    Some(rfc3339(milliseconds.div_euclid(1000), nanoseconds))
}

pub(super) fn local_time(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let part = |name| integer(heap, object, name);
    let fraction = fraction(part("nano")?, 9);
    Some(format!("{:02}:{:02}:{:02}{fraction}", part("hour")?, part("minute")?, part("second")?))
}

pub(super) fn duration(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let nanoseconds = integer(heap, object, "nanos")?;
    Some(format!("{}{} s", integer(heap, object, "seconds")?, fraction(nanoseconds, 9)))
}

pub(super) fn uuid(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let high = integer(heap, object, "mostSigBits")? as u64;
    let low = integer(heap, object, "leastSigBits")? as u64;
    Some(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    ))
}

/// `localhost/127.0.0.1`, or only the address.
pub(super) fn internet_address(heap: &Heap<'_>, object: ObjectId) -> Option<String> {
    let address = match inner(heap, object, "holder6.ipaddress") {
        Some(bytes) => {
            let Value::Bytes(bytes) = heap.value(bytes) else { return None };
            Ipv6Addr::from(<[u8; 16]>::try_from(&*bytes).ok()?).to_string()
        }
        None => Ipv4Addr::from(integer(heap, object, "holder.address")? as u32).to_string(),
    };
    let name = inner(heap, object, "holder.hostName").map(|name| heap.value(name));
    Some(match name {
        Some(Value::Text { text, .. }) if !text.is_empty() => format!("{text}/{address}"),
        _ => address,
    })
}
