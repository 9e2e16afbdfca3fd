//! One tree of names with sums for all parts of a profile, in bounded memory: what is far too
//! narrow to be seen is put into its callers.

use crate::model::profile::{FrameId, StackId, StackIndex, StackTree};
use std::ops::Range;

/// Sums by the names on the stack. The first name is the track's.
///
/// As long as there are at most [`MOST`] stacks of names, all sums are exact. With more the tree is
/// folded: each stack under which there is less than a hundredth of what can be seen, of all that
/// was added so far, gives its sum to its caller. Where more than a sixteenth of [`MOST`] would
/// stay, the least share is doubled until they do not. From then on a sum below the share adds one
/// new name to the stacks that are known, and what would be on top of that is its caller's, too: a
/// stack that comes again and again grows, one that does not costs one node.
///
/// So a width in the end lacks at most the share for each time that it, or a caller, was folded or
/// had to grow by a name. It lacks nothing from the time on at which it has more than the share in
/// every fold. Widths of tracks are always exact, and no width lacks more than [`Folded::value`].
pub(super) struct FlameTree {
    nodes: StackTree,
    index: StackIndex,
    /// By node: what was added to it itself.
    own: Vec<i64>,
    /// By node: how much of that was put into it as a caller, without signs.
    put: Vec<u64>,
    /// By node: whether anything was, if only 0.
    is_stack: Vec<bool>,
    /// All that was added, without signs.
    total: u64,
    /// The tree is folded when it has more nodes than this.
    full: usize,
    most: usize,
    /// Nodes under which there was less were folded the last time; None as long as all is exact.
    least: Option<u64>,
    folded: Folded,
}

/// The sums that went into callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Folded {
    /// The number of stacks, or of sums of stacks.
    pub(super) stacks: u64,
    /// Their values, each once however far it was put.
    pub(super) value: u64,
}

/// Stacks of names that are added together.
#[derive(Default)]
pub(super) struct NamedStacks {
    stacks: Vec<NamedStack>,
    /// The names of all stacks, innermost first.
    names: Vec<u32>,
    /// The stacks that are not added yet.
    open: Vec<usize>,
}

struct NamedStack {
    track: u32,
    /// The names that are not added yet; the last one is the next.
    names: Range<usize>,
    value: i64,
    /// The sums so far.
    node: StackId,
}

impl NamedStacks {
    /// Adds a stack, whose names are innermost first.
    pub(super) fn push(&mut self, track: usize, names: impl Iterator<Item = u32>, value: i64) {
        let first = self.names.len();
        self.names.extend(names);
        self.stacks.push(NamedStack {
            track: track as u32,
            names: first..self.names.len(),
            value,
            node: StackId::EMPTY,
        });
    }

    /// Whether there are enough of them to be added.
    pub(super) fn is_full(&self) -> bool {
        self.stacks.len() >= TOGETHER
    }

    fn clear(&mut self) {
        self.stacks.clear();
        self.names.clear();
    }
}

/// More stacks together are found no faster.
const TOGETHER: usize = 64;

/// Nodes that a tree may have.
pub(super) const MOST: usize = 1 << 20;

/// Not more than one in so many of them stay when the tree is folded: few enough to be found fast,
/// and still several for each that can be seen.
const KEPT: usize = 16;

/// No frame is drawn with a smaller share than one in so many.
const VISIBLE: u64 = 10_000;

impl FlameTree {
    /// An empty tree that is folded when it has more nodes than this.
    pub(super) fn new(most: usize) -> Self {
        Self {
            nodes: StackTree::default(),
            index: StackIndex::default(),
            own: vec![0],
            put: vec![0],
            is_stack: vec![false],
            total: 0,
            full: most,
            most,
            least: None,
            folded: Folded::default(),
        }
    }

    /// Adds stacks, and empties them.
    pub(super) fn add(&mut self, stacks: &mut NamedStacks) {
        for stack in &mut stacks.stacks {
            self.total = self.total.saturating_add(stack.value.unsigned_abs());
            stack.node = self.child(StackId::EMPTY, stack.track).0;
        }
        // A name of each stack in turn: what the next one is on top of is known only when this one
        // is found, but other stacks need not wait for it.
        let mut open = std::mem::take(&mut stacks.open);
        open.extend(0..stacks.stacks.len());
        while !open.is_empty() {
            open.retain(|&stack| self.add_name(&mut stacks.stacks[stack], &stacks.names));
        }
        stacks.open = open;
        for stack in &stacks.stacks {
            let node = stack.node.index();
            self.own[node] = self.own[node].saturating_add(stack.value);
            self.is_stack[node] = true;
        }
        stacks.clear();
        if self.nodes.len() > self.full {
            self.fold();
        }
    }

    /// Goes on to the next name of a stack. Tells whether there may be another one.
    #[inline]
    fn add_name(&mut self, stack: &mut NamedStack, names: &[u32]) -> bool {
        if stack.names.is_empty() {
            return false;
        }
        stack.names.end -= 1;
        let (child, is_new) = self.child(stack.node, names[stack.names.end]);
        stack.node = child;
        let magnitude = stack.value.unsigned_abs();
        if !is_new || self.least.is_none_or(|least| magnitude >= least) {
            return true;
        }
        if !stack.names.is_empty() {
            let put = &mut self.put[child.index()];
            *put = put.saturating_add(magnitude);
            self.lose(1, magnitude);
        }
        false
    }

    #[inline]
    fn child(&mut self, parent: StackId, name: u32) -> (StackId, bool) {
        let (child, is_new) = self.nodes.child(&mut self.index, parent, FrameId(name));
        if is_new {
            self.own.push(0);
            self.put.push(0);
            self.is_stack.push(false);
        }
        (child, is_new)
    }

    /// The sums that went into callers so far.
    pub(super) fn folded(&self) -> Folded {
        self.folded
    }

    /// The sum added to each stack. The names are innermost first, without the track.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, &[u32], i64)) {
        let mut names = Vec::new();
        for node in self.nodes.ids().filter(|node| self.is_stack[node.index()]) {
            names.clear();
            names.extend(self.nodes.frames(node).map(|name| name.0));
            if let Some(track) = names.pop() {
                each(track as usize, &names, self.own[node.index()]);
            }
        }
    }

    /// Puts what cannot be seen into its callers, if the tree was folded before. That changes
    /// nothing in a picture.
    pub(super) fn keep_visible(&mut self) {
        if self.least.is_some() {
            let under = self.under();
            // A little less than the least share, which others compute with fractions.
            self.keep(&under, self.total / (VISIBLE + 1));
        }
    }

    fn fold(&mut self) {
        let under = self.under();
        let least = self.least(&under);
        let (mut stacks, mut value) = (0, 0u64);
        for node in self.nodes.ids().filter(|&node| !is_kept(&self.nodes, &under, least, node)) {
            let lost = self.own[node.index()].unsigned_abs().saturating_sub(self.put[node.index()]);
            stacks += u64::from(lost > 0);
            value = value.saturating_add(lost);
        }
        self.lose(stacks, value);
        self.keep(&under, least);
        self.least = Some(least);
        // Few nodes are found faster than many, and each fold pays for itself.
        self.full = (self.nodes.len() * 2).max(self.most / KEPT);
    }

    fn lose(&mut self, stacks: u64, value: u64) {
        self.folded.stacks += stacks;
        self.folded.value = self.folded.value.saturating_add(value);
    }

    /// By node: the sum without signs of all stacks that begin with it.
    fn under(&self) -> Vec<u64> {
        let mut under: Vec<u64> = self.own.iter().map(|own| own.unsigned_abs()).collect();
        for node in (1..under.len()).rev() {
            let parent = self.nodes.parent(StackId(node as u32)).index();
            under[parent] = under[parent].saturating_add(under[node]);
        }
        under
    }

    /// A hundredth of what can be seen; doubled until few enough nodes are worth it.
    fn least(&self, under: &[u64]) -> u64 {
        let least = (self.total / (VISIBLE * 100)).max(1);
        // By how often the least share may be doubled for a node to be worth it, plus one.
        let mut nodes = [0usize; u64::BITS as usize + 1];
        for node in self.nodes.ids() {
            nodes[(u64::BITS - (under[node.index()] / least).leading_zeros()) as usize] += 1;
        }
        let mut kept: usize = nodes[1..].iter().sum();
        let mut doubled = 0;
        while kept > self.most / KEPT && doubled + 1 < nodes.len() {
            doubled += 1;
            kept -= nodes[doubled];
        }
        least.saturating_mul(1u64.checked_shl(doubled as u32).unwrap_or(u64::MAX))
    }

    /// Keeps the nodes under which there is as much as this.
    fn keep(&mut self, under: &[u64], least: u64) {
        let Self { nodes: old, own, put, is_stack, .. } = self;
        let is_kept = |node: &StackId| is_kept(old, under, least, *node);
        for node in (1..old.len() as u32).rev().map(StackId).filter(|node| !is_kept(node)) {
            let (node, parent) = (node.index(), old.parent(node).index());
            own[parent] = own[parent].saturating_add(own[node]);
            put[parent] = put[parent].saturating_add(own[node].unsigned_abs());
            is_stack[parent] |= is_stack[node];
        }
        let mut nodes = StackTree::default();
        let mut moved = vec![StackId::EMPTY; old.len()];
        for node in old.ids().filter(is_kept) {
            let Some(name) = old.leaf(node) else { continue };
            let place = nodes.add(moved[old.parent(node).index()], name);
            moved[node.index()] = place;
            own[place.index()] = own[node.index()];
            put[place.index()] = put[node.index()];
            is_stack[place.index()] = is_stack[node.index()];
        }
        own.truncate(nodes.len());
        put.truncate(nodes.len());
        is_stack.truncate(nodes.len());
        self.nodes = nodes;
        self.index = StackIndex::default();
    }
}

/// Whether there is enough under a node. Tracks stay, however little there is in them.
#[inline]
fn is_kept(nodes: &StackTree, under: &[u64], least: u64, node: StackId) -> bool {
    under[node.index()] >= least || nodes.parent(node) == StackId::EMPTY
}
