//! One shortest path to every live object.

use super::search::{self, Marks, Starts};
use super::{Origin, Path, ReachedBy, Step};
use crate::analysis::graph::Graph;
use crate::analysis::object_set::{ObjectSet, Ranked};
use crate::model::heap::{Heap, ObjectId};
use crate::phases;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each object, the reference over which a breadth-first search reached it first: 4 bytes each
/// (8 beyond 2³² references). The choice among equally short paths depends only on the heap.
///
/// A search for some objects keeps this only for these and for objects with references, because no path
/// leads through others.
pub struct Shortest<'h, 'a> {
    pub(super) heap: &'h Heap<'a>,
    links: Arc<ShortestLinks>,
}

/// The part of a [`Shortest`] that does not borrow from the heap. [`Shortest::again`] reuses it.
pub struct ShortestLinks {
    via: Via,
    /// The preferred root of each object that a root holds.
    roots: FxHashMap<ObjectId, u32>,
}

/// The link by which an object is reached: a reference, a root, an ephemeron whose value it is, or
/// none.
enum Via {
    Narrow(Rows<u32>),
    Wide(Rows<u64>),
}

struct Rows<R> {
    reached: ObjectSet,
    /// By place in `kept`.
    rows: Vec<R>,
    /// The objects that have a row; `None` if all have.
    kept: Option<Ranked>,
    /// The search ends when it has reached all of these. `None`: when it has reached all objects.
    wanted: Option<Vec<ObjectId>>,
    /// The holders of ephemerons, by their value.
    holders: FxHashMap<ObjectId, ObjectId>,
}

/// The number of a reference, or one of three that no reference has.
trait Row: Copy + PartialEq {
    const UNREACHED: Self;
    const ROOT: Self;
    const EPHEMERON: Self;
    fn of(row: usize) -> Self;
    fn row(self) -> usize;
}

macro_rules! row {
    ($width:ty) => {
        impl Row for $width {
            const UNREACHED: Self = Self::MAX;
            const ROOT: Self = Self::MAX - 1;
            const EPHEMERON: Self = Self::MAX - 2;

            #[inline]
            fn of(row: usize) -> Self {
                row as Self
            }

            #[inline]
            fn row(self) -> usize {
                self as usize
            }
        }
    };
}

row!(u32);
row!(u64);

impl<R: Row> Rows<R> {
    fn of(
        heap: &Heap<'_>,
        graph: &Graph<'_>,
        starts: &Starts,
        wanted: Option<Vec<ObjectId>>,
    ) -> Self {
        let kept = wanted.as_ref().map(|wanted| on_paths(heap, graph, wanted));
        let rows = vec![R::UNREACHED; kept.as_ref().map_or(heap.len(), |kept| kept.set().len())];
        let (reached, holders) = (ObjectSet::none(heap.len()), FxHashMap::default());
        let mut rows = Self { reached, rows, kept, wanted, holders };
        search::search(heap, graph, starts, &mut rows);
        rows
    }

    /// The place of an object's row, if it has one.
    #[inline]
    fn place(&self, object: ObjectId) -> Option<usize> {
        match &self.kept {
            None => Some(object.index()),
            Some(kept) if kept.set().contains(object) => Some(kept.place(object) as usize),
            Some(_) => None,
        }
    }

    #[inline]
    fn reach(&mut self, object: ObjectId, row: R) {
        self.reached.insert(object);
        if let Some(place) = self.place(object) {
            self.rows[place] = row;
        }
    }

    #[inline]
    fn get(&self, object: ObjectId) -> Option<ReachedBy> {
        match self.rows[self.place(object)?] {
            row if row == R::UNREACHED => None,
            row if row == R::ROOT => Some(ReachedBy::Root),
            row if row == R::EPHEMERON => Some(ReachedBy::Ephemeron),
            row => Some(ReachedBy::Reference(row.row())),
        }
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

impl<R: Row> Marks for Rows<R> {
    #[inline]
    fn is_marked(&self, object: ObjectId) -> bool {
        self.reached.contains(object)
    }

    fn start(&mut self, object: ObjectId) {
        self.reach(object, R::ROOT);
    }

    #[inline]
    fn follow(&mut self, _: ObjectId, row: usize, to: ObjectId) {
        self.reach(to, R::of(row));
    }

    fn depend(&mut self, holder: ObjectId, value: ObjectId) {
        self.reach(value, R::EPHEMERON);
        self.holders.insert(value, holder);
    }

    fn is_enough(&self) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_some_and(|wanted| wanted.iter().all(|object| self.is_marked(*object)))
    }
}

impl<'h, 'a> Shortest<'h, 'a> {
    /// Searches the whole graph of the heap.
    pub fn of(heap: &'h Heap<'a>, graph: &Graph<'_>) -> Self {
        Self::search(heap, graph, None)
    }

    /// Searches until these objects are reached. Paths to others may be missing.
    pub fn of_objects(heap: &'h Heap<'a>, graph: &Graph<'_>, wanted: Vec<ObjectId>) -> Self {
        Self::search(heap, graph, Some(wanted))
    }

    fn search(heap: &'h Heap<'a>, graph: &Graph<'_>, wanted: Option<Vec<ObjectId>>) -> Self {
        let _phase = phases::begin("finding shortest paths");
        let starts = Starts::of(heap, graph);
        let via = if heap.references.len() < u32::EPHEMERON.row() {
            Via::Narrow(Rows::of(heap, graph, &starts, wanted))
        } else {
            Via::Wide(Rows::of(heap, graph, &starts, wanted))
        };
        let mut roots = FxHashMap::default();
        for row in starts.roots {
            roots.entry(heap.roots[row].object).or_insert(row as u32);
        }
        Self { heap, links: Arc::new(ShortestLinks { via, roots }) }
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
        match &self.links.via {
            Via::Narrow(rows) => rows.get(object),
            Via::Wide(rows) => rows.get(object),
        }
    }

    /// The step before an object that is reached by this link; `None` if that is a root.
    pub(super) fn before(&self, object: ObjectId, by: ReachedBy) -> Option<ObjectId> {
        match by {
            ReachedBy::Root => None,
            ReachedBy::Reference(row) => Some(self.heap.references.owner(row)),
            ReachedBy::Ephemeron => match &self.links.via {
                Via::Narrow(rows) => rows.holders.get(&object).copied(),
                Via::Wide(rows) => rows.holders.get(&object).copied(),
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
