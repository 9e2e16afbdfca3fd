//! The breadth-first search from the roots.

use super::is_immediate;
use crate::analysis::frontier::Frontier;
use crate::analysis::graph::Graph;
use crate::model::heap::{Heap, ObjectId};
use rustc_hash::FxHashSet;

/// What a search keeps of each object that it reaches. An object is reached once.
pub(super) trait Marks {
    /// Whether the object has been reached.
    fn is_marked(&self, object: ObjectId) -> bool;
    /// A root holds it.
    fn start(&mut self, object: ObjectId);
    /// The reference in this row leads to it.
    fn follow(&mut self, from: ObjectId, row: usize, to: ObjectId);
    /// It is the value of an ephemeron with this key.
    fn depend(&mut self, key: ObjectId, value: ObjectId);
}

/// The rows of roots in the order in which paths prefer them: globals and static fields say more than what is passed on the
/// stack or kept by the runtime.
///
/// In a dump with an object for the set of roots, some may name what nothing holds any more, such as the static fields of an
/// isolate that is gone. These are left out.
pub(super) fn preferred_roots(heap: &Heap<'_>, graph: &Graph<'_>) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..heap.roots.len()).collect();
    if heap.root_object().is_some() {
        let mut held: FxHashSet<ObjectId> = FxHashSet::default();
        for object in made_up(heap, graph) {
            held.insert(object);
            held.extend(graph.targets(object));
        }
        rows.retain(|row| held.contains(&heap.roots[*row].object));
    }
    rows.sort_by_key(|row| heap.roots[*row].kind);
    rows
}

/// The live objects that stand for roots.
fn made_up(heap: &Heap<'_>, graph: &Graph<'_>) -> Vec<ObjectId> {
    let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
    let mut found: Vec<ObjectId> = graph.starts().to_vec();
    found.retain(|object| heap.is_made_up(*object) && seen.insert(*object));
    let mut done = 0;
    while let Some(&object) = found.get(done) {
        done += 1;
        found.extend(graph.targets(object).filter(|target| heap.is_made_up(*target) && seen.insert(*target)));
    }
    found
}

/// Reaches all live objects, those behind immediates last.
pub(super) fn search(heap: &Heap<'_>, graph: &Graph<'_>, marks: &mut impl Marks) {
    let mut search = Search { heap, graph, marks, next: Frontier::new(heap.len()), last: Vec::new() };
    search.start();
    loop {
        while !search.next.is_empty() {
            let level = std::mem::replace(&mut search.next, Frontier::new(heap.len()));
            level.for_each(|object| search.expand(object));
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
    /// Objects of the next level.
    next: Frontier,
    /// Immediates that refer to something.
    last: Vec<ObjectId>,
}

impl<M: Marks> Search<'_, '_, '_, M> {
    fn start(&mut self) {
        let made_up = made_up(self.heap, self.graph);
        made_up.iter().for_each(|object| self.marks.start(*object));
        for row in preferred_roots(self.heap, self.graph) {
            let object = self.heap.roots[row].object;
            if !self.marks.is_marked(object) {
                self.marks.start(object);
                self.reached(object);
            }
        }
        made_up.into_iter().for_each(|object| self.expand(object));
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
        match is_immediate(self.heap, object) {
            false => self.next.push(object),
            true if self.heap.references.range(object).is_empty() && !self.graph.has_dependent() => {}
            true => self.last.push(object),
        }
    }
}
