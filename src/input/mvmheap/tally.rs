//! Sums over the rows of a snapshot.

use super::rows::Chunk;

/// Kinds of collectables that are known: 1 to 11.
pub(super) const KINDS: usize = 12;
pub(super) const OBJECT: u64 = 1;
pub(super) const TYPE_OBJECT: u64 = 2;
pub(super) const STABLE: u64 = 3;
pub(super) const FRAME: u64 = 4;
pub(super) const PERMANENT_ROOTS: u64 = 5;
pub(super) const ROOT: u64 = 9;
pub(super) const CALL_STACK_ROOTS: u64 = 11;

/// Bytes (managed and unmanaged) and number of rows of one type or frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) bytes: u64,
    pub(super) count: u64,
}

/// The sums. Kinds that are not known are counted under 0.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rows: u64,
    pub(super) by_kind: [u64; 16],
    pub(super) references_by_kind: [u64; 16],
    pub(super) managed: u64,
    pub(super) unmanaged: u64,
    /// Concrete objects by type index.
    pub(super) types: Vec<Share>,
    /// Frames by frame index.
    pub(super) frames: Vec<Share>,
}

impl Tally {
    /// A tally that attributes sizes to this many types and frames; rows of others are not attributed.
    pub(super) fn new(types: usize, frames: usize) -> Self {
        Self { types: vec![Share::default(); types], frames: vec![Share::default(); frames], ..Self::default() }
    }

    /// Adds some rows.
    pub(super) fn add(&mut self, chunk: &Chunk) {
        let [kind, size, tofi, rfcnt, _, unmanaged] = &chunk.columns;
        self.rows = self.rows.saturating_add(kind.len() as u64);
        self.managed = self.managed.wrapping_add(sum(size));
        self.unmanaged = self.unmanaged.wrapping_add(sum(unmanaged));
        for ((((&kind, &size), &tofi), &rfcnt), &unmanaged) in kind.iter().zip(size).zip(tofi).zip(rfcnt).zip(unmanaged) {
            let slot = if kind < KINDS as u64 { kind as usize & 15 } else { 0 };
            if let (Some(rows), Some(references)) = (self.by_kind.get_mut(slot), self.references_by_kind.get_mut(slot)) {
                *rows += 1;
                *references = references.wrapping_add(rfcnt);
            }
            let shares = match kind {
                OBJECT => &mut self.types,
                FRAME => &mut self.frames,
                _ => continue,
            };
            if let Some(share) = shares.get_mut(tofi as usize) {
                share.bytes = share.bytes.wrapping_add(size).wrapping_add(unmanaged);
                share.count += 1;
            }
        }
    }

    /// Rows of a kind.
    pub(super) fn kind(&self, kind: u64) -> u64 {
        self.by_kind.get(kind as usize).copied().unwrap_or(0)
    }

    /// References out of the rows of a range of kinds.
    pub(super) fn references(&self, kinds: std::ops::RangeInclusive<u64>) -> u64 {
        kinds.fold(0, |sum, kind| sum.wrapping_add(self.references_by_kind.get(kind as usize).copied().unwrap_or(0)))
    }

    /// The type whose objects are the largest, the first of them if several are.
    pub(super) fn biggest_type(&self) -> Option<(usize, Share)> {
        let all = self.types.iter().copied().enumerate().filter(|(_, share)| share.count > 0);
        all.reduce(|best, next| if next.1.bytes > best.1.bytes { next } else { best })
    }
}

/// Sums wrap: only a hostile file reaches 2⁶⁴ bytes.
fn sum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
}
