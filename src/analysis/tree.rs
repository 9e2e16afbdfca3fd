//! A dominator tree as text lines: the largest ones, with siblings and chains of one type merged.

mod expand;

use super::dominator_tree::DominatorTree;
use super::preorder::Preorder;
use super::root_groups::{HeldBy, RootGroups};
use crate::model::heap::{Heap, ObjectId, RootKind, TypeId, TypeKind};
use expand::Expander;
use std::collections::BinaryHeap;

/// Limits of [`lines`].
#[derive(Clone, Copy, Debug)]
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
    /// A group of roots. `None` for objects that several groups reach.
    Root(Option<(RootKind, String)>),
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
    /// The item.
    pub what: TreeItem,
    /// The number of objects. For the heap and for roots: all objects below.
    pub count: u64,
    /// Their shallow and external bytes.
    pub own_bytes: u64,
    /// Their retained bytes.
    pub total_bytes: u64,
    /// Objects immediately below this line that are not shown.
    pub omitted: Omitted,
}

/// Objects that are not shown below a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Objects.
    pub count: u64,
    /// Their retained bytes.
    pub bytes: u64,
}

/// Returns the lines to show, depth-first, the largest siblings first.
///
/// Visits each object at most once, so the limits do not change the running time much.
pub fn lines(heap: &Heap<'_>, tree: &DominatorTree, roots: &RootGroups, options: TreeOptions) -> Vec<TreeLine> {
    let preorder = Preorder::of(&tree.dominators);
    let mut nodes = vec![Node {
        parent: 0,
        line: TreeLine { depth: 0, what: TreeItem::Heap, count: 0, own_bytes: 0, total_bytes: 0, omitted: Omitted::default() },
        members: Vec::new(),
        shown: true,
    }];
    let (tops, made_up) = tops(heap, tree, &preorder, roots);
    // What is made up stands for the roots, and its own bytes for nothing. It is an object wherever objects are counted.
    nodes[0].line.count = made_up;
    for &member in tops.iter().flat_map(|(_, members)| members) {
        nodes[0].line.count += u64::from(preorder.end(member) - member);
        let retained = tree.retained.of_number(preorder.number(member));
        nodes[0].line.total_bytes = nodes[0].line.total_bytes.saturating_add(retained);
    }
    let expander = Expander::new(heap, tree, &preorder, nodes[0].line.total_bytes, options);
    let mut pending = BinaryHeap::new();
    for (what, members) in tops {
        add(&mut nodes, &mut pending, 0, expander.child(what, members), &expander);
    }
    let mut left = options.lines.saturating_sub(1);
    while let Some((_, std::cmp::Reverse(index))) = pending.pop() {
        if left == 0 {
            omit(&mut nodes, index);
            continue;
        }
        left -= 1;
        nodes[index].shown = true;
        let children = expander.expand(&mut nodes[index]);
        for child in children {
            add(&mut nodes, &mut pending, index, child, &expander);
        }
    }
    in_order(nodes)
}

/// A line that may be shown.
struct Node {
    parent: usize,
    line: TreeLine,
    /// Positions of the objects, until they are looked at.
    members: Vec<u32>,
    shown: bool,
}

/// The largest comes first; of equal ones, the one that was found first.
type Pending = BinaryHeap<(u64, std::cmp::Reverse<usize>)>;

/// Keeps a child for later, unless it is too small or too deep.
fn add(nodes: &mut Vec<Node>, pending: &mut Pending, parent: usize, mut child: Node, expander: &Expander<'_, '_>) {
    child.parent = parent;
    child.line.depth = nodes[parent].line.depth + 1;
    let (total, index) = (child.line.total_bytes, nodes.len());
    let is_shown = expander.is_shown(&child);
    nodes.push(child);
    match is_shown {
        true => pending.push((total, std::cmp::Reverse(index))),
        false => omit(nodes, index),
    }
}

/// Counts a child as not shown.
fn omit(nodes: &mut [Node], index: usize) {
    let (count, bytes, parent) = (nodes[index].members.len() as u64, nodes[index].line.total_bytes, nodes[index].parent);
    nodes[index].members = Vec::new();
    let omitted = &mut nodes[parent].line.omitted;
    omitted.count += count;
    omitted.bytes = omitted.bytes.saturating_add(bytes);
}

/// What no object of the program dominates, by what keeps it alive, and how many objects above it the runtime made up.
fn tops(heap: &Heap<'_>, tree: &DominatorTree, preorder: &Preorder, roots: &RootGroups) -> (Vec<(TreeItem, Vec<u32>)>, u64) {
    let mut made_up = 0;
    let mut groups: Vec<(TreeItem, Vec<u32>)> =
        roots.groups.iter().map(|group| (TreeItem::Root(Some((group.kind, group.name.clone()))), Vec::new())).collect();
    groups.push((TreeItem::Root(None), Vec::new()));
    let mut open = vec![0];
    while let Some(position) = open.pop() {
        for child in preorder.children(position) {
            let Some(object) = tree.dominators.object(preorder.number(child)) else { continue };
            if heap.is_made_up(object) {
                made_up += u64::from(heap.type_of(object).kind != TypeKind::Root);
                open.push(child);
                continue;
            }
            let group = match roots.holder(object) {
                HeldBy::Group(group) => group as usize,
                HeldBy::Several | HeldBy::None => groups.len() - 1,
            };
            groups[group].1.push(child);
        }
    }
    groups.retain(|(_, members)| !members.is_empty());
    groups.iter_mut().for_each(|(_, members)| members.sort_unstable());
    (groups, made_up)
}

/// The shown nodes, parents first, the largest siblings first.
fn in_order(nodes: Vec<Node>) -> Vec<TreeLine> {
    let mut children: Vec<Vec<usize>> = nodes.iter().map(|_| Vec::new()).collect();
    for (index, node) in nodes.iter().enumerate().skip(1).filter(|(_, node)| node.shown) {
        children[node.parent].push(index);
    }
    for siblings in &mut children {
        // The last one is the first that is taken off the stack.
        siblings.sort_by_key(|index| (nodes[*index].line.total_bytes, std::cmp::Reverse(*index)));
    }
    let mut open = vec![0];
    let mut lines = Vec::new();
    while let Some(index) = open.pop() {
        lines.push(nodes[index].line.clone());
        open.append(&mut children[index]);
    }
    lines
}
