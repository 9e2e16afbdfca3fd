//! Objects of the heap: tag 1.

use super::fields::FieldList;
use super::primitives::string;
use super::version::Version;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::FieldSink;

/// An object, as large as its slot in the heap: sizes are rounded up to a size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object<'a> {
    /// Its address.
    pub addr: u64,
    /// Its type, in the layouts that record it (1.3 and the draft).
    pub typed: Option<Typed>,
    /// Its memory.
    pub contents: &'a [u8],
    /// The positions of its pointers. Empty in 1.3 and the draft, where the type has them.
    pub fields: FieldList<'a>,
}

/// The type and kind of an object in 1.3 and the draft, which list no pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// Address of the type, 0 if it has no pointers or is not known.
    pub type_addr: u64,
    /// The way in which the type fills the object: 0 once, 1 repeatedly, 2 as the elements of a
    /// channel, 127 unknown (1.3: every word may be a pointer).
    pub kind: u64,
}

impl<'a> Object<'a> {
    /// Reads an object after its tag.
    #[inline]
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self> {
        let addr = cursor.uleb128_wide("an object address")?;
        if version <= Version::Go13 {
            let typed = Typed {
                type_addr: cursor.uleb128("an object's type")?,
                kind: cursor.uleb128("an object's kind")?,
            };
            let contents = string(cursor, "an object's contents")?;
            return Ok(Self {
                addr,
                typed: Some(typed),
                contents,
                fields: FieldList::empty(version),
            });
        }
        let contents = string(cursor, "an object's contents")?;
        Ok(Self { addr, typed: None, contents, fields: FieldList::read(cursor, version)? })
    }

    /// The size of the object's slot, in bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        self.contents.len() as u64
    }

    /// The first address after the object.
    #[inline]
    pub fn end(&self) -> u64 {
        self.addr.saturating_add(self.size())
    }

    pub(super) fn pass_to<S: FieldSink>(&self, sink: &mut S) {
        sink.address("addr", self.addr);
        if let Some(typed) = self.typed {
            sink.address("type", typed.type_addr);
            sink.unsigned("kind", typed.kind);
        }
        sink.unsigned("size", self.size());
        if self.typed.is_none() {
            sink.unsigned("pointers", self.fields.len());
        }
        sink.contents("contents", self.contents);
        if self.typed.is_none() {
            self.fields.pass_each(sink);
        }
    }
}
