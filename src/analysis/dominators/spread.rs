//! Numbers all live objects in preorder of the dominator tree, those that are owned included.

use super::{AHEAD, Core, Dominators};
use crate::analysis::graph::Graph;
use crate::analysis::owned::Owned;
use crate::analysis::prefetch::prefetch;
use crate::model::heap::ObjectId;
use crate::parallel;
use rayon::prelude::*;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Gives each object the numbers right after its own to what it dominates: first the objects that
/// the search has numbered, in that order, then those that it owns, in the order of its references.
pub(super) fn spread(core: Core, owned: Owned, graph: &Graph<'_>) -> Dominators {
    let Core { numbers, mut dominator } = core;
    let mut found = vec![ObjectId(0); dominator.len() - 1];
    for (row, (object, number)) in owned.others(0..graph.len()).zip(&numbers).enumerate() {
        if let Some(soon) = numbers.get(row + AHEAD) {
            prefetch(&found, soon.saturating_sub(1) as usize);
        }
        if *number != 0 {
            found[*number as usize - 1] = object;
        }
    }
    drop(numbers);
    let parts = Below::parts(graph, &owned, &found);
    drop(owned);
    let mut size_of = Vec::with_capacity(found.len() + 1);
    size_of.push(1);
    parts.iter().for_each(|below| size_of.extend_from_slice(&below.of_owner));
    // Dominators have smaller numbers than what they dominate.
    for number in (1..size_of.len()).rev() {
        size_of[dominator[number] as usize] += size_of[number];
    }
    let live = size_of[0] as usize;
    let mut next: Vec<u32> = vec![1; size_of.len()];
    for number in 1..size_of.len() {
        let place = &mut next[dominator[number] as usize];
        let position = *place;
        *place += size_of[number];
        next[number] = position + 1;
        // From here on the column has the object's position; that of its dominator is known.
        dominator[number] = position;
    }
    let position = dominator;
    // The kernel clears new memory when it is first written, here with all threads.
    let column = |length: usize| (0..length).into_par_iter().map(|_| AtomicU32::new(0)).collect();
    let placed = Placed { order: column(live - 1), size: column(live) };
    placed.size[0].store(live as u32, Relaxed);
    let mut firsts = Vec::with_capacity(parts.len());
    let mut first = 1;
    for below in &parts {
        firsts.push(first);
        first += below.of_owner.len();
    }
    parallel::for_each(parts.into_iter().zip(firsts), |(below, first)| {
        let mut rest = below.objects.iter().zip(&below.size);
        for (number, owner) in (first..).zip(&found[first - 1..][..below.of_owner.len()]) {
            let (own, size) = (position[number], size_of[number]);
            placed.put(own, *owner, size);
            // What is left of the range after the children of the search is owned.
            for (place, (object, size)) in (next[number]..own + size).zip(&mut rest) {
                placed.put(place, *object, *size);
            }
        }
    });
    drop((found, size_of, next, position));
    placed.finish(graph.len())
}

/// The columns of [`Dominators`], by position. They are atomic because several threads write, each
/// into places of its own.
struct Placed {
    order: Vec<AtomicU32>,
    size: Vec<AtomicU32>,
}

impl Placed {
    #[inline]
    fn put(&self, position: u32, object: ObjectId, size: u32) {
        self.order[position as usize - 1].store(object.0, Relaxed);
        self.size[position as usize].store(size, Relaxed);
    }

    /// Finds dominators from sizes, and the numbers of all objects of the heap.
    fn finish(self, objects: usize) -> Dominators {
        let order: Vec<ObjectId> =
            self.order.into_iter().map(|object| ObjectId(object.into_inner())).collect();
        let size: Vec<u32> = self.size.into_iter().map(AtomicU32::into_inner).collect();
        let mut dominator = vec![0; size.len()];
        let (number, ()) =
            parallel::join(|| numbers(&order, objects), || dominators(&size, &mut dominator));
        Dominators { order, dominator, number, size }
    }
}

/// The number of each object of the heap.
fn numbers(order: &[ObjectId], objects: usize) -> Vec<u32> {
    let mut number = vec![0; objects];
    for (place, object) in order.iter().enumerate() {
        if let Some(soon) = order.get(place + AHEAD) {
            prefetch(&number, soon.index());
        }
        number[object.index()] = place as u32 + 1;
    }
    number
}

/// Writes the dominator of each position.
fn dominators(size: &[u32], dominator: &mut [u32]) {
    // The ranges in which a position lies, the innermost last.
    let mut open: Vec<u32> = vec![0];
    for position in 1..size.len() as u32 {
        while let Some(&above) = open.last() {
            if position < above + size[above as usize] {
                dominator[position as usize] = above;
                break;
            }
            open.pop();
        }
        if size[position as usize] > 1 {
            open.push(position);
        }
    }
}

/// Owners that one thread looks at before another may take the next ones.
const PART: usize = 1 << 16;

/// The owned objects of some owners, one owner after the other, in depth-first order.
#[derive(Default)]
struct Below {
    objects: Vec<ObjectId>,
    /// The number of objects that an owned one owns, itself included.
    size: Vec<u32>,
    /// The number of objects that an owner owns, itself included.
    of_owner: Vec<u32>,
}

impl Below {
    /// Finds what the owners own. Each part has the next ones of them.
    fn parts(graph: &Graph<'_>, owned: &Owned, owners: &[ObjectId]) -> Vec<Self> {
        let parts = owners.par_chunks(PART);
        let found = parts.fold(Self::default, |mut below, owners| {
            below.add_owners(graph, owned, owners);
            below
        });
        found.collect()
    }

    fn add_owners(&mut self, graph: &Graph<'_>, owned: &Owned, owners: &[ObjectId]) {
        self.of_owner.reserve(owners.len());
        for (at, owner) in owners.iter().enumerate() {
            // Owners lie far apart, and so do their references, and the objects to which these lead.
            if let Some(soon) = owners.get(at + AHEAD) {
                graph.prefetch(*soon);
            }
            if let Some(soon) = owners.get(at + AHEAD * 2 / 3) {
                graph.prefetch_targets(*soon);
            }
            if let Some(soon) = owners.get(at + AHEAD / 3) {
                owned.of_object(graph, *soon).for_each(|object| graph.prefetch(object));
            }
            let before = self.objects.len();
            self.add(graph, owned, *owner);
            self.of_owner.push((self.objects.len() - before) as u32 + 1);
        }
    }

    /// The function calls itself for each level of owned objects, of which there are at most three.
    fn add(&mut self, graph: &Graph<'_>, owned: &Owned, owner: ObjectId) {
        for object in owned.of_object(graph, owner) {
            let at = self.objects.len();
            self.objects.push(object);
            self.size.push(1);
            self.add(graph, owned, object);
            self.size[at] = (self.objects.len() - at) as u32;
        }
    }
}
