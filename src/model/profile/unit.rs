//! Units of value types.

use std::sync::Arc;

/// The unit of a number, named as in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Time in nanoseconds.
    Nanoseconds,
    /// Time in microseconds.
    Microseconds,
    /// Time in milliseconds.
    Milliseconds,
    /// Time in seconds.
    Seconds,
    /// Memory in bytes.
    Bytes,
    /// Samples, objects, contentions.
    Count,
    /// Any other word.
    Other(Arc<str>),
}

impl Unit {
    /// The name of the unit for fractional numbers, which are stored as integers.
    pub(crate) const MILLIONTHS: &str = "millionths";

    /// Parses the name of a unit in a file.
    pub fn named(name: &str) -> Self {
        let known = [
            Self::Nanoseconds,
            Self::Microseconds,
            Self::Milliseconds,
            Self::Seconds,
            Self::Bytes,
            Self::Count,
        ];
        known
            .into_iter()
            .find(|unit| unit.name() == name)
            .unwrap_or_else(|| Self::Other(name.into()))
    }

    /// The name in files and in JSON.
    pub fn name(&self) -> &str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Other(name) => name,
        }
    }

    /// Whether numbers are fractions, stored as whole numbers of [`Unit::MILLIONTHS`].
    pub(crate) fn is_millionths(&self) -> bool {
        self.name() == Self::MILLIONTHS
    }

    /// Nanoseconds per unit, if it is a unit of time. Accepts the abbreviations of `go tool pprof`.
    pub fn nanoseconds(&self) -> Option<u64> {
        match self.name() {
            "nanoseconds" | "nanosecond" | "ns" => Some(1),
            "microseconds" | "microsecond" | "us" | "µs" => Some(1_000),
            "milliseconds" | "millisecond" | "ms" => Some(1_000_000),
            "seconds" | "second" | "sec" | "s" => Some(1_000_000_000),
            "minutes" | "minute" | "min" | "mins" => Some(60_000_000_000),
            "hours" | "hour" | "hr" | "hrs" => Some(3_600_000_000_000),
            _ => None,
        }
    }

    /// Returns the bytes in one of the unit, if it is a unit of memory.
    pub fn bytes(&self) -> Option<u64> {
        match self.name() {
            "bytes" | "byte" | "b" | "B" => Some(1),
            "kilobytes" | "kilobyte" | "kb" | "kB" | "KiB" => Some(1 << 10),
            "megabytes" | "megabyte" | "mb" | "MB" | "MiB" => Some(1 << 20),
            "gigabytes" | "gigabyte" | "gb" | "GB" | "GiB" => Some(1 << 30),
            _ => None,
        }
    }
}
