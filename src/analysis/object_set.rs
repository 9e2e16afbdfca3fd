//! Sets of objects.

use super::prefetch::prefetch;
use super::set_bits::SetBits;
use crate::model::heap::{Heap, ObjectId};
use crate::parallel;
use std::ops::Range;

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

    /// The objects of a heap with this many that belong to the set.
    pub(super) fn of(objects: usize, belongs: impl Fn(ObjectId) -> bool + Sync) -> Self {
        let bits = parallel::words(objects, |word| {
            let objects = word * 64..(word * 64 + 64).min(objects);
            let bits =
                objects.zip(0..).map(|(at, bit)| u64::from(belongs(ObjectId(at as u32))) << bit);
            bits.sum()
        });
        Self { bits }
    }

    /// The objects that hold bytes outside the managed heap. `None` if there are none.
    pub(super) fn with_external(heap: &Heap<'_>) -> Option<Self> {
        let mut with_external = (!heap.external.is_empty()).then(|| Self::none(heap.len()))?;
        heap.external.iter().for_each(|(object, _)| _ = with_external.insert(*object));
        Some(with_external)
    }

    /// Adds an object. Returns `false` if the set already contained it.
    #[inline]
    pub fn insert(&mut self, object: ObjectId) -> bool {
        let (word, bit) = (&mut self.bits[object.index() / 64], 1 << (object.index() % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Adds the objects of a set of this size, which has a bit for each.
    pub(super) fn insert_all(&mut self, bits: &[u64]) {
        self.bits.iter_mut().zip(bits).for_each(|(word, more)| *word |= more);
    }

    /// Removes an object.
    #[inline]
    pub fn remove(&mut self, object: ObjectId) {
        self.bits[object.index() / 64] &= !(1 << (object.index() % 64));
    }

    /// Returns `true` if the set contains the object.
    #[inline]
    pub fn contains(&self, object: ObjectId) -> bool {
        self.bits[object.index() / 64] >> (object.index() % 64) & 1 == 1
    }

    /// Prefetches the word that stores whether the set contains the object.
    #[inline]
    pub(super) fn prefetch(&self, object: ObjectId) {
        prefetch(&self.bits, object.index() / 64);
    }

    /// The objects of the set, in order.
    pub(super) fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        SetBits::of(0, self.bits.iter().copied()).map(|at| ObjectId(at as u32))
    }

    /// The objects of a range that are not in the set. The range begins at a multiple of 64.
    pub(super) fn others(&self, objects: Range<usize>) -> impl Iterator<Item = ObjectId> + '_ {
        SetBits::of(objects.start, self.other_words(objects)).map(|at| ObjectId(at as u32))
    }

    /// The objects of a range that are not in the set, 64 in a word. The range begins at a multiple
    /// of 64.
    pub(super) fn other_words(&self, objects: Range<usize>) -> impl Iterator<Item = u64> + '_ {
        let words = &self.bits[objects.start / 64..objects.end.div_ceil(64)];
        words.iter().zip((objects.start..).step_by(64)).map(move |(word, first)| {
            let rest = objects.end - first;
            if rest < 64 { !*word & !(u64::MAX << rest) } else { !*word }
        })
    }

    /// Returns the union of two sets for the same number of objects.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.insert_all(&other.bits);
        self
    }

    /// Counts the objects. The count is not kept in a field: one that [`ObjectSet::insert`] updates
    /// comes out too small in optimized builds of Rust 1.95.0; the benchmark `analysis` showed that.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|bits| *bits == 0)
    }
}

/// A set of objects, in which each has a place: the number of objects before it.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    set: ObjectSet,
    /// The number of objects before each word of the set.
    before: Vec<u32>,
}

impl Ranked {
    pub(super) fn of(set: ObjectSet) -> Self {
        let mut all = 0;
        let before = set.bits.iter().map(|word| {
            let before = all;
            all += word.count_ones();
            before
        });
        Self { before: before.collect(), set }
    }

    pub(super) fn set(&self) -> &ObjectSet {
        &self.set
    }

    /// Number of objects.
    pub(super) fn len(&self) -> usize {
        self.before
            .last()
            .zip(self.set.bits.last())
            .map_or(0, |(before, word)| (before + word.count_ones()) as usize)
    }

    /// The object with a place.
    pub(super) fn object(&self, place: u32) -> ObjectId {
        let word = self.before.partition_point(|before| *before <= place) - 1;
        let bits = SetBits::of(word * 64, std::iter::once(self.set.bits[word]));
        let mut objects = bits.skip((place - self.before[word]) as usize);
        ObjectId(objects.next().expect("the set has so many objects") as u32)
    }

    /// The number of objects in the set that come before an object, which may be in it or not.
    #[inline]
    pub(super) fn place(&self, object: ObjectId) -> u32 {
        let (word, bit) = (object.index() / 64, object.index() % 64);
        let lower = self.set.bits[word] & ((1 << bit) - 1);
        self.before[word] + lower.count_ones()
    }
}
