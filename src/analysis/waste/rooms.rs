//! Collections and arrays with more room than entries.

use crate::analysis::collections::{CollectionKind, Collections, Storage};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{Heap, LabelKind, ObjectId, Type, TypeId, TypeKind};
use crate::parallel::{self, PART};

/// The minimum number of nulls that count in an array of objects whose second half is null.
const LEAST_NULLS: u64 = 8;
/// The minimum bytes of a slot for a reference.
const LEAST_SLOT: u64 = 4;

/// All collections, and arrays of references that end in nulls.
pub struct Rooms {
    /// The collections and arrays, in the order of objects.
    pub all: Vec<Measured>,
    /// The arrays of collections.
    pub claimed: ObjectSet,
}

/// The fill of a collection or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The collection, or the array.
    pub object: ObjectId,
    /// Whether it has no entries and is more than an array.
    pub is_empty: bool,
    /// Whether the object is a collection.
    pub is_collection: bool,
    /// The number of slots in the array.
    pub capacity: u64,
    /// The number of slots in use.
    pub used: u64,
    /// Bytes of all unused slots.
    pub free_bytes: u64,
    /// Bytes of the slots that an array made for the entries would not have.
    pub spare_bytes: u64,
    /// The array, unless other objects hold it as well.
    array: Option<ObjectId>,
}

/// Which rooms the objects of a type may have.
#[derive(Clone, Copy)]
struct LooksAt {
    arrays: bool,
    collections: bool,
}

impl Rooms {
    /// Measures all live collections.
    pub fn of(heap: &Heap<'_>, tree: &DominatorTree, collections: &Collections<'_, '_>) -> Self {
        let mut claimed = ObjectSet::none(heap.len());
        if heap.values.is_none() {
            return Self { all: Vec::new(), claimed };
        }
        let known = heap.known();
        let reader = known.rooms;
        // By type, so that one look is enough for most objects.
        let looks_at = |(row, type_row): (u32, &Type)| LooksAt {
            arrays: type_row.kind == TypeKind::Array,
            collections: reader || collections.kind_of_type(TypeId(row)).is_some(),
        };
        let looks_at: Vec<LooksAt> = (0..).zip(&heap.types).map(looks_at).collect();
        let measured = |object: ObjectId| match heap.room(object).filter(|_| reader) {
            Some(room) => Some(Measured {
                is_empty: room.used == 0 && room.is_collection,
                is_collection: room.is_collection,
                capacity: room.capacity,
                used: room.used,
                free_bytes: room.spare_bytes,
                spare_bytes: room.spare_bytes,
                ..Measured::array(object, 0, 0, 0)
            }),
            None => measure(heap, tree, collections, object),
        };
        // The collections of a part, and its arrays, which may be those of collections.
        let part_at = |first: u32| {
            let end = first.saturating_add(PART as u32).min(heap.len() as u32);
            let (mut found, mut arrays) = (Vec::new(), Vec::new());
            for object in (first..end).map(ObjectId) {
                let of_type = looks_at[heap.type_id(object).0 as usize];
                if (of_type.arrays || of_type.collections) && tree.is_live(object) {
                    found.extend(of_type.collections.then(|| measured(object)).flatten());
                    let is_array = of_type.arrays && known.nulls;
                    arrays.extend(is_array.then(|| nulls(heap, object)).flatten());
                }
            }
            (found, arrays)
        };
        let found = parallel::map((0..heap.len() as u32).step_by(PART), part_at);
        for array in found.iter().flat_map(|(found, _)| found).filter_map(|found| found.array) {
            claimed.insert(array);
        }
        let mut all = Vec::new();
        for (found, arrays) in found {
            all.extend(found);
            all.extend(arrays.into_iter().filter(|array| !claimed.contains(array.object)));
        }
        all.sort_unstable_by_key(|measured| measured.object);
        Self { all, claimed }
    }

    /// Collections without entries, with their retained bytes.
    pub fn empty<'r>(
        &'r self,
        tree: &'r DominatorTree,
    ) -> impl Iterator<Item = (ObjectId, u64)> + 'r {
        self.all
            .iter()
            .filter(|measured| measured.is_empty)
            .map(|measured| (measured.object, tree.retained(measured.object)))
    }

    /// Collections with entries and arrays, with the bytes that these do not need.
    pub fn spare(&self) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
        let spare =
            self.all.iter().filter(|measured| !measured.is_empty && measured.spare_bytes > 0);
        spare.map(|measured| (measured.object, measured.spare_bytes))
    }
}

impl Measured {
    fn array(object: ObjectId, capacity: u64, used: u64, spare_bytes: u64) -> Self {
        Self {
            object,
            is_empty: false,
            is_collection: false,
            capacity,
            used,
            free_bytes: spare_bytes,
            spare_bytes,
            array: None,
        }
    }
}

fn measure(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    collections: &Collections<'_, '_>,
    object: ObjectId,
) -> Option<Measured> {
    let kind = collections.kind(object)?;
    let inner = collections.unwrapped(object);
    if inner != object && tree.dominator(inner) != Some(object) {
        // A view of a collection that other objects hold.
        return None;
    }
    let holder = tree.dominator(object);
    if holder.is_some_and(|holder| {
        collections.is_wrapper(holder) && collections.unwrapped(holder) == object
    }) {
        // For example the table of a set, which is measured with the set.
        return None;
    }
    let size = collections.size(inner)?;
    let is_empty = size == 0 && kind != CollectionKind::Buffer;
    let storage =
        collections.storage(inner).filter(|storage| tree.dominator(storage.array) == Some(inner));
    let Some(Storage { array, capacity, used, spare }) = storage else {
        return Some(Measured {
            is_empty,
            is_collection: true,
            ..Measured::array(object, 0, 0, 0)
        });
    };
    let bytes = |places: u64| part(heap.shallow_bytes(array), places, capacity);
    Some(Measured {
        object,
        is_empty,
        is_collection: true,
        capacity,
        used,
        free_bytes: bytes(capacity - used),
        spare_bytes: bytes(spare),
        array: Some(array),
    })
}

/// Measures an array of references whose second half, at least, is null.
fn nulls(heap: &Heap<'_>, array: ObjectId) -> Option<Measured> {
    if heap.shallow_bytes(array) < LEAST_NULLS * LEAST_SLOT {
        return None;
    }
    let length = heap.array(array)?.length;
    let rows = heap.fields_of(array);
    let used = match rows.clone().next_back().map(|last| heap.label_of(array, last).kind()) {
        None => 0,
        Some(LabelKind::Index(last)) => u64::from(last) + 1,
        Some(_) => return None,
    };
    let free = length.checked_sub(used).filter(|free| *free >= LEAST_NULLS && *free >= used)?;
    Some(Measured::array(array, length, used, part(heap.shallow_bytes(array), free, length)))
}

/// The share of `bytes` that belongs to some of the slots.
fn part(bytes: u64, places: u64, capacity: u64) -> u64 {
    (u128::from(bytes) * u128::from(places) / u128::from(capacity.max(1))) as u64
}
