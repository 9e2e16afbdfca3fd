//! Layouts that the runtime hides: maps, channels and closures.
//!
//! Sources: `internal/runtime/maps`, `runtime/map.go` (up to 1.23), `runtime/chan.go` and
//! `runtime/runtime2.go` of Go 1.18 to 1.27, verified on dumps of 1.19 to 1.27.

use super::layout::{Holds, Layout, Layouts, Slot};
use super::types::{Field, Kind, Type, TypeRef, Types, is_swiss};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The types of a program with their layouts, and additional types for objects that the runtime
/// makes for maps, channels and closures, created once for each type of the program.
pub(super) struct AllTypes {
    types: Types,
    pub(super) layouts: Layouts,
    word: u64,
    /// The types made, by [`Part`] and by the type of the whole.
    made: [FxHashMap<TypeRef, TypeRef>; 5],
    /// The map of each table and directory.
    maps: FxHashMap<TypeRef, TypeRef>,
}

#[derive(Clone, Copy)]
pub(super) enum Part {
    Header,
    Table,
    /// A pointer to a table. A directory is an array of these pointers.
    Directory,
    Channel,
    /// The part of a classic map besides its buckets (`runtime.mapextra`): for maps without
    /// pointers, lists of current and of old overflow buckets; the next free overflow bucket.
    Overflow,
}

impl Deref for AllTypes {
    type Target = Types;

    #[inline]
    fn deref(&self) -> &Types {
        &self.types
    }
}

impl DerefMut for AllTypes {
    fn deref_mut(&mut self) -> &mut Types {
        &mut self.types
    }
}

impl AllTypes {
    pub(super) fn new(types: Types, word: u64) -> Self {
        let (made, maps) = Default::default();
        Self { types, layouts: Layouts::default(), word, made, maps }
    }

    pub(super) fn into_types(self) -> Types {
        self.types
    }

    /// The maps and channels by the types of their headers.
    pub(super) fn wholes(&self) -> FxHashMap<TypeRef, TypeRef> {
        let [headers, _, _, channels, _] = &self.made;
        headers.iter().chain(channels).map(|(whole, header)| (*header, *whole)).collect()
    }

    pub(super) fn layout(&mut self, ty: TypeRef) -> Arc<Layout> {
        self.layouts.of(ty, &self.types, self.word)
    }

    pub(super) fn known(&self, part: Part, whole: TypeRef) -> Option<TypeRef> {
        self.made.get(part as usize)?.get(&whole).copied()
    }

    /// The map that a table or a directory belongs to.
    pub(super) fn map_of(&self, ty: TypeRef) -> Option<TypeRef> {
        self.maps.get(&ty).copied()
    }

    /// The type of a part. Created when it is first needed.
    fn part(
        &mut self,
        part: Part,
        whole: TypeRef,
        make: impl FnOnce(&mut Self) -> TypeRef,
    ) -> TypeRef {
        self.known(part, whole).unwrap_or_else(|| {
            let ty = make(self);
            if let Some(made) = self.made.get_mut(part as usize) {
                made.insert(whole, ty);
            }
            ty
        })
    }

    /// The type of a map's header. `None` if the type of its groups is not known.
    pub(super) fn header(&mut self, map: TypeRef) -> Option<TypeRef> {
        let is_swiss = is_swiss(self.get(self.group(map)?)?);
        Some(self.part(Part::Header, map, |types| {
            let word = types.word;
            let (size, slots) = if is_swiss {
                // u64 used, word seed, directory, its length, four bytes, u64 sequence.
                let directory = word.wrapping_add(8);
                let flags = directory.wrapping_add(word.wrapping_mul(2));
                let size = flags.wrapping_add(4).next_multiple_of(8).wrapping_add(8);
                let slots = vec![Slot { offset: directory, holds: Holds::Directory(map) }];
                (size.next_multiple_of(word), slots)
            } else {
                // word count, u8 flags, u8 B, u16 overflows, u32 hash seed, buckets, old buckets,
                // evacuated, extra.
                let buckets = word.wrapping_add(8);
                let old = buckets.wrapping_add(word);
                let extra = old.wrapping_add(word.wrapping_mul(2));
                let slots = vec![
                    Slot { offset: buckets, holds: Holds::Buckets(map, false) },
                    Slot { offset: old, holds: Holds::Buckets(map, true) },
                    Slot { offset: extra, holds: Holds::Overflow(map) },
                ];
                (extra.wrapping_add(word), slots)
            };
            types.add_made(types.name_of(map), size, slots)
        }))
    }

    /// The type of a table of a Swiss map: u16 used, capacity, growth left, u8 depth, word index,
    /// groups, u64 mask.
    pub(super) fn table(&mut self, map: TypeRef) -> TypeRef {
        self.part(Part::Table, map, |types| {
            let (groups, word) = (types.word.wrapping_add(8), types.word);
            let size = groups.wrapping_add(word).next_multiple_of(word).wrapping_add(8);
            let name = format!("{} table", types.name_of(map));
            let slots = vec![Slot { offset: groups, holds: Holds::Groups(map) }];
            let ty = types.add_made(name, size, slots);
            types.maps.insert(ty, map);
            ty
        })
    }

    pub(super) fn directory(&mut self, map: TypeRef) -> TypeRef {
        let table = self.table(map);
        self.part(Part::Directory, map, |types| {
            let ty = types.add_pointer(format!("*{} table", types.name_of(map)), table);
            types.maps.insert(ty, map);
            ty
        })
    }

    pub(super) fn overflow(&mut self, map: TypeRef, group: TypeRef) -> TypeRef {
        self.part(Part::Overflow, map, |types| {
            let (name, word) = (types.name_of(group), types.word);
            let bucket = types.add_pointer(format!("*{name}"), group);
            let list = vec![Slot { offset: 0, holds: Holds::Slice(bucket) }];
            let list = types.add_made(format!("[]*{name}"), word.wrapping_mul(3), list);
            let slots = [(0, list), (word, list), (word.wrapping_mul(2), group)]
                .map(|(offset, target)| Slot { offset, holds: Holds::Pointer(target) });
            types.add_made("runtime.mapextra".to_owned(), word.wrapping_mul(3), slots.into())
        })
    }

    /// The type of a channel: word count, word capacity, buffer, and more.
    pub(super) fn channel(&mut self, channel: TypeRef) -> TypeRef {
        self.part(Part::Channel, channel, |types| {
            let name = types.name_of(channel);
            let name = match name.strip_prefix("<-chan ") {
                Some(element) => format!("chan {element}"),
                None => name.replacen("chan<- ", "chan ", 1),
            };
            let buffer = types.word.wrapping_mul(2);
            let slots = vec![Slot { offset: buffer, holds: Holds::Buffer(channel) }];
            types.add_made(name, buffer.wrapping_add(types.word), slots)
        })
    }

    fn name_of(&self, ty: TypeRef) -> String {
        self.get(ty).map_or(String::new(), |ty| ty.name.clone())
    }

    pub(super) fn add_pointer(&mut self, name: String, element: TypeRef) -> TypeRef {
        let slots = vec![Slot { offset: 0, holds: Holds::Pointer(element) }];
        self.add_made(name, self.word, slots)
    }

    /// Adds a type with a layout of its own. Its slots, each a pointer, have the names that the
    /// runtime gives to them.
    pub(super) fn add_made(&mut self, name: String, size: u64, slots: Vec<Slot>) -> TypeRef {
        let fields = slots.iter().filter_map(|slot| {
            let name = match slot.holds {
                Holds::Directory(_) => "directory",
                Holds::Groups(_) => "groups",
                Holds::Buckets(_, false) => "buckets",
                Holds::Buckets(_, true) => "oldbuckets",
                Holds::Overflow(_) => "extra",
                Holds::Buffer(_) => "buf",
                _ => return None,
            };
            Some(Field { name: name.into(), ty: Types::WORD, offset: slot.offset })
        });
        let fields = fields.collect();
        let pointers = slots.iter().map(|slot| slot.offset).collect();
        self.add_fields(name, fields, Layout::new(slots, pointers, true, size))
    }

    /// Like [`Self::add_made`], with named parts.
    pub(super) fn add_fields(
        &mut self,
        name: String,
        fields: Box<[Field]>,
        layout: Layout,
    ) -> TypeRef {
        let kind = if fields.is_empty() { Kind::Unknown } else { Kind::Struct { fields } };
        let ty = self.types.add(Type { name, size: layout.size, kind, ..Type::default() });
        self.layouts.set(ty, layout);
        ty
    }
}
