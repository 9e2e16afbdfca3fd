//! The entries of maps: groups of Swiss tables (Go 1.24 and later), and buckets of classic maps.
//!
//! Sources: `internal/runtime/maps/{map,table,group}.go` of 1.24 to 1.27, `runtime/map.go` up to
//! 1.23.

use super::super::types::{Kind, Type, TypeRef, Types, is_swiss};
use super::{Place, View};
use crate::model::heap::{ObjectId, Room};
use std::ops::ControlFlow;

/// Receives keys and elements.
type EachEntry<'e> = dyn FnMut(Place<'_>, Place<'_>) -> ControlFlow<()> + 'e;

/// The number of entries of a group or bucket.
const SLOTS: u32 = 8;
/// The most groups or buckets that are read, because many of a large map may be empty.
const MAX_GROUPS: u64 = 1 << 12;
/// Smallest hash of a full slot of a classic bucket (`minTopHash`).
const FULL: u8 = 5;

/// A type of groups or buckets, and the positions of the entries in them.
struct Slots {
    group: TypeRef,
    size: u64,
    key: (u64, TypeRef),
    element: (u64, TypeRef),
    /// Bytes from one key to the next, and from one element to the next.
    steps: (u64, u64),
}

impl View<'_, '_> {
    /// Passes the entries of a map, whose header is at a place, until `each` breaks.
    pub(super) fn entries(
        &self,
        header: Place<'_>,
        group: TypeRef,
        each: &mut EachEntry<'_>,
    ) -> ControlFlow<()> {
        let Some(described) = self.typed.types.get(group) else { return ControlFlow::Continue(()) };
        let Some(slots) = self.slots(group, described) else { return ControlFlow::Continue(()) };
        if is_swiss(described) {
            self.groups(header, &slots, each)
        } else {
            self.buckets(header, &slots, each)
        }
    }

    /// The number of entries of a map or channel, with which its header begins: a u64 in Swiss
    /// maps, otherwise a word.
    pub(super) fn length(&self, header: Place<'_>) -> Option<u64> {
        let group = match self.typed.types.get(header.ty)?.kind {
            Kind::Map { group, .. } => self.typed.types.get(group),
            _ => None,
        };
        self.number(header, if group.is_some_and(is_swiss) { 8 } else { self.typed.words.size })
    }

    /// The number of groups of a table of a Swiss map, at the address of the table. After u16 used,
    /// capacity, growth left, u8 depth, word index and the pointer to the groups, a u64 has their
    /// number less one.
    fn group_count(&self, table: &[u8]) -> Option<u64> {
        let offset = self.typed.words.size.saturating_mul(2).saturating_add(8);
        let mask = self.number(Place { bytes: table, offset, ty: Types::UNKNOWN }, 8)?;
        Some(mask.saturating_add(1))
    }

    /// Returns how much of a map is used, given the object of its header. Swiss maps double when
    /// seven of eight slots are taken, classic maps at thirteen of sixteen.
    pub(super) fn map_room(&self, header: ObjectId, map: TypeRef) -> Option<Room> {
        let Kind::Map { group, .. } = self.typed.types.get(map)?.kind else { return None };
        let group = self.typed.types.get(group)?;
        let place = Place { bytes: self.object(header), offset: 0, ty: map };
        let used = self.length(place)?;
        let groups = if is_swiss(group) {
            self.swiss_groups(place)
        } else {
            1u64.checked_shl(
                self.number(place.at(self.typed.words.size.saturating_add(1), map), 1)? as u32,
            )?
        };
        let slots = u64::from(SLOTS);
        let needed = match is_swiss(group) {
            _ if used <= slots => 1,
            true => used.div_ceil(7).checked_next_power_of_two()?,
            false => used.saturating_mul(2).div_ceil(13).checked_next_power_of_two()?,
        };
        // A count that the groups have no room for is damage.
        let capacity = groups.saturating_mul(slots);
        let spare_bytes = groups.saturating_sub(needed).saturating_mul(group.size);
        (used <= capacity).then_some(Room { is_collection: true, capacity, used, spare_bytes })
    }

    fn swiss_groups(&self, header: Place<'_>) -> u64 {
        match self.directory(header) {
            None => 0,
            Some((address, 0)) => u64::from(address != 0),
            Some((address, length)) => {
                let counts = self.tables(address, length).map(|table| self.group_count(table));
                counts.fold(0, |groups, count| groups.saturating_add(count.unwrap_or(0)))
            }
        }
    }

    /// The address and the length of a directory, by the header of a Swiss map: u64 used, word
    /// seed, pointer to the directory, its length.
    fn directory(&self, header: Place<'_>) -> Option<(u64, u64)> {
        let directory = header.at(self.typed.words.size.saturating_add(8), header.ty);
        Some((self.word_of(directory, 0)?, self.word_of(directory, 1)?))
    }

    /// The tables of a directory, each once. Several entries for the same table are adjacent.
    fn tables(&self, directory: u64, length: u64) -> impl Iterator<Item = &[u8]> {
        let (directory, mut last) = (self.bytes_at(directory), 0);
        let place = |index: u64| index.saturating_mul(self.typed.words.size);
        (0..length)
            .map_while(move |index| self.word(directory?, place(index)))
            .filter(move |table| std::mem::replace(&mut last, *table) != *table)
            .filter_map(|table| self.bytes_at(table))
    }

    /// Reads a directory of tables of groups. Small maps have one group instead.
    fn groups(
        &self,
        header: Place<'_>,
        slots: &Slots,
        each: &mut EachEntry<'_>,
    ) -> ControlFlow<()> {
        let Some((address, length)) = self.directory(header) else {
            return ControlFlow::Continue(());
        };
        let mut left = MAX_GROUPS;
        if length == 0 {
            return self.group_array((address, 1), slots, &mut left, each);
        }
        for table in self.tables(address, length.min(MAX_GROUPS)) {
            let groups = self.word(table, self.typed.words.size.saturating_add(8));
            if let (Some(groups), Some(count)) = (groups, self.group_count(table)) {
                self.group_array((groups, count), slots, &mut left, each)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Passes the entries of an array of groups, of which at most `left` are read.
    fn group_array(
        &self,
        (address, count): (u64, u64),
        slots: &Slots,
        left: &mut u64,
        each: &mut EachEntry<'_>,
    ) -> ControlFlow<()> {
        let Some(bytes) = self.bytes_at(address) else { return ControlFlow::Continue(()) };
        for index in 0..count.min(*left) {
            *left = left.saturating_sub(1);
            let offset = slots.size.saturating_mul(index);
            let group = Place { bytes, offset, ty: slots.group };
            // The control bytes are one number: the first slot has its lowest byte.
            let Some(control) = self.number(group, 8) else { break };
            let is_full = |slot: u32| byte(control, slot) & 0x80 == 0;
            self.full(group, slots, is_full, each)?;
        }
        ControlFlow::Continue(())
    }

    /// Reads the array of buckets, and during growth also the array of old buckets.
    fn buckets(
        &self,
        header: Place<'_>,
        slots: &Slots,
        each: &mut EachEntry<'_>,
    ) -> ControlFlow<()> {
        let word = self.typed.words.size;
        let (group, overflow) = (slots.group, slots.size.checked_sub(word));
        let at = |offset: u64| Place { offset: header.offset.saturating_add(offset), ..header };
        // word count, u8 flags, u8 B, u16 overflows, u32 seed, pointers to buckets and old buckets.
        let Some(logarithm) = self.number(at(word.saturating_add(1)), 1) else {
            return ControlFlow::Continue(());
        };
        let count = 1u64.checked_shl(logarithm as u32).unwrap_or(u64::MAX);
        let mut left = MAX_GROUPS;
        for (offset, count) in [
            (word.saturating_add(8), count),
            (word.saturating_mul(2).saturating_add(8), count.div_ceil(2)),
        ] {
            let Some(array) =
                self.word_of(at(offset), 0).and_then(|address| self.bytes_at(address))
            else {
                continue;
            };
            for index in 0..count.min(MAX_GROUPS) {
                let mut bucket =
                    Place { bytes: array, offset: slots.size.saturating_mul(index), ty: group };
                // A bucket and its chain of overflow buckets.
                while let Some(hashes) = self.number(bucket, SLOTS.into()) {
                    let Some(rest) = left.checked_sub(1) else { return ControlFlow::Continue(()) };
                    left = rest;
                    let hashes =
                        if self.typed.words.big_endian { hashes.swap_bytes() } else { hashes };
                    let is_full = |slot: u32| byte(hashes, slot) >= FULL;
                    self.full(bucket, slots, is_full, each)?;
                    let next =
                        overflow.and_then(|overflow| self.word_of(bucket.at(overflow, group), 0));
                    let Some(bytes) = next.and_then(|next| self.bytes_at(next)) else { break };
                    bucket = Place { bytes, offset: 0, ty: group };
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn full(
        &self,
        group: Place<'_>,
        slots: &Slots,
        is_full: impl Fn(u32) -> bool,
        each: &mut EachEntry<'_>,
    ) -> ControlFlow<()> {
        for slot in (0..SLOTS).filter(|slot| is_full(*slot)).map(u64::from) {
            let part = |(offset, ty): (u64, TypeRef), step: u64| {
                group.at(offset.saturating_add(step.saturating_mul(slot)), ty)
            };
            each(part(slots.key, slots.steps.0), part(slots.element, slots.steps.1))?;
        }
        ControlFlow::Continue(())
    }

    /// Finds the keys and elements: in an array of slots (1.24), or in an array of each (classic
    /// maps, and since 1.27).
    fn slots(&self, ty: TypeRef, group: &Type) -> Option<Slots> {
        let types = &self.typed.types;
        // Package reflect spells the names with capitals.
        let named = |ty: &Type, name: &str| match &ty.kind {
            Kind::Struct { fields } => fields
                .iter()
                .find(|field| field.name.eq_ignore_ascii_case(name))
                .map(|field| (field.offset, field.ty)),
            _ => None,
        };
        let array = |(offset, ty): (u64, TypeRef)| match types.get(ty)?.kind {
            Kind::Array { element, .. } => Some((offset, element, types.get(element)?.size)),
            _ => None,
        };
        if let Some((offset, slot, step)) = named(group, "slots").and_then(array) {
            let slot = types.get(slot)?;
            let at = |(inside, ty): (u64, TypeRef)| (offset.saturating_add(inside), ty);
            return Some(Slots {
                group: ty,
                size: group.size,
                key: at(named(slot, "key")?),
                element: at(named(slot, "elem")?),
                steps: (step, step),
            });
        }
        let (keys, key, key_step) = array(named(group, "keys")?)?;
        let (elements, element, element_step) = array(named(group, "elems")?)?;
        Some(Slots {
            group: ty,
            size: group.size,
            key: (keys, key),
            element: (elements, element),
            steps: (key_step, element_step),
        })
    }
}

/// A byte of a number. Index 0 is the lowest byte.
fn byte(number: u64, index: u32) -> u8 {
    number.checked_shr(index.saturating_mul(8)).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::super::super::extents::Lengths;
    use super::super::super::types::Field;
    use super::super::{Memory, TypedValues, Words};
    use super::*;
    use crate::input::go::version::Version;
    use crate::model::addresses::AddressesBuilder;
    use crate::model::heap::{Offsets, Sizes};

    fn described(name: &str, kind: Kind) -> Type {
        Type { name: name.to_owned(), package: None, size: 8, kind, mask: None, direct: false }
    }

    /// The length in the header of a map of a big-endian 32-bit process.
    fn length(first_field: &str, header: &[u8]) -> Option<u64> {
        let mut types = Types::default();
        let number = types.add(described("uint64", Kind::Number(11)));
        let field = Field { name: first_field.into(), ty: number, offset: 0 };
        let group = types.add(described("group", Kind::Struct { fields: Box::new([field]) }));
        let kind = Kind::Map { key: number, element: number, group };
        let map = types.add(described("map[uint64]uint64", kind));
        let typed = TypedValues {
            types,
            of_type: Vec::new(),
            string: number,
            counts: Vec::new(),
            extents: Lengths::default(),
            parts: Default::default(),
            functions: Default::default(),
            channel_type_at: 0,
            itabs: Default::default(),
            shifts: Default::default(),
            words: Words { size: 4, big_endian: true },
            version: Version::Go17,
            header_sizes: 0..0,
            outside: Vec::new(),
            constants: (0, Box::default()),
        };
        let (positions, sizes) = (Offsets::Small(Vec::new()), Sizes::default());
        let addresses = AddressesBuilder::default().finish();
        let memory =
            Memory { bytes: &[], positions: &positions, sizes: &sizes, addresses: &addresses };
        View { typed: &typed, memory }.length(Place { bytes: header, offset: 0, ty: map })
    }

    #[test]
    fn lengths_of_swiss_maps_are_eight_bytes_in_processes_of_32_bits_too() {
        assert_eq!(length("ctrl", &[0, 0, 0, 0, 0, 0, 0, 5]), Some(5));
        assert_eq!(length("tophash", &[0, 0, 0, 6, 0, 0, 0, 5]), Some(6));
    }
}
