//! The places of the events of some types, to read them without passing all others again.

use super::chunk::{Chunk, Event};
use super::wire::varint;
use crate::bytes::{Cursor, push_uleb128};

/// The places of events, by chunk and type.
#[derive(Default)]
pub(super) struct Places {
    /// The row of the first type of each chunk.
    chunks: Vec<usize>,
    /// Each type, with the end of its distances.
    types: Vec<(u64, usize)>,
    distances: Vec<u8>,
}

/// The places of the events of a type in a chunk: the distance of each one from the one before.
#[derive(Default)]
pub(super) struct Distances {
    bytes: Vec<u8>,
    last: u64,
}

impl Distances {
    /// Adds an event at an offset from the start of the chunk.
    #[inline]
    pub(super) fn push(&mut self, offset: u64) {
        push_uleb128(&mut self.bytes, offset.saturating_sub(self.last));
        self.last = offset;
    }
}

impl Places {
    pub(super) fn add_chunk(&mut self) {
        self.chunks.push(self.types.len());
    }

    /// Adds the events of a type to the last chunk, and empties their list.
    pub(super) fn add(&mut self, type_id: u64, distances: &mut Distances) {
        if distances.bytes.is_empty() {
            return;
        }
        self.distances.append(&mut distances.bytes);
        self.types.push((type_id, self.distances.len()));
        distances.last = 0;
    }

    pub(super) fn bytes(&self) -> u64 {
        let types = self.types.capacity().saturating_mul(size_of::<(u64, usize)>());
        self.distances.capacity().saturating_add(types) as u64
    }

    /// The events of a chunk with this number, type by type.
    pub(super) fn events<'a>(
        &self,
        number: usize,
        chunk: Chunk<'a>,
    ) -> impl Iterator<Item = (u64, impl Iterator<Item = Event<'a>>)> {
        let begin = |number: usize| self.chunks.get(number).copied().unwrap_or(self.types.len());
        let types = begin(number)..begin(number.saturating_add(1));
        let mut start = match types.start.checked_sub(1).and_then(|last| self.types.get(last)) {
            Some((_, end)) => *end,
            None => 0,
        };
        self.types.get(types).unwrap_or_default().iter().map(move |(type_id, end)| {
            let distances = self.distances.get(start..*end).unwrap_or_default();
            start = *end;
            let (mut distances, mut place) = (Cursor::new(distances, 0), 0u64);
            let events = std::iter::from_fn(move || {
                place = place.saturating_add(varint(&mut distances, "a distance").ok()?);
                chunk.event(place)
            });
            (*type_id, events)
        })
    }
}
