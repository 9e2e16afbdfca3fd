//! Decompression of blocks: numbers in chunks with constant memory, and whole small blocks with a
//! limit.

use super::blocks::{Block, Body};
use crate::error::{Error, Result};
use byteorder::{ByteOrder, LE};
use std::fmt;
use std::sync::{Arc, Mutex};
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// The largest accepted window, as a power of two. The writer's level 9 declares 4 MiB (2²²).
/// Frames that declare a larger window than this are refused, so that it is not allocated.
const LARGEST_WINDOW_LOG: u32 = 23;
/// The constant part of the limit on decompressed bytes of columns. The snapshots of a file share
/// it.
const FREE: u64 = 128 << 20;
/// The proportional part of the limit: decompressed bytes for each compressed byte of a snapshot.
/// Real columns reach 30.
const RATIO: u64 = 100;
/// Divisors that split the limit between the six columns of collectables, which are equally long,
/// and the two of references, of which there are a few for each collectable.
const COLLECTABLES_SHARE: u64 = 2 * 6;
const REFERENCES_SHARE: u64 = 2 * 2;
/// The bytes that a number counts for, however narrow it is in the file: about its size in memory.
const NUMBER: u64 = 8;
/// The limit on decompressed bytes of all blocks that are held whole in memory: a constant, plus
/// this ratio for each of their compressed bytes. Real tables of strings reach 10.
const TABLES_FREE: u64 = 8 << 20;
const TABLES_RATIO: u64 = 32;

/// Decompression contexts for reuse. Each owns a window of 4 MiB, which would otherwise be
/// allocated anew for every column.
#[derive(Clone)]
pub(super) struct Decoders {
    unused: Arc<Mutex<Vec<DCtx<'static>>>>,
    /// Bytes that a snapshot may decompress to, whatever its size.
    free: u64,
}

impl Default for Decoders {
    fn default() -> Self {
        Self { unused: Arc::default(), free: FREE }
    }
}

impl Decoders {
    /// Returns the budget for a file of many snapshots, which share the constant part.
    pub(super) fn for_snapshots(count: usize) -> Self {
        Self { free: FREE.checked_div(count as u64).unwrap_or(FREE), ..Self::default() }
    }

    /// Bytes that the columns of a snapshot of `weight` compressed bytes may decompress to, with 8
    /// bytes for each number.
    fn limit(&self, weight: u64) -> u64 {
        self.free.saturating_add(weight.saturating_mul(RATIO))
    }

    /// The most rows that a snapshot of `weight` compressed bytes may have.
    fn most_rows(&self, weight: u64) -> u64 {
        self.limit(weight) / (NUMBER * COLLECTABLES_SHARE)
    }

    /// The most references that a snapshot of `weight` compressed bytes may have.
    pub(super) fn most_references(&self, weight: u64) -> u64 {
        self.limit(weight) / (NUMBER * REFERENCES_SHARE)
    }

    /// Returns a context, or `None` if there is no memory for another one.
    fn take(&self) -> Option<DCtx<'static>> {
        let unused = self.unused.lock().ok().and_then(|mut unused| unused.pop());
        unused.or_else(DCtx::try_create)
    }

    fn give_back(&self, context: DCtx<'static>) {
        if let Ok(mut unused) = self.unused.lock() {
            unused.push(context);
        }
    }
}

impl fmt::Debug for Decoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decoders")
    }
}

/// Decompresses one zstd frame piece by piece.
pub(super) struct FrameReader<'a> {
    /// `None` only while the reader is being dropped.
    context: Option<DCtx<'static>>,
    decoders: Decoders,
    frame: &'a [u8],
    consumed: usize,
    ended: bool,
    name: String,
    /// Absolute offset of the frame.
    offset: u64,
    decoded: u64,
    limit: u64,
}

impl Drop for FrameReader<'_> {
    fn drop(&mut self) {
        if let Some(context) = self.context.take() {
            self.decoders.give_back(context);
        }
    }
}

impl<'a> FrameReader<'a> {
    /// `weight` is the number of compressed bytes that justify the decompressed ones, such as the
    /// size of the snapshot: a single column of equal numbers may well shrink to a few bytes.
    pub(super) fn new(block: &Block<'a>, weight: u64, decoders: &Decoders) -> Result<Self> {
        let (frame, offset) = block.frame().unwrap_or_default();
        let mut context = decoders.take().ok_or_else(|| {
            Error::io(std::io::ErrorKind::OutOfMemory.into(), "cannot start zstd")
        })?;
        context
            .reset(ResetDirective::SessionAndParameters)
            .and_then(|_| context.set_parameter(DParameter::WindowLogMax(LARGEST_WINDOW_LOG)))
            .map_err(|code| {
                Error::limit(offset, "cannot start zstd").found(get_error_name(code))
            })?;
        Ok(Self {
            context: Some(context),
            decoders: decoders.clone(),
            frame,
            consumed: 0,
            ended: false,
            name: String::from_utf8_lossy(block.name.text()).into_owned(),
            offset,
            decoded: 0,
            limit: decoders.limit(weight),
        })
    }

    /// Fills the buffer as far as data remains. Returns the number of bytes.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0usize;
        while let Some(rest) =
            buffer.get_mut(filled..).filter(|rest| !rest.is_empty() && !self.ended)
        {
            let mut input = InBuffer { src: self.frame, pos: self.consumed };
            let mut output = OutBuffer::around(rest);
            let Some(context) = &mut self.context else { break };
            let outcome = context.decompress_stream(&mut output, &mut input);
            let (length, before) = (output.pos(), self.consumed);
            self.consumed = input.pos;
            filled = filled.saturating_add(length);
            match outcome {
                Ok(0) => self.ended = true,
                // Without progress, the decoder needs more input than there is.
                Ok(_) if length == 0 && self.consumed == before => return Err(self.cut()),
                Ok(_) => {}
                Err(code) => return Err(self.damaged(get_error_name(code))),
            }
        }
        self.decoded = self.decoded.saturating_add(filled as u64);
        if self.decoded > self.limit { Err(self.too_large(self.limit)) } else { Ok(filled) }
    }

    /// Compressed bytes read so far.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed as u64
    }

    /// Offset of the next compressed byte: the closest known position of damage.
    pub(super) fn position(&self) -> u64 {
        self.offset.saturating_add(self.consumed())
    }

    #[cold]
    fn damaged(&self, why: &'static str) -> Error {
        let what = format!(
            "the zstd frame of block \"{}\" cannot be decompressed",
            self.name.escape_default()
        );
        let error = if why.contains("memory") {
            Error::limit(self.position(), what)
        } else {
            Error::corrupt(self.position(), what)
        };
        error.found(why).context(format!("after {} decompressed bytes", self.decoded))
    }

    #[cold]
    fn cut(&self) -> Error {
        Error::truncated(
            self.position(),
            format!("the zstd frame of block \"{}\" is truncated", self.name.escape_default()),
        )
        .context(format!("after {} decompressed bytes", self.decoded))
    }

    #[cold]
    fn too_large(&self, limit: u64) -> Error {
        Error::limit(
            self.offset,
            format!("the decompressed block \"{}\" is too large", self.name.escape_default()),
        )
        .expected(format!("at most {limit} bytes from {}", self.frame.len()))
        .hint("no real column compresses that well; the file may be a decompression bomb")
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
    pub(super) fn new(block: &Block<'a>, weight: u64, decoders: &Decoders) -> Result<Self> {
        let Body::Column { entry_size, .. } = block.body else {
            return Err(Error::corrupt(block.start, "this block is not a column"));
        };
        if !matches!(entry_size, 1 | 2 | 4 | 8) {
            return Err(Error::corrupt(
                block.start.saturating_add(8),
                "the entry size of a column is invalid",
            )
            .expected("1, 2, 4 or 8")
            .found(entry_size.to_string()));
        }
        let mut frame = FrameReader::new(block, weight, decoders)?;
        let numbers = if frame.name.starts_with("ref") {
            decoders.most_references(weight)
        } else {
            decoders.most_rows(weight)
        };
        frame.limit = numbers.saturating_mul(entry_size.into());
        Ok(Self { frame, width: usize::from(entry_size), raw: Vec::new() })
    }

    /// Replaces the contents of `values` with the next numbers, at most `count`. Fewer than `count`
    /// mean that the column has ended.
    pub(super) fn read(&mut self, count: usize, values: &mut Vec<u64>) -> Result<()> {
        self.next(count)?.widen(values);
        Ok(())
    }

    /// Returns the next numbers as they are stored, at most `count`. Fewer than `count` mean that
    /// the column has ended.
    pub(super) fn next(&mut self, count: usize) -> Result<Numbers<'_>> {
        self.raw.resize(count.saturating_mul(self.width), 0);
        let length = self.frame.read(&mut self.raw)?;
        let raw = self.raw.get(..length).unwrap_or_default();
        if !length.is_multiple_of(self.width) {
            return Err(Error::corrupt(
                self.frame.position(),
                format!("column \"{}\" ends inside a number", self.frame.name),
            )
            .expected(format!("a multiple of {} bytes", self.width))
            .found(format!("{} bytes", self.frame.decoded)));
        }
        Ok(match self.width {
            1 => Numbers::U8(raw),
            2 => Numbers::U16(raw.as_chunks().0),
            4 => Numbers::U32(raw.as_chunks().0),
            _ => Numbers::U64(raw.as_chunks().0),
        })
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

/// Some numbers of a column, little-endian and as wide as they are stored.
pub(super) enum Numbers<'a> {
    U8(&'a [u8]),
    U16(&'a [[u8; 2]]),
    U32(&'a [[u8; 4]]),
    U64(&'a [[u8; 8]]),
}

impl Numbers<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::U8(numbers) => numbers.len(),
            Self::U16(numbers) => numbers.len(),
            Self::U32(numbers) => numbers.len(),
            Self::U64(numbers) => numbers.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces the contents of `values` with the numbers.
    pub(super) fn widen(&self, values: &mut Vec<u64>) {
        values.clear();
        match self {
            Self::U8(numbers) => values.extend(numbers.iter().map(|number| u64::from(*number))),
            Self::U16(numbers) => {
                values.extend(numbers.iter().map(|number| u64::from(u16::from_le_bytes(*number))))
            }
            Self::U32(numbers) => {
                values.extend(numbers.iter().map(|number| u64::from(u32::from_le_bytes(*number))))
            }
            Self::U64(numbers) => {
                values.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)))
            }
        }
    }

    /// The sum of the numbers, modulo 2⁶⁴.
    pub(super) fn sum(&self) -> u64 {
        match self {
            Self::U8(numbers) => wrapping_sum(numbers.iter().map(|number| u64::from(*number))),
            Self::U16(numbers) => {
                wrapping_sum(numbers.iter().map(|number| u64::from(u16::from_le_bytes(*number))))
            }
            Self::U32(numbers) => {
                wrapping_sum(numbers.iter().map(|number| u64::from(u32::from_le_bytes(*number))))
            }
            Self::U64(numbers) => {
                wrapping_sum(numbers.iter().map(|number| u64::from_le_bytes(*number)))
            }
        }
    }
}

fn wrapping_sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::wrapping_add)
}

/// The bytes that blocks held whole in memory may still decompress to.
#[derive(Clone, Debug)]
pub(super) struct TableBudget {
    left: u64,
}

impl Default for TableBudget {
    fn default() -> Self {
        Self { left: TABLES_FREE }
    }
}

impl TableBudget {
    /// Returns the budget for small lists, which every snapshot has. Real ones have 160 entries.
    pub(super) fn of_list() -> Self {
        Self { left: 64 << 10 }
    }

    /// Decompresses a small block.
    pub(super) fn bytes(&mut self, block: &Block<'_>) -> Result<Vec<u8>> {
        let mut reader = FrameReader::new(block, 0, &Decoders::default())?;
        self.begin(&mut reader, 1);
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = reader.read(&mut buffer)?;
            if length == 0 {
                self.left = self.left.saturating_sub(bytes.len() as u64);
                return Ok(bytes);
            }
            bytes.extend_from_slice(buffer.get(..length).unwrap_or_default());
        }
    }

    /// Decompresses a small column.
    pub(super) fn numbers(&mut self, block: &Block<'_>) -> Result<Vec<u64>> {
        let mut column = Column::new(block, 0, &Decoders::default())?;
        let cost = NUMBER.checked_div(column.width as u64).unwrap_or(1);
        self.begin(&mut column.frame, cost);
        let (mut all, mut chunk) = (Vec::new(), Vec::new());
        loop {
            column.read(4096, &mut chunk)?;
            if chunk.is_empty() {
                self.left = self.left.saturating_sub((all.len() as u64).saturating_mul(NUMBER));
                return Ok(all);
            }
            all.extend_from_slice(&chunk);
        }
    }

    /// Adds the budget that a block's compressed size justifies, and limits its reader. Each
    /// decompressed byte takes `cost` bytes in memory.
    fn begin(&mut self, reader: &mut FrameReader<'_>, cost: u64) {
        self.left =
            self.left.saturating_add((reader.frame.len() as u64).saturating_mul(TABLES_RATIO));
        reader.limit = self.left.checked_div(cost).unwrap_or(self.left);
    }
}

/// Decompresses a block and discards the bytes, except for at most the first `keep`. Returns those
/// and the number of all bytes.
pub(super) fn measure(block: &Block<'_>, keep: usize) -> (Vec<u8>, u64, Option<Error>) {
    // Count the whole file up to here: a single column of equal numbers may be tiny when
    // compressed.
    let weight = block.end;
    let mut kept = Vec::new();
    let mut reader = match FrameReader::new(block, weight, &Decoders::default()) {
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

/// Splits decompressed strings, each a `u32` length and its bytes. The second value is the rest
/// after the last whole string.
pub(super) fn split_strings(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut strings = Vec::new();
    let mut rest = bytes;
    while let Some((length, after)) = rest.split_at_checked(4) {
        let Some((string, after)) = after.split_at_checked(LE::read_u32(length) as usize) else {
            break;
        };
        strings.push(string);
        rest = after;
    }
    (strings, rest)
}
