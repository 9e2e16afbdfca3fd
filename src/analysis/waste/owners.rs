//! The fields that hold what is wasted.

use super::{WasteKind, WasteOwner};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, TypeId, TypeKind, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A field, by the type of the objects that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The type of the objects that have the field.
    pub of: TypeId,
    /// The object itself, if it is a class: its fields are static.
    pub class: Option<ObjectId>,
    /// The field. All elements of arrays are one.
    pub label: Label,
}

impl Owner {
    /// Returns `app.Session#names`, `java.lang.Object[]#[]`, or the type alone.
    pub fn text(&self, heap: &Heap<'_>) -> String {
        let of = heap.types.get(self.of.0 as usize).map_or("", |of| heap.names.text(of.name));
        let of = match self.class.map(|class| heap.value(class)) {
            Some(Value::Name(name)) => name,
            _ => of.into(),
        };
        match self.label.kind() {
            LabelKind::None => of.into_owned(),
            LabelKind::Index(_) => format!("{of}#[]"),
            _ => format!("{of}#{}", self.label.text(&heap.names)),
        }
    }
}

/// Objects whose holders are to be found.
pub(super) struct Owners<'h, 'a> {
    heap: &'h Heap<'a>,
    /// The row of each object in `items`, and [`NONE`].
    row: Vec<u32>,
    items: Vec<(WasteKind, u64)>,
}

const NONE: u32 = u32::MAX;

impl<'h, 'a> Owners<'h, 'a> {
    pub(super) fn new(heap: &'h Heap<'a>) -> Self {
        Self { heap, row: Vec::new(), items: Vec::new() }
    }

    /// Adds objects with the bytes that each wastes. The first kind of an object counts.
    pub(super) fn add(&mut self, kind: WasteKind, objects: impl Iterator<Item = (ObjectId, u64)>) {
        for (object, bytes) in objects {
            if self.row.is_empty() {
                self.row = vec![NONE; self.heap.len()];
            }
            let row = &mut self.row[object.index()];
            if *row == NONE {
                *row = self.items.len() as u32;
                self.items.push((kind, bytes));
            }
        }
    }

    /// Finds the first reference to each object among those of live objects.
    pub(super) fn find(mut self, tree: &DominatorTree) -> FxHashMap<WasteKind, Vec<WasteOwner>> {
        let mut sums: FxHashMap<(WasteKind, Owner), WasteOwner> = FxHashMap::default();
        let heap = self.heap;
        let mut left = self.items.len();
        for from in heap.objects() {
            if left == 0 {
                break;
            }
            for row in heap.fields_of(from) {
                let target = heap.references.target(row);
                let item = self.row[target.index()];
                if item == NONE || !tree.is_live(from) || heap.references.is_weak(row) {
                    continue;
                }
                self.row[target.index()] = NONE;
                left -= 1;
                let (kind, bytes) = self.items[item as usize];
                let owner = owner(heap, from, heap.references.label(row));
                let empty = WasteOwner { owner, count: 0, bytes: 0, example: target };
                let sum = sums.entry((kind, owner)).or_insert(empty);
                sum.count += 1;
                sum.bytes = sum.bytes.saturating_add(bytes);
            }
        }
        let mut found: FxHashMap<WasteKind, Vec<WasteOwner>> = FxHashMap::default();
        for ((kind, _), owner) in sums {
            found.entry(kind).or_default().push(owner);
        }
        for owners in found.values_mut() {
            owners.sort_unstable_by_key(|sum| (Reverse(sum.bytes), sum.owner));
        }
        found
    }
}

fn owner(heap: &Heap<'_>, from: ObjectId, label: Label) -> Owner {
    let label = match label.kind() {
        LabelKind::Index(_) => Label::index(0),
        _ => label,
    };
    let class = (heap.type_of(from).kind == TypeKind::Class).then_some(from);
    Owner { of: heap.type_id(from), class, label }
}
