//! Matches objects of two heaps of the same process.

use super::object_set::ObjectSet;
use crate::model::heap::{Heap, Ids, ObjectId, Type};
use rustc_hash::FxHashMap;

/// The new, gone and kept objects of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// The name of the type.
    pub name: String,
    /// The namespace of the class.
    pub namespace: String,
    /// Objects only in the newer heap, in the order of the heap.
    pub new: Vec<ObjectId>,
    /// Objects only in the older heap.
    pub gone: Vec<ObjectId>,
    /// Objects in both heaps.
    pub kept: u64,
    /// Objects of the newer heap at whose address, or with whose id, the older heap has an object
    /// of another type or size: either the object has changed, or another one took its place.
    pub doubtful: u64,
    /// Objects of the newer heap without a hash code, which cannot be matched. A hash code is
    /// assigned on first use.
    pub unknown: u64,
}

/// The objects of a heap with their identities.
#[derive(Clone, Copy)]
pub struct Identified<'h, 'a> {
    /// The heap.
    pub heap: &'h Heap<'a>,
    /// The identity hash code of each object, 0 where it has none. `None`: objects are identified
    /// by their ids in the file.
    pub hashes: Option<&'h [u32]>,
}

impl Identified<'_, '_> {
    /// The identity of an object. `None` if the object has no hash code.
    pub fn key(&self, object: ObjectId) -> Option<u64> {
        let key = match (self.hashes, &self.heap.ids) {
            (Some(hashes), _) => hashes.get(object.index()).copied().unwrap_or_default().into(),
            (None, Ids::Rows(first)) => u64::from(object.0) + first,
            (None, Ids::Numbers(numbers)) => numbers.get(object.index()),
            (None, Ids::Addresses(addresses)) => addresses.address(object).unwrap_or_default(),
        };
        (key != 0).then_some(key)
    }
}

/// Group, key and object.
type Key = (u32, u64, ObjectId);

/// Compares two heaps by (type, hash code), or by id. If several objects share a hash code, as many
/// count as kept as both heaps have. Sorted by name and namespace.
pub fn fates(old: Identified<'_, '_>, new: Identified<'_, '_>) -> Vec<Fate> {
    let mut fates: Vec<Fate> = Vec::new();
    let mut index: FxHashMap<(String, String), u32> = FxHashMap::default();
    let old_types = types(old.heap, &mut index, &mut fates);
    let new_types = types(new.heap, &mut index, &mut fates);
    let old_keys = keys(old, &old_types, |_| {});
    let new_keys = keys(new, &new_types, |group| fates[group as usize].unknown += 1);
    // Ids identify objects of any type.
    let by_type = new.hashes.is_some();
    let order = |(group, key, _): &Key| order(by_type, *group, *key);
    let mut before = old_keys.into_iter().peekable();
    for now in new_keys {
        while let Some(gone) = before.next_if(|old| order(old) < order(&now)) {
            fates[gone.0 as usize].gone.push(gone.2);
        }
        let fate = &mut fates[now.0 as usize];
        match before.next_if(|old| order(old) == order(&now)) {
            Some(was)
                if by_type
                    || was.0 == now.0
                        && old.heap.shallow_bytes(was.2) == new.heap.shallow_bytes(now.2) =>
            {
                fate.kept += 1;
            }
            Some(_) => fate.doubtful += 1,
            None => fate.new.push(now.2),
        }
    }
    before.for_each(|(group, _, object)| fates[group as usize].gone.push(object));
    for fate in &mut fates {
        fate.new.sort_unstable();
        fate.gone.sort_unstable();
    }
    fates.retain(|fate| {
        fate.kept + fate.doubtful + fate.unknown > 0
            || !fate.new.is_empty()
            || !fate.gone.is_empty()
    });
    fates.sort_by(|a, b| (&a.name, &a.namespace).cmp(&(&b.name, &b.namespace)));
    fates
}

/// Tracks objects through several heaps, of which only one is in memory at a time.
///
/// Takes 16 bytes for each object of the oldest heap, and 24 for each object born later.
#[derive(Debug, Default)]
pub struct Tracker {
    groups: FxHashMap<(String, String), u32>,
    /// The keys of the oldest heap.
    base: Vec<(u32, u64)>,
    /// The keys and sizes of the objects born after the oldest heap.
    born: Vec<(u32, u64, u64)>,
}

impl Tracker {
    /// Begins with all objects of the oldest heap.
    pub fn new(base: Identified<'_, '_>) -> Self {
        let mut tracker = Self::default();
        let keys = tracker.keys(base);
        tracker.base = keys.into_iter().map(|(group, key, _)| (group, key)).collect();
        tracker
    }

    /// The objects of a later heap that the oldest one does not have.
    pub fn born(&mut self, heap: Identified<'_, '_>) -> ObjectSet {
        let keys = self.keys(heap);
        let by_type = heap.hashes.is_some();
        let mut known = self.base.iter().peekable();
        let mut born = ObjectSet::none(heap.heap.len());
        self.born.clear();
        for (group, key, object) in keys {
            let at = order(by_type, group, key);
            while known.next_if(|(group, key)| order(by_type, *group, *key) < at).is_some() {}
            if known.next_if(|(group, key)| order(by_type, *group, *key) == at).is_none() {
                born.insert(object);
                self.born.push((group, key, heap.heap.shallow_bytes(object)));
            }
        }
        born
    }

    /// The objects of a last heap that were born after the oldest one. Objects whose type or size
    /// has changed do not count, because another object may have taken their place.
    pub fn survivors(&mut self, heap: Identified<'_, '_>) -> ObjectSet {
        let keys = self.keys(heap);
        let by_type = heap.hashes.is_some();
        let mut born = self.born.iter().peekable();
        let mut alive = ObjectSet::none(heap.heap.len());
        for (group, key, object) in keys {
            let at = order(by_type, group, key);
            while born.next_if(|(group, key, _)| order(by_type, *group, *key) < at).is_some() {}
            let Some(was) = born.next_if(|(group, key, _)| order(by_type, *group, *key) == at)
            else {
                continue;
            };
            if by_type || (was.0, was.2) == (group, heap.heap.shallow_bytes(object)) {
                alive.insert(object);
            }
        }
        alive
    }

    fn keys(&mut self, identified: Identified<'_, '_>) -> Vec<Key> {
        let heap = identified.heap;
        let mut group_of = |type_row: &Type| {
            let text = |name| heap.names.text(name).to_owned();
            let next = self.groups.len() as u32;
            let key = (text(type_row.name), text(type_row.namespace));
            (!type_row.kind.is_made_up()).then(|| *self.groups.entry(key).or_insert(next))
        };
        let groups: Vec<_> = heap.types.iter().map(&mut group_of).collect();
        keys(identified, &groups, |_| {})
    }
}

/// The sort key of an object. Ids identify objects of any type; hash codes those of one type.
fn order(by_type: bool, group: u32, key: u64) -> (u32, u64) {
    (if by_type { group } else { 0 }, key)
}

/// Returns the group of each type of a heap; types of one name and namespace are one group in both
/// heaps. `None` for synthetic types.
fn types(
    heap: &Heap<'_>,
    index: &mut FxHashMap<(String, String), u32>,
    fates: &mut Vec<Fate>,
) -> Vec<Option<u32>> {
    let mut group_of = |kind: &Type| {
        if kind.kind.is_made_up() {
            return None;
        }
        let text = |name| heap.names.text(name).to_owned();
        let key = (text(kind.name), text(kind.namespace));
        Some(*index.entry(key).or_insert_with_key(|(name, namespace)| {
            fates.push(Fate {
                name: name.clone(),
                namespace: namespace.clone(),
                ..Fate::default()
            });
            fates.len() as u32 - 1
        }))
    };
    heap.types.iter().map(&mut group_of).collect()
}

/// Returns group, key and object of all objects with a key, sorted as they are compared, and passes
/// the others to `without`.
fn keys(
    identified: Identified<'_, '_>,
    groups: &[Option<u32>],
    mut without: impl FnMut(u32),
) -> Vec<Key> {
    let heap = identified.heap;
    let mut keys = Vec::new();
    for object in heap.objects() {
        let Some(group) = groups[heap.type_id(object).0 as usize] else { continue };
        match identified.key(object) {
            None => without(group),
            Some(key) => keys.push((group, key, object)),
        }
    }
    match identified.hashes {
        Some(_) => keys.sort_unstable(),
        None => keys.sort_unstable_by_key(|(_, key, object)| (*key, *object)),
    }
    keys
}
