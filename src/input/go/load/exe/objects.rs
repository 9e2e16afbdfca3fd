//! The known type of each object, and tests whether a type fits an object.

use super::layout::Layout;
use super::size_classes::size_class;
use super::types::{Kind, TypeRef, Types};
use crate::model::heap::ObjectId;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A score for how well a type explains an object; larger is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The type agrees only with the beginning of the object's pointers.
    Partial,
    /// Repeated to the end of the object, the type explains all of its pointers.
    Array,
    /// The object has the size class and the pointers of the type.
    Exact,
}

/// The source of the type of an object, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Guess,
    /// A variable or a field has the type.
    Static,
    /// An interface or a record of the runtime states the type.
    Dynamic,
    /// The object's own malloc header states it.
    Header,
}

/// The type of an object: `count` values of a type one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) ty: TypeRef,
    pub(super) count: u64,
    pub(super) fit: Fit,
    pub(super) level: Level,
}

impl Typed {
    /// Whether the object holds several values. For strings, `count` is the number of bytes, but a
    /// string is one value.
    pub(super) fn is_array(&self, string: TypeRef) -> bool {
        self.ty != string && (self.count > 1 || self.fit == Fit::Array)
    }
}

/// The types of all objects: 8 bytes for each, stored together, because access is in random order.
///
/// Several threads may set types, but no two those of the same object. Relaxed atomic stores
/// compile to plain stores.
#[derive(Default)]
pub(super) struct Objects {
    list: Vec<Packed>,
    pub(super) tiny: Tiny,
    /// The number of objects that two unrelated types explain equally well.
    pub(super) conflicts: u64,
    /// The number of types that were rejected because an object's pointers contradict them.
    pub(super) rejected: u64,
}

/// A [`Typed`] in 8 bytes.
#[derive(Default)]
struct Packed {
    /// The type in the upper bits, then fit and level. 0 for objects without a type.
    ty: AtomicU32,
    count: AtomicU32,
}

impl Packed {
    fn store(&self, ty: u32, count: u32) {
        self.ty.store(ty, Relaxed);
        self.count.store(count, Relaxed);
    }
}

/// The number of bits below the type: two for the fit, which is never 0, and two for the level.
const RANK: u32 = 4;
/// The most types, as limited by the bits above the rank. Objects of further types stay untyped.
const MAX_TYPES: u32 = 1 << (u32::BITS - RANK);

impl Objects {
    pub(super) fn new(count: usize) -> Self {
        // In parallel, because the kernel takes most of the time to provide the memory.
        let list = (0..count).into_par_iter().map(|_| Packed::default()).collect();
        Self { list, ..Self::default() }
    }

    #[inline]
    pub(super) fn get(&self, object: ObjectId) -> Option<Typed> {
        let packed = self.list.get(object.index())?;
        let (ty, count) = (packed.ty.load(Relaxed), packed.count.load(Relaxed));
        let fit = match ty >> 2 & 3 {
            1 => Fit::Partial,
            2 => Fit::Array,
            3 => Fit::Exact,
            _ => return None,
        };
        let level = match ty & 3 {
            0 => Level::Guess,
            1 => Level::Static,
            2 => Level::Dynamic,
            _ => Level::Header,
        };
        Some(Typed { ty: TypeRef(ty >> RANK), count: count.into(), fit, level })
    }

    /// The objects that satisfy a condition, in their order.
    pub(super) fn select(&self, holds: impl Fn(ObjectId) -> bool + Sync) -> Vec<ObjectId> {
        let objects = (0..self.list.len()).into_par_iter().map(|row| ObjectId(row as u32));
        objects.filter(|object| holds(*object)).collect()
    }

    /// Returns the number of values in each object.
    pub(super) fn into_counts(self) -> Vec<u32> {
        self.list.into_iter().map(|packed| packed.count.into_inner()).collect()
    }

    pub(super) fn forget(&self, object: ObjectId) {
        if let Some(place) = self.list.get(object.index()) {
            place.store(0, 0);
        }
    }

    #[inline]
    pub(super) fn set(&self, object: ObjectId, typed: Typed) {
        if let Some(place) = self.list.get(object.index()).filter(|_| typed.ty.0 < MAX_TYPES) {
            let rank = (typed.fit as u32).wrapping_add(1) << 2 | typed.level as u32;
            let count = u32::try_from(typed.count).unwrap_or(u32::MAX);
            place.store(typed.ty.0 << RANK | rank, count);
        }
    }

    /// Sets the type of an object, if it is better than the current one. Returns whether it is, and
    /// whether the two contradict each other.
    pub(super) fn improve(&self, object: ObjectId, typed: Typed, types: &Types) -> (bool, bool) {
        let (better, conflict) = match self.get(object) {
            Some(old) => compare(&typed, &old, types),
            None => (true, false),
        };
        if better {
            self.set(object, typed);
        }
        (better, conflict)
    }
}

/// Values of less than 16 bytes without pointers, several of which share an object.
#[derive(Default)]
pub(super) struct Tiny {
    /// Type, object and offset, from the highest bit on. A value is listed once for each reference
    /// to it, until the list is sorted and deduplicated.
    list: Vec<u64>,
    /// The number of values after the list was last sorted.
    sorted: usize,
}

/// The number of values up to which the list is never sorted.
const FEW_TINY: usize = 1 << 16;

impl Tiny {
    /// Adds a value at an offset below 16 of an object.
    pub(super) fn add(&mut self, object: ObjectId, inside: u64, ty: TypeRef) {
        if ty.0 < MAX_TYPES {
            self.list.push(u64::from(ty.0) << 36 | u64::from(object.0) << 4 | inside & 15);
        }
        // Sorting at this rate costs as much as adding, and keeps the list within twice its size.
        if self.list.len() > self.sorted.max(FEW_TINY).saturating_mul(2) {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.list.par_sort_unstable();
        self.list.dedup();
        self.sorted = self.list.len();
    }

    pub(super) fn counts(mut self) -> Vec<(TypeRef, u64)> {
        self.sort();
        let same = self.list.chunk_by(|one, next| one >> 36 == next >> 36);
        same.filter_map(|values| {
            Some((TypeRef((values.first()? >> 36) as u32), values.len() as u64))
        })
        .collect()
    }
}

/// Returns whether `new` is a better type for an object than `old`, and whether the two contradict
/// each other.
pub(super) fn compare(new: &Typed, old: &Typed, types: &Types) -> (bool, bool) {
    if (new.fit, new.level) != (old.fit, old.level) {
        // A type that merely begins with the other one at the same offset does not contradict it.
        return ((new.fit, new.level) > (old.fit, old.level), false);
    }
    let (Some(new_type), Some(old_type)) = (types.get(new.ty), types.get(old.ty)) else {
        return (false, false);
    };
    let bytes = |typed: &Typed, size: u64| size.saturating_mul(typed.count);
    let (new_bytes, old_bytes) = (bytes(new, new_type.size), bytes(old, old_type.size));
    if new_bytes != old_bytes {
        return (new_bytes > old_bytes, false);
    }
    if new_type.name == old_type.name {
        return (false, false);
    }
    if begins_with(new.ty, old.ty, types) {
        return (true, false);
    }
    if begins_with(old.ty, new.ty, types) {
        return (false, false);
    }
    let named =
        |ty: &super::types::Type| ty.package.is_some() && matches!(ty.kind, Kind::Struct { .. });
    (named(new_type) && !named(old_type), new.fit == Fit::Exact)
}

/// Whether the first part of a value of a type is one of another type, at any depth.
fn begins_with(ty: TypeRef, first: TypeRef, types: &Types) -> bool {
    let mut ty = ty;
    for _ in 0..16 {
        let next = match types.get(ty).map(|ty| &ty.kind) {
            Some(Kind::Struct { fields }) => {
                fields.iter().find(|field| field.offset == 0).map(|field| field.ty)
            }
            Some(Kind::Array { element, .. }) => Some(*element),
            _ => None,
        };
        match next {
            Some(next) if next == first => return true,
            Some(next) => ty = next,
            None => return false,
        }
    }
    false
}

/// An object's slot, with the properties that decide whether a type fits.
pub(super) struct Slot<'o> {
    pub(super) size: u64,
    pub(super) header: u64,
    /// Offsets of its pointers, counted from after the header.
    pub(super) pointers: &'o [u64],
    /// Whether the pointers of the type repeat up to the end of the slot: true for objects with
    /// headers, and for large ones since 1.22.
    pub(super) repeats: bool,
}

/// The fit of `count` values of a type at an offset of an object. `None` if the object's pointers
/// contradict them.
pub(super) fn fit(
    slot: &Slot<'_>,
    offset: u64,
    layout: &Layout,
    count: u64,
    from_slice: bool,
) -> Option<(Fit, u64)> {
    let usable = slot.size.saturating_sub(slot.header);
    let bytes = layout.size.checked_mul(count)?;
    if layout.size == 0 || offset.checked_add(layout.size)? > usable {
        return None;
    }
    let fills = bytes <= usable && size_class(bytes.saturating_add(slot.header)) == slot.size;
    let from = slot.pointers.partition_point(|pointer| *pointer < offset);
    let listed = slot.pointers.get(from..)?;
    let pattern = &layout.pointers;
    let expected = pattern_at(pattern, layout.size, offset);
    let mut expected = expected.take_while(|expected| *expected < usable);
    if !layout.is_exact && !pattern.is_empty() {
        // Pointers that the collector does not know may be missing from the object's list.
        let all = listed.iter().all(|listed| expected.any(|expected| expected == *listed));
        let fit = if offset == 0 && fills { (Fit::Exact, count) } else { (Fit::Partial, 1) };
        return all.then_some(fit);
    }
    let matched =
        listed.iter().zip(expected).take_while(|(listed, expected)| **listed == *expected).count();
    let all = matched == listed.len();
    let of_value = (pattern.len() as u64).checked_mul(count)?;
    let complete = matched as u64 == of_value || matched as u64 > of_value && slot.repeats;
    if offset == 0 && all && complete && fills {
        return Some((Fit::Exact, count));
    }
    let most = usable.saturating_sub(offset).checked_div(layout.size)?;
    // Zero-filled room after the last value may have no pointers listed.
    let whole = matched.checked_rem(pattern.len().max(1)) == Some(0);
    if all && (whole || slot.repeats) && (!pattern.is_empty() || from_slice) {
        // A slice may begin inside an array. Then the values before it have the same type.
        let before = offset.checked_div(layout.size)?;
        let is_array = offset.checked_rem(layout.size) == Some(0)
            && pattern_at(pattern, layout.size, 0)
                .take_while(|expected| *expected < offset)
                .eq(slot.pointers.iter().take(from).copied());
        let count = if pattern.is_empty() { count.min(most) } else { most };
        let array = (Fit::Array, before.saturating_add(count));
        return Some(if is_array { array } else { (Fit::Partial, 1) });
    }
    let first = pattern.len();
    (matched >= first
        && (first > 0
            || listed.first().is_none_or(|pointer| *pointer >= offset.saturating_add(layout.size))))
    .then_some((Fit::Partial, 1))
}

/// The pointers of values one after the other, from an offset on.
fn pattern_at(pattern: &[u64], size: u64, offset: u64) -> impl Iterator<Item = u64> {
    // Without this, an empty pattern would be repeated in vain.
    let bases = (0u64..)
        .take_while(|_| !pattern.is_empty())
        .map(move |index| offset.wrapping_add(size.wrapping_mul(index)));
    bases.flat_map(move |base| pattern.iter().map(move |pointer| base.wrapping_add(*pointer)))
}
