//! The record of a part of a heap: where objects begin, and how many begin before it.

/// Places that one record covers, and bytes of a place.
const SLOTS: u64 = 96;
pub(super) const SLOT: u64 = 8;
/// Bytes that one record covers.
pub(super) const GRANULE: u64 = SLOTS * SLOT;

/// Bit i of 96: an object begins at byte 8·i. The bits above are the number of objects in all
/// granules before this one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Granule(u128);

impl Granule {
    /// Adds an object that begins in a slot, before ranks are counted.
    #[inline]
    pub(super) fn add(&mut self, slot: u64) {
        self.0 |= 1 << slot;
    }

    /// Sets the number of objects before this granule. Returns the number of its own.
    pub(super) fn count_from(&mut self, rank: u32) -> u32 {
        let starts = self.starts();
        self.0 = starts | u128::from(rank) << SLOTS;
        starts.count_ones()
    }

    #[inline]
    pub(super) fn rank(self) -> u32 {
        (self.0 >> SLOTS) as u32
    }

    /// The slots in which objects begin.
    #[inline]
    pub(super) fn starts(self) -> u128 {
        self.0 & (u128::MAX >> (128 - SLOTS))
    }

    /// The slots up to one, inclusive, in which objects begin.
    #[inline]
    pub(super) fn starts_upto(self, slot: u64) -> u128 {
        self.0 & (u128::MAX >> (127 - slot))
    }

    #[inline]
    pub(super) fn begins(self, slot: u64) -> bool {
        self.0 >> slot & 1 == 1
    }
}

/// The number of an address's slot in its granule.
#[inline]
pub(super) fn slot(address: u64) -> u64 {
    address % GRANULE / SLOT
}

/// The numbers of the bits that are set, from the lowest on.
pub(super) fn bits(set: u128) -> impl Iterator<Item = u64> {
    let some = |rest: &u128| *rest != 0;
    std::iter::successors(Some(set).filter(some), move |rest| Some(rest & (rest - 1)).filter(some))
        .map(|rest| rest.trailing_zeros().into())
}
