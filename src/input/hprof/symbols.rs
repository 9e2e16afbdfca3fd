//! Records that name things: strings, classes, frames, traces and threads.

use super::primitives::{IdSize, i4, u4};
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;

/// A string: tag 01.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8<'a> {
    /// Its id.
    pub id: u64,
    /// Nominally UTF-8; HotSpot writes its modified form, in which supplementary characters are pairs of surrogates.
    pub text: &'a [u8],
}

impl<'a> Utf8<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let id = ids.read(cursor, "a string's id")?;
        Ok(Self { id, text: cursor.take(cursor.remaining() as u64, "a string")? })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("id", self.id);
        sink.text("text", self.text);
    }
}

/// A loaded class: tag 02.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadClass {
    /// A number that frames know the class by, above 0.
    pub serial: u32,
    /// The class object.
    pub class: u64,
    /// Serial of the trace at which it was loaded.
    pub trace: u32,
    /// String with its name.
    pub name: u64,
}

impl LoadClass {
    pub(super) fn read(cursor: &mut Cursor<'_>, ids: IdSize) -> Result<Self> {
        Ok(Self {
            serial: u4(cursor, "a class serial")?,
            class: ids.read(cursor, "a class id")?,
            trace: u4(cursor, "a trace serial")?,
            name: ids.read(cursor, "the name of a class")?,
        })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("serial", self.serial.into());
        sink.address("class", self.class);
        sink.unsigned("trace", self.trace.into());
        sink.address("name", self.name);
    }
}

/// A call frame: tag 04.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its id.
    pub id: u64,
    /// String with the name of the method.
    pub method: u64,
    /// String with the signature of the method.
    pub signature: u64,
    /// String with the name of the source file; 0 if unknown.
    pub source: u64,
    /// Serial of the class.
    pub class_serial: u32,
    /// Above 0: line. 0 and -1: unknown, -2: compiled, -3: native.
    pub line: i32,
}

impl Frame {
    pub(super) fn read(cursor: &mut Cursor<'_>, ids: IdSize) -> Result<Self> {
        Ok(Self {
            id: ids.read(cursor, "a frame's id")?,
            method: ids.read(cursor, "a frame's method")?,
            signature: ids.read(cursor, "a frame's signature")?,
            source: ids.read(cursor, "a frame's source file")?,
            class_serial: u4(cursor, "a frame's class")?,
            line: i4(cursor, "a frame's line")?,
        })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("id", self.id);
        sink.address("method", self.method);
        sink.address("signature", self.signature);
        sink.address("source", self.source);
        sink.unsigned("class_serial", self.class_serial.into());
        sink.signed("line", self.line.into());
    }
}

/// A stack: tag 05.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace<'a> {
    /// The number by which others refer to it.
    pub serial: u32,
    /// Serial of its thread.
    pub thread: u32,
    /// How many frames it has.
    pub count: u32,
    /// Ids of frames, innermost first.
    frames: &'a [u8],
    ids: IdSize,
}

impl<'a> Trace<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>, ids: IdSize) -> Result<Self> {
        let serial = u4(cursor, "a trace serial")?;
        let thread = u4(cursor, "a thread serial")?;
        let count = u4(cursor, "a number of frames")?;
        let frames = cursor.take(u64::from(count).saturating_mul(ids.bytes() as u64), "the frames of a trace")?;
        Ok(Self { serial, thread, count, frames, ids })
    }

    /// Ids of its frames, innermost first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + 'a {
        let ids = self.ids;
        self.frames.chunks_exact(ids.bytes()).map(move |id| ids.at(id, 0))
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("serial", self.serial.into());
        sink.unsigned("thread", self.thread.into());
        sink.unsigned("count", self.count.into());
        if sink.wants_contents() {
            sink.list("frames", self.frames(), |frame, sink| sink.address("id", frame));
        }
    }
}

/// A thread: tag 0a. HotSpot writes none of these and only says thread objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartThread {
    /// The number by which others refer to it.
    pub serial: u32,
    /// The thread object.
    pub object: u64,
    /// Serial of its stack.
    pub trace: u32,
    /// String with its name.
    pub name: u64,
    /// String with the name of its group.
    pub group: u64,
    /// String with the name of the group of the group.
    pub parent_group: u64,
}

impl StartThread {
    pub(super) fn read(cursor: &mut Cursor<'_>, ids: IdSize) -> Result<Self> {
        Ok(Self {
            serial: u4(cursor, "a thread serial")?,
            object: ids.read(cursor, "a thread object")?,
            trace: u4(cursor, "a trace serial")?,
            name: ids.read(cursor, "the name of a thread")?,
            group: ids.read(cursor, "the name of a thread group")?,
            parent_group: ids.read(cursor, "the name of a thread group")?,
        })
    }

    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("serial", self.serial.into());
        sink.address("object", self.object);
        sink.unsigned("trace", self.trace.into());
        sink.address("name", self.name);
        sink.address("group", self.group);
        sink.address("parent_group", self.parent_group);
    }
}
