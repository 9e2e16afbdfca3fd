//! `refs`: one row for each reference, sorted by `src`.

use crate::cli::heap::HeldHeap;
use crate::cli::query::relation::{At, Cell, Key, Lookup, Order, Relation, Rows};
use crate::model::heap::{ObjectId, References};
use std::sync::Arc;

/// The columns, by number: those of `Table::References`.
mod column {
    pub(super) const SRC: usize = 0;
    pub(super) const DST: usize = 1;
    pub(super) const LABEL: usize = 2;
    pub(super) const WEAK: usize = 3;
}

pub(super) struct Refs {
    held: Arc<HeldHeap>,
}

impl Refs {
    pub(super) fn of(held: &Arc<HeldHeap>) -> Self {
        Self { held: Arc::clone(held) }
    }

    fn references(&self) -> &References {
        &self.held.get().heap.references
    }
}

impl Relation for Refs {
    fn len(&self) -> u64 {
        self.references().len() as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, text: &'c mut String) -> Cell<'c> {
        let (references, row) = (self.references(), at.index());
        match column {
            column::SRC => {
                let owner = owner(references, at);
                at.hint.set(owner.0);
                owner.0.into()
            }
            column::DST => references.target(row).0.into(),
            column::LABEL => {
                Cell::Text(references.label(row).text_in(&self.held.get().heap.names, text))
            }
            column::WEAK => references.is_weak(row).into(),
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        let each = self.len() / (self.held.get().heap.len() as u64).max(1) + 1;
        vec![
            Lookup { column: column::SRC, rows: each },
            // Reversing all references has a price.
            Lookup { column: column::DST, rows: each + 2 },
        ]
    }

    fn find(&self, column: usize, key: Key<'_>) -> Rows {
        let loaded = self.held.get();
        let objects = loaded.heap.len();
        let object = key.number().map(ObjectId).filter(|object| object.index() < objects);
        let Some(object) = object else { return Rows::none() };
        if column == column::SRC {
            let rows = self.references().range(object);
            return Rows::Range(rows.start as u64..rows.end as u64);
        }
        // An object comes once for each of its references.
        let mut last = None;
        let sources =
            loaded.referrers().of_object(object).filter(|from| last.replace(*from) != Some(*from));
        let to_object = |row: &usize| self.references().target(*row) == object;
        let rows: Vec<u64> = sources
            .flat_map(|from| self.references().range(from).filter(to_object))
            .map(|row| row as u64)
            .collect();
        Rows::List(rows.into_iter())
    }

    fn has_order(&self, by: &[Order]) -> bool {
        matches!(by, [] | [Order { column: column::SRC, is_descending: false }])
    }

    fn ordered(&self, by: &[Order]) -> Option<Rows> {
        self.has_order(by).then(|| Rows::Range(0..self.len()))
    }
}

/// The object that has a reference: mostly the one of the row before, or one a little further.
#[inline]
fn owner(references: &References, at: At<'_>) -> ObjectId {
    const NEAR: u32 = 16;
    let row = at.index();
    let first = at.hint.get();
    for object in (first..first.saturating_add(NEAR)).map(ObjectId) {
        if object.index() + 1 >= references.first.len() {
            break;
        }
        let rows = references.range(object);
        if rows.contains(&row) {
            return object;
        }
        if rows.start > row {
            break;
        }
    }
    references.owner(row)
}
