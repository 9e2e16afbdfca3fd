//! What was written, and what could not be.

pub use crate::output::loss::Loss;
use serde::Serialize;

/// What was written, as readers count it: what the heap has no object for is included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HprofReport {
    /// Instances and arrays.
    pub instances: u64,
    /// Their sizes as VisualVM shows them. MAT and hprof-slurp show the same, plus what [`HprofReport::lost`] says they round up.
    pub bytes: u64,
    /// Classes.
    pub classes: u64,
    /// Root records.
    pub roots: u64,
    /// References from instances and arrays, without null.
    pub references: u64,
    /// What the format cannot say.
    #[serde(skip)]
    pub lost: Vec<Loss>,
}

impl HprofReport {
    #[inline]
    pub(super) fn add(&mut self, bytes: u64, references: u64) {
        self.instances += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.references += references;
    }

    /// Adds objects of one size, whose references are counted elsewhere.
    pub(super) fn add_many(&mut self, count: u64, bytes: u64) {
        self.instances += count;
        self.bytes = self.bytes.saturating_add(count.saturating_mul(bytes));
    }
}

/// Kinds of losses, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossKind {
    RoundedInstance,
    RoundedArray,
    Inside,
    Spilled,
    CutSize,
    CutExternal,
    StringSize,
    Lengthened,
    StringType,
    BytesType,
    Contents,
    Value,
    CutText,
    ArrayLabel,
    ArrayIndex,
    WeakLabel,
    Ephemeron,
    Reference,
    FrameLabel,
}

/// What is said of each kind, and whether bytes are counted.
const KINDS: [(LossKind, &str, bool); 19] = [
    (LossKind::RoundedInstance, "sizes that MAT and hprof-slurp round up (VisualVM does not)", true),
    (LossKind::RoundedArray, "sizes rounded up", true),
    (LossKind::Inside, "external memory of up to 8 bytes, which is rounded to 0 or 8 bytes of the object itself", true),
    (
        LossKind::Spilled,
        "objects with more references than bytes: the array for their external memory holds them, one step further away",
        false,
    ),
    (LossKind::CutSize, "sizes cut short: zeros stand for at most 32 MiB, and 256 bytes an object, in all", true),
    (LossKind::CutExternal, "external memory cut short: zeros stand for at most 32 MiB, and 256 bytes an object, in all", true),
    (LossKind::StringSize, "sizes of texts, which are a java.lang.String and an array: their difference", true),
    (LossKind::Lengthened, "lengths of Java's arrays, to which zeros were added to make their sizes right", true),
    (LossKind::StringType, "type names of texts, which are java.lang.String", false),
    (LossKind::BytesType, "type names of memory blocks over 2 KiB, which are byte[]", false),
    (LossKind::Contents, "memory contents that have no place", true),
    (LossKind::Value, "values that have no place", false),
    (LossKind::CutText, "texts cut short", false),
    (LossKind::ArrayLabel, "names of references of objects that are written as arrays", false),
    (LossKind::ArrayIndex, "indexes of references of objects that are written as arrays", false),
    (LossKind::WeakLabel, "names of weak references, which are called referent", false),
    (LossKind::Ephemeron, "ephemerons: their value is kept alive by the holder alone", false),
    (LossKind::Reference, "references beyond the longest array", false),
    (LossKind::FrameLabel, "names of variables of call frames", false),
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

    /// Counts one loss of so many bytes, if it is any.
    #[inline]
    pub(super) fn add_bytes(&mut self, kind: LossKind, bytes: u64) {
        if bytes > 0 {
            let (count, sum) = &mut self.counts[kind as usize];
            *count += 1;
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Counts so many losses of so many bytes each, if it is any.
    pub(super) fn add_many(&mut self, kind: LossKind, count: u64, bytes: u64) {
        if bytes > 0 {
            let (known, sum) = &mut self.counts[kind as usize];
            *known += count;
            *sum = sum.saturating_add(count.saturating_mul(bytes));
        }
    }

    pub(super) fn into_list(self) -> Vec<Loss> {
        let counted = KINDS.iter().map(|&(kind, what, sized)| {
            let (count, bytes) = self.counts[kind as usize];
            Loss::of(what, count, sized.then_some(bytes))
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
