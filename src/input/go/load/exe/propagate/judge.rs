//! Checks a value against the memory that it is placed on, by the types known so far.
//!
//! Nothing is changed here, so that several threads judge values at a time.

use super::super::hidden::AllTypes;
use super::super::layout::{Holds, Layout};
use super::super::objects::{self, Fit, Level, Objects, Typed};
use super::super::program::Program;
use super::super::shifts::Shifts;
use super::super::size_classes::size_class;
use super::super::types::TypeRef;
use super::memory::{Ground, ObjectMemory};
use super::{Form, HEADER, Item, TINY, Values};
use crate::model::heap::ObjectId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The verdict on placing a value on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Known,
    Outside,
    /// The object's pointers contradict the value.
    Rejected,
    /// The value shares a block of 16 bytes with others.
    Tiny,
    Inside,
    /// The value is the whole object, or begins it.
    Fits(Typed),
    /// The layout of the value's type has not been made yet.
    Unprepared,
}

/// The work that remains after a part of a value was followed.
///
/// The values to which the part leads are not returned here but added to a list in place. Otherwise
/// each would be written in parts and immediately read as a whole, which stalls the processor.
#[derive(Clone, Copy)]
pub(super) enum Lead {
    Nothing,
    /// An interface that holds a value of this type in its data word.
    Inline(TypeRef),
    /// The part needs a type that has not been made yet.
    Unprepared,
}

pub(in super::super) struct Judge<'p, 's, 'a> {
    pub(in super::super) ground: Ground<'p, 's, 'a>,
    pub(in super::super) program: &'p Program<'p>,
    pub(in super::super) types: AllTypes,
    pub(in super::super) objects: Objects,
    /// Types whose values are allocated as parts of others: since 1.23 a `time.Timer` is a
    /// `runtime.timeTimer`.
    pub(super) allocated_as: FxHashMap<TypeRef, TypeRef>,
    /// Nodes of a `sync.Map` since 1.24: their type if their first byte is not 0, and if it is 0.
    pub(super) nodes: FxHashMap<TypeRef, (TypeRef, TypeRef)>,
    /// The types in `allocated_as` and `nodes`, and [`Self::any_channel`].
    pub(super) special: TypeFilter,
    pub(super) closures: FxHashMap<u64, TypeRef>,
    /// Dynamic types by the address of their itab.
    pub(super) itabs: FxHashMap<u64, u64>,
    pub(super) shifts: Shifts,
    /// The type of the bytes of strings.
    pub(in super::super) string: TypeRef,
    pub(super) tiny: TypeRef,
    /// Whether lengths of slices and values in shared blocks are not needed.
    pub(super) is_bare: bool,
    /// Whether the pointers of a type repeat to the end of objects larger than 32 KiB.
    pub(super) large_repeat: bool,
    /// The addresses from the lowest stack frame to the end of the highest.
    pub(super) stacks: Range<u64>,
    /// The offset of the element type in a channel: word count, word capacity, buffer, u16 element
    /// size, u32 closed, since 1.23 a timer, element type.
    pub(super) channel_type_at: u64,
    /// The type by which the runtime refers to any channel: `runtime.hchan`.
    pub(super) any_channel: Option<TypeRef>,
}

impl<'a> Judge<'_, '_, 'a> {
    /// Judges a value. `listed` is scratch memory for the pointers of the object.
    pub(super) fn judge(
        &self,
        item: &Item,
        place: Option<(ObjectId, u64)>,
        listed: &mut Vec<u64>,
    ) -> Verdict {
        let Some((object, inside)) = place else {
            let is_node = self.nodes.contains_key(&item.ty);
            return if is_node { Verdict::Unprepared } else { Verdict::Outside };
        };
        let old = self.objects.get(object);
        if item.is_known(inside, old.as_ref()) {
            return Verdict::Known;
        }
        // The channel itself is better evidence: it contains the type of its elements.
        if self.is_special(item.ty) && self.any_channel == Some(item.ty) {
            return Verdict::Known;
        }
        let memory = self.ground.read(object);
        let node = if self.is_special(item.ty) { self.nodes.get(&item.ty) } else { None };
        let ty = match (item.form, node) {
            (Form::Closure, _) => return self.closure(item, inside, &memory),
            (Form::Whole, _) if inside <= HEADER => return whole(item.ty, item.level),
            (Form::Whole, _) => return Verdict::Known,
            (_, None) => item.ty,
            (_, Some((entry, indirect))) => match memory.byte(inside) {
                Some(0) => *indirect,
                _ => *entry,
            },
        };
        let Some(layout) = self.types.layouts.known(ty) else { return Verdict::Unprepared };
        self.fits(item, (inside, ty), layout, (&memory, old), listed)
    }

    /// Judges whether values of a layout can be at a place in the memory of an object. `old` is the
    /// current type of the object.
    #[inline]
    fn fits(
        &self,
        item: &Item,
        (inside, ty): (u64, TypeRef),
        layout: &Layout,
        (memory, old): (&ObjectMemory<'a>, Option<Typed>),
        listed: &mut Vec<u64>,
    ) -> Verdict {
        let size = memory.contents.len() as u64;
        let is_plain = layout.pointers.is_empty();
        let bytes = layout.size.saturating_mul(item.count);
        if size == TINY && is_plain && bytes < TINY && !memory.has_pointers() {
            return Verdict::Tiny;
        }
        // Nearly all values fill an object of their size class.
        let class = if item.count == 1 { layout.class } else { size_class(bytes) };
        if (inside, size) == (0, class)
            && bytes > 0
            && (item.count == 1 || is_plain)
            && memory.header == 0
            && memory.fields.is_encoded_as(&layout.encoded)
        {
            let (count, level) = (item.count, item.level);
            return Verdict::Fits(Typed { ty, count, fit: Fit::Exact, level });
        }
        let offset = inside.saturating_sub(memory.header);
        let is_slice = item.form == Form::Slice;
        if let Some(old) = old.filter(|_| offset > 0) {
            let known = self.types.size(old.ty).saturating_mul(old.count);
            // Slices of one array may end at different places.
            let more = if is_slice && ty == old.ty { item.count } else { 0 };
            let end = offset.saturating_add(layout.size.saturating_mul(more));
            if offset < known && end <= known && old.level >= item.level {
                return Verdict::Known;
            }
        }
        listed.clear();
        listed.extend(memory.pointers());
        let repeats = memory.header > 0 || size > 32768 && self.large_repeat;
        let slot = objects::Slot { size, header: memory.header, pointers: listed, repeats };
        match objects::fit(&slot, offset, layout, item.count, is_slice) {
            None => Verdict::Rejected,
            Some((fit, _)) if offset > 0 && fit != Fit::Array && ty == item.ty => Verdict::Inside,
            Some((fit, _)) if offset > 0 && fit != Fit::Array => Verdict::Unprepared,
            Some((fit, count)) => {
                // A slice may have less capacity than its array has room; strings have no spare.
                let whole = size.saturating_sub(memory.header).checked_div(layout.size);
                let is_array = fit == Fit::Array && is_plain && ty != self.string;
                let count = if is_array { whole.unwrap_or(count) } else { count };
                Verdict::Fits(Typed { ty, count, fit, level: item.level })
            }
        }
    }

    /// Judges a closure by its function, whose entry is the first word.
    fn closure(&self, item: &Item, inside: u64, memory: &ObjectMemory<'a>) -> Verdict {
        let pc = self.ground.word_at(memory.contents, memory.header);
        match pc.filter(|_| inside <= HEADER) {
            None => Verdict::Known,
            Some(pc) => match self.closures.get(&pc.wrapping_sub(self.shifts.text)) {
                Some(ty) => whole(*ty, item.level),
                None => Verdict::Unprepared,
            },
        }
    }

    /// Adds everything to which values lead to `found`. Returns `false` and adds nothing if a type
    /// or layout is missing. `open` is scratch memory for values inside of others.
    pub(super) fn visit(
        &self,
        values: &Values<'a>,
        open: &mut Vec<(u64, TypeRef, u64)>,
        found: &mut Vec<Item>,
    ) -> bool {
        let before = found.len();
        open.clear();
        open.push((0, values.ty, values.count));
        while let Some((base, ty, count)) = open.pop() {
            if !self.visit_inside(values, (base, ty, count), open, found) {
                found.truncate(before);
                return false;
            }
        }
        true
    }

    /// Like [`Self::visit`], for values inside of others, but may add a part before it fails.
    fn visit_inside(
        &self,
        values: &Values<'a>,
        (base, ty, count): (u64, TypeRef, u64),
        open: &mut Vec<(u64, TypeRef, u64)>,
        found: &mut Vec<Item>,
    ) -> bool {
        let Some(layout) = self.types.layouts.known(ty) else { return false };
        if layout.size == 0 || layout.slots.is_empty() {
            return true;
        }
        let rest = (values.bytes.len() as u64).saturating_sub(base);
        let most = rest.checked_div(layout.size).unwrap_or(0);
        for index in 0..count.min(most) {
            let start = base.wrapping_add(layout.size.wrapping_mul(index));
            for part in &layout.slots {
                let offset = start.wrapping_add(part.offset);
                if let Holds::Array(element, length) = part.holds {
                    open.push((offset, element, length));
                    continue;
                }
                match self.lead(values, offset, part, found) {
                    Lead::Nothing => {}
                    // The data word of the interface is the value: a pointer or a struct of one.
                    Lead::Inline(ty) => {
                        open.push((offset.wrapping_add(self.ground.words().size), ty, 1));
                    }
                    Lead::Unprepared => return false,
                }
            }
        }
        true
    }

    /// Returns the end of a slice in an array of its elements, and the number of elements.
    pub(super) fn end(&self, item: &Item, object: ObjectId, inside: u64) -> Option<(u64, u64)> {
        if item.length == 0 || self.is_bare {
            return None;
        }
        let typed = self.objects.get(object)?;
        // The same type may come from a descriptor and from DWARF.
        let name = |ty| self.types.get(ty).map(|ty| &ty.name);
        if typed.ty != item.ty && name(typed.ty) != name(item.ty) {
            return None;
        }
        let size = self.types.size(typed.ty);
        let first =
            inside.saturating_sub(self.ground.header_of(object)).checked_div(size).unwrap_or(0);
        Some((first.saturating_add(item.length.into()), typed.count))
    }

    /// Whether a type may be one of the few that are placed as other types.
    pub(super) fn is_special(&self, ty: TypeRef) -> bool {
        self.special.may_contain(ty)
    }
}

/// A set of types that may contain more than was inserted: a Bloom filter of 64 bits, one per type.
/// With a few types in it, a lookup is cheaper than one in a hash table and rarely wrong.
#[derive(Clone, Copy, Default)]
pub(super) struct TypeFilter(u64);

impl TypeFilter {
    pub(super) fn insert(&mut self, ty: TypeRef) {
        self.0 |= 1u64.wrapping_shl(ty.0);
    }

    #[inline]
    fn may_contain(self, ty: TypeRef) -> bool {
        self.0 & 1u64.wrapping_shl(ty.0) != 0
    }
}

/// The verdict on an object whose whole type is known, from the runtime or its function.
fn whole(ty: TypeRef, level: Level) -> Verdict {
    Verdict::Fits(Typed { ty, count: 1, fit: Fit::Exact, level })
}
