//! The memory of the process: objects, segments and frames.

use super::super::image::Memory;
use super::super::objects::Objects;
use super::super::size_classes::size_class;
use super::super::types::{TypeRef, is_swiss};
use super::{HEADER, Item, Propagation};
use crate::input::go::fields::Fields;
use crate::input::go::load::place::Placed;
use crate::input::go::load::pointers::Reader;
use crate::input::go::load::words::Words;
use crate::model::heap::ObjectId;

impl<'a> Propagation<'_, '_, '_, 'a> {
    /// Whether an offset is that of an object's first value: after its malloc header, if it has
    /// one.
    pub(in super::super) fn is_start(&self, object: ObjectId, inside: u64) -> bool {
        inside == self.ground.header_of(object)
    }

    /// Whether an address lies in a segment, a frame or the executable.
    pub(in super::super) fn is_known_memory(&self, address: u64) -> bool {
        self.outside_at(address).is_some()
            || self.program.image.contains(address.wrapping_sub(self.shifts.types))
    }

    /// Whether an address is that of a closure: its first word is the entry of a function.
    pub(in super::super) fn is_function(&self, address: u64) -> bool {
        if let Some((object, inside)) = self.ground.object_at(address) {
            let pc = self.ground.word_at(self.ground.memory(object).0, inside);
            return pc.is_some_and(|pc| self.program.is_entry(pc.wrapping_sub(self.shifts.text)));
        }
        // Constants may lie before or after the build information, with different shifts.
        [self.shifts.types, self.shifts.itabs].iter().any(|shift| {
            let entry = self.program.image.word(address.wrapping_sub(*shift));
            entry.is_some_and(|entry| self.program.is_entry(entry))
        })
    }

    /// Whether an address is that of an object as large as the header of a map.
    pub(in super::super) fn is_map(&self, address: u64, map: TypeRef) -> bool {
        let Some((object, 0)) = self.ground.object_at(address) else {
            return self.is_known_memory(address);
        };
        let group = self.types.group(map).and_then(|group| self.types.get(group));
        let swiss = group.is_some_and(is_swiss);
        let size = match (swiss, self.word) {
            (_, 8) => 48,
            (true, _) => 32,
            (false, _) => 28,
        };
        self.ground.size(object) == size_class(size)
    }

    /// The type whose descriptor was at an address of the process.
    pub(super) fn type_at(&self, address: u64) -> Option<TypeRef> {
        self.types.at(address.wrapping_sub(self.shifts.types))
    }

    pub(super) fn byte(&self, address: u64) -> Option<u8> {
        let (object, inside) = self.ground.object_at(address)?;
        self.ground.memory(object).0.get(usize::try_from(inside).ok()?).copied()
    }
}

/// The objects of the heap and their addresses.
#[derive(Clone, Copy)]
pub(in super::super) struct Ground<'p, 's, 'a> {
    pub(in super::super) reader: &'p Reader<'s, 'a>,
    pub(in super::super) placed: &'p Placed,
}

impl<'a> Ground<'_, '_, 'a> {
    pub(super) fn words(&self) -> Words {
        self.reader.words
    }

    #[inline]
    pub(in super::super) fn word_at(&self, contents: &[u8], offset: u64) -> Option<u64> {
        self.reader.words.at(contents, offset)
    }

    pub(in super::super) fn object_count(&self) -> usize {
        self.placed.sizes.len()
    }

    pub(in super::super) fn size(&self, object: ObjectId) -> u64 {
        self.placed.sizes.get(object.index())
    }

    pub(in super::super) fn address(&self, object: ObjectId) -> Option<u64> {
        self.reader.addresses.address(object)
    }

    pub(in super::super) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        self.reader.object_at(address)
    }

    pub(super) fn is_in_heap(&self, address: u64) -> bool {
        self.reader.is_in_heap(address)
    }

    /// Finds the objects of many values, and reads the first bytes that placing the values will
    /// need, so that the processor waits for all of them at once, not for one after the other.
    pub(super) fn find_all(
        &self,
        items: &[Item],
        objects: &Objects,
        places: &mut Vec<Option<(ObjectId, u64)>>,
    ) {
        places.clear();
        places.extend(items.iter().map(|item| self.reader.object_at(item.address)));
        let byte = |at: u64| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            self.reader.bytes.get(at).copied().unwrap_or(0)
        };
        let read = |(item, place): (&Item, &Option<(ObjectId, u64)>)| match *place {
            Some((object, inside)) if !item.is_known(inside, objects.get(object).as_ref()) => {
                let row = object.index();
                let (start, size) = (self.placed.positions.get(row), self.placed.sizes.get(row));
                // The list of pointers is after the contents.
                byte(start) ^ byte(start.saturating_add(size))
            }
            _ => 0,
        };
        std::hint::black_box(items.iter().zip(&*places).map(read).fold(0, |all, byte| all ^ byte));
    }

    /// The contents of an object, and its pointers.
    #[inline]
    pub(in super::super) fn memory(&self, object: ObjectId) -> (&'a [u8], Fields<'a>) {
        let row = object.index();
        let start = usize::try_from(self.placed.positions.get(row)).unwrap_or(usize::MAX);
        let size = usize::try_from(self.placed.sizes.get(row)).unwrap_or(usize::MAX);
        let rest = self.reader.bytes.get(start..).unwrap_or_default();
        let (contents, list) = rest.split_at_checked(size).unwrap_or((&[], rest));
        (contents, Fields::new(list, self.reader.survey.version))
    }

    /// The bytes of an object's malloc header, and the address of its type. 0 and `None` if absent.
    #[inline]
    pub(in super::super) fn header(
        &self,
        contents: &[u8],
        mut fields: Fields<'a>,
    ) -> (u64, Option<u64>) {
        if !self.reader.header_sizes.contains(&(contents.len() as u64)) {
            return (0, None);
        }
        let first = fields.next().filter(|field| field.offset >= HEADER);
        let address =
            first.and_then(|_| self.reader.words.at(contents, 0)).filter(|address| *address != 0);
        // Only objects with pointers have headers.
        (if address.is_some() { HEADER } else { 0 }, address)
    }

    /// Bytes of an object's malloc header; 0 if there is none.
    #[inline]
    pub(in super::super) fn header_of(&self, object: ObjectId) -> u64 {
        if self.reader.header_sizes.contains(&self.placed.sizes.get(object.index())) {
            self.read(object).header
        } else {
            0
        }
    }

    #[inline]
    pub(in super::super) fn read(&self, object: ObjectId) -> ObjectMemory<'a> {
        let (contents, fields) = self.memory(object);
        let (header, _) = self.header(contents, fields.clone());
        ObjectMemory { contents, fields, header }
    }
}

/// An object's memory, with its malloc header.
pub(in super::super) struct ObjectMemory<'a> {
    pub(in super::super) contents: &'a [u8],
    /// The encoded list of its pointers.
    pub(in super::super) fields: Fields<'a>,
    /// Bytes of its malloc header; 0 if it has none.
    pub(in super::super) header: u64,
}

impl<'a> ObjectMemory<'a> {
    /// Returns the contents after the malloc header.
    pub(super) fn value(&self) -> &'a [u8] {
        self.contents.get(usize::try_from(self.header).unwrap_or(usize::MAX)..).unwrap_or_default()
    }

    pub(super) fn byte(&self, offset: u64) -> Option<u8> {
        self.contents.get(usize::try_from(offset).ok()?).copied()
    }

    pub(super) fn has_pointers(&self) -> bool {
        self.fields.clone().next().is_some()
    }

    /// Offsets of its pointers, counted from after the malloc header.
    pub(in super::super) fn pointers(&self) -> impl Iterator<Item = u64> + use<'a> {
        let header = self.header;
        self.fields.clone().filter_map(move |field| field.offset.checked_sub(header))
    }
}
