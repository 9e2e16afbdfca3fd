//! Dominators: an object dominates another one if every path from the roots to that one passes it.
//!
//! An object with a single reference to it is dominated by the object with this reference (`owned`).
//! An object to which paths lead that share no other object is dominated by the roots alone (`apart`).
//! For all other objects the algorithm is SEMI-NCA (Georgiadis, "Linear-Time Algorithms for
//! Dominators and Related Problems", 2005): a depth-first search of a copy of the graph (`packed`)
//! numbers the live objects (`search`), semidominators follow from the edges against the order of
//! the numbers (`semi`), and immediate dominators from semidominators by walking up the part of the
//! tree that is already known. Everything after the search works on numbers, not on objects, so
//! that neighbors in the tree are near each other in memory.
//!
//! Walking up can take quadratic time, if many objects at the end of a long list are also held at
//! its beginning. Steps are counted; when there are too many, relative dominators (`relative`) take
//! over, whose time is O(n log n) for any graph.

mod apart;
mod backward;
mod ends;
mod forest;
mod hidden;
mod ordered;
mod packed;
mod search;
mod spread;

use super::graph::Graph;
use super::hubs::{Hubs, LEAST_OF_HUB};
use super::owned::Owned;
use crate::analysis::buckets::Buckets;
use crate::analysis::prefetch::prefetch;
use crate::model::heap::ObjectId;
use crate::parallel;
use crate::phases;
use backward::SortedParts;
use ends::Ends;
use forest::{Link, least};
use ordered::Ordered;
use rayon::prelude::*;
use search::{Found, Prepared};

pub(super) use packed::MOST_NARROW;

/// The dominator tree of the live objects.
///
/// Live objects have numbers from 1 in preorder: the objects that an object dominates have the
/// numbers after its own, without a gap. 0 is the set of roots. Takes 9 bytes per live object and
/// 4 per object of the heap.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The object of number n is `order[n - 1]`.
    order: Vec<ObjectId>,
    /// The dominator of each number.
    dominator: Vec<u32>,
    /// The number of each object; 0 for unreachable ones.
    number: Vec<u32>,
    ends: Ends,
}

/// The limits at which the search changes to another way to the same dominators.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    /// The average number of steps up the tree for each object before another algorithm takes over.
    /// Real heaps need about one.
    pub steps_per_object: usize,
    /// The number of narrow words before the search uses wide ones.
    pub most_narrow: u64,
    /// The number of objects that refer to a hub, at least, among those whose references are examined.
    pub least_of_hub: usize,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { steps_per_object: 64, most_narrow: MOST_NARROW, least_of_hub: LEAST_OF_HUB }
    }
}

impl Dominators {
    /// Finds the immediate dominator of every live object.
    pub fn of(graph: &Graph<'_>) -> Self {
        Self::with_limits(graph, SearchLimits::default())
    }

    /// Like [`Dominators::of`], with limits, for tests. The result does not depend on them.
    #[doc(hidden)]
    pub fn with_limits(graph: &Graph<'_>, limits: SearchLimits) -> Self {
        let ordered = Self::ordered_with(graph, limits);
        let located = ordered.located(graph.len());
        ordered.finish(located)
    }

    /// The live objects in preorder, for callers that have work to do while numbers are found.
    pub(super) fn ordered(graph: &Graph<'_>) -> Ordered {
        Self::ordered_with(graph, SearchLimits::default())
    }

    fn ordered_with(graph: &Graph<'_>, limits: SearchLimits) -> Ordered {
        let (core, owned, ()) = Core::of(graph, limits, |_| ());
        let _phase = phases::begin("numbering objects in preorder");
        spread::spread(core, owned, graph)
    }

    /// Number of live objects.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Live objects by number, from 1.
    pub fn order(&self) -> &[ObjectId] {
        &self.order
    }

    /// Whether an object can be reached from the roots.
    #[inline]
    pub fn is_live(&self, object: ObjectId) -> bool {
        self.number[object.index()] != 0
    }

    /// The number of a live object.
    #[inline]
    pub fn number(&self, object: ObjectId) -> Option<u32> {
        Some(self.number[object.index()]).filter(|number| *number != 0)
    }

    /// Prefetches the number of an object.
    #[inline]
    pub(super) fn prefetch_number(&self, object: ObjectId) {
        prefetch(&self.number, object.index());
    }

    /// The object of a number. `None` for 0, the set of roots.
    #[inline]
    pub fn object(&self, number: u32) -> Option<ObjectId> {
        self.order.get((number as usize).checked_sub(1)?).copied()
    }

    /// The immediate dominator of a live object. `None` for unreachable objects and for those that
    /// only the set of roots dominates.
    #[inline]
    pub fn dominator(&self, object: ObjectId) -> Option<ObjectId> {
        self.object(self.dominator_of_number(self.number(object)?))
    }

    /// Returns the number of the immediate dominator of a number; 0 is the set of roots.
    #[inline]
    pub fn dominator_of_number(&self, number: u32) -> u32 {
        self.dominator[number as usize]
    }

    /// Returns one more than the last number that the object with a number dominates.
    #[inline]
    pub fn end(&self, number: u32) -> u32 {
        self.ends.end(&self.dominator, number)
    }

    /// The numbers of the objects that the object of a number dominates immediately.
    #[inline]
    pub fn children(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(number);
        let from = move |number: u32| (number < end).then_some(number);
        std::iter::successors(from(number + 1), move |child| from(self.end(*child)))
    }

    /// The numbers of the dominators of all numbers; 0 for number 0.
    pub(super) fn dominators(&self) -> &[u32] {
        &self.dominator
    }
}

/// The most searches in a graph with hubs, before one without.
const MOST_SEARCHES: usize = 2;

/// The dominators of the live objects that are not owned. They have numbers from 1 in the order of the
/// search, so a dominator's number is smaller than the numbers of the objects that it dominates. 0 is
/// the set of roots.
#[derive(Clone, Debug)]
pub(super) struct Core {
    /// The numbers of the objects that are not owned, in the order of objects; 0 for those that the
    /// roots do not reach.
    pub(super) numbers: Vec<u32>,
    /// The dominator of each number.
    pub(super) dominator: Vec<u32>,
}

impl Core {
    /// Finds the owned objects, and the numbers and dominators of all others. The search keeps one thread
    /// busy; `beside` runs meanwhile.
    pub(super) fn of<R: Send>(
        graph: &Graph<'_>,
        limits: SearchLimits,
        beside: impl Fn(&Owned) -> R + Sync,
    ) -> (Self, Owned, R) {
        let of_hubs = |hubs| {
            let owned = Owned::of(graph, hubs);
            let prepared = search::prepare(graph, &owned, limits.most_narrow.min(MOST_NARROW));
            let search = || Self::found(prepared, limits.steps_per_object);
            let (core, beside) = parallel::join(search, || beside(&owned));
            (core, owned, beside)
        };
        let mut hubs = Hubs::of(graph, limits.least_of_hub);
        for _ in 0..MOST_SEARCHES {
            let (core, owned, beside) = of_hubs(hubs);
            let hidden = hidden::hidden(graph, &owned, &core);
            if hidden.is_empty() {
                return (core, owned, beside);
            }
            hubs = owned.into_hubs().without(&hidden);
        }
        of_hubs(Hubs::none(graph))
    }

    fn found(prepared: Prepared, steps_per_object: usize) -> Self {
        let Found { numbers, parent, semi, backward } = prepared.search();
        let phase = phases::begin("finding semidominators");
        let semi = semidominators(&parent, semi, backward);
        drop(phase);
        let _phase = phases::begin("finding common ancestors");
        let steps = parent.len().saturating_mul(steps_per_object);
        let dominator = nearest_common_ancestors(&parent, &semi, steps)
            .unwrap_or_else(|| by_relative_dominators(&parent, semi));
        Self { numbers, dominator }
    }
}

/// The immediate dominator is the nearest ancestor, in the dominator tree built so far, whose
/// number is not above the semidominator's. Returns `None` if that would take too many steps.
fn nearest_common_ancestors(parent: &[u32], semi: &[u32], mut steps: usize) -> Option<Vec<u32>> {
    let mut dominator = Vec::with_capacity(parent.len());
    dominator.push(0);
    for (&parent, &semi) in parent.iter().zip(semi).skip(1) {
        let mut ancestor = parent;
        while ancestor > semi {
            steps = steps.checked_sub(1)?;
            ancestor = dominator[ancestor as usize];
        }
        dominator.push(ancestor);
    }
    Some(dominator)
}

/// Semidominators by number: the smallest number at which a path can begin that reaches an object
/// while avoiding its ancestors in the search tree. `semi` holds those that follow from references
/// to larger numbers.
fn semidominators(parent: &[u32], mut semi: Vec<u32>, backward: SortedParts) -> Vec<u32> {
    let link = |(&ancestor, &least)| Link { ancestor, least };
    let mut links: Vec<Link> = parent.par_iter().zip(&semi).map(link).collect();
    let next = |link: &Link| link.ancestor;
    backward.for_each_block_backward(links.len(), |first, sources| {
        sources.for_each_backward(&mut links, next, |key, sources, links| {
            let number = first + key;
            let mut smallest = semi[number as usize];
            for &source in sources {
                smallest = smallest.min(least(links, source, number, u32::min));
            }
            semi[number as usize] = smallest;
            links[number as usize].least = smallest;
        });
    });
    semi
}

/// Immediate dominators by number, 0 for number 0, in O(n log n) for any graph, as in the second half
/// of Lengauer and Tarjan's algorithm. All semidominators are final.
///
/// The relative dominator of an object is the object with the smallest semidominator on the path in
/// the search tree from the object up to its own semidominator, which is excluded. If both have the
/// same semidominator, it is the immediate dominator, too; otherwise both objects have the same
/// immediate dominator (Lengauer and Tarjan 1979, corollary 1).
fn by_relative_dominators(parent: &[u32], mut semi: Vec<u32>) -> Vec<u32> {
    // Relative dominators have smaller numbers, so their dominators are known by then. An object
    // with the same semidominator is its own relative dominator, so that semidominator is its
    // dominator.
    for (number, relative) in relative_dominators(parent, &semi).into_iter().enumerate() {
        semi[number] = semi[relative as usize];
    }
    semi
}

/// Relative dominators by number. When the turn of a semidominator comes, exactly the larger
/// numbers are linked, so that paths end below it.
fn relative_dominators(parent: &[u32], semi: &[u32]) -> Vec<u32> {
    let count = parent.len();
    let of_semi = Buckets::of(count, count.saturating_sub(1), || {
        semi.iter().zip(0..).skip(1).map(|(&semi, number)| (semi, number))
    });
    let mut links: Vec<Link> =
        parent.iter().zip(0..).map(|(&ancestor, least)| Link { ancestor, least }).collect();
    // Returns the number with the smaller semidominator.
    let lesser = |a: u32, b: u32| if semi[a as usize] <= semi[b as usize] { a } else { b };
    let mut relative = vec![0; count];
    for done in (0..count as u32).rev() {
        for &number in of_semi.get(done) {
            relative[number as usize] = least(&mut links, number, done, lesser);
        }
    }
    relative
}
