//! Types of objects, from the words before the pointers to them.
//!
//! An interface value is two words: the address of an itab or a type, and a data word. The dump
//! contains the dynamic type of every itab. The data word points to a value of that type, or, if
//! the type is a pointer, is that pointer.

use super::survey::Survey;
use crate::model::heap::ObjectId;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// A hint at the type of an object, from outside its memory: a type record (see [`hinted`]) or, for
/// the first few numbers, a record of the runtime. If an object has several hints, the least one
/// counts, so that the order in which they are found does not matter.
pub(super) type Hint = u16;

/// Names of the hints that come first.
pub(super) const RUNTIME_TYPES: [&str; 5] =
    ["runtime.g", "runtime.m", "runtime._defer", "runtime._panic", "runtime.funcval"];
/// The record of a goroutine.
pub(super) const G: Hint = 0;
/// The record of a thread.
pub(super) const M: Hint = 1;
pub(super) const DEFER: Hint = 2;
pub(super) const PANIC: Hint = 3;
pub(super) const FUNCVAL: Hint = 4;
const NO_HINT: Hint = Hint::MAX;

pub(super) struct Hints(Vec<AtomicU16>);

impl Hints {
    /// Returns a list without hints for `count` objects.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU16::new(NO_HINT)).collect())
    }

    #[inline]
    pub(super) fn add(&self, object: ObjectId, hint: Hint) {
        if let Some(best) = self.0.get(object.index()).filter(|best| hint < best.load(Relaxed)) {
            best.fetch_min(hint, Relaxed);
        }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<Hint> {
        self.0.get(row).map(|best| best.load(Relaxed)).filter(|hint| *hint != NO_HINT)
    }
}

/// The types that are known by their records, and the words that represent them.
pub(super) struct Interfaces {
    /// 1.3: whether the data word of an itab is a pointer.
    itabs: FxHashMap<u64, bool>,
    /// Whether the data word of a type is a pointer.
    types: FxHashMap<u64, bool>,
    words: FxHashMap<u64, (Hint, u64)>,
    /// The start of the range of addresses in `words`. Hardly any other word lies in that range.
    low: u64,
    span: u64,
}

/// The type of a value to which a data word points, by the index of a type record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Hinted {
    /// The type of the record.
    Same(usize),
    /// The target of the record's type, which is a pointer.
    Element(usize),
}

/// The meaning of the hint for each type record. A hint for `*T` means the record of `T`, or the
/// element of `*T` if `T` has no record. `None` if the hint means nothing.
pub(super) fn hinted(survey: &Survey<'_>) -> Vec<Option<Hinted>> {
    let mut by_name: FxHashMap<&[u8], usize> = FxHashMap::default();
    for (index, record) in survey.types.iter().enumerate() {
        by_name.entry(record.name).or_insert(index);
    }
    let meaning = |(index, name): (usize, &[u8])| match name {
        // An `unsafe.Pointer` may point to anything.
        b"unsafe.Pointer" => None,
        [b'*', element @ ..] => {
            Some(by_name.get(element).map_or(Hinted::Element(index), |&index| Hinted::Same(index)))
        }
        // From 1.7 to 1.27 the names of pointers with methods are not written.
        [.., b'.'] => Some(Hinted::Element(index)),
        _ => Some(Hinted::Same(index)),
    };
    survey.types.iter().map(|record| record.name).enumerate().map(meaning).collect()
}

impl Interfaces {
    pub(super) fn new(survey: &Survey<'_>) -> Self {
        let hinted = hinted(survey);
        let mut words = FxHashMap::default();
        let hint = |address: u64| {
            let hinted = (*hinted.get(*survey.type_at.get(&address)?)?)?;
            let (index, size) = match hinted {
                Hinted::Same(index) => {
                    (index, survey.types.get(index).map_or(0, |record| record.size))
                }
                Hinted::Element(index) => (index, 0),
            };
            let hint = Hint::try_from(index.saturating_add(RUNTIME_TYPES.len()))
                .ok()
                .filter(|hint| *hint != NO_HINT)?;
            Some((hint, size))
        };
        for record in &survey.types {
            words.extend(hint(record.addr).map(|hint| (record.addr, hint)));
        }
        for itab in &survey.itabs {
            words.extend(itab.type_addr().and_then(hint).map(|hint| (itab.addr, hint)));
        }
        let low = words.keys().copied().min().unwrap_or(0);
        let span = words
            .keys()
            .copied()
            .max()
            .map_or(0, |high| high.saturating_sub(low).saturating_add(1));
        Self {
            itabs: survey
                .itabs
                .iter()
                .rev()
                .map(|itab| (itab.addr, itab.data_is_pointer != Some(false)))
                .collect(),
            types: survey.types.iter().map(|record| (record.addr, record.ifaceptr)).collect(),
            words,
            low,
            span,
        }
    }

    /// The hint for the target of the word after this one, and the smallest size of an object of
    /// that type.
    #[inline]
    pub(super) fn hint(&self, word: u64) -> Option<(Hint, u64)> {
        if word.wrapping_sub(self.low) < self.span { self.words.get(&word).copied() } else { None }
    }

    /// Whether the data word after this itab is a pointer; `None` if it is not known.
    pub(super) fn itab(&self, word: u64) -> Option<bool> {
        self.itabs.get(&word).copied()
    }

    /// Whether the data word after this type is a pointer; `None` if it is not known.
    pub(super) fn type_word(&self, word: u64) -> Option<bool> {
        self.types.get(&word).copied()
    }
}
