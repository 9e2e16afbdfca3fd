//! A cache of the meaning of runs of references.

use crate::model::profile::StackId;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A cache of fixed size: a recording whose stacks are all different must not pay for remembering
/// them.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    /// Pairs of places: a run is in one of two, the one that was used last first.
    entries: Vec<Entry<'a>>,
    /// Entries of earlier times mean nothing any more.
    now: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry<'a> {
    key: RunKey<'a>,
    since: u32,
    stack: StackId,
}

/// A run of references as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunKey<'a> {
    /// The scope of the keys.
    pub process: u32,
    /// The stack that the run continues.
    pub below: StackId,
    pub bytes: &'a [u8],
}

/// 2 MiB, of which only what is used is ever there.
const PLACES: usize = 1 << 16;

impl<'a> Runs<'a> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), now: 1 }
    }

    /// Nothing that is known now counts any more.
    pub(super) fn forget(&mut self) {
        match self.now.checked_add(1) {
            Some(now) => self.now = now,
            None => *self = Self::new(),
        }
    }

    /// The stack of a run, if it is known, and where it is or belongs.
    #[inline]
    pub(super) fn get(&self, key: &RunKey<'a>) -> (usize, Option<StackId>) {
        let place = place(key) & (PLACES - 1);
        let is_meant = |entry: &&Entry<'a>| entry.since == self.now && entry.key == *key;
        let stack =
            |place: usize| self.entries.get(place).filter(is_meant).map(|entry| entry.stack);
        (place, stack(place).or_else(|| stack(place ^ 1)))
    }

    /// Remembers a run in its place.
    pub(super) fn put(&mut self, place: usize, key: RunKey<'a>, stack: StackId) {
        if self.entries.is_empty() {
            self.entries = vec![Entry::default(); PLACES];
        }
        let entry = Entry { key, since: self.now, stack };
        let other = self.entries.get_mut(place).map(|known| std::mem::replace(known, entry));
        if let (Some(other), Some(second)) = (other, self.entries.get_mut(place ^ 1)) {
            *second = other;
        }
    }
}

#[inline]
fn place(key: &RunKey<'_>) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(key.process) << 32 | u64::from(key.below.0));
    hasher.write(key.bytes);
    (hasher.finish() >> 7) as usize
}
