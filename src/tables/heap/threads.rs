//! The table `threads`, which only SQL has: threads, goroutines and isolates.

use crate::analyses::Analyses;
use crate::analysis::threads;
use crate::model::heap::{Heap, Thread, ThreadKind};
use crate::model::names::NameId;
use crate::tables::cells::signed;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use crate::tables::row_numbers::RowNumbers;
use std::sync::OnceLock;

/// One row for each thread.
pub(super) struct Threads<'h> {
    analyses: &'h Analyses<'h>,
    analysed: OnceLock<threads::Threads>,
}

impl<'h> Threads<'h> {
    pub(super) fn of(analyses: &'h Analyses<'h>) -> Self {
        Self { analyses, analysed: OnceLock::new() }
    }

    fn heap(&self) -> &'h Heap<'h> {
        &self.analyses.heap
    }

    fn analysed(&self) -> &threads::Threads {
        let of = || threads::Threads::of(self.heap(), self.analyses.graph(), false);
        self.analysed.get_or_init(of)
    }

    fn retained(&self, row: usize) -> Option<i64> {
        self.analysed().retained.get(row).map(|sum| signed(sum.bytes()))
    }
}

/// A column of names, of which the empty one is null.
fn name<'h>(column: Column, of: fn(&Thread) -> Option<NameId>) -> ColumnOf<Threads<'h>> {
    column
        .or_null()
        .of(move |this: &Threads<'_>, rows, cells| {
            let names = &this.heap().names;
            let named = |thread| of(thread).filter(|name| !names.text(*name).is_empty());
            cells.optional_codes(this.heap().threads[rows].iter().map(|of| Some(named(of)?.0)));
        })
        .text(|this, code, _| this.heap().names.text(NameId(code)))
}

fn number<'h>(column: Column, of: fn(&Thread) -> Option<u64>) -> ColumnOf<Threads<'h>> {
    column.or_null().of(move |this: &Threads<'_>, rows, cells| {
        let threads = this.heap().threads[rows].iter();
        cells.optional_integers(threads.map(|thread| of(thread).map(signed)));
    })
}

impl Rows for Threads<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("thread", "The number of the row")
                .of(|_: &Self, rows, cells| cells.integers(rows.map(|row| row as u64)))
                .found(|_| 1, |this, key| RowNumbers::row(key, this.len())),
            Column::name("kind", "`thread`, `goroutine` or `isolate`").of(
                |this: &Self, rows, cells| {
                    let threads = this.heap().threads[rows].iter();
                    threads.for_each(|thread| cells.text(thread.kind.name()));
                },
            ),
            number(Column::number("number", "The runtime's number of the thread"), |of| {
                Some(of.id)
            }),
            name(Column::name("name", "The name; null for goroutines, which have none"), |of| {
                Some(of.name).filter(|_| of.kind != ThreadKind::Goroutine)
            }),
            name(Column::name("state", "What the thread does or waits for"), |of| Some(of.state)),
            number(Column::number("wait_us", "How long it has waited").microseconds(), |of| {
                of.wait_us
            }),
            number(Column::number("object", "The object that represents the thread"), |of| {
                of.object.map(|object| object.0.into())
            }),
            Column::text("id", "What the file calls that object").or_null().of(
                |this: &Self, rows, cells| {
                    for thread in &this.heap().threads[rows] {
                        let id = thread.object.map(|object| this.heap().id(object));
                        cells.optional_text(id.as_deref());
                    }
                },
            ),
            Column::number("retained_bytes", "What no other thread and no other root keeps alive")
                .bytes()
                .or_null()
                .of(|this: &Self, rows, cells| {
                    cells.optional_integers(rows.map(|row| this.retained(row)));
                }),
        ]
    }

    fn len(&self) -> usize {
        self.heap().threads.len()
    }
}
