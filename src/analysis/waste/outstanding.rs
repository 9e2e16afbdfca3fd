//! Waste that stands out: equal values, and collections that are mostly empty.

use super::Measurements;
use super::contents::Copies;
use super::rooms::Measured;
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The minimum waste of all copies together, or of all collections of one type, in percent of the
/// live heap.
pub const LEAST_SHARE: u64 = 1;

/// Less waste does not stand out, whatever its share.
pub const LEAST_BYTES: u64 = 4096;

/// A collection is mostly empty if at most one slot in this many is in use. Hash tables keep half
/// of their slots empty.
pub const EMPTY: u64 = 4;

/// The number of values to name.
const WORST: usize = 3;

/// Memory that could be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outstanding {
    /// Several objects have equal contents.
    Duplicates(Duplicates),
    /// Collections that are mostly empty.
    Sparse(Sparse),
}

/// Values that several objects share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicates {
    /// Whether the duplicates are texts, not blocks of bytes.
    pub texts: bool,
    /// The number of values that occur more than once.
    pub values: u64,
    /// The number of objects with one of these values.
    pub objects: u64,
    /// The bytes saved if each value had a single object.
    pub wasted: u64,
    /// The values that waste most.
    pub worst: Vec<Copies>,
}

/// Mostly empty collections of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparse {
    /// The type of the collections.
    pub of: TypeId,
    /// Number of collections that are mostly empty.
    pub count: u64,
    /// The number of objects of the type.
    pub all: u64,
    /// The total number of slots of these collections.
    pub capacity: u64,
    /// The number of slots in use.
    pub used: u64,
    /// Bytes of the unused slots.
    pub wasted: u64,
    /// The collection that wastes most.
    pub example: ObjectId,
}

impl Outstanding {
    /// Finds texts, blocks of bytes and types of collections that waste enough, those that waste
    /// most first.
    pub fn of(heap: &Heap<'_>, tree: &DominatorTree, measured: &Measurements) -> Vec<Self> {
        let Measurements { rooms, contents } = measured;
        let share = u128::from(tree.live_bytes()) * u128::from(LEAST_SHARE);
        let least = share.div_ceil(100).max(u128::from(LEAST_BYTES)) as u64;
        let equal =
            [Duplicates::of(&contents.texts, true), Duplicates::of(&contents.blocks, false)];
        let equal = equal.into_iter().map(Self::Duplicates);
        let sparse = sparse(heap, &rooms.all).into_iter().map(Self::Sparse);
        let mut all: Vec<Self> = equal.chain(sparse).filter(|one| one.bytes() >= least).collect();
        all.sort_by_key(|one| Reverse(one.bytes()));
        all
    }

    /// The bytes that could be saved.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Duplicates(duplicates) => duplicates.wasted,
            Self::Sparse(sparse) => sparse.wasted,
        }
    }

    /// The number of objects that waste the bytes.
    pub fn count(&self) -> u64 {
        match self {
            Self::Duplicates(duplicates) => duplicates.objects,
            Self::Sparse(sparse) => sparse.count,
        }
    }

    /// The object to inspect first.
    pub fn example(&self) -> Option<ObjectId> {
        match self {
            Self::Duplicates(duplicates) => duplicates.worst.first().map(|group| group.example),
            Self::Sparse(sparse) => Some(sparse.example),
        }
    }
}

impl Duplicates {
    fn of(values: &[Copies], texts: bool) -> Self {
        Self {
            texts,
            values: values.len() as u64,
            objects: values.iter().map(|copies| copies.count).sum(),
            wasted: values.iter().fold(0, |sum: u64, copies| sum.saturating_add(copies.wasted)),
            worst: values.iter().take(WORST).copied().collect(),
        }
    }
}

/// The mostly empty collections of each type.
fn sparse(heap: &Heap<'_>, all: &[Measured]) -> Vec<Sparse> {
    let mut found: FxHashMap<TypeId, (Sparse, u64)> = FxHashMap::default();
    for room in all.iter().filter(|room| room.is_collection) {
        let of = heap.type_id(room.object);
        let empty =
            Sparse { of, count: 0, all: 0, capacity: 0, used: 0, wasted: 0, example: room.object };
        let (sparse, worst) = found.entry(of).or_insert((empty, 0));
        sparse.all += 1;
        if room.used.saturating_mul(EMPTY) > room.capacity || room.free_bytes == 0 {
            continue;
        }
        sparse.count += 1;
        sparse.capacity = sparse.capacity.saturating_add(room.capacity);
        sparse.used = sparse.used.saturating_add(room.used);
        sparse.wasted = sparse.wasted.saturating_add(room.free_bytes);
        if room.free_bytes > *worst {
            *worst = room.free_bytes;
            sparse.example = room.object;
        }
    }
    let mut found: Vec<Sparse> = found.into_values().map(|(sparse, _)| sparse).collect();
    found.sort_unstable_by_key(|sparse| sparse.of);
    found
}
