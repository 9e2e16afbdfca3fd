//! The targets of a value.

use super::super::hidden;
use super::super::layout::{Holds, Slot as Part};
use super::super::objects::{Fit, Level, Typed};
use super::super::types::{Kind, TypeRef};
use super::judge::Lead;
use super::{Form, HEADER, Item, Propagation, Values};

/// Values that a pointer leads to.
pub(in super::super) struct Target {
    pub(in super::super) address: u64,
    pub(in super::super) ty: TypeRef,
    pub(in super::super) count: u64,
    /// The array of a slice.
    pub(in super::super) is_slice: bool,
}

impl<'a> Propagation<'_, '_, '_, 'a> {
    /// Follows everything that values lead to.
    pub(super) fn visit(&mut self, values: &Values<'a>) {
        self.visit_each(values, |_, _| {});
    }

    /// The values in the data and the bss segment that a value there leads to, each with the
    /// offset of its pointer in the value.
    pub(in super::super) fn in_segments(
        &mut self,
        address: u64,
        (ty, count): (TypeRef, u64),
    ) -> Vec<(u64, Target)> {
        let facts = self.facts;
        let segment_at = |address: u64| {
            facts.segments().find_map(|segment| {
                let inside = usize::try_from(address.wrapping_sub(segment.addr)).ok()?;
                segment.contents.get(inside..)
            })
        };
        let mut found = Vec::new();
        let Some(bytes) = segment_at(address) else { return found };
        let values = Values { bytes, ty, count, level: Level::Static };
        self.visit_each(&values, |this, offset| {
            let targets = this.queue.drain(..).filter(|item| segment_at(item.address).is_some());
            found.extend(targets.map(|Item { address, ty, count, form, .. }| {
                (offset, Target { address, ty, count, is_slice: form == Form::Slice })
            }));
        });
        found
    }

    /// Follows everything that values lead to, and calls `each` after every slot with its offset.
    fn visit_each(&mut self, values: &Values<'a>, mut each: impl FnMut(&mut Self, u64)) {
        let mut open = std::mem::take(&mut self.open);
        open.push((0, values.ty, values.count));
        while let Some((base, ty, count)) = open.pop() {
            let layout = self.layouts.of(ty, &self.types, self.word);
            if layout.size == 0 || layout.slots.is_empty() {
                continue;
            }
            let most = (values.bytes.len() as u64)
                .saturating_sub(base)
                .checked_div(layout.size)
                .unwrap_or(0);
            for index in 0..count.min(most) {
                let start = base.wrapping_add(layout.size.wrapping_mul(index));
                for part in &layout.slots {
                    let offset = start.wrapping_add(part.offset);
                    match part.holds {
                        Holds::Array(element, length) => open.push((offset, element, length)),
                        _ => {
                            let inline = self.follow(values, offset, part);
                            open.extend(inline.map(|ty| (offset.wrapping_add(self.word), ty, 1)));
                            each(self, offset);
                        }
                    }
                }
            }
        }
        self.open = open;
    }

    /// Follows one slot. Returns the type of a value that an interface holds in its data word
    /// itself.
    pub(super) fn follow(
        &mut self,
        values: &Values<'a>,
        offset: u64,
        part: &Part,
    ) -> Option<TypeRef> {
        match self.lead(values, offset, part) {
            Lead::Nothing => {}
            Lead::Inline(ty) => return Some(ty),
            Lead::Unprepared => self.prepare(values, offset, part),
        }
        None
    }

    /// Adds the target of one slot to the list.
    fn lead(&mut self, values: &Values<'a>, offset: u64, part: &Part) -> Lead {
        let mut queue = std::mem::take(&mut self.queue);
        let lead = self.judge().lead(values, offset, part, &mut queue);
        self.queue = queue;
        lead
    }

    /// Follows a slot that needs a new type, or that states the type of its target.
    fn prepare(&mut self, values: &Values<'a>, offset: u64, part: &Part) {
        let Some(target) = self.word_at(values.bytes, offset) else { return };
        let (types, layouts, word) = (&mut self.types, &mut self.layouts, self.word);
        match part.holds {
            Holds::Map(map) => return self.map(target, map, values.level),
            Holds::Channel(channel) => {
                self.hidden.channel(channel, types, layouts, word);
            }
            Holds::Directory(map) => {
                self.hidden.directory(map, types, layouts, word);
            }
            Holds::Overflow(map) => {
                let Some(group) = self.group(map) else { return };
                let (types, layouts) = (&mut self.types, &mut self.layouts);
                self.hidden.overflow(map, group, types, layouts, word);
            }
            _ => return,
        }
        self.lead(values, offset, part);
    }

    pub(super) fn group(&self, map: TypeRef) -> Option<TypeRef> {
        match self.types.get(map)?.kind {
            Kind::Map { group, .. } => Some(group),
            _ => None,
        }
    }

    pub(super) fn map(&mut self, address: u64, map: TypeRef, level: Level) {
        let Some(group) = self.group(map).and_then(|group| self.types.get(group)) else { return };
        let swiss = hidden::is_swiss(group);
        let ty = self.hidden.header(map, swiss, &mut self.types, &mut self.layouts, self.word);
        self.add(address, ty, 1, level);
    }

    /// Types an object by the runtime's use of it. No type describes its pointers.
    pub(super) fn put(&mut self, address: u64, ty: TypeRef, level: Level) {
        match self.reader.object_at(address) {
            Some((object, inside)) if inside <= HEADER => {
                self.assign(object, Typed { ty, count: 1, fit: Fit::Exact, level })
            }
            Some(_) => {}
            None => self.place_outside(&Item::one(address, ty, level)),
        }
    }

    /// The dynamic type of an interface value, by its first word.
    pub(in super::super) fn dynamic(&self, word: u64, has_methods: bool) -> Option<TypeRef> {
        self.judge().dynamic(word, has_methods)
    }
}
