//! The largest objects, of a list and of each type.

use super::by_type::ObjectsByType;
use super::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, ObjectId, TypeId};
use crate::parallel;
use rayon::prelude::*;
use std::cmp::Reverse;

/// The number of objects whose largest are found at a time.
const BLOCK: usize = 1 << 16;

/// The largest objects, largest first; equal ones are in the order of the file.
pub fn largest(
    found: &[ObjectId],
    most: usize,
    size: impl Fn(ObjectId) -> (u64, u64) + Sync,
) -> Vec<ObjectId> {
    // Each size is read once, because it is a cache miss.
    let key = |object: &ObjectId| (Reverse(size(*object)), *object);
    let largest = |mut keys: Vec<(Reverse<(u64, u64)>, ObjectId)>| {
        if most < keys.len() {
            keys.select_nth_unstable(most);
            keys.truncate(most);
        }
        keys
    };
    let blocks =
        parallel::map(found.chunks(BLOCK), |block| largest(block.iter().map(key).collect()));
    let mut keys = largest(blocks.concat());
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, object)| object).collect()
}

/// The objects of each type that retain most, and the sums over all objects of the type. At most 4
/// bytes for each object of the heap, and 1 KiB for each type.
pub struct LargestByType(Vec<OfType>);

struct OfType {
    count: usize,
    shallow_bytes: u64,
    largest: Vec<ObjectId>,
}

/// Objects of some types, of which only the largest are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    /// The number of all objects.
    pub count: usize,
    /// The shallow bytes of all of these objects.
    pub shallow_bytes: u64,
    /// The largest of them, largest first.
    pub objects: Vec<ObjectId>,
}

impl LargestByType {
    /// The number of objects that are kept of each type.
    pub const MOST: usize = 256;

    /// Finds the largest objects of each type. Objects that retain nothing are sorted by their own
    /// size.
    pub fn of(heap: &Heap<'_>, tree: &DominatorTree) -> Self {
        let objects = ObjectsByType::of(heap);
        let of_type = |row| {
            let objects: Vec<ObjectId> = objects.of_type(TypeId(row)).collect();
            OfType {
                count: objects.len(),
                shallow_bytes: shallow(heap, &objects),
                largest: largest(&objects, Self::MOST, |object| size(heap, tree, object)),
            }
        };
        Self((0..heap.types.len() as u32).map(of_type).collect())
    }

    /// The objects of the selected types: all of them counted, and at most [`LargestByType::MOST`]
    /// named.
    pub fn of_types(
        &self,
        heap: &Heap<'_>,
        tree: &DominatorTree,
        selected: &[bool],
        most: usize,
    ) -> Largest {
        let mut all = Largest::default();
        for (row, _) in self.0.iter().zip(selected).filter(|(_, selected)| **selected) {
            all.count += row.count;
            all.shallow_bytes = all.shallow_bytes.saturating_add(row.shallow_bytes);
            all.objects.extend(&row.largest);
        }
        all.objects = largest(&all.objects, most, |object| size(heap, tree, object));
        all
    }
}

/// Retained bytes, then own bytes.
fn size(heap: &Heap<'_>, tree: &DominatorTree, object: ObjectId) -> (u64, u64) {
    (tree.retained(object), heap.own_bytes(object))
}

/// The shallow bytes of some objects.
pub fn shallow(heap: &Heap<'_>, objects: &[ObjectId]) -> u64 {
    objects.iter().fold(0, |sum: u64, object| sum.saturating_add(heap.shallow_bytes(*object)))
}
