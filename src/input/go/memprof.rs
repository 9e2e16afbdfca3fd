//! The allocation profile: tags 16 (memprof) and 17 (alloc sample).

use super::primitives::{string, uvarint};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::record::record;
use crate::model::fields::FieldSink;

/// The fewest bytes that a frame takes: two empty strings and a line.
const LEAST_FRAME: u64 = 3;

record! {
    /// A place that allocates, with how often it was sampled.
    pub struct Memprof<'a> {
        /// The key by which samples refer to it.
        id: u64 = uvarint("a profile id") => unsigned,
        /// Bytes in each object.
        size: u64 = uvarint("a profile's object size") => unsigned,
        /// The stack, innermost frame first.
        frames: Frames<'a> = Frames::read() => with(Frames::pass_to),
        /// Sampled allocations. The counts are up to two collections old and not scaled by the
        /// sampling rate.
        allocs: u64 = uvarint("a profile's allocations") => unsigned,
        /// Sampled frees.
        frees: u64 = uvarint("a profile's frees") => unsigned,
    }
}

record! {
    /// A frame of an allocating stack.
    pub struct Frame<'a> {
        /// The function; a program counter in hexadecimal if it is not known.
        function: &'a [u8] = string("an allocating function") => text,
        /// The file, `?` if it is not known.
        file: &'a [u8] = string("an allocating file") => text,
        /// The line, 0 if it is not known.
        line: u64 = uvarint("an allocating line") => unsigned,
    }
}

record! {
    /// A live object that was sampled when it was allocated.
    pub struct AllocSample {
        /// The address that the allocation returned: 8 bytes into the object if the object has a
        /// malloc header.
        addr: u64 = uvarint("a sample's address") => address,
        /// The id of the profile entry of the place that allocated the object.
        profile: u64 = uvarint("a sample's profile id") => unsigned,
    }
}

/// The frames of a stack, which are decoded when they are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames<'a> {
    count: u64,
    encoded: &'a [u8],
}

impl<'a> Frames<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let start = cursor.offset();
        let count = cursor.uleb128("a profile's frame count")?;
        if count > cursor.remaining() as u64 / LEAST_FRAME {
            return Err(Error::corrupt(start, format!("a profile of {count} frames")).expected(
                format!(
                    "at most {} in the bytes that are left",
                    cursor.remaining() as u64 / LEAST_FRAME
                ),
            ));
        }
        let encoded =
            cursor.span(|cursor| (0..count).try_for_each(|_| Frame::read(cursor).map(drop)))?;
        Ok(Self { count, encoded })
    }

    /// The frames in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Frame<'a>> + use<'a> {
        let mut cursor = Cursor::new(self.encoded, 0);
        std::iter::from_fn(move || Frame::read(&mut cursor).ok())
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("frame_count", self.count);
        if sink.wants_contents() {
            sink.list("frames", self.iter(), |frame, sink| frame.pass_to(sink));
        }
    }
}
