//! Variables in memory, and the objects that the compiler laid out for them.
//!
//! The compiler inlines `var events = bus.New()` and places the bus in the data or the bss segment,
//! without a name: only the variable's pointer leads to it. So pointers are followed from all
//! globals to such objects, and from these to others. The shortest path names an object.

use super::super::debug::Global;
use super::super::propagate::{Propagation, Target};
use super::super::types::{TypeRef, Types};
use super::path;
use std::collections::{BTreeMap, VecDeque};

/// A variable in memory, or an object that it leads to.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) size: u64,
    /// The type of the value, or of each element.
    pub(super) ty: TypeRef,
    /// The offset of the place in the value.
    pub(super) inside: u64,
    /// The variable, or the path to the pointer that leads to the object.
    pub(super) name: String,
    pub(super) way: Way,
    /// The row of the frame whose function declares it; `None` for globals.
    pub(super) frame: Option<u32>,
}

/// The relation between a place and the variable that names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The name is that of the variable itself.
    Itself,
    /// The name is that of a pointer to the place, after this many dereferences.
    Pointer(u8),
    /// The name is that of a slice, whose array the place is.
    Slice(u8),
}

impl Way {
    /// The number of pointers from the variable to the place.
    fn pointers(self) -> u8 {
        match self {
            Self::Itself => 0,
            Self::Pointer(number) | Self::Slice(number) => number,
        }
    }
}

/// The most pointers in a name. Objects after more pointers share the name of the last one, because
/// otherwise the names of a linked list would take memory quadratic in its length.
const MOST_POINTERS: u8 = 8;

impl Place {
    /// The path to the part at an offset: `main.jobs.first`, `main.events → subs`, `main.list[2]`.
    pub(super) fn text(&self, types: &Types, offset: u64) -> String {
        let offset = offset.wrapping_add(self.inside);
        let size = types.size(self.ty);
        let name = &self.name;
        match self.way {
            Way::Itself => format!("{name}{}", path(types, self.ty, offset)),
            Way::Slice(_) => {
                let index = offset.checked_div(size).unwrap_or(0);
                let inside = offset.checked_rem(size).unwrap_or(0);
                format!("{name}[{index}]{}", path(types, self.ty, inside))
            }
            Way::Pointer(_) => match path(types, self.ty, offset).as_str() {
                // Named like the target of a pointer that has an object of its own.
                "" => format!("{name} → [0]"),
                path => format!("{name} → {}", path.strip_prefix('.').unwrap_or(path)),
            },
        }
    }
}

impl Propagation<'_, '_, '_, '_> {
    /// The globals and the objects that were laid out for them, sorted by address.
    pub(super) fn global_places(&mut self, globals: &[Global]) -> Vec<Place> {
        let mut places = Places::default();
        for global in globals {
            let size = self.types.size(global.ty);
            places.add(Place {
                address: self.address_of(global),
                size,
                ty: global.ty,
                inside: 0,
                name: global.name.clone(),
                way: Way::Itself,
                frame: None,
            });
        }
        let segments = || self.facts().segments();
        let is_dumped = |place: &Place| {
            segments().any(|segment| {
                place.address.wrapping_sub(segment.addr) < segment.contents.len() as u64
            })
        };
        // In a hostile file, many values may overlap and would be followed again and again.
        let mut budget: u64 = segments().map(|segment| segment.contents.len() as u64).sum();
        places.open.retain(is_dumped);
        while let Some(place) = places.open.pop_front() {
            let size = self.types.size(place.ty);
            let Some(count) = place.size.checked_div(size) else { continue };
            let Some(rest) = budget.checked_sub(place.size) else { break };
            budget = rest;
            for (offset, target) in self.in_segments(place.address, (place.ty, count)) {
                let size = self.types.size(target.ty);
                let size = size.saturating_mul(target.count);
                places.add(Place { size, ..place.target(&self.types, offset, target) });
            }
        }
        places.list.into_values().collect()
    }
}

impl Place {
    /// An object that a pointer in this place leads to.
    fn target(&self, types: &Types, offset: u64, target: Target) -> Self {
        let pointers = self.way.pointers().saturating_add(1);
        let name = match pointers {
            MOST_POINTERS.. if self.way.pointers() >= MOST_POINTERS => self.name.clone(),
            MOST_POINTERS.. => format!("{} → …", self.name),
            _ => self.text(types, offset),
        };
        let way = if target.is_slice { Way::Slice(pointers) } else { Way::Pointer(pointers) };
        Self { address: target.address, size: 0, ty: target.ty, inside: 0, name, way, frame: None }
    }
}

#[derive(Default)]
struct Places {
    list: BTreeMap<u64, Place>,
    /// Values whose pointers have not been followed yet.
    open: VecDeque<Place>,
}

impl Places {
    /// Adds a value, unless its address lies inside a known value, of which it is a part.
    fn add(&mut self, place: Place) {
        let end = |place: &Place| place.address.saturating_add(place.size);
        let before = self.list.range(..=place.address).next_back();
        if place.size == 0 || before.is_some_and(|(_, before)| place.address < end(before)) {
            return;
        }
        // Pointers may have led to parts of the value earlier.
        let (mut start, last) = (place.address, end(&place));
        let parts: Vec<(u64, u64)> =
            self.list.range(start..last).map(|(start, part)| (*start, end(part))).collect();
        for (next, after) in parts.into_iter().chain([(last, last)]) {
            if start < next {
                let inside = start.wrapping_sub(place.address);
                let size = next.wrapping_sub(start);
                self.list.insert(start, Place { address: start, inside, size, ..place.clone() });
            }
            start = after;
        }
        self.open.push_back(place);
    }
}
