//! Values that are alive because their keys are.

use super::frontier::Frontier;
use super::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId};
use std::ops::Range;

/// The ephemerons that are in effect, because their holder and their key are both alive.
#[derive(Default)]
pub(super) struct Dependent {
    /// Holder and value, sorted.
    pairs: Vec<(ObjectId, ObjectId)>,
    /// The holders. Most objects are not holders, which one bit shows.
    holders: Option<ObjectSet>,
}

impl Dependent {
    /// Finds the ephemerons in effect, given the objects that the roots hold.
    pub(super) fn of(heap: &Heap<'_>, starts: &[ObjectId]) -> Self {
        if heap.ephemerons.is_empty() {
            return Self::default();
        }
        let pairs = Search::of(heap).run(starts);
        let mut holders = ObjectSet::none(heap.len());
        pairs.iter().for_each(|(holder, _)| _ = holders.insert(*holder));
        Self { pairs, holders: Some(holders) }
    }

    /// Whether no ephemeron is in effect.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The number of ephemerons in effect.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The values of these ephemerons.
    pub(super) fn values(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.pairs.iter().map(|(_, value)| *value)
    }

    /// Holder and value of the ephemerons in effect with this holder.
    #[inline]
    pub(super) fn on(&self, holder: ObjectId) -> &[(ObjectId, ObjectId)] {
        match &self.holders {
            Some(holders) if holders.contains(holder) => {
                &self.pairs[equal(&self.pairs, |(other, _)| *other, holder)]
            }
            _ => &[],
        }
    }
}

/// A search from the roots that visits an ephemeron when its holder becomes live and when its key
/// does. It visits each ephemeron at most twice, whatever the order.
struct Search<'h, 'a> {
    heap: &'h Heap<'a>,
    /// Rows of the heap's ephemerons, sorted by key. The heap has them sorted by holder.
    by_key: Vec<u32>,
    holders_and_keys: ObjectSet,
    live: ObjectSet,
    pending: Frontier,
}

impl<'h, 'a> Search<'h, 'a> {
    fn of(heap: &'h Heap<'a>) -> Self {
        let mut by_key: Vec<u32> = (0..heap.ephemerons.len() as u32).collect();
        by_key.sort_unstable_by_key(|row| heap.ephemerons[*row as usize].key);
        let mut holders_and_keys = ObjectSet::none(heap.len());
        for pair in &heap.ephemerons {
            holders_and_keys.insert(pair.holder);
            holders_and_keys.insert(pair.key);
        }
        Self {
            heap,
            by_key,
            holders_and_keys,
            live: ObjectSet::none(heap.len()),
            pending: Frontier::new(heap.len()),
        }
    }

    fn run(mut self, starts: &[ObjectId]) -> Vec<(ObjectId, ObjectId)> {
        let mut found = Vec::new();
        starts.iter().for_each(|start| self.enter(*start));
        while !self.pending.is_empty() {
            let level = std::mem::replace(&mut self.pending, Frontier::new(self.heap.len()));
            level.for_each_object(&self.heap.references, |object| {
                let heap = self.heap;
                heap.references.strong_targets(object).for_each(|target| self.enter(target));
                if self.holders_and_keys.contains(object) {
                    self.look_at(object, &mut found);
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[inline]
    fn enter(&mut self, object: ObjectId) {
        if self.live.insert(object) {
            self.pending.push(object);
        }
    }

    /// Looks at the ephemerons that have this live object as holder or key, and follows those whose
    /// other part is live as well.
    #[cold]
    fn look_at(&mut self, object: ObjectId, found: &mut Vec<(ObjectId, ObjectId)>) {
        let all = &self.heap.ephemerons;
        let held = all[equal(all, |pair| pair.holder, object)]
            .iter()
            .filter(|pair| self.live.contains(pair.key));
        let before = found.len();
        found.extend(held.map(|pair| (pair.holder, pair.value)));
        let keyed = self.by_key[equal(&self.by_key, |row| all[*row as usize].key, object)]
            .iter()
            .map(|row| &all[*row as usize]);
        found.extend(
            keyed
                .filter(|pair| self.live.contains(pair.holder))
                .map(|pair| (pair.holder, pair.value)),
        );
        for (_, value) in &found[before..] {
            self.enter(*value);
        }
    }
}

/// The range of the sorted items that have this key.
fn equal<T>(items: &[T], key: impl Fn(&T) -> ObjectId, wanted: ObjectId) -> Range<usize> {
    let first = items.partition_point(|item| key(item) < wanted);
    let count = items[first..].partition_point(|item| key(item) == wanted);
    first..first + count
}
