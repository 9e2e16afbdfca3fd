//! The table `frames` of a heap, which only SQL has: the call frames of its threads.

use crate::model::heap::{Heap, StackFrame};
use crate::model::names::NameId;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::{Rows, row_numbers};
use crate::tables::row_numbers::{Key, RowNumbers};

/// One row for each call frame.
pub(super) struct ThreadFrames<'h> {
    heap: &'h Heap<'h>,
    /// Thread and depth, by frame.
    owners: Vec<Option<(u32, u32)>>,
}

impl<'h> ThreadFrames<'h> {
    pub(super) fn of(heap: &'h Heap<'h>) -> Self {
        let mut owners = vec![None; heap.frames.len()];
        for (number, thread) in (0..).zip(&heap.threads) {
            let frames = owners.get_mut(thread.frames.start as usize..thread.frames.end as usize);
            for (depth, frame) in (0..).zip(frames.into_iter().flatten()) {
                *frame = Some((number, depth));
            }
        }
        Self { heap, owners }
    }

    fn of_thread(&self, key: Key<'_>) -> RowNumbers {
        let thread = key.number().and_then(|number| self.heap.threads.get(number as usize));
        RowNumbers::of(
            thread.map(|thread| thread.frames.start as usize..thread.frames.end as usize),
        )
    }
}

impl Rows for ThreadFrames<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        fn name<'h>(column: Column, name: fn(&StackFrame) -> NameId) -> ColumnOf<ThreadFrames<'h>> {
            column
                .codes(move |this: &ThreadFrames<'_>, row| name(&this.heap.frames[row]).0)
                .text(|this, code, _| this.heap.names.text(NameId(code)))
        }
        vec![
            row_numbers("frame"),
            Column::number("thread", "The row in `threads`")
                .optional_numbers(|this: &Self, row| Some(this.owners[row]?.0.into()))
                .found(
                    |this| this.len() as u64 / this.heap.threads.len().max(1) as u64 + 2,
                    Self::of_thread,
                ),
            Column::small("depth", "0 is the innermost frame")
                .optional_numbers(|this: &Self, row| Some(this.owners[row]?.1.into())),
            name(Column::name("function", "The function"), |frame| frame.function),
            name(Column::name("file", "Its source file"), |frame| frame.file),
            Column::small("line", "The line; null if it is unknown").optional_numbers(
                |this: &Self, row| Some(this.heap.frames[row].line.into()).filter(|line| *line > 0),
            ),
        ]
    }

    fn len(&self) -> usize {
        self.owners.len()
    }
}
