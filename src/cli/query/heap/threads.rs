//! `threads`: one row for each thread, goroutine or isolate.

use crate::analysis::threads::Threads;
use crate::cli::heap::HeldHeap;
use crate::cli::query::relation::{At, Cell, Kind, Lookup, Relation};
use crate::model::heap::ThreadKind;
use std::sync::{Arc, OnceLock};

pub(super) struct HeapThreads {
    held: Arc<HeldHeap>,
    analysed: OnceLock<Threads>,
}

/// `number` is the one by which the runtime knows the thread; `object` and `id` are the object that
/// represents it. `retained_bytes` is what no other thread and no other root keeps alive, as in
/// `threads`.
pub(super) const COLUMNS: [(&str, Kind); 9] = [
    ("thread", Kind::Integer),
    ("kind", Kind::Text),
    ("number", Kind::Integer),
    ("name", Kind::Text),
    ("state", Kind::Text),
    ("wait_us", Kind::Integer),
    ("object", Kind::Integer),
    ("id", Kind::Text),
    ("retained_bytes", Kind::Integer),
];

impl HeapThreads {
    pub(super) fn of(held: &Arc<HeldHeap>) -> Self {
        Self { held: Arc::clone(held), analysed: OnceLock::new() }
    }
}

impl Relation for HeapThreads {
    fn len(&self) -> u64 {
        self.held.get().heap.threads.len() as u64
    }

    fn cell<'c>(&'c self, at: At<'_>, column: usize, text: &'c mut String) -> Cell<'c> {
        let loaded = self.held.get();
        let (heap, row) = (&loaded.heap, at.index());
        let Some(thread) = heap.threads.get(row) else { return Cell::Null };
        let name = |name| Some(heap.names.text(name)).filter(|name| !name.is_empty());
        match COLUMNS[column].0 {
            "thread" => at.row.into(),
            "kind" => thread.kind.name().into(),
            "number" => thread.id.into(),
            // Goroutines have none.
            "name" => name(thread.name).filter(|_| thread.kind != ThreadKind::Goroutine).into(),
            "state" => name(thread.state).into(),
            "wait_us" => thread.wait_us.into(),
            "object" => thread.object.map(|object| object.0).into(),
            "id" => {
                let Some(object) = thread.object else { return Cell::Null };
                heap.append_id(object, text);
                Cell::Text(text)
            }
            "retained_bytes" => {
                let threads = || Threads::of(heap, loaded.graph(), false);
                let threads = self.analysed.get_or_init(threads);
                threads.retained.get(row).map(|sum| sum.bytes()).into()
            }
            _ => Cell::Null,
        }
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup { column: 0, rows: 1 }]
    }
}
