//! Numbers all live objects in preorder of the dominator tree, those that are owned included.

use super::Core;
use super::ends::short;
use super::ordered::Ordered;
use crate::analysis::graph::Graph;
use crate::analysis::owned::{HEIGHT, Owned};
use crate::analysis::prefetch::{AHEAD, prefetch};
use crate::model::heap::ObjectId;
use crate::parallel::{self, PART};
use crate::plain::Plain;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU32};

/// Gives each object the numbers right after its own to what it dominates: first the objects that
/// the search has numbered, in that order, then those that it owns, in the order of its references.
pub(super) fn spread(core: Core, owned: Owned, graph: &Graph<'_>) -> Ordered {
    let Core { numbers, mut dominator } = core;
    let found = by_number(owned.others(0..graph.len()), numbers, dominator.len() - 1);
    let parts = Below::parts(graph, &owned, &found);
    drop(owned);
    // Holds the sizes of ranges first. Once an object has its position, the next free position in its
    // range takes the place of the size.
    let mut next = vec![0; found.len() + 1];
    next[0] = 1;
    let mut rest = &mut next[1..];
    let columns = parts.iter().map(|below| {
        let of_owner = &below.of_owner;
        (rest.split_off_mut(..of_owner.len()).unwrap_or_default(), of_owner)
    });
    parallel::for_each(columns, |(next, of_owner)| next.copy_from_slice(of_owner));
    let (mut above, ()) = parallel::join(
        // Written once, so that the kernel clears the memory meanwhile.
        || vec![u32::MAX; found.len() + 1],
        || {
            // Dominators have smaller numbers than what they dominate.
            for number in (1..next.len()).rev() {
                next[dominator[number] as usize] += next[number];
            }
        },
    );
    let live = next[0] as usize;
    next[0] = 1;
    for number in 1..next.len() {
        let by = dominator[number] as usize;
        let (position, size) = (next[by], next[number]);
        next[by] += size;
        next[number] = position + 1;
        // From here on the column has the object's position, as it has that of its dominator.
        dominator[number] = position;
        above[number] = dominator[by];
    }
    let position = dominator;
    let placed = Placed {
        order: AtomicU32::zeros(live - 1),
        dominator: AtomicU32::zeros(live),
        size: AtomicU8::zeros(live),
    };
    placed.size[0].store(short(live as u32), Relaxed);
    let mut firsts = Vec::with_capacity(parts.len());
    let mut first = 1;
    for below in &parts {
        firsts.push(first);
        first += below.of_owner.len();
    }
    parallel::for_each(parts.into_iter().zip(firsts), |(below, first)| {
        let mut rest = below.objects.iter().zip(&below.depth);
        let owners = found[first - 1..].iter().zip(&below.of_owner);
        for (number, (owner, count)) in (first..).zip(owners) {
            let own = position[number];
            // What an object owns comes after the children of the search.
            let places = next[number]..next[number] + count - 1;
            placed.put(own, *owner, above[number], short(places.end - own));
            let mut above = [own; HEIGHT];
            for (place, (object, depth)) in places.zip(&mut rest) {
                let depth = usize::from(*depth);
                placed.put(place, *object, above[depth], 1);
                above[1..=depth].iter().for_each(|owned| placed.enlarge(*owned));
                above[depth + 1..].fill(place);
            }
        }
    });
    placed.finish()
}

/// The objects in the order of their numbers, which are 0 for objects that were not found.
fn by_number(
    objects: impl Iterator<Item = ObjectId>,
    numbers: Vec<u32>,
    count: usize,
) -> Vec<ObjectId> {
    let mut found = vec![ObjectId(0); count];
    for (row, (object, number)) in objects.zip(&numbers).enumerate() {
        if let Some(soon) = numbers.get(row + AHEAD) {
            prefetch(&found, soon.saturating_sub(1) as usize);
        }
        if *number != 0 {
            found[*number as usize - 1] = object;
        }
    }
    found
}

/// The columns of [`Ordered`], by position. They are atomic because several threads write, each into
/// places of its own.
struct Placed {
    order: Vec<AtomicU32>,
    dominator: Vec<AtomicU32>,
    size: Vec<AtomicU8>,
}

impl Placed {
    #[inline]
    fn put(&self, position: u32, object: ObjectId, dominator: u32, size: u8) {
        self.order[position as usize - 1].store(object.0, Relaxed);
        self.dominator[position as usize].store(dominator, Relaxed);
        self.size[position as usize].store(size, Relaxed);
    }

    /// Adds an object to the size of a subtree.
    #[inline]
    fn enlarge(&self, position: u32) {
        let size = &self.size[position as usize];
        size.store(size.load(Relaxed).saturating_add(1), Relaxed);
    }

    fn finish(self) -> Ordered {
        Ordered {
            order: ObjectId::of_plain(AtomicU32::plain(self.order)),
            dominator: AtomicU32::plain(self.dominator),
            size: AtomicU8::plain(self.size),
        }
    }
}

/// The owned objects of some owners, one owner after the other, in depth-first order.
#[derive(Default)]
struct Below {
    objects: Vec<ObjectId>,
    /// The level of each object: 0 below the owner, 1 below an object of level 0.
    depth: Vec<u8>,
    /// The number of objects that an owner owns, itself included.
    of_owner: Vec<u32>,
}

impl Below {
    /// Finds what the owners own. Each part has the next ones of them.
    fn parts(graph: &Graph<'_>, owned: &Owned, owners: &[ObjectId]) -> Vec<Self> {
        parallel::map(owners.chunks(PART), |owners| Self::of(graph, owned, owners))
    }

    fn of(graph: &Graph<'_>, owned: &Owned, owners: &[ObjectId]) -> Self {
        let mut below = Self { of_owner: Vec::with_capacity(owners.len()), ..Self::default() };
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
            let before = below.objects.len();
            below.add(graph, owned, *owner, 0);
            below.of_owner.push((below.objects.len() - before) as u32 + 1);
        }
        below
    }

    /// Adds what an object owns, at a level. The function calls itself for each level of owned objects,
    /// of which there are at most [`HEIGHT`].
    fn add(&mut self, graph: &Graph<'_>, owned: &Owned, owner: ObjectId, depth: u8) {
        for object in owned.of_object(graph, owner) {
            self.objects.push(object);
            self.depth.push(depth);
            self.add(graph, owned, object, depth + 1);
        }
    }
}
