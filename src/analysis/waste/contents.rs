//! Texts and blocks of bytes that occur more than once, and zeros.

mod read;

use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId, TypeId, Value};
use crate::parallel;
pub use read::Read;
use read::{Hashed, LONG, Scan, is_text, whole_text};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::iter;

/// The waste in texts and blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Texts that occur more than once; those that waste most first.
    pub texts: Vec<Copies>,
    /// The waste in equal blocks of bytes.
    pub blocks: Vec<Copies>,
    /// The objects with the values of `texts`, except the largest of each value.
    pub copies_of_texts: Vec<ObjectId>,
    /// The objects with the values of `blocks` that are not zeros, except the largest of each value.
    pub copies_of_blocks: Vec<ObjectId>,
    /// Blocks that are all zero, in the order of objects.
    pub zeros: Vec<ObjectId>,
    /// Blocks whose second half, at least, is zero, with the number of zero bytes at the end.
    pub tails: Vec<(ObjectId, u64)>,
}

/// Objects with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The first object with the value.
    pub example: ObjectId,
    /// The type of the first copy.
    pub of: TypeId,
    /// The number of objects.
    pub count: u64,
    /// Retained bytes of all but the largest.
    pub wasted: u64,
    /// Whether the value is zeros.
    pub is_zero: bool,
}

/// The least number of objects with repeated hashes that one thread compares before another may take the
/// next ones.
const COMPARED: usize = 1 << 12;

/// Divides sorted objects into parts, none of which ends between objects with one hash.
fn whole_runs(objects: &[Hashed]) -> impl Iterator<Item = &[Hashed]> {
    let mut rest = objects;
    iter::from_fn(move || {
        let last = rest.get(COMPARED.min(rest.len()).checked_sub(1)?)?.hash();
        let end = rest.partition_point(|object| object.hash() <= last);
        let (part, others) = rest.split_at(end);
        rest = others;
        Some(part)
    })
}

impl Contents {
    /// Selects live texts and blocks that are not in `claimed`, and finds the copies.
    pub fn of(heap: &Heap<'_>, tree: &DominatorTree, claimed: &ObjectSet, read: Read) -> Self {
        let Read { found, of_texts: Some(of_texts) } = read else { return Self::default() };
        let is_memory = |object: ObjectId| {
            of_texts.contains(object)
                && tree.dominator(object).is_some_and(|holder| is_text(heap, holder))
        };
        let counts = |object: ObjectId| {
            tree.is_live(object) && !claimed.contains(object) && !is_memory(object)
        };
        let Scan { texts, blocks, mut zeros, mut tails } = found;
        let equal_of = |objects: &[Hashed]| {
            let parts = parallel::map(whole_runs(objects), |part| {
                let objects = part.iter().copied().filter(|object| counts(object.object()));
                let objects: Vec<Hashed> = objects.collect();
                let runs = objects.chunk_by(|a, b| a.hash() == b.hash());
                let runs = runs.filter(|run| run.len() > 1);
                let values =
                    runs.flat_map(|run| equal(heap, run.iter().map(|one| one.object()).collect()));
                Grouped::of(heap, tree, values)
            });
            Grouped::joined(parts)
        };
        let (mut texts, (mut blocks, mut all_zero)) = parallel::join(
            || equal_of(&texts),
            || {
                zeros.retain(|object| counts(object.object()));
                (equal_of(&blocks), equal_zeros(heap, tree, &zeros))
            },
        );
        tails.retain(|(object, _)| counts(*object));
        tails.sort_unstable_by_key(|(object, _)| *object);
        blocks.groups.append(&mut all_zero);
        for found in [&mut texts, &mut blocks] {
            found.groups.sort_unstable_by_key(|copies| (Reverse(copies.wasted), copies.example));
        }
        Self {
            texts: texts.groups,
            blocks: blocks.groups,
            copies_of_texts: texts.copies,
            copies_of_blocks: blocks.copies,
            zeros: zeros.into_iter().map(Hashed::object).collect(),
            tails,
        }
    }
}

/// Objects with equal values.
#[derive(Default)]
struct Grouped {
    /// A group for each value.
    groups: Vec<Copies>,
    /// The objects of all groups, except the largest of each.
    copies: Vec<ObjectId>,
}

impl Grouped {
    /// Finds the copies among objects with equal values, which are not zeros, in the order of the values.
    fn of(
        heap: &Heap<'_>,
        tree: &DominatorTree,
        values: impl Iterator<Item = Vec<ObjectId>>,
    ) -> Self {
        let Self { mut groups, mut copies } = Self::default();
        for objects in values.filter(|objects| objects.len() > 1) {
            let Some(&example) = objects.first() else { continue };
            let before = copies.len();
            let bytes = |object: &ObjectId| tree.retained(*object);
            let largest = objects.iter().max_by_key(|object| (bytes(object), Reverse(**object)));
            copies.extend(objects.iter().filter(|object| Some(*object) != largest));
            let wasted = copies[before..].iter().map(bytes).fold(0, u64::saturating_add);
            groups.push(Copies {
                example,
                of: heap.type_id(example),
                count: objects.len() as u64,
                wasted,
                is_zero: false,
            });
        }
        Self { groups, copies }
    }

    /// Joins parts with different values.
    fn joined(parts: Vec<Self>) -> Self {
        let (groups, copies) = parts.into_iter().map(|part| (part.groups, part.copies)).unzip();
        Self { groups: parallel::joined(groups), copies: parallel::joined(copies) }
    }
}

/// Groups blocks of zeros, which are in the order of objects, by their length.
fn equal_zeros(heap: &Heap<'_>, tree: &DominatorTree, zeros: &[Hashed]) -> Vec<Copies> {
    let mut groups: FxHashMap<u64, (Copies, u64)> = FxHashMap::default();
    for zeros in zeros {
        let object = zeros.object();
        let length = match zeros.hash() {
            LONG => contents(heap, object).map_or(0, |bytes| bytes.len() as u64),
            length => length.into(),
        };
        let bytes = tree.retained(object);
        let (copies, largest) = groups.entry(length).or_insert_with(|| {
            let of = heap.type_id(object);
            (Copies { example: object, of, count: 0, wasted: 0, is_zero: true }, bytes)
        });
        // All but the largest are wasted.
        if copies.count > 0 {
            copies.wasted = copies.wasted.saturating_add(bytes.min(*largest));
            *largest = bytes.max(*largest);
        }
        copies.count += 1;
    }
    let groups = groups.into_values().map(|(copies, _)| copies);
    groups.filter(|copies| copies.count > 1).collect()
}

/// Groups objects with one hash by their actual values.
fn equal(heap: &Heap<'_>, objects: Vec<ObjectId>) -> Vec<Vec<ObjectId>> {
    let stored = |object: &ObjectId| heap.stored_text(*object);
    if let Some(first) = objects.first().and_then(stored)
        && objects.iter().all(|object| stored(object) == Some(first))
    {
        return vec![objects];
    }
    grouped(objects.into_iter().filter_map(|object| Some((contents(heap, object)?, object))))
}

/// The objects of each value, in the order of their first ones.
fn grouped<'v>(values: impl Iterator<Item = (Cow<'v, [u8]>, ObjectId)>) -> Vec<Vec<ObjectId>> {
    let mut values = values.peekable();
    let Some((first, _)) = values.peek().cloned() else { return Vec::new() };
    let mut found = vec![Vec::new()];
    // Nearly always, all values are equal. A file can be crafted to contain many that are not, so
    // these are distinguished by randomly seeded hashes.
    let mut others: HashMap<Cow<'_, [u8]>, usize> = HashMap::new();
    for (value, object) in values {
        let place = if value == first { 0 } else { *others.entry(value).or_insert(found.len()) };
        if place == found.len() {
            found.push(Vec::new());
        }
        found[place].push(object);
    }
    found
}

/// The bytes of a text or block.
fn contents<'h>(heap: &'h Heap<'_>, object: ObjectId) -> Option<Cow<'h, [u8]>> {
    match heap.value(object) {
        Value::Text { text, length } => whole_text(heap, object, text, length),
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_with_one_hash_are_grouped_in_little_time() {
        let texts: Vec<String> = (0..300_000).map(|at| (at % 150_000).to_string()).collect();
        let values = texts.iter().map(|text| Cow::Borrowed(text.as_bytes()));
        let groups = grouped(values.zip((0..).map(ObjectId)));
        assert_eq!(groups.len(), 150_000);
        for (at, group) in (0..).zip(groups) {
            assert_eq!(group, [ObjectId(at), ObjectId(at + 150_000)]);
        }
    }

    #[test]
    fn objects_with_one_hash_are_compared_together() {
        for run in [1, 2, 7, 1000, 10_000] {
            let objects: Vec<Hashed> =
                (0..20_000).map(|at| Hashed::with(at / run, ObjectId(at))).collect();
            let parts: Vec<&[Hashed]> = whole_runs(&objects).collect();
            assert!(parts.concat() == objects);
            assert!(parts.is_sorted_by(|a, b| a.last().unwrap().hash() < b[0].hash()));
        }
        assert!(whole_runs(&[]).next().is_none());
    }
}
