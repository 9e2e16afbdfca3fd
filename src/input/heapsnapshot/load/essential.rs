//! The edges that keep their target alive, by the rules of Chrome DevTools.
//!
//! An edge from f to t does not keep t alive if
//! 1. its type is `weak`;
//! 2. f is t, which makes no difference to what is reached or dominated;
//! 3. its type is `shortcut`, and f is not node 0;
//! 4. it is the edge of a WeakMap's entry from the table (f): the edge from the key counts;
//! 5. t belongs to a page, and f to the virtual machine: f is neither node 0 nor reached from the
//!    global objects and DOM trees of node 0 by edges that are not weak.
//!
//! Such edges become weak references of the heap. Nodes that are the target of no other edge become
//! roots of their own.

use super::bits::Bits;
use super::edges::{ELEMENT, Edges, SHORTCUT, WEAK};
use super::nodes::Nodes;
use crate::model::heap::{ObjectId, Offsets};
use crate::parallel;
use std::ops::Range;

/// The graph of nodes and edges, before it is built into a heap.
pub(super) struct Graph<'g> {
    pub(super) nodes: &'g Nodes,
    pub(super) edges: &'g Edges,
    pub(super) first: &'g Offsets,
    /// The node `(Document DOM trees)`.
    pub(super) dom_trees: Option<ObjectId>,
}

/// The most parts into which nodes are split to be read in parallel. Each part takes a bit for each
/// node of the file.
const PARTS: usize = 4;

impl Graph<'_> {
    /// The rows of a node's edges.
    #[inline(always)]
    pub(super) fn edges_of(&self, node: usize) -> Range<usize> {
        self.first.get(node) as usize..self.first.get(node.wrapping_add(1)) as usize
    }

    /// Type and target of the edges of a node.
    #[inline(always)]
    pub(super) fn of(&self, node: usize) -> impl Iterator<Item = (u8, ObjectId)> + '_ {
        let rows = self.edges_of(node);
        let kinds = self.edges.kind.get(rows.clone()).unwrap_or_default();
        let targets = self.edges.target.get(rows).unwrap_or_default();
        kinds.iter().zip(targets).map(|(&kind, &target)| (kind, target))
    }

    /// A bit for each edge that does not keep its target alive.
    pub(super) fn weak(&self) -> Bits {
        let roots = self.edges_of(0).end;
        let mut weak = Bits(parallel::words(self.edges.len(), |word| {
            let start = word.wrapping_mul(64);
            let kinds = self.edges.kind.get(start..).unwrap_or_default().iter().take(64);
            (0u32..).zip(kinds).fold(0, |bits, (at, &kind)| {
                let row = start.wrapping_add(at as usize);
                let is_weak = kind == WEAK || (kind == SHORTCUT && row >= roots);
                bits | u64::from(is_weak).wrapping_shl(at)
            })
        }));
        self.weaken_weak_maps(&mut weak);
        if let Some(pages) = self.pages() {
            self.weaken_outside(&pages, &mut weak);
        }
        weak
    }

    /// Applies rule 4: marks the edges from the tables of WeakMaps as weak.
    fn weaken_weak_maps(&self, weak: &mut Bits) {
        let mut node = 0;
        for &(row, table) in &self.edges.weak_map_entries {
            while node < self.nodes.len() && self.edges_of(node).end <= row {
                node = node.wrapping_add(1);
            }
            if node < self.nodes.len() && table == self.nodes.id.get(node) {
                weak.set(row);
            }
        }
    }

    /// The nodes that belong to a page. `None` if node 0 refers to no page.
    fn pages(&self) -> Option<Bits> {
        let mut pages = Bits::none(self.nodes.len());
        let is_page = |(kind, target): &(u8, ObjectId)| {
            *kind == SHORTCUT || (*kind == ELEMENT && Some(*target) == self.dom_trees)
        };
        let mut pending: Vec<u32> = self
            .of(0)
            .filter(is_page)
            .filter(|(_, page)| pages.set(page.index()))
            .map(|(_, page)| page.0)
            .collect();
        if pending.is_empty() {
            return None;
        }
        // One pass in the order of the file, which is that of memory, finds nearly all nodes.
        // References to earlier nodes are followed later.
        pending.clear();
        for node in 0..self.nodes.len() {
            if pages.has(node) {
                self.reach_from(node, &mut pages, |target| target.index() < node, &mut pending);
            }
        }
        while let Some(node) = pending.pop() {
            self.reach_from(node as usize, &mut pages, |_| true, &mut pending);
        }
        Some(pages)
    }

    /// Marks the targets of a node. New targets that are `later` become pending.
    #[inline(always)]
    fn reach_from(
        &self,
        node: usize,
        pages: &mut Bits,
        later: impl Fn(ObjectId) -> bool,
        pending: &mut Vec<u32>,
    ) {
        for (kind, target) in self.of(node) {
            if kind != WEAK && pages.set(target.index()) && later(target) {
                pending.push(target.0);
            }
        }
    }

    /// Applies rule 5: marks the edges from outside the pages to nodes of pages as weak.
    fn weaken_outside(&self, pages: &Bits, weak: &mut Bits) {
        for node in (1..self.nodes.len()).filter(|node| !pages.has(*node)) {
            for row in self.edges_of(node) {
                if self.edges.target.get(row).is_some_and(|target| pages.has(target.index())) {
                    weak.set(row);
                }
            }
        }
    }

    /// The nodes that no edge from another node keeps alive.
    pub(super) fn orphans(&self, weak: &Bits) -> Vec<ObjectId> {
        let count = self.nodes.len();
        let length = count.div_ceil(rayon::current_num_threads().clamp(1, PARTS)).max(1);
        let of_part = |start: usize| {
            let mut held = Bits::none(count);
            held.set(0);
            for node in start..start.saturating_add(length).min(count) {
                for row in self.edges_of(node) {
                    if !weak.has(row)
                        && let Some(target) = self.edges.target.get(row)
                        && target.index() != node
                    {
                        held.set(target.index());
                    }
                }
            }
            held
        };
        let held = parallel::map((0..count).step_by(length), of_part).into_iter().reduce(Bits::or);
        let held = held.unwrap_or_else(|| Bits::none(count));
        (0..count).filter(|node| !held.has(*node)).map(|node| ObjectId(node as u32)).collect()
    }
}
