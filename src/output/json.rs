//! JSON that is written as it comes, without a document in memory.

use serde::Serialize;
use std::io::{self, Write};

/// Writes a JSON value, with what belongs before it.
pub(super) fn value(out: &mut impl Write, before: &str, value: &impl Serialize) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    serde_json::to_writer(&mut *out, value)?;
    Ok(())
}

/// Writes an array whose elements write themselves.
pub(super) fn array<T, W: Write>(
    out: &mut W,
    before: &str,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    out.write_all(b"[")?;
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        each(out, item)?;
    }
    out.write_all(b"]")
}

/// Writes an integer.
pub(super) fn integer(out: &mut impl Write, number: i64) -> io::Result<()> {
    out.write_all(itoa::Buffer::new().format(number).as_bytes())
}
