//! Roots outside of stacks: tags 2 (other root), 7 and 11 (finalizers), 12 and 13 (data and bss segment).

use super::fields::FieldList;
use super::primitives::string;
use super::version::Version;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;

/// A root of 1.3 that is in no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherRoot<'a> {
    /// What it is: `runtime type info`.
    pub description: &'a [u8],
    /// What it points to.
    pub pointer: u64,
}

impl<'a> OtherRoot<'a> {
    /// Reads a root after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self { description: string(cursor, "a root's description")?, pointer: cursor.uleb128("a root")? })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.text("description", self.description);
        sink.address("pointer", self.pointer);
    }
}

/// A finalizer, registered (tag 7) or about to run (tag 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalizer {
    /// The object that it is for.
    pub object: u64,
    /// Its closure.
    pub funcval: u64,
    /// The code of the closure.
    pub code: u64,
    /// Type of the argument of the function.
    pub arg_type: u64,
    /// Type of the pointer to the object.
    pub object_type: u64,
}

impl Finalizer {
    /// Reads a finalizer after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            object: cursor.uleb128("a finalizer's object")?,
            funcval: cursor.uleb128("a finalizer's closure")?,
            code: cursor.uleb128("a finalizer's code")?,
            arg_type: cursor.uleb128("a finalizer's argument type")?,
            object_type: cursor.uleb128("a finalizer's object type")?,
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("object", self.object);
        sink.address("funcval", self.funcval);
        sink.address("code", self.code);
        sink.address("arg_type", self.arg_type);
        sink.address("object_type", self.object_type);
    }
}

/// The global variables: initialized (tag 12) or zero at the start (tag 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Its address.
    pub addr: u64,
    /// Its memory.
    pub contents: &'a [u8],
    /// Where its pointers are.
    pub fields: FieldList<'a>,
}

impl<'a> Segment<'a> {
    /// Reads a segment after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self> {
        Ok(Self {
            addr: cursor.uleb128("a segment's address")?,
            contents: string(cursor, "a segment's contents")?,
            fields: FieldList::read(cursor, version)?,
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.unsigned("size", self.contents.len() as u64);
        sink.contents("contents", self.contents);
        self.fields.say(sink);
    }
}
