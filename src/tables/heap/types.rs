//! The table `types`.

use super::order::{TypeOrder, Typed, is_of_types, type_columns};
use crate::analyses::Analyses;
use crate::analysis::histogram::retained_by_type;
use crate::model::heap::{ObjectId, TypeId};
use crate::model::sum::Sum;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::Rows;
use crate::tables::row_numbers::{Order, RowNumbers};
use std::sync::OnceLock;

const GENERATED: &str = "The name in the code that ran, where a map gave the type another one";

/// One row for each type.
pub(in crate::tables) struct Types<'h> {
    analyses: &'h Analyses<'h>,
    order: TypeOrder<'h>,
    all: OnceLock<Vec<Sum>>,
    live: OnceLock<Vec<Sum>>,
    retained: OnceLock<Vec<u64>>,
}

impl<'h> Types<'h> {
    pub(super) fn of(analyses: &'h Analyses<'h>) -> Self {
        Self {
            analyses,
            order: TypeOrder::of(&analyses.heap),
            all: OnceLock::new(),
            live: OnceLock::new(),
            retained: OnceLock::new(),
        }
    }

    /// The sums of the objects of each type that count.
    fn sums(&self, counts: impl Fn(ObjectId) -> bool) -> Vec<Sum> {
        let heap = &self.analyses.heap;
        let mut sums = vec![Sum::default(); heap.types.len()];
        let mut external = heap.external.iter().peekable();
        for object in heap.objects() {
            let outside = external.next_if(|(of, _)| *of == object).map_or(0, |(_, bytes)| *bytes);
            if counts(object) {
                let shallow = heap.shallow.get(object.index());
                sums[heap.type_id(object).0 as usize].add(shallow, outside);
            }
        }
        sums
    }

    fn all(&self) -> &[Sum] {
        self.all.get_or_init(|| self.sums(|_| true))
    }

    fn live(&self) -> &[Sum] {
        self.live.get_or_init(|| {
            let tree = self.analyses.tree();
            self.sums(|object| tree.counts(&self.analyses.heap, object))
        })
    }

    fn retained(&self) -> &[u64] {
        self.retained.get_or_init(|| retained_by_type(&self.analyses.heap, self.analyses.tree()))
    }
}

impl Typed for Types<'_> {
    fn types(&self) -> &TypeOrder<'_> {
        &self.order
    }

    fn type_of(&self, row: usize) -> TypeId {
        TypeId(row as u32)
    }

    fn of_types(&self, types: Vec<TypeId>) -> RowNumbers {
        RowNumbers::list(types.iter().map(|of| of.0 as usize))
    }

    fn rows_of_type(&self) -> u64 {
        2
    }
}

impl Rows for Types<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        fn of<'h>(column: Column, sum: fn(&Types<'_>, usize) -> u64) -> ColumnOf<Types<'h>> {
            column.of(move |this: &Types<'_>, rows, cells| {
                cells.integers(rows.map(|row| sum(this, row)));
            })
        }
        let count = Column::number;
        let bytes = |name, doc| Column::number(name, doc).bytes();
        let mut columns = vec![
            of(count("number", "The number of the row"), |_, row| row as u64)
                .found(|_| 1, |this, key| RowNumbers::row(key, this.len())),
        ];
        columns.extend(type_columns());
        columns.extend([
            of(count("count", "Objects of the type"), |this, row| this.all()[row].count),
            of(bytes("shallow_bytes", "Their bytes in the managed heap"), |this, row| {
                this.all()[row].shallow_bytes
            }),
            of(bytes("external_bytes", "Their bytes outside the managed heap"), |this, row| {
                this.all()[row].external_bytes
            }),
            of(count("live_count", "Those that roots reach"), |this, row| this.live()[row].count),
            of(bytes("live_shallow_bytes", "Live bytes in the managed heap"), |this, row| {
                this.live()[row].shallow_bytes
            }),
            of(bytes("live_external_bytes", "Live bytes outside the managed heap"), |this, row| {
                this.live()[row].external_bytes
            }),
            of(
                bytes(
                    "retained_bytes",
                    "What they retain, as `top` shows it for types of one name",
                ),
                |this, row| this.retained()[row],
            ),
            Column::name("generated_name", GENERATED).or_empty().of(|this: &Self, rows, cells| {
                let names = &this.analyses.heap.generated_types;
                rows.map(|row| names.get(&TypeId(row as u32)))
                    .for_each(|name| cells.text(name.map_or("", String::as_str)));
            }),
        ]);
        columns
    }

    fn len(&self) -> usize {
        self.analyses.heap.types.len()
    }

    fn has_order(&self, by: &[Order<'_>]) -> bool {
        is_of_types(by)
    }

    fn ordered(&self, by: &[Order<'_>]) -> RowNumbers {
        match self.order.sorted(by).filter(|_| !by.is_empty()) {
            Some(types) => self.of_types(types),
            None => RowNumbers::Range(0..self.len()),
        }
    }
}
