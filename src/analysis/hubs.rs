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
pub(super) struct Hubs(Ranked);

/// The number of references that are examined.
const SAMPLE: u32 = 1 << 16;

/// The number of examined references that lead to a hub, at least.
pub(super) const LEAST_OF_HUB: usize = 16;

impl Hubs {
    pub(super) fn none(graph: &Graph<'_>) -> Self {
        Self(Ranked::of(ObjectSet::none(graph.len())))
    }

    /// Finds the objects to which at least `least` of a sample of all references lead.
    pub(super) fn of(graph: &Graph<'_>, least: usize) -> Self {
        let references = graph.references;
        let rows = references.len() as u64;
        // Multiples of the golden ratio are spread evenly, and out of step with any order of references.
        let row = |at: u32| (u64::from(at.wrapping_mul(0x9e37_79b9)) * rows) >> u32::BITS;
        let sample: Vec<u64> = match u32::try_from(rows) {
            Ok(rows @ ..=SAMPLE) => (0..rows.into()).collect(),
            _ => (0..SAMPLE).map(row).collect(),
        };
        let rows = sample.into_iter().map(|row| row as usize);
        let mut targets: Vec<ObjectId> = rows
            .filter(|row| !references.is_weak(*row))
            .map(|row| references.target(row))
            .collect();
        targets.sort_unstable();
        let mut hubs = ObjectSet::none(graph.len());
        for same in targets.chunk_by(|a, b| a == b).filter(|same| same.len() >= least) {
            hubs.insert(same[0]);
        }
        Self(Ranked::of(hubs))
    }

    /// The number of hubs.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The hubs.
    pub(super) fn set(&self) -> &ObjectSet {
        self.0.set()
    }

    /// The number of a hub among all, from 0.
    #[inline]
    pub(super) fn number(&self, hub: ObjectId) -> usize {
        self.0.place(hub) as usize
    }
}
