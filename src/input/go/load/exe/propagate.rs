//! Types spread from what is known of them to all that it leads to.
//!
//! A work list of values: an address, a type, how many of them follow each other, and where the
//! knowledge comes from. Placing a value on an object types the object, if the type fits and is
//! better than the one before; the object's own values then go on the list.
//!
//! * `evidence`, `frames`: what begins the list: records of the dump, globals, words that look like
//!   interfaces; variables;
//! * `rounds`, `chunk`: work on the list, one chunk of the heap after the other;
//! * `judge`: what a value says of the object that it is placed on, and what it leads to;
//! * `follow`: the same where types have to be made;
//! * `closures`, `library`: types that only functions or the library know;
//! * `memory`: the memory that types are placed on.

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
use super::super::pointers::{HEADER, Reader};
use super::debug::{Debug, Global};
use super::extents::Extents;
use super::facts::Facts;
use super::hidden::{self, Hidden};
use super::layout::{Layout, Layouts};
use super::objects::{Fit, Level, Objects, Typed};
use super::program::Program;
use super::shifts::Shifts;
use super::types::{TypeRef, Types};
use super::values::TypedValues;
use crate::model::heap::ObjectId;
pub(super) use follow::Target;
use judge::{Judge, TypeFilter};
pub(super) use memory::Ground;
use memory::ObjectMemory;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// A value to place.
#[derive(Clone, Copy, Debug)]
struct Item {
    address: u64,
    ty: TypeRef,
    count: u64,
    level: Level,
    form: Form,
    /// The length of the slice that begins here; 0 if that is of no interest.
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
    /// One value.
    fn one(address: u64, ty: TypeRef, level: Level) -> Self {
        Self { address, ty, count: 1, level, form: Form::Value, length: 0 }
    }

    /// Whether the value is no news about an object of this type, this far from its start.
    #[inline]
    fn is_known(&self, inside: u64, old: Option<&Typed>) -> bool {
        old.is_some_and(|old| {
            (old.ty, old.fit) == (self.ty, Fit::Exact)
                && old.level >= self.level
                && old.count >= self.count
                && inside <= HEADER
        })
    }

    /// Whether there is a value of a known type.
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
    /// The values of an object.
    fn of_object(memory: &ObjectMemory<'a>, typed: &Typed) -> Self {
        let level = typed.level.min(Level::Static);
        Self { bytes: memory.value(), ty: typed.ty, count: typed.count, level }
    }
}

/// The spreading of types.
pub(super) struct Propagation<'p, 's, 'd, 'a> {
    pub(super) program: &'p Program<'p>,
    pub(super) types: Types,
    pub(super) layouts: Layouts,
    pub(super) hidden: Hidden,
    pub(super) debug: Option<Debug<'d>>,
    pub(super) objects: Objects,
    reader: &'p Reader<'s, 'a>,
    placed: &'p Placed,
    ground: Ground<'p, 's, 'a>,
    facts: &'p Facts<'s, 'a>,
    shifts: Shifts,
    /// That of functions.
    slide: u64,
    pub(super) word: u64,
    /// Dynamic types by the address of their itab.
    itabs: FxHashMap<u64, u64>,
    /// Memory outside the heap: segments and frames, sorted by address.
    outside: Vec<(u64, &'a [u8])>,
    /// From the lowest stack frame to the end of the highest.
    stacks: Range<u64>,
    queue: Vec<Item>,
    seen: FxHashSet<(u64, TypeRef)>,
    closures: FxHashMap<u64, TypeRef>,
    /// Types whose values are allocated as parts of others: since 1.23 a `time.Timer` is a
    /// `runtime.timeTimer`.
    allocated_as: FxHashMap<TypeRef, TypeRef>,
    /// Nodes of a `sync.Map` since 1.24: their type if their first byte is set, and if it is not.
    nodes: FxHashMap<TypeRef, (TypeRef, TypeRef)>,
    /// The type by which the runtime refers to any channel: `runtime.hchan`.
    any_channel: Option<TypeRef>,
    /// The types in the last three.
    special: TypeFilter,
    /// Values without pointers, such as the bytes of strings.
    pub(super) string: TypeRef,
    tiny: TypeRef,
    extents: Extents,
    /// Lengths of slices and values in shared blocks are not asked for.
    is_bare: bool,
    /// Pointers of the object at hand.
    listed: Vec<u64>,
    /// Pointers of a type go on to the end of objects above 32 KiB.
    large_repeat: bool,
    /// Values inside the value that is followed.
    open: Vec<(u64, TypeRef, u64)>,
}

/// The parts that a propagation is made of.
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
        let Parts { program, mut types, debug, reader, placed, facts, shifts, is_bare } = parts;
        let mut layouts = Layouts::default();
        let word = program.image.pointer_size;
        let mut special = |name: &str, size| {
            hidden::add(name.to_owned(), size, Vec::new(), Vec::new(), &mut types, &mut layouts)
        };
        let (string, tiny) = (special("string", 1), special("(tiny block)", TINY));
        let mut outside: Vec<(u64, &'a [u8])> =
            facts.segments().map(|segment| (segment.addr, segment.contents)).collect();
        outside.extend(facts.frames().map(|frame| (frame.sp, frame.contents)));
        let ends = facts.frames().map(|frame| frame.sp.saturating_add(frame.contents.len() as u64));
        let stacks =
            facts.frames().map(|frame| frame.sp).min().unwrap_or(0)..ends.max().unwrap_or(0);
        outside.sort_by_key(|(address, _)| *address);
        Self {
            program,
            types,
            layouts,
            hidden: Hidden::default(),
            debug,
            objects: Objects::new(placed.sizes.len()),
            reader,
            placed,
            ground: Ground { reader, placed },
            facts,
            shifts,
            slide: shifts.text,
            word,
            itabs: facts
                .itabs
                .iter()
                .filter_map(|itab| Some((itab.addr, itab.dynamic_type?)))
                .collect(),
            outside,
            stacks,
            queue: Vec::new(),
            seen: FxHashSet::default(),
            closures: FxHashMap::default(),
            allocated_as: FxHashMap::default(),
            nodes: FxHashMap::default(),
            any_channel: None,
            special: TypeFilter::default(),
            string,
            tiny,
            extents: Extents::new(placed.sizes.len()),
            is_bare,
            large_repeat: program.at_least(22),
            listed: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Returns the data for decoding values, once all objects have their types.
    pub(super) fn into_values(self, of_type: Vec<Option<(TypeRef, bool)>>) -> TypedValues<'a> {
        let channel_type_at = self.channel_type_at();
        TypedValues {
            types: self.types,
            of_type,
            string: self.string,
            counts: self.objects.into_counts(),
            extents: self.extents.finish(),
            parts: self.hidden.wholes(),
            itabs: self.itabs,
            shifts: self.shifts,
            words: self.reader.words,
            version: self.reader.survey.version,
            smallest_with_header: self.reader.smallest_with_header,
            outside: self.outside,
            constants: self.program.image.constants(self.shifts.types),
            functions: self.program.functions.named(&self.program.image),
            channel_type_at,
        }
    }

    /// The address in the process of a global.
    pub(super) fn address_of(&self, global: &Global) -> u64 {
        let (start, end) = self.program.module.bss;
        let in_bss = (start..end).contains(&global.address);
        let shift = if in_bss { self.shifts.bss } else { self.shifts.data };
        global.address.wrapping_add(shift)
    }

    pub(super) fn ground(&self) -> Ground<'p, 's, 'a> {
        self.ground
    }

    pub(super) fn facts(&self) -> &'p Facts<'s, 'a> {
        self.facts
    }

    /// The number of pointers in a value of a type, as far as its layout was needed.
    pub(super) fn known_pointers(&self, ty: TypeRef) -> usize {
        self.layouts.known(ty).map_or(0, |layout| layout.pointers.len())
    }

    /// Values that share objects, by type, with their number.
    pub(super) fn tiny_values(&mut self) -> Vec<(String, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (ty, count) in std::mem::take(&mut self.objects.tiny).counts() {
            let name = self.types.get(ty).map_or(String::new(), |ty| ty.name.clone());
            let sum: &mut u64 = counts.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
        counts.into_iter().collect()
    }

    /// Adds a type that is nothing but a name.
    pub(super) fn special(&mut self, name: &str) -> TypeRef {
        hidden::add(name.to_owned(), 1, Vec::new(), Vec::new(), &mut self.types, &mut self.layouts)
    }

    pub(super) fn layout(&mut self, ty: TypeRef) -> Arc<Layout> {
        self.layouts.of(ty, &self.types, self.word)
    }

    /// Adds a value to the list.
    pub(super) fn add(&mut self, address: u64, ty: TypeRef, count: u64, level: Level) {
        let ty = self.allocated_as.get(&ty).copied().unwrap_or(ty);
        let item = Item { count, ..Item::one(address, ty, level) };
        if item.is_value() {
            self.queue.push(item);
        }
    }

    fn judge(&self) -> Judge<'_, 'p, 's, 'a> {
        Judge {
            ground: self.ground,
            program: self.program,
            types: &self.types,
            layouts: &self.layouts,
            objects: &self.objects,
            hidden: &self.hidden,
            allocated_as: &self.allocated_as,
            nodes: &self.nodes,
            special: self.special,
            closures: &self.closures,
            itabs: &self.itabs,
            slide: self.slide,
            shifts: self.shifts,
            string: self.string,
            tiny: self.tiny,
            is_bare: self.is_bare,
            large_repeat: self.large_repeat,
            stacks: self.stacks.clone(),
            channel_type_at: self.channel_type_at(),
            any_channel: self.any_channel,
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
        let (better, conflict) = self.objects.improve(object, typed, &self.types);
        self.objects.conflicts = self.objects.conflicts.saturating_add(conflict.into());
        if better {
            self.visit_object(object, &typed);
        }
    }

    /// Follows everything that an object of this type leads to.
    fn visit_object(&mut self, object: ObjectId, typed: &Typed) {
        let memory = self.ground.read(object);
        self.visit(&Values::of_object(&memory, typed));
    }
}
