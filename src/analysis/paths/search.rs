//! The breadth-first search from the roots.

use super::is_immediate;
use crate::analysis::frontier::Frontier;
use crate::analysis::graph::Graph;
use crate::analysis::made_up::MadeUp;
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId};

/// The record that a search keeps for each object that it reaches. An object is reached once.
pub(super) trait Marks {
    /// Whether the object has been reached.
    fn is_marked(&self, object: ObjectId) -> bool;
    /// Records that a root holds the object.
    fn start(&mut self, object: ObjectId);
    /// Records that the reference in this row leads to `to`.
    fn follow(&mut self, from: ObjectId, row: usize, to: ObjectId);
    /// Records that `value` is the value of an ephemeron with this holder.
    fn depend(&mut self, holder: ObjectId, value: ObjectId);
    /// Follows the references of many objects at once, which have a bit each. Returns the objects that
    /// these reach; `None` if this search can only follow one after the other.
    fn follow_all(&mut self, _: &Heap<'_>, _: &[u64]) -> Option<Frontier> {
        None
    }
    /// Whether everything that is wanted has been reached.
    fn is_enough(&self) -> bool {
        false
    }
}

/// Where a search begins.
pub(super) struct Starts {
    made_up: MadeUp,
    /// The rows of the roots that count, in order of preference: globals and static fields are more
    /// informative than roots on the stack or in the runtime, and all are than words that only may
    /// be roots.
    pub(super) roots: Vec<usize>,
}

impl Starts {
    pub(super) fn of(heap: &Heap<'_>, graph: &Graph<'_>) -> Self {
        let made_up = MadeUp::of(heap, graph);
        let mut roots: Vec<usize> =
            (0..heap.roots.len()).filter(|row| made_up.is_held(heap.roots[*row].object)).collect();
        roots.sort_by_key(|row| (!heap.roots[*row].is_exact, heap.roots[*row].kind));
        Self { made_up, roots }
    }
}

/// Reaches all live objects, those after immediates last, or as many as are enough.
pub(super) fn search(heap: &Heap<'_>, graph: &Graph<'_>, starts: &Starts, marks: &mut impl Marks) {
    // The search reaches objects in no order, and a bit of each is in the caches where the sizes of all
    // would not be.
    let immediates = ObjectSet::of(heap.len(), |object| is_immediate(heap, object));
    // Several threads cannot tell which ephemeron or immediate comes first.
    let is_plain = !graph.has_dependent() && immediates.is_empty();
    let (next, last) = (Frontier::new(heap.len()), Vec::new());
    let mut search = Search { heap, graph, marks, immediates, next, last };
    search.start(starts);
    loop {
        while !search.next.is_empty() {
            if search.marks.is_enough() {
                return;
            }
            let level = std::mem::replace(&mut search.next, Frontier::new(heap.len()));
            let many = level.bits().filter(|_| is_plain);
            if let Some(next) = many.and_then(|bits| search.marks.follow_all(heap, bits)) {
                search.next = next;
                continue;
            }
            level.for_each_object(&heap.references, |object| search.expand(object));
        }
        if search.last.is_empty() {
            return;
        }
        std::mem::take(&mut search.last).into_iter().for_each(|object| search.expand(object));
    }
}

struct Search<'s, 'h, 'v, M> {
    heap: &'s Heap<'v>,
    graph: &'s Graph<'h>,
    marks: &'s mut M,
    /// The objects that paths should not pass.
    immediates: ObjectSet,
    /// Objects of the next level.
    next: Frontier,
    /// Immediates that refer to something.
    last: Vec<ObjectId>,
}

impl<M: Marks> Search<'_, '_, '_, M> {
    fn start(&mut self, Starts { made_up, roots }: &Starts) {
        made_up.list.iter().for_each(|object| self.marks.start(*object));
        for row in roots {
            let object = self.heap.roots[*row].object;
            if !self.marks.is_marked(object) {
                self.marks.start(object);
                self.reached(object);
            }
        }
        made_up.list.iter().for_each(|object| self.expand(*object));
    }

    #[inline]
    fn expand(&mut self, object: ObjectId) {
        let references = &self.heap.references;
        for row in references.range(object) {
            let target = references.target[row];
            if !self.marks.is_marked(target) && !references.is_weak(row) {
                self.marks.follow(object, row, target);
                self.reached(target);
            }
        }
        for &(_, value) in self.graph.dependent_on(object) {
            if !self.marks.is_marked(value) {
                self.marks.depend(object, value);
                self.reached(value);
            }
        }
    }

    #[inline]
    fn reached(&mut self, object: ObjectId) {
        match self.immediates.contains(object) {
            false => self.next.push(object),
            true if self.heap.references.range(object).is_empty()
                && !self.graph.has_dependent() => {}
            true => self.last.push(object),
        }
    }
}
