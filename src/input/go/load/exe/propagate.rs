//! Propagates types from values of known type to everything that these lead to.
//!
//! A work list has values: an address, a type, a count of consecutive values, and the source of the
//! type. Placing a value on an object types the object, if the type fits and is better than the
//! current one. The values that the object leads to are then added to the list.

mod chunk;
mod closures;
mod evidence;
mod follow;
mod frames;
mod judge;
mod lead;
mod library;
mod memory;
mod rounds;

use super::super::place::Placed;
use super::super::pointers::Reader;
use super::debug::{Debug, Global};
use super::extents::Extents;
use super::facts::Facts;
use super::hidden::AllTypes;
use super::objects::{Fit, Level, Objects, Typed};
use super::program::Program;
use super::shifts::Shifts;
use super::types::{TypeRef, Types};
use super::values::TypedValues;
use crate::input::go::phantoms::HEADER;
use crate::model::heap::ObjectId;
pub(super) use follow::Target;
use judge::{Judge, TypeFilter};
pub(super) use memory::{Ground, ObjectMemory};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Deref, DerefMut};

/// A value to place.
#[derive(Clone, Copy, Debug)]
struct Item {
    address: u64,
    ty: TypeRef,
    count: u64,
    level: Level,
    form: Form,
    /// The length of the slice that begins here; 0 if not needed.
    length: u32,
}

/// The relation of a value to the memory that it is placed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A part of the object, or all of it.
    Value,
    /// The array of a slice, so that a type without pointers may be repeated.
    Slice,
    /// The whole object, of which the runtime's type describes only the beginning.
    Whole,
    /// A closure, whose type is that of its function.
    Closure,
}

impl Item {
    fn one(address: u64, ty: TypeRef, level: Level) -> Self {
        Self { address, ty, count: 1, level, form: Form::Value, length: 0 }
    }

    /// Whether the value, `inside` bytes from an object's start, adds nothing to its type `old`.
    #[inline]
    fn is_known(&self, inside: u64, old: Option<&Typed>) -> bool {
        old.is_some_and(|old| {
            (old.ty, old.fit) == (self.ty, Fit::Exact)
                && old.level >= self.level
                && old.count >= self.count
                && inside <= HEADER
        })
    }

    /// Whether this is a value of a known type, at an address other than nil.
    fn is_value(&self) -> bool {
        self.address != 0 && self.count != 0 && self.ty != Types::UNKNOWN
    }
}

/// Values of a type in memory that has been read.
struct Values<'a> {
    bytes: &'a [u8],
    ty: TypeRef,
    count: u64,
    level: Level,
}

impl<'a> Values<'a> {
    fn of_object(memory: &ObjectMemory<'a>, typed: &Typed) -> Self {
        let level = typed.level.min(Level::Static);
        Self { bytes: memory.value(), ty: typed.ty, count: typed.count, level }
    }
}

pub(super) struct Propagation<'p, 's, 'd, 'a> {
    pub(super) judge: Judge<'p, 's, 'a>,
    pub(super) debug: Option<Debug<'d>>,
    facts: &'p Facts<'s, 'a>,
    pub(super) word: u64,
    /// Memory outside the heap: segments and frames, sorted by address.
    outside: Vec<(u64, &'a [u8])>,
    queue: Vec<Item>,
    seen: FxHashSet<(u64, TypeRef)>,
    extents: Extents,
    /// Scratch memory: the pointers of the current object.
    listed: Vec<u64>,
    /// Scratch memory: values inside the value that is being followed.
    open: Vec<(u64, TypeRef, u64)>,
}

impl<'p, 's, 'a> Deref for Propagation<'p, 's, '_, 'a> {
    type Target = Judge<'p, 's, 'a>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.judge
    }
}

impl DerefMut for Propagation<'_, '_, '_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.judge
    }
}

pub(super) struct Parts<'p, 's, 'd, 'a> {
    pub(super) program: &'p Program<'p>,
    pub(super) types: Types,
    pub(super) debug: Option<Debug<'d>>,
    pub(super) reader: &'p Reader<'s, 'a>,
    pub(super) placed: &'p Placed,
    pub(super) facts: &'p Facts<'s, 'a>,
    pub(super) shifts: Shifts,
    pub(super) is_bare: bool,
}

/// Bytes of the slots that small values without pointers share.
const TINY: u64 = 16;

impl<'p, 's, 'd, 'a> Propagation<'p, 's, 'd, 'a> {
    pub(super) fn new(parts: Parts<'p, 's, 'd, 'a>) -> Self {
        let Parts { program, types, debug, reader, placed, facts, shifts, is_bare } = parts;
        let word = program.image.pointer_size;
        let mut types = AllTypes::new(types, word);
        let mut special = |name: &str, size| types.add_made(name.to_owned(), size, Vec::new());
        let (string, tiny) = (special("string", 1), special("(tiny block)", TINY));
        let mut outside: Vec<(u64, &'a [u8])> =
            facts.segments().map(|segment| (segment.addr, segment.contents)).collect();
        outside.extend(facts.frames().map(|frame| (frame.sp, frame.contents)));
        let ends = facts.frames().map(|frame| frame.sp.saturating_add(frame.contents.len() as u64));
        let stacks =
            facts.frames().map(|frame| frame.sp).min().unwrap_or(0)..ends.max().unwrap_or(0);
        outside.sort_by_key(|(address, _)| *address);
        let timer = if program.at_least(23) { word } else { 0 };
        let judge = Judge {
            ground: Ground { reader, placed },
            program,
            types,
            objects: Objects::new(placed.sizes.len()),
            allocated_as: FxHashMap::default(),
            nodes: FxHashMap::default(),
            special: TypeFilter::default(),
            closures: FxHashMap::default(),
            itabs: facts
                .itabs
                .iter()
                .filter_map(|itab| Some((itab.addr, itab.dynamic_type?)))
                .collect(),
            shifts,
            string,
            tiny,
            is_bare,
            large_repeat: program.at_least(22),
            stacks,
            channel_type_at: word.wrapping_mul(3).wrapping_add(8).wrapping_add(timer),
            any_channel: None,
        };
        Self {
            judge,
            debug,
            facts,
            word,
            outside,
            queue: Vec::new(),
            seen: FxHashSet::default(),
            extents: Extents::new(placed.sizes.len()),
            listed: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Returns the data for decoding values, once all objects have their types.
    pub(super) fn into_values(self, of_type: Vec<Option<(TypeRef, bool)>>) -> TypedValues<'a> {
        let Judge { ground: Ground { reader, .. }, program, types, objects, shifts, .. } =
            self.judge;
        TypedValues {
            parts: types.wholes(),
            types: types.into_types(),
            of_type,
            string: self.judge.string,
            counts: objects.into_counts(),
            extents: self.extents.finish(),
            itabs: self.judge.itabs,
            shifts,
            words: reader.words,
            version: reader.survey.version,
            header_sizes: reader.header_sizes.clone(),
            outside: self.outside,
            constants: program.image.constants(shifts.types),
            functions: program.functions.named(&program.image),
            channel_type_at: self.judge.channel_type_at,
        }
    }

    pub(super) fn address_of(&self, global: &Global) -> u64 {
        let (start, end) = self.program.module.bss;
        let in_bss = (start..end).contains(&global.address);
        let shift = if in_bss { self.shifts.bss } else { self.shifts.data };
        global.address.wrapping_add(shift)
    }

    pub(super) fn facts(&self) -> &'p Facts<'s, 'a> {
        self.facts
    }

    /// The number of pointers in a value of a type. 0 if its layout was never needed.
    pub(super) fn known_pointers(&self, ty: TypeRef) -> usize {
        self.types.layouts.known(ty).map_or(0, |layout| layout.pointers.len())
    }

    /// The number of values that share objects with others, by name of their type.
    pub(super) fn tiny_values(&mut self) -> Vec<(String, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (ty, count) in std::mem::take(&mut self.objects.tiny).counts() {
            let name = self.types.get(ty).map_or(String::new(), |ty| ty.name.clone());
            let sum: &mut u64 = counts.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
        counts.into_iter().collect()
    }

    /// Adds a type that only consists of a name.
    pub(super) fn special(&mut self, name: &str) -> TypeRef {
        self.types.add_made(name.to_owned(), 1, Vec::new())
    }

    pub(super) fn add(&mut self, address: u64, ty: TypeRef, count: u64, level: Level) {
        let ty = self.allocated_as.get(&ty).copied().unwrap_or(ty);
        let item = Item { count, ..Item::one(address, ty, level) };
        if item.is_value() {
            self.queue.push(item);
        }
    }

    /// The memory of a segment or frame from an address on.
    fn outside_at(&self, address: u64) -> Option<&'a [u8]> {
        let after = self.outside.partition_point(|(start, _)| *start <= address);
        let &(start, bytes) = self.outside.get(after.checked_sub(1)?)?;
        let inside = usize::try_from(address.wrapping_sub(start)).ok()?;
        bytes.get(inside..).filter(|bytes| !bytes.is_empty())
    }

    fn place_outside(&mut self, item: &Item) {
        let Some(bytes) = self.outside_at(item.address) else { return };
        if self.leads(item.ty) && self.seen.insert((item.address, item.ty)) {
            self.visit(&Values { bytes, ty: item.ty, count: item.count, level: item.level });
        }
    }

    /// Assigns an object a type, if it is better than the current one, and follows the pointers of
    /// the object.
    pub(super) fn assign(&mut self, object: ObjectId, typed: Typed) {
        let Judge { objects, types, .. } = &mut self.judge;
        let (better, conflict) = objects.improve(object, typed, types);
        objects.conflicts = objects.conflicts.saturating_add(conflict.into());
        if better {
            self.visit_object(object, &typed);
        }
    }

    /// Follows everything to which an object of this type leads.
    fn visit_object(&mut self, object: ObjectId, typed: &Typed) {
        let memory = self.ground.read(object);
        self.visit(&Values::of_object(&memory, typed));
    }
}
