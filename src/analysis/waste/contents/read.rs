//! One pass over the contents of all objects, which finds those that may be equal.

use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::prefetch::AHEAD;
use crate::model::heap::{Heap, ObjectId, TypeKind, Value};
use crate::parallel::{self, PART};
use crate::phases;
use rayon::prelude::*;
use rustc_hash::FxHasher;
use std::borrow::Cow;
use std::hash::Hasher;

/// The minimum length of a block. Smaller ones are equal by chance: counters, flags.
const LEAST_BLOCK: usize = 16;
/// The minimum number of zeros that count in a block whose second half is zero.
const LEAST_TAIL: usize = 64;
/// The length of zeros from which the real length does not fit in place of a hash.
pub(super) const LONG: u32 = u32::MAX;

/// The contents of all objects, live or not. They are read before it is known which objects are
/// live, so that another thread can compute that at the same time.
#[derive(Default)]
pub struct Read {
    pub(super) found: Scan,
    /// The objects to which texts refer. An object that only one text holds is part of that text's
    /// memory and counted as such.
    pub(super) of_texts: Option<ObjectSet>,
}

/// The results of one pass over objects.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) texts: Vec<Hashed>,
    pub(super) blocks: Vec<Hashed>,
    /// Blocks of zeros in the order of objects, with their lengths in place of hashes; [`LONG`] and longer
    /// ones have that.
    pub(super) zeros: Vec<Hashed>,
    pub(super) tails: Vec<(ObjectId, u64)>,
}

/// Half of the hash of an object's value, or the length of its zeros, and the object, in the order of both.
/// Values with equal halves are compared, so a collision costs a little time but does not change the result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hashed(u64);

impl Hashed {
    fn of(bytes: &[u8], object: ObjectId) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        Self::with(hasher.finish() as u32, object)
    }

    pub(super) fn with(hash: u32, object: ObjectId) -> Self {
        Self(u64::from(hash) << 32 | u64::from(object.0))
    }

    pub(super) fn hash(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn object(self) -> ObjectId {
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

pub(super) fn is_text(heap: &Heap<'_>, object: ObjectId) -> bool {
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
pub(super) fn whole_text<'v>(
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

#[cfg(test)]
mod tests {
    use super::*;

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
