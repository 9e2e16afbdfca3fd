//! The report: the data that was written, and the data that was lost.

pub use crate::output::loss::Loss;
pub(super) use crate::output::loss::LossKind;
use serde::Serialize;

/// The counts of the written data, as readers count it: helper objects that are not in the heap are
/// included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HprofReport {
    /// Number of instances and arrays.
    pub instances: u64,
    /// The total size as VisualVM shows it. MAT and hprof-slurp show the same, plus the rounding
    /// that [`HprofReport::lost`] counts.
    pub bytes: u64,
    /// Number of classes.
    pub classes: u64,
    /// Number of root records.
    pub roots: u64,
    /// References from instances and arrays, without null.
    pub references: u64,
    /// The data that the format cannot express.
    #[serde(skip)]
    pub lost: Vec<Loss>,
}

impl HprofReport {
    #[inline]
    pub(super) fn add(&mut self, bytes: u64, references: u64) {
        self.add_many(1, bytes);
        self.references += references;
    }

    /// Adds objects of one size, whose references are counted elsewhere.
    #[inline]
    pub(super) fn add_many(&mut self, count: u64, bytes: u64) {
        self.instances += count;
        self.bytes = self.bytes.saturating_add(count.saturating_mul(bytes));
    }
}

/// The number of loss kinds of heaps, which are the first kinds.
const KINDS: usize = LossKind::FrameLabel as usize + 1;

/// Counts what is lost.
#[derive(Debug, Default)]
pub(super) struct Losses {
    counts: [(u64, u64); KINDS],
}

impl Losses {
    #[inline]
    pub(super) fn add(&mut self, kind: LossKind, count: u64) {
        self.counts[kind as usize].0 += count;
    }

    /// Counts one loss of this many bytes, unless it is 0 bytes.
    #[inline]
    pub(super) fn add_bytes(&mut self, kind: LossKind, bytes: u64) {
        self.add_many(kind, 1, bytes);
    }

    /// Counts a number of losses of this many bytes each, unless it is 0 bytes.
    #[inline]
    pub(super) fn add_many(&mut self, kind: LossKind, count: u64, bytes: u64) {
        if bytes > 0 {
            let (known, sum) = &mut self.counts[kind as usize];
            *known += count;
            *sum = sum.saturating_add(count.saturating_mul(bytes));
        }
    }

    pub(super) fn into_list(self) -> Vec<Loss> {
        let counted = LossKind::ALL.into_iter().zip(self.counts);
        let loss =
            |(kind, (count, bytes))| Loss::of(kind, count, Some(bytes).filter(|sum| *sum > 0));
        counted.filter_map(loss).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_their_order() {
        assert!((0..).zip(LossKind::ALL).all(|(index, kind): (usize, _)| kind as usize == index));
    }
}
