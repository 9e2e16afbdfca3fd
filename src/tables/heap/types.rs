//! The table `types`.

use super::order::{TypeOrder, Typed, is_of_types, ordered_by_type, type_columns};
use crate::analyses::Analyses;
use crate::analysis::histogram::retained_by_type;
use crate::model::heap::{ObjectId, TypeId};
use crate::model::sum::Sum;
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::{Rows, row_numbers};
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

    /// The sums of each type over the objects that `counts` accepts.
    fn sums(&self, counts: impl Fn(ObjectId) -> bool) -> Vec<Sum> {
        let heap = &self.analyses.heap;
        let mut sums = vec![Sum::default(); heap.types.len()];
        let mut external = heap.external.iter().peekable();
        for object in heap.objects() {
            let outside =
                external.next_if(|(owner, _)| *owner == object).map_or(0, |(_, bytes)| *bytes);
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
        RowNumbers::list(types.iter().map(|id| id.0 as usize))
    }

    fn rows_of_type(&self) -> u64 {
        2
    }
}

impl Rows for Types<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        let bytes = |name, doc| Column::number(name, doc).bytes();
        let mut columns = vec![row_numbers("number")];
        columns.extend(type_columns());
        columns.extend([
            Column::number("count", "Objects of the type")
                .numbers(|this: &Self, row| this.all()[row].count),
            bytes("shallow_bytes", "Their bytes in the managed heap")
                .numbers(|this: &Self, row| this.all()[row].shallow_bytes),
            bytes("external_bytes", "Their bytes outside the managed heap")
                .numbers(|this: &Self, row| this.all()[row].external_bytes),
            Column::number("live_count", "Those that roots reach")
                .numbers(|this: &Self, row| this.live()[row].count),
            bytes("live_shallow_bytes", "Live bytes in the managed heap")
                .numbers(|this: &Self, row| this.live()[row].shallow_bytes),
            bytes("live_external_bytes", "Live bytes outside the managed heap")
                .numbers(|this: &Self, row| this.live()[row].external_bytes),
            bytes("retained_bytes", "What they retain, as `top` shows it for types of one name")
                .numbers(|this: &Self, row| this.retained()[row]),
            Column::name("generated_name", GENERATED).or_empty().texts(|this: &Self, row| {
                let names = &this.analyses.heap.generated_types;
                names.get(&TypeId(row as u32)).map_or("", String::as_str)
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
        ordered_by_type(self, by)
    }
}
