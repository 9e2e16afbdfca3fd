//! The table `objects`.

use super::{ids, kind_code, kind_text};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::analysis::paths::distances::RootDistances;
use crate::model::heap::{Heap, ObjectId, TypeSource};
use crate::model::names::NameId;
use crate::output::tables::{Table, TableCells, TableRows};
use std::borrow::Cow;
use std::ops::Range;

/// One row for each object.
pub(super) struct ObjectRows<'h, 'a> {
    heap: &'h Heap<'a>,
    tree: &'h DominatorTree,
    /// None before the first cell that asks for them.
    distances: Option<RootDistances>,
    next_id: Box<dyn FnMut(&mut String) + 'h>,
    /// By type: the code of its kind.
    kinds: Vec<u32>,
}

impl<'h, 'a> ObjectRows<'h, 'a> {
    pub(super) fn new(heap: &'h Heap<'a>, tree: &'h DominatorTree) -> Self {
        let kinds = heap.types().iter().map(|of| kind_code(of.kind)).collect();
        Self { heap, tree, distances: None, next_id: Box::new(ids(heap)), kinds }
    }
}

impl TableRows for ObjectRows<'_, '_> {
    fn table(&self) -> Table {
        Table::Objects
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn fill(&mut self, column: &str, rows: Range<usize>, cells: &mut TableCells) {
        let (heap, tree) = (self.heap, self.tree);
        let objects = rows.clone().map(|row| ObjectId(row as u32));
        match column {
            "object" => cells.integers(rows.map(|row| row as u64)),
            "id" => {
                for _ in rows {
                    (self.next_id)(&mut cells.texts);
                    cells.end_text();
                }
            }
            "type" => cells.codes(objects.map(|object| heap.type_of(object).name.0)),
            "namespace" => cells.codes(objects.map(|object| heap.type_of(object).namespace.0)),
            "kind" => {
                cells.codes(objects.map(|object| self.kinds[heap.type_id(object).0 as usize]))
            }
            "shallow_bytes" => cells.integers(objects.map(|object| heap.shallow_bytes(object))),
            "external_bytes" => {
                let all = heap.externals();
                let first = all.partition_point(|(object, _)| object.index() < rows.start);
                let mut next = all[first..].iter().peekable();
                cells.integers(objects.map(|object| {
                    next.next_if(|(other, _)| *other == object).map_or(0, |(_, bytes)| *bytes)
                }));
            }
            "retained_bytes" => cells.integers(objects.map(|object| tree.retained(object))),
            "dominator" => cells.optional_integers(
                objects.map(|object| tree.dominator(object).map(|dominator| dominator.0.into())),
            ),
            "reachable" => cells.booleans(objects.map(|object| tree.is_live(object))),
            "type_source" => cells.optional_codes(objects.map(|object| {
                let source = heap.type_source(heap.type_id(object));
                source.name().map(|_| source as u32)
            })),
            _ => {
                let distances =
                    self.distances.get_or_insert_with(|| RootDistances::of(heap, &Graph::of(heap)));
                cells.optional_integers(
                    objects.map(|object| distances.of_object(object).map(i64::from)),
                );
            }
        }
    }

    fn text(&self, column: &str, code: u32) -> Cow<'_, str> {
        match column {
            "kind" => kind_text(code).into(),
            "type_source" => source_text(code).into(),
            _ => self.heap.names().text(NameId(code)).into(),
        }
    }
}

fn source_text(code: u32) -> &'static str {
    let named = TypeSource::NAMED.iter().find(|source| **source as u32 == code);
    named.and_then(|source| source.name()).unwrap_or("")
}
