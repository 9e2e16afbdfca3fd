//! Checks in constant memory whether ranges cover 0..n without gap or overlap.

/// Fingerprints of the bounds of ranges.
///
/// Ranges that all go forward partition `0..n` exactly when their starts, with `n` added, are the
/// same multiset as their ends, with 0 added: then every range begins where another ends, and all
/// of them form one chain from 0 to `n`. The multisets are compared by the sums of a 64-bit hash of
/// their members; sums of different multisets agree with a probability of about 2⁻⁶⁴.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RangeCheck {
    starts: u64,
    ends: u64,
    /// Whether the end of some range exceeds 64 bits.
    overflow: bool,
}

impl RangeCheck {
    /// Adds `start..start + count`. Empty ranges are ignored: their start is arbitrary.
    pub(super) fn add(&mut self, start: u64, count: u64) {
        if count == 0 {
            return;
        }
        let (end, overflow) = start.overflowing_add(count);
        self.overflow |= overflow;
        self.starts = self.starts.wrapping_add(hash(start));
        self.ends = self.ends.wrapping_add(hash(end));
    }

    pub(super) fn is_partition(&self, n: u64) -> bool {
        !self.overflow && self.starts.wrapping_add(hash(n)) == self.ends.wrapping_add(hash(0))
    }
}

/// The finalizer of splitmix64.
fn hash(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(ranges: &[(u64, u64)], n: u64) -> bool {
        let mut check = RangeCheck::default();
        ranges.iter().for_each(|(start, count)| check.add(*start, *count));
        check.is_partition(n)
    }

    #[test]
    fn gaps_overlaps_and_wrong_ends_are_seen() {
        assert!(check(&[], 0));
        assert!(check(&[(2, 3), (99, 0), (0, 2)], 5));
        assert!(!check(&[(2, 3), (0, 2)], 6));
        assert!(!check(&[(3, 2), (0, 2)], 5));
        assert!(!check(&[(1, 4), (0, 2)], 5));
        assert!(!check(&[(0, 2), (0, 2)], 4));
        assert!(!check(&[(u64::MAX, 2)], 1));
    }

    proptest! {
        #[test]
        fn the_fingerprint_agrees_with_counting(ranges in prop::collection::vec((0u64..8, 0u64..4), 0..6), n in 0u64..12) {
            let mut covered = [0; 16];
            ranges.iter().flat_map(|(start, count)| *start..start + count).for_each(|i| covered[i as usize] += 1);
            let exact = (0..16).all(|i| covered[i as usize] == u64::from(i < n));
            prop_assert_eq!(check(&ranges, n), exact);
        }
    }
}
