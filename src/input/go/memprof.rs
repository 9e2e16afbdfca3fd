//! The allocation profile: tags 16 (memprof) and 17 (alloc sample).

use super::primitives::string;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::model::fields::FieldSink;

/// The least number of bytes that a frame takes: two empty strings and a line.
const LEAST_FRAME: u64 = 3;

/// A place that allocates, with how often it was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memprof<'a> {
    /// The key by which samples refer to it.
    pub id: u64,
    /// Bytes in each object.
    pub size: u64,
    /// Number of frames.
    pub frame_count: u64,
    encoded: &'a [u8],
    /// Sampled allocations. The counts are up to two collections old and not scaled by the sampling rate.
    pub allocs: u64,
    /// Sampled frees.
    pub frees: u64,
}

/// A frame of an allocating stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The function; a program counter in hexadecimal if it is not known.
    pub function: &'a [u8],
    /// The file, `?` if it is not known.
    pub file: &'a [u8],
    /// The line, 0 if it is not known.
    pub line: u64,
}

impl<'a> Frame<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self {
            function: string(cursor, "an allocating function")?,
            file: string(cursor, "an allocating file")?,
            line: cursor.uleb128("an allocating line")?,
        })
    }
}

impl<'a> Memprof<'a> {
    /// Reads a profile entry after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let id = cursor.uleb128("a profile id")?;
        let size = cursor.uleb128("a profile's object size")?;
        let start = cursor.offset();
        let frame_count = cursor.uleb128("a profile's frame count")?;
        if frame_count > cursor.remaining() as u64 / LEAST_FRAME {
            return Err(Error::corrupt(start, format!("a profile of {frame_count} frames"))
                .expected(format!("at most {} in the bytes that are left", cursor.remaining() as u64 / LEAST_FRAME)));
        }
        let frames = cursor.rest();
        for _ in 0..frame_count {
            Frame::read(cursor)?;
        }
        let encoded = frames.get(..frames.len().saturating_sub(cursor.remaining())).unwrap_or_default();
        let allocs = cursor.uleb128("a profile's allocations")?;
        Ok(Self { id, size, frame_count, encoded, allocs, frees: cursor.uleb128("a profile's frees")? })
    }

    /// The stack, innermost frame first.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'a>> + use<'a> {
        let mut cursor = Cursor::new(self.encoded, 0);
        std::iter::from_fn(move || Frame::read(&mut cursor).ok())
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("id", self.id);
        sink.unsigned("size", self.size);
        sink.unsigned("frame_count", self.frame_count);
        if sink.wants_contents() {
            sink.list("frames", self.frames(), |frame, sink| {
                sink.text("function", frame.function);
                sink.text("file", frame.file);
                sink.unsigned("line", frame.line);
            });
        }
        sink.unsigned("allocs", self.allocs);
        sink.unsigned("frees", self.frees);
    }
}

/// A live object that was sampled when it was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocSample {
    /// What the allocation returned: inside the object, 8 bytes from its start, where that has a malloc header.
    pub addr: u64,
    /// Where it was allocated: the id of a profile entry.
    pub profile: u64,
}

impl AllocSample {
    /// Reads a sample after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { addr: cursor.uleb128("a sample's address")?, profile: cursor.uleb128("a sample's profile id")? })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.unsigned("profile", self.profile);
    }
}
