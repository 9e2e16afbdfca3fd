//! The tables `stacks` and `frames`.

use crate::model::names::NameId;
use crate::model::profile::{FrameId, Profile, StackId, StackTree};
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::{Rows, row_numbers};
use crate::tables::row_numbers::RowNumbers;
use std::sync::OnceLock;

/// One row for each stack except the empty one. Rows are in the order of stack numbers, which begin
/// with 1.
pub(in crate::tables) struct Stacks<'p> {
    stacks: &'p StackTree,
    depths: OnceLock<Vec<u32>>,
}

impl<'p> Stacks<'p> {
    pub(super) fn of(stacks: &'p StackTree) -> Self {
        Self { stacks, depths: OnceLock::new() }
    }

    fn depths(&self) -> &[u32] {
        self.depths.get_or_init(|| self.stacks.depths())
    }
}

fn stack(row: usize) -> StackId {
    StackId(row as u32 + 1)
}

impl Rows for Stacks<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("stack", "The number of the stack, from 1")
                .numbers(|_: &Self, row| stack(row).0.into())
                .found(
                    |_| 1,
                    |this, key| {
                        let row = key.number().and_then(|stack| stack.checked_sub(1));
                        RowNumbers::row(row, this.len())
                    },
                ),
            Column::number("parent", "The stack of the caller; null for outermost frames")
                .optional_numbers(|this: &Self, row| {
                    let parent = this.stacks.parent(stack(row));
                    (parent != StackId::EMPTY).then_some(parent.0.into())
                }),
            Column::number("frame", "The innermost frame, a row of `frames`").numbers(
                |this: &Self, row| this.stacks.leaf(stack(row)).map_or(0, |frame| frame.0.into()),
            ),
            Column::small("depth", "The number of callers")
                .numbers(|this: &Self, row| this.depths()[stack(row).index()].into()),
        ]
    }

    fn len(&self) -> usize {
        self.stacks.len() - 1
    }
}

/// One row for each frame.
pub(in crate::tables) struct Frames<'p> {
    profile: &'p Profile,
}

impl<'p> Frames<'p> {
    pub(super) fn of(profile: &'p Profile) -> Self {
        Self { profile }
    }
}

impl Rows for Frames<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            row_numbers("frame"),
            Column::name("function", "The function")
                .texts(|this: &Self, row| this.profile.function_name(FrameId(row as u32))),
            Column::name("file", "Its source file, module or library")
                .codes(|this: &Self, row| this.profile.frames[row].file.0)
                .text(|this, code, _| this.profile.names.text(NameId(code))),
            Column::small("line", "The line; null if it is unknown").optional_numbers(
                |this: &Self, row| {
                    Some(this.profile.frames[row].line.into()).filter(|line| *line > 0)
                },
            ),
        ]
    }

    fn len(&self) -> usize {
        self.profile.frames.len()
    }
}
