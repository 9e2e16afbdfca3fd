//! What a value leads to.

use super::super::hidden;
use super::super::layout::{Holds, Slot as Part};
use super::super::objects::{Fit, Level, Typed};
use super::super::types::{Kind, TypeRef};
use super::{HEADER, Item, Propagation, Values};

impl<'a> Propagation<'_, '_, '_, 'a> {
    /// Follows everything that values lead to.
    pub(super) fn visit(&mut self, values: &Values<'a>) {
        let mut open = std::mem::take(&mut self.open);
        open.push((0, values.of, values.count));
        while let Some((base, of, count)) = open.pop() {
            let layout = self.layouts.of(of, &self.types, self.word);
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
                            open.extend(inline.map(|of| (offset.wrapping_add(self.word), of, 1)));
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
                let (length, capacity) = (word(1)?, word(2)?);
                let longest = self.lengths.entry(target).or_default();
                *longest = u32::try_from(length).unwrap_or(u32::MAX).max(*longest);
                self.add_slice(target, element, capacity, level);
            }
            Holds::Map(map) => self.map(target, map, level),
            Holds::Channel(channel) => {
                let of =
                    self.hidden.channel(channel, &mut self.types, &mut self.layouts, self.word);
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
                        let of = self.hidden.directory(
                            map,
                            &mut self.types,
                            &mut self.layouts,
                            self.word,
                        );
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
                let logarithm =
                    *values.bytes.get(usize::try_from(self.word.wrapping_add(1)).ok()?)?;
                let count = 1u64.checked_shl(logarithm.into())?;
                let group = self.group(map)?;
                self.add_slice(target, group, if old { count.div_ceil(2) } else { count }, level);
            }
            Holds::Overflow(map) => {
                let group = self.group(map)?;
                let of =
                    self.hidden.overflow(map, group, &mut self.types, &mut self.layouts, self.word);
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

    pub(super) fn group(&self, map: TypeRef) -> Option<TypeRef> {
        match self.types.get(map)?.kind {
            Kind::Map { group, .. } => Some(group),
            _ => None,
        }
    }

    pub(super) fn map(&mut self, address: u64, map: TypeRef, level: Level) {
        let Some(group) = self.group(map).and_then(|group| self.types.get(group)) else { return };
        let swiss = hidden::is_swiss(group);
        let of = self.hidden.header(map, swiss, &mut self.types, &mut self.layouts, self.word);
        self.add(address, of, 1, level);
    }

    /// Types an object by what the runtime keeps there, whose pointers no type describes.
    pub(super) fn put(&mut self, address: u64, of: TypeRef, level: Level) {
        match self.reader.object_at(address) {
            Some((object, inside)) if inside <= HEADER => {
                self.assign(object, Typed { of, count: 1, fit: Fit::Exact, level })
            }
            Some(_) => {}
            None => self.place_outside(&Item { address, of, count: 1, level, from_slice: false }),
        }
    }

    /// The dynamic type of an interface value, by its first word.
    pub(in super::super) fn dynamic(&self, word: u64, has_methods: bool) -> Option<TypeRef> {
        if !has_methods {
            return self.type_at(word);
        }
        let known = self.itabs.get(&word).copied();
        let stored = || {
            self.program
                .image
                .word(word.wrapping_sub(self.slide).wrapping_add(self.word))
                .map(|of| of.wrapping_add(self.slide))
        };
        self.type_at(known.or_else(stored)?)
    }
}
