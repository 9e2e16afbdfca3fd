//! The end of the file, after the records: identity hash codes and padding.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::read::ReadOptions;

/// DevTools pads exports to a multiple of this many bytes.
pub const EXPORT_CHUNK: usize = 1_048_055;

/// What follows the objects: identity hash codes and padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// The number of identity hash codes that are not 0. `None` if the file has no hash codes, as
    /// in Dart 2.12 and before.
    pub nonzero_hashes: Option<u64>,
    pub trailing_zeros: u64,
}

impl Tail {
    /// Reads the rest of the file.
    pub(super) fn read(
        cursor: &mut Cursor<'_>,
        object_count: u64,
        options: ReadOptions<'_>,
    ) -> Result<Self> {
        // Hash codes are skipped in runs, to report progress between them.
        const RUN: u64 = 1 << 18;
        if cursor.is_empty() {
            return Ok(Self::default());
        }
        let mut nonzero = 0u64;
        let mut left = object_count;
        while left > 0 {
            (options.progress)(cursor.offset());
            let run = left.min(RUN);
            let zeros = cursor.skip_uleb128s(run, "the identity hash codes")?;
            nonzero = nonzero.saturating_add(run.saturating_sub(zeros));
            left = left.saturating_sub(run);
        }
        let trailing_zeros = trailing_zeros(cursor)?;
        Ok(Self { nonzero_hashes: Some(nonzero), trailing_zeros })
    }
}

/// Reads the identity hash codes; none if the input ends before them.
pub(super) fn hashes(cursor: &mut Cursor<'_>, object_count: u64) -> Result<Option<Vec<u32>>> {
    if cursor.is_empty() {
        return Ok(None);
    }
    let room = usize::try_from(object_count.min(cursor.remaining() as u64)).unwrap_or(0);
    let mut hashes = Vec::with_capacity(room);
    for _ in 0..object_count {
        // Hash codes have at most 32 bits. A larger number is damage, and its low 32 bits will do.
        hashes.push(cursor.uleb128("an identity hash code")? as u32);
    }
    Ok(Some(hashes))
}

/// Counts the remaining bytes, which must all be 0.
fn trailing_zeros(cursor: &Cursor<'_>) -> Result<u64> {
    let rest = cursor.rest();
    match rest.iter().position(|&byte| byte != 0) {
        None => Ok(rest.len() as u64),
        Some(zeros) => Err(Error::corrupt(
            cursor.offset().saturating_add(zeros as u64),
            "bytes after the end of the snapshot",
        )
        .expected("the end of the file, or zeros")
        .found(format!("{} bytes after the identity hash codes", rest.len()))),
    }
}

/// Whether the input has the length and the last byte of a padded export of DevTools.
pub(super) fn is_padded(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.len().is_multiple_of(EXPORT_CHUNK) && bytes.last() == Some(&0)
}
