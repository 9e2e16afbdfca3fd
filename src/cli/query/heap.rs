//! The tables of a heap.

mod frames;
mod objects;
mod order;
mod refs;
mod roots;
mod threads;
mod types;

use super::relation::Relation;
use crate::cli::resident::HeldHeap;
use order::TypeOrder;
use std::sync::Arc;

/// The tables of a heap, in the order in which they are listed.
pub(super) fn relations(held: &Arc<HeldHeap>) -> Vec<Box<dyn Relation>> {
    let order = Arc::new(TypeOrder::of(&held.get().heap));
    vec![
        Box::new(objects::Objects::of(held, &order)),
        Box::new(refs::Refs::of(held)),
        Box::new(types::Types::of(held, &order)),
        Box::new(roots::Roots::of(held)),
        Box::new(threads::HeapThreads::of(held)),
        Box::new(frames::HeapFrames::of(held)),
    ]
}
