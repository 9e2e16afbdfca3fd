//! Decompression of blocks: numbers in chunks with constant memory, and whole small blocks with a limit.

use super::blocks::{Block, Body};
use crate::error::{Error, Result};
use byteorder::{ByteOrder, LE};
use std::io::{self, Read};

/// The writer's level 9 declares windows of 4 MiB (2²²); a larger declaration than this is refused, not allocated.
const LARGEST_WINDOW_LOG: u32 = 23;
/// What any block may decompress to, whatever its size: enough for 32 million rows of the widest column.
const FREE: u64 = 256 << 20;
/// What a block may decompress to beyond that, for each byte of what it is measured by. Real snapshots reach 30.
const RATIO: u64 = 1000;
/// The same for blocks that are held in memory as a whole. Real tables of strings reach 10.
const TABLE_FREE: u64 = 16 << 20;
const TABLE_RATIO: u64 = 100;

/// The bytes of one zstd frame, decompressed bit by bit.
pub(super) struct FrameReader<'a> {
    decoder: zstd::stream::read::Decoder<'static, &'a [u8]>,
    name: String,
    /// Absolute offset and length of the frame.
    offset: u64,
    length: u64,
    decoded: u64,
    limit: u64,
}

impl<'a> FrameReader<'a> {
    /// `weight` is the number of compressed bytes that justify the decompressed ones, such as the size of the snapshot: a
    /// single column of equal numbers may well shrink to a few bytes.
    pub(super) fn new(block: &Block<'a>, weight: u64) -> Result<Self> {
        let (frame, offset) = block.frame().unwrap_or_default();
        let name = String::from_utf8_lossy(block.name.text()).into_owned();
        let decoder = zstd::stream::read::Decoder::with_buffer(frame).and_then(|mut decoder| {
            decoder.window_log_max(LARGEST_WINDOW_LOG)?;
            Ok(decoder.single_frame())
        });
        let decoder = decoder.map_err(|error| Error::io(error, "cannot start zstd"))?;
        let limit = FREE.saturating_add(weight.saturating_mul(RATIO));
        Ok(Self { decoder, name, offset, length: frame.len() as u64, decoded: 0, limit })
    }

    /// Fills the buffer as far as there is something left; gives the number of bytes.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.decoder.read(rest) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.damaged(&error)),
            }
        }
        self.decoded = self.decoded.saturating_add(filled as u64);
        match self.decoded > self.limit {
            true => Err(self.too_large(self.limit)),
            false => Ok(filled),
        }
    }

    /// Compressed bytes read so far.
    pub(super) fn consumed(&self) -> u64 {
        self.length.saturating_sub(self.decoder.get_ref().len() as u64)
    }

    /// Offset of the next compressed byte: as near as one can get to the place of a damage.
    pub(super) fn position(&self) -> u64 {
        self.offset.saturating_add(self.consumed())
    }

    #[cold]
    fn damaged(&self, error: &io::Error) -> Error {
        let what = format!("the zstd frame of block \"{}\" cannot be decompressed", self.name.escape_default());
        let error = match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::truncated(self.position(), what),
            _ if error.to_string().contains("memory") => Error::limit(self.position(), what).found(error.to_string()),
            _ => Error::corrupt(self.position(), what).found(error.to_string()),
        };
        error.context(format!("after {} decompressed bytes", self.decoded))
    }

    #[cold]
    fn too_large(&self, limit: u64) -> Error {
        Error::limit(self.offset, format!("block \"{}\" decompresses too far", self.name.escape_default()))
            .expected(format!("at most {limit} bytes from {}", self.length))
            .hint("a real column does not shrink that much; the file was made to exhaust its reader")
    }
}

/// A column of unsigned numbers, decoded in chunks.
pub(super) struct Column<'a> {
    frame: FrameReader<'a>,
    width: usize,
    raw: Vec<u8>,
}

impl<'a> Column<'a> {
    /// Begins to decode a column; `weight` as in [`FrameReader::new`].
    pub(super) fn new(block: &Block<'a>, weight: u64) -> Result<Self> {
        let Body::Column { entry_size, .. } = block.body else {
            return Err(Error::corrupt(block.start, "this block is no column"));
        };
        if !matches!(entry_size, 1 | 2 | 4 | 8) {
            return Err(Error::corrupt(block.start.saturating_add(8), "the entry size of a column is none that a number can have")
                .expected("1, 2, 4 or 8")
                .found(entry_size.to_string()));
        }
        Ok(Self { frame: FrameReader::new(block, weight)?, width: usize::from(entry_size), raw: Vec::new() })
    }

    /// Replaces the contents of `values` by the next numbers, at most `count`. Fewer mean that the column has ended.
    pub(super) fn read(&mut self, count: usize, values: &mut Vec<u64>) -> Result<()> {
        self.raw.resize(count.saturating_mul(self.width), 0);
        let length = self.frame.read(&mut self.raw)?;
        let raw = self.raw.get(..length).unwrap_or_default();
        if length % self.width != 0 {
            return Err(Error::corrupt(self.frame.position(), format!("column \"{}\" ends inside a number", self.frame.name))
                .expected(format!("a multiple of {} bytes", self.width))
                .found(format!("{} bytes", self.frame.decoded)));
        }
        values.clear();
        match self.width {
            1 => values.extend(raw.iter().map(|byte| u64::from(*byte))),
            2 => values.extend(raw.as_chunks::<2>().0.iter().map(|bytes| u64::from(u16::from_le_bytes(*bytes)))),
            4 => values.extend(raw.as_chunks::<4>().0.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes)))),
            _ => values.extend(raw.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))),
        }
        Ok(())
    }

    /// Compressed bytes read so far.
    pub(super) fn consumed(&self) -> u64 {
        self.frame.consumed()
    }

    /// Absolute offset of the next compressed byte.
    pub(super) fn position(&self) -> u64 {
        self.frame.position()
    }
}

/// Decompresses a small block as a whole.
pub(super) fn decode_table(block: &Block<'_>) -> Result<Vec<u8>> {
    let mut reader = FrameReader::new(block, 0)?;
    reader.limit = TABLE_FREE.saturating_add(reader.length.saturating_mul(TABLE_RATIO));
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = reader.read(&mut buffer)?;
        if length == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(buffer.get(..length).unwrap_or_default());
    }
}

/// Decompresses a small column as a whole.
pub(super) fn decode_numbers(block: &Block<'_>) -> Result<Vec<u64>> {
    let mut column = Column::new(block, 0)?;
    column.frame.limit = TABLE_FREE.saturating_add(column.frame.length.saturating_mul(TABLE_RATIO));
    let (mut all, mut chunk) = (Vec::new(), Vec::new());
    loop {
        column.read(4096, &mut chunk)?;
        if chunk.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&chunk);
    }
}

/// Decompresses a block and throws the bytes away, but for at most the first `keep`. Gives those and the number of all.
pub(super) fn measure(block: &Block<'_>, keep: usize) -> (Vec<u8>, u64, Option<Error>) {
    let weight = block.end.saturating_sub(block.start);
    let mut kept = Vec::new();
    let mut reader = match FrameReader::new(block, weight) {
        Ok(reader) => reader,
        Err(error) => return (kept, 0, Some(error)),
    };
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (kept, reader.decoded, None),
            Ok(length) => {
                let wanted = length.min(keep.saturating_sub(kept.len()));
                kept.extend_from_slice(buffer.get(..wanted).unwrap_or_default());
            }
            Err(error) => return (kept, reader.decoded, Some(error)),
        }
    }
}

/// Splits decompressed strings: each is a `u32` length and its bytes. The second value is what is left over at the end.
pub(super) fn split_strings(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut strings = Vec::new();
    let mut rest = bytes;
    while let Some((length, after)) = rest.split_at_checked(4) {
        let Some((string, after)) = after.split_at_checked(LE::read_u32(length) as usize) else { break };
        strings.push(string);
        rest = after;
    }
    (strings, rest)
}
