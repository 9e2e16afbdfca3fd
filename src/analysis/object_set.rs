//! Sets of objects.

use crate::model::heap::ObjectId;

/// A set of objects: one bit for each object of the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSet {
    pub(super) bits: Vec<u64>,
}

impl ObjectSet {
    /// The empty set, with room for this many objects.
    pub fn none(objects: usize) -> Self {
        Self { bits: vec![0; objects.div_ceil(64)] }
    }

    /// Adds an object. Returns `false` if the set already contained it.
    #[inline]
    pub fn insert(&mut self, object: ObjectId) -> bool {
        let (word, bit) = (&mut self.bits[object.index() / 64], 1 << (object.index() % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Returns `true` if the set contains the object.
    #[inline]
    pub fn contains(&self, object: ObjectId) -> bool {
        self.bits[object.index() / 64] >> (object.index() % 64) & 1 == 1
    }

    /// The objects of both sets, which have the same room.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.bits.iter_mut().zip(other.bits).for_each(|(bits, other)| *bits |= other);
        self
    }

    /// The number of objects, counted again. A count that [`ObjectSet::insert`] keeps comes out too
    /// small in optimized builds of Rust 1.95.0, as the benchmark `analysis` shows when there is
    /// one.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|bits| *bits == 0)
    }
}
