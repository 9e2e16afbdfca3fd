//! Matches objects of two heaps of the same process by their identity hash codes.

use crate::model::heap::{Heap, ObjectId, TypeKind};
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
    /// Objects of the newer heap without a hash code, which cannot be matched. A hash code is
    /// assigned on first use.
    pub unknown: u64,
}

/// Objects of a heap with their hash codes, which are 0 where there is none.
#[derive(Clone, Copy)]
pub struct Hashed<'h, 'a> {
    /// The heap.
    pub heap: &'h Heap<'a>,
    /// The identity hash code of each object.
    pub hashes: &'h [u32],
}

/// Compares two heaps by (type, hash code). Of several objects with the same code as many are kept
/// as both heaps have. Sorted by name and namespace.
pub fn fates(old: Hashed<'_, '_>, new: Hashed<'_, '_>) -> Vec<Fate> {
    let mut fates: Vec<Fate> = Vec::new();
    let mut index: FxHashMap<(String, String), u32> = FxHashMap::default();
    let old_types = types(old.heap, &mut index, &mut fates);
    let new_types = types(new.heap, &mut index, &mut fates);
    let old_keys = keys(old, &old_types, |_| {});
    let new_keys = keys(new, &new_types, |group| fates[group as usize].unknown += 1);
    let mut before = old_keys.into_iter().peekable();
    for (group, hash, object) in new_keys {
        while let Some(gone) = before.next_if(|(other, code, _)| (*other, *code) < (group, hash)) {
            fates[gone.0 as usize].gone.push(gone.2);
        }
        match before.next_if(|(other, code, _)| (*other, *code) == (group, hash)) {
            Some(_) => fates[group as usize].kept += 1,
            None => fates[group as usize].new.push(object),
        }
    }
    before.for_each(|(group, _, object)| fates[group as usize].gone.push(object));
    for fate in &mut fates {
        fate.new.sort_unstable();
        fate.gone.sort_unstable();
    }
    fates.retain(|fate| {
        fate.kept + fate.unknown > 0 || !fate.new.is_empty() || !fate.gone.is_empty()
    });
    fates.sort_by(|a, b| (&a.name, &a.namespace).cmp(&(&b.name, &b.namespace)));
    fates
}

/// Returns the group of each type of a heap; types of one name and namespace are one group in both
/// heaps. `None` for synthetic types.
fn types(
    heap: &Heap<'_>,
    index: &mut FxHashMap<(String, String), u32>,
    fates: &mut Vec<Fate>,
) -> Vec<Option<u32>> {
    let mut group_of = |kind: &crate::model::heap::Type| {
        if kind.kind == TypeKind::Synthetic {
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

/// Returns group, hash code and object of all objects with a code, sorted, and passes the others to
/// `without`.
fn keys(
    of: Hashed<'_, '_>,
    groups: &[Option<u32>],
    mut without: impl FnMut(u32),
) -> Vec<(u32, u32, ObjectId)> {
    let mut keys = Vec::new();
    for object in of.heap.objects() {
        let Some(group) = groups[of.heap.type_id(object).0 as usize] else { continue };
        match of.hashes.get(object.index()) {
            None | Some(0) => without(group),
            Some(&hash) => keys.push((group, hash, object)),
        }
    }
    keys.sort_unstable();
    keys
}
