//! Likely leaks and wasted memory.
//!
//! * [`holders`]: single objects that hold a large part of the heap in many small pieces;
//! * [`siblings`]: many objects of one type below one owner;
//! * what [`super::waste`] finds of equal texts and blocks, and of collections with far more room
//!   than entries ([`wasted`]).
//!
//! Only live objects count. Thresholds are constants with their reasons beside them.

pub mod holders;
pub mod siblings;
pub mod wasted;

use super::dominator_tree::DominatorTree;
use super::dominators::Dominators;
use super::retained::Retained;
use super::waste::Measurements;
use crate::model::heap::{Heap, ObjectId, TypeId};
use holders::Holder;
use rustc_hash::FxHashMap;
use siblings::Siblings;
use wasted::{Duplicates, Sparse};

/// Smaller suspects are not reported, whatever their share.
pub const LEAST_BYTES: u64 = 4096;

/// A likely leak or waste.
#[derive(Clone, Debug, PartialEq)]
pub enum Suspect {
    /// One object retains a large part of the heap.
    Holder(Holder),
    /// One object holds many objects of one type.
    Siblings(Siblings),
    /// Several objects have equal contents.
    Duplicates(Duplicates),
    /// Collections that are mostly empty.
    Sparse(Sparse),
}

impl Suspect {
    /// Returns the retained or wasted bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Holder(holder) => holder.retained,
            Self::Siblings(siblings) => siblings.group.bytes,
            Self::Duplicates(duplicates) => duplicates.wasted,
            Self::Sparse(sparse) => sparse.wasted,
        }
    }

    /// The object to inspect first: the holder, or the largest example.
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Holder(holder) => Some(holder.object),
            Self::Siblings(siblings) => Some(siblings.owner),
            Self::Duplicates(duplicates) => duplicates.worst.first().map(|group| group.example),
            Self::Sparse(sparse) => Some(sparse.example),
        }
    }
}

/// Finds all suspects, sorted by bytes, largest first.
pub fn find(heap: &Heap<'_>, tree: &DominatorTree) -> Vec<Suspect> {
    find_measured(heap, tree, &Measurements::of(heap, tree))
}

/// As [`find`], with measurements that are at hand.
pub fn find_measured(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    measured: &Measurements,
) -> Vec<Suspect> {
    let downwards = Tree::of(heap, tree);
    let holders = holders::find(&downwards);
    let siblings = siblings::find(&downwards, &holders);
    let mut all: Vec<Suspect> = holders.into_iter().map(Suspect::Holder).collect();
    all.extend(siblings.into_iter().map(Suspect::Siblings));
    all.extend(wasted::find(heap, tree, measured));
    all.sort_by_key(|suspect| (std::cmp::Reverse(suspect.bytes()), suspect.object()));
    all
}

/// Several objects of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspectGroup {
    /// The type of the objects.
    pub of: TypeId,
    /// The number of objects.
    pub count: u64,
    /// Their retained bytes.
    pub bytes: u64,
}

/// The dominator tree, read from the roots down.
struct Tree<'s, 'a> {
    heap: &'s Heap<'a>,
    dominators: &'s Dominators,
    retained: &'s Retained,
}

impl<'s, 'a> Tree<'s, 'a> {
    fn of(heap: &'s Heap<'a>, tree: &'s DominatorTree) -> Self {
        Self { heap, dominators: &tree.dominators, retained: &tree.retained }
    }

    fn bytes(&self, number: u32) -> u64 {
        self.retained.of_number(number)
    }

    fn children(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        self.dominators.children(number)
    }

    fn biggest_child(&self, number: u32) -> Option<u32> {
        // Of equals the first.
        self.children(number).max_by_key(|child| (self.bytes(*child), std::cmp::Reverse(*child)))
    }

    fn type_of(&self, number: u32) -> Option<TypeId> {
        Some(self.heap.type_id(self.dominators.object(number)?))
    }

    /// Whether a number represents roots and not an object of the program.
    fn is_made_up(&self, number: u32) -> bool {
        self.dominators.object(number).is_none_or(|object| self.heap.is_made_up(object))
    }

    /// The children of a number by type, those with most bytes first.
    fn groups(&self, number: u32) -> Vec<SuspectGroup> {
        let mut groups: FxHashMap<TypeId, SuspectGroup> = FxHashMap::default();
        for child in self.children(number) {
            let Some(of) = self.type_of(child) else { continue };
            let group = groups.entry(of).or_insert(SuspectGroup { of, count: 0, bytes: 0 });
            group.count += 1;
            group.bytes = group.bytes.saturating_add(self.bytes(child));
        }
        let mut groups: Vec<SuspectGroup> = groups.into_values().collect();
        groups.sort_unstable_by_key(|group| (std::cmp::Reverse(group.bytes), group.of));
        groups
    }
}

/// A part of a total, rounded up.
fn part(total: u64, percent: u64) -> u64 {
    (u128::from(total) * u128::from(percent)).div_ceil(100) as u64
}
