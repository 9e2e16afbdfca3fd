//! Layouts that the runtime hides: maps, channels and closures.
//!
//! Sources: `internal/runtime/maps`, `runtime/map.go` (up to 1.23), `runtime/chan.go` and
//! `runtime/runtime2.go` of Go 1.18 to 1.27, verified on dumps of 1.19 to 1.27.

use super::layout::{Holds, Layout, Layouts, Slot};
pub(super) use super::types::is_swiss;
use super::types::{Field, Kind, Type, TypeRef, Types};
use rustc_hash::FxHashMap;

/// The types of objects that the runtime makes for maps, channels and closures, made once for each
/// type of the program.
#[derive(Default)]
pub(super) struct Hidden {
    headers: FxHashMap<TypeRef, TypeRef>,
    tables: FxHashMap<TypeRef, TypeRef>,
    directories: FxHashMap<TypeRef, TypeRef>,
    channels: FxHashMap<TypeRef, TypeRef>,
    overflows: FxHashMap<TypeRef, TypeRef>,
    /// The map of each table and directory.
    maps: FxHashMap<TypeRef, TypeRef>,
}

impl Hidden {
    /// The maps and channels by the types of their headers.
    pub(super) fn wholes(&self) -> FxHashMap<TypeRef, TypeRef> {
        self.headers.iter().chain(&self.channels).map(|(whole, header)| (*header, *whole)).collect()
    }

    /// The type of a map's header, if it was made.
    pub(super) fn known_header(&self, map: TypeRef) -> Option<TypeRef> {
        self.headers.get(&map).copied()
    }

    /// The type of a pointer to a table of a map, if it was made.
    pub(super) fn known_directory(&self, map: TypeRef) -> Option<TypeRef> {
        self.directories.get(&map).copied()
    }

    /// The type of a channel, if it was made.
    pub(super) fn known_channel(&self, channel: TypeRef) -> Option<TypeRef> {
        self.channels.get(&channel).copied()
    }

    /// The type of what hangs on a classic map's header, if it was made.
    pub(super) fn known_overflow(&self, map: TypeRef) -> Option<TypeRef> {
        self.overflows.get(&map).copied()
    }

    /// The type of a map's header.
    pub(super) fn header(
        &mut self,
        map: TypeRef,
        swiss: bool,
        types: &mut Types,
        layouts: &mut Layouts,
        word: u64,
    ) -> TypeRef {
        *self.headers.entry(map).or_insert_with(|| {
            let (size, slots) = match swiss {
                // u64 used, word seed, directory, its length, four bytes, u64 sequence.
                true => {
                    let directory = word.wrapping_add(8);
                    let size = directory
                        .wrapping_add(word.wrapping_mul(2))
                        .wrapping_add(4)
                        .next_multiple_of(8)
                        .wrapping_add(8);
                    (
                        size.next_multiple_of(word),
                        vec![Slot { offset: directory, holds: Holds::Directory(map) }],
                    )
                }
                // word count, u8 flags, u8 B, u16 overflows, u32 hash seed, buckets, old buckets,
                // evacuated, extra.
                false => {
                    let buckets = word.wrapping_add(8);
                    let old = buckets.wrapping_add(word);
                    let extra = old.wrapping_add(word.wrapping_mul(2));
                    let slots = vec![
                        Slot { offset: buckets, holds: Holds::Buckets(map, false) },
                        Slot { offset: old, holds: Holds::Buckets(map, true) },
                        Slot { offset: extra, holds: Holds::Overflow(map) },
                    ];
                    (extra.wrapping_add(word), slots)
                }
            };
            let pointers = slots.iter().map(|slot| slot.offset).collect();
            let name = types.get(map).map_or(String::new(), |map| map.name.clone());
            add(name, size, slots, pointers, types, layouts)
        })
    }

    /// The map that a table or a directory belongs to.
    pub(super) fn map_of(&self, ty: TypeRef) -> Option<TypeRef> {
        self.maps.get(&ty).copied()
    }

    /// The type of a table of a Swiss map: u16 used, capacity, growth left, u8 depth, word index,
    /// groups, u64 mask.
    pub(super) fn table(
        &mut self,
        map: TypeRef,
        types: &mut Types,
        layouts: &mut Layouts,
        word: u64,
    ) -> TypeRef {
        let ty = *self.tables.entry(map).or_insert_with(|| {
            let groups = word.wrapping_add(8);
            let name = format!("{} table", types.get(map).map_or("map", |map| map.name.as_str()));
            let slots = vec![Slot { offset: groups, holds: Holds::Groups(map) }];
            add(
                name,
                groups.wrapping_add(word).next_multiple_of(word).wrapping_add(8),
                slots,
                vec![groups],
                types,
                layouts,
            )
        });
        self.maps.insert(ty, map);
        ty
    }

    /// The type of a pointer to a table. A directory is an array of these pointers.
    pub(super) fn directory(
        &mut self,
        map: TypeRef,
        types: &mut Types,
        layouts: &mut Layouts,
        word: u64,
    ) -> TypeRef {
        let table = self.table(map, types, layouts, word);
        let ty = *self.directories.entry(map).or_insert_with(|| {
            let name = format!("*{} table", types.get(map).map_or("map", |map| map.name.as_str()));
            add(
                name,
                word,
                vec![Slot { offset: 0, holds: Holds::Pointer(table) }],
                vec![0],
                types,
                layouts,
            )
        });
        self.maps.insert(ty, map);
        ty
    }

    /// The type of what hangs on a classic map's header besides its buckets (`runtime.mapextra`):
    /// lists of overflow buckets of maps without pointers, now and before growing, and the next
    /// free one.
    pub(super) fn overflow(
        &mut self,
        map: TypeRef,
        group: TypeRef,
        types: &mut Types,
        layouts: &mut Layouts,
        word: u64,
    ) -> TypeRef {
        *self.overflows.entry(map).or_insert_with(|| {
            let name = types.get(group).map_or(String::new(), |group| group.name.clone());
            let pointer = |offset, to| Slot { offset, holds: Holds::Pointer(to) };
            let bucket =
                add(format!("*{name}"), word, vec![pointer(0, group)], vec![0], types, layouts);
            let list = vec![Slot { offset: 0, holds: Holds::Slice(bucket) }];
            let list =
                add(format!("[]*{name}"), word.wrapping_mul(3), list, vec![0], types, layouts);
            let slots =
                vec![pointer(0, list), pointer(word, list), pointer(word.wrapping_mul(2), group)];
            let pointers = slots.iter().map(|slot| slot.offset).collect();
            add(
                "runtime.mapextra".to_owned(),
                word.wrapping_mul(3),
                slots,
                pointers,
                types,
                layouts,
            )
        })
    }

    /// The type of a channel: word count, word capacity, buffer, and more.
    pub(super) fn channel(
        &mut self,
        channel: TypeRef,
        types: &mut Types,
        layouts: &mut Layouts,
        word: u64,
    ) -> TypeRef {
        *self.channels.entry(channel).or_insert_with(|| {
            let name = types.get(channel).map_or("chan".to_owned(), |ty| {
                match ty.name.strip_prefix("<-chan ") {
                    Some(element) => format!("chan {element}"),
                    None => ty.name.replacen("chan<- ", "chan ", 1),
                }
            });
            let buffer = word.wrapping_mul(2);
            add(
                name,
                buffer.wrapping_add(word),
                vec![Slot { offset: buffer, holds: Holds::Buffer(channel) }],
                vec![buffer],
                types,
                layouts,
            )
        })
    }
}

/// Adds a type with a layout of its own. Its slots are named as the runtime calls them.
pub(super) fn add(
    name: String,
    size: u64,
    slots: Vec<Slot>,
    pointers: Vec<u64>,
    types: &mut Types,
    layouts: &mut Layouts,
) -> TypeRef {
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
    add_fields(name, fields, Layout::new(slots, pointers, true, size), types, layouts)
}

/// Like [`add`], with named parts.
pub(super) fn add_fields(
    name: String,
    fields: Box<[Field]>,
    layout: Layout,
    types: &mut Types,
    layouts: &mut Layouts,
) -> TypeRef {
    let kind = if fields.is_empty() { Kind::Unknown } else { Kind::Struct { fields } };
    let size = layout.size;
    let ty = types.add(Type { name, package: None, size, kind, mask: None, direct: false });
    layouts.set(ty, layout);
    ty
}

/// Like [`add`], for a type that is found by its name from then on.
pub(super) fn add_named(
    name: String,
    size: u64,
    slots: Vec<Slot>,
    pointers: Vec<u64>,
    types: &mut Types,
    layouts: &mut Layouts,
) -> TypeRef {
    let ty = add(name.clone(), size, slots, pointers, types, layouts);
    types.set_name(name, ty);
    ty
}
