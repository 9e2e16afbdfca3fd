//! Numbers for people.

/// Groups digits by threes: `159 992`.
pub(super) fn count(value: u64) -> String {
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
pub(super) fn size(bytes: u64, exact: bool) -> String {
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

/// A signed size.
pub(super) fn signed_size(bytes: i64, exact: bool) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", size(bytes.unsigned_abs(), exact))
}

/// Reads a size: `10MiB`, `1.5 GiB`, `10kB`, `4096`. K, M, G … alone and with iB are powers of 1024, with B of 1000.
pub(super) fn parse_size(text: &str) -> Result<u64, &'static str> {
    const WRONG: &str = "expected a number of bytes, or a number with KiB, MiB, GiB or TiB";
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start().to_ascii_lowercase());
    let (prefix, base) = match unit.strip_suffix("ib").or_else(|| (!unit.ends_with('b')).then_some(unit.as_str())) {
        Some(prefix) => (prefix, 1024_u64),
        None => (unit.trim_end_matches('b'), 1000),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == prefix).ok_or(WRONG)?;
    let factor = base.pow(power as u32);
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor).ok_or(WRONG),
        // A fraction of a byte means nothing; beyond 2⁶³ the conversion saturates, which no limit notices.
        Err(_) => number.parse::<f64>().map(|number| (number * factor as f64) as u64).map_err(|_| WRONG),
    }
}

/// A length of time, with one decimal where there are some: `850 µs`, `12.0 ms`, `33.4 s`, `12 min 5 s`.
pub(super) fn duration(microseconds: u64) -> String {
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

/// The length of an interval, which mostly is a whole number of its unit: `100 µs`, `10 ms`.
pub(super) fn interval(microseconds: u64) -> String {
    duration(microseconds).replace(".0 ", " ")
}

/// A share in percent with one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `1 thread`, `8 threads`; a plural in `ies` or the like is given in full.
pub(super) fn plural(value: u64, one: &str, many: &str) -> String {
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
        assert_eq!(duration(725_000_000), "12 min 5 s");
        assert_eq!(duration(7_200_000_000), "2 h 0 min");
    }
}
