//! The dominator tree with the retained bytes of each object.

use super::dominators::Dominators;
use super::graph::Graph;
use super::object_set::ObjectSet;
use super::prefetch::{AHEAD, prefetch};
use super::retained::Retained;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeIds, TypeKind};
use crate::parallel;
use crate::parallel::on_demand::OnDemand;

/// The dominator tree of the live objects of a heap, with their retained bytes.
///
/// An object dominates another one if every path from the roots to that one passes through it. Little
/// more than 11 bytes for each live object, and 4 for each object of the heap.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    /// The dominator of each object.
    pub dominators: Dominators,
    pub(crate) retained: Retained,
    types: OnDemand<TypeIds>,
    /// Bytes of the objects that only represent roots.
    of_roots: u64,
}

impl DominatorTree {
    /// Computes the tree. Without roots no object is live, and the tree is empty.
    pub fn new(heap: &Heap<'_>) -> Self {
        Self::of_graph(heap, &Graph::of(heap))
    }

    /// Computes the tree of a graph that has already been built.
    pub fn of_graph(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let ordered = Dominators::ordered(graph);
        let own = Retained::own_sizes(heap, ordered.order());
        // Adding up keeps one thread busy.
        let (retained, located) = parallel::join(
            || Retained::of_order(heap, own, ordered.order(), ordered.dominators()),
            || ordered.located(heap.len()),
        );
        let dominators = ordered.finish(located);
        let of_roots = bytes_of_roots(heap, &dominators);
        Self { dominators, retained, types: OnDemand::default(), of_roots }
    }

    /// Returns the retained bytes of an object: the shallow and external bytes of all objects that
    /// it dominates, itself included. 0 for an unreachable object.
    #[inline]
    pub fn retained(&self, object: ObjectId) -> u64 {
        self.retained.get(&self.dominators, object)
    }

    /// Returns the immediate dominator of an object. `None` for an unreachable object and for one
    /// that no single object dominates.
    #[inline]
    pub fn dominator(&self, object: ObjectId) -> Option<ObjectId> {
        self.dominators.dominator(object)
    }

    /// Returns `true` if the object can be reached from the roots.
    #[inline]
    pub fn is_live(&self, object: ObjectId) -> bool {
        self.dominators.is_live(object)
    }

    /// Like [`Self::dominator`], but objects that no single object dominates are dominated by the
    /// object that represents all roots, if the heap has one.
    pub fn dominator_or_root(&self, heap: &Heap<'_>, object: ObjectId) -> Option<ObjectId> {
        let root = || heap.root_object().filter(|root| self.is_live(object) && *root != object);
        self.dominator(object).or_else(root)
    }

    /// Like [`Self::retained`], but the object that represents all roots retains all live bytes.
    pub fn retained_or_all(&self, heap: &Heap<'_>, object: ObjectId) -> u64 {
        if object.0 == 0 && heap.root_object() == Some(object) {
            self.live_bytes()
        } else {
            self.retained(object)
        }
    }

    /// Returns `true` if `top` counts the object among the live ones: roots reach it, and it does
    /// not only represent roots.
    pub fn counts(&self, heap: &Heap<'_>, object: ObjectId) -> bool {
        self.is_live(object) && heap.type_of(object).kind != TypeKind::Root
    }

    /// The number of live objects.
    pub fn len(&self) -> usize {
        self.dominators.len()
    }

    /// Returns `true` if no object is live.
    pub fn is_empty(&self) -> bool {
        self.dominators.len() == 0
    }

    /// The live objects in preorder: each object is followed by the objects that it dominates.
    pub fn live_objects(&self) -> &[ObjectId] {
        self.dominators.order()
    }

    /// Returns the types of the live objects by number, from 1, so that a range of the tree is a
    /// single read: 2 bytes each, 4 in heaps of more than 65,536 types. They are computed once and
    /// then kept.
    pub(crate) fn types(&self, heap: &Heap<'_>) -> &TypeIds {
        self.types.get_or_compute(|| {
            let order = self.dominators.order();
            match &heap.type_of {
                TypeIds::Narrow(ids) => TypeIds::Narrow(in_order(order, ids)),
                TypeIds::Wide(ids) => TypeIds::Wide(in_order(order, ids)),
            }
        })
    }

    /// Like [`Self::types`], for callers that read `objects` of them. `None` if that is too few to
    /// be worth computing them.
    pub(crate) fn types_for(&self, heap: &Heap<'_>, objects: u64) -> Option<&TypeIds> {
        if objects < self.len() as u64 / 8 {
            return self.types.get();
        }
        Some(self.types(heap))
    }

    /// The shallow and external bytes of all live objects that [`Self::counts`] counts.
    pub fn live_bytes(&self) -> u64 {
        match self.retained.total() {
            // The sum stopped here, as that of a single object may have.
            u64::MAX => u64::MAX,
            bytes => bytes.saturating_sub(self.of_roots),
        }
    }
}

/// The bytes of live objects that only represent roots, which V8 gives a size.
fn bytes_of_roots(heap: &Heap<'_>, dominators: &Dominators) -> u64 {
    let is_root: Vec<bool> = heap.types.iter().map(|of| of.kind == TypeKind::Root).collect();
    if !is_root.contains(&true) {
        return 0;
    }
    let roots = heap.objects().filter(|object| is_root[heap.type_id(*object).0 as usize]);
    let live = roots.filter(|object| dominators.is_live(*object));
    live.fold(0, |sum, object| sum.saturating_add(heap.shallow_bytes(object)))
}

/// The types of objects in their order.
fn in_order<T: Copy + Default + Send + Sync>(order: &[ObjectId], types: &[T]) -> Vec<T> {
    parallel::column(order.len(), |first, places| {
        for (at, place) in (first..).zip(places) {
            if let Some(soon) = order.get(at + AHEAD) {
                prefetch(types, soon.index());
            }
            *place = types[order[at].index()];
        }
    })
}

/// A dominator tree for counting: in preorder, with position 0 for the set of roots. An object has
/// a position, or is owned by an object with a position or by another owned object.
pub trait Tree: Sync {
    /// Returns `true` if the object can be reached from the roots.
    fn is_live(&self, object: ObjectId) -> bool;

    /// The number of positions.
    fn positions(&self) -> u32;

    /// The object at a position; `None` for 0.
    fn object_at(&self, position: u32) -> Option<ObjectId>;

    /// The type of the object at a position, which is not 0.
    fn type_at(&self, heap: &Heap<'_>, position: u32) -> TypeId;

    /// Prefetches the type of the object at a position.
    fn prefetch(&self, heap: &Heap<'_>, position: u32);

    /// Returns one more than the last position that the object at a position dominates.
    fn end(&self, position: u32) -> u32;

    /// The retained bytes of the object at a position.
    fn retained_at(&self, position: u32) -> u64;

    /// Calls `each` with the objects without a position that an object owns, and the bytes of each.
    /// Owned objects are nested at most three levels deep.
    fn for_each_owned(&self, object: ObjectId, each: &mut dyn FnMut(ObjectId, u64));

    /// Adds up the live objects without a position that no other object of their group dominates, by
    /// the rows that `group` returns. None if all live objects have a position.
    ///
    /// Objects of groups that are `deep` are left out: objects with a position may have others of
    /// the group above them.
    fn owned_tops(
        &self,
        group: impl Fn(ObjectId) -> Option<usize> + Sync,
        deep: impl FnOnce() -> Vec<bool>,
    ) -> Option<OwnedTops>;
}

/// The result of [`Tree::owned_tops`].
pub struct OwnedTops {
    /// Retained bytes by group.
    pub(super) retained: Vec<u64>,
    /// The objects with a position that own objects of deep groups.
    pub(super) late: ObjectSet,
    /// Whether objects of the group were left out, by group.
    pub(super) deep: Vec<bool>,
}

/// Every object has a position: its number.
impl Tree for DominatorTree {
    #[inline]
    fn is_live(&self, object: ObjectId) -> bool {
        self.dominators.is_live(object)
    }

    fn positions(&self) -> u32 {
        self.dominators.len() as u32 + 1
    }

    #[inline]
    fn object_at(&self, position: u32) -> Option<ObjectId> {
        self.dominators.object(position)
    }

    #[inline]
    fn type_at(&self, heap: &Heap<'_>, position: u32) -> TypeId {
        heap.type_id(self.dominators.order()[position as usize - 1])
    }

    #[inline]
    fn prefetch(&self, heap: &Heap<'_>, position: u32) {
        let object = self.dominators.order()[position as usize - 1].index();
        match &heap.type_of {
            TypeIds::Narrow(ids) => prefetch(ids, object),
            TypeIds::Wide(ids) => prefetch(ids, object),
        }
    }

    #[inline]
    fn end(&self, position: u32) -> u32 {
        self.dominators.end(position)
    }

    #[inline]
    fn retained_at(&self, position: u32) -> u64 {
        self.retained.of_number(position)
    }

    #[inline]
    fn for_each_owned(&self, _: ObjectId, _: &mut dyn FnMut(ObjectId, u64)) {}

    fn owned_tops(
        &self,
        _: impl Fn(ObjectId) -> Option<usize> + Sync,
        _: impl FnOnce() -> Vec<bool>,
    ) -> Option<OwnedTops> {
        None
    }
}
