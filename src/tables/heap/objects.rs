//! The table `objects`.

use super::ids;
use super::order::{TypeOrder, Typed, is_of_types, ordered_by_type, type_columns};
use crate::analyses::Analyses;
use crate::analysis::by_type::ObjectsByType;
use crate::analysis::paths::distances::RootDistances;
use crate::model::heap::{Heap, Ids, ObjectId, TypeId, TypeKind, TypeSource};
use crate::tables::column::{Column, ColumnOf};
use crate::tables::relation::{Rows, row_numbers};
use crate::tables::row_numbers::{Order, RowNumbers};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::vec;

/// One row for each object.
pub(in crate::tables) struct Objects<'h> {
    analyses: &'h Analyses<'h>,
    types: TypeOrder<'h>,
    /// Rows sorted by the object numbers of the file, if those are in random order.
    by_number: OnceLock<Vec<u32>>,
    distances: OnceLock<RootDistances>,
}

impl<'h> Objects<'h> {
    pub(super) fn of(analyses: &'h Analyses<'h>) -> Self {
        let types = TypeOrder::of(&analyses.heap);
        Self { analyses, types, by_number: OnceLock::new(), distances: OnceLock::new() }
    }

    /// Finds an object by its id, or by an address inside the object.
    fn object(&self, id: &str) -> Option<usize> {
        let heap = self.heap();
        let Ids::Numbers(numbers) = &heap.ids else {
            return heap.find(id).map(ObjectId::index);
        };
        let number: u64 = id.strip_prefix('#')?.parse().ok()?;
        let by_number = self.by_number.get_or_init(|| {
            let mut rows: Vec<u32> = (0..heap.len() as u32).collect();
            rows.sort_by_key(|row| numbers.get(*row as usize));
            rows
        });
        let number_of = |row: &u32| numbers.get(*row as usize);
        let place = by_number.binary_search_by_key(&number, number_of).ok()?;
        by_number.get(place).map(|row| *row as usize)
    }

    fn heap(&self) -> &'h Heap<'h> {
        &self.analyses.heap
    }

    fn distances(&self) -> &RootDistances {
        self.distances.get_or_init(|| RootDistances::of(self.heap(), self.analyses.graph()))
    }
}

fn objects(rows: Range<usize>) -> impl ExactSizeIterator<Item = ObjectId> {
    rows.map(|row| ObjectId(row as u32))
}

impl Typed for Objects<'_> {
    fn types(&self) -> &TypeOrder<'_> {
        &self.types
    }

    fn type_of(&self, row: usize) -> TypeId {
        self.heap().type_id(ObjectId(row as u32))
    }

    fn of_types(&self, types: Vec<TypeId>) -> RowNumbers {
        let members = Arc::clone(self.analyses.by_type());
        let types = types.into_iter();
        RowNumbers::Each(Box::new(Members { members, types, current: None, place: 0 }))
    }

    fn rows_of_type(&self) -> u64 {
        let heap = self.heap();
        heap.len() as u64 / heap.types.len().max(1) as u64 + 1
    }
}

impl Rows for Objects<'_> {
    fn columns() -> Vec<ColumnOf<Self>> {
        let mut columns = Vec::from(identity());
        columns.extend(type_columns());
        columns.extend(sizes());
        columns.extend(origins());
        columns
    }

    fn len(&self) -> usize {
        self.analyses.heap.len()
    }

    fn has_order(&self, by: &[Order<'_>]) -> bool {
        is_by_object(by) || is_of_types(by)
    }

    fn ordered(&self, by: &[Order<'_>]) -> RowNumbers {
        ordered_by_type(self, by)
    }
}

fn is_by_object(by: &[Order<'_>]) -> bool {
    matches!(by, [Order { column: "object", is_descending: false }])
}

fn identity<'h>() -> [ColumnOf<Objects<'h>>; 2] {
    [
        row_numbers("object"),
        Column::text("id", "What the file calls the object: its address or number")
            .of(|this: &Objects<'_>, rows, cells| ids(&this.analyses.heap, rows, cells))
            .found(|_| 2, |this, key| RowNumbers::list(key.text().and_then(|id| this.object(id)))),
    ]
}

fn sizes<'h>() -> [ColumnOf<Objects<'h>>; 4] {
    [
        Column::size("shallow_bytes", "The size of the object in the managed heap")
            .bytes()
            .numbers(|this: &Objects<'_>, row| this.analyses.heap.shallow.get(row)),
        Column::size("external_bytes", "Bytes outside the managed heap").bytes().of(
            |this: &Objects<'_>, rows, cells| {
                let all = this.analyses.heap.externals();
                let first = all.partition_point(|(object, _)| object.index() < rows.start);
                let mut next = all[first..].iter().peekable();
                cells.integers(objects(rows).map(|object| {
                    next.next_if(|(other, _)| *other == object).map_or(0, |(_, bytes)| *bytes)
                }));
            },
        ),
        Column::size(
            "retained_bytes",
            "What would be freed with the object; 0 if it is unreachable",
        )
        .bytes()
        .of(|this: &Objects<'_>, rows, cells| {
            let (heap, tree) = (&this.analyses.heap, this.analyses.tree());
            cells.integers(objects(rows).map(|object| tree.retained_or_all(heap, object)));
        })
        .after(|this| _ = this.analyses.tree()),
        Column::number(
            "dominator",
            "The object that alone keeps it alive; null for unreachable ones and those that only \
             the set of roots dominates",
        )
        .or_null()
        .of(|this: &Objects<'_>, rows, cells| {
            let (heap, tree) = (&this.analyses.heap, this.analyses.tree());
            cells.optional_integers(objects(rows).map(|object| {
                tree.dominator_or_root(heap, object).map(|dominator| dominator.0.into())
            }));
        })
        // The tree also determines which objects are reachable, which saves a second search.
        .after(|this| _ = this.analyses.tree()),
    ]
}

fn origins<'h>() -> [ColumnOf<Objects<'h>>; 4] {
    [
        Column::boolean(
            "reachable",
            "Whether roots reach it; false for objects that only represent roots",
        )
        .booleans(|this: &Objects<'_>, row| {
            let object = ObjectId(row as u32);
            this.heap().type_of(object).kind != TypeKind::Root && this.analyses.is_live(object)
        }),
        Column::small(
            "root_distance",
            "References on the shortest path from a root; null for unreachable objects",
        )
        .optional_numbers(|this: &Objects<'_>, row| {
            this.distances().of_object(ObjectId(row as u32)).map(i64::from)
        }),
        Column::name(
            "type_source",
            "How an executable named the type (Go): `exact`, `array`, `partial` or `guess`; null if \
             it did not",
        )
        .optional_codes(|this: &Objects<'_>, row| {
            let source = this.heap().type_source(this.type_of(row));
            source.name().map(|_| source as u32)
        })
        .text(|_, code, _| {
            let named = TypeSource::NAMED.iter().find(|source| **source as u32 == code);
            named.and_then(|source| source.name()).unwrap_or("")
        }),
        Column::boolean("synthetic", "Whether the writer of the dump added it")
            .booleans(|this: &Objects<'_>, row| this.heap().is_made_up(ObjectId(row as u32))),
    ]
}

/// The objects of some types, one type after the other.
struct Members {
    members: Arc<ObjectsByType>,
    types: vec::IntoIter<TypeId>,
    current: Option<TypeId>,
    place: usize,
}

impl Iterator for Members {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(object) =
                self.current.and_then(|current| self.members.get(current, self.place))
            {
                self.place += 1;
                return Some(object.0);
            }
            self.current = Some(self.types.next()?);
            self.place = 0;
        }
    }
}
