//! One bit for each row.

/// A bit for each row.
#[derive(Clone)]
pub(super) struct Bits(pub(super) Vec<u64>);

impl Bits {
    pub(super) fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    pub(super) fn or(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(bits, other)| *bits |= other);
        self
    }

    #[inline(always)]
    pub(super) fn has(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|bits| bits.wrapping_shr(row as u32 % 64) & 1 == 1)
    }

    /// Sets a bit, and returns whether it was not set.
    #[inline(always)]
    pub(super) fn set(&mut self, row: usize) -> bool {
        let bit = 1u64.wrapping_shl(row as u32 % 64);
        self.0.get_mut(row / 64).is_some_and(|bits| {
            let is_new = *bits & bit == 0;
            *bits |= bit;
            is_new
        })
    }
}
