//! Sums of samples, and the metrics that read them.

use super::Unit;
use std::borrow::Cow;

/// Sums of samples: one number for each value type of the profile, after the number of samples.
///
/// Profiles that do not name value types were measured by a sampler and have the
/// [standard](Metric) ones: times in microseconds, memory in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    pub(super) first: [i64; Self::INLINE],
    /// The remaining numbers, in profiles with many value types.
    pub(super) more: Option<Box<[i64]>>,
}

/// The places of the standard numbers. The number of samples is first in every profile.
pub(super) mod place {
    pub(in crate::model::profile) const SAMPLES: usize = 0;
    pub(in crate::model::profile) const TIME: usize = 1;
    pub(in crate::model::profile) const IDLE_TIME: usize = 2;
    pub(in crate::model::profile) const IDLE_SAMPLES: usize = 3;
    pub(in crate::model::profile) const GC_TIME: usize = 4;
    pub(in crate::model::profile) const GC_SAMPLES: usize = 5;
    pub(in crate::model::profile) const MEMORY_GAINED: usize = 6;
    pub(in crate::model::profile) const MEMORY_FREED: usize = 7;
}

impl Values {
    pub(crate) const INLINE: usize = 8;

    /// The standard sums of one sample.
    #[inline]
    pub fn of_sample(sample: &super::ProfileSample) -> Self {
        let time = sample.time.unwrap_or(0);
        let memory = sample.memory.unwrap_or(0);
        let mut first = [0; Self::INLINE];
        first[place::SAMPLES] = 1;
        first[place::TIME] = time;
        first[place::IDLE_TIME] = if sample.idle { time } else { 0 };
        first[place::IDLE_SAMPLES] = i64::from(sample.idle);
        first[place::GC_TIME] = if sample.gc { time } else { 0 };
        first[place::GC_SAMPLES] = i64::from(sample.gc);
        first[place::MEMORY_GAINED] = memory.max(0);
        first[place::MEMORY_FREED] = memory.min(0).saturating_neg();
        Self { first, more: None }
    }

    /// Standard sums of samples. The number of idle samples is unknown.
    pub fn of_sums(samples: u64, gc_samples: u64, sums: StandardSums) -> Self {
        let StandardSums { time, idle_time, gc_time, memory_gained, memory_freed } = sums;
        let first = [
            narrow(samples),
            time,
            idle_time,
            0,
            gc_time,
            narrow(gc_samples),
            memory_gained,
            memory_freed,
        ];
        Self { first, more: None }
    }

    /// Standard sums of samples without times.
    pub fn of_counts(samples: u64, memory_gained: u64, memory_freed: u64) -> Self {
        let mut values = Self::default();
        values.first[place::SAMPLES] = narrow(samples);
        values.first[place::MEMORY_GAINED] = narrow(memory_gained);
        values.first[place::MEMORY_FREED] = narrow(memory_freed);
        values
    }

    /// The sums of `samples` samples in a profile with its own value types: one number for each.
    #[inline]
    pub fn of_types(samples: u64, numbers: &[i64]) -> Self {
        let mut values = Self::default();
        values.first[0] = narrow(samples);
        let inline = numbers.len().min(Self::INLINE - 1);
        values.first[1..=inline].copy_from_slice(&numbers[..inline]);
        values.more = (numbers.len() > inline).then(|| numbers[inline..].into());
        values
    }

    /// Adds other sums. Sums saturate at the largest number.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        add_all(&mut self.first, &other.first);
        if let Some(numbers) = &other.more {
            add_all(self.more.get_or_insert_with(|| vec![0; numbers.len()].into()), numbers);
        }
    }

    /// Multiplies all sums, rounded to whole numbers.
    pub fn scale(&mut self, factor: f64) {
        let numbers = self.first.iter_mut().chain(self.more.iter_mut().flatten());
        numbers.for_each(|number| *number = (*number as f64 * factor).round() as i64);
    }

    /// Returns `true` if all values are 0. Java's sums may have bytes and no samples.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.first == [0; Self::INLINE] && self.more.iter().flatten().all(|number| *number == 0)
    }

    /// The sum that a metric reads.
    #[inline]
    pub fn get(&self, metric: &Metric) -> i64 {
        let number = self.number(metric.plus.into());
        metric.minus.map_or(number, |minus| number.saturating_sub(self.number(minus.into())))
    }

    #[inline]
    fn number(&self, place: usize) -> i64 {
        match self.first.get(place) {
            Some(number) => *number,
            None => self
                .more
                .as_ref()
                .and_then(|more| more.get(place - Self::INLINE))
                .copied()
                .unwrap_or(0),
        }
    }

    /// All numbers: at least [`Values::INLINE`].
    #[inline]
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i64> + '_ {
        self.first.iter().chain(self.more.iter().flatten()).copied()
    }

    /// The sums with these numbers, in the order of [`Values::numbers`].
    pub(crate) fn of_numbers(numbers: &[i64]) -> Self {
        let mut values = Self::default();
        let inline = numbers.len().min(Self::INLINE);
        values.first[..inline].copy_from_slice(&numbers[..inline]);
        values.more = (numbers.len() > inline).then(|| numbers[inline..].into());
        values
    }

    fn count(&self, place: usize) -> u64 {
        u64::try_from(self.first[place]).unwrap_or(0)
    }

    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.count(place::SAMPLES)
    }

    /// Returns the wall time in microseconds.
    pub fn time(&self) -> i64 {
        self.first[place::TIME]
    }

    /// Wall time of the samples whose thread was idle.
    pub fn idle_time(&self) -> i64 {
        self.first[place::IDLE_TIME]
    }

    /// Samples whose thread was idle.
    pub fn idle_samples(&self) -> u64 {
        self.count(place::IDLE_SAMPLES)
    }

    /// Wall time of the samples during which the garbage collector ran.
    pub fn gc_time(&self) -> i64 {
        self.first[place::GC_TIME]
    }

    /// Samples during which the garbage collector ran.
    pub fn gc_samples(&self) -> u64 {
        self.count(place::GC_SAMPLES)
    }

    /// Returns the allocated bytes.
    pub fn memory_gained(&self) -> u64 {
        self.count(place::MEMORY_GAINED)
    }

    /// Returns the freed bytes.
    pub fn memory_freed(&self) -> u64 {
        self.count(place::MEMORY_FREED)
    }
}

/// Adds numbers to sums, which saturate at the largest number.
#[inline]
pub(crate) fn add_all(sums: &mut [i64], numbers: &[i64]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = sum.saturating_add(*number));
}

fn narrow(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Sums of times in microseconds and of memory in bytes, for [`Values::of_sums`].
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardSums {
    /// Wall time in microseconds.
    pub time: i64,
    /// The part of the time during which threads were idle.
    pub idle_time: i64,
    /// The part of the time during which the garbage collector ran.
    pub gc_time: i64,
    /// Bytes allocated.
    pub memory_gained: i64,
    /// Bytes freed.
    pub memory_freed: i64,
}

/// A value type that a file names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    /// The name, such as `time`, `samples` or `inuse_space`.
    pub name: Cow<'static, str>,
    /// The unit.
    pub unit: Unit,
}

/// A metric of a profile: a name and the value that is added up. The constants are the metrics of
/// profiles without their own value types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Metric {
    /// The name and the unit, as in the file.
    pub of: ValueType,
    /// The place of the number in [`Values`].
    plus: u16,
    /// The place of the number that is subtracted from it.
    minus: Option<u16>,
    /// The number of the file's value type; `None` for standard metrics.
    pub(crate) number_in_file: Option<u16>,
}

impl Metric {
    /// Wall time.
    pub const TIME: Self = Self::standard("time", Unit::Microseconds, place::TIME, None);
    /// Wall time of the samples whose thread was not idle.
    pub const CPU: Self =
        Self::standard("cpu", Unit::Microseconds, place::TIME, Some(place::IDLE_TIME as u16));
    /// Gained memory: the positive changes of memory in use.
    pub const MEMORY_GAINED: Self =
        Self::standard("memory_gained", Unit::Bytes, place::MEMORY_GAINED, None);
    /// Freed memory: the negative changes of memory in use, as a positive number.
    pub const MEMORY_FREED: Self =
        Self::standard("memory_freed", Unit::Bytes, place::MEMORY_FREED, None);
    /// The change of memory in use, which may be negative.
    pub const MEMORY: Self = Self::standard(
        "memory",
        Unit::Bytes,
        place::MEMORY_GAINED,
        Some(place::MEMORY_FREED as u16),
    );
    /// The number of samples.
    pub const SAMPLES: Self = Self::standard("samples", Unit::Count, place::SAMPLES, None);
    /// Wall time of the samples during which the garbage collector ran.
    pub const GC: Self = Self::standard("gc", Unit::Microseconds, place::GC_TIME, None);

    /// The metrics of profiles without their own value types.
    pub const STANDARD: [Self; 7] = [
        Self::TIME,
        Self::CPU,
        Self::MEMORY,
        Self::MEMORY_GAINED,
        Self::MEMORY_FREED,
        Self::SAMPLES,
        Self::GC,
    ];

    const fn standard(name: &'static str, unit: Unit, plus: usize, minus: Option<u16>) -> Self {
        Self {
            of: ValueType { name: Cow::Borrowed(name), unit },
            plus: plus as u16,
            minus,
            number_in_file: None,
        }
    }

    /// The metric of a value type of the file, by its number.
    pub(super) fn of_type(type_: &ValueType, number: usize) -> Self {
        let number = u16::try_from(number).unwrap_or(u16::MAX - 1);
        Self { of: type_.clone(), plus: number + 1, minus: None, number_in_file: Some(number) }
    }

    /// The metric that tables show in its place, because they can show negative changes.
    pub(crate) fn shown(self) -> Self {
        if self == Self::MEMORY_GAINED { Self::MEMORY } else { self }
    }

    /// Returns the base of shares: the sum of all samples. For changes of memory, whose sum means
    /// little, it is the gained memory, or the freed memory if none was gained.
    pub fn whole(&self, total: &Values) -> i64 {
        match *self == Self::MEMORY {
            true if total.memory_gained() > 0 => total.get(&Self::MEMORY_GAINED),
            true => total.get(&Self::MEMORY_FREED),
            false => total.get(self),
        }
    }

    /// The name on the command line, in JSON and in outputs.
    pub fn name(&self) -> &str {
        &self.of.name
    }

    /// The unit of the metric.
    pub fn unit(&self) -> &Unit {
        &self.of.unit
    }
}
