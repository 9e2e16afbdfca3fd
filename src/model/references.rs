//! The references between objects, in compressed rows.

use super::columns::Offsets;
use super::label::Label;
use super::object::ObjectId;
use std::ops::Range;

/// The references of all objects, in compressed rows: those of object o are `first[o]..first[o +
/// 1]`, in the order of the file.
#[derive(Clone, Debug)]
pub struct References {
    /// The first row of each object, and the number of rows at the end.
    pub(crate) first: Offsets,
    pub(crate) target: Vec<ObjectId>,
    /// The label of each reference. Empty if no reference has a label, or if the reader decodes
    /// labels on request: [`Heap::labels`](super::heap::Heap::labels) returns both.
    pub(crate) label: Vec<Label>,
    /// One bit per reference: set if it does not keep its target alive. Empty if none is weak.
    pub(crate) weak: Vec<u64>,
}

/// A reference, taken out of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The object that the reference points to.
    pub target: ObjectId,
    /// The label of the reference.
    pub label: Label,
    /// Whether the reference is weak: it does not keep its target alive.
    pub weak: bool,
}

impl References {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether there are no references.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// The rows of an object's references.
    #[inline]
    pub fn range(&self, object: ObjectId) -> Range<usize> {
        self.first.get(object.index()) as usize..self.first.get(object.index() + 1) as usize
    }

    /// Whether the reference in this row is weak.
    #[inline]
    pub fn is_weak(&self, row: usize) -> bool {
        self.weak.get(row / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// The targets of an object's references, in the order of the references. An object may occur
    /// several times.
    #[inline]
    pub fn targets(&self, object: ObjectId) -> &[ObjectId] {
        &self.target[self.range(object)]
    }

    /// The targets of an object's references that keep them alive, in the order of the references.
    /// An object may occur several times.
    #[inline]
    pub fn strong_targets(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.range(object).filter(|row| !self.is_weak(*row)).map(|row| self.target[row])
    }

    /// Whether any reference in these rows is weak.
    #[inline]
    pub fn any_weak(&self, rows: Range<usize>) -> bool {
        if self.weak.is_empty() || rows.is_empty() {
            return false;
        }
        let (first, last) = (rows.start / 64, (rows.end - 1) / 64);
        let words = self.weak.get(first..).unwrap_or_default().iter().take(last - first + 1);
        // Bits of the first word before the first row do not count, nor do bits of the last word
        // after the last row.
        let before = |word: usize| if word == first { !(u64::MAX << (rows.start % 64)) } else { 0 };
        let behind =
            |word: usize| if word == last { !(u64::MAX >> (63 - (rows.end - 1) % 64)) } else { 0 };
        (first..).zip(words).any(|(word, bits)| bits & !before(word) & !behind(word) != 0)
    }

    /// The targets of the references in these rows that keep them alive.
    pub(crate) fn strong(&self, rows: Range<usize>) -> impl Iterator<Item = ObjectId> + '_ {
        let targets = self.target[rows.clone()].iter().zip(rows);
        targets.filter(|(_, row)| !self.is_weak(*row)).map(|(target, _)| *target)
    }

    /// The number of references that fit without another allocation.
    #[doc(hidden)]
    pub fn capacity(&self) -> usize {
        self.target.capacity()
    }

    /// The target of the reference in this row.
    #[inline]
    pub fn target(&self, row: usize) -> ObjectId {
        self.target[row]
    }

    /// The object that has the reference in this row.
    pub fn owner(&self, row: usize) -> ObjectId {
        // The last object whose references begin at or before the row: objects without references
        // have the same beginning.
        let (mut low, mut high) = (0, self.first.len().saturating_sub(1));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.first.get(middle) <= row as u64 { low = middle } else { high = middle }
        }
        ObjectId(low as u32)
    }

    /// The references of an object with the labels that are stored, for readers.
    /// [`Heap::references_of`](super::heap::Heap::references_of) has those that a reader decodes too.
    pub(crate) fn stored(
        &self,
        object: ObjectId,
    ) -> impl ExactSizeIterator<Item = Reference> + Clone + '_ {
        self.range(object).map(|row| Reference {
            target: self.target[row],
            label: self.label.get(row).copied().unwrap_or(Label::NONE),
            weak: self.is_weak(row),
        })
    }
}

/// A pair of weak references of one object. The second keeps its target alive if the target of the
/// first is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ephemeron {
    /// The object that has the two references, such as a `_WeakProperty`.
    pub holder: ObjectId,
    /// The object that has to be alive.
    pub key: ObjectId,
    /// The object that the key keeps alive.
    pub value: ObjectId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_weak_looks_at_the_bits_of_the_rows_only() {
        for weak in [0, 1, 63, 64, 100, 127, 128, 191] {
            let mut references = References {
                first: Offsets::zeros(1, 0),
                target: Vec::new(),
                label: Vec::new(),
                weak: vec![0; 3],
            };
            references.weak[weak / 64] |= 1 << (weak % 64);
            for start in 0..200 {
                for end in start..200 {
                    let expected = (start..end).any(|row| references.is_weak(row));
                    assert_eq!(
                        references.any_weak(start..end),
                        expected,
                        "{weak} in {start}..{end}"
                    );
                }
            }
        }
    }
}
