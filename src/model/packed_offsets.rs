//! Offsets that take little more than 2 bytes each.

use super::columns::Offsets;
use rayon::prelude::*;
use std::ops::Range;

/// Offsets as distances from the smallest one of their block.
#[derive(Clone, Debug)]
pub struct PackedOffsets {
    /// The smallest offset of each block. If a block is too wide, [`PackedOffsets::WIDE`] and the row
    /// of its first offset in `wide`.
    least: Vec<u64>,
    /// The distance of each offset from the smallest one of its block.
    distance: Vec<u16>,
    /// The offsets of wide blocks.
    wide: Vec<u64>,
}

impl PackedOffsets {
    /// Offsets of a block.
    const BLOCK: usize = 32;
    /// The bit that marks wide blocks.
    const WIDE: u64 = 1 << 63;

    /// Packs offsets. `None` if that saves no memory, or if there are offsets of 2⁶³ and more.
    pub(super) fn of(offsets: &Offsets) -> Option<Self> {
        let mut distance = vec![0; offsets.len()];
        let blocks = distance.par_chunks_mut(Self::BLOCK).enumerate();
        let pack = |(block, distances): (usize, &mut [u16])| {
            let rows = Self::rows(block, distances.len());
            let all = || offsets.range(rows.clone());
            let (least, most) = all()
                .fold((u64::MAX, 0), |(least, most), offset| (least.min(offset), most.max(offset)));
            if most - least > u16::MAX.into() || least >= Self::WIDE {
                return Self::WIDE;
            }
            distances
                .iter_mut()
                .zip(all())
                .for_each(|(place, offset)| *place = (offset - least) as u16);
            least
        };
        let mut least: Vec<u64> = blocks.map(pack).collect();
        let mut wide = Vec::new();
        for (block, least) in least.iter_mut().enumerate() {
            if *least == Self::WIDE {
                *least |= wide.len() as u64;
                let count = offsets.len() - block * Self::BLOCK;
                wide.extend(offsets.range(Self::rows(block, count.min(Self::BLOCK))));
            }
        }
        let each = if matches!(offsets, Offsets::Small(_)) { 4 } else { 8 };
        let saves = (wide.len() + least.len()) * 8 + distance.len() * 2 < distance.len() * each;
        (saves && !matches!(offsets, Offsets::Packed(_))).then_some(Self { least, distance, wide })
    }

    fn rows(block: usize, count: usize) -> Range<usize> {
        block * Self::BLOCK..block * Self::BLOCK + count
    }

    /// The offset in a row; 0 if there is none.
    #[inline]
    pub(super) fn get(&self, index: usize) -> u64 {
        let Some(distance) = self.distance.get(index) else { return 0 };
        let least = self.least[index / Self::BLOCK];
        if least & Self::WIDE == 0 {
            return least + u64::from(*distance);
        }
        self.wide[(least ^ Self::WIDE) as usize + index % Self::BLOCK]
    }

    /// The distance of each offset, for callers that prefetch them.
    #[inline]
    pub(crate) fn distances(&self) -> &[u16] {
        &self.distance
    }
}
