//! The table `roots`.

use crate::model::heap::{Heap, RootKind};
use crate::model::names::NameId;
use crate::output::tables::{Table, TableCells, TableRows};
use std::borrow::Cow;
use std::ops::Range;

/// One row for each root.
pub(super) struct RootRows<'h, 'a> {
    heap: &'h Heap<'a>,
}

impl<'h, 'a> RootRows<'h, 'a> {
    pub(super) fn new(heap: &'h Heap<'a>) -> Self {
        Self { heap }
    }
}

impl TableRows for RootRows<'_, '_> {
    fn table(&self) -> Table {
        Table::Roots
    }

    fn len(&self) -> usize {
        self.heap.roots().len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let heap = self.heap;
        let roots = &heap.roots()[rows];
        match column {
            "object" => cells.integers(roots.iter().map(|root| root.object.0.into())),
            "id" => roots.iter().for_each(|root| cells.text(&heap.id(root.object))),
            "kind" => cells.codes(roots.iter().map(|root| kind_code(root.kind))),
            "name" => roots.iter().for_each(|root| cells.text(&root.text(heap.names()))),
            _ => cells.optional_codes(roots.iter().map(|root| {
                let frame = heap.frames().get(root.frame? as usize)?;
                Some(frame.function.0)
            })),
        }
    }

    fn text(&self, column: &str, code: u32) -> Cow<'_, str> {
        match column {
            "kind" => RootKind::ALL.get(code as usize).map_or("", |kind| kind.name()).into(),
            _ => self.heap.names().text(NameId(code)).into(),
        }
    }
}

fn kind_code(kind: RootKind) -> u32 {
    RootKind::ALL.iter().position(|other| *other == kind).unwrap_or(0) as u32
}
