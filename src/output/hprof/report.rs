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
    /// Their sizes as VisualVM shows them. MAT and hprof-slurp show the same, plus what
    /// [`HprofReport::lost`] says they round up.
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

/// The losses of heaps in the order in which they are listed, and whether bytes are counted.
const KINDS: [(LossKind, bool); 19] = [
    (LossKind::RoundedInstance, true),
    (LossKind::RoundedArray, true),
    (LossKind::Inside, true),
    (LossKind::Spilled, false),
    (LossKind::CutSize, true),
    (LossKind::CutExternal, true),
    (LossKind::StringSize, true),
    (LossKind::Lengthened, true),
    (LossKind::StringType, false),
    (LossKind::BytesType, false),
    (LossKind::Contents, true),
    (LossKind::Value, false),
    (LossKind::CutText, false),
    (LossKind::ArrayLabel, false),
    (LossKind::ArrayIndex, false),
    (LossKind::WeakLabel, false),
    (LossKind::Ephemeron, false),
    (LossKind::Reference, false),
    (LossKind::FrameLabel, false),
];

/// Counts what is lost.
#[derive(Debug, Default)]
pub(super) struct Losses {
    counts: [(u64, u64); KINDS.len()],
}

impl Losses {
    #[inline]
    pub(super) fn add(&mut self, kind: LossKind, count: u64) {
        self.counts[kind as usize].0 += count;
    }

    /// Counts one loss of that many bytes, unless it is 0 bytes.
    #[inline]
    pub(super) fn add_bytes(&mut self, kind: LossKind, bytes: u64) {
        self.add_many(kind, 1, bytes);
    }

    /// Counts a number of losses of that many bytes each, unless it is 0 bytes.
    #[inline]
    pub(super) fn add_many(&mut self, kind: LossKind, count: u64, bytes: u64) {
        if bytes > 0 {
            let (known, sum) = &mut self.counts[kind as usize];
            *known += count;
            *sum = sum.saturating_add(count.saturating_mul(bytes));
        }
    }

    pub(super) fn into_list(self) -> Vec<Loss> {
        let counted = KINDS.iter().map(|&(kind, sized)| {
            let (count, bytes) = self.counts[kind as usize];
            Loss::of(kind, count, sized.then_some(bytes))
        });
        counted.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_their_order() {
        assert!(KINDS.iter().enumerate().all(|(index, (kind, ..))| *kind as usize == index));
    }
}
