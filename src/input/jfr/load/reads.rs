//! Fields that are single numbers, or strings, which are skipped.

use super::super::metadata::{Class, Kind, Types};
use super::super::wire::{Text, varint};
use crate::bytes::Cursor;
use crate::error::Result;

pub(super) const WEIGHTS: usize = 2;

/// The way to read a field that has no fields of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    Number,
    Byte,
    /// A string, such as the message of an exception, which counts as 0.
    Text,
}

/// Returns the way to read each of the first fields of a class, up to position `last`. `None` if
/// one of them is neither a number nor a string.
pub(super) fn reads(class: &Class, last: usize, types: &Types) -> Option<Vec<Read>> {
    let first = class.fields.iter().take(last.saturating_add(1));
    let read = first.map(|field| match types.class(field.class).map(|class| class.kind) {
        _ if field.is_array => None,
        _ if field.is_pooled => Some(Read::Number),
        Some(Kind::Number) => Some(Read::Number),
        Some(Kind::Byte) => Some(Read::Byte),
        Some(Kind::Text) => Some(Read::Text),
        _ => None,
    });
    read.collect()
}

/// Reads the first fields of an event.
pub(super) fn read_numbers(
    fields: &mut Cursor<'_>,
    reads: &[Read],
    numbers: &mut [u64],
) -> Result<()> {
    for (read, number) in reads.iter().zip(numbers) {
        *number = match read {
            Read::Number => varint(fields, "a number")?,
            Read::Byte => fields.u8("a byte")?.into(),
            Read::Text => Text::read(fields).map(|_| 0)?,
        };
    }
    Ok(())
}
