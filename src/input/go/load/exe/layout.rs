//! The positions of the pointers of a value, and the types of their targets.

use super::size_classes::size_class;
use super::types::{Field, Kind, TypeRef, Types};
use crate::input::go::fields;
use std::sync::Arc;

/// The contents of a value of a type, flattened: inner structs are replaced by their fields, long
/// arrays stay one slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) slots: Box<[Slot]>,
    /// The offsets of pointer words, ascending.
    pub(super) pointers: Box<[u64]>,
    /// Whether the runtime has exactly these pointers. Otherwise it may have fewer, because it does
    /// not count pointers to memory outside the heap.
    pub(super) is_exact: bool,
    pub(super) size: u64,
    pub(super) class: u64,
    /// The field list that a dump has for one value, with the end mark.
    pub(super) encoded: Box<[u8]>,
}

impl Layout {
    pub(super) fn new(slots: Vec<Slot>, pointers: Vec<u64>, is_exact: bool, size: u64) -> Self {
        Self {
            slots: slots.into(),
            encoded: fields::encoded_pointers(&pointers),
            pointers: pointers.into(),
            is_exact,
            size,
            class: size_class(size),
        }
    }
}

/// A part of a value that leads to other memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) offset: u64,
    pub(super) holds: Holds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Pointer(TypeRef),
    String,
    Slice(TypeRef),
    /// The map type itself.
    Map(TypeRef),
    /// The channel type itself.
    Channel(TypeRef),
    Function,
    Interface {
        has_methods: bool,
    },
    /// A `reflect.Value`: the type of a value, a pointer to it or the value itself, and flags.
    Reflected,
    Array(TypeRef, u64),
    /// A pointer to memory of any type.
    Unknown,
    /// Values of a type whose number is the next word.
    Counted(TypeRef),
    /// The directory of a Swiss map of this type, whose length is the next word.
    Directory(TypeRef),
    /// The groups of a table of a Swiss map of this type, whose number less one is the number two
    /// words on.
    Groups(TypeRef),
    /// The buckets of a classic map of this type; `true` for those that it grows out of.
    Buckets(TypeRef, bool),
    /// The other parts of a classic map of this type.
    Overflow(TypeRef),
    /// The buffer of a channel of this type, whose length is the word before.
    Buffer(TypeRef),
    /// The element that a goroutine waits to send or receive, with the offset from here to the
    /// channel.
    Waiting {
        channel: u64,
    },
}

/// The beginning of the name of the runtime's `atomic.Pointer`, before the type it points to.
const RUNTIME_POINTER: &str = "internal/runtime/atomic.Pointer[";
/// The most elements of an array that get slots of their own.
const FEW: u64 = 8;
/// The most slots and pointer words of one type. Further ones are not followed.
const MAX_SLOTS: usize = 1 << 14;

/// The layouts of types, computed when they are needed.
#[derive(Default)]
pub(super) struct Layouts {
    list: Vec<Option<Arc<Layout>>>,
}

impl Layouts {
    pub(super) fn of(&mut self, ty: TypeRef, types: &Types, word: u64) -> Arc<Layout> {
        match self.place(ty) {
            Some(place) => {
                Arc::clone(place.get_or_insert_with(|| Arc::new(lay_out(ty, types, word))))
            }
            None => Arc::default(),
        }
    }

    /// Sets the layout of a type that the runtime hides.
    pub(super) fn set(&mut self, ty: TypeRef, layout: Layout) {
        if let Some(place) = self.place(ty) {
            *place = Some(Arc::new(layout));
        }
    }

    /// The layout of a type, if it was needed before.
    pub(super) fn known(&self, ty: TypeRef) -> Option<&Layout> {
        self.list.get(ty.0 as usize)?.as_deref()
    }

    fn place(&mut self, ty: TypeRef) -> Option<&mut Option<Arc<Layout>>> {
        let index = ty.0 as usize;
        if self.list.len() <= index {
            self.list.resize(index.saturating_add(1), None);
        }
        self.list.get_mut(index)
    }
}

fn lay_out(ty: TypeRef, types: &Types, word: u64) -> Layout {
    let Some(described) = types.get(ty) else { return Layout::default() };
    let slots = slots(ty, types);
    let pointers: Vec<u64> = match &described.mask {
        Some(mask) => {
            let bits = (0u64..).zip(mask.iter()).flat_map(|(index, bits)| {
                let first = index.wrapping_mul(64);
                (0..64u64)
                    .filter(move |bit| bits.wrapping_shr(*bit as u32) & 1 == 1)
                    .map(move |bit| first.wrapping_add(bit))
            });
            bits.map(|number| number.wrapping_mul(word)).collect()
        }
        None => pointers(&slots, types, word),
    };
    Layout::new(slots, pointers, described.mask.is_some(), described.size)
}

fn slots(ty: TypeRef, types: &Types) -> Vec<Slot> {
    let mut found = Slots { types, slots: Vec::new(), open: vec![(0, ty)] };
    // A damaged executable may have a type that contains itself, which would never end.
    for _ in 0..MAX_SLOTS.saturating_mul(4) {
        let Some((offset, ty)) = found.open.pop() else { break };
        if found.slots.len() >= MAX_SLOTS || found.open.len() >= MAX_SLOTS {
            break;
        }
        found.add(offset, ty);
    }
    found.slots.sort_by_key(|slot| slot.offset);
    found.slots
}

/// The slots of a type found so far, and its parts that are still to be processed.
struct Slots<'t> {
    types: &'t Types,
    slots: Vec<Slot>,
    open: Vec<(u64, TypeRef)>,
}

impl Slots<'_> {
    /// Adds the slots of a part, or the parts of which it consists.
    fn add(&mut self, offset: u64, ty: TypeRef) {
        let Some(described) = self.types.get(ty) else { return };
        let holds = match &described.kind {
            Kind::Number(_) | Kind::Unknown => return,
            Kind::UnsafePointer => Holds::Unknown,
            Kind::Pointer { element } => Holds::Pointer(*element),
            Kind::String => Holds::String,
            Kind::Slice { element } => Holds::Slice(*element),
            Kind::Map { .. } => Holds::Map(ty),
            Kind::Channel { .. } => Holds::Channel(ty),
            Kind::Function => Holds::Function,
            Kind::Interface { has_methods } => Holds::Interface { has_methods: *has_methods },
            Kind::Array { element, length } => match self.types.size(*element) {
                0 => return,
                _ if *length > FEW => Holds::Array(*element, *length),
                size => {
                    let at = |index: u64| offset.wrapping_add(size.wrapping_mul(index));
                    self.open.extend((0..*length).rev().map(|index| (at(index), *element)));
                    return;
                }
            },
            Kind::Struct { fields } => {
                return self.add_struct((offset, ty), &described.name, fields);
            }
        };
        self.slots.push(Slot { offset, holds });
    }

    /// Adds a struct. In some structs of the library, the types of fields hide the actual contents.
    fn add_struct(&mut self, (offset, ty): (u64, TypeRef), name: &str, fields: &[Field]) {
        let types = self.types;
        let place = |field: &Field| (offset.wrapping_add(field.offset), field.ty);
        let named = |name: &str| fields.iter().find(|field| &*field.name == name).map(place);
        if name.starts_with("sync/atomic.Pointer[") {
            // A field of size 0 before the pointer has the type of the target.
            let element = |field: &Field| match types.get(field.ty).map(|ty| &ty.kind) {
                Some(Kind::Array { element, length: 0 }) => Some(*element),
                _ => None,
            };
            let element = fields.iter().find_map(element);
            self.open
                .extend(named("v").zip(element).map(|((offset, _), element)| (offset, element)));
        } else if name == "reflect.Value" {
            self.slots.push(Slot { offset, holds: Holds::Reflected });
            self.open.extend(fields.first().map(place));
        } else if name.starts_with("weak.Pointer[") {
            let holds = Holds::Pointer(Types::WEAK_HANDLE);
            self.slots.extend(named("u").map(|(offset, _)| Slot { offset, holds }));
        } else if let Some(name) = name.strip_prefix(RUNTIME_POINTER) {
            // Only the name of the struct contains the type of the target.
            let element = name.strip_suffix(']').and_then(|name| types.named(name));
            let holds = element.map_or(Holds::Unknown, Holds::Pointer);
            self.slots.push(Slot { offset, holds });
        } else {
            // The next bucket in a map's chain, which has another declared type.
            let is_next =
                |field: &&Field| name.starts_with("map.bucket[") && &*field.name == "overflow";
            let holds = Holds::Pointer(ty);
            let next = fields.iter().filter(is_next).map(place);
            self.slots.extend(next.map(|(offset, _)| Slot { offset, holds }));
            let others = fields.iter().rev().filter(|field| !is_next(field));
            self.open.extend(others.map(place));
        }
    }
}

/// The pointer words of a type without a bitmap, by the kinds of its slots.
fn pointers(slots: &[Slot], types: &Types, word: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut open: Vec<(u64, Slot)> = slots.iter().rev().map(|slot| (0, *slot)).collect();
    while let Some((base, slot)) = open.pop() {
        if found.len() >= MAX_SLOTS {
            break;
        }
        let offset = base.wrapping_add(slot.offset);
        match slot.holds {
            Holds::Interface { .. } | Holds::Reflected => found.push(offset.wrapping_add(word)),
            Holds::Array(element, length) => {
                let size = types.size(element);
                let inner = self::slots(element, types);
                let most =
                    (MAX_SLOTS as u64).checked_div(inner.len() as u64).unwrap_or(0).min(length);
                for index in (0..most).rev() {
                    let base = offset.wrapping_add(size.wrapping_mul(index));
                    // Expanding arrays of long arrays could take forever, so inner arrays are left
                    // out.
                    let flat =
                        inner.iter().rev().filter(|slot| !matches!(slot.holds, Holds::Array(..)));
                    open.extend(flat.map(|slot| (base, *slot)));
                }
            }
            _ => found.push(offset),
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
