//! The memory of objects, as it is in the file.

use super::exe::{Memory, TypedValues};
use crate::model::heap::{
    Array, EachElement, EachField, Heap, Ids, Known, ObjectId, ObjectValues, Offsets, Room, Value,
};

pub(super) struct Contents<'a> {
    bytes: &'a [u8],
    positions: Offsets,
    /// The types of the objects, if an executable named them.
    typed: Option<TypedValues<'a>>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(bytes: &'a [u8], positions: Offsets, typed: Option<TypedValues<'a>>) -> Self {
        Self { bytes, positions, typed }
    }

    /// Returns the data for decoding the value of an object. `None` without types.
    fn typed<'v>(&'v self, heap: &'v Heap<'a>) -> Option<(&'v TypedValues<'a>, Memory<'v, 'a>)> {
        let Ids::Addresses(addresses) = &heap.ids else { return None };
        let memory = Memory {
            bytes: self.bytes,
            positions: &self.positions,
            sizes: &heap.shallow,
            addresses,
        };
        Some((self.typed.as_ref()?, memory))
    }
}

impl ObjectValues for Contents<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let start = self.positions.get(object.index());
        let end = start.saturating_add(heap.shallow.get(object.index()));
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) => match self.bytes.get(start..end) {
                Some(bytes) => Value::Bytes(bytes.into()),
                None => Value::None,
            },
            _ => Value::None,
        }
    }

    fn known(&self) -> Known {
        Known {
            bytes: true,
            lengths: self.typed.is_some(),
            nulls: true,
            rooms: self.typed.is_some(),
            ..Known::default()
        }
    }

    fn fields(&self, heap: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        if let Some((typed, memory)) = self.typed(heap) {
            typed.fields(memory, object, heap.type_id(object), each);
        }
    }

    fn array(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Array> {
        self.typed.as_ref()?.array(object, heap.type_id(object))
    }

    fn room(&self, heap: &Heap<'_>, object: ObjectId) -> Option<Room> {
        let (typed, memory) = self.typed(heap)?;
        typed.room(memory, object, heap.type_id(object))
    }

    fn elements(&self, heap: &Heap<'_>, object: ObjectId, start: u64, each: &mut EachElement<'_>) {
        if let Some((typed, memory)) = self.typed(heap) {
            typed.elements(memory, object, heap.type_id(object), start, each);
        }
    }
}
