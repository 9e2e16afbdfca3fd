//! The fields that hold wasted objects.

use super::{WasteKind, WasteOwner};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::object_set::{ObjectSet, Ranked};
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, TypeId, TypeKind, Value};
use crate::parallel;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A field, by the type of the objects that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The type of the objects that have the field.
    pub of: TypeId,
    /// The object itself, if it is a class, whose fields are static.
    pub class: Option<ObjectId>,
    /// The label of the field. All elements of an array are one field.
    pub label: Label,
}

impl Owner {
    /// Returns `app.Session#names`, `java.lang.Object[]#[]`, or the type alone.
    pub fn text(&self, heap: &Heap<'_>) -> String {
        let name = heap
            .types
            .get(self.of.0 as usize)
            .map_or("", |type_row| heap.names.text(type_row.name));
        let name = match self.class.map(|class| heap.value(class)) {
            Some(Value::Name(name)) => name,
            _ => name.into(),
        };
        match self.label.kind() {
            LabelKind::None => name.into_owned(),
            LabelKind::Index(_) => format!("{name}#[]"),
            _ => format!("{name}#{}", self.label.text(&heap.names)),
        }
    }
}

/// Wasted objects whose holders are searched.
pub(super) struct Owners {
    /// The objects. The place of an object in the set is that of its row in the columns.
    objects: Ranked,
    kinds: Vec<Option<WasteKind>>,
    /// Bytes that could be saved.
    bytes: Vec<u64>,
}

/// The number of parts of the heap that threads search.
const PARTS: u32 = 4;

/// The first references to wasted objects in a part of the heap.
#[derive(Default)]
struct Found {
    owners: Vec<(WasteKind, Owner)>,
    /// Wasted objects, each with the place in `owners` of the owner that refers to it.
    objects: Vec<(ObjectId, u32)>,
}

impl Owners {
    /// Creates the set. `each_of` passes the wasted objects of a kind, with the bytes that could be saved,
    /// and is called twice for each kind. An object of several kinds counts for the first one.
    pub(super) fn of(
        heap: &Heap<'_>,
        each_of: impl Fn(WasteKind, &mut dyn FnMut(ObjectId, u64)),
    ) -> Self {
        let mut objects = ObjectSet::none(heap.len());
        for kind in WasteKind::ALL {
            each_of(kind, &mut |object, _| _ = objects.insert(object));
        }
        let count = objects.len();
        let (objects, mut kinds, mut bytes) =
            (Ranked::of(objects), vec![None; count], vec![0; count]);
        for kind in WasteKind::ALL {
            each_of(kind, &mut |object, saved| {
                let place = objects.place(object) as usize;
                if *kinds[place].get_or_insert(kind) == kind {
                    bytes[place] = saved.max(bytes[place]);
                }
            });
        }
        Self { objects, kinds, bytes }
    }

    /// Finds the first reference to each object among those of live objects.
    pub(super) fn find(
        &self,
        heap: &Heap<'_>,
        tree: &DominatorTree,
    ) -> FxHashMap<WasteKind, Vec<WasteOwner>> {
        let mut found: FxHashMap<WasteKind, Vec<WasteOwner>> = FxHashMap::default();
        if self.kinds.is_empty() {
            return found;
        }
        let size = (heap.len() as u32).div_ceil(PARTS).max(1);
        let in_part = |part: u32| self.find_in(heap, tree, part * size, size);
        let parts = parallel::map(0..PARTS, in_part);
        let mut sums: FxHashMap<(WasteKind, Owner), WasteOwner> = FxHashMap::default();
        let mut is_found = vec![false; self.kinds.len()];
        for part in parts {
            let mut of_part = vec![(0, 0, None); part.owners.len()];
            for (object, owner) in part.objects {
                let place = self.objects.place(object) as usize;
                if !std::mem::replace(&mut is_found[place], true) {
                    let (count, sum, example) = &mut of_part[owner as usize];
                    *count += 1;
                    *sum = self.bytes[place].saturating_add(*sum);
                    example.get_or_insert(object);
                }
            }
            for ((kind, owner), (count, bytes, example)) in part.owners.into_iter().zip(of_part) {
                let Some(example) = example else { continue };
                let empty = WasteOwner { owner, count: 0, bytes: 0, example };
                let sum = sums.entry((kind, owner)).or_insert(empty);
                sum.count += count;
                sum.bytes = sum.bytes.saturating_add(bytes);
            }
        }
        for ((kind, _), owner) in sums {
            found.entry(kind).or_default().push(owner);
        }
        for owners in found.values_mut() {
            owners.sort_unstable_by_key(|sum| (Reverse(sum.bytes), sum.owner));
        }
        found
    }

    /// Finds the first references from objects of a part.
    fn find_in(&self, heap: &Heap<'_>, tree: &DominatorTree, first: u32, size: u32) -> Found {
        let end = first.saturating_add(size).min(heap.len() as u32);
        let mut found = Found::default();
        if first >= end {
            return found;
        }
        let mut numbers: FxHashMap<(WasteKind, Owner), u32> = FxHashMap::default();
        let references = &heap.references;
        let mut left = self.objects.set().clone();
        let mut from = ObjectId(first);
        for row in references.range(from).start..references.range(ObjectId(end - 1)).end {
            let target = references.target(row);
            if !left.contains(target) || references.is_weak(row) {
                continue;
            }
            // Most references lead to other objects, so whose reference it is matters only now.
            while references.range(from).end <= row {
                from.0 += 1;
            }
            if !tree.is_live(from) || !heap.fields_of(from).contains(&row) {
                continue;
            }
            left.remove(target);
            let place = self.objects.place(target) as usize;
            let Some(kind) = self.kinds[place] else { continue };
            let key = (kind, owner(heap, from, heap.label_of(from, row)));
            let number = *numbers.entry(key).or_insert_with(|| {
                found.owners.push(key);
                found.owners.len() as u32 - 1
            });
            found.objects.push((target, number));
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
