//! Guesses types of objects that are not reached from anything with a type, if only one type fits.
//!
//! A type is a candidate for an object if size class and pointers agree exactly. A candidate is
//! plausible if the targets of its pointers, its lengths, its interface words and its truth values
//! are possible for a value of the type. If exactly one candidate is plausible, it is the guess. A
//! guess can lead to others, so this is repeated.

use super::layout::{Holds, Layout, Slot};
use super::objects::{self, Fit, Level, Objects, Typed};
use super::propagate::{ObjectMemory, Propagation};
use super::size_classes::size_class;
use super::types::{Kind, Type, TypeRef, is_swiss};
use crate::model::heap::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{Hash, Hasher};

/// The number of passes over all objects without a type.
const ROUNDS: usize = 4;
/// The most candidates of one shape that are tried.
const MAX_CANDIDATES: usize = 64;
/// The most pointers of an object for which a guess is made.
const MAX_POINTERS: usize = 1 << 12;
/// The number of elements of an array of pointers whose targets are compared.
const MAX_ELEMENTS: u64 = 64;

/// Candidates by the hash of size class and pointers.
type Candidates = FxHashMap<u64, Vec<TypeRef>>;

/// A hash of size and pointers. Types with equal hashes are compared in full.
fn shape(size: u64, pointers: &[u64]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    (size, pointers).hash(&mut hasher);
    hasher.finish()
}

impl Propagation<'_, '_, '_, '_> {
    /// Guesses types for objects that have none, and follows their pointers.
    pub(super) fn add_guesses(&mut self) {
        let candidates = self.candidates();
        let maps = self.maps();
        let headers =
            ["internal/runtime/maps.Map", "runtime.hmap"].map(|name| self.types.named(name));
        let unknown_map = self.special("map (type unknown)");
        for _ in 0..ROUNDS {
            let mut found = false;
            let is_open = |objects: &Objects, object| {
                objects.get(object).is_none_or(|typed| typed.ty == unknown_map)
            };
            let objects = &self.objects;
            for object in objects.select(|object| is_open(objects, object)) {
                if !is_open(&self.objects, object) {
                    continue;
                }
                let one = |ty| (ty, 1, Fit::Exact);
                let guess = self
                    .guess_map(object, &maps)
                    .or_else(|| self.guess(object, &candidates))
                    .map(one);
                if let Some((ty, count, fit)) = guess.or_else(|| self.guess_list(object)) {
                    let ty = if headers.contains(&Some(ty)) { unknown_map } else { ty };
                    let typed = Typed { ty, count, fit, level: Level::Guess };
                    if self.objects.get(object) != Some(typed) {
                        self.objects.forget(object);
                        self.assign(object, typed);
                        found = true;
                    }
                }
            }
            self.drain();
            if !found {
                break;
            }
        }
    }

    fn candidates(&mut self) -> Candidates {
        let mut candidates = Candidates::default();
        // Closures are recognized by their functions, and slots of maps are parts of groups. Shaped
        // types represent the types that they were generated for.
        let parts = self.map_slots();
        let is_composite = |number: TypeRef, ty: &Type| {
            matches!(ty.kind, Kind::Struct { .. } | Kind::Array { .. })
                && ty.mask.is_some()
                && !ty.name.starts_with("go.shape.")
                && !ty.name.starts_with("struct { F uintptr")
                && !ty.name.starts_with("struct { .F uintptr")
                && !parts.contains(&number)
        };
        let list: Vec<TypeRef> = self
            .types
            .iter()
            .filter(|(number, ty)| is_composite(*number, ty))
            .map(|(number, _)| number)
            .collect();
        for ty in list {
            let layout = self.types.layout(ty);
            if layout.pointers.is_empty() || layout.pointers.len() > MAX_POINTERS {
                continue;
            }
            // The object that each slot points to is compared with the element type of the slot.
            for slot in &layout.slots {
                let element = match slot.holds {
                    Holds::Pointer(element) | Holds::Slice(element) => element,
                    Holds::Array(element, _) => match self.types.target(element) {
                        Some(element) => element,
                        None => continue,
                    },
                    _ => continue,
                };
                self.types.layout(element);
            }
            let shape = shape(size_class(layout.size), &layout.pointers);
            candidates.entry(shape).or_default().push(ty);
        }
        candidates
    }

    /// The structs of a key and an element in the groups of maps, and the arrays of these structs.
    fn map_slots(&self) -> FxHashSet<TypeRef> {
        let slots = |(number, ty): (TypeRef, &Type)| {
            let fields = self.types.fields(number).iter().filter(|_| is_swiss(ty));
            let array = fields.into_iter().find(|it| it.name.eq_ignore_ascii_case("slots"))?.ty;
            match self.types.get(array)?.kind {
                Kind::Array { element, .. } => Some([array, element]),
                _ => None,
            }
        };
        self.types.iter().filter_map(slots).flatten().collect()
    }

    /// Map types by their groups. `None` if several maps have the same group.
    fn maps(&self) -> FxHashMap<TypeRef, Option<TypeRef>> {
        let mut maps = FxHashMap::default();
        for (map, ty) in self.types.iter() {
            if let Kind::Map { group, .. } = ty.kind {
                maps.entry(group).and_modify(|only| *only = None).or_insert(Some(map));
            }
        }
        maps
    }

    /// Guesses the type of a header, directory or table of a map whose groups are known.
    fn guess_map(
        &mut self,
        object: ObjectId,
        maps: &FxHashMap<TypeRef, Option<TypeRef>>,
    ) -> Option<TypeRef> {
        let (contents, fields) = self.ground.memory(object);
        let pointers: Vec<u64> = fields.take(MAX_POINTERS).map(|field| field.offset).collect();
        let known = |pointer: u64| {
            let (target, inside) =
                self.ground.object_at(self.ground.word_at(contents, pointer)?)?;
            self.objects.get(target).filter(|_| self.is_start(target, inside)).map(|typed| typed.ty)
        };
        let target = known(*pointers.first()?)?;
        let part_of = self.types.map_of(target);
        let map = part_of.or_else(|| *maps.get(&target)?)?;
        let swiss = part_of.is_some() || self.types.get(target).is_some_and(is_swiss);
        let same = pointers.iter().all(|pointer| known(*pointer) == Some(target));
        let header = self.types.header(map)?;
        let table = self.types.table(map);
        if swiss && target == table {
            let directory = self.types.directory(map);
            return same.then_some(directory);
        }
        let list: &[TypeRef] =
            if swiss && part_of.is_none() { &[header, table] } else { &[header] };
        list.iter().copied().find(|ty| {
            let layout = self.types.layout(*ty);
            *layout.pointers == *pointers && size_class(layout.size) == contents.len() as u64
        })
    }

    /// Guesses an array of pointers, if every word is a pointer and all targets have one type.
    fn guess_list(&mut self, object: ObjectId) -> Option<(TypeRef, u64, Fit)> {
        let ObjectMemory { contents, fields, header } = self.ground.read(object);
        let (mut next, mut element) = (header, None);
        let mut targets = 0u32;
        for field in fields.take(MAX_POINTERS) {
            if field.offset != next {
                return None;
            }
            next = next.wrapping_add(self.word);
            let address =
                self.ground.word_at(contents, field.offset).filter(|address| *address != 0);
            let Some(address) = address else { continue };
            let (target, inside) = self.ground.object_at(address)?;
            let typed = self
                .objects
                .get(target)
                .filter(|typed| typed.fit == Fit::Exact && self.is_start(target, inside))?;
            if *element.get_or_insert(typed.ty) != typed.ty {
                return None;
            }
            targets = targets.saturating_add(1);
        }
        // A single pointer is weak evidence, and a few pointers at the beginning of a larger struct
        // are not evidence.
        let words = (contents.len() as u64).saturating_sub(header).checked_div(self.word)?;
        let listed = next.wrapping_sub(header).checked_div(self.word)?;
        if targets < 2 || listed.saturating_mul(2) < words {
            return None;
        }
        let pointer = self.pointer_to(element?)?;
        Some((pointer, words, Fit::Array))
    }

    fn pointer_to(&mut self, element: TypeRef) -> Option<TypeRef> {
        let name = format!("*{}", self.types.get(element)?.name);
        if let Some(known) = self.types.named(&name) {
            return Some(known);
        }
        let pointer = self.types.add_pointer(name.clone(), element);
        self.types.set_name(name, pointer);
        Some(pointer)
    }

    fn guess(&mut self, object: ObjectId, candidates: &Candidates) -> Option<TypeRef> {
        let memory = self.ground.read(object);
        let contents = memory.contents;
        let pointers: Vec<u64> = memory.pointers().take(MAX_POINTERS).collect();
        if pointers.is_empty() || memory.header > 0 {
            return None;
        }
        let list = candidates.get(&shape(contents.len() as u64, &pointers))?;
        // The only plausible candidate that is not vague; failing that, the only vague one.
        let mut found: [Option<Option<TypeRef>>; 2] = [None; 2];
        for ty in list.iter().take(MAX_CANDIDATES) {
            let layout = self.types.layout(*ty);
            // In objects with pointers, the memory after the value is zero.
            let rest = usize::try_from(layout.size).ok().and_then(|size| contents.get(size..));
            if *layout.pointers != *pointers
                || rest.is_some_and(|rest| rest.iter().any(|byte| *byte != 0))
                || !self.is_plausible(contents, *ty, &layout)
            {
                continue;
            }
            let tier = usize::from(self.is_vague(contents, *ty, &layout));
            if let Some(found) = found.get_mut(tier) {
                *found = Some(if found.is_some() { None } else { Some(*ty) });
            }
        }
        let [checked, vague] = found;
        checked.or(vague).flatten()
    }

    /// Whether a candidate is weak evidence for an object: a pointer to memory of unknown type is
    /// not nil, or the candidate represents several types of the same shape.
    fn is_vague(&self, contents: &[u8], ty: TypeRef, layout: &Layout) -> bool {
        let is_unknown = |slot: &Slot| {
            slot.holds == Holds::Unknown && self.ground.word_at(contents, slot.offset) != Some(0)
        };
        layout.slots.iter().any(is_unknown)
            || self.types.get(ty).is_some_and(|ty| ty.name.contains("go.shape."))
    }

    /// The types that live words of a frame without a variable may point to, if exactly one fits.
    pub(super) fn guess_among(&mut self, address: u64, elements: &[TypeRef]) {
        let Some((object, 0)) = self.ground.object_at(address) else { return };
        if self.objects.get(object).is_some() {
            return;
        }
        let (contents, fields) = self.ground.memory(object);
        let pointers: Vec<u64> = fields.take(MAX_POINTERS).map(|field| field.offset).collect();
        if pointers.is_empty() {
            return;
        }
        let slot = objects::Slot {
            size: contents.len() as u64,
            header: 0,
            pointers: &pointers,
            repeats: false,
        };
        let mut only = None;
        for ty in elements {
            let layout = self.types.layout(*ty);
            let fits =
                objects::fit(&slot, 0, &layout, 1, false).filter(|(fit, _)| *fit != Fit::Partial);
            let Some((fit, count)) = fits.filter(|_| {
                !layout.pointers.is_empty() && self.is_plausible(contents, *ty, &layout)
            }) else {
                continue;
            };
            if only.is_some() {
                return;
            }
            only = Some(Typed { ty: *ty, count, fit, level: Level::Guess });
        }
        if let Some(typed) = only {
            self.assign(object, typed);
        }
    }

    pub(super) fn is_plausible(&self, contents: &[u8], ty: TypeRef, layout: &Layout) -> bool {
        let word = |offset: u64| self.ground.word_at(contents, offset).unwrap_or(0);
        let slots = layout.slots.iter().all(|slot| {
            let (first, second, third) = (
                word(slot.offset),
                slot.offset.wrapping_add(self.word),
                slot.offset.wrapping_add(self.word.wrapping_mul(2)),
            );
            match slot.holds {
                Holds::Pointer(element) => first == 0 || self.can_hold(first, element, 1),
                Holds::String => match (first, word(second)) {
                    (0, length) => length == 0,
                    (data, length) => self.has_room(data, length),
                },
                Holds::Slice(element) => {
                    let (length, capacity) = (word(second), word(third));
                    length <= capacity
                        && if first == 0 {
                            capacity == 0
                        } else {
                            self.can_hold(first, element, capacity)
                        }
                }
                Holds::Interface { has_methods } => match (first, word(second)) {
                    (0, data) => data == 0,
                    (table, _) => self.dynamic(table, has_methods).is_some(),
                },
                Holds::Reflected => first == 0 || self.dynamic(first, false).is_some(),
                Holds::Function => first == 0 || self.is_function(first),
                Holds::Map(map) => first == 0 || self.is_map(first, map),
                Holds::Channel(_) => {
                    first == 0 || self.ground.object_at(first).is_none_or(|(_, inside)| inside == 0)
                }
                Holds::Array(element, length) => match self.types.target(element) {
                    Some(element) => (0..length.min(MAX_ELEMENTS)).all(|index| {
                        let at = slot.offset.wrapping_add(index.wrapping_mul(self.word));
                        let target = word(at);
                        target == 0 || self.can_hold(target, element, 1)
                    }),
                    None => true,
                },
                _ => true,
            }
        });
        slots && self.has_truth_values(contents, ty)
    }

    /// Whether all truth values of a struct are 0 or 1.
    fn has_truth_values(&self, contents: &[u8], ty: TypeRef) -> bool {
        let is_bool =
            |ty| self.types.get(ty).is_some_and(|described| described.kind == Kind::Number(1));
        let byte = |offset| contents.get(usize::try_from(offset).ok()?);
        let mut bools = self.types.fields(ty).iter().filter(|field| is_bool(field.ty));
        bools.all(|field| byte(field.offset).is_none_or(|byte| *byte <= 1))
    }

    /// Whether `bytes` bytes fit in the object at an address. Known memory outside the heap counts.
    fn has_room(&self, address: u64, bytes: u64) -> bool {
        match self.ground.object_at(address) {
            Some((object, inside)) => inside.saturating_add(bytes) <= self.ground.size(object),
            None => self.is_known_memory(address),
        }
    }

    /// Whether an object has, from an offset on, exactly the pointers of a value of a type.
    fn has_pointers_of(&self, object: ObjectId, inside: u64, ty: TypeRef) -> bool {
        let Some(layout) = self.types.layouts.known(ty).filter(|layout| layout.is_exact) else {
            return true;
        };
        let (_, fields) = self.ground.memory(object);
        let end = inside.saturating_add(layout.size);
        let mut listed = fields
            .map(|field| field.offset)
            .skip_while(|offset| *offset < inside)
            .take_while(|offset| *offset < end)
            .map(|offset| offset.wrapping_sub(inside));
        layout.pointers.iter().all(|pointer| listed.next() == Some(*pointer))
            && listed.next().is_none()
    }

    fn can_hold(&self, address: u64, ty: TypeRef, count: u64) -> bool {
        let size = self.types.size(ty);
        if !self.has_room(address, size.saturating_mul(count)) {
            return false;
        }
        let Some((object, inside)) = self.ground.object_at(address) else { return true };
        if count > 0 && !self.has_pointers_of(object, inside, ty) {
            return false;
        }
        if !self.is_start(object, inside) {
            return true;
        }
        // A known object of the same size and another type is a contradiction.
        let known =
            self.objects.get(object).filter(|typed| typed.fit == Fit::Exact && typed.count == 1);
        known.is_none_or(|typed| {
            let (typed_size, package) =
                self.types.get(typed.ty).map_or((0, None), |ty| (ty.size, ty.package.as_ref()));
            typed.ty == ty || typed_size != size || package.is_none()
        })
    }
}
