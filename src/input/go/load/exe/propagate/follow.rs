//! Follows values to their targets.

use super::super::layout::{Holds, Slot as Part};
use super::super::objects::{Fit, Level, Typed};
use super::super::types::TypeRef;
use super::judge::Lead;
use super::{Form, HEADER, Item, Propagation, Values};

pub(in super::super) struct Target {
    pub(in super::super) address: u64,
    pub(in super::super) ty: TypeRef,
    pub(in super::super) count: u64,
    pub(in super::super) is_slice: bool,
}

impl<'a> Propagation<'_, '_, '_, 'a> {
    pub(super) fn visit(&mut self, values: &Values<'a>) {
        self.visit_each(values, |_, _| {});
    }

    /// Returns the values in the data and the bss segment to which a value in these segments leads,
    /// each with the offset of its pointer in the value.
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
            let layout = self.types.layout(ty);
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
        match self.judge.lead(values, offset, part, &mut self.queue) {
            Lead::Nothing => {}
            Lead::Inline(ty) => return Some(ty),
            Lead::Unprepared => self.prepare(values, offset, part),
        }
        None
    }

    /// Follows a slot that needs a new type, or that states the type of its target.
    fn prepare(&mut self, values: &Values<'a>, offset: u64, part: &Part) {
        let Some(target) = self.ground.word_at(values.bytes, offset) else { return };
        match part.holds {
            Holds::Map(map) => return self.map(target, map, values.level),
            Holds::Channel(channel) => {
                self.types.channel(channel);
            }
            Holds::Directory(map) => {
                self.types.directory(map);
            }
            Holds::Overflow(map) => {
                let Some(group) = self.types.group(map) else { return };
                self.types.overflow(map, group);
            }
            _ => return,
        }
        self.judge.lead(values, offset, part, &mut self.queue);
    }

    pub(super) fn map(&mut self, address: u64, map: TypeRef, level: Level) {
        if let Some(ty) = self.types.header(map) {
            self.add(address, ty, 1, level);
        }
    }

    /// Types an object by its use in the runtime, although no type describes its pointers.
    pub(super) fn put(&mut self, address: u64, ty: TypeRef, level: Level) {
        match self.ground.object_at(address) {
            Some((object, inside)) if inside <= HEADER => {
                self.assign(object, Typed { ty, count: 1, fit: Fit::Exact, level })
            }
            Some(_) => {}
            None => self.place_outside(&Item::one(address, ty, level)),
        }
    }
}
