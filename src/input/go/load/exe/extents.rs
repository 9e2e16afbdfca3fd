//! The used part of each array that slices refer to.

use crate::model::heap::ObjectId;

/// Collects the ends of slices in their arrays.
pub(super) struct Extents {
    /// One bit for each object, set if a slice reaches to the object's end.
    full: Vec<u64>,
    /// Objects, each with the number of its values that a slice covers, in the order of discovery.
    parts: Vec<(ObjectId, u32)>,
}

impl Extents {
    pub(super) fn new(objects: usize) -> Self {
        Self { full: vec![0; objects.div_ceil(64)], parts: Vec::new() }
    }

    /// Adds a slice that ends after `end` of the `count` values of an array.
    pub(super) fn add(&mut self, object: ObjectId, end: u64, count: u64) {
        let (word, bit) = place(object);
        let Some(full) = self.full.get_mut(word).filter(|full| **full & bit == 0) else { return };
        if end >= count {
            *full |= bit
        } else {
            self.parts.push((object, u32::try_from(end).unwrap_or(u32::MAX)))
        }
    }

    pub(super) fn finish(self) -> Lengths {
        let Self { full, mut parts } = self;
        parts.sort_unstable();
        // The last entry of each object is the largest.
        parts.reverse();
        parts.dedup_by_key(|(object, _)| *object);
        parts.reverse();
        parts.shrink_to_fit();
        Lengths { full, parts }
    }
}

/// The number of values of each array that slices use.
#[derive(Default)]
pub(super) struct Lengths {
    full: Vec<u64>,
    /// Sorted by object, each once.
    parts: Vec<(ObjectId, u32)>,
}

impl Lengths {
    /// Returns the number of the `count` values of an array that slices use. `None` if no slice was
    /// found.
    pub(super) fn used(&self, object: ObjectId, count: u64) -> Option<u64> {
        let (word, bit) = place(object);
        if self.full.get(word).is_some_and(|full| full & bit != 0) {
            return Some(count);
        }
        let index = self.parts.binary_search_by_key(&object, |(object, _)| *object).ok()?;
        self.parts.get(index).map(|(_, end)| (*end).into())
    }
}

/// The word of an object's bit, and the bit.
fn place(object: ObjectId) -> (usize, u64) {
    (object.index() / 64, 1u64.wrapping_shl(object.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slice_that_reaches_farthest_counts() {
        let mut extents = Extents::new(200);
        for (object, end) in [(70, 3), (130, 4), (70, 7), (70, 5), (130, 10), (130, 6)] {
            extents.add(ObjectId(object), end, 10);
        }
        let lengths = extents.finish();
        let used = |object| lengths.used(ObjectId(object), 10);
        assert_eq!([used(70), used(130), used(71)], [Some(7), Some(10), None]);
    }
}
