//! The numbers of contents. Equal contents share a number.

use super::shape::Shape;
use crate::model::heap::{Heap, ObjectId, Value};
use crate::model::values::hash;
use rustc_hash::{FxHashMap, FxHashSet};

/// Numbers texts and blocks of bytes, separately for each shape, from 0 in the order of objects.
///
/// Contents are kept as 64-bit hashes in memory and never leave it.
#[derive(Default)]
pub(super) struct ContentNumbers {
    numbers: FxHashMap<(Shape, u64), u32>,
    /// Number of contents of each shape.
    counts: FxHashMap<Shape, u32>,
}

impl ContentNumbers {
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let mut numbers = Self::default();
        let mut seen = FxHashSet::default();
        for object in heap.objects() {
            if heap.long_text(object).is_some_and(|long| !seen.insert(long)) {
                continue;
            }
            match heap.value(object) {
                Value::Text { text, .. } => numbers.add(Shape::of_text(&text), text.as_bytes()),
                Value::Bytes(bytes) if is_block(heap, object) => {
                    numbers.add(Shape::of_bytes(bytes.len()), &bytes);
                }
                _ => {}
            }
        }
        numbers
    }

    fn add(&mut self, shape: Shape, contents: &[u8]) {
        let counts = &mut self.counts;
        self.numbers.entry((shape, hash(contents))).or_insert_with(|| {
            let count = counts.entry(shape).or_default();
            *count += 1;
            *count - 1
        });
    }

    pub(super) fn text(&self, text: &str) -> String {
        let shape = Shape::of_text(text);
        let (number, count) = self.number(shape, text.as_bytes());
        shape.text(number, count)
    }

    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let shape = Shape::of_bytes(bytes.len());
        let (number, count) = self.number(shape, bytes);
        shape.bytes(number, count)
    }

    fn number(&self, shape: Shape, contents: &[u8]) -> (u64, u64) {
        let number = self.numbers.get(&(shape, hash(contents))).copied().unwrap_or_default();
        let count = self.counts.get(&shape).copied().unwrap_or_default();
        (number.into(), count.into())
    }
}

/// Whether the memory of an object is plain contents without references.
pub(super) fn is_block(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.references.range(object).is_empty()
}
