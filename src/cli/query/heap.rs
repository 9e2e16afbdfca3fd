//! The tables of a heap.

mod frames;
mod objects;
mod order;
mod refs;
mod roots;
mod threads;
mod types;

use super::relation::SqlTable;
use crate::cli::heap::HeldHeap;
use crate::output::tables::Table;
use order::TypeOrder;
use std::sync::Arc;

/// The tables of a heap, in the order in which they are listed.
pub(super) fn tables(held: &Arc<HeldHeap>) -> Vec<SqlTable> {
    let order = Arc::new(TypeOrder::of(&held.get().heap));
    // SQL has a keyword `references`.
    let refs = SqlTable { name: "refs", ..SqlTable::of(Table::References, refs::Refs::of(held)) };
    vec![
        SqlTable::of(Table::Objects, objects::Objects::of(held, &order)),
        refs,
        SqlTable::of(Table::Types, types::Types::of(held, &order)),
        SqlTable::of(Table::Roots, roots::Roots::of(held)),
        SqlTable::own("threads", &threads::COLUMNS, threads::HeapThreads::of(held)),
        SqlTable::own("frames", &frames::COLUMNS, frames::HeapFrames::of(held)),
    ]
}
