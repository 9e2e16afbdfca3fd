//! Numbers as people read them.

use crate::model::calendar::fraction;
use crate::model::profile::Unit;

/// Groups digits by threes: `159 992`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A size in IEC units with one decimal, or in bytes when `exact`.
pub(crate) fn size(bytes: u64, exact: bool) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if exact || bytes < 1024 {
        return format!("{} B", count(bytes));
    }
    let mut value = bytes as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    // 1023.95 would be printed as 1024.0.
    while value >= 1023.95 && units.len() > 0 {
        value /= 1024.0;
        unit = units.next();
    }
    format!("{value:.1} {}", unit.unwrap_or(&""))
}

pub(crate) fn signed_size(bytes: i64, exact: bool) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", size(bytes.unsigned_abs(), exact))
}

/// A duration, with one decimal where that is useful: `850 µs`, `12.0 ms`, `33.4 s`, `12 min 5 s`.
pub(crate) fn duration(microseconds: u64) -> String {
    match microseconds {
        0..1_000 => format!("{microseconds} µs"),
        1_000..1_000_000 => format!("{:.1} ms", microseconds as f64 / 1e3),
        1_000_000..600_000_000 => format!("{:.1} s", microseconds as f64 / 1e6),
        _ => {
            let seconds = microseconds / 1_000_000;
            match seconds {
                0..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
                _ => format!("{} h {} min", count(seconds / 3600), seconds / 60 % 60),
            }
        }
    }
}

/// Like [`duration`], of nanoseconds, with `850 ns` below a microsecond.
pub(crate) fn nanoseconds(nanoseconds: u128) -> String {
    match nanoseconds {
        1..1_000 => format!("{nanoseconds} ns"),
        _ => duration(u64::try_from(nanoseconds / 1000).unwrap_or(u64::MAX)),
    }
}

/// A number in its unit: `33.4 s`, `-1.0 KiB`, `12 345`, `17 cycles`.
pub(crate) fn quantity(value: i64, unit: &Unit, exact: bool) -> String {
    let (minus, magnitude) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
    if let Some(each) = unit.nanoseconds() {
        return format!("{minus}{}", nanoseconds(u128::from(magnitude) * u128::from(each)));
    }
    match (unit.bytes(), unit) {
        (Some(each), _) => {
            signed_size(value.saturating_mul(i64::try_from(each).unwrap_or(i64::MAX)), exact)
        }
        (None, unit) if unit.is_millionths() => {
            format!("{minus}{}", decimal(magnitude, count))
        }
        (None, Unit::Other(unit)) if !unit.is_empty() => {
            format!("{minus}{} {unit}", count(magnitude))
        }
        _ => format!("{minus}{}", count(magnitude)),
    }
}

/// A number of millionths as a decimal: `12.5`. `whole` shows the whole number.
pub(super) fn decimal(millionths: u64, whole: impl Fn(u64) -> String) -> String {
    whole(millionths / 1_000_000) + &fraction((millionths % 1_000_000) as i64, 6)
}

/// The length of an interval, which mostly is a whole number of its unit: `100 µs`, `10 ms`.
pub(crate) fn interval(microseconds: u64) -> String {
    duration(microseconds).replace(".0 ", " ")
}

/// A share in percent with one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Formats a count: `1 thread`, `8 threads`. `many` is the plural.
pub(crate) fn plural(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_four_digits_at_most() {
        assert_eq!(size(1023, false), "1 023 B");
        assert_eq!(size(1024, false), "1.0 KiB");
        assert_eq!(size(1_048_575, false), "1.0 MiB");
        assert_eq!(size(u64::MAX, false), "16.0 EiB");
        assert_eq!(size(1_048_576, true), "1 048 576 B");
        assert_eq!(signed_size(-2048, false), "-2.0 KiB");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(159_992), "159 992");
        assert_eq!(count(1_000_000), "1 000 000");
    }

    #[test]
    fn times_take_the_unit_that_reads_best() {
        assert_eq!(duration(100), "100 µs");
        assert_eq!(duration(12_400), "12.4 ms");
        assert_eq!(duration(5_000), "5.0 ms");
        assert_eq!(interval(5_000), "5 ms");
        assert_eq!(duration(33_400_000), "33.4 s");
        assert_eq!(nanoseconds(999), "999 ns");
        assert_eq!(quantity(-33_400_000_000, &Unit::Nanoseconds, false), "-33.4 s");
        assert_eq!(quantity(3, &Unit::named("kilobytes"), false), "3.0 KiB");
        assert_eq!(quantity(1700, &Unit::named("cycles"), false), "1 700 cycles");
        let millionths = [100_000_000, -12_500_000, 1, 0]
            .map(|value| quantity(value, &Unit::named(Unit::MILLIONTHS), false));
        assert_eq!(millionths, ["100", "-12.5", "0.000001", "0"]);
        assert_eq!(duration(725_000_000), "12 min 5 s");
        assert_eq!(duration(7_200_000_000), "2 h 0 min");
    }
}
