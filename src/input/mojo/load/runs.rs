//! A cache of the stacks that runs of references represent.

use crate::model::profile::StackId;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A cache of fixed size: a recording whose stacks are all different must not pay for remembering
/// them.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    /// Pairs of places: a new run takes its own place, and moves the run there to the other one.
    entries: Vec<Entry<'a>>,
    /// The current time; entries of earlier times are not valid.
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

/// The number of places. They take 2 MiB once a run is stored.
const PLACES: usize = 1 << 16;

impl<'a> Runs<'a> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), now: 1 }
    }

    /// Discards all runs.
    pub(super) fn forget(&mut self) {
        match self.now.checked_add(1) {
            Some(now) => self.now = now,
            None => *self = Self::new(),
        }
    }

    /// Returns the place of a run, and its stack if it is known.
    #[inline]
    pub(super) fn get(&self, key: &RunKey<'a>) -> (usize, Option<StackId>) {
        let place = place(key) & (PLACES - 1);
        let is_meant = |entry: &&Entry<'a>| entry.since == self.now && entry.key == *key;
        let stack =
            |place: usize| self.entries.get(place).filter(is_meant).map(|entry| entry.stack);
        (place, stack(place).or_else(|| stack(place ^ 1)))
    }

    /// Stores a run at the place that [`Self::get`] returned.
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
