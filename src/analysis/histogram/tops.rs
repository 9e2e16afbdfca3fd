//! Retained bytes by group of objects.

use super::{GroupBy, Groups};
use crate::analysis::dominator_tree::{DominatorTree, OwnedTops, Tree};
use crate::analysis::glob::TypeFilter;
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId, Type, TypeId};

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
    Tops::new(heap, tree, &groups).for_each(|type_id, _, bytes| {
        let row = &mut retained[type_id.0 as usize];
        *row = row.saturating_add(bytes);
    });
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
    tops.for_each(|_, group, bytes| retained[group] = retained[group].saturating_add(bytes));
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
    /// The end of the last object that counted, for each group.
    end: Vec<u32>,
    /// By group: the number of its owned objects above the present one.
    above: Vec<u32>,
    /// `None` if owned objects are not looked at.
    late: Option<Late>,
}

/// Owned objects that [`Tree::owned_tops`] leaves out.
struct Late {
    owners: ObjectSet,
    /// Whether [`Tree::owned_tops`] left out objects of the group, by group.
    deep: Vec<bool>,
}

impl<'t, 'a, T: Tree> Tops<'t, 'a, T> {
    fn new(heap: &'t Heap<'a>, tree: &'t T, groups: &'t Groups) -> Self {
        let none = vec![0; groups.names.len()];
        let isolates = heap.isolates();
        let of_type = |(type_row, group): (&Type, &u32)| {
            if type_row.kind.is_made_up() { Groups::NONE } else { *group }
        };
        let of_type = if groups.by.is_of_type() && isolates.is_empty() {
            heap.types.iter().zip(&groups.of_type).map(of_type).collect()
        } else {
            Vec::new()
        };
        Self { heap, tree, groups, isolates, of_type, end: none.clone(), above: none, late: None }
    }

    /// The groups that have an object which dominates others with a position.
    fn deep(&self) -> Vec<bool> {
        let mut deep = vec![false; self.groups.names.len()];
        let positions = self.tree.positions();
        for position in 1..positions {
            if position + AHEAD < positions {
                self.tree.prefetch(self.heap, position + AHEAD);
            }
            if self.tree.end(position) > position + 1
                && let Some(object) = self.tree.object_at(position)
                && let Some(group) = self.group(object, self.tree.type_at(self.heap, position))
            {
                deep[group] = true;
            }
        }
        deep
    }

    #[inline]
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

    /// Calls `each` with the type, the group and the retained bytes of each such object.
    fn for_each(mut self, mut each: impl FnMut(TypeId, usize, u64)) {
        let (heap, tree) = (self.heap, self.tree);
        let positions = tree.positions();
        for position in 1..positions {
            let Some(object) = tree.object_at(position) else { continue };
            if position + AHEAD < positions {
                tree.prefetch(heap, position + AHEAD);
            }
            let type_id = tree.type_at(heap, position);
            if let Some(group) = self.group(object, type_id)
                && position >= self.end[group]
            {
                self.end[group] = tree.end(position);
                each(type_id, group, tree.retained_at(position));
            }
            if self.late.as_ref().is_some_and(|late| late.owners.contains(object)) {
                self.add_owned(position, object, &mut each);
            }
        }
    }

    /// Processes the objects that the object at this position owns, and returns their bytes. The
    /// function calls itself for each level of owned objects, of which there are at most three.
    fn add_owned(
        &mut self,
        position: u32,
        owner: ObjectId,
        each: &mut impl FnMut(TypeId, usize, u64),
    ) -> u64 {
        let (tree, mut all) = (self.tree, 0_u64);
        tree.for_each_owned(owner, &mut |object, own| {
            let type_id = self.heap.type_id(object);
            let is_deep = |group: &usize| self.late.as_ref().is_some_and(|late| late.deep[*group]);
            let group = self.group(object, type_id).filter(is_deep);
            if let Some(group) = group {
                self.above[group] += 1;
            }
            let bytes = own.saturating_add(self.add_owned(position, object, each));
            if let Some(group) = group {
                self.above[group] -= 1;
                if self.above[group] == 0 && position >= self.end[group] {
                    each(type_id, group, bytes);
                }
            }
            all = all.saturating_add(bytes);
        });
        all
    }
}
