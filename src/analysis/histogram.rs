//! Objects, bytes and retained bytes by type or another group.

mod by_root;
mod groups;
mod tops;

use super::dominator_tree::{DominatorTree, Tree};
use super::glob::TypeFilter;
use super::sites::SiteGroups;
use crate::model::heap::{Heap, ObjectId, TypeSource};
use crate::model::sum::Sum;
use crate::parallel;
use groups::Groups;
pub use groups::package_root;
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use tops::retained;
pub use tops::retained_by_type;

/// The property by which objects are grouped into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The name and namespace of the type.
    Type,
    /// The namespace of the type.
    Namespace,
    /// The first parts of the namespace: `package:sass`, `com.example`.
    PackageRoot,
    /// The class loader (JVM), or the library (Dart), of the class.
    Owner,
    /// The size class: the shallow size, rounded up to a power of two.
    SizeClass,
    /// The innermost function of the program on the stack that allocated the object.
    Site,
    /// The number of garbage collections before the object was allocated.
    Generation,
}

impl GroupBy {
    /// Whether all objects of a type are in one group.
    fn is_of_type(self) -> bool {
        matches!(self, Self::Type | Self::Namespace | Self::PackageRoot)
    }
}

/// Objects and bytes, without retained bytes.
struct Counted {
    /// Objects and bytes of each group.
    sums: Vec<Sum>,
    /// Objects of types that a filter leaves out.
    whole: Sum,
    unreachable: Sum,
}

impl Counted {
    fn none(groups: &Groups) -> Self {
        let sums = vec![Sum::default(); groups.names.len()];
        Self { sums, whole: Sum::default(), unreachable: Sum::default() }
    }

    /// Counts the objects of a heap. `counts` selects the objects of `sums` and `whole`.
    fn of(
        heap: &Heap<'_>,
        groups: &Groups,
        is_live: impl Fn(ObjectId) -> bool + Sync,
        counts: impl Fn(bool) -> bool + Sync,
    ) -> Self {
        let of_part = |objects: Range<usize>| {
            let mut counted = Self::none(groups);
            let Self { sums, whole, unreachable } = &mut counted;
            for object in objects.map(|row| ObjectId(row as u32)) {
                let (live, bytes) = (is_live(object), heap.shallow.get(object.index()));
                let Some(group) = groups.group(heap, object, heap.type_id(object)) else {
                    if counts(live) && groups.is_left_out(heap, object) {
                        whole.add(bytes, 0);
                    }
                    continue;
                };
                if counts(live) {
                    sums[group].add(bytes, 0);
                }
                if !live {
                    unreachable.add(bytes, 0);
                }
            }
            counted
        };
        let parts = parallel::map(parallel::parts(0..heap.len()), of_part).into_iter();
        let Self { mut sums, mut whole, mut unreachable } =
            parts.reduce(Self::and).unwrap_or_else(|| Self::none(groups));
        for &(object, bytes) in &heap.external {
            let live = is_live(object);
            let Some(group) = groups.group(heap, object, heap.type_id(object)) else {
                if counts(live) && groups.is_left_out(heap, object) {
                    whole.external_bytes = whole.external_bytes.saturating_add(bytes);
                }
                continue;
            };
            let reached = if counts(live) { Some(&mut sums[group]) } else { None };
            for sum in reached.into_iter().chain((!live).then_some(&mut unreachable)) {
                sum.external_bytes = sum.external_bytes.saturating_add(bytes);
            }
        }
        Self { sums, whole, unreachable }
    }

    fn and(mut self, other: Self) -> Self {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| sum.add_sum(other));
        self.whole.add_sum(&other.whole);
        self.unreachable.add_sum(&other.unreachable);
        self
    }
}

/// The objects to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects that the roots reach.
    Live,
    /// All objects.
    All,
    /// Objects that no root reaches.
    Unreachable,
}

/// One group of objects in a [`Histogram`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// The name of the type, size class or group of roots. Empty if grouped by namespace.
    pub name: String,
    /// The namespace of the type, or the kind of the roots.
    pub namespace: String,
    /// The weakest source of the types in the group, where the file does not state them. Only for
    /// groups by type.
    pub source: TypeSource,
    /// Object count and bytes of the group.
    pub sum: Sum,
    /// Retained bytes of the group: the sum over its objects that no other object of the group
    /// dominates. `None` if the heap has no roots.
    pub retained_bytes: Option<u64>,
    /// The estimated total that `sum` is a sample of, if it can be scaled. Only for groups by
    /// allocation site.
    pub estimate: Option<Sum>,
}

/// Retained bytes, own bytes, objects and the name, in columns.
impl fmt::Display for HistogramRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (retained, own) = (self.retained_bytes.unwrap_or(0), self.sum.bytes());
        write!(out, "{retained:>12} {own:>12} {:>9}  {}", self.sum.count, self.name)
    }
}

/// The objects of a heap, grouped.
///
/// Rows are sorted by retained bytes, then by shallow bytes, count and name, largest first.
/// Synthetic objects count but retain nothing, except isolates. Rows of the graph that only
/// represent roots do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The groups.
    pub rows: Vec<HistogramRow>,
    /// The sum of all rows.
    pub total: Sum,
    /// The sum over all types, also those that a filter leaves out.
    pub whole: Sum,
    /// The objects that no root reaches. `None` if the heap has no roots.
    pub unreachable: Option<Sum>,
}

impl Histogram {
    /// Groups the live objects of a heap by type. In a heap without roots, all objects count and
    /// nothing is retained.
    pub fn by_type(heap: &Heap<'_>, tree: &DominatorTree) -> Self {
        Self::of(heap, Some(tree), GroupBy::Type, Scope::Live)
    }

    /// Groups the objects of a heap. Without `tree`, or if the heap has no roots, all objects count
    /// and `scope` is ignored.
    pub fn of(heap: &Heap<'_>, tree: Option<&DominatorTree>, by: GroupBy, scope: Scope) -> Self {
        Self::of_types(heap, tree, by, scope, &TypeFilter::default())
    }

    /// Like [`Histogram::of`], for the types that a filter selects.
    pub fn of_types<T: Tree>(
        heap: &Heap<'_>,
        tree: Option<&T>,
        by: GroupBy,
        scope: Scope,
        filter: &TypeFilter,
    ) -> Self {
        let tree = tree.filter(|_| !heap.roots.is_empty());
        let groups = Groups::of(heap, by, filter);
        let is_live = |object: ObjectId| tree.is_none_or(|tree| tree.is_live(object));
        let counts =
            |live: bool| tree.is_none() || scope == Scope::All || live == (scope == Scope::Live);
        let count = || Counted::of(heap, &groups, is_live, counts);
        let retained = || {
            tree.map(|tree| match scope {
                Scope::Live | Scope::All => retained(heap, tree, &groups),
                Scope::Unreachable => vec![0; groups.names.len()],
            })
        };
        let (Counted { sums, whole, unreachable }, retained) = parallel::join(count, retained);
        let sources = groups.sources(heap);
        let rows = groups.names.into_iter().zip(sums).enumerate().map(
            |(group, ((name, namespace), sum))| HistogramRow {
                name,
                namespace,
                source: sources.get(group).copied().unwrap_or_default(),
                sum,
                retained_bytes: retained.as_ref().map(|retained| retained[group]),
                estimate: None,
            },
        );
        let mut histogram = Self::of_rows(rows.collect(), tree.map(|_| unreachable));
        histogram.whole.add_sum(&whole);
        histogram
    }

    /// Groups objects by the innermost function of the program on the stack that allocated them.
    /// The namespace is its file and line. If the file itself counts live objects, its counts are
    /// used; they may be a sample, do not depend on `scope`, and have no retained bytes.
    ///
    /// Objects whose allocation was not recorded are in no row, but count in `whole`.
    pub fn by_site(
        heap: &Heap<'_>,
        tree: Option<&DominatorTree>,
        scope: Scope,
        filter: &TypeFilter,
    ) -> Self {
        if heap.sites.sites.iter().all(|site| site.live.is_none()) {
            return Self::of_types(heap, tree, GroupBy::Site, scope, filter);
        }
        let groups = SiteGroups::by_frame(heap);
        let sums = groups.counted(heap);
        let rows = groups.names.into_iter().zip(sums);
        let row = |((name, namespace), (sum, estimate))| HistogramRow {
            name,
            namespace,
            source: TypeSource::None,
            sum,
            retained_bytes: None,
            estimate,
        };
        Self::of_rows(rows.map(row).collect(), None)
    }

    /// Sorts rows and adds them up. Drops rows without objects.
    pub fn of_rows(mut rows: Vec<HistogramRow>, unreachable: Option<Sum>) -> Self {
        rows.retain(|row| row.sum.count > 0);
        let mut total = Sum::default();
        rows.iter().for_each(|row| total.add_sum(&row.sum));
        rows.sort_by(|a, b| {
            let key = |row: &HistogramRow| {
                Reverse((row.retained_bytes, row.sum.shallow_bytes, row.sum.count))
            };
            key(a).cmp(&key(b)).then_with(|| (&a.name, &a.namespace).cmp(&(&b.name, &b.namespace)))
        });
        Self { rows, total, whole: total, unreachable }
    }
}
