//! The primitive values of records.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::model::fields::FieldSink;

/// A number.
#[inline]
pub(super) fn uvarint(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    cursor.uleb128(what)
}

/// A length and that many bytes.
#[inline]
pub(super) fn string<'a>(cursor: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8]> {
    let length = cursor.uleb128(what)?;
    cursor.take(length, what)
}

/// A number that is 0 or 1. Any other number is damage, as no writer produces it. Reporting it
/// early keeps the position of the error close to its cause.
#[inline]
pub(super) fn boolean(cursor: &mut Cursor<'_>, what: &'static str) -> Result<bool> {
    let start = cursor.offset();
    match cursor.uleb128(what)? {
        0 => Ok(false),
        1 => Ok(true),
        value => Err(Error::corrupt(start, format!("{what} is not a boolean"))
            .expected("0 or 1")
            .found(value.to_string())),
    }
}

/// Passes memory and its size to a sink.
pub(super) fn pass_contents<S: FieldSink>(contents: &[u8], sink: &mut S) {
    sink.unsigned("size", contents.len() as u64);
    sink.contents("contents", contents);
}
