//! The tables of the files that a query reads.

use super::virtual_table::Tables;
use crate::cli::heap::HeldHeap;
use std::sync::Arc;

/// SQLite's name of the schema of tables without one, and the schemas of two files.
pub(super) const MAIN: &str = "main";
pub(super) const OLD: &str = "old";
pub(super) const NEW: &str = "new";

/// The tables of a file, and its heap if it has one, for functions.
pub(super) struct FileTables {
    pub(super) tables: Tables,
    pub(super) heap: Option<Arc<HeldHeap>>,
}
