//! The memory of the process: objects, segments and frames.

use super::super::hidden;
use super::super::objects;
use super::super::types::TypeRef;
use super::{HEADER, Propagation};
use crate::bytes::Cursor;
use crate::input::go::fields::Fields;
use crate::model::heap::ObjectId;

impl<'a> Propagation<'_, '_, '_, 'a> {
    pub(in super::super) fn object_count(&self) -> usize {
        self.placed.sizes.len()
    }

    pub(in super::super) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        self.reader.object_at(address)
    }

    /// Whether an offset is that of an object's first value: behind its malloc header, if it has
    /// one.
    pub(in super::super) fn is_start(&self, object: ObjectId, inside: u64) -> bool {
        let (contents, fields) = self.memory(object);
        inside == self.header(contents, fields).0
    }

    pub(in super::super) fn word_at(&self, contents: &[u8], offset: u64) -> Option<u64> {
        self.reader.words.at(contents, offset)
    }

    /// Whether an address lies in a segment, a frame or the executable.
    pub(in super::super) fn is_known_memory(&self, address: u64) -> bool {
        let after = self.outside.partition_point(|(start, _)| *start <= address);
        let before = after.checked_sub(1).and_then(|before| self.outside.get(before));
        before.is_some_and(|(start, bytes)| address.wrapping_sub(*start) < bytes.len() as u64)
            || self.program.image.contains(address.wrapping_sub(self.slide))
    }

    /// Whether an address is that of a closure: its first word is the entry of a function.
    pub(in super::super) fn is_function(&self, address: u64) -> bool {
        let pc = match self.object_at(address) {
            Some((object, inside)) => self.word_at(self.memory(object).0, inside),
            None => self
                .program
                .image
                .word(address.wrapping_sub(self.slide))
                .map(|pc| pc.wrapping_add(self.slide)),
        };
        let entry = pc.map(|pc| pc.wrapping_sub(self.slide));
        entry.is_some_and(|entry| self.program.is_entry(entry))
    }

    /// Whether an address is that of an object as large as the header of a map.
    pub(in super::super) fn is_map(&self, address: u64, map: TypeRef) -> bool {
        let Some((object, 0)) = self.object_at(address) else {
            return self.is_known_memory(address);
        };
        let swiss =
            self.group(map).and_then(|group| self.types.get(group)).is_some_and(hidden::is_swiss);
        let size = match (swiss, self.word) {
            (_, 8) => 48,
            (true, _) => 32,
            (false, _) => 28,
        };
        self.memory(object).0.len() as u64 == objects::size_class(size)
    }

    /// The type whose descriptor was at an address of the process.
    pub(super) fn type_at(&self, address: u64) -> Option<TypeRef> {
        self.types.at(address.wrapping_sub(self.slide))
    }

    /// Reads what placing a value on an object begins with.
    pub(super) fn touch(&self, object: ObjectId) -> u64 {
        let position = self.placed.positions.get(object.index());
        let first = usize::try_from(position)
            .ok()
            .and_then(|position| self.reader.bytes.get(position))
            .copied();
        let typed = self.objects.get(object).map_or(0, |typed| typed.count);
        typed ^ u64::from(first.unwrap_or(0)) ^ self.placed.sizes.get(object.index())
    }

    /// Contents of an object and the encoded list of its pointers.
    pub(in super::super) fn memory(&self, object: ObjectId) -> (&'a [u8], Fields<'a>) {
        let row = object.index();
        let mut rest = Cursor::at(self.reader.bytes, self.placed.positions.get(row));
        let contents = rest.take(self.placed.sizes.get(row), "an object").unwrap_or_default();
        (contents, Fields::new(rest.rest(), self.reader.survey.version))
    }

    /// The malloc header of an object, if it has one: its bytes and the type that it says.
    pub(in super::super) fn header(
        &self,
        contents: &[u8],
        mut fields: Fields<'a>,
    ) -> (u64, Option<u64>) {
        if !self.reader.may_have_header(contents.len() as u64) {
            return (0, None);
        }
        let first = fields.next().filter(|field| field.offset >= HEADER);
        let address =
            first.and_then(|_| self.reader.words.at(contents, 0)).filter(|address| *address != 0);
        // Only objects with pointers have headers.
        (if address.is_some() { HEADER } else { 0 }, address)
    }

    /// The byte at an address of the heap.
    pub(super) fn byte(&self, address: u64) -> Option<u8> {
        let (object, inside) = self.reader.object_at(address)?;
        self.memory(object).0.get(usize::try_from(inside).ok()?).copied()
    }
}
