//! `stacks`: one row for each stack but the empty one. A stack is that of its caller and a frame.

use crate::cli::query::relation::{At, Cell, Key, Lookup, Relation, Rows};
use crate::model::profile::{Profile, StackId};
use std::sync::{Arc, OnceLock};

/// The columns, by number: those of `Table::Stacks`.
mod column {
    pub(super) const STACK: usize = 0;
    pub(super) const PARENT: usize = 1;
    pub(super) const FRAME: usize = 2;
    pub(super) const DEPTH: usize = 3;
}

pub(super) struct Stacks {
    profile: Arc<Profile>,
    depths: OnceLock<Vec<u32>>,
}

impl Stacks {
    pub(super) fn of(profile: &Arc<Profile>) -> Self {
        Self { profile: Arc::clone(profile), depths: OnceLock::new() }
    }
}

impl Relation for Stacks {
    fn len(&self) -> u64 {
        self.profile.stacks.len() as u64 - 1
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, _: &'c mut String) -> Cell<'c> {
        let stacks = &self.profile.stacks;
        let stack = StackId(at.row as u32 + 1);
        let caller = Some(stacks.parent(stack)).filter(|parent| *parent != StackId::EMPTY);
        match column {
            column::STACK => stack.0.into(),
            column::PARENT => caller.map(|parent| parent.0).into(),
            column::FRAME => stacks.leaf(stack).map(|frame| frame.0).into(),
            column::DEPTH => {
                self.depths.get_or_init(|| stacks.depths()).get(stack.index()).copied().into()
            }
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup { column: column::STACK, rows: 1 }]
    }

    fn find(&self, _: usize, key: Key<'_>) -> Rows {
        let row = key.number().and_then(|stack| stack.checked_sub(1));
        Rows::one(row.filter(|row| u64::from(*row) < self.len()))
    }
}
