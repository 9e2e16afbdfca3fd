//! A cache of the classes of recently read objects.

/// Slots of the cache. Most heaps have fewer classes with many objects.
const SLOTS: usize = 256;
const BITS: u32 = SLOTS.trailing_zeros();

/// A number for each of the classes seen last, by class id.
///
/// A pass looks up the class of every object. Objects of a few classes take turns, so that a
/// direct-mapped cache of 4 KiB answers nearly all lookups without the hash table.
#[derive(Debug)]
pub(super) struct ClassCache {
    /// Class id and number. Unused slots have an id that belongs in another slot.
    slots: Box<[(u64, u32); SLOTS]>,
}

impl Default for ClassCache {
    fn default() -> Self {
        let mut slots = Box::new([(0, 0); SLOTS]);
        // Id 0 belongs in slot 0, which takes the first id that does not.
        if let Some(slot) = slots.get_mut(slot(0)) {
            slot.0 = (1..).find(|id| self::slot(*id) != self::slot(0)).unwrap_or(1);
        }
        Self { slots }
    }
}

impl ClassCache {
    /// Returns the number of a class; calls `find` if the cache does not have it.
    #[inline]
    pub(super) fn get_or_find(&mut self, class: u64, find: impl FnOnce() -> u32) -> u32 {
        let Some(slot) = self.slots.get_mut(slot(class)) else { return find() };
        if slot.0 != class {
            *slot = (class, find());
        }
        slot.1
    }
}

#[inline]
fn slot(class: u64) -> usize {
    // 2^64 divided by the golden ratio: ids close to each other spread over all slots.
    (class.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_own_number_whatever_the_cache_held() {
        let mut cache = ClassCache::default();
        for round in 0..3 {
            for class in (0..16_000).step_by(8).chain([u64::MAX]) {
                let number = class as u32 ^ 7;
                assert_eq!(cache.get_or_find(class, || number), number, "round {round}");
            }
        }
    }
}
