//! Types of objects, in the order of the first object of each.
//!
//! The sources of an object's type, best first: its type record in 1.3; its malloc header; a hint
//! from an interface or a goroutine's record that points to it; its size and the positions of its
//! pointers.

use super::interfaces::{Hint, Hinted, Hints, RUNTIME_TYPES, hinted};
use super::package::package_of;
use super::shape::Shape;
use super::survey::Survey;
use super::{CHUNK, chunks_at_a_time};
use crate::model::heap::{Type, TypeId, TypeKind};
use crate::model::names::Names;
use crate::parallel;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn number(
    mut type_of: Vec<TypeId>,
    shapes: Vec<Vec<Shape>>,
    hints: &Hints,
    survey: &Survey<'_>,
    names: &mut Names,
) -> (Vec<Type>, Vec<TypeId>) {
    let typing = Typing { survey, hints, hinted: hinted(survey) };
    let mut found = Typed::default();
    let mut shapes = shapes.into_iter();
    let rows_at_a_time = CHUNK.saturating_mul(chunks_at_a_time());
    for (first_row, rows) in (0..).step_by(rows_at_a_time).zip(type_of.chunks_mut(rows_at_a_time)) {
        let chunks = (first_row..).step_by(CHUNK).zip(rows.chunks_mut(CHUNK)).zip(shapes.by_ref());
        let typed = parallel::map(chunks, |((first_row, rows), shapes)| {
            let typed = typing.chunk(first_row, rows, &shapes);
            (rows, typed)
        });
        let numbers = typed.into_iter().map(|(rows, typed)| (rows, found.merge(typed)));
        parallel::for_each(numbers, |(rows, numbers)| {
            for row in rows {
                *row = numbers.get(row.0 as usize).copied().unwrap_or(TypeId(0));
            }
        });
    }
    let types = typing.types(&found, names);
    (types, type_of)
}

/// The types of shapes found without hints, by number.
pub(super) fn types_without_hints(
    found: &Typed,
    survey: &Survey<'_>,
    names: &mut Names,
) -> Vec<Type> {
    Typing { survey, hints: &Hints::new(0), hinted: Vec::new() }.types(found, names)
}

/// The most layouts of one size that have types of their own. Programs have a few for each size;
/// memory that only looks like objects has as many layouts as objects.
const MOST_LAYOUTS: u32 = 256;

/// The distinct shapes of one or all chunks, after hints, in the order of their first object.
#[derive(Default)]
pub(super) struct Typed {
    shapes: Vec<Shape>,
    numbers: FxHashMap<u64, u32>,
    /// The number of layouts with a type of their own, by size.
    layouts: FxHashMap<u64, u32>,
    /// For each shape, whether no object of it has a pointer field.
    plain: Vec<bool>,
    /// The best hint for objects whose header has a type address without a record, by address.
    headers: FxHashMap<u64, Hint>,
}

impl Typed {
    fn number(&mut self, shape: Shape, plain: bool) -> u32 {
        let next = self.shapes.len() as u32;
        let number = *self.numbers.entry(shape.key()).or_insert(next);
        match self.plain.get_mut(number as usize) {
            Some(all) => *all &= plain,
            None => {
                self.shapes.push(shape);
                self.plain.push(plain);
            }
        }
        number
    }

    fn header(&mut self, address: u64, hint: Hint) {
        let best = self.headers.entry(address).or_insert(hint);
        *best = hint.min(*best);
    }

    /// The number of a shape without a hint. If its size has too many layouts, the common number of
    /// all further ones.
    pub(super) fn add(&mut self, shape: Shape) -> u32 {
        let shape = self.limited(shape);
        self.number(shape, matches!(shape, Shape::Plain { .. }))
    }

    /// Adds the types of the next chunk. Returns their merged numbers.
    fn merge(&mut self, next: Typed) -> Vec<TypeId> {
        for (address, hint) in next.headers {
            self.header(address, hint);
        }
        next.shapes
            .into_iter()
            .zip(next.plain)
            .map(|(shape, plain)| {
                let shape = self.limited(shape);
                TypeId(self.number(shape, plain))
            })
            .collect()
    }

    /// Returns the layout itself, or [`Shape::Layouts`] if its size has too many layouts.
    fn limited(&mut self, shape: Shape) -> Shape {
        let Shape::Layout { size, .. } = shape else { return shape };
        if self.numbers.contains_key(&shape.key()) {
            return shape;
        }
        let layouts = self.layouts.entry(size).or_default();
        if *layouts == MOST_LAYOUTS {
            return Shape::Layouts { size };
        }
        *layouts = layouts.saturating_add(1);
        shape
    }
}

struct Typing<'s, 'a> {
    survey: &'s Survey<'a>,
    hints: &'s Hints,
    /// The meaning of the hint for each type record.
    hinted: Vec<Option<Hinted>>,
}

impl Typing<'_, '_> {
    /// Replaces the numbers of rows, which are indices into `distinct`, with those of the result.
    fn chunk(&self, first_row: usize, rows: &mut [TypeId], distinct: &[Shape]) -> Typed {
        let mut typed = Typed::default();
        let mut numbers: Vec<Option<u32>> = vec![None; distinct.len()];
        for (row, place) in (first_row..).zip(rows) {
            let local = place.0 as usize;
            let Some(&shape) = distinct.get(local) else { continue };
            let plain = matches!(shape, Shape::Plain { .. });
            let hint = self.hints.get(row);
            let number = match (shape, hint) {
                (Shape::Old { .. }, _) | (_, None) => numbers.get(local).copied().flatten(),
                (Shape::Type { address }, Some(hint)) => {
                    typed.header(address, hint);
                    numbers.get(local).copied().flatten()
                }
                (_, Some(hint)) => self.shape_of(hint).map(|hinted| typed.number(hinted, plain)),
            };
            let number = number.unwrap_or_else(|| {
                let number = typed.number(shape, plain);
                if let Some(known) = numbers.get_mut(local) {
                    *known = Some(number);
                }
                number
            });
            *place = TypeId(number);
        }
        typed
    }

    fn shape_of(&self, hint: Hint) -> Option<Shape> {
        let Some(index) = usize::from(hint).checked_sub(RUNTIME_TYPES.len()) else {
            return Some(Shape::Runtime { number: hint });
        };
        match (*self.hinted.get(index)?)? {
            Hinted::Same(index) => {
                Some(Shape::Type { address: self.survey.types.get(index)?.addr })
            }
            Hinted::Element(index) => Some(Shape::Element { index }),
        }
    }

    fn types(&self, found: &Typed, names: &mut Names) -> Vec<Type> {
        let mut taken = FxHashSet::default();
        let rows = found.shapes.iter().zip(&found.plain);
        rows.map(|(shape, plain)| {
            let (name, kind) = match *shape {
                Shape::Plain { size } => (format!("{size} B without pointers"), TypeKind::Bytes),
                Shape::Layout { size, hash, pointers } => {
                    (layout_name(size, hash, pointers, &mut taken), TypeKind::Instance)
                }
                Shape::Layouts { size } => (format!("{size} B, other layouts"), TypeKind::Instance),
                Shape::Conservative { size } => {
                    (format!("{size} B scanned conservatively"), TypeKind::Instance)
                }
                Shape::Old { number } => match self.survey.old.layout(number) {
                    Some(layout) => (
                        layout.name.clone().unwrap_or_default(),
                        if layout.array { TypeKind::Array } else { TypeKind::Instance },
                    ),
                    None => (String::new(), TypeKind::Instance),
                },
                Shape::Type { .. } | Shape::Element { .. } | Shape::Runtime { .. } => {
                    let name = self.name(*shape, &found.headers);
                    // The program's own structs are instances, even if they contain numbers only.
                    let is_data = *plain && package_of(&name).is_empty();
                    (name, if is_data { TypeKind::Bytes } else { TypeKind::Instance })
                }
            };
            Type { name: names.intern(&name), namespace: names.intern(package_of(&name)), kind }
        })
        .collect()
    }

    fn name(&self, shape: Shape, headers: &FxHashMap<u64, Hint>) -> String {
        let record =
            |index: usize| self.survey.types.get(index).map_or(&b""[..], |record| record.name);
        match shape {
            Shape::Runtime { number } => RUNTIME_TYPES
                .get(usize::from(number))
                .map_or(String::new(), |name| (*name).to_owned()),
            Shape::Element { index } => {
                spoken(record(index).strip_prefix(b"*").unwrap_or(record(index)))
            }
            Shape::Type { address } => {
                let index = self.survey.type_at.get(&address);
                if let Some(name) =
                    index.map(|index| record(*index)).filter(|name| !name.is_empty())
                {
                    return spoken(name);
                }
                // Objects with the same header have the same type, so a hint for one applies to
                // all. The name of a pointer would be less precise than the address.
                let hint = headers
                    .get(&address)
                    .and_then(|hint| self.shape_of(*hint))
                    .filter(|hinted| *hinted != shape);
                let name =
                    hint.map(|hinted| self.name_of_hint(hinted)).filter(|name| !name.is_empty());
                name.unwrap_or_else(|| format!("type@{address:#x}"))
            }
            _ => String::new(),
        }
    }

    /// The name of a hinted shape. Empty if the name cannot be used for other shapes.
    fn name_of_hint(&self, shape: Shape) -> String {
        let name = match shape {
            Shape::Type { address } if !self.survey.type_at.contains_key(&address) => String::new(),
            shape => self.name(shape, &FxHashMap::default()),
        };
        if name.ends_with(UNNAMED_POINTER) { String::new() } else { name }
    }
}

const UNNAMED_POINTER: &str = "(unnamed pointer)";

/// The displayed name. From 1.7 to 1.27, pointer types with methods only have package and dot.
fn spoken(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    if name.ends_with('.') { format!("{name}{UNNAMED_POINTER}") } else { name.into_owned() }
}

/// Names a layout by four digits of its hash, or more if that name is taken.
fn layout_name(size: u64, hash: u64, pointers: u32, taken: &mut FxHashSet<String>) -> String {
    let digits = format!("{:016x}", hash ^ hash >> 32);
    let noun = if pointers == 1 { "pointer" } else { "pointers" };
    let named = |from: usize| {
        format!("{size} B, {pointers} {noun} ({})", digits.get(from..).unwrap_or_default())
    };
    let name = [12, 8]
        .into_iter()
        .map(named)
        .find(|name| !taken.contains(name))
        .unwrap_or_else(|| named(0));
    taken.insert(name.clone());
    name
}
