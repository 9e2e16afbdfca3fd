//! Objects and bytes by type, in one pass that keeps no object.

use crate::error::Error;
use crate::model::heap::{Type, TypeKind};
use crate::model::names::Names;

/// The objects of a heap by type. Types without objects are left out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// The largest first: by shallow bytes, then by objects, namespace and name. Different types may have one name.
    pub rows: Vec<TypeRow>,
    /// All rows together.
    pub total: Counts,
    /// The number of the snapshot.
    pub snapshot: u64,
    /// What ended the reading early. The rows are those of the objects before it.
    pub damage: Option<Error>,
}

/// The objects of one type. Name, namespace and kind are those of the type in the loaded heap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeRow {
    /// Its name.
    pub name: String,
    /// Library, package or file; empty if there is none.
    pub namespace: String,
    /// What its objects are. [`TypeKind::Synthetic`]: the runtime made them up for the dump.
    pub kind: TypeKind,
    /// How many, and how large.
    pub counts: Counts,
}

/// How many objects there are and how large they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects.
    pub objects: u64,
    /// Bytes in the managed heap.
    pub shallow: u64,
    /// Bytes outside of it.
    pub external: u64,
}

impl Counts {
    /// Adds an object.
    #[inline]
    pub(super) fn add(&mut self, shallow: u64, external: u64) {
        self.objects = self.objects.saturating_add(1);
        self.shallow = self.shallow.saturating_add(shallow);
        self.external = self.external.saturating_add(external);
    }

    /// Adds other objects.
    #[inline]
    pub(super) fn merge(&mut self, other: Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.shallow = self.shallow.saturating_add(other.shallow);
        self.external = self.external.saturating_add(other.external);
    }
}

impl Histogram {
    /// The histogram of types and the counts of each.
    pub(super) fn new(types: &[Type], names: &Names, counts: &[Counts], snapshot: u64, damage: Option<Error>) -> Self {
        let mut total = Counts::default();
        let mut rows = Vec::new();
        for (kind, &counts) in types.iter().zip(counts).filter(|(_, counts)| counts.objects > 0) {
            let text = |name| names.text(name).to_owned();
            rows.push(TypeRow { name: text(kind.name), namespace: text(kind.namespace), kind: kind.kind, counts });
            total.merge(counts);
        }
        // The sort is stable: what is equal in everything stays in the order of the types.
        rows.sort_by(|a, b| {
            let (of_a, of_b) = (a.counts, b.counts);
            (of_b.shallow, of_b.objects)
                .cmp(&(of_a.shallow, of_a.objects))
                .then_with(|| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)))
        });
        Self { rows, total, snapshot, damage }
    }
}
