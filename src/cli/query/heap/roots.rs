//! `roots`: one row for each root.

use crate::cli::heap::HeldHeap;
use crate::cli::query::relation::{At, Cell, Key, Lookup, Relation, Rows};
use std::sync::{Arc, OnceLock};

/// The columns, by number: those of `Table::Roots`.
mod column {
    pub(super) const OBJECT: usize = 0;
    pub(super) const ID: usize = 1;
    pub(super) const KIND: usize = 2;
    pub(super) const NAME: usize = 3;
    pub(super) const FUNCTION: usize = 4;
}

pub(super) struct Roots {
    held: Arc<HeldHeap>,
    /// Rows, sorted by object.
    by_object: OnceLock<Vec<u32>>,
}

impl Roots {
    pub(super) fn of(held: &Arc<HeldHeap>) -> Self {
        Self { held: Arc::clone(held), by_object: OnceLock::new() }
    }
}

impl Relation for Roots {
    fn len(&self) -> u64 {
        self.held.get().heap.roots.len() as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, text: &'c mut String) -> Cell<'c> {
        let heap = &self.held.get().heap;
        let Some(root) = heap.roots.get(at.index()) else { return Cell::Null };
        match column {
            column::OBJECT => root.object.0.into(),
            column::ID => {
                heap.append_id(root.object, text);
                Cell::Text(text)
            }
            column::KIND => root.kind.name().into(),
            column::NAME => {
                text.push_str(&root.text(&heap.names));
                Cell::Text(text)
            }
            column::FUNCTION => {
                let frame = root.frame.and_then(|frame| heap.frames.get(frame as usize));
                frame.map(|frame| heap.names.text(frame.function)).into()
            }
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup { column: column::OBJECT, rows: 2 }, Lookup { column: column::ID, rows: 2 }]
    }

    fn find(&self, column: usize, key: Key<'_>) -> Rows {
        let heap = &self.held.get().heap;
        let object = match column {
            column::ID => key.text().and_then(|id| heap.find(id)).map(|object| object.0),
            _ => key.number(),
        };
        let Some(object) = object else { return Rows::none() };
        let object_of = |row: &u32| heap.roots[*row as usize].object.0;
        let rows = self.by_object.get_or_init(|| {
            let mut rows: Vec<u32> = (0..heap.roots.len() as u32).collect();
            rows.sort_by_key(object_of);
            rows
        });
        let start = rows.partition_point(|row| object_of(row) < object);
        let found = rows[start..].iter().take_while(|row| object_of(row) == object);
        Rows::List(found.map(|row| u64::from(*row)).collect::<Vec<_>>().into_iter())
    }
}
