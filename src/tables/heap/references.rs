//! The table `references`.

use crate::analyses::Analyses;
use crate::model::heap::{self, Label, ObjectId};
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use crate::tables::row_numbers::{Key, Order, RowNumbers};
use std::ops::Range;

/// One row for each reference, sorted by source.
pub(in crate::tables) struct References<'h> {
    analyses: &'h Analyses<'h>,
}

impl<'h> References<'h> {
    pub(super) fn of(analyses: &'h Analyses<'h>) -> Self {
        Self { analyses }
    }

    fn all(&self) -> &heap::References {
        &self.analyses.heap.references
    }

    fn sources(&self, rows: Range<usize>) -> impl Iterator<Item = u64> + '_ {
        let references = self.all();
        let mut source = references.owner(rows.start);
        rows.map(move |row| {
            while references.range(source).end <= row {
                source.0 += 1;
            }
            source.0.into()
        })
    }

    /// The approximate number of references per object.
    fn each(&self) -> u64 {
        self.len() as u64 / (self.analyses.heap.len() as u64).max(1) + 1
    }

    fn object(&self, key: Key<'_>) -> Option<ObjectId> {
        let objects = self.analyses.heap.len();
        key.number().map(ObjectId).filter(|object| object.index() < objects)
    }

    fn to(&self, object: ObjectId) -> impl Iterator<Item = usize> + '_ {
        // Referrers contain an object once for each of its references.
        let mut last = None;
        let sources = self.analyses.referrers().of_object(object);
        let sources = sources.filter(move |from| last.replace(*from) != Some(*from));
        let to_object = move |row: &usize| self.all().target(*row) == object;
        sources.flat_map(move |from| self.all().range(from).filter(to_object))
    }
}

impl Rows for References<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("src", "The object that has the reference")
                .of(|this: &Self, rows, cells| cells.integers(this.sources(rows)))
                .found(Self::each, |this, key| {
                    RowNumbers::of(this.object(key).map(|object| this.all().range(object)))
                }),
            Column::number("dst", "The object that it refers to")
                .numbers(|this: &Self, row| this.all().target(row).0.into())
                // The higher cost accounts for reversing all references.
                .found(
                    |this| this.each() + 2,
                    |this, key| {
                        RowNumbers::list(
                            this.object(key).map(|object| this.to(object)).into_iter().flatten(),
                        )
                    },
                ),
            Column::name("label", "The name of the field, the index or the offset")
                .codes(|this: &Self, row| this.analyses.heap.label(row).bits())
                .text(|this, code, text| {
                    Label::from_bits(code).text_in(&this.analyses.heap.names, text)
                }),
            Column::boolean("weak", "Whether it does not keep its object alive")
                .booleans(|this: &Self, row| this.all().is_weak(row)),
        ]
    }

    fn len(&self) -> usize {
        self.all().len()
    }

    fn has_order(&self, by: &[Order<'_>]) -> bool {
        matches!(by, [] | [Order { column: "src", is_descending: false }])
    }
}
