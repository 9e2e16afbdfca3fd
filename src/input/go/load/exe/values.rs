//! The values of objects with a type: fields, elements, entries of maps. Decoded from the dump on
//! demand.
//!
//! Inner structs are flattened (`a.b`); arrays are limited to the first elements. A string is shown
//! as text, a slice as its array with `len` and `cap`, an interface as its value with the dynamic
//! type; channels and maps also have their length. Text that is part of the program, not of the
//! heap, comes from the executable.
//!
//! The types are not trusted: all reads are checked against the bytes of the dump, with limits on
//! depth and counts.

mod channels;
mod fields;
mod maps;
mod text;
mod view;

use super::super::words::Words;
use super::extents::Lengths;
use super::functions::FunctionNames;
use super::shifts::Shifts;
use super::types::{Kind, TypeRef, Types};
use crate::input::go::version::Version;
use crate::model::addresses::Addresses;
use crate::model::heap::{Array, EachElement, EachField, ObjectId, Offsets, Room, Sizes, TypeId};
use rustc_hash::FxHashMap;
use std::ops::{ControlFlow, Range};

/// The types of a heap's objects, with all that decoding their values needs.
pub(in super::super) struct TypedValues<'a> {
    pub(super) types: Types,
    /// For each type of the model, the type of a value, and whether objects hold several values.
    pub(super) of_type: Vec<Option<(TypeRef, bool)>>,
    /// The type of objects that are the bytes of strings.
    pub(super) string: TypeRef,
    pub(super) counts: Vec<u32>,
    /// The number of values of each array that slices use.
    pub(super) extents: Lengths,
    /// The maps and channels that headers in the heap belong to.
    pub(super) parts: FxHashMap<TypeRef, TypeRef>,
    /// Dynamic types by the address of their itab.
    pub(super) itabs: FxHashMap<u64, u64>,
    pub(super) shifts: Shifts,
    pub(super) words: Words,
    pub(super) version: Version,
    /// The sizes of objects that may have a malloc header.
    pub(super) header_sizes: Range<u64>,
    /// Segments and frames, sorted by address.
    pub(super) outside: Vec<(u64, &'a [u8])>,
    /// The constants of the program: their address in the process, and a copy.
    pub(super) constants: (u64, Box<[u8]>),
    pub(super) functions: FunctionNames,
    /// The offset of the element type in a channel.
    pub(super) channel_type_at: u64,
}

/// The objects of a heap and their addresses.
#[derive(Clone, Copy)]
pub(in super::super) struct Memory<'m, 'a> {
    pub(in super::super) bytes: &'a [u8],
    pub(in super::super) positions: &'m Offsets,
    pub(in super::super) sizes: &'m Sizes,
    pub(in super::super) addresses: &'m Addresses,
}

/// A value in memory: its bytes begin at the offset.
#[derive(Clone, Copy)]
struct Place<'m> {
    bytes: &'m [u8],
    offset: u64,
    ty: TypeRef,
}

impl Place<'_> {
    fn at(self, offset: u64, ty: TypeRef) -> Self {
        Self { offset: self.offset.saturating_add(offset), ty, ..self }
    }
}

#[derive(Clone, Copy)]
struct View<'v, 'a> {
    typed: &'v TypedValues<'a>,
    memory: Memory<'v, 'a>,
}

impl<'a> TypedValues<'a> {
    pub(in super::super) fn fields(
        &self,
        memory: Memory<'_, 'a>,
        object: ObjectId,
        ty: TypeId,
        each: &mut EachField<'_>,
    ) {
        let view = View { typed: self, memory };
        let Some((ty, is_array)) = self.of(ty) else { return };
        let place = Place { bytes: view.object(object), offset: 0, ty };
        let all = match self.parts.get(&ty) {
            Some(whole) => view.header(place, *whole, each),
            None if is_array && self.is_simple(ty) => ControlFlow::Continue(()),
            None if is_array => view.flatten_array(place, self.count(object), each),
            None if self.types.get(ty).is_none_or(|ty| ty.kind == Kind::Unknown) => {
                ControlFlow::Continue(())
            }
            None => view.flatten("", place, each),
        };
        // Nothing follows, so it does not matter whether the receiver stopped early.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = all;
    }

    pub(in super::super) fn array(&self, object: ObjectId, ty: TypeId) -> Option<Array> {
        let (ty, is_array) = self.of(ty)?;
        if ty == self.string {
            return Some(Array { length: self.count(object), element: "byte" });
        }
        is_array.then(|| Array { length: self.count(object), element: self.element_name(ty) })
    }

    /// Passes the elements of an array, except structs and arrays.
    pub(in super::super) fn elements(
        &self,
        memory: Memory<'_, 'a>,
        object: ObjectId,
        ty: TypeId,
        start: u64,
        each: &mut EachElement<'_>,
    ) {
        let view = View { typed: self, memory };
        let Some((ty, true)) = self.of(ty) else { return };
        let Some(size) =
            self.types.get(ty).map(|ty| ty.size).filter(|size| *size > 0 && self.is_simple(ty))
        else {
            return;
        };
        let bytes = view.object(object);
        for index in start..self.count(object) {
            let place = Place { bytes, offset: index.saturating_mul(size), ty };
            if view.scalar(place, &mut |value| each(index, value)).is_none_or(|all| all.is_break())
            {
                return;
            }
        }
    }

    /// Returns how many elements of a slice's array or a map are used.
    pub(in super::super) fn room(
        &self,
        memory: Memory<'_, 'a>,
        object: ObjectId,
        ty: TypeId,
    ) -> Option<Room> {
        let (ty, is_array) = self.of(ty)?;
        let view = View { typed: self, memory };
        if let Some(whole) = self.parts.get(&ty) {
            return view.map_room(object, *whole);
        }
        let size = self.types.get(ty)?.size;
        let capacity = self.count(object);
        let used = self.extents.used(object, capacity).filter(|_| is_array)?;
        Some(Room {
            is_collection: false,
            capacity,
            used,
            spare_bytes: capacity.saturating_sub(used).saturating_mul(size),
        })
    }

    fn of(&self, ty: TypeId) -> Option<(TypeRef, bool)> {
        self.of_type.get(ty.0 as usize).copied().flatten()
    }

    fn count(&self, object: ObjectId) -> u64 {
        self.counts.get(object.index()).copied().unwrap_or(0).into()
    }

    /// Whether a value of a type is one value, not made of parts.
    fn is_simple(&self, ty: TypeRef) -> bool {
        match self.types.get(ty) {
            Some(described) => {
                !matches!(described.kind, Kind::Struct { .. } | Kind::Array { .. })
                    || text::is_text(&described.name)
            }
            None => true,
        }
    }

    /// The name of elements in [`Array`]; those of a `[]uint8` are bytes, which may be text.
    fn element_name(&self, ty: TypeRef) -> &'static str {
        match self.types.get(ty).map(|ty| (&ty.kind, ty.size)) {
            Some((Kind::Number(1), _)) => "bool",
            Some((Kind::Number(8), _)) => "byte",
            Some((Kind::Number(2..=6), 1)) => "int8",
            Some((Kind::Number(2..=6), 2)) => "int16",
            Some((Kind::Number(2..=6), 4)) => "int32",
            Some((Kind::Number(2..=6), _)) => "int64",
            Some((Kind::Number(7..=12), 2)) => "uint16",
            Some((Kind::Number(7..=12), 4)) => "uint32",
            Some((Kind::Number(7..=12), _)) => "uint64",
            Some((Kind::Number(13), _)) => "float32",
            Some((Kind::Number(14), _)) => "float64",
            Some((Kind::String, _)) => "string",
            _ => "",
        }
    }

    /// The dynamic type of an interface value, by its first word.
    fn dynamic(&self, word: u64) -> Option<TypeRef> {
        let ty = self.itabs.get(&word).copied().unwrap_or(word);
        self.types.at(ty.wrapping_sub(self.shifts.types))
    }
}
