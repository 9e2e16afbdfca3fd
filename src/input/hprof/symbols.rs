//! Records that name things: strings, classes, frames, traces and threads.

use super::primitives::{IdSize, i4, read_id, rest, u4};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::input::record::record;
use crate::model::fields::FieldSink;

record! {
    /// A string: tag 01.
    pub struct Utf8<'a>(ids: IdSize) {
        id: u64 = read_id("a string's id", ids) => address,
        /// Nominally UTF-8; HotSpot writes its modified form, in which supplementary characters are
        /// pairs of surrogates.
        text: &'a [u8] = rest("a string") => text,
    }
}

record! {
    /// A loaded class: tag 02.
    pub struct LoadClass(ids: IdSize) {
        /// The number by which frames refer to the class, above 0.
        serial: u32 = u4("a class serial") => unsigned,
        class: u64 = read_id("a class id", ids) => address,
        /// Serial of the trace at which it was loaded.
        trace: u32 = u4("a trace serial") => unsigned,
        /// String with its name.
        name: u64 = read_id("the name of a class", ids) => address,
    }
}

record! {
    /// A call frame: tag 04.
    pub struct Frame(ids: IdSize) {
        id: u64 = read_id("a frame's id", ids) => address,
        /// String with the name of the method.
        method: u64 = read_id("a frame's method", ids) => address,
        /// String with the signature of the method.
        signature: u64 = read_id("a frame's signature", ids) => address,
        /// String with the name of the source file; 0 if unknown.
        source: u64 = read_id("a frame's source file", ids) => address,
        class_serial: u32 = u4("a frame's class") => unsigned,
        /// Above 0: line. 0 and -1: unknown, -2: compiled, -3: native.
        line: i32 = i4("a frame's line") => signed,
    }
}

record! {
    /// A stack: tag 05.
    pub struct Trace<'a>(ids: IdSize) {
        /// The number by which others refer to it.
        serial: u32 = u4("a trace serial") => unsigned,
        thread: u32 = u4("a thread serial") => unsigned,
        /// Ids of frames, innermost first.
        frames: FrameIds<'a> = FrameIds::read(ids) => with(FrameIds::pass_to),
    }
}

record! {
    /// A thread: tag 0a. HotSpot does not write these records, only thread objects.
    pub struct StartThread(ids: IdSize) {
        /// The number by which others refer to it.
        serial: u32 = u4("a thread serial") => unsigned,
        object: u64 = read_id("a thread object", ids) => address,
        /// Serial of its stack.
        trace: u32 = u4("a trace serial") => unsigned,
        /// String with its name.
        name: u64 = read_id("the name of a thread", ids) => address,
        /// String with the name of its group.
        group: u64 = read_id("the name of a thread group", ids) => address,
        /// String with the name of the group of the group.
        parent_group: u64 = read_id("the name of a thread group", ids) => address,
    }
}

/// The ids of the frames of a stack, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameIds<'a> {
    count: u32,
    bytes: &'a [u8],
    ids: IdSize,
}

impl<'a> FrameIds<'a> {
    fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let count = u4(cursor, "a number of frames")?;
        let bytes = cursor
            .take(u64::from(count).saturating_mul(ids.bytes() as u64), "the frames of a trace")?;
        Ok(Self { count, bytes, ids })
    }

    /// The number of frames.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The ids, innermost first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + 'a {
        let ids = self.ids;
        self.bytes.chunks_exact(ids.bytes()).map(move |id| ids.at(id, 0))
    }

    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.unsigned("count", self.count.into());
        if sink.wants_contents() {
            sink.list("frames", self.iter(), |frame, sink| sink.address("id", frame));
        }
    }
}
