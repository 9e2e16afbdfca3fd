//! The table `frames` of a heap, which only SQL has: the call frames of its threads.

use crate::model::heap::{Heap, StackFrame};
use crate::model::names::NameId;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
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
        for (thread, of) in (0..).zip(&heap.threads) {
            let frames = owners.get_mut(of.frames.start as usize..of.frames.end as usize);
            for (depth, frame) in (0..).zip(frames.into_iter().flatten()) {
                *frame = Some((thread, depth));
            }
        }
        Self { heap, owners }
    }

    fn of_thread(&self, key: Key<'_>) -> RowNumbers {
        let thread = key.number().and_then(|number| self.heap.threads.get(number as usize));
        thread.map_or_else(RowNumbers::none, |thread| {
            RowNumbers::Range(thread.frames.start as usize..thread.frames.end as usize)
        })
    }
}

impl Rows for ThreadFrames<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        fn owner<'h>(column: Column, of: fn((u32, u32)) -> u32) -> ColumnOf<ThreadFrames<'h>> {
            column.or_null().of(move |this: &ThreadFrames<'_>, rows, cells| {
                let owners = this.owners[rows].iter();
                cells.optional_integers(owners.map(|owner| owner.map(|owner| of(owner).into())));
            })
        }
        fn name<'h>(column: Column, of: fn(&StackFrame) -> NameId) -> ColumnOf<ThreadFrames<'h>> {
            column
                .of(move |this: &ThreadFrames<'_>, rows, cells| {
                    cells.codes(this.heap.frames[rows].iter().map(|frame| of(frame).0));
                })
                .text(|this, code, _| this.heap.names.text(NameId(code)))
        }
        vec![
            Column::number("frame", "The number of the row")
                .of(|_: &Self, rows, cells| cells.integers(rows.map(|row| row as u64)))
                .found(|_| 1, |this, key| RowNumbers::row(key, this.len())),
            owner(Column::number("thread", "The row in `threads`"), |(thread, _)| thread).found(
                |this| this.len() as u64 / this.heap.threads.len().max(1) as u64 + 2,
                Self::of_thread,
            ),
            owner(Column::small("depth", "0 is the innermost frame"), |(_, depth)| depth),
            name(Column::name("function", "The function"), |frame| frame.function),
            name(Column::name("file", "Its source file"), |frame| frame.file),
            Column::small("line", "The line; null if it is unknown").or_null().of(
                |this: &Self, rows, cells| {
                    let lines = this.heap.frames[rows].iter().map(|frame| frame.line);
                    cells.optional_integers(lines.map(|line| (line > 0).then_some(line.into())));
                },
            ),
        ]
    }

    fn len(&self) -> usize {
        self.owners.len()
    }
}
