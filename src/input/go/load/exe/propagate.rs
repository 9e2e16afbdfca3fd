//! Types spread from what is known of them to all that it leads to.
//!
//! A work list of values: an address, a type, how many of them follow each other, and where the
//! knowledge comes from. Placing a value on an object types the object, if the type fits and is
//! better than the one before; the object's own values then go on the list.
//!
//! * `evidence`, `frames`: what begins the list: records of the dump, globals, words that look like
//!   interfaces; variables;
//! * `follow`: what a value leads to;
//! * `closures`, `library`: types that only functions or the library know;
//! * `memory`: the memory that types are placed on.

mod closures;
mod evidence;
mod follow;
mod frames;
mod library;
mod memory;

use super::super::place::Placed;
use super::super::pointers::{HEADER, Reader};
use super::debug::Debug;
use super::facts::Facts;
use super::hidden::{self, Hidden};
use super::layout::{Layout, Layouts};
use super::objects::{self, Fit, Level, Objects, Typed};
use super::program::Program;
use super::types::{TypeRef, Types};
use super::values::TypedValues;
use crate::model::heap::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A value to place.
struct Item {
    address: u64,
    of: TypeRef,
    count: u64,
    level: Level,
    /// It is the array of a slice, so that a type without pointers may be repeated.
    from_slice: bool,
}

/// Values of a type in memory that has been read.
struct Values<'a> {
    bytes: &'a [u8],
    of: TypeRef,
    count: u64,
    level: Level,
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
    facts: &'p Facts<'s, 'a>,
    slide: u64,
    pub(super) word: u64,
    /// Dynamic types by the address of their itab.
    itabs: FxHashMap<u64, u64>,
    /// Memory outside of the heap: segments and frames, sorted by address.
    outside: Vec<(u64, &'a [u8])>,
    queue: Vec<Item>,
    seen: FxHashSet<(u64, TypeRef)>,
    closures: FxHashMap<u64, TypeRef>,
    /// Types whose values are allocated as parts of others: since 1.23 a `time.Timer` is a
    /// `runtime.timeTimer`.
    allocated_as: FxHashMap<TypeRef, TypeRef>,
    /// Nodes of a `sync.Map` since 1.24: what they are if their first byte is set, and if it is
    /// not.
    nodes: FxHashMap<TypeRef, (TypeRef, TypeRef)>,
    /// Values without pointers, such as the bytes of strings.
    pub(super) string: TypeRef,
    tiny: TypeRef,
    /// The length of the longest slice that begins at an address.
    lengths: FxHashMap<u64, u32>,
    /// Pointers of the object at hand.
    listed: Vec<u64>,
    /// Values inside of the value that is followed.
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
    pub(super) slide: u64,
}

/// Values that are looked up together.
const BATCH: usize = 64;

/// Bytes of the slots that small values without pointers share.
const TINY: u64 = 16;

impl<'p, 's, 'd, 'a> Propagation<'p, 's, 'd, 'a> {
    pub(super) fn new(parts: Parts<'p, 's, 'd, 'a>) -> Self {
        let Parts { program, mut types, debug, reader, placed, facts, slide } = parts;
        let mut layouts = Layouts::default();
        let word = program.image.pointer_size;
        let mut special = |name: &str, size| {
            hidden::add(name.to_owned(), size, Vec::new(), Vec::new(), &mut types, &mut layouts)
        };
        let (string, tiny) = (special("string", 1), special("(tiny block)", TINY));
        let mut outside: Vec<(u64, &'a [u8])> =
            facts.segments().map(|segment| (segment.addr, segment.contents)).collect();
        outside.extend(facts.frames().map(|frame| (frame.sp, frame.contents)));
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
            facts,
            slide,
            word,
            itabs: facts
                .itabs
                .iter()
                .filter_map(|itab| Some((itab.addr, itab.dynamic_type?)))
                .collect(),
            outside,
            queue: Vec::new(),
            seen: FxHashSet::default(),
            closures: FxHashMap::default(),
            allocated_as: FxHashMap::default(),
            nodes: FxHashMap::default(),
            string,
            tiny,
            lengths: FxHashMap::default(),
            listed: Vec::new(),
            open: Vec::new(),
        }
    }

    /// What decoding values takes, once all objects have their types.
    pub(super) fn into_values(self, of_type: Vec<Option<(TypeRef, bool)>>) -> TypedValues<'a> {
        TypedValues {
            types: self.types,
            of_type,
            string: self.string,
            counts: self.objects.into_counts(),
            lengths: self.lengths,
            parts: self.hidden.wholes(),
            itabs: self.itabs,
            slide: self.slide,
            words: self.reader.words,
            version: self.reader.survey.version,
            smallest_with_header: self.reader.smallest_with_header,
            outside: self.outside,
            constants: self.program.image.constants(self.slide),
        }
    }

    pub(super) fn slide(&self) -> u64 {
        self.slide
    }

    pub(super) fn facts(&self) -> &'p Facts<'s, 'a> {
        self.facts
    }

    /// The number of pointers in a value of a type, as far as its layout was needed.
    pub(super) fn known_pointers(&self, of: TypeRef) -> usize {
        self.layouts.known(of).map_or(0, |layout| layout.pointers.len())
    }

    /// Values that share objects, by type, with their number.
    pub(super) fn tiny_values(&self) -> Vec<(String, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (_, of) in &self.objects.tiny {
            let name = self.types.get(*of).map_or(String::new(), |of| of.name.clone());
            let count: &mut u64 = counts.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        counts.into_iter().collect()
    }

    /// Adds a type that is nothing but a name.
    pub(super) fn special(&mut self, name: &str) -> TypeRef {
        hidden::add(name.to_owned(), 1, Vec::new(), Vec::new(), &mut self.types, &mut self.layouts)
    }

    pub(super) fn layout(&mut self, of: TypeRef) -> Rc<Layout> {
        self.layouts.of(of, &self.types, self.word)
    }

    /// Adds a value to the list.
    pub(super) fn add(&mut self, address: u64, of: TypeRef, count: u64, level: Level) {
        let of = self.allocated_as.get(&of).copied().unwrap_or(of);
        if address != 0 && count != 0 && of != Types::UNKNOWN {
            self.queue.push(Item { address, of, count, level, from_slice: false });
        }
    }

    fn add_slice(&mut self, address: u64, of: TypeRef, count: u64, level: Level) {
        if address != 0 && count != 0 && of != Types::UNKNOWN {
            self.queue.push(Item { address, of, count, level, from_slice: true });
        }
    }

    /// Works until nothing is left on the list.
    ///
    /// Values are anywhere in memory. Looking up the objects of many before reading any lets the
    /// processor wait for all of them at once, which halves the time.
    pub(super) fn drain(&mut self) {
        let mut batch: Vec<Item> = Vec::with_capacity(BATCH);
        let mut places: Vec<Option<(ObjectId, u64)>> = Vec::with_capacity(BATCH);
        while !self.queue.is_empty() {
            let rest = self.queue.len().saturating_sub(BATCH);
            batch.extend(self.queue.drain(rest..));
            places.extend(batch.iter().map(|item| self.reader.object_at(item.address)));
            for (object, _) in places.iter().flatten() {
                std::hint::black_box(self.touch(*object));
            }
            for (item, place) in batch.drain(..).zip(places.drain(..)).rev() {
                self.place(&item, place);
            }
        }
    }

    fn place(&mut self, item: &Item, place: Option<(ObjectId, u64)>) {
        if let Some(&(entry, indirect)) = self.nodes.get(&item.of) {
            let is_entry = self.byte(item.address);
            let of = if is_entry == Some(0) { indirect } else { entry };
            return self.place(&Item { of, ..*item }, place);
        }
        match place {
            Some((object, inside)) => self.place_on(object, inside, item),
            None => self.place_outside(item),
        }
    }

    fn place_outside(&mut self, item: &Item) {
        let after = self.outside.partition_point(|(address, _)| *address <= item.address);
        let Some(&(start, bytes)) =
            after.checked_sub(1).and_then(|before| self.outside.get(before))
        else {
            return;
        };
        let inside = item.address.wrapping_sub(start);
        let Some(bytes) = usize::try_from(inside)
            .ok()
            .and_then(|inside| bytes.get(inside..))
            .filter(|bytes| !bytes.is_empty())
        else {
            return;
        };
        if self.seen.insert((item.address, item.of)) {
            self.visit(&Values { bytes, of: item.of, count: item.count, level: item.level });
        }
    }

    fn place_on(&mut self, object: ObjectId, inside: u64, item: &Item) {
        let old = self.objects.get(object);
        let is_known = |old: &Typed| {
            (old.of, old.fit) == (item.of, Fit::Exact)
                && old.level >= item.level
                && old.count >= item.count
                && inside <= HEADER
        };
        if old.as_ref().is_some_and(is_known) {
            return;
        }
        let (contents, fields) = self.memory(object);
        let (header, _) = self.header(contents, fields.clone());
        let offset = inside.saturating_sub(header);
        let layout = self.layouts.of(item.of, &self.types, self.word);
        let size = contents.len() as u64;
        if size == TINY
            && layout.pointers.is_empty()
            && layout.size.saturating_mul(item.count) < TINY
            && fields.clone().next().is_none()
        {
            self.objects.tiny.insert((item.address, item.of));
            let typed = Typed { of: self.tiny, count: 1, fit: Fit::Exact, level: item.level };
            if old.is_none_or(|old| objects::compare(&typed, &old, &self.types).0) {
                self.objects.set(object, typed);
            }
            return;
        }
        if let Some(old) = old.filter(|_| offset > 0) {
            let size = self.types.get(old.of).map_or(0, |of| of.size);
            if offset < size.saturating_mul(old.count) && old.level >= item.level {
                return;
            }
        }
        self.listed.clear();
        self.listed.extend(fields.filter_map(|field| field.offset.checked_sub(header)));
        let repeats = header > 0 || size > 32768 && self.program.at_least(22);
        let slot = objects::Slot { size, header, pointers: &self.listed, repeats };
        let Some((fit, count)) = objects::fit(&slot, offset, &layout, item.count, item.from_slice)
        else {
            self.objects.rejected = self.objects.rejected.saturating_add(1);
            return;
        };
        if offset > 0 && fit != Fit::Array {
            // A value inside of an object: what it leads to is good to know, though not what the
            // object is.
            if self.seen.insert((item.address, item.of)) {
                let start = usize::try_from(inside).unwrap_or(usize::MAX);
                let bytes = contents.get(start..).unwrap_or_default();
                self.visit(&Values { bytes, of: item.of, count: item.count, level: item.level });
            }
            return;
        }
        self.assign(object, Typed { of: item.of, count, fit, level: item.level });
    }

    /// Gives an object a type, if that is better than the one it has, and follows what it leads to.
    pub(super) fn assign(&mut self, object: ObjectId, typed: Typed) {
        if let Some(old) = self.objects.get(object) {
            let (better, conflict) = objects::compare(&typed, &old, &self.types);
            self.objects.conflicts = self.objects.conflicts.saturating_add(conflict.into());
            if !better {
                return;
            }
        }
        self.objects.set(object, typed);
        let (contents, fields) = self.memory(object);
        let (header, _) = self.header(contents, fields);
        let bytes =
            contents.get(usize::try_from(header).unwrap_or(usize::MAX)..).unwrap_or_default();
        let level = typed.level.min(Level::Static);
        self.visit(&Values { bytes, of: typed.of, count: typed.count, level });
    }
}
