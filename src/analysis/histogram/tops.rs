//! Retained bytes by group of objects.

use super::{GroupBy, Groups};
use crate::analysis::dominator_tree::{DominatorTree, OwnedTops, Tree};
use crate::analysis::glob::TypeFilter;
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId, Type, TypeId};
use crate::parallel;
use std::ops::Range;

/// The number of positions ahead for which types are prefetched.
const AHEAD: u32 = 16;

/// The retained bytes of each type, as [`Histogram::by_type`](super::Histogram::by_type) counts
/// them. If several types share a name and namespace, their numbers add up to those of the row. All
/// 0 in a heap without roots.
pub fn retained_by_type(heap: &Heap<'_>, tree: &DominatorTree) -> Vec<u64> {
    let mut retained = vec![0_u64; heap.types.len()];
    if heap.roots.is_empty() {
        return retained;
    }
    let groups = Groups::of(heap, GroupBy::Type, &TypeFilter::default());
    Tops::new(heap, tree, &groups).add_to(&mut retained, |type_id, _| type_id.0 as usize);
    retained
}

/// Retained bytes by group.
pub(super) fn retained(heap: &Heap<'_>, tree: &impl Tree, groups: &Groups) -> Vec<u64> {
    let mut tops = Tops::new(heap, tree, groups);
    let group = |object| tops.group(object, heap.type_id(object));
    let owned = tree.owned_tops(group, || tops.deep());
    let mut retained = vec![0_u64; groups.names.len()];
    if let Some(OwnedTops { retained: owned, late, deep }) = owned {
        retained = owned;
        tops.late = Some(Late { owners: late, deep });
    }
    tops.add_to(&mut retained, |_, group| group);
    retained
}

/// The objects of a heap that no other one of their group dominates.
///
/// In preorder, what an object dominates follows it: an object that begins before the end of the
/// last one that counted for its group is dominated by that one.
struct Tops<'t, 'a, T> {
    heap: &'t Heap<'a>,
    tree: &'t T,
    groups: &'t Groups,
    /// Isolates. They are synthetic, too, but retain memory in the results.
    isolates: Vec<ObjectId>,
    /// The group of the objects of each type, or [`Groups::NONE`]. Empty if it does not depend on
    /// the type alone.
    of_type: Vec<u32>,
    /// `None` if owned objects are not looked at.
    late: Option<Late>,
}

/// What is known of each group on the way through the positions.
struct Before {
    /// The end of the last object that counted, or that dominates the position.
    end: Vec<u32>,
    /// The number of owned objects above the present one.
    above: Vec<u32>,
}

/// Owned objects that [`Tree::owned_tops`] leaves out.
struct Late {
    owners: ObjectSet,
    /// Whether [`Tree::owned_tops`] left out objects of the group, by group.
    deep: Vec<bool>,
}

impl<'t, 'a, T: Tree> Tops<'t, 'a, T> {
    fn new(heap: &'t Heap<'a>, tree: &'t T, groups: &'t Groups) -> Self {
        let isolates = heap.isolates();
        let of_type = |(type_row, group): (&Type, &u32)| {
            if type_row.kind.is_made_up() { Groups::NONE } else { *group }
        };
        let of_type = if groups.by.is_of_type() && isolates.is_empty() {
            heap.types.iter().zip(&groups.of_type).map(of_type).collect()
        } else {
            Vec::new()
        };
        Self { heap, tree, groups, isolates, of_type, late: None }
    }

    /// The groups that have an object which dominates others with a position.
    fn deep(&self) -> Vec<bool> {
        let of_part = |positions: Range<usize>| {
            let mut deep = vec![false; self.groups.names.len()];
            for position in positions.start as u32..positions.end as u32 {
                self.prefetch(position + AHEAD);
                if self.tree.end(position) > position + 1
                    && let Some((_, _, Some(group))) = self.at(position)
                {
                    deep[group] = true;
                }
            }
            deep
        };
        let none = vec![false; self.groups.names.len()];
        parallel::map(parallel::parts(self.positions()), of_part).into_iter().fold(
            none,
            |mut all, deep| {
                all.iter_mut().zip(deep).for_each(|(all, deep)| *all |= deep);
                all
            },
        )
    }

    /// The positions of objects.
    fn positions(&self) -> Range<usize> {
        1..self.tree.positions().max(1) as usize
    }

    fn prefetch(&self, position: u32) {
        if position < self.tree.positions() {
            self.tree.prefetch(self.heap, position);
        }
    }

    /// The object at a position, its type and its group.
    #[inline]
    fn at(&self, position: u32) -> Option<(ObjectId, TypeId, Option<usize>)> {
        let object = self.tree.object_at(position)?;
        let type_id = self.tree.type_at(self.heap, position);
        Some((object, type_id, self.group(object, type_id)))
    }

    #[inline(always)]
    fn group(&self, object: ObjectId, type_id: TypeId) -> Option<usize> {
        if let Some(group) = self.of_type.get(type_id.0 as usize) {
            return (*group != Groups::NONE).then_some(*group as usize);
        }
        let kind = self.heap.types[type_id.0 as usize].kind;
        if kind.is_made_up() && !self.isolates.contains(&object) {
            None
        } else {
            self.groups.group(self.heap, object, type_id)
        }
    }

    /// Adds the retained bytes of each such object to the row of its type and group.
    fn add_to(&self, rows: &mut [u64], row: impl Fn(TypeId, usize) -> usize + Sync) {
        let of_part = |positions: Range<usize>| {
            let positions = positions.start as u32..positions.end as u32;
            let mut retained = vec![0_u64; rows.len()];
            let mut before = self.before(positions.start);
            self.for_each(positions, &mut before, |type_id, group, bytes| {
                let retained = &mut retained[row(type_id, group)];
                *retained = retained.saturating_add(bytes);
            });
            retained
        };
        for retained in parallel::map(parallel::parts(self.positions()), of_part) {
            rows.iter_mut().zip(retained).for_each(|(row, more)| *row = row.saturating_add(more));
        }
    }

    /// What is known of the groups at a position: which of them have an object that dominates it.
    fn before(&self, position: u32) -> Before {
        let none = vec![0; self.groups.names.len()];
        let mut before = Before { end: none.clone(), above: none };
        let mut at = 1;
        while at < position {
            let end = self.tree.end(at);
            if end <= position {
                at = end;
                continue;
            }
            if let Some((_, _, Some(group))) = self.at(at) {
                before.end[group] = before.end[group].max(end);
            }
            at += 1;
        }
        before
    }

    /// Calls `each` with the type, the group and the retained bytes of each such object.
    fn for_each(
        &self,
        positions: Range<u32>,
        before: &mut Before,
        mut each: impl FnMut(TypeId, usize, u64),
    ) {
        for position in positions {
            self.prefetch(position + AHEAD);
            let Some((object, type_id, group)) = self.at(position) else { continue };
            if let Some(group) = group
                && position >= before.end[group]
            {
                before.end[group] = self.tree.end(position);
                each(type_id, group, self.tree.retained_at(position));
            }
            if self.late.as_ref().is_some_and(|late| late.owners.contains(object)) {
                self.add_owned(position, object, before, &mut each);
            }
        }
    }

    /// Processes the objects that the object at this position owns, and returns their bytes. The
    /// function calls itself for each level of owned objects, of which there are at most three.
    fn add_owned(
        &self,
        position: u32,
        owner: ObjectId,
        before: &mut Before,
        each: &mut impl FnMut(TypeId, usize, u64),
    ) -> u64 {
        let (tree, mut all) = (self.tree, 0_u64);
        tree.for_each_owned(owner, &mut |object, own| {
            let type_id = self.heap.type_id(object);
            let is_deep = |group: &usize| self.late.as_ref().is_some_and(|late| late.deep[*group]);
            let group = self.group(object, type_id).filter(is_deep);
            if let Some(group) = group {
                before.above[group] += 1;
            }
            let bytes = own.saturating_add(self.add_owned(position, object, before, each));
            if let Some(group) = group {
                before.above[group] -= 1;
                if before.above[group] == 0 && position >= before.end[group] {
                    each(type_id, group, bytes);
                }
            }
            all = all.saturating_add(bytes);
        });
        all
    }
}
