//! Sums over the rows of a snapshot.

use super::rows::Chunk;

/// The number of kinds of collectables: 1 to 11, and 0 for unknown ones.
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
    /// Rows of each kind and their references.
    kinds: [(u64, u64); 16],
    pub(super) managed: u64,
    pub(super) unmanaged: u64,
    /// First `types` elements for concrete objects by type, then `frames` for frames, then one for
    /// all other rows.
    shares: Vec<Share>,
    types: usize,
    frames: usize,
}

impl Tally {
    /// A tally that attributes sizes to this many types and frames; rows of others are not
    /// attributed.
    pub(super) fn new(types: usize, frames: usize) -> Self {
        let length = types.saturating_add(frames).saturating_add(1);
        Self { shares: vec![Share::default(); length], types, frames, ..Self::default() }
    }

    pub(super) fn add(&mut self, chunk: &Chunk) {
        let [kind, size, tofi, rfcnt, _, unmanaged] = &chunk.columns;
        self.managed = self.managed.wrapping_add(sum(size));
        self.unmanaged = self.unmanaged.wrapping_add(sum(unmanaged));
        self.add_kinds(kind.iter().copied().zip(rfcnt.iter().copied()));
        if self.shares.len() > 1 {
            self.add_shares(kind, tofi, size, unmanaged);
        }
    }

    /// Adds some rows by their kinds and numbers of references only.
    #[inline]
    pub(super) fn add_kinds(&mut self, rows: impl Iterator<Item = (u64, u64)>) {
        // Neighbours are mostly of the same kind. They go to several sums in turn, because
        // otherwise each addition would have to wait for the one before it.
        let mut turns = [[(0u64, 0u64); 16]; 4];
        for (i, (kind, references)) in rows.enumerate() {
            let slot = if kind < KINDS as u64 { kind as usize & 15 } else { 0 };
            if let Some(sums) = turns.get_mut(i % 4).and_then(|turn| turn.get_mut(slot)) {
                *sums = (sums.0.wrapping_add(1), sums.1.wrapping_add(references));
            }
        }
        for turn in turns {
            for (sums, (rows, references)) in self.kinds.iter_mut().zip(turn) {
                *sums = (sums.0.wrapping_add(rows), sums.1.wrapping_add(references));
                self.rows = self.rows.saturating_add(rows);
            }
        }
    }

    fn add_shares(&mut self, kind: &[u64], tofi: &[u64], size: &[u64], unmanaged: &[u64]) {
        // Types and frames share one vector, and what belongs to neither goes to its last element:
        // the kinds of rows follow no pattern, so that a branch on them would be mispredicted too
        // often.
        let (types, frames) = (self.types as u64, self.frames as u64);
        let last = types.saturating_add(frames);
        for (((&kind, &size), &tofi), &unmanaged) in kind.iter().zip(size).zip(tofi).zip(unmanaged)
        {
            let limit = if kind == OBJECT {
                types
            } else if kind == FRAME {
                frames
            } else {
                0
            };
            let base = if kind == FRAME { types } else { 0 };
            let index = if tofi < limit { base.wrapping_add(tofi) } else { last };
            if let Some(share) = self.shares.get_mut(index as usize) {
                share.bytes = share.bytes.wrapping_add(size).wrapping_add(unmanaged);
                share.count = share.count.wrapping_add(1);
            }
        }
    }

    /// Concrete objects by type index.
    pub(super) fn types(&self) -> &[Share] {
        self.shares.get(..self.types).unwrap_or_default()
    }

    pub(super) fn frames(&self) -> &[Share] {
        self.shares.get(self.types..self.types.saturating_add(self.frames)).unwrap_or_default()
    }

    pub(super) fn kind(&self, kind: u64) -> u64 {
        self.kinds.get(kind as usize).map_or(0, |sums| sums.0)
    }

    /// References out of the rows of a range of kinds.
    pub(super) fn references(&self, kinds: std::ops::RangeInclusive<u64>) -> u64 {
        kinds.fold(0, |sum, kind| {
            sum.wrapping_add(self.kinds.get(kind as usize).map_or(0, |sums| sums.1))
        })
    }

    /// The type with the largest total size, the first one if several are equal.
    pub(super) fn biggest_type(&self) -> Option<(usize, Share)> {
        let all = self.types().iter().copied().enumerate().filter(|(_, share)| share.count > 0);
        all.reduce(|best, next| if next.1.bytes > best.1.bytes { next } else { best })
    }
}

/// Sums wrap: only a hostile file reaches 2⁶⁴ bytes.
fn sum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
}
