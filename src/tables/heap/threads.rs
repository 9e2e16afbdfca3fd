//! The table `threads`, which only SQL has: threads, goroutines and isolates.

use crate::analyses::Analyses;
use crate::analysis::threads;
use crate::model::heap::{Heap, Thread, ThreadKind};
use crate::model::names::NameId;
use crate::tables::cells::signed;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::{Rows, row_numbers};
use std::sync::OnceLock;

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
        let analyse = || threads::Threads::of(self.heap(), self.analyses.graph(), false);
        self.analysed.get_or_init(analyse)
    }
}

/// A column of names. An empty name is null.
fn name<'h>(column: Column, name: fn(&Thread) -> Option<NameId>) -> ColumnOf<Threads<'h>> {
    column
        .optional_codes(move |this: &Threads<'_>, row| {
            let name = name(&this.heap().threads[row])?;
            Some(name.0).filter(|_| !this.heap().names.text(name).is_empty())
        })
        .text(|this, code, _| this.heap().names.text(NameId(code)))
}

fn number<'h>(column: Column, number: fn(&Thread) -> Option<u64>) -> ColumnOf<Threads<'h>> {
    column.optional_numbers(move |this: &Threads<'_>, row| {
        number(&this.heap().threads[row]).map(signed)
    })
}

impl Rows for Threads<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            row_numbers("thread"),
            Column::name("kind", "`thread`, `goroutine` or `isolate`")
                .texts(|this: &Self, row| this.heap().threads[row].kind.name()),
            number(Column::number("number", "The runtime's number of the thread"), |thread| {
                Some(thread.id)
            }),
            name(
                Column::name("name", "The name; null for goroutines, which have none"),
                |thread| Some(thread.name).filter(|_| thread.kind != ThreadKind::Goroutine),
            ),
            name(Column::name("state", "What the thread does or waits for"), |thread| {
                Some(thread.state)
            }),
            number(Column::number("wait_us", "How long it has waited").microseconds(), |thread| {
                thread.wait_us
            }),
            number(Column::number("object", "The object that represents the thread"), |thread| {
                Some(thread.object?.0.into())
            }),
            Column::text("id", "What the file calls that object").optional_texts(
                |this: &Self, row| Some(this.heap().id(this.heap().threads[row].object?).into()),
            ),
            Column::number("retained_bytes", "What no other thread and no other root keeps alive")
                .bytes()
                .optional_numbers(|this: &Self, row| {
                    this.analysed().retained.get(row).map(|sum| signed(sum.bytes()))
                }),
        ]
    }

    fn len(&self) -> usize {
        self.heap().threads.len()
    }
}
