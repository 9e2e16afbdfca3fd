//! The threads and value types of a file.

use super::document::{Document, OneProfile};
use super::lists::BILLION;
use crate::error::{Error, Result};
use crate::model::profile::{Metric, Unit, ValueType};
use rustc_hash::FxHashSet;

/// Value types that a file may have. Each makes every sum larger.
const MOST_VALUES: usize = 64;

/// The meaning of the profiles of a file.
pub(super) struct Plan<'d, 'a> {
    /// Empty if the file is a recording, in which each thread has times in microseconds.
    pub(super) types: Vec<ValueType>,
    /// One for each thread and value.
    pub(super) parts: Vec<Part<'d, 'a>>,
    /// Whether dumptool wrote the file.
    pub(super) is_own: bool,
}

/// A profile's place in the model.
pub(super) struct Part<'d, 'a> {
    pub(super) profile: &'d OneProfile<'a>,
    pub(super) thread: String,
    /// The number of the value type.
    pub(super) value: usize,
    pub(super) scale: Scale,
    /// Whether it is the first profile of its thread, whose samples are counted.
    pub(super) is_first: bool,
    /// The numbers of samples that the stacks represent, in a recording.
    pub(super) counts: Option<&'a [u8]>,
}

/// The factor of a number.
#[derive(Clone, Copy)]
pub(super) enum Scale {
    One,
    Million,
    /// The unit has this many nanoseconds; the result is in nanoseconds.
    Nanoseconds(u64),
    /// The unit has this many nanoseconds; the result is in microseconds.
    Microseconds(u64),
}

impl Scale {
    /// Converts billionths of the unit, and rounds.
    pub(super) fn apply(self, billionths: i128) -> i128 {
        let (times, by): (u64, i128) = match self {
            Self::One => (1, 1_000_000_000),
            Self::Million => (1, 1000),
            Self::Nanoseconds(unit) => (unit, 1_000_000_000),
            Self::Microseconds(unit) => (unit, 1_000_000_000_000),
        };
        let half = if billionths < 0 { by.wrapping_neg() / 2 } else { by / 2 };
        let scaled = billionths.saturating_mul(times.into()).saturating_add(half);
        scaled.checked_div(by).unwrap_or(scaled)
    }
}

impl<'d, 'a> Plan<'d, 'a> {
    /// Plans a file of `length` bytes. Fails when there are more than [`MOST_VALUES`] value types.
    pub(super) fn of(document: &'d Document<'a>, length: u64) -> Result<Self> {
        let is_own =
            document.exporter.is_some_and(|exporter| exporter.raw().starts_with(b"dumptool@"));
        let labels: Vec<_> =
            document.profiles.iter().map(|profile| Label::of(profile, is_own)).collect();
        let (types, parts) = match recording(&document.profiles, &labels, length) {
            Some(parts) => (Vec::new(), parts),
            None => of_sums(&document.profiles, &labels)?,
        };
        Ok(Self { types, parts, is_own })
    }
}

/// The parts of a profile's name.
#[derive(PartialEq, Eq)]
struct Label {
    thread: String,
    value: ValueType,
}

impl Label {
    fn of(profile: &OneProfile<'_>, is_own: bool) -> Self {
        let thread = profile.name.map(|name| name.decode().into_owned()).unwrap_or_default();
        let unit = profile.unit();
        if is_own
            && let Some((thread, name)) = thread.rsplit_once(" (")
            && let Some(name) = name.strip_suffix(')')
        {
            let value = ValueType { name: name.to_owned().into(), unit };
            return Self { thread: thread.to_owned(), value };
        }
        let name = match &unit {
            unit if unit.nanoseconds().is_some() => "time",
            unit if unit.bytes().is_some() => "memory",
            Unit::Count => "samples",
            other => other.name(),
        };
        Self { thread, value: ValueType { name: name.to_owned().into(), unit } }
    }
}

/// The parts of a recording. In dumptool's own files, the times of a thread may be followed by
/// numbers of samples.
fn recording<'d, 'a>(
    profiles: &'d [OneProfile<'a>],
    labels: &[Label],
    length: u64,
) -> Option<Vec<Part<'d, 'a>>> {
    const MICROSECOND: i128 = 1000 * BILLION;
    let mut threads = FxHashSet::default();
    let mut parts: Vec<Part<'d, 'a>> = Vec::new();
    let mut samples = 0i128;
    for (profile, label) in profiles.iter().zip(labels) {
        if let Some(last) = parts.last_mut().filter(|part| part.thread == label.thread) {
            let has_same_stacks = profile.samples.is_some()
                && profile.samples == last.profile.samples
                && profile.count == profile.weight_count;
            // Each sample takes memory, and a byte of the file may represent any number.
            samples = samples.saturating_add(profile.sum.wrapping_div(BILLION));
            let is_small = profile.least > 0 && samples <= length.into();
            let is_count = label.value == Metric::SAMPLES.of && profile.grain % BILLION == 0;
            if !(has_same_stacks && is_small && is_count) || last.counts.is_some() {
                return None;
            }
            last.counts = profile.weights;
            continue;
        }
        let unit = profile.unit().nanoseconds()?;
        let is_whole = profile.grain.checked_mul(unit.into())? % MICROSECOND == 0;
        if label.value.name != Metric::TIME.of.name || !is_whole || !threads.insert(&label.thread) {
            return None;
        }
        parts.push(Part {
            profile,
            thread: label.thread.clone(),
            value: 0,
            scale: Scale::Microseconds(unit),
            is_first: true,
            counts: None,
        });
    }
    (!parts.is_empty()).then_some(parts)
}

/// Value types and parts of any other file.
fn of_sums<'d, 'a>(
    profiles: &'d [OneProfile<'a>],
    labels: &[Label],
) -> Result<(Vec<ValueType>, Vec<Part<'d, 'a>>)> {
    let mut types: Vec<ValueType> = Vec::new();
    // By value type: whether all numbers are multiples of the unit.
    let mut are_whole = Vec::new();
    let mut threads = FxHashSet::default();
    let mut parts = Vec::new();
    for (profile, label) in profiles.iter().zip(labels) {
        let mut value = label.value.clone();
        let time = value.unit.nanoseconds();
        if time.is_some() {
            value.unit = Unit::Nanoseconds;
        }
        let number = types.iter().position(|known| *known == value).unwrap_or(types.len());
        if number == MOST_VALUES {
            return Err(Error::limit(profile.offset, "too many kinds of values")
                .expected(format!("at most {MOST_VALUES}")));
        }
        if number == types.len() {
            types.push(value);
            are_whole.push(true);
        }
        if let Some(whole) = are_whole.get_mut(number) {
            *whole &= time.is_some() || profile.grain % BILLION == 0;
        }
        parts.push(Part {
            profile,
            thread: label.thread.clone(),
            value: number,
            scale: time.map_or(Scale::One, Scale::Nanoseconds),
            is_first: threads.insert(&label.thread),
            counts: None,
        });
    }
    for (number, value_type) in types.iter_mut().enumerate() {
        if are_whole.get(number) == Some(&false) {
            value_type.unit = Unit::named("millionths");
            for part in parts.iter_mut().filter(|part| part.value == number) {
                part.scale = Scale::Million;
            }
        }
    }
    if types.is_empty() {
        types.push(Metric::SAMPLES.of);
    }
    Ok((types, parts))
}
