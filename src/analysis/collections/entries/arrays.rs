//! Entries that are stored in arrays.

use super::Walk;
use crate::model::heap::{FieldValue, Heap, ObjectId, Value};
use std::ops::ControlFlow;

impl Walk<'_, '_, '_> {
    /// Elements of an array.
    pub(super) fn range(&mut self, array: ObjectId, start: u64, count: u64) -> ControlFlow<()> {
        let end = start.saturating_add(count);
        let mut ended = ControlFlow::Continue(());
        self.heap.elements(array, start, |index, value| {
            if index >= end {
                return ControlFlow::Break(());
            }
            ended = self.element(value);
            ended
        });
        ended
    }

    /// Elements of an array that are not null, up to the collection's own length.
    pub(super) fn open(&mut self, object: ObjectId, table: ObjectId) -> ControlFlow<()> {
        let (heap, end) = (self.heap, length(self.heap, object));
        let mut ended = ControlFlow::Continue(());
        heap.elements(table, 0, |index, value| {
            if index >= end {
                return ControlFlow::Break(());
            }
            // In Dart, the array itself represents a deleted entry.
            if value != FieldValue::Null && value != FieldValue::Object(table) {
                ended = self.bucket(value);
            }
            ended
        });
        ended
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
        ControlFlow::Continue(())
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
        let mut ended = ControlFlow::Continue(());
        heap.elements(universe, 0, |index, value| {
            let Some(word) = words.get((index / 64) as usize) else {
                return ControlFlow::Break(());
            };
            if word >> (index % 64) & 1 == 1 {
                ended = self.element(value);
            }
            ended
        });
        ended
    }

    /// Keys and values in turn.
    pub(super) fn pairs(&mut self, object: ObjectId, table: ObjectId) -> ControlFlow<()> {
        let (heap, end) = (self.heap, length(self.heap, object));
        let mut ended = ControlFlow::Continue(());
        let mut last: Option<(u64, FieldValue<'_>)> = None;
        heap.elements(table, 0, |index, value| {
            if index >= end {
                return ControlFlow::Break(());
            }
            if index % 2 == 0 {
                // A key whose value is missing because the dump omits it, such as a number.
                if let Some((_, key)) = last.take() {
                    ended = self.pair(key, FieldValue::Omitted);
                }
                last = value.owned().map(|key| (index, key));
                return ended;
            }
            // The dump may omit the key; the value is an entry all the same.
            let key = last
                .take()
                .filter(|(at, _)| at + 1 == index)
                .map_or(FieldValue::Omitted, |(_, key)| key);
            if key != FieldValue::Null && key != FieldValue::Object(table) {
                ended = self.pair_or_chain(key, value);
            }
            ended
        });
        ended?;
        match last {
            Some((_, key)) => self.pair(key, FieldValue::Omitted),
            None => ControlFlow::Continue(()),
        }
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
        let (heap, mut ended, mut last) = (self.heap, ControlFlow::Continue(()), FieldValue::Null);
        heap.elements(chain, 0, |index, value| {
            if index % 2 == 0 {
                last = value.owned().unwrap_or(FieldValue::Omitted);
            } else if last != FieldValue::Null {
                ended = self.pair(last, value);
            }
            ended
        });
        ended
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
        let mut ended = ControlFlow::Continue(());
        heap.elements(keys, 0, |index, key| {
            if index >= end {
                return ControlFlow::Break(());
            }
            let mut value = FieldValue::Null;
            heap.elements(values, index, |at, found| {
                if at == index {
                    value = found.owned().unwrap_or(FieldValue::Omitted);
                }
                ControlFlow::Break(())
            });
            if key != FieldValue::Null && value != FieldValue::Null {
                ended = self.pair(key, value);
            }
            ended
        });
        ended
    }
}

/// The number of elements in use, if the collection itself stores it, as in Dart.
fn length(heap: &Heap<'_>, object: ObjectId) -> u64 {
    match heap.value(object) {
        Value::Length(length) => length,
        _ => u64::MAX,
    }
}
