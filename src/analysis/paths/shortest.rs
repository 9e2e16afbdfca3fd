//! One shortest path to every live object.

use super::down::Down;
use super::search::{self, Marks, Starts};
use super::{Origin, Path, ReachedBy, Step};
use crate::analysis::dominators::Dominators;
use crate::analysis::frontier::{Frontier, next_level};
use crate::analysis::graph::Graph;
use crate::analysis::object_set::{ObjectSet, Ranked};
use crate::analysis::set_bits::SetBits;
use crate::model::heap::{Heap, ObjectId};
use crate::phases;
use crate::plain::Plain;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// For each object, the reference over which a breadth-first search reached it first: 4 bytes each
/// (8 beyond 2³² references). The choice among equally short paths depends only on the heap.
///
/// A search for some objects keeps this only for these and for objects with references, because no path
/// leads through others. If the dominators are known, it searches only for the objects to which no reference
/// of their dominator leads.
pub struct Shortest<'h, 'a> {
    pub(super) heap: &'h Heap<'a>,
    links: Arc<ShortestLinks>,
}

/// The part of a [`Shortest`] that does not borrow from the heap. [`Shortest::again`] reuses it.
pub struct ShortestLinks {
    /// The preferred root of each object that a root holds.
    roots: FxHashMap<ObjectId, u32>,
    /// The references from dominators to objects on the paths that were asked for.
    down: FxHashMap<ObjectId, usize>,
    /// The links of other objects; `None` if no others were asked for.
    via: Option<Via>,
}

/// The link by which each object is reached, in 4 bytes if the numbers of all references fit.
enum Via {
    Narrow(Links<AtomicU32>),
    Wide(Links<AtomicU64>),
}

struct Links<L> {
    reached: ObjectSet,
    /// By place in `kept`.
    links: Vec<L>,
    /// The objects that have a link; `None` if all have.
    kept: Option<Ranked>,
    /// The search ends when it has reached all of these. `None`: when it has reached all objects.
    wanted: Option<Vec<ObjectId>>,
    /// The holders of ephemerons, by their value.
    holders: FxHashMap<ObjectId, ObjectId>,
}

/// The link by which an object is reached. Threads that find different references to an object at the
/// same time agree on the first one.
trait Link: Send + Sync + Sized {
    /// The most references whose numbers fit.
    const MOST: u64;
    /// Links of unreached objects.
    fn unreached(length: usize) -> Vec<Self>;
    fn set(&self, by: ReachedBy);
    /// Sets the reference in a row, unless an earlier one has been set.
    fn set_if_first(&self, row: usize);
    fn get(&self) -> Option<ReachedBy>;
}

/// Implements [`Link`] for an atomic integer: 0 for unreached objects, whose memory the kernel clears, and
/// the larger the earlier a reference comes.
macro_rules! link {
    ($link:ty, $integer:ty, $zeros:expr) => {
        impl Link for $link {
            const MOST: u64 = <$integer>::MAX as u64 - EPHEMERON as u64;

            fn unreached(length: usize) -> Vec<Self> {
                $zeros(length)
            }

            #[inline]
            fn set(&self, by: ReachedBy) {
                let link = match by {
                    ReachedBy::Root => ROOT.into(),
                    ReachedBy::Ephemeron => EPHEMERON.into(),
                    ReachedBy::Reference(row) => !(row as $integer),
                };
                self.store(link, Relaxed);
            }

            #[inline]
            fn set_if_first(&self, row: usize) {
                let link = !(row as $integer);
                // Most objects have a single reference, or the threads find the first one first.
                if self.load(Relaxed) < link {
                    self.fetch_max(link, Relaxed);
                }
            }

            #[inline]
            fn get(&self) -> Option<ReachedBy> {
                match self.load(Relaxed) {
                    0 => None,
                    link if link == <$integer>::from(ROOT) => Some(ReachedBy::Root),
                    link if link == <$integer>::from(EPHEMERON) => Some(ReachedBy::Ephemeron),
                    link => Some(ReachedBy::Reference(!link as usize)),
                }
            }
        }
    };
}

const ROOT: u8 = 1;
const EPHEMERON: u8 = 2;

link!(AtomicU32, u32, AtomicU32::zeros);
link!(AtomicU64, u64, |length| std::iter::repeat_with(AtomicU64::default).take(length).collect());

/// The preferred root of each object that a root holds.
fn preferred_roots(heap: &Heap<'_>, starts: &Starts) -> FxHashMap<ObjectId, u32> {
    let mut roots = FxHashMap::default();
    for row in &starts.roots {
        roots.entry(heap.roots[*row].object).or_insert(*row as u32);
    }
    roots
}

impl Via {
    fn of(
        heap: &Heap<'_>,
        graph: &Graph<'_>,
        starts: &Starts,
        wanted: Option<Vec<ObjectId>>,
    ) -> Self {
        let _phase = phases::begin("finding shortest paths");
        if heap.references.len() as u64 <= AtomicU32::MOST {
            Self::Narrow(Links::of(heap, graph, starts, wanted))
        } else {
            Self::Wide(Links::of(heap, graph, starts, wanted))
        }
    }
}

impl<L: Link> Links<L> {
    fn of(
        heap: &Heap<'_>,
        graph: &Graph<'_>,
        starts: &Starts,
        wanted: Option<Vec<ObjectId>>,
    ) -> Self {
        let kept = wanted.as_ref().map(|wanted| on_paths(heap, graph, wanted));
        let links = L::unreached(kept.as_ref().map_or(heap.len(), Ranked::len));
        let (reached, holders) = (ObjectSet::none(heap.len()), FxHashMap::default());
        let mut links = Self { reached, links, kept, wanted, holders };
        search::search(heap, graph, starts, &mut links);
        links
    }

    /// The link of an object, if it has one.
    #[inline]
    fn link(&self, object: ObjectId) -> Option<&L> {
        let place = match &self.kept {
            None => object.index(),
            Some(kept) if kept.set().contains(object) => kept.place(object) as usize,
            Some(_) => return None,
        };
        self.links.get(place)
    }

    #[inline]
    fn reach(&mut self, object: ObjectId, by: ReachedBy) {
        self.reached.insert(object);
        if let Some(link) = self.link(object) {
            link.set(by);
        }
    }

    #[inline]
    fn get(&self, object: ObjectId) -> Option<ReachedBy> {
        self.link(object)?.get()
    }

    /// The objects in a set that have a link, in the order in which a single thread reaches them.
    fn in_order(&self, bits: &[u64]) -> Vec<ObjectId> {
        let objects = SetBits::of(0, bits.iter().copied()).map(|at| ObjectId(at as u32));
        let with_row = |object| match self.get(object)? {
            ReachedBy::Reference(row) => Some((row, object)),
            ReachedBy::Root | ReachedBy::Ephemeron => None,
        };
        let mut objects: Vec<(usize, ObjectId)> = objects.filter_map(with_row).collect();
        objects.sort_unstable();
        objects.into_iter().map(|(_, object)| object).collect()
    }
}

/// These objects, and all through which a path may lead.
fn on_paths(heap: &Heap<'_>, graph: &Graph<'_>, wanted: &[ObjectId]) -> Ranked {
    let leads_on = |object| {
        !heap.references.range(object).is_empty() || !graph.dependent_on(object).is_empty()
    };
    let mut on_paths = ObjectSet::of(heap.len(), leads_on);
    wanted.iter().for_each(|object| _ = on_paths.insert(*object));
    Ranked::of(on_paths)
}

impl<L: Link> Marks for Links<L> {
    #[inline]
    fn is_marked(&self, object: ObjectId) -> bool {
        self.reached.contains(object)
    }

    fn start(&mut self, object: ObjectId) {
        self.reach(object, ReachedBy::Root);
    }

    #[inline]
    fn follow(&mut self, _: ObjectId, row: usize, to: ObjectId) {
        self.reach(to, ReachedBy::Reference(row));
    }

    fn depend(&mut self, holder: ObjectId, value: ObjectId) {
        self.reach(value, ReachedBy::Ephemeron);
        self.holders.insert(value, holder);
    }

    fn follow_all(&mut self, heap: &Heap<'_>, objects: &[u64]) -> Option<Frontier> {
        let (references, links) = (&heap.references, &*self);
        let next = next_level(objects, |object, next| {
            for row in references.range(object) {
                let target = references.target[row];
                if links.reached.contains(target) || references.is_weak(row) {
                    continue;
                }
                next.add(target);
                if let Some(link) = links.link(target) {
                    link.set_if_first(row);
                }
            }
        });
        self.reached.insert_all(&next);
        Some(Frontier::of_bits(next, heap.len(), |few| self.in_order(few)))
    }

    fn is_enough(&self) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_some_and(|wanted| wanted.iter().all(|object| self.is_marked(*object)))
    }
}

impl<'h, 'a> Shortest<'h, 'a> {
    /// Searches the whole graph of the heap.
    pub fn of(heap: &'h Heap<'a>, graph: &Graph<'_>) -> Self {
        let starts = Starts::of(heap, graph);
        let (roots, down) = (preferred_roots(heap, &starts), FxHashMap::default());
        let via = Some(Via::of(heap, graph, &starts, None));
        Self { heap, links: Arc::new(ShortestLinks { roots, down, via }) }
    }

    /// Searches until these objects are reached. Paths to others may be missing. With the dominators of the
    /// heap, this takes less work.
    pub fn of_objects(
        heap: &'h Heap<'a>,
        graph: &Graph<'_>,
        dominators: Option<&Dominators>,
        wanted: Vec<ObjectId>,
    ) -> Self {
        let starts = Starts::of(heap, graph);
        let roots = preferred_roots(heap, &starts);
        let mut down = Down::of(heap);
        let top = |object| match dominators {
            Some(dominators) => down.climb(dominators, object),
            None => Some(object),
        };
        let wanted: Vec<ObjectId> = wanted.into_iter().filter_map(top).collect();
        let are_held = wanted.iter().all(|object| roots.contains_key(object));
        let via = (!are_held).then(|| Via::of(heap, graph, &starts, Some(wanted)));
        Self { heap, links: Arc::new(ShortestLinks { roots, down: down.into_rows(), via }) }
    }

    /// Restores the search for a heap that has not changed.
    pub fn again(heap: &'h Heap<'a>, links: &Arc<ShortestLinks>) -> Self {
        Self { heap, links: Arc::clone(links) }
    }

    /// Returns the data that [`Shortest::again`] needs.
    pub fn links(&self) -> &Arc<ShortestLinks> {
        &self.links
    }

    /// The link by which an object is reached; `None` if it is not reached.
    #[inline]
    pub fn by(&self, object: ObjectId) -> Option<ReachedBy> {
        let ShortestLinks { roots, down, via } = &*self.links;
        if let Some(row) = down.get(&object) {
            return Some(ReachedBy::Reference(*row));
        }
        match via {
            Some(Via::Narrow(links)) => links.get(object),
            Some(Via::Wide(links)) => links.get(object),
            None => roots.contains_key(&object).then_some(ReachedBy::Root),
        }
    }

    /// The step before an object that is reached by this link; `None` if that is a root.
    pub(super) fn before(&self, object: ObjectId, by: ReachedBy) -> Option<ObjectId> {
        match by {
            ReachedBy::Root => None,
            ReachedBy::Reference(row) => Some(self.heap.references.owner(row)),
            ReachedBy::Ephemeron => match &self.links.via {
                Some(Via::Narrow(links)) => links.holders.get(&object).copied(),
                Some(Via::Wide(links)) => links.holders.get(&object).copied(),
                None => None,
            },
        }
    }

    /// The origin of the paths through an object that has no step before it.
    pub(super) fn origin(&self, object: ObjectId) -> Origin {
        self.links
            .roots
            .get(&object)
            .map_or(Origin::Synthetic(object), |row| Origin::Root(*row as usize))
    }

    /// A shortest path to an object. `None` if it cannot be reached.
    pub fn path(&self, object: ObjectId) -> Option<Path> {
        let (mut by, mut object) = (self.by(object)?, object);
        let mut steps = Vec::new();
        let origin = loop {
            match self.before(object, by) {
                Some(before) if self.heap.is_made_up(before) => {
                    steps.push(Step { by, object });
                    break Origin::Synthetic(before);
                }
                Some(before) => {
                    steps.push(Step { by, object });
                    (by, object) = (self.by(before)?, before);
                }
                None => {
                    steps.push(Step { by, object });
                    break self.origin(object);
                }
            }
        };
        steps.reverse();
        Some(Path { origin, steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Ids, Label, Root, RootKind, TypeKind};
    use crate::model::names::Names;
    use proptest::prelude::*;
    use rayon::ThreadPoolBuilder;

    /// A heap whose first object a root holds, with the targets of each object, some of them weak.
    fn heap(targets: &[Vec<(u32, bool)>]) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let of = builder.add_type("app.Node", "", TypeKind::Instance);
        for targets in targets {
            builder.add_object(of, 16);
            for (target, weak) in targets {
                builder.add_reference(ObjectId(*target), Label::NONE, *weak);
            }
        }
        builder.add_root(Root::new(ObjectId(0), RootKind::Global, Names::EMPTY));
        builder.finish(Ids::Rows(0), None)
    }

    /// The reference by which each object is reached, by the rule: those of a level in the order in which
    /// they were reached, or in the order of the heap if they are many.
    fn expected(heap: &Heap<'_>) -> Vec<Option<ReachedBy>> {
        let mut by = vec![None; heap.len()];
        by[0] = Some(ReachedBy::Root);
        let mut level = vec![ObjectId(0)];
        while !level.is_empty() {
            let mut next = Vec::new();
            for row in level.iter().flat_map(|object| heap.references.range(*object)) {
                let target = heap.references.target[row];
                if by[target.index()].is_none() && !heap.references.is_weak(row) {
                    by[target.index()] = Some(ReachedBy::Reference(row));
                    next.push(target);
                }
            }
            if next.len() > heap.len() / 32 + 64 {
                next.sort_unstable();
            }
            level = next;
        }
        by
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_number_of_threads_finds_the_first_of_equally_short_paths(
            seed in any::<u64>(), count in 1..4000_u32, most in 1..6_u64, spread in 1..4000_u32,
        ) {
            let mut state = seed | 1;
            let mut random = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            // Near targets make many small levels, far ones a few large ones.
            let targets: Vec<Vec<(u32, bool)>> = (0..count)
                .map(|object| {
                    let many = if random() % 50 == 0 { most * 100 } else { random() % (most + 1) };
                    (0..many).map(|_| ((object + random() as u32 % spread) % count, random() % 8 == 0)).collect()
                })
                .collect();
            let heap = heap(&targets);
            let (graph, expected) = (Graph::of(&heap), expected(&heap));
            for threads in [1, 3] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
                let all = pool.install(|| Shortest::of(&heap, &graph));
                for (object, by) in heap.objects().zip(&expected) {
                    prop_assert_eq!(all.by(object), *by, "{:?} with {} threads", object, threads);
                }
                let dominators = Dominators::of(&graph);
                for dominators in [None, Some(&dominators)] {
                    let wanted = vec![ObjectId(random() as u32 % count), ObjectId(random() as u32 % count)];
                    let search = || Shortest::of_objects(&heap, &graph, dominators, wanted.clone());
                    let some = pool.install(search);
                    wanted.iter().for_each(|object| assert_eq!(some.path(*object), all.path(*object)));
                }
            }
        }
    }
}
