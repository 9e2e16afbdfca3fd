//! The graph with all objects that one object dominates contracted to one node.

use super::buckets::Buckets;
use super::dominators::Dominators;
use super::flood::{ALL, Ground, Held, NOTHING};
use super::graph::Graph;
use super::live::Edges;
use super::made_up::MadeUp;
use super::object_set::{ObjectSet, Ranked};
use super::prefetch::AHEAD;
use crate::model::heap::ObjectId;
use crate::parallel;
use std::ops::Range;

/// The regions of a heap. A region is an object that only synthetic objects dominate, with all
/// objects that it dominates; some objects can be regions by themselves, and what they dominate is
/// divided as if they were synthetic. An edge leads from one region to another if an object of the
/// first refers to the top object of the second. There are no other references between regions:
/// every path into a region leads through its top object.
///
/// So the roots that reach an object are those that reach its region, and of most heaps few
/// references are left. Two bits for each live object, 4 bytes for each region and 4 for each edge;
/// 4 more for each region and 8 more for each edge while edges are collected.
pub(super) struct Regions<'d> {
    dominators: &'d Dominators,
    tops: RegionTops,
    /// The regions to which edges of each region lead, some of them several times.
    edges: Buckets,
}

/// The top objects of regions.
#[derive(Clone, Debug)]
pub(super) struct RegionTops {
    /// The numbers of synthetic objects and of the top objects of regions. The numbers of a region
    /// follow that of its top object, so the place of a top object in this set is its region.
    numbers: Ranked,
    /// The number of places.
    places: usize,
    /// The places of synthetic objects, which are not regions.
    made_up: ObjectSet,
}

/// With more than one region for this many live objects, regions save no work.
const FEW: usize = 4;

/// The number of objects whose references are read together.
pub(super) const BLOCK: u32 = 1 << 16;

impl<'d> Regions<'d> {
    /// Finds the regions. Returns `None` if there are too many to be useful.
    pub(super) fn of(
        graph: &Graph<'_>,
        dominators: &'d Dominators,
        made_up: &MadeUp,
    ) -> Option<Self> {
        Self::around(graph, dominators, made_up, |_| false)
    }

    /// Like [`Regions::of`], with a region for each object that is `alone`.
    pub(super) fn around(
        graph: &Graph<'_>,
        dominators: &'d Dominators,
        made_up: &MadeUp,
        alone: impl Fn(u32) -> bool,
    ) -> Option<Self> {
        let live = dominators.len() as u32;
        // Leaves room for the number after the last one.
        let mut tops = ObjectSet::none(dominators.len() + 2);
        let (mut places, mut starts) = (Vec::new(), Vec::new());
        let mut heads = ObjectSet::none(graph.len());
        let (mut number, mut place) = (1, 0);
        while number <= live {
            let Some(object) = dominators.object(number) else { break };
            tops.insert(ObjectId(number));
            starts.push(number);
            let is_made_up = made_up.contains(object);
            if is_made_up {
                places.push(ObjectId(place));
            } else {
                heads.insert(object);
            }
            let is_alone = is_made_up || alone(number);
            number = if is_alone { number + 1 } else { dominators.end(number) };
            place += 1;
        }
        if place as usize - places.len() > dominators.len() / FEW {
            return None;
        }
        starts.push(number);
        let heads = Targets::of(heads);
        let mut made_up = ObjectSet::none(place as usize);
        places.into_iter().for_each(|place| _ = made_up.insert(place));
        let tops = RegionTops { numbers: Ranked::of(tops), places: place as usize, made_up };
        let mut regions = Self { dominators, tops, edges: Buckets::default() };
        let objects = graph.len() as u32;
        let blocks = parallel::map((0..objects).step_by(BLOCK as usize), |first| {
            let block = first..first.saturating_add(BLOCK).min(objects);
            let mut edges: Vec<(u32, u32)> = Vec::new();
            // Most objects are in the region of the one before, and many references in a row lead to one class.
            let (mut source, mut last) = ((0..0, None), (ObjectId(u32::MAX), None));
            let soon = |target| {
                if heads.contains(target) {
                    dominators.prefetch_number(target);
                }
            };
            for_each_reference_with(soon, graph, block, &heads, |object, target, _| {
                let Some(number) = dominators.number(object) else { return };
                if !source.0.contains(&number) {
                    let place = regions.tops.place(number) as usize;
                    source =
                        (starts[place]..starts[place + 1], regions.tops.region_at(place as u32));
                }
                if last.0 != target {
                    last = (target, regions.node(target));
                }
                if let (Some(from), Some(to)) = (source.1, last.1)
                    && from != to
                    && edges.last() != Some(&(from, to))
                {
                    edges.push((from, to));
                }
            });
            // Few regions may have very many references to each other.
            if edges.len() > BLOCK as usize {
                edges.sort_unstable();
                edges.dedup();
                edges.shrink_to_fit();
            }
            edges
        });
        let total = blocks.iter().map(Vec::len).sum();
        let edges = || blocks.iter().flatten().copied();
        regions.edges = Buckets::of(place as usize, total, edges);
        Some(regions)
    }
}

/// A set of objects to which references are searched.
pub(super) struct Targets {
    objects: ObjectSet,
    /// A bit for each group of 64 objects that contains a target. Few groups do, so most references
    /// need only a look at this set, which fits into the first-level cache.
    words: ObjectSet,
}

impl Targets {
    pub(super) fn of(objects: ObjectSet) -> Self {
        let mut words = ObjectSet::none(objects.bits.len());
        let some = (0..).map(ObjectId).zip(&objects.bits).filter(|(_, bits)| **bits != 0);
        some.for_each(|(word, _)| _ = words.insert(word));
        Self { objects, words }
    }

    #[inline]
    pub(super) fn contains(&self, object: ObjectId) -> bool {
        self.words.contains(ObjectId(object.0 / 64)) && self.objects.contains(object)
    }
}

/// Calls `each` with the strong references of a block of objects to some targets, and their rows;
/// values of ephemerons have no row. Few objects refer to a target, so the references are read
/// first, and their objects are looked up only for those that lead to one.
pub(super) fn for_each_reference(
    graph: &Graph<'_>,
    block: Range<u32>,
    targets: &Targets,
    each: impl FnMut(ObjectId, ObjectId, Option<usize>),
) {
    for_each_reference_with(|_| {}, graph, block, targets, each);
}

/// Like [`for_each_reference`]. `soon` gets the targets of the references that come soon, whichever they
/// are.
fn for_each_reference_with(
    soon: impl Fn(ObjectId),
    graph: &Graph<'_>,
    block: Range<u32>,
    targets: &Targets,
    mut each: impl FnMut(ObjectId, ObjectId, Option<usize>),
) {
    let references = graph.references;
    let rows = references.range(ObjectId(block.start)).start
        ..references.range(ObjectId(block.end - 1)).end;
    let mut object = ObjectId(block.start);
    let all = &references.target[rows.clone()];
    for (at, (row, &target)) in rows.zip(all).enumerate() {
        all.get(at + AHEAD).copied().map(&soon);
        if targets.contains(target) && !references.is_weak(row) {
            while references.range(object).end <= row {
                object.0 += 1;
            }
            each(object, target, Some(row));
        }
    }
    if graph.has_dependent() {
        for object in block.map(ObjectId) {
            let values = graph.dependent_on(object).iter().map(|(_, value)| *value);
            values
                .filter(|value| targets.contains(*value))
                .for_each(|value| each(object, value, None));
        }
    }
}

impl Regions<'_> {
    /// Calls `each` with the number of the top object of each region, and the region.
    pub(super) fn for_each_head(&self, mut each: impl FnMut(u32, u32)) {
        for (region, top) in (0..).zip(self.tops.numbers.set().objects()) {
            if !self.tops.made_up.contains(ObjectId(region)) {
                each(top.0, region);
            }
        }
    }

    /// The top objects, to find the regions of objects later.
    pub(super) fn into_tops(self) -> RegionTops {
        self.tops
    }
}

impl RegionTops {
    /// The region of the object with this number; `None` for a synthetic object.
    #[inline]
    pub(super) fn region(&self, number: u32) -> Option<u32> {
        self.region_at(self.place(number))
    }

    #[inline]
    fn region_at(&self, place: u32) -> Option<u32> {
        (!self.made_up.contains(ObjectId(place))).then_some(place)
    }

    /// The place of the region, or of the synthetic object.
    #[inline]
    fn place(&self, number: u32) -> u32 {
        // One less than the place of the next number, because the top object is part of its region.
        self.numbers.place(ObjectId(number + 1)) - 1
    }
}

impl Edges for Regions<'_> {
    fn len(&self) -> usize {
        self.tops.places
    }

    #[inline]
    fn for_each_target(&self, node: u32, each: impl FnMut(u32)) {
        self.edges.get(node).iter().copied().for_each(each);
    }

    fn prefetch(&self, node: u32) {
        self.edges.prefetch_position(node);
    }

    fn prefetch_targets(&self, node: u32) {
        self.edges.prefetch_items(node);
    }
}

impl Ground for Regions<'_> {
    fn node(&self, object: ObjectId) -> Option<u32> {
        self.tops.region(self.dominators.number(object)?)
    }

    fn closed(&self) -> &[ObjectId] {
        // No edges lead to synthetic objects.
        &[]
    }

    fn for_each_held(&self, held: &Held, mut each: impl FnMut(ObjectId, u32)) {
        let after = self.dominators.len() as u32 + 1;
        let tops = self.tops.numbers.set();
        let ends = tops.objects().skip(1).map(|top| top.0).chain([after]);
        for ((top, end), node) in tops.objects().zip(ends).zip(0..) {
            let holder = held.holder(node);
            if !matches!(holder, NOTHING | ALL) {
                (top.0..end)
                    .filter_map(|number| self.dominators.object(number))
                    .for_each(|object| each(object, holder));
            }
        }
    }
}
