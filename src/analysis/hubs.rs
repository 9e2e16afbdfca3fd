//! Objects to which a large part of all references lead.

use super::graph::Graph;
use super::object_set::{ObjectSet, Ranked};
use crate::model::heap::ObjectId;

/// The hubs of a graph: hidden classes, types, and what else many objects refer to.
///
/// Where each object refers to its hidden class, as in V8, nothing would be owned if that counted. So
/// owned objects may refer to hubs, and the search for dominators takes it as if the object that owns
/// them did.
#[derive(Clone, Debug)]
pub(super) struct Hubs {
    ranked: Ranked,
    /// Each hub with some objects that refer to it. Sorted.
    referrers: Vec<(ObjectId, ObjectId)>,
}

/// The number of references that are examined.
const SAMPLE: u32 = 1 << 16;

/// The number of objects that refer to a hub, at least, among those whose references are examined.
pub(super) const LEAST_OF_HUB: usize = 16;

impl Hubs {
    /// No hubs.
    pub(super) fn none(graph: &Graph<'_>) -> Self {
        Self { ranked: Ranked::of(ObjectSet::none(graph.len())), referrers: Vec::new() }
    }

    /// Finds the objects to which at least `least` objects refer in a sample of all references.
    pub(super) fn of(graph: &Graph<'_>, least: usize) -> Self {
        let references = graph.references;
        let rows = references.len();
        // Multiples of the golden ratio are spread evenly, and out of step with any order of references.
        let row = |at: u32| {
            let part = u128::from(at.wrapping_mul(0x9e37_79b9)) * rows as u128;
            (part >> u32::BITS) as usize
        };
        let sample: Vec<usize> = match u32::try_from(rows) {
            Ok(..=SAMPLE) => (0..rows).collect(),
            _ => (0..SAMPLE).map(row).collect(),
        };
        let strong = sample.into_iter().filter(|row| !references.is_weak(*row));
        let mut targets: Vec<_> = strong.map(|row| (references.target(row), row)).collect();
        targets.sort_unstable();
        let mut hubs = ObjectSet::none(graph.len());
        let mut referrers = Vec::new();
        for same in targets.chunk_by(|(a, _), (b, _)| a == b).filter(|same| same.len() >= least) {
            let first = referrers.len();
            // An array may have one object in all of its elements.
            let some = same.iter().take(least.saturating_mul(2));
            referrers.extend(some.map(|(hub, row)| (*hub, references.owner(*row))));
            referrers.dedup();
            if referrers.len() - first < least {
                referrers.truncate(first);
            } else {
                hubs.insert(same[0].0);
            }
        }
        Self { ranked: Ranked::of(hubs), referrers }
    }

    /// The hubs without some of them.
    pub(super) fn without(self, some: &[ObjectId]) -> Self {
        let mut hubs = self.ranked.set().clone();
        some.iter().for_each(|hub| hubs.remove(*hub));
        Self { ranked: Ranked::of(hubs), ..self }
    }

    /// The number of hubs.
    pub(super) fn len(&self) -> usize {
        self.ranked.len()
    }

    /// The hubs.
    pub(super) fn set(&self) -> &ObjectSet {
        self.ranked.set()
    }

    /// The number of a hub among all, from 0.
    #[inline]
    pub(super) fn number(&self, hub: ObjectId) -> usize {
        self.ranked.place(hub) as usize
    }

    /// Some objects that refer to a hub.
    pub(super) fn referrers(&self, hub: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        let first = self.referrers.partition_point(|(other, _)| *other < hub);
        let of_hub = self.referrers[first..].iter().take_while(move |(other, _)| *other == hub);
        of_hub.map(|(_, referrer)| *referrer)
    }
}
