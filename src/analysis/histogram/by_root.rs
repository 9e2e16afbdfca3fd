//! Live objects by the roots that keep them alive.

use super::{Histogram, HistogramRow};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::glob::TypeFilter;
use crate::analysis::root_groups::{HeldBy, RootGroups};
use crate::model::heap::{Heap, ObjectId, TypeKind, TypeSource};
use crate::model::sum::Sum;
use crate::parallel;
use std::ops::Range;

impl Histogram {
    /// Groups the live objects by the group of roots that alone keeps them alive. Objects that
    /// several groups of one kind reach are a row for each kind, such as `several threads`, and all
    /// others are one, named `held by more than one root`, so that the rows add up to the live
    /// heap.
    pub fn by_root(heap: &Heap<'_>, tree: &DominatorTree, roots: &RootGroups) -> Self {
        let rows = Rows { tree, roots };
        let mut sums = rows.sums();
        // What an object dominates has the same holder, so only those at the top are looked at.
        let (dominators, mut open) = (&tree.dominators, vec![0]);
        while let Some(number) = open.pop() {
            for child in dominators.children(number) {
                let Some(object) = dominators.object(child) else { continue };
                let (count, bytes) = if !heap.is_made_up(object) {
                    (dominators.end(child) - child, tree.retained.of_number(child))
                } else {
                    open.push(child);
                    if !counts(heap, object) {
                        continue;
                    }
                    (1, heap.own_bytes(object))
                };
                let sum = Sum { count: count.into(), shallow_bytes: bytes, external_bytes: 0 };
                sums[rows.row(object)].add_sum(&sum);
            }
        }
        for (object, bytes) in heap.external.iter().filter(|(object, _)| tree.counts(heap, *object))
        {
            let sum = &mut sums[rows.row(*object)];
            sum.shallow_bytes = sum.shallow_bytes.saturating_sub(*bytes);
            sum.external_bytes = sum.external_bytes.saturating_add(*bytes);
        }
        rows.histogram(sums, unreachable(heap, tree))
    }

    /// Like [`Histogram::by_root`], for the types that a filter selects.
    pub fn by_root_of_types(
        heap: &Heap<'_>,
        tree: &DominatorTree,
        roots: &RootGroups,
        filter: &TypeFilter,
    ) -> Self {
        if filter.is_empty() {
            return Self::by_root(heap, tree, roots);
        }
        let (rows, selected) = (Rows { tree, roots }, filter.types(heap));
        let (mut sums, mut unreachable, mut others) = (rows.sums(), Sum::default(), Sum::default());
        for object in heap.objects().filter(|object| counts(heap, *object)) {
            let sum = match (selected[heap.type_id(object).0 as usize], tree.is_live(object)) {
                (true, true) => &mut sums[rows.row(object)],
                (true, false) => &mut unreachable,
                (false, true) => &mut others,
                (false, false) => continue,
            };
            sum.add(heap.shallow_bytes(object), heap.external_bytes(object));
        }
        let mut histogram = rows.histogram(sums, unreachable);
        histogram.whole.add_sum(&others);
        histogram
    }
}

/// The rows: groups of roots, several groups of one kind, and groups of several kinds.
struct Rows<'t> {
    tree: &'t DominatorTree,
    roots: &'t RootGroups,
}

impl Rows<'_> {
    fn sums(&self) -> Vec<Sum> {
        vec![Sum::default(); self.several() + 1]
    }

    /// The row of what several kinds of roots hold.
    fn several(&self) -> usize {
        self.roots.groups.len() + self.roots.kinds.len()
    }

    /// The row of a live object.
    fn row(&self, object: ObjectId) -> usize {
        match self.roots.holder(&self.tree.dominators, object) {
            HeldBy::Group(group) => group as usize,
            HeldBy::Kind(kind) => self.roots.groups.len() + kind as usize,
            // Synthetic objects are in no group: their references are the roots.
            HeldBy::Several | HeldBy::None => self.several(),
        }
    }

    fn histogram(&self, sums: Vec<Sum>, unreachable: Sum) -> Histogram {
        let groups = self.roots.groups.iter().chain(&self.roots.kinds);
        let named = groups.map(|group| (group.name.clone(), group.kind.name().to_owned()));
        let held_by_several = ("held by more than one root".to_owned(), String::new());
        let row = |((name, namespace), sum): ((String, String), Sum)| HistogramRow {
            name,
            namespace,
            source: TypeSource::None,
            retained_bytes: Some(sum.bytes()),
            estimate: None,
            sum,
        };
        let rows = named.chain([held_by_several]).zip(sums).map(row);
        Histogram::of_rows(rows.collect(), Some(unreachable))
    }
}

/// Whether an object counts: rows of the graph that only represent roots do not.
fn counts(heap: &Heap<'_>, object: ObjectId) -> bool {
    heap.type_of(object).kind != TypeKind::Root
}

fn unreachable(heap: &Heap<'_>, tree: &DominatorTree) -> Sum {
    let of_part = |objects: Range<usize>| {
        let mut sum = Sum::default();
        (objects.start as u32..objects.end as u32)
            .map(ObjectId)
            .filter(|object| !tree.is_live(*object) && counts(heap, *object))
            .for_each(|object| sum.add(heap.shallow_bytes(object), heap.external_bytes(object)));
        sum
    };
    let mut all = Sum::default();
    parallel::map(parallel::parts(0..heap.len()), of_part).iter().for_each(|sum| all.add_sum(sum));
    all
}
