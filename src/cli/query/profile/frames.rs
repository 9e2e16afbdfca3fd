//! `frames` of a profile: one row for each position in the program.

use crate::cli::query::relation::{At, Cell, Lookup, Relation};
use crate::model::profile::{FrameId, Profile};
use std::sync::Arc;

/// The columns, by number: those of `Table::Frames`.
mod column {
    pub(super) const FRAME: usize = 0;
    pub(super) const FUNCTION: usize = 1;
    pub(super) const FILE: usize = 2;
    pub(super) const LINE: usize = 3;
}

pub(super) struct Frames {
    profile: Arc<Profile>,
}

impl Frames {
    pub(super) fn of(profile: &Arc<Profile>) -> Self {
        Self { profile: Arc::clone(profile) }
    }
}

impl Relation for Frames {
    fn len(&self) -> u64 {
        self.profile.frames.len() as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, _: &'c mut String) -> Cell<'c> {
        let Some(frame) = self.profile.frames.get(at.index()) else { return Cell::Null };
        match column {
            column::FRAME => at.row.into(),
            column::FUNCTION => self.profile.function_name(FrameId(at.row as u32)).into(),
            column::FILE => self.profile.names.text(frame.file).into(),
            column::LINE => Some(frame.line).filter(|line| *line > 0).into(),
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup { column: column::FRAME, rows: 1 }]
    }
}
