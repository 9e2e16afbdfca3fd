//! The depth-first search that numbers live objects.
//!
//! It keeps its own stack, and takes an object off it before the last of its references is followed, so that a list of any
//! length needs one frame.

use crate::analysis::graph::Graph;
use crate::model::heap::{ObjectId, Offsets};

/// What the search found. Vectors are by number, from 1 in preorder; 0 is the set of roots.
pub(super) struct Search {
    /// The object of number n is `order[n - 1]`.
    pub(super) order: Vec<ObjectId>,
    /// Whose reference was followed to find the object.
    pub(super) parent: Vec<u32>,
    /// The smallest number of a referrer, among those with a smaller number than the object itself.
    pub(super) semi: Vec<u32>,
    /// References from a larger number to a smaller one.
    pub(super) backward: Backward,
}

/// References from larger numbers to smaller ones, in the order of the sources, in blocks, so that adding one never copies the
/// others.
///
/// A source comes once, before its targets. Sources rise, and targets are below their source: what is above the last source is
/// the next one. So most references take 4 bytes.
#[derive(Default)]
pub(super) struct Backward {
    blocks: Vec<Vec<u32>>,
    source: u32,
    references: usize,
}

impl Backward {
    /// Numbers in a block: 4 MiB of them.
    const BLOCK: usize = 1 << 20;

    /// Adds a reference. The source is not below the one before, and above the target.
    #[inline]
    fn push(&mut self, target: u32, source: u32) {
        if self.source != source {
            self.source = source;
            self.push_number(source);
        }
        self.references += 1;
        self.push_number(target);
    }

    #[inline]
    fn push_number(&mut self, number: u32) {
        match self.blocks.last_mut() {
            Some(block) if block.len() < Self::BLOCK => block.push(number),
            _ => self.push_block(number),
        }
    }

    #[cold]
    fn push_block(&mut self, number: u32) {
        let mut block = Vec::with_capacity(Self::BLOCK);
        block.push(number);
        self.blocks.push(block);
    }

    /// How many references there are.
    pub(super) fn len(&self) -> usize {
        self.references
    }

    /// Targets and sources.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut source = 0;
        self.blocks.iter().flatten().filter_map(move |&number| {
            if number > source {
                source = number;
                return None;
            }
            Some((number, source))
        })
    }
}

/// Numbers all that can be reached from the roots.
pub(super) fn search(graph: &Graph<'_>) -> Search {
    match (&graph.references.first, graph.references.weak.is_empty() && graph.dependent.is_empty()) {
        (Offsets::Small(first), true) => State::<u32, true>::new(graph, first).run(),
        (Offsets::Small(first), false) => State::<u32, false>::new(graph, first).run(),
        (Offsets::Large(first), true) => State::<u64, true>::new(graph, first).run(),
        (Offsets::Large(first), false) => State::<u64, false>::new(graph, first).run(),
    }
}

/// A row of a column, narrow or wide.
trait Row: Copy + Into<u64> {
    fn from_index(index: usize) -> Self;
    fn index(self) -> usize;
}

impl Row for u32 {
    fn from_index(index: usize) -> Self {
        index as u32
    }
    fn index(self) -> usize {
        self as usize
    }
}

impl Row for u64 {
    fn from_index(index: usize) -> Self {
        index as u64
    }
    fn index(self) -> usize {
        self as usize
    }
}

/// An object's first reference and its number lie side by side: who looks at one soon wants the other.
#[derive(Clone, Copy)]
struct Node<R> {
    first: R,
    number: u32,
}

/// An object some of whose references are still to be followed.
struct Frame<R> {
    number: u32,
    next: R,
    end: R,
}

/// `ALL_STRONG`: every reference counts, and there are no others than those in the columns.
struct State<'g, R, const ALL_STRONG: bool> {
    graph: &'g Graph<'g>,
    nodes: Vec<Node<R>>,
    stack: Vec<Frame<R>>,
    order: Vec<ObjectId>,
    parent: Vec<u32>,
    semi: Vec<u32>,
    backward: Backward,
}

impl<'g, R: Row, const ALL_STRONG: bool> State<'g, R, ALL_STRONG> {
    fn new(graph: &'g Graph<'g>, first: &[R]) -> Self {
        let objects = graph.len();
        let root = |capacity| {
            let mut column = Vec::with_capacity(capacity);
            column.push(0);
            column
        };
        Self {
            graph,
            nodes: first.iter().map(|first| Node { first: *first, number: 0 }).collect(),
            stack: Vec::new(),
            order: Vec::with_capacity(objects),
            parent: root(objects + 1),
            semi: root(objects + 1),
            backward: Backward::default(),
        }
    }

    fn run(mut self) -> Search {
        for &start in self.graph.starts() {
            match self.nodes[start.index()].number {
                0 => self.enter(start, 0),
                number => self.semi[number as usize] = 0,
            }
            self.follow();
        }
        Search { order: self.order, parent: self.parent, semi: self.semi, backward: self.backward }
    }

    /// Follows what is left on the stack.
    fn follow(&mut self) {
        while let Some(frame) = self.stack.last_mut() {
            let (from, row) = (frame.number, frame.next.index());
            frame.next = R::from_index(row + 1);
            if row + 1 == frame.end.index() {
                self.stack.pop();
            }
            let Some(target) = self.target(from, row) else { continue };
            match self.nodes[target.index()].number {
                0 => self.enter(target, from),
                number if number > from => {
                    let semi = &mut self.semi[number as usize];
                    *semi = from.min(*semi);
                }
                // It was smaller when the referrer was entered, too, and is among the backward references.
                _ => {}
            }
        }
    }

    /// Numbers an object. References to objects that have a number already lead backward; the first and the last of the
    /// others bound what is to be followed. Looking at all targets at once lets the processor wait for them at once.
    #[inline]
    fn enter(&mut self, object: ObjectId, parent: u32) {
        self.order.push(object);
        let own = self.order.len() as u32;
        self.parent.push(parent);
        self.semi.push(parent);
        self.nodes[object.index()].number = own;
        let (first, end) = (self.nodes[object.index()].first.index(), self.end(object));
        let (mut next, mut last) = (end, end);
        for row in first..end {
            let Some(target) = self.target(own, row) else { continue };
            match self.nodes[target.index()].number {
                0 => {
                    next = next.min(row);
                    last = row + 1;
                }
                number if number < own => self.backward.push(number, own),
                _ => {}
            }
        }
        if next < end {
            self.stack.push(Frame { number: own, next: R::from_index(next), end: R::from_index(last) });
        }
    }

    /// One more than the last row of an object's references; values of ephemerons come after those in the columns.
    #[inline]
    fn end(&self, object: ObjectId) -> usize {
        let end = self.nodes[object.index() + 1].first.index();
        if ALL_STRONG { end } else { end + self.graph.dependent.on(object).len() }
    }

    /// What the reference in a row keeps alive; none if it is weak.
    #[inline]
    fn target(&self, from: u32, row: usize) -> Option<ObjectId> {
        let references = self.graph.references;
        if ALL_STRONG {
            return Some(references.target[row]);
        }
        let object = self.order[from as usize - 1];
        match row.checked_sub(self.nodes[object.index() + 1].first.index()) {
            Some(extra) => self.graph.dependent.on(object).get(extra).map(|(_, value)| *value),
            None => (!references.is_weak(row)).then(|| references.target[row]),
        }
    }
}
