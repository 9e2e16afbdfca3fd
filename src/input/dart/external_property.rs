//! External properties: memory outside of the heap that an object owns.

use super::read_string;
use crate::bytes::Cursor;
use crate::error::Result;
use crate::model::fields::{FieldSink, Record};

/// One persistent handle with a finalizer. An object may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalProperty<'a> {
    /// The object that owns the memory.
    pub object_id: u64,
    /// Bytes; may be 0, and mapped files are usually not counted.
    pub external_size: u64,
    /// Symbol of the native finalizer, or `Unknown native function`.
    pub name: &'a [u8],
}

impl<'a> ExternalProperty<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self {
            object_id: cursor.uleb128("the object of an external property")?,
            external_size: cursor.uleb128("the size of an external property")?,
            name: read_string(cursor, "the name of an external property")?,
        })
    }
}

impl Record for ExternalProperty<'_> {
    fn name(&self) -> &'static str {
        "external_property"
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("object_id", self.object_id);
        sink.unsigned("external_size", self.external_size);
        sink.text("name", self.name);
    }
}
