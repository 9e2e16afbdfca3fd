//! A dominator tree as text lines: the largest ones, with siblings and chains of one type merged.

mod expand;
mod tops;

use super::dominator_tree::DominatorTree;
use super::owners::TypeOwner;
use super::root_groups::RootGroups;
use crate::model::heap::{Heap, ObjectId, RootKind, TypeId};
use expand::{Expander, Members};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Limits of [`lines`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Lines with a smaller share of the live heap are left out.
    pub min_share: f64,
    /// Maximum depth below the live heap.
    pub depth: u32,
    /// Maximum number of lines. The largest are kept.
    pub lines: usize,
    /// Merge all sibling objects of a type into one line, even large ones.
    pub merge_types: bool,
}

/// The item that a line shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeItem {
    /// The live heap.
    Heap,
    /// Several selected objects, none of which dominates another.
    Selection,
    /// A group of roots. `None` for objects that several groups reach.
    Root(Option<(RootKind, String)>),
    /// A part of the objects that several groups reach: the kind of these groups, or a class loader
    /// or library. Or an isolate with its static fields.
    Part(TypeOwner),
    /// An object.
    Object(ObjectId),
    /// An object and others of its type, each of which dominates the next.
    Chain(ObjectId),
    /// Objects of one type below the same owner, with those of the type that they dominate in turn.
    Group(TypeId),
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeLine {
    /// 0 is the live heap.
    pub depth: u32,
    /// The object or group that the line shows.
    pub what: TreeItem,
    /// The number of objects. For the heap and for roots: all objects below.
    pub count: u64,
    /// The shallow and external bytes of these objects.
    pub own_bytes: u64,
    /// The retained bytes of these objects.
    pub total_bytes: u64,
    /// Objects immediately below this line that are not shown.
    pub omitted: Omitted,
    /// The row of a reference from the object of the line above to that of this line.
    pub reference: Option<usize>,
    /// The place of the line in the order in which lines are chosen: a tree with fewer lines
    /// consists of those with the lowest ranks. 0 for the first line.
    pub rank: usize,
}

/// Objects that are not shown below a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Number of omitted objects.
    pub count: u64,
    /// The retained bytes of the omitted objects.
    pub bytes: u64,
}

impl Omitted {
    fn add(&mut self, count: u64, bytes: u64) {
        self.count += count;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Returns the lines to show, depth-first, the largest siblings first.
///
/// Visits each object at most once, so the limits hardly affect the running time.
pub fn lines(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    roots: &RootGroups,
    options: TreeOptions,
) -> Vec<TreeLine> {
    Tops::of(heap, tree, roots).lines(heap, tree, options)
}

/// The objects that no object of the program dominates, by what keeps them alive.
pub struct Tops {
    nodes: Vec<Node>,
    /// The number of synthetic objects above them.
    made_up: u64,
}

impl Tops {
    /// Finds these objects. Their lines do not need the groups of roots, which take memory.
    pub fn of(heap: &Heap<'_>, tree: &DominatorTree, roots: &RootGroups) -> Self {
        let (nodes, made_up) = tops::of(heap, tree, roots);
        Self { nodes, made_up }
    }

    /// Returns the lines of [`lines`].
    pub fn lines(
        self,
        heap: &Heap<'_>,
        tree: &DominatorTree,
        options: TreeOptions,
    ) -> Vec<TreeLine> {
        let Self { nodes: tops, made_up } = self;
        let whole = tops.iter().fold(0_u64, |sum, top| sum.saturating_add(top.line.total_bytes));
        // Synthetic objects represent the roots, so their own bytes do not count. They count as objects
        // wherever objects are counted.
        let count = made_up + tops.iter().map(|top| top.line.count).sum::<u64>();
        let root = Node { shown: true, ..Node::new(TreeItem::Heap, count, whole) };
        let mut expander = Expander::new(heap, tree, count, whole, options);
        grow(vec![root], tops, &mut expander)
    }
}

/// Returns the lines of the subtree below one object. Shares refer to its retained bytes. Returns
/// no lines if the object is unreachable.
pub fn lines_below_object(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    object: ObjectId,
    options: TreeOptions,
) -> Vec<TreeLine> {
    below(heap, tree, tree.dominators.number(object).into_iter().collect(), options)
}

/// Returns the lines of the subtrees below several objects: the live objects that `selects` accepts
/// and that no other of them dominates. Shares refer to their retained bytes. Returns no lines if
/// there are no such objects.
pub fn lines_below(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    selects: impl Fn(ObjectId) -> bool,
    options: TreeOptions,
) -> Vec<TreeLine> {
    let dominators = &tree.dominators;
    let mut members = Vec::new();
    let mut number = 1;
    while number <= dominators.len() as u32 {
        number = if dominators.object(number).is_some_and(&selects) {
            members.push(number);
            dominators.end(number)
        } else {
            number + 1
        };
    }
    below(heap, tree, members, options)
}

/// The lines below the objects with some numbers.
fn below(
    heap: &Heap<'_>,
    tree: &DominatorTree,
    members: Vec<u32>,
    options: TreeOptions,
) -> Vec<TreeLine> {
    let dominators = &tree.dominators;
    let retained = |number: &u32| tree.retained.of_number(*number);
    let whole = members.iter().map(retained).fold(0, u64::saturating_add);
    let objects = members.iter().map(|number| u64::from(dominators.end(*number) - number)).sum();
    let mut expander = Expander::new(heap, tree, objects, whole, options);
    let (mut root, children) = match members.as_slice() {
        [] => return Vec::new(),
        &[only] => {
            let object = dominators.object(only).unwrap_or(ObjectId(0));
            let mut root = Node::of(TreeItem::Object(object), members.into(), whole);
            let children = expander.expand(&mut root);
            (root, children)
        }
        _ => (Node::new(TreeItem::Selection, objects, whole), expander.group(members)),
    };
    root.shown = true;
    grow(vec![root], children, &mut expander)
}

/// Adds lines below the first node, the largest ones first.
fn grow(
    mut nodes: Vec<Node>,
    children: Vec<Node>,
    expander: &mut Expander<'_, '_>,
) -> Vec<TreeLine> {
    let room = expander.options.lines.saturating_sub(1);
    let mut pending = Pending { lines: BinaryHeap::new(), room, left_out: None };
    pending.add(&mut nodes, 0, children, expander);
    let mut rank = 0;
    while let Some((_, Reverse(index))) = pending.lines.pop() {
        if pending.room == 0 {
            omit(&mut nodes, index);
            continue;
        }
        pending.room -= 1;
        rank += 1;
        nodes[index].line.rank = rank;
        nodes[index].shown = true;
        let children = expander.expand(&mut nodes[index]);
        pending.add(&mut nodes, index, children, expander);
    }
    in_order(nodes, expander.heap)
}

/// A line that may be shown.
struct Node {
    parent: usize,
    line: TreeLine,
    /// The objects, until the line is expanded.
    members: Members,
    /// Lines below this one that are not objects. Groups of roots are at most three levels deep.
    below: Vec<Node>,
    shown: bool,
}

impl Node {
    /// A line that represents a number of objects, which retain `total_bytes`.
    fn new(what: TreeItem, count: u64, total_bytes: u64) -> Self {
        let line = TreeLine {
            depth: 0,
            what,
            count,
            own_bytes: 0,
            total_bytes,
            omitted: Omitted::default(),
            reference: None,
            rank: 0,
        };
        Self { parent: 0, line, members: Members::default(), below: Vec::new(), shown: false }
    }

    /// A line that represents these objects.
    fn of(what: TreeItem, members: Members, total_bytes: u64) -> Self {
        let node = Self::new(what, members.len(), total_bytes);
        Self { members, ..node }
    }

    /// The objects immediately below this line, or below the lines that divide it.
    fn objects(&self) -> u64 {
        self.members.len() + self.below.iter().map(Self::objects).sum::<u64>()
    }
}

/// Lines that may be shown.
struct Pending {
    /// The largest comes first; of equal ones, the one that was found first.
    lines: BinaryHeap<(u64, Reverse<usize>)>,
    /// The number of lines that can still be shown.
    room: usize,
    /// The most bytes of a line that was left out because enough others come before it.
    left_out: Option<u64>,
}

impl Pending {
    /// Keeps children for later, unless they are too small or too deep.
    fn add(
        &mut self,
        nodes: &mut Vec<Node>,
        parent: usize,
        children: Vec<Node>,
        expander: &Expander<'_, '_>,
    ) {
        let depth = nodes[parent].line.depth + 1;
        for mut child in children {
            (child.parent, child.line.depth) = (parent, depth);
            // Isolates are shown however little they hold.
            let is_isolate = parent == 0
                && matches!(&child.line.what, TreeItem::Part(part) if part.object.is_some());
            let total = if is_isolate { u64::MAX } else { child.line.total_bytes };
            let is_shown =
                expander.is_shown(&child) || (is_isolate && depth <= expander.options.depth);
            if is_shown && self.left_out.is_none_or(|least| total > least) {
                self.lines.push((total, Reverse(nodes.len())));
                nodes.push(child);
            } else {
                let (count, bytes) = (child.objects(), child.line.total_bytes);
                nodes[parent].line.omitted.add(count, bytes);
            }
        }
        if self.lines.len() / 2 > self.room {
            self.leave_out(nodes);
        }
    }

    /// Leaves out the lines that others will keep from being shown.
    fn leave_out(&mut self, nodes: &mut [Node]) {
        let mut lines = std::mem::take(&mut self.lines).into_vec();
        lines.select_nth_unstable_by(self.room, |a, b| b.cmp(a));
        self.left_out = Some(lines[self.room].0);
        for (_, Reverse(index)) in lines.drain(self.room..) {
            omit(nodes, index);
        }
        self.lines = lines.into();
    }
}

/// Counts a child as not shown.
fn omit(nodes: &mut [Node], index: usize) {
    let node = &mut nodes[index];
    let (count, bytes, parent) = (node.objects(), node.line.total_bytes, node.parent);
    (node.members, node.below) = Default::default();
    nodes[parent].line.omitted.add(count, bytes);
}

/// The shown nodes, parents first, the largest siblings first.
fn in_order(nodes: Vec<Node>, heap: &Heap<'_>) -> Vec<TreeLine> {
    let mut children: Vec<Vec<usize>> = nodes.iter().map(|_| Vec::new()).collect();
    for (index, node) in nodes.iter().enumerate().skip(1).filter(|(_, node)| node.shown) {
        children[node.parent].push(index);
    }
    for siblings in &mut children {
        // The stack is taken from its end, so the largest sibling comes last.
        siblings.sort_by_key(|index| (nodes[*index].line.total_bytes, Reverse(*index)));
    }
    let mut open = vec![0];
    let mut lines = Vec::new();
    while let Some(index) = open.pop() {
        let Node { parent, line, .. } = &nodes[index];
        let reference = match (&nodes[*parent].line.what, &line.what) {
            (TreeItem::Object(from), TreeItem::Object(to) | TreeItem::Chain(to)) => {
                heap.references.range(*from).find(|row| heap.references.target(*row) == *to)
            }
            _ => None,
        };
        lines.push(TreeLine { reference, ..line.clone() });
        open.append(&mut children[index]);
    }
    lines
}
