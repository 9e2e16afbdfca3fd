//! Several paths to one object, shortest first.
//!
//! The search goes backward from the object. An earlier breadth-first search from the roots has
//! computed the distance of each object, so the search always takes the unfinished path whose total
//! length is the smallest possible, and walks back to a root without detours. Referrers that the object
//! itself keeps alive lead to no other path.

use super::distances::RootDistances;
use super::search::Starts;
use super::shortest::Shortest;
use super::{Origin, Path, ReachedBy, Step, is_immediate};
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::analysis::referrers::Referrers;
use crate::model::heap::{Heap, ObjectId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Returns the `k` shortest paths to an object without cycles, which differ in their root or in at
/// least one object. Sorted by length; among equal lengths, more informative roots come first.
/// Empty if the object is unreachable.
pub fn several(heap: &Heap<'_>, graph: &Graph<'_>, object: ObjectId, k: usize) -> Vec<Path> {
    if k == 1 {
        return Shortest::of(heap, graph).path(object).into_iter().collect();
    }
    let (distances, referrers) = (RootDistances::of(heap, graph), Referrers::of(&heap.references));
    let dominators = &Dominators::of(graph);
    let several = Several { heap, graph, distances: &distances, referrers: &referrers, dominators };
    several.paths(object, k, || Shortest::of(heap, graph))
}

/// A heap with precomputed data for the search for several paths to an object.
pub struct Several<'s, 'h, 'a> {
    /// The heap to search.
    pub heap: &'s Heap<'a>,
    /// The graph of the heap.
    pub graph: &'s Graph<'h>,
    /// The distances of all objects from the roots of the graph.
    pub distances: &'s RootDistances,
    /// The referrers of all objects of the heap.
    pub referrers: &'s Referrers,
    /// The dominators of all objects of the graph.
    pub dominators: &'s Dominators,
}

impl Several<'_, '_, '_> {
    /// The paths that [`several`] finds. `shortest` is called if only immediates hold the object.
    pub fn paths<'x, 'y: 'x>(
        &self,
        object: ObjectId,
        k: usize,
        shortest: impl FnOnce() -> Shortest<'x, 'y>,
    ) -> Vec<Path> {
        if k == 1 {
            return shortest().path(object).into_iter().collect();
        }
        if self.distances.of_object(object).is_none() || k == 0 {
            return Vec::new();
        }
        let starts = Starts::of(self.heap, self.graph);
        let found = Backward::new(self, &starts).search(object, k);
        if found.is_empty() { shortest().path(object).into_iter().collect() } else { found }
    }
}

/// A partial path: from an object to its end.
struct Partial {
    object: ObjectId,
    /// The link from this object to the next, and the number of the partial path that begins there.
    next: Option<(ReachedBy, u32)>,
    /// The number of objects on the partial path.
    length: u32,
    /// For a complete path: its origin, and the link by which it reaches the first object.
    origin: Option<(Origin, ReachedBy)>,
}

struct Backward<'s, 'a> {
    heap: &'s Heap<'a>,
    distances: &'s RootDistances,
    referrers: &'s Referrers,
    dominators: &'s Dominators,
    /// The objects that the object at the end of all paths keeps alive. It is on every path to them.
    below_end: Range<u32>,
    /// Holders of the ephemerons in effect, by value.
    holders: FxHashMap<ObjectId, Vec<ObjectId>>,
    roots: FxHashMap<ObjectId, Vec<usize>>,
    partial: Vec<Partial>,
    /// Partial paths by the minimum number of objects of the whole path, then those nearer to a
    /// root, then in the order in which they were found.
    queue: BinaryHeap<Reverse<(u32, Reverse<u32>, u32)>>,
    taken: FxHashMap<ObjectId, usize>,
}

impl<'s, 'a> Backward<'s, 'a> {
    fn new(search: &Several<'s, '_, 'a>, starts: &Starts) -> Self {
        let &Several { heap, graph, distances, referrers, dominators } = search;
        let mut holders: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
        for pair in &heap.ephemerons {
            if graph.dependent_on(pair.holder).iter().any(|(_, value)| *value == pair.value) {
                holders.entry(pair.value).or_default().push(pair.holder);
            }
        }
        let mut roots: FxHashMap<ObjectId, Vec<usize>> = FxHashMap::default();
        for &row in &starts.roots {
            roots.entry(heap.roots[row].object).or_default().push(row);
        }
        Self {
            heap,
            distances,
            referrers,
            dominators,
            below_end: 0..0,
            holders,
            roots,
            partial: Vec::new(),
            queue: BinaryHeap::new(),
            taken: FxHashMap::default(),
        }
    }

    fn search(mut self, object: ObjectId, k: usize) -> Vec<Path> {
        // Walks with cycles are dropped, and an object that has been passed too often is not
        // extended any more, so that the search ends soon for every heap.
        let most = k.saturating_mul(PASSES);
        let mut paths: Vec<Path> = Vec::new();
        self.below_end = self.below(object);
        self.push(Partial { object, next: None, length: 1, origin: None });
        while let Some(Reverse((_, _, number))) = self.queue.pop() {
            let partial = &self.partial[number as usize];
            if partial.origin.is_some() {
                paths.extend(self.path(number));
                if paths.len() == k {
                    break;
                }
                continue;
            }
            let object = partial.object;
            let taken = self.taken.entry(object).or_default();
            *taken += 1;
            if *taken <= most {
                self.extend(number, object, k);
            }
        }
        paths
    }

    /// Adds the referrers of the first object of a partial path.
    fn extend(&mut self, number: u32, object: ObjectId, k: usize) {
        let &Partial { next, length, .. } = &self.partial[number as usize];
        for row in self.roots.get(&object).cloned().unwrap_or_default() {
            self.push(Partial {
                object,
                next,
                length,
                origin: Some((Origin::Root(row), ReachedBy::Root)),
            });
        }
        let mut before: Vec<ObjectId> = self.referrers.of_object(object).collect();
        before.extend(self.holders.get(&object).into_iter().flatten());
        let below = self.below(object);
        let is_below = |referrer: ObjectId| {
            let number = self.dominators.number(referrer).unwrap_or_default();
            below.contains(&number) || self.below_end.contains(&number)
        };
        before.retain(|referrer| {
            self.distances.of_object(*referrer).is_some()
                && !is_immediate(self.heap, *referrer)
                && (self.heap.is_made_up(*referrer) || !is_below(*referrer))
        });
        before.sort_unstable_by_key(|referrer| (self.distances.of_object(*referrer), *referrer));
        before.dedup();
        // More referrers are not needed: each of these leads to another path.
        let mut wanted = k.saturating_mul(4).saturating_add(16);
        for referrer in before {
            let Some(by) = self.link(referrer, object) else { continue };
            if self.heap.is_made_up(referrer) {
                // Roots name the objects that synthetic objects hold, apart from a few.
                if !self.roots.contains_key(&object) {
                    self.push(Partial {
                        object,
                        next,
                        length,
                        origin: Some((Origin::Synthetic(referrer), by)),
                    });
                }
                continue;
            }
            if !self.recent(number, referrer) {
                self.push(Partial {
                    object: referrer,
                    next: Some((by, number)),
                    length: length.saturating_add(1),
                    origin: None,
                });
                wanted -= 1;
            }
            if wanted == 0 {
                return;
            }
        }
    }

    /// The numbers of an object and of all that it dominates.
    fn below(&self, object: ObjectId) -> Range<u32> {
        self.dominators.number(object).map_or(0..0, |number| number..self.dominators.end(number))
    }

    fn push(&mut self, partial: Partial) {
        let Ok(number) = u32::try_from(self.partial.len()) else { return };
        let missing = if partial.origin.is_some() {
            0
        } else {
            self.distances.of_object(partial.object).unwrap_or_default()
        };
        let order = if partial.origin.is_some() { u32::MAX } else { partial.length };
        self.queue.push(Reverse((partial.length.saturating_add(missing), Reverse(order), number)));
        self.partial.push(partial);
    }

    /// The strong reference from one object to another.
    fn link(&self, from: ObjectId, to: ObjectId) -> Option<ReachedBy> {
        let references = &self.heap.references;
        let row = references
            .range(from)
            .find(|row| references.target[*row] == to && !references.is_weak(*row));
        let is_holder = || self.holders.get(&to).is_some_and(|holders| holders.contains(&from));
        row.map(ReachedBy::Reference).or_else(|| is_holder().then_some(ReachedBy::Ephemeron))
    }

    /// Whether an object is among the first of a partial path. Longer cycles are found when the
    /// path is complete.
    fn recent(&self, number: u32, object: ObjectId) -> bool {
        self.from(number).take(64).any(|partial| partial.object == object)
    }

    fn from(&self, number: u32) -> impl Iterator<Item = &Partial> {
        let partial = |number: u32| &self.partial[number as usize];
        std::iter::successors(Some(partial(number)), move |before| {
            before.next.map(|(_, number)| partial(number))
        })
    }

    /// The path of a complete partial path. `None` if an object is on it twice.
    fn path(&self, number: u32) -> Option<Path> {
        let (origin, mut by) = self.partial[number as usize].origin?;
        let mut seen = FxHashSet::default();
        let mut steps = Vec::new();
        for partial in self.from(number) {
            if !seen.insert(partial.object) {
                return None;
            }
            steps.push(Step { by, object: partial.object });
            by = partial.next.map_or(ReachedBy::Root, |(by, _)| by);
        }
        Some(Path { origin, steps })
    }
}

/// The maximum number of times that an object is passed, for each path that is wanted.
const PASSES: usize = 64;
