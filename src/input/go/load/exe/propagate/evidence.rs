//! The evidence that propagation begins with: records of the dump, globals, and words that look
//! like interfaces, channels or closures.

use super::super::debug::Global;
use super::super::image::number;
use super::super::objects::{Fit, Level, Typed};
use super::super::size_classes::size_class;
use super::super::types::{Kind, TypeRef};
use super::{Form, HEADER, Item, Propagation};
use crate::input::go::roots::Segment;
use crate::model::heap::ObjectId;
use rustc_hash::FxHashMap;

impl<'a> Propagation<'_, '_, '_, 'a> {
    /// Adds the types that the dump itself states: headers, finalizers, closures of the runtime.
    pub(in super::super) fn add_records(&mut self) {
        let (reader, placed) = (self.ground.reader, self.ground.placed);
        let may_have =
            |object: ObjectId| reader.header_sizes.contains(&placed.sizes.get(object.index()));
        let headed = self.objects.select(may_have);
        for object in headed {
            let (contents, fields) = self.ground.memory(object);
            let (header, Some(address)) = self.ground.header(contents, fields) else { continue };
            let start = self.ground.reader.addresses.address(object).unwrap_or(0);
            if let Some(ty) = self.type_at(address) {
                let size = self.types.size(ty);
                let count =
                    (contents.len() as u64).saturating_sub(header).checked_div(size).unwrap_or(0);
                let exact = size_class(size.saturating_add(header)) == contents.len() as u64;
                let count = if exact { 1 } else { count };
                self.queue.push(Item {
                    address: start.wrapping_add(header),
                    ty,
                    count,
                    level: Level::Header,
                    form: Form::Slice,
                    length: 0,
                });
            }
        }
        let facts = self.facts;
        for finalizer in &facts.finalizers {
            let pointer = self.type_at(finalizer.object_type);
            let object = pointer.and_then(|pointer| self.types.target(pointer));
            self.add_known(finalizer.object, object);
            self.function(finalizer.funcval, Level::Dynamic);
        }
        let [g, m, defer, panic] = ["runtime.g", "runtime.m", "runtime._defer", "runtime._panic"]
            .map(|name| self.named(name));
        for stack in &facts.stacks {
            self.function(stack.goroutine.ctxt, Level::Dynamic);
            self.add_known(stack.goroutine.addr, g);
            self.add_known(stack.goroutine.m, m);
        }
        facts.threads.iter().for_each(|address| self.add_known(*address, m));
        facts.defers.iter().for_each(|record| self.add_known(record.addr, defer));
        for record in &facts.panics {
            self.add_known(record.addr, panic);
            if let Some(argument) = self.type_at(record.arg_type) {
                self.value(argument, record.arg_data);
            }
        }
        facts.defers.iter().for_each(|record| self.function(record.funcval, Level::Dynamic));
        self.drain();
    }

    pub(super) fn add_known(&mut self, address: u64, ty: Option<TypeRef>) {
        if let Some(ty) = ty {
            self.add(address, ty, 1, Level::Dynamic);
        }
    }

    /// Adds the value of an interface, given its dynamic type. `data` is the value or points to it.
    pub(super) fn value(&mut self, ty: TypeRef, data: u64) {
        let Some(described) = self.types.get(ty) else { return };
        match (described.direct, &described.kind) {
            (false, _) => self.add(data, ty, 1, Level::Dynamic),
            (true, Kind::Pointer { element }) => {
                let element = *element;
                self.add(data, element, 1, Level::Dynamic);
            }
            (true, Kind::Map { .. }) => self.map(data, ty, Level::Dynamic),
            (true, Kind::Function) => self.function(data, Level::Dynamic),
            (true, Kind::Channel { .. }) => {
                let ty = self.types.channel(ty);
                self.put(data, ty, Level::Dynamic);
            }
            (true, _) => {}
        }
    }

    pub(in super::super) fn add_globals(&mut self, globals: &[Global]) {
        for global in globals {
            let address = self.address_of(global);
            let size = self.types.size(global.ty);
            let inside = |segment: &Segment<'_>| {
                let start = address.wrapping_sub(segment.addr);
                start < segment.contents.len() as u64 && size > 0
            };
            if self.facts.segments().any(inside) {
                self.place_outside(&Item::one(address, global.ty, Level::Static));
            }
        }
        self.drain();
    }

    /// Looks for interface values in memory without a type: in objects, in segments and in frames.
    pub(in super::super) fn add_interfaces(&mut self) {
        for object in self.untyped() {
            if self.objects.get(object).is_none() {
                let memory = self.ground.read(object);
                let fields = memory.fields.filter(|field| field.offset > memory.header);
                fields.for_each(|field| self.interface(memory.contents, field.offset));
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

    /// Treats a word and the one before it as an interface, if the latter is an itab or a type.
    pub(super) fn interface(&mut self, contents: &[u8], offset: u64) {
        let before = self.ground.reader.word_before(contents, offset);
        let data = self.ground.word_at(contents, offset);
        let Some(data) = data.filter(|data| before != 0 && *data != 0) else { return };
        let ty = match self.itabs.get(&before) {
            Some(ty) => self.type_at(*ty),
            None => self.type_at(before),
        };
        // Only if nothing better is known.
        let untyped = || match self.ground.object_at(data) {
            Some((object, inside)) => match self.objects.get(object) {
                Some(typed) => typed.ty == self.tiny,
                None => inside <= HEADER,
            },
            None => false,
        };
        if let Some(ty) = ty.filter(|_| untyped()) {
            self.value(ty, data);
        }
    }

    fn untyped(&self) -> Vec<ObjectId> {
        let objects = &self.objects;
        objects.select(|object| objects.get(object).is_none())
    }

    /// Types objects that are channels, which contain the type of their elements and its size.
    pub(in super::super) fn add_channels(&mut self) {
        let mut channels: FxHashMap<TypeRef, TypeRef> = FxHashMap::default();
        for (number, ty) in self.types.iter() {
            if let Kind::Channel { element } = ty.kind {
                // `make` returns a channel type without a direction.
                let known = channels.entry(element).or_insert(number);
                if ty.name.starts_with("chan ")
                    && !ty.name.starts_with("chan (")
                    && self.types.get(*known).is_none_or(|known| !known.name.starts_with("chan "))
                {
                    *known = number;
                }
            }
        }
        let (size_at, type_at) = (self.word.wrapping_mul(3), self.channel_type_at);
        for object in self.untyped() {
            if self.objects.get(object).is_some() {
                continue;
            }
            let channel = self.ground.read(object).value();
            let element = || {
                let ty = self.type_at(self.ground.word_at(channel, type_at)?)?;
                let bytes: &[u8; 2] = channel.get(size_at as usize..)?.first_chunk()?;
                let size = number(bytes, self.program.image.big_endian);
                (self.types.get(ty)?.size == size).then_some(ty)
            };
            if let Some(channel) = element().and_then(|element| channels.get(&element)).copied() {
                let ty = self.types.channel(channel);
                self.assign(object, Typed { ty, count: 1, fit: Fit::Exact, level: Level::Dynamic });
            }
        }
        self.drain();
    }

    /// Types objects that begin with the entry of a function as closures of it. Follows closures on
    /// stacks, such as those of deferred calls.
    pub(in super::super) fn add_closures(&mut self) {
        for object in self.untyped() {
            if self.objects.get(object).is_some() {
                continue;
            }
            let (contents, mut fields) = self.ground.memory(object);
            let is_pointer = fields.next().is_some_and(|field| field.offset == 0);
            let pc = self.ground.word_at(contents, 0).filter(|_| !is_pointer);
            if pc.is_some_and(|pc| self.program.is_entry(pc.wrapping_sub(self.shifts.text))) {
                let address = self.ground.reader.addresses.address(object).unwrap_or(0);
                self.function(address, Level::Dynamic);
            }
        }
        let facts = self.facts;
        for frame in facts.frames() {
            let words = frame
                .fields
                .iter()
                .filter_map(|field| self.ground.word_at(frame.contents, field.offset));
            for address in words.collect::<Vec<u64>>() {
                if self.stacks.contains(&address) {
                    self.function_on_stack(address, Level::Static);
                }
            }
        }
        self.drain();
    }
}
