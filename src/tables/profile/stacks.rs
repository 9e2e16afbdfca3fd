//! The tables `stacks` and `frames`.

use crate::model::names::NameId;
use crate::model::profile::{FrameId, Profile, StackId, StackTree};
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use crate::tables::row_numbers::{Key, RowNumbers};
use std::ops::Range;
use std::sync::OnceLock;

/// One row for each stack but the empty one. Rows are in the order of their numbers, which begin
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

fn stacks(rows: Range<usize>) -> impl Iterator<Item = StackId> {
    rows.map(|row| StackId(row as u32 + 1))
}

impl Rows for Stacks<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("stack", "The number of the stack, from 1")
                .of(|_: &Self, rows, cells| {
                    cells.integers(stacks(rows).map(|stack| stack.0.into()));
                })
                .found(
                    |_| 1,
                    |this, key| {
                        let row = key.number().and_then(|stack| stack.checked_sub(1));
                        row.map_or_else(RowNumbers::none, |row| {
                            RowNumbers::row(Key::Number(row.into()), this.len())
                        })
                    },
                ),
            Column::number("parent", "The stack of the caller; null for outermost frames")
                .or_null()
                .of(|this: &Self, rows, cells| {
                    cells.optional_integers(stacks(rows).map(|stack| {
                        let parent = this.stacks.parent(stack);
                        (parent != StackId::EMPTY).then_some(parent.0.into())
                    }));
                }),
            Column::number("frame", "The innermost frame, a row of `frames`").of(
                |this: &Self, rows, cells| {
                    let leaf = |stack| this.stacks.leaf(stack).map_or(0, |frame| frame.0.into());
                    cells.integers(stacks(rows).map(leaf));
                },
            ),
            Column::small("depth", "The number of callers").of(|this: &Self, rows, cells| {
                let depth = |stack: StackId| this.depths()[stack.index()].into();
                cells.integers(stacks(rows).map(depth));
            }),
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

fn frames(rows: Range<usize>) -> impl Iterator<Item = FrameId> {
    rows.map(|row| FrameId(row as u32))
}

impl Rows for Frames<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("frame", "The number of the row")
                .of(|_: &Self, rows, cells| cells.integers(rows.map(|row| row as u64)))
                .found(|_| 1, |this, key| RowNumbers::row(key, this.len())),
            Column::name("function", "The function").of(|this: &Self, rows, cells| {
                frames(rows).for_each(|frame| cells.text(this.profile.function_name(frame)));
            }),
            Column::name("file", "Its source file, module or library")
                .of(|this: &Self, rows, cells| {
                    cells.codes(frames(rows).map(|frame| this.profile.frame(frame).file.0));
                })
                .text(|this, code, _| this.profile.names.text(NameId(code))),
            Column::small("line", "The line; null if it is unknown").or_null().of(
                |this: &Self, rows, cells| {
                    let lines = frames(rows).map(|frame| this.profile.frame(frame).line);
                    cells.optional_integers(lines.map(|line| (line > 0).then_some(line.into())));
                },
            ),
        ]
    }

    fn len(&self) -> usize {
        self.profile.frames.len()
    }
}
