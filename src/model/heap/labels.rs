//! References with their labels, which some readers decode on request.

use super::{EachLabel, Heap, Label, ObjectId, Reference};
use std::borrow::Cow;
use std::ops::Range;

impl Heap<'_> {
    /// The references of an object, with their labels.
    pub fn references_of(
        &self,
        object: ObjectId,
    ) -> impl ExactSizeIterator<Item = Reference> + Clone + '_ {
        self.references_at(object, self.references.range(object))
    }

    /// The references in some rows of an object.
    pub(crate) fn references_at(
        &self,
        object: ObjectId,
        rows: Range<usize>,
    ) -> impl ExactSizeIterator<Item = Reference> + Clone + '_ {
        let labels = self.labels(object, rows.clone());
        rows.enumerate().map(move |(place, row)| Reference {
            target: self.references.target[row],
            label: labels.get(place).copied().unwrap_or(Label::NONE),
            weak: self.references.is_weak(row),
        })
    }

    /// The labels of the references in some rows of an object. Empty if they have none.
    ///
    /// Takes time in proportion to the size of the object, if the reader decodes labels on request.
    pub(crate) fn labels(&self, object: ObjectId, rows: Range<usize>) -> Cow<'_, [Label]> {
        if !self.references.label.is_empty() {
            return Cow::Borrowed(&self.references.label[rows]);
        }
        let mut labels = Vec::new();
        self.decode_labels(object, rows, &mut |label| labels.push(label));
        Cow::Owned(labels)
    }

    fn decode_labels(&self, object: ObjectId, rows: Range<usize>, each: &mut EachLabel<'_>) {
        if let Some(values) = self.values.as_ref().filter(|_| !rows.is_empty()) {
            let first = self.references.range(object).start;
            values.labels(self, object, rows.start - first..rows.end - first, each);
        }
    }

    /// The label of the reference in a row of an object.
    pub(crate) fn label_of(&self, object: ObjectId, row: usize) -> Label {
        if let Some(label) = self.references.label.get(row) {
            return *label;
        }
        let mut label = Label::NONE;
        self.decode_labels(object, row..row + 1, &mut |found| label = found);
        label
    }

    /// The label of the reference in a row.
    pub fn label(&self, row: usize) -> Label {
        match self.references.label.get(row) {
            Some(label) => *label,
            None => self.label_of(self.references.owner(row), row),
        }
    }
}
