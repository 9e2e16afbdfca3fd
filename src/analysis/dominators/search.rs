//! The depth-first search that numbers live objects.
//!
//! It keeps its own stack, and takes an object off it before the last of its references is
//! followed, so that a list of any length needs one frame.

use super::apart::apart;
use super::backward::{Backward, SortedParts};
use super::packed::{Packed, Word, most_words};
use crate::analysis::graph::Graph;
use crate::analysis::owned::Owned;
use crate::analysis::prefetch::AHEAD;
use crate::phases;

/// The result of the search. Numbers are from 1 in preorder; 0 is the set of roots.
pub(super) struct Found {
    /// The numbers of the objects that are not owned, in the order of objects; 0 for those that the
    /// roots do not reach.
    pub(super) numbers: Vec<u32>,
    /// By number: the number of the object whose reference led the search to the object.
    pub(super) parent: Vec<u32>,
    /// By number: the smallest number of a referrer, among those with a smaller number than the
    /// object itself.
    pub(super) semi: Vec<u32>,
    /// References from a larger number to a smaller one.
    pub(super) backward: SortedParts,
}

/// A copy of the graph in which the search can begin, of narrow words or wide ones.
pub(super) enum Prepared {
    Narrow(Copied<u32>),
    Wide(Copied<u64>),
}

/// A copy of the graph and the records at which the search begins.
pub(super) struct Copied<W> {
    packed: Packed<W>,
    heads: Vec<W>,
    /// Whether the first of them dominates all others.
    is_rooted: bool,
}

/// Copies the graph, with all threads. A copy with up to `most_narrow` words has narrow ones.
pub(super) fn prepare(graph: &Graph<'_>, owned: &Owned, most_narrow: u64) -> Prepared {
    if most_words(graph) as u64 <= most_narrow {
        Prepared::Narrow(copied(graph, owned))
    } else {
        Prepared::Wide(copied(graph, owned))
    }
}

fn copied<W: Word>(graph: &Graph<'_>, owned: &Owned) -> Copied<W> {
    let apart = apart(graph, owned);
    let _phase = phases::begin("copying the graph");
    let (packed, heads) = Packed::of(graph, owned, &apart);
    Copied { packed, heads, is_rooted: graph.single_root().is_some() }
}

impl Prepared {
    /// Numbers all objects that can be reached from the roots and are not owned.
    pub(super) fn search(self) -> Found {
        let _phase = phases::begin("searching depth first");
        match self {
            Self::Narrow(copied) => copied.search(),
            Self::Wide(copied) => copied.search(),
        }
    }
}

impl<W: Word> Copied<W> {
    fn search(self) -> Found {
        let Self { packed, heads, is_rooted } = self;
        let column = || {
            let mut column = Vec::with_capacity(packed.objects() + 1);
            column.push(0);
            column
        };
        let (parent, semi) = (column(), column());
        let sorted = SortedParts::default();
        let (packed, parent, semi) = rayon::scope(|scope| {
            let backward = Backward::new(scope, &sorted);
            let mut search = Search { packed, stack: Vec::new(), parent, semi, backward };
            let mut parent = 0;
            for head in heads {
                search.enter(head, parent);
                search.follow();
                parent = is_rooted.into();
            }
            search.backward.finish();
            (search.packed, search.parent, search.semi)
        });
        Found { numbers: packed.into_numbers(), parent, semi, backward: sorted }
    }
}

struct Search<'s, 'scope, W> {
    packed: Packed<W>,
    /// The next references of objects some of whose references are still to be followed.
    stack: Vec<W>,
    parent: Vec<u32>,
    semi: Vec<u32>,
    backward: Backward<'s, 'scope>,
}

impl<W: Word> Search<'_, '_, W> {
    /// Follows the references that are left on the stack.
    fn follow(&mut self) {
        while let Some(next) = self.stack.last_mut() {
            let reference = *next;
            *next = W::of(reference.index() + 1);
            let (from, target, is_last) = self.packed.follow(reference);
            if is_last {
                self.stack.pop();
                self.prefetch_below();
            }
            match self.packed.number(target) {
                None => self.enter(target, from),
                Some(number) if number > from => {
                    let semi = &mut self.semi[number as usize];
                    *semi = from.min(*semi);
                }
                // The target also had a smaller number when the referrer was entered, so the
                // reference is already among the backward references.
                Some(_) => {}
            }
        }
    }

    /// Prefetches the data of the frames below. On the way back, the search takes one frame after
    /// the other, and mostly finds that their targets have been entered.
    #[inline]
    fn prefetch_below(&self) {
        let below = |by| self.stack.len().checked_sub(by).map(|at| self.stack[at]);
        if let Some(reference) = below(AHEAD) {
            self.packed.prefetch(reference);
        }
        if let Some(reference) = below(AHEAD / 2) {
            self.packed.prefetch(self.packed.target(reference));
        }
    }

    #[inline]
    fn enter(&mut self, record: W, parent: u32) {
        let number = self.parent.len() as u32;
        self.parent.push(parent);
        self.semi.push(parent);
        let backward = &mut self.backward;
        if let Some(next) =
            self.packed.enter(record, number, |target| backward.push(target, number))
        {
            if self.stack.len() == self.stack.capacity() {
                // A quarter, not as much again: the stack may be as long as there are objects.
                self.stack.reserve_exact(self.stack.len() / 4 + 1024);
            }
            self.stack.push(next);
        }
    }
}
