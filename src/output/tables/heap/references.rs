//! The table `references`.

use crate::model::heap::{Heap, Label, ObjectId};
use crate::output::tables::{Table, TableCells, TableRows};
use std::borrow::Cow;
use std::ops::Range;

/// One row for each reference, sorted by source.
pub(super) struct ReferenceRows<'h, 'a> {
    heap: &'h Heap<'a>,
    /// The source of the last row.
    source: ObjectId,
}

impl<'h, 'a> ReferenceRows<'h, 'a> {
    pub(super) fn new(heap: &'h Heap<'a>) -> Self {
        Self { heap, source: ObjectId(0) }
    }
}

impl TableRows for ReferenceRows<'_, '_> {
    fn table(&self) -> Table {
        Table::References
    }

    fn len(&self) -> usize {
        self.heap.references().len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let references = self.heap.references();
        match column {
            "src" => {
                let source = &mut self.source;
                cells.integers(rows.map(|row| {
                    while references.range(*source).end <= row {
                        source.0 += 1;
                    }
                    source.0.into()
                }));
            }
            "dst" => cells.integers(rows.map(|row| references.target(row).0.into())),
            "label" => cells.codes(rows.map(|row| references.label(row).bits())),
            _ => cells.booleans(rows.map(|row| references.is_weak(row))),
        }
    }

    fn text(&self, _: &str, code: u32) -> Cow<'_, str> {
        Label::from_bits(code).text(self.heap.names())
    }
}
