//! Collections that have far more room than elements.

use super::{LEAST_BYTES, part};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, LabelKind, ObjectId, TypeId, Value};
use rustc_hash::FxHashMap;

/// Those of one type together waste at least this share of the live heap, in percent.
pub const LEAST_SHARE: u64 = 1;

/// A collection is mostly empty when at most one place in this many is taken. Hash tables keep half of theirs empty.
pub const EMPTY: u64 = 4;

/// How a collection tells its number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Used {
    /// By its own value.
    Length,
    /// Not at all: the references of its array are counted, as empty places hold none.
    References,
}

/// Name, beginning of the namespace, field of the array, number of elements. Underscores around names of fields have changed
/// from one release of Dart to the next. Go's slices are not visible in its dumps, and MoarVM's do not tell.
const COLLECTIONS: &[(&str, &str, &str, Used)] = &[
    ("_GrowableList", "dart:core", "data", Used::Length),
    ("_Map", "dart:", "data", Used::Length),
    ("_Set", "dart:", "data", Used::Length),
    ("_InternalLinkedHashMap", "dart:collection", "data", Used::Length),
    ("_CompactLinkedIdentityHashMap", "dart:collection", "data", Used::Length),
    ("_CompactLinkedCustomHashMap", "dart:collection", "data", Used::Length),
    ("_CompactLinkedHashSet", "dart:collection", "data", Used::Length),
    ("_CompactLinkedIdentityHashSet", "dart:collection", "data", Used::Length),
    ("_CompactLinkedCustomHashSet", "dart:collection", "data", Used::Length),
    ("java.util.ArrayList", "", "elementData", Used::References),
    ("java.util.Vector", "", "elementData", Used::References),
    ("java.util.ArrayDeque", "", "elements", Used::References),
    ("java.util.PriorityQueue", "", "queue", Used::References),
    ("java.util.HashMap", "", "table", Used::References),
    ("java.util.LinkedHashMap", "", "table", Used::References),
    ("java.util.Hashtable", "", "table", Used::References),
    ("java.util.IdentityHashMap", "", "table", Used::References),
    ("java.util.concurrent.ConcurrentHashMap", "", "table", Used::References),
];

/// Mostly empty collections of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparse {
    /// Their type.
    pub of: TypeId,
    /// How many are mostly empty.
    pub count: u64,
    /// How many there are of the type.
    pub all: u64,
    /// Places that they have.
    pub capacity: u64,
    /// Places that are taken.
    pub used: u64,
    /// Bytes of the others.
    pub wasted: u64,
    /// The one that wastes most.
    pub example: ObjectId,
}

/// The types whose collections waste enough.
pub(super) fn find(heap: &Heap<'_>, tree: &DominatorTree) -> Vec<Sparse> {
    let kinds = known(heap);
    if kinds.is_empty() || heap.values.is_none() {
        return Vec::new();
    }
    let mut found: FxHashMap<TypeId, (Sparse, u64)> = FxHashMap::default();
    for object in heap.objects().filter(|object| tree.is_live(*object)) {
        let of = heap.type_of[object.index()];
        let Some(&(field, used)) = kinds.get(&of) else { continue };
        let empty = Sparse { of, count: 0, all: 0, capacity: 0, used: 0, wasted: 0, example: object };
        let (sparse, worst) = found.entry(of).or_insert((empty, 0));
        sparse.all += 1;
        let Some(room) = room(heap, object, field, used) else { continue };
        if room.used.saturating_mul(EMPTY) > room.capacity || room.wasted == 0 {
            continue;
        }
        sparse.count += 1;
        sparse.capacity = sparse.capacity.saturating_add(room.capacity);
        sparse.used = sparse.used.saturating_add(room.used);
        sparse.wasted = sparse.wasted.saturating_add(room.wasted);
        if room.wasted > *worst {
            *worst = room.wasted;
            sparse.example = object;
        }
    }
    let least = part(tree.live_bytes(), LEAST_SHARE).max(LEAST_BYTES);
    let mut found: Vec<Sparse> = found.into_values().map(|(sparse, _)| sparse).filter(|sparse| sparse.wasted >= least).collect();
    found.sort_unstable_by_key(|sparse| sparse.of);
    found
}

/// The types of the heap that are collections.
fn known(heap: &Heap<'_>) -> FxHashMap<TypeId, (&'static str, Used)> {
    let find = |name: &str, namespace: &str| {
        let known = COLLECTIONS.iter().find(|(known, of, ..)| *known == name && namespace.starts_with(of));
        known.map(|(_, _, field, used)| (*field, *used))
    };
    let types = (0..).zip(&heap.types);
    types.filter_map(|(row, of)| Some((TypeId(row), find(heap.names.text(of.name), heap.names.text(of.namespace))?))).collect()
}

struct Room {
    capacity: u64,
    used: u64,
    wasted: u64,
}

fn room(heap: &Heap<'_>, object: ObjectId, field: &str, used: Used) -> Option<Room> {
    let is_array = |label| matches!(label, LabelKind::Field(name) if heap.names.text(name).trim_matches('_') == field);
    let array = heap.references.of(object).find(|reference| is_array(reference.label.kind()))?.target;
    let Value::Length(capacity) = heap.value(array) else { return None };
    let used = match (used, heap.value(object)) {
        (Used::Length, Value::Length(length)) => length,
        (Used::Length, _) => return None,
        (Used::References, _) => heap.references.range(array).len() as u64,
    };
    let free = u128::from(capacity.checked_sub(used)?);
    let wasted = u128::from(heap.shallow.get(array.index())) * free / u128::from(capacity.max(1));
    Some(Room { capacity, used, wasted: wasted as u64 })
}
