//! Decompresses gzip and zstd streams.

use super::spill::Spill;
use super::{Compression, Limits};
use crate::error::{Error, Result};
use std::io::{self, BufRead, Read};

/// Decompresses gzip, member by member. `Ok(Some)` is damage that ended the output early; `Err`
/// makes the output unusable.
pub(super) fn gunzip(
    stream: &mut Counted<impl BufRead>,
    spill: &mut Spill<'_>,
    limits: Limits,
) -> Result<Option<Error>> {
    loop {
        let mut decoder = flate2::bufread::GzDecoder::new(&mut *stream);
        if let Some(damage) =
            spill.decode(&mut decoder, |decoder| decoder.get_ref().count, limits)?
        {
            return Ok(Some(damage));
        }
        stream.peek(2).map_err(|error| Error::io(error, "cannot read"))?;
        if stream.head != [0x1f, 0x8b] {
            return what_follows(stream, spill.written, Compression::Gzip);
        }
    }
}

/// Like [`gunzip`], for zstd.
pub(super) fn unzstd(
    stream: &mut Counted<impl BufRead>,
    spill: &mut Spill<'_>,
    limits: Limits,
) -> Result<Option<Error>> {
    // The decoder panics if there is not enough memory.
    if zstd::zstd_safe::DCtx::try_create().is_none() {
        return Err(Error::io(io::ErrorKind::OutOfMemory.into(), "cannot start zstd"));
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(&mut *stream)
        .map_err(|error| Error::io(error, "cannot start zstd"))?;
    let damage = spill.decode(&mut decoder, |decoder| decoder.get_ref().count, limits)?;
    drop(decoder);
    match damage {
        // The library reads any data after a frame as another frame, and reports an error if it is
        // not.
        Some(damage) if damage.cause().is_some_and(|cause| cause.contains(UNKNOWN_FRAME)) => {
            what_follows(stream, spill.written, Compression::Zstd)
        }
        damage => Ok(damage),
    }
}

const UNKNOWN_FRAME: &str = "Unknown frame descriptor";

/// Checks the bytes after complete compressed data. Zeros are ignored; other data is damage.
fn what_follows(
    stream: &mut Counted<impl BufRead>,
    written: u64,
    compression: Compression,
) -> Result<Option<Error>> {
    let at = stream.count;
    loop {
        let rest = stream.fill_buf().map_err(|error| Error::io(error, "cannot read"))?;
        if rest.is_empty() {
            return Ok(None);
        }
        if rest.iter().any(|byte| *byte != 0) {
            let what = format!(
                "other data follows the {} data, at byte {at} of the compressed input",
                compression.name()
            );
            return Ok(Some(Error::corrupt(written, what).hint("everything before it was read")));
        }
        let length = rest.len();
        stream.consume(length);
    }
}

/// Counts the bytes read from a stream, and keeps the first ones for format detection.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) count: u64,
    pub(super) head: Vec<u8>,
}

impl<R: BufRead> Counted<R> {
    /// Reads ahead at least this many bytes, or to the end; `read` returns them again.
    pub(super) fn peek(&mut self, length: u64) -> io::Result<()> {
        let more = length.saturating_sub(self.head.len() as u64);
        self.inner.by_ref().take(more).read_to_end(&mut self.head)?;
        Ok(())
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.head.is_empty() { self.inner.fill_buf() } else { Ok(&self.head) }
    }

    fn consume(&mut self, length: usize) {
        if self.head.is_empty() {
            self.inner.consume(length)
        } else {
            drop(self.head.drain(..length))
        }
        self.count += length as u64;
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}
