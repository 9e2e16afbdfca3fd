//! The memory of objects, as it stands in the file.

use crate::model::heap::{Heap, Known, ObjectId, ObjectValues, Offsets, Value};

/// Where the contents of each object are.
pub(super) struct Contents<'a> {
    bytes: &'a [u8],
    positions: Offsets,
}

impl<'a> Contents<'a> {
    /// By the offset of the first byte of each object.
    pub(super) fn new(bytes: &'a [u8], positions: Offsets) -> Self {
        Self { bytes, positions }
    }
}

impl<'a> ObjectValues<'a> for Contents<'a> {
    fn value(&self, heap: &Heap<'a>, object: ObjectId) -> Value<'a> {
        let start = self.positions.get(object.index());
        let end = start.saturating_add(heap.shallow.get(object.index()));
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) => self.bytes.get(start..end).map_or(Value::None, Value::Bytes),
            _ => Value::None,
        }
    }

    fn known(&self) -> Known {
        Known { bytes: true, ..Known::default() }
    }
}
