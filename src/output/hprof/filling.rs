//! The budget of zeros that represent sizes.
//!
//! The size of an object is a number in a dump, and readers of hprof see only what is really there:
//! fields, elements. What a dump has no contents of is filled up with zeros, which have a budget
//! for the whole file. All objects share it, see [`Share`](super::share::Share).

use super::share::Share;
use crate::model::heap::{Heap, ObjectId, Value};
use rustc_hash::FxHashSet;

/// Bytes of zeros for all objects: so many, and so many for each object. The losses quote them.
pub(super) const BUDGET: (u64, u64) = (32 << 20, 256);

/// Bytes of null references in objects of wide classes: so many, and so many for each of those
/// objects. A class is wide if its references alone take more than the second of the two.
pub(super) const NULLS: (u64, u64) = BUDGET;

/// Bytes that the records of classes may take for fields that fill up: so many, and so many for
/// each object.
const CLASS_FIELDS: (u64, u64) = (8 << 20, 64);

/// Bytes of texts that were there before: so many, and so many for each object.
const REPEATED_TEXTS: (u64, u64) = (16 << 20, 64);
/// Texts up to this length in bytes may be there any number of times, and all others are cut to it
/// once the budget is spent.
const SHORT_TEXT: usize = 256;

/// The rest of the budgets.
pub(super) struct Filling {
    /// The most zeros of an object, and of the array that represents its external bytes.
    pub(super) limit: u64,
    class_fields: u64,
    repeated_texts: u64,
    /// Identities of the texts that are there and not short.
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

    /// As much of an object's size as may be written.
    #[inline]
    pub(super) fn size(&self, heap: &Heap<'_>, object: ObjectId) -> u64 {
        let size = heap.shallow.get(object.index());
        if size <= self.limit {
            size
        } else {
            size.min(earned(heap, object).saturating_add(self.limit))
        }
    }

    /// Takes from the budget of classes. False: there is not so much left.
    pub(super) fn take_class_fields(&mut self, bytes: u64) -> bool {
        let rest = self.class_fields.checked_sub(bytes);
        self.class_fields = rest.unwrap_or(self.class_fields);
        rest.is_some()
    }

    /// As much of a text as may be written. Texts of a dump may share their contents: a long one
    /// that many objects have must not be there for each of them.
    /// `identity` is the same for equal texts.
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

/// The most zeros of one object.
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

/// Bytes of an object of which the dump has more than a number: references, or contents.
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
