//! Referrers: the references of a heap, reversed.

use super::buckets::Buckets;
use crate::model::heap::{ObjectId, References};

/// The referrers of every object, over all references, weak ones included.
///
/// 4 bytes an object and 4 a reference (8 and 4 beyond 2³² references).
pub struct Referrers {
    from: Buckets,
}

impl Referrers {
    /// Reverses all references of a heap.
    pub fn of(references: &References) -> Self {
        let objects = references.first.len().saturating_sub(1);
        let backwards = || {
            (0..objects as u32).rev().flat_map(|object| {
                let range = references.range(ObjectId(object));
                references.target[range].iter().map(move |target| (target.0, object))
            })
        };
        Self { from: Buckets::of(objects, references.len(), backwards) }
    }

    /// Returns the objects that refer to an object, in ascending order, each once per reference.
    pub fn of_object(&self, object: ObjectId) -> impl ExactSizeIterator<Item = ObjectId> + '_ {
        self.from.get(object.0).iter().map(|referrer| ObjectId(*referrer))
    }
}
