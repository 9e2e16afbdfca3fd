//! Objects that a search by levels has reached and not left yet.

use super::object_set::ObjectSet;
use super::prefetch::{AHEAD, prefetch_position, prefetch_targets};
use super::set_bits::SetBits;
use crate::model::heap::{ObjectId, References};
use crate::parallel;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The objects of a level: a list while they are few, a bit for each object of the heap when they
/// are many. In a search that visits an object once, at most 32 levels are that large, so the bits
/// cost little time, and neither form takes more than an eighth of a byte for each object.
pub(super) struct Frontier {
    list: Vec<ObjectId>,
    bits: Vec<u64>,
    objects: usize,
}

/// The most objects in a list. One of more than a 32nd of all objects takes more memory than the bits.
fn most_listed(objects: usize) -> usize {
    objects / 32 + 64
}

impl Frontier {
    /// Creates an empty frontier for a heap with this many objects.
    pub(super) fn new(objects: usize) -> Self {
        Self { list: Vec::new(), bits: Vec::new(), objects }
    }

    /// The objects of a set, which has a bit for each of `objects`. If they are few, `listed` returns
    /// them in the order in which they were added.
    pub(super) fn of_bits(
        bits: Vec<u64>,
        objects: usize,
        listed: impl FnOnce(&[u64]) -> Vec<ObjectId>,
    ) -> Self {
        let count: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
        if count > most_listed(objects) {
            return Self { list: Vec::new(), bits, objects };
        }
        Self { list: listed(&bits), bits: Vec::new(), objects }
    }

    /// The objects of a set, which has a bit for each of `objects`, in their order.
    pub(super) fn in_order(bits: Vec<u64>, objects: usize) -> Self {
        Self::of_bits(bits, objects, |few| {
            SetBits::of(0, few.iter().copied()).map(|at| ObjectId(at as u32)).collect()
        })
    }

    /// The bits of many objects; `None` if they are few.
    pub(super) fn bits(&self) -> Option<&[u64]> {
        (!self.bits.is_empty()).then_some(&self.bits)
    }

    /// Whether the frontier has no objects.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.bits.is_empty()
    }

    /// Adds an object. An object that was added before may appear twice.
    #[inline]
    pub(super) fn push(&mut self, object: ObjectId) {
        if !self.bits.is_empty() {
            self.bits[object.index() / 64] |= 1 << (object.index() % 64);
            return;
        }
        self.list.push(object);
        if self.list.len() > most_listed(self.objects) {
            self.bits = vec![0; self.objects.div_ceil(64)];
            for object in std::mem::take(&mut self.list) {
                self.bits[object.index() / 64] |= 1 << (object.index() % 64);
            }
        }
    }

    /// Adds the objects to a set, and drops those that it already contained.
    pub(super) fn add_to(&mut self, set: &mut ObjectSet) {
        self.list.retain(|object| set.insert(*object));
        for (word, known) in self.bits.iter_mut().zip(&mut set.bits) {
            *word &= !*known;
            *known |= *word;
        }
    }

    /// Like [`Frontier::for_each`], for objects whose references `each` follows.
    pub(super) fn for_each_object(self, references: &References, each: impl FnMut(ObjectId)) {
        self.for_each(
            |object| prefetch_position(references, object),
            |object| prefetch_targets(references, object),
            each,
        );
    }

    /// Calls `each` with every object: many objects in the order of the heap, so that neighbors in
    /// memory are visited together, and few in the order in which they were added. Before one of the few,
    /// the functions prefetch the position of its references, and then the references.
    pub(super) fn for_each(
        self,
        prefetch_position: impl Fn(ObjectId),
        prefetch_targets: impl Fn(ObjectId),
        mut each: impl FnMut(ObjectId),
    ) {
        for (at, object) in self.list.iter().enumerate() {
            self.list.get(at + AHEAD).copied().map(&prefetch_position);
            self.list.get(at + AHEAD / 2).copied().map(&prefetch_targets);
            each(*object);
        }
        for at in SetBits::of(0, self.bits.into_iter()) {
            each(ObjectId(at as u32));
        }
    }
}

/// Words of a large level whose objects one thread follows before another may take the next ones.
const WORDS: usize = parallel::PART / 64;

/// Calls `each` with the objects of a large level, which have a bit each, on all threads. Returns the objects
/// that it adds to the next level, likewise.
pub(super) fn next_level(level: &[u64], each: impl Fn(ObjectId, &NextLevel) + Sync) -> Vec<u64> {
    let next = NextLevel(level.iter().map(|_| AtomicU64::default()).collect());
    parallel::for_each((0..level.len()).step_by(WORDS), |first| {
        let words = level[first..].iter().copied().take(WORDS);
        SetBits::of(first * 64, words).for_each(|at| each(ObjectId(at as u32), &next));
    });
    next.0.into_iter().map(AtomicU64::into_inner).collect()
}

/// The objects of the next level, to which all threads add.
pub(super) struct NextLevel(Vec<AtomicU64>);

impl NextLevel {
    /// Adds an object.
    #[inline]
    pub(super) fn add(&self, object: ObjectId) {
        let (word, bit) = (&self.0[object.index() / 64], 1 << (object.index() % 64));
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }
}
