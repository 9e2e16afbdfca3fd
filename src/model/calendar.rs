//! Times as readable text.

/// A time in nanoseconds since 1970 in UTC, in the format of RFC 3339.
pub(crate) fn rfc3339_of_nanoseconds(nanoseconds: i128) -> String {
    let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    rfc3339(seconds, nanoseconds.rem_euclid(1_000_000_000) as u64)
}

/// A time in UTC, such as `2000-02-29T12:00:00.25Z`, from the seconds since 1970 and the nanoseconds
/// in the second.
pub(crate) fn rfc3339(seconds: i64, nanoseconds: u64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let mut text = format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    text.push_str(&fraction(nanoseconds as i64, 9));
    text.push('Z');
    text
}

/// A point and the digits after it, without zeros at the end: `.5`, or nothing.
pub(crate) fn fraction(value: i64, digits: usize) -> String {
    match value {
        0 => String::new(),
        value => format!(".{value:0digits$}").trim_end_matches('0').to_owned(),
    }
}

/// Year, month and day of a number of days since 1970 in the Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // If years begin in March, the leap day is the last day; eras of 400 years have 146,097 days.
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leaps = |day: i64| (day / 1460).wrapping_sub(day / 36_524).wrapping_add(day / 146_096);
    let year = day.wrapping_sub(leaps(day)) / 365;
    let before = year.wrapping_mul(365).wrapping_add(year / 4).wrapping_sub(year / 100);
    let day = day.wrapping_sub(before);
    // From March on, each group of five months has 153 days.
    let month = day.wrapping_mul(5).wrapping_add(2) / 153;
    let day = day.wrapping_sub(month.wrapping_mul(153).wrapping_add(2) / 5).wrapping_add(1);
    let month = month.wrapping_add(if month < 10 { 3 } else { -9 });
    (era.wrapping_mul(400).wrapping_add(year).wrapping_add(i64::from(month <= 2)), month, day)
}
