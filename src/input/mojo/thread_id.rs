//! The ids of threads.

/// Parses a thread id by the rules of Python's `int(text, 16)`, as mojo2austin does. Returns `None` for names and for more than 124 bits.
pub(super) fn parse_thread_id(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text)
        .ok()?
        .trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c));
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    // After the prefix Python takes an underscore; elsewhere it takes one between digits only.
    let digits = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => digits.strip_prefix('_').unwrap_or(digits),
        None => digits,
    };
    if digits.ends_with('_')
        || digits.starts_with('_')
        || digits.contains("__")
        || digits.is_empty()
        || digits.len() > 31
    {
        return None;
    }
    let mut value = 0i128;
    for digit in digits.chars().filter(|&digit| digit != '_') {
        value = value << 4 | i128::from(digit.to_digit(16)?);
    }
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_ids_are_read_as_python_reads_them() {
        for (text, id) in [
            ("1f", Some(31)),
            ("dead", Some(57005)),
            ("0x1F", Some(31)),
            ("1_0", Some(16)),
            ("-5", Some(-5)),
            (" 7 ", Some(7)),
            ("0x_1", Some(1)),
            ("", None),
            ("g", None),
            ("_1", None),
            ("1__0", None),
            ("-", None),
            ("0x", None),
            ("MainThread", None),
            ("7f0123456789", Some(0x7f01_2345_6789)),
        ] {
            assert_eq!(parse_thread_id(text.as_bytes()), id, "{text:?}");
        }
    }
}
