//! The objects of each type.

use super::buckets::Buckets;
use crate::model::heap::{Heap, ObjectId, TypeId};

/// The objects of each type of a heap, in their order. 4 bytes for each object.
pub struct ObjectsByType {
    objects: Buckets,
}

impl ObjectsByType {
    /// Groups the objects of a heap.
    pub fn of(heap: &Heap<'_>) -> Self {
        let objects = 0..heap.len() as u32;
        let pairs = || objects.clone().rev().map(|row| (heap.type_id(ObjectId(row)).0, row));
        Self { objects: Buckets::of(heap.types.len(), heap.len(), pairs) }
    }

    /// The objects of a type, in ascending order.
    pub fn of_type(&self, type_id: TypeId) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.get(type_id.0).iter().map(|object| ObjectId(*object))
    }

    /// The object at a place among those of a type, in ascending order.
    #[inline]
    pub fn get(&self, type_id: TypeId, place: usize) -> Option<ObjectId> {
        self.objects.get(type_id.0).get(place).map(|object| ObjectId(*object))
    }
}
