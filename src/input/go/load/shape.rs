//! The features of an object, found in the third pass, that identify its type.

use crate::input::go::fields::Field;
use crate::model::heap::TypeId;
use rustc_hash::FxHashMap;

/// The features that objects of one type share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The size of a slot without pointers.
    Plain { size: u64 },
    /// The size of a slot and the positions of its pointers.
    Layout { size: u64, hash: u64, pointers: u32 },
    /// The address of a type, from a malloc header or a type record.
    Type { address: u64 },
    /// The target of the pointer type with this index.
    Element { index: usize },
    /// Any other layout of a slot of this size: the number of layouts with their own type is
    /// limited.
    Layouts { size: u64 },
    /// A type record of an old layout, by its number.
    Old { number: u32 },
    /// The size of an object of which every word may be a pointer.
    Conservative { size: u64 },
    /// A type of the runtime, by its number.
    Runtime { number: u16 },
}

/// A hash of the positions of an object's pointers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    size: u64,
    hash: u64,
    pub(super) pointers: u32,
}

/// The multiplier of FxHash: odd, with well-distributed bits.
const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;

impl Signature {
    /// Returns the signature of an object of this size without pointers.
    #[inline]
    pub(super) fn new(size: u64) -> Self {
        Self { size, hash: size.wrapping_add(1).wrapping_mul(MULTIPLIER), pointers: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, field: Field) {
        let value = field.offset ^ (field.kind as u64) << 56;
        self.hash = (self.hash.rotate_left(23) ^ value).wrapping_mul(MULTIPLIER);
        self.pointers = self.pointers.saturating_add(1);
    }

    /// The shape of an object with these pointers. There must be at least one.
    #[inline]
    pub(super) fn shape(self) -> Shape {
        Shape::Layout { size: self.size, hash: self.hash, pointers: self.pointers }
    }
}

/// The shapes of a chunk of objects: each once, in the order of the first object.
#[derive(Default)]
pub(super) struct Shapes {
    distinct: Vec<Shape>,
    numbers: FxHashMap<u64, u32>,
    last: (u64, u32),
}

impl Shape {
    /// A number that identifies the shape. The probability of a collision is negligible.
    #[inline]
    pub(super) fn key(self) -> u64 {
        let (kind, value) = match self {
            Self::Layout { hash, .. } => return hash,
            Self::Plain { size } => (1u64, size),
            Self::Type { address } => (2, address),
            Self::Element { index } => (3, index as u64),
            Self::Old { number } => (4, number.into()),
            Self::Conservative { size } => (5, size),
            Self::Runtime { number } => (6, number.into()),
            Self::Layouts { size } => (7, size),
        };
        (value.rotate_left(8) ^ kind).wrapping_mul(MULTIPLIER)
    }
}

impl Shapes {
    /// The number of a shape. It represents the type until [`super::typing`] has numbered them.
    #[inline]
    pub(super) fn number(&mut self, shape: Shape) -> TypeId {
        let key = shape.key();
        // Neighbours have the same size, and often the same type.
        if self.last.0 == key && !self.distinct.is_empty() {
            return TypeId(self.last.1);
        }
        let number = *self.numbers.entry(key).or_insert_with(|| {
            let number = self.distinct.len() as u32;
            self.distinct.push(shape);
            number
        });
        self.last = (key, number);
        TypeId(number)
    }

    pub(super) fn into_distinct(mut self) -> Vec<Shape> {
        self.distinct.shrink_to_fit();
        self.distinct
    }
}
