//! The tables of a heap.

#[cfg(feature = "query")]
mod frames;
mod objects;
mod order;
mod references;
mod roots;
mod strings;
#[cfg(feature = "query")]
mod threads;
mod types;

use super::relation::{Relation, relation};
use super::{CellBlock, Table};
use crate::analyses::Analyses;
use crate::model::heap::{Heap, ObjectId};
use std::ops::Range;

pub(super) use objects::Objects;
pub(super) use references::References;
pub(super) use roots::Roots;
pub(super) use strings::Strings;
pub use strings::TextLimit;
pub(super) use types::Types;

/// The rows of a table of a heap. `None` for tables of profiles, and for `dump`, whose data is not
/// in the heap.
pub fn of_heap<'h>(
    analyses: &'h Analyses<'h>,
    table: Table,
    texts: TextLimit,
) -> Option<Box<dyn Relation + 'h>> {
    let name = table.name();
    Some(match table {
        Table::Objects => relation(name, Objects::of(analyses)),
        Table::References => relation(name, References::of(analyses)),
        Table::Roots => relation(name, Roots::of(&analyses.heap)),
        Table::Types => relation(name, Types::of(analyses)),
        Table::Strings => relation(name, Strings::of(&analyses.heap, texts)),
        _ => return None,
    })
}

/// The tables of a heap that only SQL has: `threads`, and the `frames` of their stacks.
#[cfg(feature = "query")]
pub(crate) fn of_threads<'h>(analyses: &'h Analyses<'h>) -> [Box<dyn Relation + 'h>; 2] {
    [
        relation("threads", threads::Threads::of(analyses)),
        relation("frames", frames::ThreadFrames::of(&analyses.heap)),
    ]
}

fn ids(heap: &Heap<'_>, rows: Range<usize>, cells: &mut CellBlock) {
    if rows.len() == 1 {
        return cells.append_text(|text| heap.append_id(ObjectId(rows.start as u32), text));
    }
    let numbers = heap.ids.numbers_from(ObjectId(rows.start as u32));
    for number in numbers.take(rows.len()) {
        cells.append_text(|text| heap.ids.append(number, text));
    }
}
