//! Follows a part of a value to the values to which its word, and the words after it, refer.

use super::super::hidden::Part as MadePart;
use super::super::image::Memory;
use super::super::layout::{Holds, Slot as Part};
use super::super::objects::Level;
use super::super::types::{Kind, TypeRef, Types};
use super::judge::{Judge, Lead};
use super::{Form, Item, Values};

/// The flag of a `reflect.Value` that has a pointer to its value.
const INDIRECT: u64 = 1 << 7;

impl<'a> Judge<'_, '_, 'a> {
    #[inline]
    pub(super) fn lead(
        &self,
        values: &Values<'a>,
        offset: u64,
        part: &Part,
        found: &mut Vec<Item>,
    ) -> Lead {
        let words = self.ground.words();
        match words.at(values.bytes, offset) {
            None | Some(0) => Lead::Nothing,
            Some(target) => match part.holds {
                Holds::Pointer(element) => self.value(target, element, values.level, found),
                Holds::String => {
                    let length = words.at(values.bytes, offset.wrapping_add(words.size));
                    self.slice(target, self.string, length.unwrap_or(0), values.level, found)
                }
                _ => self.lead_far(values, (offset, target), part, found).unwrap_or(Lead::Nothing),
            },
        }
    }

    /// Like [`Self::lead`], for parts that are neither pointers nor strings.
    fn lead_far(
        &self,
        values: &Values<'a>,
        (offset, target): (u64, u64),
        part: &Part,
        found: &mut Vec<Item>,
    ) -> Option<Lead> {
        let words = self.ground.words();
        let word = |number: i64| {
            let at = number.wrapping_mul(words.size as i64);
            words.at(values.bytes, offset.wrapping_add_signed(at))
        };
        let level = values.level;
        Some(match part.holds {
            Holds::Pointer(_) | Holds::String | Holds::Array(..) | Holds::Unknown => Lead::Nothing,
            Holds::Slice(element) => {
                let (length, capacity) = (word(1)?, word(2)?);
                let before = found.len();
                let lead = self.slice(target, element, capacity, level, found);
                if let Some(item) = found.get_mut(before) {
                    item.length = u32::try_from(length).unwrap_or(u32::MAX);
                }
                lead
            }
            Holds::Interface { has_methods } => {
                let data = (word(1)?, self.dynamic(target, has_methods)?);
                self.lead_to_data(data, true, level, found)?
            }
            Holds::Reflected => {
                let (data, flags) = (word(1)?, word(2)?);
                let data = (data, self.dynamic(target, false)?);
                self.lead_to_data(data, flags & INDIRECT == 0, level, found)?
            }
            Holds::Counted(element) => self.slice(target, element, word(1)?, level, found),
            Holds::Map(_)
            | Holds::Directory(_)
            | Holds::Groups(_)
            | Holds::Buckets(..)
            | Holds::Overflow(_) => self.lead_in_map(values, (offset, target), part, found)?,
            Holds::Buffer(channel) => match self.types.get(channel)?.kind {
                Kind::Channel { element } => self.slice(target, element, word(-1)?, level, found),
                _ => return None,
            },
            Holds::Channel(channel) => {
                self.types.known(MadePart::Channel, channel).map_or(Lead::Unprepared, |ty| {
                    self.add(Item { form: Form::Whole, ..Item::one(target, ty, level) }, found)
                })
            }
            Holds::Function => {
                self.add_closure(target, level, found);
                Lead::Nothing
            }
            Holds::Waiting { channel } => {
                let channel = words.at(values.bytes, offset.wrapping_add(channel))?;
                let element = self.channel_element(channel)?;
                self.value(target, element, level, found)
            }
        })
    }

    /// Adds the closure of a function. Closures in the executable capture nothing.
    fn add_closure(&self, target: u64, level: Level, found: &mut Vec<Item>) {
        if self.is_in_process(target) {
            let item = Item::one(target, Types::WORD, level);
            found.push(Item { form: Form::Closure, ..item });
        }
    }

    /// Leads to the value of an interface or a `reflect.Value` of a type. The word may be
    /// the value itself.
    fn lead_to_data(
        &self,
        (data, ty): (u64, TypeRef),
        may_be_word: bool,
        level: Level,
        found: &mut Vec<Item>,
    ) -> Option<Lead> {
        Some(if self.types.get(ty)?.direct && may_be_word {
            Lead::Inline(ty)
        } else {
            self.value(data, ty, level.max(Level::Dynamic), found)
        })
    }

    /// Like [`Self::lead`], for maps and their parts.
    fn lead_in_map(
        &self,
        values: &Values<'a>,
        (offset, target): (u64, u64),
        part: &Part,
        found: &mut Vec<Item>,
    ) -> Option<Lead> {
        let (words, level) = (self.ground.words(), values.level);
        Some(match part.holds {
            Holds::Map(map) => match self.types.known(MadePart::Header, map) {
                Some(ty) => self.value(target, ty, level, found),
                None => Lead::Unprepared,
            },
            Holds::Directory(map) => {
                match words.at(values.bytes, offset.wrapping_add(words.size))? {
                    0 => self.value(target, self.types.group(map)?, level, found),
                    length => match self.types.known(MadePart::Directory, map) {
                        Some(ty) => self.slice(target, ty, length, level, found),
                        None => Lead::Unprepared,
                    },
                }
            }
            Holds::Groups(map) => {
                // The mask is a u64, whose low half comes second in a big-endian 32-bit process.
                let low = if words.big_endian { 8u64.saturating_sub(words.size) } else { 0 };
                let at = offset.wrapping_add(words.size).wrapping_add(low);
                let mask = words.at(values.bytes, at)?;
                self.slice(target, self.types.group(map)?, mask.saturating_add(1), level, found)
            }
            Holds::Buckets(map, old) => {
                let at = words.size.wrapping_add(1);
                let logarithm = *values.bytes.get(usize::try_from(at).ok()?)?;
                let count = 1u64.checked_shl(logarithm.into())?;
                let count = if old { count.div_ceil(2) } else { count };
                self.slice(target, self.types.group(map)?, count, level, found)
            }
            Holds::Overflow(map) => match self.types.known(MadePart::Overflow, map) {
                Some(ty) => self.value(target, ty, level, found),
                None => Lead::Unprepared,
            },
            _ => Lead::Nothing,
        })
    }

    /// Whether an address is in the heap or among the stacks.
    fn is_in_process(&self, address: u64) -> bool {
        self.ground.is_in_heap(address)
            || address.wrapping_sub(self.stacks.start)
                < self.stacks.end.wrapping_sub(self.stacks.start)
    }

    /// The type of the elements of the channel at an address, by the channel itself.
    fn channel_element(&self, address: u64) -> Option<TypeRef> {
        let (object, inside) = self.ground.object_at(address)?;
        let memory = self.ground.read(object);
        let at = self.channel_type_at.checked_add(inside)?;
        self.types.at(self.ground.word_at(memory.contents, at)?.wrapping_sub(self.shifts.types))
    }

    #[inline]
    fn value(&self, address: u64, ty: TypeRef, level: Level, found: &mut Vec<Item>) -> Lead {
        let ty = if self.is_special(ty) {
            self.allocated_as.get(&ty).copied().unwrap_or(ty)
        } else {
            ty
        };
        self.add(Item::one(address, ty, level), found)
    }

    #[inline]
    fn slice(
        &self,
        address: u64,
        ty: TypeRef,
        count: u64,
        level: Level,
        found: &mut Vec<Item>,
    ) -> Lead {
        self.add(Item { count, form: Form::Slice, ..Item::one(address, ty, level) }, found)
    }

    /// Adds a value, if the value may be evidence. A value outside the heap only leads to others.
    #[inline]
    fn add(&self, item: Item, found: &mut Vec<Item>) -> Lead {
        let leads =
            || self.types.layouts.known(item.ty).is_none_or(|layout| !layout.slots.is_empty());
        if item.is_value() && (self.ground.is_in_heap(item.address) || leads()) {
            found.push(item);
        }
        Lead::Nothing
    }

    /// The dynamic type of an interface value, by its first word.
    pub(in super::super) fn dynamic(&self, word: u64, has_methods: bool) -> Option<TypeRef> {
        if !has_methods {
            return self.types.at(word.wrapping_sub(self.shifts.types));
        }
        match self.itabs.get(&word) {
            Some(ty) => self.types.at(ty.wrapping_sub(self.shifts.types)),
            None => {
                let stored =
                    word.wrapping_sub(self.shifts.itabs).wrapping_add(self.ground.words().size);
                self.types.at(self.program.image.word(stored)?)
            }
        }
    }
}
