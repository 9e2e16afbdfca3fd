//! Objects that only the set of roots dominates, as far as one search in breadth shows.
//!
//! The objects that roots hold head a group each. An object joins the group of the object that
//! first leads to it, so it has a path from the head within the group. Two groups share no object.
//! So where references of two groups lead to an object, no other object is on all paths to it: such an
//! object would be in both groups, as only the roots dominate the heads. From then on it heads a group of
//! its own, unless its references have already been followed; then it is only noted.
//!
//! The depth-first search need not follow references to such objects. Where references are in no order,
//! most objects are such. All threads take part in the search in breadth, level by level, and what a
//! level finds does not depend on the order in which they do.

use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::analysis::owned::Owned;
use crate::analysis::prefetch::{AHEAD, prefetch};
use crate::analysis::set_bits::SetBits;
use crate::model::heap::ObjectId;
use crate::parallel;
use crate::phases;
use crate::plain::Plain;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Finds objects that only the set of roots dominates, among them all that roots hold. A single root
/// stands for the set: then these are objects that only this root dominates.
///
/// Takes 4 bytes per object, and 4 for each object of a level and of the next one.
pub(super) fn apart(graph: &Graph<'_>, owned: &Owned) -> ObjectSet {
    let _phase = phases::begin("searching breadth first");
    let mut apart = ObjectSet::none(graph.len());
    let single = graph.single_root();
    let first: Vec<ObjectId> = match single {
        Some(root) => graph.targets(root).filter(|target| *target != root).collect(),
        None => graph.starts().to_vec(),
    };
    let is_new = |object: &ObjectId| !owned.contains(*object) && apart.insert(*object);
    let mut level: Vec<ObjectId> = first.into_iter().filter(is_new).collect();
    if graph.len() >= MOST {
        return apart;
    }
    let groups = Groups::of(graph, owned);
    level.iter().chain(&single).for_each(|head| groups.add(*head));
    let enough = (graph.len() - owned.len()) / ENOUGH;
    let (mut found, mut again) = (0, Again::default());
    while !level.is_empty() {
        found += level.len();
        if found > enough && again.is_mostly_within(found) {
            break;
        }
        let next = groups.next(&level);
        again = again.and(next.again);
        level = next.found;
    }
    let mut apart = groups.apart();
    single.into_iter().for_each(|root| apart.remove(root));
    apart
}

/// From one in so many objects on, the search ends where it is not worth its time.
const ENOUGH: usize = 16;
/// It is worth its time if references from other groups lead to one in so many objects that it found, and if
/// they are one for so many references within groups.
const ACROSS_FOR: [usize; 2] = [16, 4];

/// Objects of a level that one thread searches before another may take the next ones.
const PART: usize = 1 << 12;

/// The group of each object: one more than the object at its head; with marks.
struct Groups<'g, 'h> {
    graph: &'g Graph<'h>,
    marked: Vec<AtomicU32>,
}

/// Not found so far.
const NEW: u32 = 0;
/// Not part of the search.
const OWNED: u32 = u32::MAX;
/// A mark: the object is in the next level.
const NEXT: u32 = 1 << 31;
/// The object is in the next level, and references of several groups lead to it.
const SEVERAL: u32 = NEXT;
/// A mark: references of another group lead to the object, too.
const LATE: u32 = 1 << 30;
/// Marks leave no room for the groups of this many objects.
const MOST: usize = LATE as usize - 1;

/// What a level or a part of it leads to.
struct Next {
    found: Vec<ObjectId>,
    again: Again,
}

/// References to objects that were found before, within a group and from another one. Where other
/// references of the same level were the first, only objects with several groups are counted, so that
/// the numbers do not depend on the order of threads.
#[derive(Clone, Copy, Default)]
struct Again {
    within: usize,
    across: usize,
}

impl Again {
    /// Whether too few references lead to other groups for the search to be worth its time, given how
    /// many objects it found.
    fn is_mostly_within(self, found: usize) -> bool {
        let [objects, references] = ACROSS_FOR;
        self.across < found / objects || self.across < self.within / references
    }

    fn and(self, other: Self) -> Self {
        Self { within: self.within + other.within, across: self.across + other.across }
    }
}

impl<'g, 'h> Groups<'g, 'h> {
    fn of(graph: &'g Graph<'h>, owned: &Owned) -> Self {
        let marked = AtomicU32::zeros(graph.len());
        let parts = owned.words().chunks(parallel::PART / 64).zip(marked.chunks(parallel::PART));
        parallel::for_each(parts, |(words, marked)| {
            let owned = SetBits::of(0, words.iter().copied());
            owned.for_each(|at| marked[at].store(OWNED, Relaxed));
        });
        Self { graph, marked }
    }

    #[inline]
    fn of_object(&self, object: ObjectId) -> &AtomicU32 {
        &self.marked[object.index()]
    }

    /// Adds a group.
    fn add(&self, head: ObjectId) {
        self.of_object(head).store(head.0 + 1, Relaxed);
    }

    /// Finds the next level.
    fn next(&self, level: &[ObjectId]) -> Next {
        // The levels of a list have one object each.
        if level.len() <= PART {
            return self.settle(self.search(level));
        }
        let parts = parallel::map(level.chunks(PART), |part| self.search(part));
        let parts = parallel::map(parts, |next| self.settle(next));
        let again = parts.iter().fold(Again::default(), |all, part| all.and(part.again));
        let found: Vec<Vec<ObjectId>> = parts.into_iter().map(|part| part.found).collect();
        Next { found: parallel::joined(found), again }
    }

    /// Follows the references of a part of a level.
    fn search(&self, part: &[ObjectId]) -> Next {
        let (mut found, mut again) = (Vec::new(), Again::default());
        for (at, object) in part.iter().enumerate() {
            if let Some(soon) = part.get(at + AHEAD) {
                self.graph.prefetch(*soon);
                prefetch(&self.marked, soon.index());
            }
            if let Some(soon) = part.get(at + AHEAD * 2 / 3) {
                self.graph.prefetch_targets(*soon);
            }
            if let Some(soon) = part.get(at + AHEAD / 3) {
                let targets = self.graph.targets(*soon).take(AHEAD);
                targets.for_each(|target| prefetch(&self.marked, target.index()));
            }
            let group = self.of_object(*object).load(Relaxed) & !LATE;
            for target in self.graph.targets(*object) {
                if self.see(target, group, &mut again) {
                    found.push(target);
                }
            }
        }
        Next { found, again }
    }

    /// Notes that a reference from a group leads to an object. Returns whether the object is new.
    #[inline]
    fn see(&self, object: ObjectId, group: u32, again: &mut Again) -> bool {
        let marked = self.of_object(object);
        let mut before = marked.load(Relaxed);
        if before == NEW {
            match marked.compare_exchange(NEW, group | NEXT, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(other) => before = other,
            }
        }
        let other = before & !(NEXT | LATE);
        if before == OWNED || other == object.0 + 1 {
            return false;
        }
        match (other == group, before & NEXT != 0) {
            (true, true) => {}
            (true, false) => again.within += 1,
            (false, true) => marked.store(SEVERAL, Relaxed),
            (false, false) => {
                again.across += 1;
                if before & LATE == 0 {
                    marked.fetch_or(LATE, Relaxed);
                }
            }
        }
        false
    }

    /// Gives the objects of the next level their groups.
    fn settle(&self, mut next: Next) -> Next {
        for object in &next.found {
            let marked = self.of_object(*object);
            let found = marked.load(Relaxed);
            let is_head = found == SEVERAL;
            next.again.across += usize::from(is_head);
            marked.store(if is_head { object.0 + 1 } else { found & !NEXT }, Relaxed);
        }
        next
    }

    /// The objects at the heads of groups, and those noted because of another group.
    fn apart(self) -> ObjectSet {
        ObjectSet::of(self.marked.len(), |object| {
            let marked = self.of_object(object).load(Relaxed);
            marked < NEXT && (marked & LATE != 0 || marked == object.0 + 1)
        })
    }
}
