//! Types spread from what is known of them to all that it leads to.
//!
//! A work list of values: an address, a type, how many of them follow each other, and where the knowledge comes from. Placing
//! a value on an object types the object, if the type fits and is better than the one before; the object's own values then go
//! on the list.

use super::super::place::Placed;
use super::super::pointers::{HEADER, Reader};
use super::debug::{Capture, Debug, Variable};
use super::facts::{Facts, Stack};
use super::hidden::{self, Hidden};
use super::layout::{Holds, Layout, Layouts, Slot as Part};
use super::objects::{self, Fit, Level, Objects, Typed};
use super::program::Program;
use super::types::{Field, Kind, TypeRef, Types};
use crate::bytes::Cursor;
use crate::input::go::fields::Fields;
use crate::input::go::goroutine::StackFrame;
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
    /// Types whose values are allocated as parts of others: since 1.23 a `time.Timer` is a `runtime.timeTimer`.
    allocated_as: FxHashMap<TypeRef, TypeRef>,
    /// Nodes of a `sync.Map` since 1.24: what they are if their first byte is set, and if it is not.
    nodes: FxHashMap<TypeRef, (TypeRef, TypeRef)>,
    /// Values without pointers, such as the bytes of strings.
    string: TypeRef,
    tiny: TypeRef,
    /// Pointers of the object at hand.
    listed: Vec<u64>,
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

/// Bytes of the slots that small values without pointers share.
const TINY: u64 = 16;

impl<'p, 's, 'd, 'a> Propagation<'p, 's, 'd, 'a> {
    pub(super) fn new(parts: Parts<'p, 's, 'd, 'a>) -> Self {
        let Parts { program, mut types, debug, reader, placed, facts, slide } = parts;
        let mut layouts = Layouts::default();
        let word = program.image.pointer_size;
        let mut special = |name: &str, size| hidden::add(name.to_owned(), size, Vec::new(), Vec::new(), &mut types, &mut layouts);
        let (string, tiny) = (special("string", 1), special("(tiny block)", TINY));
        let mut outside: Vec<(u64, &'a [u8])> = facts.segments().map(|segment| (segment.addr, segment.contents)).collect();
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
            itabs: facts.itabs.iter().filter_map(|itab| Some((itab.addr, itab.dynamic_type?))).collect(),
            outside,
            queue: Vec::new(),
            seen: FxHashSet::default(),
            closures: FxHashMap::default(),
            allocated_as: FxHashMap::default(),
            nodes: FxHashMap::default(),
            string,
            tiny,
            listed: Vec::new(),
        }
    }

    pub(super) fn slide(&self) -> u64 {
        self.slide
    }

    pub(super) fn facts(&self) -> &'p Facts<'s, 'a> {
        self.facts
    }

    /// How many pointers a value of a type has, as far as its layout was needed.
    pub(super) fn known_pointers(&self, of: TypeRef) -> usize {
        self.layouts.known(of).map_or(0, |layout| layout.pointers.len())
    }

    /// Values that share objects, by type, with their number.
    pub(super) fn tiny_values(&self) -> Vec<(String, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (_, of) in self.objects.tiny.keys() {
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

    pub(super) fn object_count(&self) -> usize {
        self.placed.sizes.len()
    }

    pub(super) fn layout(&mut self, of: TypeRef) -> Rc<Layout> {
        self.layouts.of(of, &self.types, self.word)
    }

    pub(super) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        self.reader.object_at(address)
    }

    /// Whether an offset is that of an object's first value: behind its malloc header, if it has one.
    pub(super) fn is_start(&self, object: ObjectId, inside: u64) -> bool {
        let (contents, fields) = self.memory(object);
        inside == self.header(contents, fields).0
    }

    pub(super) fn word_at(&self, contents: &[u8], offset: u64) -> Option<u64> {
        self.reader.words.at(contents, offset)
    }

    /// Whether an address lies in a segment, a frame or the executable.
    pub(super) fn is_known_memory(&self, address: u64) -> bool {
        let after = self.outside.partition_point(|(start, _)| *start <= address);
        let before = after.checked_sub(1).and_then(|before| self.outside.get(before));
        before.is_some_and(|(start, bytes)| address.wrapping_sub(*start) < bytes.len() as u64)
            || self.program.image.contains(address.wrapping_sub(self.slide))
    }

    /// Whether an address is that of a closure: its first word is the entry of a function.
    pub(super) fn is_function(&self, address: u64) -> bool {
        let pc = match self.object_at(address) {
            Some((object, inside)) => self.word_at(self.memory(object).0, inside),
            None => self.program.image.word(address.wrapping_sub(self.slide)).map(|pc| pc.wrapping_add(self.slide)),
        };
        let entry = pc.map(|pc| pc.wrapping_sub(self.slide));
        entry.is_some_and(|entry| self.program.is_entry(entry))
    }

    /// Whether an address is that of an object as large as the header of a map.
    pub(super) fn is_map(&self, address: u64, map: TypeRef) -> bool {
        let Some((object, 0)) = self.object_at(address) else { return self.is_known_memory(address) };
        let swiss = self.group(map).and_then(|group| self.types.get(group)).is_some_and(hidden::is_swiss);
        let size = match (swiss, self.word) {
            (_, 8) => 48,
            (true, _) => 32,
            (false, _) => 28,
        };
        self.memory(object).0.len() as u64 == objects::size_class(size)
    }

    /// The type whose descriptor was at an address of the process.
    fn type_at(&self, address: u64) -> Option<TypeRef> {
        self.types.at(address.wrapping_sub(self.slide))
    }

    /// Contents of an object and the encoded list of its pointers.
    pub(super) fn memory(&self, object: ObjectId) -> (&'a [u8], Fields<'a>) {
        let row = object.index();
        let mut rest = Cursor::at(self.reader.bytes, self.placed.positions.get(row));
        let contents = rest.take(self.placed.sizes.get(row), "an object").unwrap_or_default();
        (contents, Fields::new(rest.rest(), self.reader.survey.version))
    }

    /// The malloc header of an object, if it has one: its bytes and the type that it says.
    pub(super) fn header(&self, contents: &[u8], mut fields: Fields<'a>) -> (u64, Option<u64>) {
        if !self.reader.may_have_header(contents.len() as u64) {
            return (0, None);
        }
        let first = fields.next().filter(|field| field.offset >= HEADER);
        let address = first.and_then(|_| self.reader.words.at(contents, 0)).filter(|address| *address != 0);
        // Only objects with pointers have headers.
        (if address.is_some() { HEADER } else { 0 }, address)
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
    pub(super) fn drain(&mut self) {
        while let Some(item) = self.queue.pop() {
            self.place(&item);
        }
    }

    fn place(&mut self, item: &Item) {
        if let Some(&(entry, indirect)) = self.nodes.get(&item.of) {
            let is_entry = self.byte(item.address);
            let of = if is_entry == Some(0) { indirect } else { entry };
            return self.place(&Item { of, ..*item });
        }
        match self.reader.object_at(item.address) {
            Some((object, inside)) => self.place_on(object, inside, item),
            None => self.place_outside(item),
        }
    }

    /// The byte at an address of the heap.
    fn byte(&self, address: u64) -> Option<u8> {
        let (object, inside) = self.reader.object_at(address)?;
        self.memory(object).0.get(usize::try_from(inside).ok()?).copied()
    }

    fn place_outside(&mut self, item: &Item) {
        let after = self.outside.partition_point(|(address, _)| *address <= item.address);
        let Some(&(start, bytes)) = after.checked_sub(1).and_then(|before| self.outside.get(before)) else { return };
        let inside = item.address.wrapping_sub(start);
        let Some(bytes) = usize::try_from(inside).ok().and_then(|inside| bytes.get(inside..)).filter(|bytes| !bytes.is_empty())
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
            (old.of, old.fit) == (item.of, Fit::Exact) && old.level >= item.level && old.count >= item.count && inside <= HEADER
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
            self.objects.tiny.insert((item.address, item.of), object);
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
        let Some((fit, count)) = objects::fit(&slot, offset, &layout, item.count, item.from_slice) else {
            self.objects.rejected = self.objects.rejected.saturating_add(1);
            return;
        };
        if offset > 0 && fit != Fit::Array {
            // A value inside of an object: what it leads to is good to know, though not what the object is.
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
        let bytes = contents.get(usize::try_from(header).unwrap_or(usize::MAX)..).unwrap_or_default();
        let level = typed.level.min(Level::Static);
        self.visit(&Values { bytes, of: typed.of, count: typed.count, level });
    }

    /// Follows everything that values lead to.
    fn visit(&mut self, values: &Values<'a>) {
        let mut open = vec![(0u64, values.of, values.count)];
        while let Some((base, of, count)) = open.pop() {
            let layout = self.layouts.of(of, &self.types, self.word);
            if layout.size == 0 || layout.slots.is_empty() {
                continue;
            }
            let most = (values.bytes.len() as u64).saturating_sub(base).checked_div(layout.size).unwrap_or(0);
            for index in 0..count.min(most) {
                let start = base.wrapping_add(layout.size.wrapping_mul(index));
                for part in &layout.slots {
                    let offset = start.wrapping_add(part.offset);
                    match part.holds {
                        Holds::Array(element, length) => open.push((offset, element, length)),
                        _ => {
                            let inline = self.follow(values, offset, part);
                            open.extend(inline.map(|of| (offset.wrapping_add(self.word), of, 1)));
                        }
                    }
                }
            }
        }
    }

    /// Follows one slot. Returns the type of a value that an interface holds in its data word itself.
    fn follow(&mut self, values: &Values<'a>, offset: u64, part: &Part) -> Option<TypeRef> {
        let word = |number: i64| {
            let at = offset.wrapping_add_signed(number.wrapping_mul(self.word as i64));
            self.reader.words.at(values.bytes, at)
        };
        let target = word(0)?;
        if target == 0 {
            return None;
        }
        let level = values.level;
        match part.holds {
            Holds::Pointer(element) => self.add(target, element, 1, level),
            Holds::String => {
                let length = word(1)?;
                self.add_slice(target, self.string, length, level);
            }
            Holds::Slice(element) => {
                let capacity = word(2)?;
                self.add_slice(target, element, capacity, level);
            }
            Holds::Map(map) => self.map(target, map, level),
            Holds::Channel(channel) => {
                let of = self.hidden.channel(channel, &mut self.types, &mut self.layouts, self.word);
                self.put(target, of, level);
            }
            Holds::Function => self.function(target, level),
            Holds::Interface { has_methods } => {
                let data = word(1)?;
                let of = self.dynamic(target, has_methods)?;
                if self.types.get(of)?.direct {
                    return Some(of);
                }
                self.add(data, of, 1, level.max(Level::Dynamic));
            }
            Holds::Counted(element) => {
                let count = word(1)?;
                self.add_slice(target, element, count, level);
            }
            Holds::Directory(map) => {
                let length = word(1)?;
                let group = self.group(map)?;
                match length {
                    0 => self.add(target, group, 1, level),
                    length => {
                        let of = self.hidden.directory(map, &mut self.types, &mut self.layouts, self.word);
                        self.add_slice(target, of, length, level);
                    }
                }
            }
            Holds::Groups(map) => {
                let mask = self.reader.words.at(values.bytes, offset.wrapping_add(self.word))?;
                let group = self.group(map)?;
                self.add_slice(target, group, mask.saturating_add(1), level);
            }
            Holds::Buckets(map, old) => {
                let logarithm = *values.bytes.get(usize::try_from(self.word.wrapping_add(1)).ok()?)?;
                let count = 1u64.checked_shl(logarithm.into())?;
                let group = self.group(map)?;
                self.add_slice(target, group, if old { count.div_ceil(2) } else { count }, level);
            }
            Holds::Overflow(map) => {
                let group = self.group(map)?;
                let of = self.hidden.overflow(map, group, &mut self.types, &mut self.layouts, self.word);
                self.add(target, of, 1, level);
            }
            Holds::Buffer(channel) => {
                let capacity = word(-1)?;
                if let Kind::Channel { element } = self.types.get(channel)?.kind {
                    self.add_slice(target, element, capacity, level);
                }
            }
            Holds::Array(..) | Holds::Unknown => {}
        }
        None
    }

    fn group(&self, map: TypeRef) -> Option<TypeRef> {
        match self.types.get(map)?.kind {
            Kind::Map { group, .. } => Some(group),
            _ => None,
        }
    }

    fn map(&mut self, address: u64, map: TypeRef, level: Level) {
        let Some(group) = self.group(map).and_then(|group| self.types.get(group)) else { return };
        let swiss = hidden::is_swiss(group);
        let of = self.hidden.header(map, swiss, &mut self.types, &mut self.layouts, self.word);
        self.add(address, of, 1, level);
    }

    /// Types an object by what the runtime keeps there, whose pointers no type describes.
    fn put(&mut self, address: u64, of: TypeRef, level: Level) {
        match self.reader.object_at(address) {
            Some((object, inside)) if inside <= HEADER => self.assign(object, Typed { of, count: 1, fit: Fit::Exact, level }),
            Some(_) => {}
            None => self.place_outside(&Item { address, of, count: 1, level, from_slice: false }),
        }
    }

    /// The dynamic type of an interface value, by its first word.
    pub(super) fn dynamic(&self, word: u64, has_methods: bool) -> Option<TypeRef> {
        if !has_methods {
            return self.type_at(word);
        }
        let known = self.itabs.get(&word).copied();
        let stored =
            || self.program.image.word(word.wrapping_sub(self.slide).wrapping_add(self.word)).map(|of| of.wrapping_add(self.slide));
        self.type_at(known.or_else(stored)?)
    }

    /// Types a closure by the function that it calls.
    fn function(&mut self, address: u64, level: Level) {
        let Some((object, inside)) = self.reader.object_at(address) else { return };
        if inside > HEADER {
            return;
        }
        let (contents, fields) = self.memory(object);
        let (header, _) = self.header(contents, fields);
        let Some(pc) = self.reader.words.at(contents, header) else { return };
        let (_, fields) = self.memory(object);
        let pointers: Vec<u64> = fields.filter_map(|field| field.offset.checked_sub(header)).collect();
        if let Some(of) = self.closure(pc, contents, &pointers) {
            self.assign(object, Typed { of, count: 1, fit: Fit::Exact, level });
        }
    }

    /// The type of closures of the function that begins at an address of the process.
    fn closure(&mut self, pc: u64, contents: &[u8], pointers: &[u64]) -> Option<TypeRef> {
        let entry = pc.wrapping_sub(self.slide);
        if let Some(known) = self.closures.get(&entry) {
            return Some(*known);
        }
        let (start, name) = self.program.functions.at(&self.program.image, entry)?;
        if start != entry {
            return None;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        let captures = match (&mut self.debug, name.strip_suffix("-fm")) {
            (_, Some(method)) => self.receiver(method).into_iter().collect(),
            (Some(debug), None) => debug.captures(entry, &mut self.types),
            (None, None) => Vec::new(),
        };
        let captures = match captures.is_empty() {
            true => self.described_captures(entry, contents, pointers),
            false => captures,
        };
        let of = self.closure_type(&name, &captures, contents.len() as u64);
        self.closures.insert(entry, of);
        Some(of)
    }

    /// What a method value captures: its receiver, behind the program counter.
    fn receiver(&self, method: &str) -> Option<Capture> {
        let (of, _) = method.rsplit_once('.')?;
        let name = match of.split_once("(*") {
            Some((package, name)) => format!("*{package}{}", name.strip_suffix(')')?),
            None => of.to_owned(),
        };
        Some(Capture { name: "receiver".to_owned(), of: self.types.named(&name)?, offset: self.word })
    }

    /// Where DWARF does not say what a closure captures (up to Go 1.22, or without DWARF), the descriptor of a struct may: a
    /// program counter, followed by the variables. With DWARF their types have to be among those of the function's variables;
    /// without, exactly one such struct has to be plausible.
    fn described_captures(&mut self, entry: u64, contents: &[u8], pointers: &[u64]) -> Vec<Capture> {
        if contents.len() as u64 <= self.word || self.debug.is_some() && self.program.at_least(23) {
            return Vec::new();
        }
        let variables = self.debug.as_mut().map(|debug| debug.variable_types(entry, &mut self.types));
        let is_captured = |of: TypeRef| {
            variables.as_ref().is_none_or(|variables| variables.contains(&of) || self.is_reference_to_any(of, variables))
        };
        let fits = |of: &super::types::Type| match &of.kind {
            Kind::Struct { fields } if of.name.starts_with("struct { F uintptr") || of.name.starts_with("struct { .F uintptr") => {
                objects::size_class(of.size) == contents.len() as u64 && fields.iter().skip(1).all(|field| is_captured(field.of))
            }
            _ => false,
        };
        let candidates: Vec<TypeRef> = self.types.iter().filter(|(_, of)| fits(of)).map(|(number, _)| number).collect();
        let mut plausible = Vec::new();
        for of in candidates {
            let layout = self.layout(of);
            if *layout.pointers == *pointers && self.is_plausible(contents, of, &layout) {
                plausible.push(of);
            }
        }
        let chosen = match plausible.as_slice() {
            [only] => Some(*only),
            [first, ..] if variables.is_some() => Some(*first),
            _ => None,
        };
        let Some(Kind::Struct { fields }) = chosen.and_then(|of| self.types.get(of)).map(|of| &of.kind) else { return Vec::new() };
        fields.iter().skip(1).map(|field| Capture { name: field.name.to_string(), of: field.of, offset: field.offset }).collect()
    }

    /// Whether a type is a pointer to one of these: variables that a closure changes are captured by reference.
    fn is_reference_to_any(&self, of: TypeRef, variables: &[TypeRef]) -> bool {
        matches!(self.types.get(of).map(|of| &of.kind), Some(Kind::Pointer { element }) if variables.contains(element))
    }

    fn closure_type(&mut self, name: &str, captures: &[Capture], size: u64) -> TypeRef {
        let mut slots = Vec::new();
        let mut pointers = Vec::new();
        let mut end = self.word;
        for capture in captures {
            let layout = self.layouts.of(capture.of, &self.types, self.word);
            let at = |part: &Part| Part { offset: part.offset.wrapping_add(capture.offset), holds: part.holds };
            slots.extend(layout.slots.iter().map(at));
            pointers.extend(layout.pointers.iter().map(|pointer| pointer.wrapping_add(capture.offset)));
            end = end.max(capture.offset.saturating_add(layout.size));
        }
        let size = if captures.is_empty() { size } else { end };
        let field = |capture: &Capture| Field { name: capture.name.as_str().into(), of: capture.of, offset: capture.offset };
        let fields = captures.iter().map(field).collect();
        hidden::add_fields(format!("func {name}"), size, fields, slots, pointers, &mut self.types, &mut self.layouts)
    }

    /// Prepares what the library hides behind unsafe pointers.
    pub(super) fn add_library(&mut self) {
        if self.program.at_least(23)
            && let Some(timer) = self.named("runtime.timeTimer")
        {
            for name in ["time.Timer", "time.Ticker"] {
                let of = self.named(name);
                self.allocated_as.extend(of.map(|of| (of, timer)));
            }
        }
        let prefix = "internal/sync.node[";
        let names: Vec<String> = match &self.debug {
            Some(debug) => debug.struct_names(prefix),
            None => self.types.iter().map(|(_, of)| &of.name).filter(|name| name.starts_with(prefix)).cloned().collect(),
        };
        for name in names {
            let other = |kind: &str| name.replacen(prefix, &format!("internal/sync.{kind}["), 1);
            if let (Some(node), Some(entry), Some(indirect)) =
                (self.named(&name), self.named(&other("entry")), self.named(&other("indirect")))
            {
                self.nodes.insert(node, (entry, indirect));
            }
        }
        if let (Some(pool), Some(local)) = (self.named("sync.Pool"), self.named("sync.poolLocal"))
            && let Some(Kind::Struct { fields }) = self.types.get(pool).map(|of| of.kind.clone())
        {
            let layout = self.layouts.of(pool, &self.types, self.word);
            let hidden = fields.iter().filter(|field| matches!(&*field.name, "local" | "victim"));
            let hidden = hidden.map(|field| Part { offset: field.offset, holds: Holds::Counted(local) });
            let slots = layout.slots.iter().copied().chain(hidden).collect();
            self.layouts.set(pool, super::layout::Layout { slots, ..(*layout).clone() });
        }
    }

    /// A type of the runtime or the library by its name.
    fn named(&mut self, name: &str) -> Option<TypeRef> {
        self.types.named(name).or_else(|| self.debug.as_mut()?.named(name, &mut self.types))
    }

    fn add_known(&mut self, address: u64, of: Option<TypeRef>) {
        if let Some(of) = of {
            self.add(address, of, 1, Level::Dynamic);
        }
    }

    /// The value of a dynamic type that the data word of an interface leads to, or is.
    fn value(&mut self, of: TypeRef, data: u64) {
        let Some(described) = self.types.get(of) else { return };
        match (described.direct, &described.kind) {
            (false, _) => self.add(data, of, 1, Level::Dynamic),
            (true, Kind::Pointer { element }) => {
                let element = *element;
                self.add(data, element, 1, Level::Dynamic);
            }
            (true, Kind::Map { .. }) => self.map(data, of, Level::Dynamic),
            (true, Kind::Function) => self.function(data, Level::Dynamic),
            (true, Kind::Channel { .. }) => {
                let of = self.hidden.channel(of, &mut self.types, &mut self.layouts, self.word);
                self.put(data, of, Level::Dynamic);
            }
            (true, _) => {}
        }
    }

    /// Looks for interface values where no type says what there is: in objects without a type, in segments and in frames.
    pub(super) fn add_interfaces(&mut self) {
        for row in 0..self.placed.sizes.len() {
            let object = ObjectId(row as u32);
            if self.objects.get(object).is_none() {
                let (contents, fields) = self.memory(object);
                let (header, _) = self.header(contents, fields.clone());
                fields.filter(|field| field.offset > header).for_each(|field| self.interface(contents, field.offset));
            }
        }
        let facts = self.facts;
        for segment in facts.segments() {
            segment.fields.iter().for_each(|field| self.interface(segment.contents, field.offset));
        }
        for frame in facts.frames() {
            frame.fields.iter().for_each(|field| self.interface(frame.contents, field.offset));
        }
        self.drain();
    }

    /// Types objects that are channels: they hold the type of their elements and its size.
    pub(super) fn add_channels(&mut self) {
        let mut channels: FxHashMap<TypeRef, TypeRef> = FxHashMap::default();
        for (number, of) in self.types.iter() {
            if let Kind::Channel { element } = of.kind {
                // The one without a direction is what `make` returns.
                let known = channels.entry(element).or_insert(number);
                if of.name.starts_with("chan ")
                    && !of.name.starts_with("chan (")
                    && self.types.get(*known).is_none_or(|known| !known.name.starts_with("chan "))
                {
                    *known = number;
                }
            }
        }
        // word count, word capacity, buffer, u16 element size, u32 closed, since 1.23 a timer, element type.
        let size_at = self.word.wrapping_mul(3);
        let timer = if self.program.at_least(23) { self.word } else { 0 };
        let type_at = size_at.wrapping_add(8).wrapping_add(timer);
        for row in 0..self.placed.sizes.len() {
            let object = ObjectId(row as u32);
            if self.objects.get(object).is_some() {
                continue;
            }
            let (contents, fields) = self.memory(object);
            let (header, _) = self.header(contents, fields);
            let element = || {
                let of = self.type_at(self.word_at(contents, header.wrapping_add(type_at))?)?;
                let place = usize::try_from(header.wrapping_add(size_at)).ok()?;
                let bytes: &[u8; 2] = contents.get(place..)?.first_chunk()?;
                let size = if self.program.image.big_endian { u16::from_be_bytes(*bytes) } else { u16::from_le_bytes(*bytes) };
                (self.types.get(of)?.size == u64::from(size)).then_some(of)
            };
            if let Some(channel) = element().and_then(|element| channels.get(&element)).copied() {
                let of = self.hidden.channel(channel, &mut self.types, &mut self.layouts, self.word);
                self.assign(object, Typed { of, count: 1, fit: Fit::Exact, level: Level::Dynamic });
            }
        }
        self.drain();
    }

    /// Types objects that begin with the entry of a function as closures of it.
    pub(super) fn add_closures(&mut self) {
        for row in 0..self.placed.sizes.len() {
            let object = ObjectId(row as u32);
            if self.objects.get(object).is_some() {
                continue;
            }
            let (contents, mut fields) = self.memory(object);
            let is_pointer = fields.next().is_some_and(|field| field.offset == 0);
            let entry = self.reader.words.at(contents, 0).map(|pc| pc.wrapping_sub(self.slide)).filter(|_| !is_pointer);
            if entry.is_some_and(|entry| self.program.is_entry(entry)) {
                let address = self.reader.addresses.address(object).unwrap_or(0);
                self.function(address, Level::Dynamic);
            }
        }
        self.drain();
    }

    /// Takes a word and the one before it for an interface value, if that one is an itab or a type.
    fn interface(&mut self, contents: &[u8], offset: u64) {
        let before = self.reader.word_before(contents, offset);
        let Some(data) = self.reader.words.at(contents, offset).filter(|data| before != 0 && *data != 0) else { return };
        let of = match self.itabs.get(&before) {
            Some(of) => self.type_at(*of),
            None => self.type_at(before),
        };
        // Only where nothing better is known.
        let untyped = || match self.reader.object_at(data) {
            Some((object, inside)) => match self.objects.get(object) {
                Some(typed) => typed.of == self.tiny,
                None => inside <= HEADER,
            },
            None => false,
        };
        if let Some(of) = of.filter(|_| untyped()) {
            self.value(of, data);
        }
    }

    /// Begins with what the dump itself says: headers, finalizers, closures of the runtime.
    pub(super) fn add_records(&mut self) {
        for row in 0..self.placed.sizes.len() {
            let object = ObjectId(row as u32);
            if !self.reader.may_have_header(self.placed.sizes.get(row)) {
                continue;
            }
            let (contents, fields) = self.memory(object);
            let (header, Some(address)) = self.header(contents, fields) else { continue };
            let start = self.reader.addresses.address(object).unwrap_or(0);
            if let Some(of) = self.type_at(address) {
                let size = self.types.get(of).map_or(0, |of| of.size);
                let count = (contents.len() as u64).saturating_sub(header).checked_div(size).unwrap_or(0);
                let exact = objects::size_class(size.saturating_add(header)) == contents.len() as u64;
                let count = if exact { 1 } else { count };
                self.queue.push(Item { address: start.wrapping_add(header), of, count, level: Level::Header, from_slice: true });
            }
        }
        let facts = self.facts;
        for finalizer in &facts.finalizers {
            if let Some(Kind::Pointer { element }) =
                self.type_at(finalizer.object_type).and_then(|of| self.types.get(of)).map(|of| &of.kind)
            {
                let element = *element;
                self.add(finalizer.object, element, 1, Level::Dynamic);
            }
            self.function(finalizer.funcval, Level::Dynamic);
        }
        let [g, m, defer, panic] = ["runtime.g", "runtime.m", "runtime._defer", "runtime._panic"].map(|name| self.named(name));
        for stack in &facts.stacks {
            self.function(stack.goroutine.ctxt, Level::Dynamic);
            self.add_known(stack.goroutine.addr, g);
            self.add_known(stack.goroutine.m, m);
        }
        facts.threads.iter().for_each(|address| self.add_known(*address, m));
        for record in &facts.defers {
            self.add_known(record.addr, defer);
        }
        for record in &facts.panics {
            self.add_known(record.addr, panic);
            let argument = self.type_at(record.arg_type);
            if let Some(argument) = argument {
                self.value(argument, record.arg_data);
            }
        }
        for defer in &facts.defers {
            self.function(defer.funcval, Level::Dynamic);
        }
        self.drain();
    }

    /// Follows all globals that are in the dump.
    pub(super) fn add_globals(&mut self, globals: &[super::debug::Global]) {
        for global in globals {
            let address = global.address.wrapping_add(self.slide);
            let size = self.types.get(global.of).map_or(0, |of| of.size);
            let inside = |segment: &crate::input::go::roots::Segment<'_>| {
                let start = address.wrapping_sub(segment.addr);
                start < segment.contents.len() as u64 && size > 0
            };
            if self.facts.segments().any(inside) {
                self.place_outside(&Item { address, of: global.of, count: 1, level: Level::Static, from_slice: false });
            }
        }
        self.drain();
    }

    /// Follows the live variables of all frames.
    pub(super) fn add_frames(&mut self) {
        let facts = self.facts;
        for stack in &facts.stacks {
            self.add_stack(stack);
        }
        self.drain();
    }

    fn add_stack(&mut self, stack: &Stack<'a>) {
        // The arguments of a call lie in the frame of the caller, which alone lists them.
        let listed = stack.frames.iter().flat_map(|frame| frame.fields.iter().map(|field| frame.sp.wrapping_add(field.offset)));
        let live: FxHashSet<u64> = listed.collect();
        for frame in &stack.frames {
            for variable in self.variables(frame) {
                self.variable(frame, &variable, &live);
            }
        }
    }

    /// Guesses what live words of frames point to that no variable claims, such as the hidden copy of a list that a loop runs
    /// over: what the function's variables point to, if only one of their types fits.
    pub(super) fn add_frame_guesses(&mut self) {
        let facts = self.facts;
        for frame in facts.frames() {
            let entry = frame.entry.wrapping_sub(self.slide);
            let Some(debug) = &mut self.debug else { return };
            let mut elements: Vec<TypeRef> = Vec::new();
            for of in debug.variable_types(entry, &mut self.types) {
                let element = match self.types.get(of).map(|of| of.kind.clone()) {
                    Some(Kind::Pointer { element } | Kind::Slice { element }) => element,
                    Some(Kind::Map { group, .. }) => match self.types.get(group).map(hidden::is_swiss) {
                        Some(swiss) => self.hidden.header(of, swiss, &mut self.types, &mut self.layouts, self.word),
                        None => continue,
                    },
                    _ => continue,
                };
                if !elements.contains(&element) {
                    elements.push(element);
                }
            }
            for field in frame.fields.iter() {
                if let Some(address) = self.word_at(frame.contents, field.offset).filter(|address| *address != 0) {
                    self.guess_among(address, &elements);
                }
            }
        }
        self.drain();
    }

    /// The variables of a frame that are in memory.
    pub(super) fn variables(&mut self, frame: &StackFrame<'_>) -> Vec<Variable> {
        let entry = frame.entry.wrapping_sub(self.slide);
        let pc = frame.pc.wrapping_sub(self.slide);
        // A return address may belong to the next range already.
        let pc = if pc == entry { pc } else { pc.wrapping_sub(1) };
        match &mut self.debug {
            Some(debug) => debug.variables(entry, pc, &mut self.types),
            None => Vec::new(),
        }
    }

    fn variable(&mut self, frame: &StackFrame<'a>, variable: &Variable, live: &FxHashSet<u64>) {
        let layout = self.layouts.of(variable.of, &self.types, self.word);
        let end = frame.sp.wrapping_add(frame.contents.len() as u64);
        for part in &layout.slots {
            let piece = variable.pieces.iter().find(|piece| {
                let inside = part.offset.wrapping_sub(piece.offset);
                part.offset >= piece.offset && piece.size.is_none_or(|size| inside < size)
            });
            let Some(piece) = piece else { continue };
            let address = end.wrapping_add_signed(piece.from_cfa).wrapping_add(part.offset.wrapping_sub(piece.offset));
            let pointer = match part.holds {
                Holds::Interface { .. } => address.wrapping_add(self.word),
                _ => address,
            };
            if !variable.is_stack_object && !live.contains(&pointer) {
                continue;
            }
            let after = self.outside.partition_point(|(start, _)| *start <= address);
            let Some(&(start, bytes)) = after.checked_sub(1).and_then(|before| self.outside.get(before)) else { continue };
            let values = Values { bytes, of: variable.of, count: 1, level: Level::Static };
            let offset = address.wrapping_sub(start);
            if let Holds::Array(element, length) = part.holds {
                let Some(bytes) = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)) else { continue };
                self.visit(&Values { bytes, of: element, count: length, level: Level::Static });
                continue;
            }
            if let Some(of) = self.follow(&values, offset, part) {
                let data = offset.wrapping_add(self.word);
                let Some(bytes) = usize::try_from(data).ok().and_then(|data| bytes.get(data..)) else { continue };
                self.visit(&Values { bytes, of, count: 1, level: Level::Static });
            }
        }
    }
}
