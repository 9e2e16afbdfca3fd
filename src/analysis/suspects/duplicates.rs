//! Texts and blocks of bytes that are there more than once.

use super::{LEAST_BYTES, part};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, ObjectId, TypeKind, Value};
use rayon::prelude::*;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// All copies together waste at least this share of the live heap, in percent.
pub const LEAST_SHARE: u64 = 1;

/// Smaller blocks are equal by chance: counters, flags.
const LEAST_BLOCK: usize = 16;

/// How many values are named.
const WORST: usize = 3;

/// Values that several objects have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicates {
    /// They are texts, not blocks of bytes.
    pub texts: bool,
    /// Values that are there more than once.
    pub values: u64,
    /// Objects that have one of these.
    pub objects: u64,
    /// What would go if there were one object of each.
    pub wasted: u64,
    /// The values that waste most.
    pub worst: Vec<Copies>,
}

/// Objects with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The first of them.
    pub example: ObjectId,
    /// How many.
    pub count: u64,
    /// What would go if there were only the largest.
    pub wasted: u64,
}

/// Texts, then blocks of bytes, as far as they waste enough.
pub(super) fn find(heap: &Heap<'_>, tree: &DominatorTree) -> Vec<Duplicates> {
    if heap.values.is_none() {
        return Vec::new();
    }
    let least = part(tree.live_bytes(), LEAST_SHARE).max(LEAST_BYTES);
    let both = [true, false].into_iter().map(|texts| of_kind(heap, tree, texts));
    both.filter(|duplicates| duplicates.wasted >= least).collect()
}

fn of_kind(heap: &Heap<'_>, tree: &DominatorTree, texts: bool) -> Duplicates {
    let live = tree.live_objects().par_iter().copied();
    let mut hashes: Vec<(u64, ObjectId)> = live.filter_map(|object| Some((hash(heap, tree, object, texts)?, object))).collect();
    hashes.par_sort_unstable();
    let mut groups: Vec<Copies> = Vec::new();
    let (mut objects, mut wasted) = (0, 0u64);
    for run in hashes.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        for copies in equal(heap, tree, run) {
            objects += copies.count;
            wasted = wasted.saturating_add(copies.wasted);
            groups.push(copies);
        }
    }
    groups.sort_unstable_by_key(|copies| (std::cmp::Reverse(copies.wasted), copies.example));
    let values = groups.len() as u64;
    groups.truncate(WORST);
    Duplicates { texts, values, objects, wasted, worst: groups }
}

/// The hash of a value that counts.
fn hash(heap: &Heap<'_>, tree: &DominatorTree, object: ObjectId, texts: bool) -> Option<u64> {
    let kind = heap.type_of(object).kind;
    if matches!(kind, TypeKind::Number | TypeKind::Synthetic | TypeKind::Root) || (kind == TypeKind::Text) != texts {
        return None;
    }
    let mut hasher = FxHasher::default();
    match heap.value(object) {
        // What of a text was cut off is not known to be equal.
        Value::Text { text, length } if text.encode_utf16().count() as u64 >= length => hasher.write(text.as_bytes()),
        Value::Bytes(bytes) if is_block(heap, tree, object, bytes) => hasher.write(bytes),
        _ => return None,
    }
    Some(hasher.finish())
}

/// Whether bytes are the object's own: not the memory of a text, which is counted as that, and without references.
fn is_block(heap: &Heap<'_>, tree: &DominatorTree, object: ObjectId, bytes: &[u8]) -> bool {
    bytes.len() >= LEAST_BLOCK
        && heap.references.range(object).is_empty()
        && tree.dominator(object).is_none_or(|owner| heap.type_of(owner).kind != TypeKind::Text)
}

/// The groups of really equal values among those with one hash.
fn equal(heap: &Heap<'_>, tree: &DominatorTree, run: &[(u64, ObjectId)]) -> Vec<Copies> {
    struct Found<'a> {
        value: Value<'a>,
        copies: Copies,
        total: u64,
        largest: u64,
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    for &(_, object) in run {
        let value = heap.value(object);
        let bytes = tree.retained(object);
        match found.iter_mut().find(|known| known.value == value) {
            Some(known) => {
                known.copies.count += 1;
                known.total = known.total.saturating_add(bytes);
                known.largest = known.largest.max(bytes);
            }
            None => {
                let copies = Copies { example: object, count: 1, wasted: 0 };
                found.push(Found { value, copies, total: bytes, largest: bytes });
            }
        }
    }
    let several = found.into_iter().filter(|found| found.copies.count > 1);
    several.map(|found| Copies { wasted: found.total - found.largest, ..found.copies }).collect()
}
