//! Texts and blocks of bytes that occur more than once, and zeros.

use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::prefetch::AHEAD;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeKind, Value};
use crate::parallel::{self, PART};
use crate::phases;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hasher;
use std::iter;

/// The minimum length of a block. Smaller ones are equal by chance: counters, flags.
const LEAST_BLOCK: usize = 16;
/// The minimum number of zeros that count in a block whose second half is zero.
const LEAST_TAIL: usize = 64;
/// The length of zeros from which the real length does not fit in place of a hash.
const LONG: u32 = u32::MAX;

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

/// The contents of all objects, live or not. They are read before it is known which objects are
/// live, so that another thread can compute that at the same time.
#[derive(Default)]
pub struct Read {
    found: Scan,
    /// The objects to which texts refer. An object that only one text holds is part of that text's
    /// memory and counted as such.
    of_texts: Option<ObjectSet>,
}

/// The results of one pass over objects.
#[derive(Default)]
struct Scan {
    texts: Vec<Hashed>,
    blocks: Vec<Hashed>,
    /// Blocks of zeros in the order of objects, with their lengths in place of hashes; [`LONG`] and longer
    /// ones have that.
    zeros: Vec<Hashed>,
    tails: Vec<(ObjectId, u64)>,
}

/// Half of the hash of an object's value, or the length of its zeros, and the object, in the order of both.
/// Values with equal halves are compared, so a collision costs a little time but does not change the result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hashed(u64);

impl Hashed {
    fn of(bytes: &[u8], object: ObjectId) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        Self::with(hasher.finish() as u32, object)
    }

    fn with(hash: u32, object: ObjectId) -> Self {
        Self(u64::from(hash) << 32 | u64::from(object.0))
    }

    fn hash(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn object(self) -> ObjectId {
        ObjectId(self.0 as u32)
    }
}

impl Read {
    /// Reads the contents of the objects of a heap.
    pub fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        if heap.values.is_none() {
            return Self::default();
        }
        let _phase = phases::begin("reading contents");
        let (of_texts, once) = (memory_of_texts(heap), graph.held_once());
        let is_held_by_text = |object| of_texts.contains(object) && once.contains(object);
        let counts = |object| !is_held_by_text(object) || is_text(heap, object);
        let mut parts = Scan::parts(heap, counts);
        let mut lists = |list: fn(&mut Scan) -> &mut Vec<Hashed>| -> Vec<Vec<Hashed>> {
            parts.iter_mut().map(|part| std::mem::take(list(part))).collect()
        };
        let (texts, blocks) = (lists(|part| &mut part.texts), lists(|part| &mut part.blocks));
        let (texts, blocks) = parallel::join(|| repeated(texts), || repeated(blocks));
        let zeros = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.zeros)).collect();
        let tails = parts.into_iter().flat_map(|part| part.tails).collect();
        Self { found: Scan { texts, blocks, zeros, tails }, of_texts: Some(of_texts) }
    }
}

/// The objects to which texts refer.
fn memory_of_texts(heap: &Heap<'_>) -> ObjectSet {
    let is_text: Vec<bool> =
        heap.types.iter().map(|type_row| type_row.kind == TypeKind::Text).collect();
    let mut of_texts = ObjectSet::none(heap.len());
    for text in heap.objects().filter(|object| is_text[heap.type_id(*object).0 as usize]) {
        heap.references.strong_targets(text).for_each(|target| _ = of_texts.insert(target));
    }
    of_texts
}

fn is_text(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.type_of(object).kind == TypeKind::Text
}

/// The objects with hashes that others have as well, sorted by their hash.
fn repeated(parts: Vec<Vec<Hashed>>) -> Vec<Hashed> {
    let mut objects = without_most_unique(parts);
    objects.par_sort_unstable();
    let mut kept = 0;
    let mut last = None;
    for at in 0..objects.len() {
        let object = objects[at];
        let is_next = |next: &Hashed| next.hash() == object.hash();
        if last == Some(object.hash()) || objects.get(at + 1).is_some_and(is_next) {
            objects[kept] = object;
            kept += 1;
        }
        last = Some(object.hash());
    }
    objects.truncate(kept);
    objects.shrink_to_fit();
    objects
}

/// The number of slots for each object in the table of [`without_most_unique`].
const SLOTS: usize = 8;

/// All objects but most of those with a unique hash: the ones that are alone in their slot of a table
/// that is too small for all hashes. The values of most heaps are unique, and this takes less time than
/// sorting them.
fn without_most_unique(parts: Vec<Vec<Hashed>>) -> Vec<Hashed> {
    let count: usize = parts.iter().map(Vec::len).sum();
    let slots = count.saturating_mul(SLOTS).next_power_of_two();
    let slot = |object: &Hashed| ObjectId(object.hash() & (slots - 1) as u32);
    let (mut once, mut more) = (ObjectSet::none(slots), ObjectSet::none(slots));
    for part in &parts {
        for (at, object) in part.iter().enumerate() {
            if let Some(soon) = part.get(at + AHEAD) {
                once.prefetch(slot(soon));
            }
            if !once.insert(slot(object)) {
                more.insert(slot(object));
            }
        }
    }
    drop(once);
    let kept = |part: Vec<Hashed>| -> Vec<Hashed> {
        let soon =
            |at: usize| part.get(at + AHEAD).into_iter().for_each(|soon| more.prefetch(slot(soon)));
        let objects = part.iter().enumerate().inspect(|(at, _)| soon(*at));
        objects.map(|(_, object)| *object).filter(|object| more.contains(slot(object))).collect()
    };
    parallel::joined(parallel::map(parts, kept))
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

impl Scan {
    /// Reads the objects that `selects` accepts. Each part has the next ones of them.
    fn parts(heap: &Heap<'_>, selects: impl Fn(ObjectId) -> bool + Sync) -> Vec<Self> {
        let count = heap.len() as u32;
        let kinds: Vec<TypeKind> = heap.types.iter().map(|type_row| type_row.kind).collect();
        let has_bytes = heap.known().bytes;
        parallel::map((0..count).step_by(PART), |first| {
            let mut scan = Self::default();
            for object in (first..first.saturating_add(PART as u32).min(count)).map(ObjectId) {
                let kind = kinds[heap.type_id(object).0 as usize];
                if (has_bytes || kind == TypeKind::Text)
                    && may_have_contents(heap, object, kind)
                    && selects(object)
                {
                    scan.add(heap, object, kind);
                }
            }
            scan
        })
    }

    #[inline]
    fn add(&mut self, heap: &Heap<'_>, object: ObjectId, kind: TypeKind) {
        match heap.value(object) {
            Value::Text { text, length } if kind == TypeKind::Text => {
                let text = whole_text(heap, object, text, length);
                self.texts.extend(text.map(|text| Hashed::of(&text, object)));
            }
            Value::Bytes(bytes) if kind != TypeKind::Text && bytes.len() >= LEAST_BLOCK => {
                let tail = zeros(&bytes);
                if tail == bytes.len() {
                    let length = u32::try_from(tail).unwrap_or(LONG);
                    self.zeros.push(Hashed::with(length, object));
                    return;
                }
                self.blocks.push(Hashed::of(&bytes, object));
                if tail >= LEAST_TAIL && tail >= bytes.len() / 2 {
                    let bytes =
                        u128::from(heap.shallow_bytes(object)) * tail as u128 / bytes.len() as u128;
                    self.tails.push((object, bytes as u64));
                }
            }
            _ => {}
        }
    }
}

/// Whether the value of an object may be contents, by the kind of its type.
#[inline]
fn may_have_contents(heap: &Heap<'_>, object: ObjectId, kind: TypeKind) -> bool {
    match kind {
        TypeKind::Number | TypeKind::Synthetic | TypeKind::Root | TypeKind::Class => false,
        // Texts of no bytes are those of numbers in snapshots of V8.
        TypeKind::Text => heap.shallow_bytes(object) != 0,
        // Bytes that contain references are not plain contents.
        _ => heap.references.range(object).is_empty(),
    }
}

/// Bytes that are equal only for equal texts. A truncated text equals another one only if the
/// length and a hash of the whole text are also equal.
fn whole_text<'v>(
    heap: &Heap<'_>,
    object: ObjectId,
    text: Cow<'v, str>,
    length: u64,
) -> Option<Cow<'v, [u8]>> {
    if is_complete(&text, length) {
        return Some(match text {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        });
    }
    if length == Value::UNKNOWN_LENGTH {
        return None;
    }
    let hash = heap.whole_text_hash(object)?;
    let mut bytes = text.into_owned().into_bytes();
    // UTF-8 never contains this byte.
    bytes.push(0xff);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&hash.to_le_bytes());
    Some(bytes.into())
}

/// Whether the file contains the whole text.
fn is_complete(text: &str, length: u64) -> bool {
    text.len() as u64 >= length && (text.is_ascii() || text.encode_utf16().count() as u64 >= length)
}

/// Returns the number of zero bytes at the end.
fn zeros(bytes: &[u8]) -> usize {
    let words = bytes.rchunks_exact(8).take_while(|word| **word == [0; 8]).count() * 8;
    let rest = &bytes[..bytes.len() - words];
    words + rest.iter().rev().take_while(|byte| **byte == 0).count()
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
    fn only_objects_with_repeated_hashes_are_kept() {
        let hash = |object: u32| object.wrapping_mul(0x9e37_79b9) % (1 << (object % 24));
        for objects in [0, 1, 2, 100, 3_000] {
            let hashed =
                (0..objects).rev().map(|object| u64::from(hash(object)) << 32 | u64::from(object));
            let mut found: Vec<Hashed> = hashed.map(Hashed).collect();
            let parts = found.chunks(700).map(<[Hashed]>::to_vec).collect();
            let kept = repeated(parts);
            let all = found.clone();
            found.retain(|one| all.iter().filter(|other| other.hash() == one.hash()).count() > 1);
            found.sort_unstable();
            assert!(kept == found, "{objects} objects");
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

    #[test]
    fn zeros_are_counted_from_the_end() {
        for length in 0..40 {
            for last in 0..=length {
                let mut bytes = vec![0; length];
                bytes[..last].fill(1);
                assert_eq!(zeros(&bytes), length - last, "{length} {last}");
            }
        }
    }
}
