//! The tables `stacks` and `frames`.

use crate::model::names::NameId;
use crate::model::profile::{FrameId, Profile, StackId, StackTree};
use crate::output::tables::{Table, TableCells, TableRows};
use std::borrow::Cow;
use std::ops::Range;

/// One row for each stack but the empty one. Rows are in the order of their numbers, which begin
/// with 1.
pub(super) struct StackRows<'p> {
    stacks: &'p StackTree,
    depths: Vec<u32>,
}

impl<'p> StackRows<'p> {
    pub(super) fn new(stacks: &'p StackTree) -> Self {
        Self { stacks, depths: stacks.depths() }
    }
}

impl TableRows for StackRows<'_> {
    fn table(&self) -> Table {
        Table::Stacks
    }

    fn len(&self) -> usize {
        self.stacks.len() - 1
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let stacks = rows.map(|row| StackId(row as u32 + 1));
        match column {
            "stack" => cells.integers(stacks.map(|stack| stack.0.into())),
            "parent" => cells.optional_integers(stacks.map(|stack| {
                let parent = self.stacks.parent(stack);
                (parent != StackId::EMPTY).then_some(parent.0.into())
            })),
            "frame" => cells.integers(
                stacks.map(|stack| self.stacks.leaf(stack).map_or(0, |frame| frame.0.into())),
            ),
            _ => cells.integers(stacks.map(|stack| self.depths[stack.index()].into())),
        }
    }
}

/// One row for each frame.
pub(super) struct FrameRows<'p> {
    profile: &'p Profile,
}

impl<'p> FrameRows<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self { profile }
    }
}

impl TableRows for FrameRows<'_> {
    fn table(&self) -> Table {
        Table::Frames
    }

    fn len(&self) -> usize {
        self.profile.frames.len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let profile = self.profile;
        let frames = rows.map(|row| FrameId(row as u32));
        match column {
            "frame" => cells.integers(frames.map(|frame| frame.0.into())),
            "function" => frames.for_each(|frame| cells.text(profile.function_name(frame))),
            "file" => cells.codes(frames.map(|frame| profile.frame(frame).file.0)),
            _ => cells.optional_integers(frames.map(|frame| {
                let line = profile.frame(frame).line;
                (line > 0).then_some(line.into())
            })),
        }
    }

    fn text(&self, _: &str, code: u32) -> Cow<'_, str> {
        self.profile.names.text(NameId(code)).into()
    }
}
