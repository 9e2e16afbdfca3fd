//! Entries that are stored in arrays.

use super::{NONE, Walk};
use crate::model::heap::{FieldValue, Heap, ObjectId, Value};
use std::ops::ControlFlow;

impl Walk<'_, '_, '_> {
    /// Elements of an array.
    pub(super) fn range(&mut self, array: ObjectId, start: u64, count: u64) -> ControlFlow<()> {
        let indexes = start..start.saturating_add(count);
        self.each_of(array, indexes, |walk, _, value| walk.element(value))
    }

    /// Elements of an array that are not null, up to the collection's own length.
    pub(super) fn open(&mut self, object: ObjectId, table: ObjectId) -> ControlFlow<()> {
        let end = length(self.heap, object);
        self.each_of(table, 0..end, |walk, _, value| {
            // In Dart, the array itself represents a deleted entry.
            if value == FieldValue::Null || value == FieldValue::Object(table) {
                return NONE;
            }
            walk.bucket(value)
        })
    }

    /// An element, or a bucket of Eclipse Collections with several: `zero`, `one`, `two`, `three`,
    /// of which the last may be a bucket again.
    fn bucket(&mut self, value: FieldValue<'_>) -> ControlFlow<()> {
        let mut next = value.object();
        if !next.is_some_and(|object| self.heap.type_name(object).ends_with("$ChainedBucket")) {
            return self.element(value);
        }
        while let Some(bucket) = next.take() {
            self.visit()?;
            for name in ["zero", "one", "two", "three"] {
                match self.heap.field(bucket, name) {
                    None | Some(FieldValue::Null) => {}
                    Some(FieldValue::Object(object))
                        if self.heap.type_id(object) == self.heap.type_id(bucket) =>
                    {
                        next = Some(object);
                    }
                    Some(value) => self.element(value)?,
                }
            }
        }
        NONE
    }

    /// The elements of `universe` whose bits are set.
    pub(super) fn bits(
        &mut self,
        object: ObjectId,
        universe: ObjectId,
        bits: &str,
    ) -> ControlFlow<()> {
        let (heap, mut words) = (self.heap, Vec::new());
        match heap.field(object, bits) {
            Some(FieldValue::Integer(word)) => words.push(word),
            Some(FieldValue::Object(array)) => heap.elements(array, 0, |_, word| {
                words.extend(match word {
                    FieldValue::Integer(word) => Some(word),
                    _ => None,
                });
                ControlFlow::Continue(())
            }),
            _ => {}
        }
        self.each_of(universe, 0..64 * words.len() as u64, |walk, index, value| {
            let is_set = words[(index / 64) as usize] >> (index % 64) & 1 == 1;
            if is_set { walk.element(value) } else { NONE }
        })
    }

    /// Keys and values in turn.
    pub(super) fn pairs(&mut self, object: ObjectId, table: ObjectId) -> ControlFlow<()> {
        let end = length(self.heap, object);
        let mut last: Option<(u64, FieldValue<'_>)> = None;
        self.each_of(table, 0..end, |walk, index, value| {
            if index % 2 == 0 {
                // A key whose value is missing because the dump omits it, such as a number.
                let unpaired = last.take();
                last = value.owned().map(|key| (index, key));
                return unpaired.map_or(NONE, |(_, key)| walk.pair(key, FieldValue::Omitted));
            }
            // The dump may omit the key; the value is an entry all the same.
            let key = last
                .take()
                .filter(|(at, _)| at + 1 == index)
                .map_or(FieldValue::Omitted, |(_, key)| key);
            if key == FieldValue::Null || key == FieldValue::Object(table) {
                return NONE;
            }
            walk.pair_or_chain(key, value)
        })?;
        last.map_or(NONE, |(_, key)| self.pair(key, FieldValue::Omitted))
    }

    /// A pair. Where keys collide, Eclipse Collections has an array of pairs instead, and a special
    /// object for null.
    fn pair_or_chain(&mut self, key: FieldValue<'_>, value: FieldValue<'_>) -> ControlFlow<()> {
        let is_mark = key.object().is_some_and(|key| {
            let name = self.heap.type_name(key);
            name.starts_with("org.eclipse.collections.")
                && name.contains("UnifiedMap")
                && name.contains('$')
        });
        let chain = value.object().filter(|value| is_mark && self.heap.array(*value).is_some());
        let Some(chain) = chain else {
            return self.pair(if is_mark { FieldValue::Null } else { key }, value);
        };
        let mut last = FieldValue::Null;
        self.each_of(chain, 0..u64::MAX, |walk, index, value| {
            if index % 2 == 0 {
                last = value.owned().unwrap_or(FieldValue::Omitted);
            } else if last != FieldValue::Null {
                return walk.pair(last, value);
            }
            NONE
        })
    }

    /// Keys and values in separate arrays. Null keys or values are not entries.
    pub(super) fn parallel(
        &mut self,
        object: ObjectId,
        keys: ObjectId,
        values: ObjectId,
    ) -> ControlFlow<()> {
        let heap = self.heap;
        let length = heap.array(values).map_or(0, |array| array.length);
        // A sorted map has stale entries after its size; a map by ordinals has holes instead.
        let holes =
            heap.array(keys).is_some_and(|keys| keys.element != "int" && keys.element != "long");
        let end = if holes {
            length
        } else {
            length.min(self.collections.size(object).unwrap_or(length))
        };
        self.each_of(keys, 0..end, |walk, index, key| {
            let mut value = FieldValue::Null;
            heap.elements(values, index, |at, found| {
                if at == index {
                    value = found.owned().unwrap_or(FieldValue::Omitted);
                }
                ControlFlow::Break(())
            });
            if key == FieldValue::Null || value == FieldValue::Null {
                return NONE;
            }
            walk.pair(key, value)
        })
    }
}

/// The number of elements in use, if the collection itself stores it, as in Dart.
fn length(heap: &Heap<'_>, object: ObjectId) -> u64 {
    match heap.value(object) {
        Value::Length(length) => length,
        _ => u64::MAX,
    }
}
