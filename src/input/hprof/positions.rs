//! The positions of the records of all objects.

use crate::model::heap::{ObjectId, Offsets};
use crate::parallel::{self, PART};

/// Offsets of a block.
const BLOCK: usize = 32;
/// The bit that marks wide blocks. Larger than any position.
const WIDE: u64 = 1 << 63;

/// The position of the record of each object.
#[derive(Clone, Debug)]
pub(super) enum Positions {
    Plain(Offsets),
    Packed(Packed),
}

impl Positions {
    /// The position of an object's record; 0 if there is none.
    #[inline]
    pub(super) fn get(&self, object: ObjectId) -> u64 {
        match self {
            Self::Plain(offsets) => offsets.get(object.index()),
            Self::Packed(packed) => packed.get(object.index()),
        }
    }
}

/// Positions as distances from others. Objects that are neighbors in memory mostly have
/// neighboring records, so that distances within a block fit into 2 bytes; positions would take 4,
/// or 8 in files of 4 GiB and more.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// The smallest position of each block. If a block is too wide, [`WIDE`] and the row of its
    /// first position in `wide`.
    least: Vec<u64>,
    /// The distance of each position from the smallest one of its block.
    distance: Vec<u16>,
    /// The positions of wide blocks.
    wide: Vec<u64>,
}

impl Packed {
    pub(super) fn of(offsets: &Offsets) -> Self {
        match offsets {
            Offsets::Small(small) => Self::of_column(small),
            Offsets::Large(large) => Self::of_column(large),
        }
    }

    fn of_column<T: Copy + Ord + Into<u64> + Sync>(offsets: &[T]) -> Self {
        let mut distance = vec![0; offsets.len()];
        let pack = |(distances, offsets): (&mut [u16], &[T])| {
            // Folds of whole blocks, which the compiler turns into instructions for several numbers.
            let least = offsets.iter().copied().reduce(T::min).map_or(0, T::into);
            let most = offsets.iter().copied().reduce(T::max).map_or(0, T::into);
            if most.saturating_sub(least) > u16::MAX.into() || least >= WIDE {
                return WIDE;
            }
            for (place, offset) in distances.iter_mut().zip(offsets) {
                *place = (*offset).into().wrapping_sub(least) as u16;
            }
            least
        };
        let parts = distance.chunks_mut(PART).zip(offsets.chunks(PART));
        let mut least: Vec<u64> = parallel::map(parts, |(distances, offsets)| {
            let blocks = distances.chunks_mut(BLOCK).zip(offsets.chunks(BLOCK));
            blocks.map(pack).collect::<Vec<u64>>()
        })
        .concat();
        let mut wide: Vec<u64> = Vec::new();
        for (least, offsets) in least.iter_mut().zip(offsets.chunks(BLOCK)) {
            if *least == WIDE {
                *least |= wide.len() as u64;
                wide.extend(offsets.iter().map(|offset| (*offset).into()));
            }
        }
        Self { least, distance, wide }
    }

    #[inline]
    fn get(&self, row: usize) -> u64 {
        let (Some(distance), Some(least)) = (self.distance.get(row), self.least.get(row / BLOCK))
        else {
            return 0;
        };
        if least & WIDE == 0 {
            return least.saturating_add((*distance).into());
        }
        let first = (least ^ WIDE) as usize;
        self.wide.get(first.saturating_add(row % BLOCK)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_are_those_that_were_given(
            steps in prop::collection::vec(prop_oneof![60 => -30..300_i64, 1 => 0..1_i64 << 40], 0..500),
        ) {
            let mut sum = 4000;
            let given: Vec<u64> = steps.iter().map(|step| { sum += step; sum.unsigned_abs() }).collect();
            let mut offsets = Offsets::with_capacity(0, 0);
            given.iter().for_each(|offset| offsets.push(*offset));
            let packed = Packed::of(&offsets);
            let found = (0..=given.len()).map(|row| packed.get(row));
            prop_assert!(found.eq(given.iter().copied().chain([0])));
        }
    }
}
