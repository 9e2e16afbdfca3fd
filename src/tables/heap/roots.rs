//! The table `roots`.

use crate::model::heap::{Heap, RootKind};
use crate::model::names::NameId;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use crate::tables::row_numbers::RowNumbers;
use std::sync::OnceLock;

pub(in crate::tables) struct Roots<'h> {
    heap: &'h Heap<'h>,
    by_object: OnceLock<Vec<u32>>,
}

impl<'h> Roots<'h> {
    pub(super) fn of(heap: &'h Heap<'h>) -> Self {
        Self { heap, by_object: OnceLock::new() }
    }

    fn of_object(&self, object: Option<u32>) -> RowNumbers {
        let Some(object) = object else { return RowNumbers::of(None) };
        let object_of = |row: &u32| self.heap.roots[*row as usize].object.0;
        let rows = self.by_object.get_or_init(|| {
            let mut rows: Vec<u32> = (0..self.heap.roots.len() as u32).collect();
            rows.sort_by_key(object_of);
            rows
        });
        let start = rows.partition_point(|row| object_of(row) < object);
        let found = rows[start..].iter().take_while(|row| object_of(row) == object);
        RowNumbers::list(found.map(|row| *row as usize))
    }
}

impl Rows for Roots<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        vec![
            Column::number("object", "The object that the root holds")
                .numbers(|this: &Self, row| this.heap.roots[row].object.0.into())
                .found(|_| 2, |this, key| this.of_object(key.number())),
            Column::text("id", "What the file calls the object")
                .of(|this: &Self, rows, cells| {
                    for root in &this.heap.roots[rows] {
                        cells.append_text(|text| this.heap.append_id(root.object, text));
                    }
                })
                .found(
                    |_| 2,
                    |this, key| {
                        let object = key.text().and_then(|id| this.heap.find(id));
                        this.of_object(object.map(|object| object.0))
                    },
                ),
            Column::name("kind", "What kind of root it is: `stack`, `global` and others")
                .codes(|this: &Self, row| this.heap.roots[row].kind as u32)
                .text(|_, code, _| RootKind::ALL.get(code as usize).map_or("", |kind| kind.name())),
            Column::name("name", "The root in words").of(|this: &Self, rows, cells| {
                let names = &this.heap.names;
                this.heap.roots[rows].iter().for_each(|root| cells.text(&root.text(names)));
            }),
            Column::name("function", "The function of the call frame; null for other roots")
                .optional_codes(|this: &Self, row| {
                    let frame = this.heap.roots[row].frame?;
                    Some(this.heap.frames.get(frame as usize)?.function.0)
                })
                .text(|this, code, _| this.heap.names.text(NameId(code))),
        ]
    }

    fn len(&self) -> usize {
        self.heap.roots.len()
    }
}
