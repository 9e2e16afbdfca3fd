//! Objects and bytes by type, in one pass that keeps no object.

use crate::error::Error;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{Heap, Ids, Type, TypeId, TypeKind};
use crate::model::names::Names;
use crate::model::sum::Sum;

/// The objects of a heap by type. Types without objects are left out.
#[derive(Debug)]
#[non_exhaustive]
pub struct TypeCounts {
    /// The largest first: by shallow bytes, then by objects, namespace and name. Different types
    /// may have one name.
    pub rows: Vec<TypeRow>,
    /// The sum of all rows.
    pub total: Sum,
    /// The number of the snapshot.
    pub snapshot: u64,
    /// The damage that ended the reading early. The rows count the objects before it.
    pub damage: Option<Error>,
}

/// The running sums of a builder's types, while objects are counted.
#[derive(Default)]
pub(super) struct TypeSums(Vec<Sum>);

impl TypeSums {
    #[inline]
    pub(super) fn add(&mut self, type_id: TypeId, sum: &Sum) {
        let row = type_id.0 as usize;
        if row >= self.0.len() {
            self.0.resize(row.saturating_add(1), Sum::default());
        }
        if let Some(total) = self.0.get_mut(row) {
            total.add_sum(sum);
        }
    }

    /// The counts of a file with one snapshot.
    pub(super) fn finish(self, types: HeapBuilder<'_>, damage: Option<Error>) -> TypeCounts {
        let heap = types.finish(Ids::Rows(0), None);
        TypeCounts::new(&heap.types, &heap.names, &self.0, 0, damage)
    }
}

/// The objects of one type. Name, namespace and kind are those of the type in the loaded heap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeRow {
    /// The name of the type.
    pub name: String,
    /// Library, package or file; empty if there is none.
    pub namespace: String,
    /// The kind of its objects. [`TypeKind::Synthetic`]: they exist only in the dump.
    pub kind: TypeKind,
    /// The count and sizes of the objects.
    pub sum: Sum,
}

impl TypeCounts {
    /// The types of a loaded heap with all of their objects, live or not.
    pub(crate) fn of_heap(heap: &Heap<'_>, snapshot: u64, damage: Option<Error>) -> Self {
        let mut sums = vec![Sum::default(); heap.types.len()];
        for object in heap.objects() {
            if let Some(sum) = sums.get_mut(heap.type_id(object).0 as usize) {
                sum.add(heap.shallow.get(object.index()), heap.external_bytes(object));
            }
        }
        Self::new(&heap.types, &heap.names, &sums, snapshot, damage)
    }

    /// Combines types with the sum of each. Types without objects are left out.
    pub(super) fn new(
        types: &[Type],
        names: &Names,
        sums: &[Sum],
        snapshot: u64,
        damage: Option<Error>,
    ) -> Self {
        let mut total = Sum::default();
        let mut rows = Vec::new();
        for (kind, &sum) in types.iter().zip(sums).filter(|(_, sum)| sum.count > 0) {
            let text = |name| names.text(name).to_owned();
            rows.push(TypeRow {
                name: text(kind.name),
                namespace: text(kind.namespace),
                kind: kind.kind,
                sum,
            });
            total.add_sum(&sum);
        }
        // The sort is stable: rows with equal keys stay in the order of the types.
        rows.sort_by(|a, b| {
            let (of_a, of_b) = (a.sum, b.sum);
            (of_b.shallow_bytes, of_b.count)
                .cmp(&(of_a.shallow_bytes, of_a.count))
                .then_with(|| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)))
        });
        Self { rows, total, snapshot, damage }
    }
}
