//! What is known of types: tags 3 (type) and 8 (itab).

use super::fields::FieldList;
use super::primitives::{boolean, string};
use super::version::Version;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;

/// A type. Since 1.5 only those that an itab names are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type<'a> {
    /// Address of its descriptor.
    pub addr: u64,
    /// Bytes in a value.
    pub size: u64,
    /// Package path, a dot, and the name. From 1.7 to 1.27 a pointer type with methods has an empty name: `flag.`.
    pub name: &'a [u8],
    /// Whether the data word of an interface that holds the type is a pointer. It is set for every type of a real dump.
    pub ifaceptr: bool,
    /// Where the pointers in a value are (1.3 only, empty later).
    pub fields: FieldList<'a>,
}

impl<'a> Type<'a> {
    /// Reads a type after its tag.
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self> {
        Ok(Self {
            addr: cursor.uleb128("a type address")?,
            size: cursor.uleb128("a type's size")?,
            name: string(cursor, "a type's name")?,
            ifaceptr: boolean(cursor, "a type's pointer flag")?,
            fields: match version {
                Version::Go13 => FieldList::read(cursor, version)?,
                _ => FieldList::empty(version),
            },
        })
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        sink.unsigned("size", self.size);
        sink.text("name", self.name);
        sink.boolean("ifaceptr", self.ifaceptr);
        if !self.fields.is_empty() {
            self.fields.say(sink);
        }
    }
}

/// An itab: the first word of an interface value with methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Itab {
    /// Its address.
    pub addr: u64,
    /// What it says of the value.
    pub data: ItabData,
}

/// What an itab says of the data word, which differs by version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItabData {
    /// 1.3: whether the data word is a pointer.
    Pointer(bool),
    /// 1.4 to 1.6: the type of the data word, which is `*T` where a `T` is held by reference.
    Word(u64),
    /// 1.7: the dynamic type.
    Dynamic(u64),
}

impl Itab {
    /// Reads an itab after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>, version: Version) -> Result<Self> {
        let addr = cursor.uleb128("an itab address")?;
        let data = match version {
            Version::Draft13 | Version::Go13 => ItabData::Pointer(boolean(cursor, "an itab's pointer flag")?),
            Version::Go14 | Version::Go15 | Version::Go16 => ItabData::Word(cursor.uleb128("an itab's type")?),
            Version::Go17 => ItabData::Dynamic(cursor.uleb128("an itab's type")?),
        };
        Ok(Self { addr, data })
    }

    /// Address of the type that it names, from 1.4 on.
    pub fn type_addr(&self) -> Option<u64> {
        match self.data {
            ItabData::Pointer(_) => None,
            ItabData::Word(addr) | ItabData::Dynamic(addr) => Some(addr),
        }
    }

    /// Says the fields to a sink.
    pub(super) fn say<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        match self.data {
            ItabData::Pointer(pointer) => sink.boolean("data_is_pointer", pointer),
            ItabData::Word(addr) => sink.address("data_type", addr),
            ItabData::Dynamic(addr) => sink.address("type", addr),
        }
    }
}
