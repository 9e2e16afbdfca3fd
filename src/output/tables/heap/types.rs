//! The table `types`.

use super::{kind_code, kind_text};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::histogram::retained_by_type;
use crate::model::heap::Heap;
use crate::model::names::NameId;
use crate::output::tables::{Table, TableCells, TableRows};
use std::borrow::Cow;
use std::ops::Range;

/// One row for each type.
pub(super) struct TypeRows<'h, 'a> {
    heap: &'h Heap<'a>,
    sums: Vec<TypeSums>,
}

#[derive(Clone, Copy, Default)]
struct TypeSums {
    count: u64,
    shallow: u64,
    external: u64,
    live_count: u64,
    live_shallow: u64,
    live_external: u64,
    retained: u64,
}

impl<'h, 'a> TypeRows<'h, 'a> {
    pub(super) fn new(heap: &'h Heap<'a>, tree: &DominatorTree) -> Self {
        let mut sums = vec![TypeSums::default(); heap.types().len()];
        for object in heap.objects() {
            let of = &mut sums[heap.type_id(object).0 as usize];
            of.add(heap.shallow_bytes(object), tree.is_live(object));
        }
        for (object, bytes) in heap.externals() {
            let of = &mut sums[heap.type_id(*object).0 as usize];
            of.add_external(*bytes, tree.is_live(*object));
        }
        for (of, retained) in sums.iter_mut().zip(retained_by_type(heap, tree)) {
            of.retained = retained;
        }
        Self { heap, sums }
    }
}

impl TypeSums {
    fn add(&mut self, shallow: u64, live: bool) {
        self.count += 1;
        self.shallow = self.shallow.saturating_add(shallow);
        if live {
            self.live_count += 1;
            self.live_shallow = self.live_shallow.saturating_add(shallow);
        }
    }

    fn add_external(&mut self, bytes: u64, live: bool) {
        self.external = self.external.saturating_add(bytes);
        if live {
            self.live_external = self.live_external.saturating_add(bytes);
        }
    }
}

impl TableRows for TypeRows<'_, '_> {
    fn table(&self) -> Table {
        Table::Types
    }

    fn len(&self) -> usize {
        self.sums.len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let (types, sums) = (self.heap.types()[rows.clone()].iter(), &self.sums[rows.clone()]);
        let mut sum = |of: fn(&TypeSums) -> u64| cells.integers(sums.iter().map(of));
        match column {
            "number" => cells.integers(rows.map(|row| row as u64)),
            "type" => cells.codes(types.map(|of| of.name.0)),
            "namespace" => cells.codes(types.map(|of| of.namespace.0)),
            "kind" => cells.codes(types.map(|of| kind_code(of.kind))),
            "count" => sum(|of| of.count),
            "shallow_bytes" => sum(|of| of.shallow),
            "external_bytes" => sum(|of| of.external),
            "live_count" => sum(|of| of.live_count),
            "live_shallow_bytes" => sum(|of| of.live_shallow),
            "live_external_bytes" => sum(|of| of.live_external),
            _ => sum(|of| of.retained),
        }
    }

    fn text(&self, column: &str, code: u32) -> Cow<'_, str> {
        match column {
            "kind" => kind_text(code).into(),
            _ => self.heap.names().text(NameId(code)).into(),
        }
    }
}
