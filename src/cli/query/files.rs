//! The tables of the files that a query reads.

use super::relations::{LoadedFile, Model, Relations};
use super::virtual_table::{Shared, Tables};
use crate::cli::heap::HeldHeap;
use std::sync::Arc;

/// SQLite's default schema, and the schemas of an older and a newer file.
pub(super) const MAIN: &str = "main";
pub(super) const OLD: &str = "old";
pub(super) const NEW: &str = "new";

/// The tables of a file, and its heap if it has one, for functions.
pub(super) struct FileTables {
    pub(super) tables: Tables,
    pub(super) heap: Option<Arc<HeldHeap>>,
}

impl FileTables {
    pub(super) fn of(file: LoadedFile) -> Self {
        let heap = match &file.model {
            Model::Heap(held) => Some(Arc::clone(held)),
            Model::Profile(_) => None,
        };
        let relations = Arc::new(Relations::of(file));
        let count = relations.borrow_dependent().len();
        let tables = (0..count).map(|number| Shared::new(Arc::clone(&relations), number)).collect();
        Self { tables, heap }
    }
}
