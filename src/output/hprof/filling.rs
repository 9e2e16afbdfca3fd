//! The budget of zeros that represent sizes.
//!
//! A dump states the size of an object as a number, but readers of hprof compute it from fields and
//! elements. Bytes whose contents the dump lacks are written as zeros, within a budget for the
//! whole file that all objects share: see [`Share`](super::share::Share).

use super::share::Share;
use crate::model::heap::{Heap, ObjectId, Value};
use rustc_hash::FxHashSet;

/// The budget of zeros in bytes: a fixed part, and a part for each object. The losses quote both.
pub(super) const BUDGET: (u64, u64) = (32 << 20, 256);

/// The budget in bytes of null references in objects of wide classes: a fixed part, and a part per
/// object. A class is wide if its references alone take more than the second part.
pub(super) const NULLS: (u64, u64) = BUDGET;

/// The budget of padding fields in the records of classes in bytes: a fixed part, and a part for
/// each object.
const CLASS_FIELDS: (u64, u64) = (8 << 20, 64);

/// The budget of repeated texts in bytes: a fixed part, and a part for each object.
const REPEATED_TEXTS: (u64, u64) = (16 << 20, 64);
/// Texts up to this length in bytes may repeat without limit. Longer ones are cut to it once the
/// budget is spent.
const SHORT_TEXT: usize = 256;

pub(super) struct Filling {
    /// The maximum bytes of zeros in an object, and in the array of its external bytes.
    pub(super) limit: u64,
    class_fields: u64,
    repeated_texts: u64,
    /// Identities of the long texts that have been written.
    texts: FxHashSet<u64>,
}

impl Filling {
    pub(super) fn of(heap: &Heap<'_>) -> Self {
        let budget = |(base, each): (u64, u64)| base + each * heap.len() as u64;
        Self {
            limit: limit(heap, budget(BUDGET)),
            class_fields: budget(CLASS_FIELDS),
            repeated_texts: budget(REPEATED_TEXTS),
            texts: FxHashSet::default(),
        }
    }

    /// Returns how much of an object's size may be written.
    #[inline]
    pub(super) fn size(&self, heap: &Heap<'_>, object: ObjectId) -> u64 {
        let size = heap.shallow.get(object.index());
        if size <= self.limit {
            size
        } else {
            size.min(earned(heap, object).saturating_add(self.limit))
        }
    }

    /// Takes bytes from the budget of classes. Returns `false` if fewer are left.
    pub(super) fn take_class_fields(&mut self, bytes: u64) -> bool {
        let rest = self.class_fields.checked_sub(bytes);
        self.class_fields = rest.unwrap_or(self.class_fields);
        rest.is_some()
    }

    /// Returns the part of a text that may be written. Texts of a dump may share their contents; a
    /// long text that many objects share must not be written for each of them. `identity` is the
    /// same for equal texts.
    pub(super) fn text<'t>(&mut self, text: &'t str, identity: impl FnOnce() -> u64) -> &'t str {
        if text.len() <= SHORT_TEXT || self.texts.insert(identity()) {
            return text;
        }
        match self.repeated_texts.checked_sub(text.len() as u64) {
            Some(rest) => {
                self.repeated_texts = rest;
                text
            }
            None => &text[..text.floor_char_boundary(SHORT_TEXT)],
        }
    }
}

/// The limit of zero bytes in an object that keeps all objects within the budget.
fn limit(heap: &Heap<'_>, budget: u64) -> u64 {
    let external = || heap.external.iter().map(|(_, bytes)| *bytes);
    if heap.shallow.iter().chain(external()).fold(0, u64::saturating_add) <= budget {
        return u64::MAX;
    }
    let mut share = Share::default();
    for object in heap.objects() {
        share.add(heap.shallow.get(object.index()).saturating_sub(earned(heap, object)));
    }
    external().for_each(|bytes| share.add(bytes));
    share.limit(budget)
}

/// The bytes of an object that the dump has as references or contents, not only as a size.
fn earned(heap: &Heap<'_>, object: ObjectId) -> u64 {
    let contents = match &heap.values {
        None => 0,
        Some(_) => match heap.value(object) {
            Value::Bytes(bytes) => bytes.len() as u64,
            _ => 0,
        },
    };
    contents.max(8 * heap.fields_of(object).len() as u64)
}
