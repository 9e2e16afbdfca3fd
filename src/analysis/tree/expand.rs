//! The lines below a line.

use super::{Node, Omitted, TreeItem, TreeLine, TreeOptions};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, ObjectId, TypeId};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// An object is a line by itself only with this share of the live heap; smaller siblings of one
/// type are one line together.
const SINGLE_SHARE: f64 = 0.01;

pub(super) struct Expander<'h, 'a> {
    heap: &'h Heap<'a>,
    tree: &'h DominatorTree,
    pub(super) options: TreeOptions,
    /// The first type with the same name and namespace, by type.
    same: Vec<TypeId>,
    /// By number, from 1, if that is worth it.
    types: Option<&'h [TypeId]>,
    /// The smallest line.
    smallest: u64,
    /// The smallest object that is a line by itself.
    smallest_single: u64,
}

impl<'h, 'a> Expander<'h, 'a> {
    /// For the lines of so many objects, which retain `whole`.
    pub(super) fn new(
        heap: &'h Heap<'a>,
        tree: &'h DominatorTree,
        objects: u64,
        whole: u64,
        options: TreeOptions,
    ) -> Self {
        let by_number = tree.types_for(heap, objects);
        let mut first: FxHashMap<(NameId, NameId), TypeId> = FxHashMap::default();
        let types = heap.types.iter().enumerate();
        let same = types
            .map(|(row, kind)| {
                *first.entry((kind.name, kind.namespace)).or_insert(TypeId(row as u32))
            })
            .collect();
        let share = |share: f64| ((whole as f64 * share).ceil() as u64).max(1);
        let smallest = share(options.min_share);
        let smallest_single = match options.merge_types {
            true => u64::MAX,
            false => share(SINGLE_SHARE).max(smallest),
        };
        Self { heap, tree, options, same, types: by_number, smallest, smallest_single }
    }

    /// Whether a line is large and near enough.
    pub(super) fn is_shown(&self, node: &Node) -> bool {
        node.line.depth <= self.options.depth && node.line.total_bytes >= self.smallest
    }

    /// A line that represents objects at some numbers.
    pub(super) fn child(&self, what: TreeItem, members: Vec<u32>) -> Node {
        let total_bytes =
            members.iter().fold(0_u64, |sum, member| sum.saturating_add(self.retained(*member)));
        let line = TreeLine {
            depth: 0,
            what,
            count: members.len() as u64,
            own_bytes: 0,
            total_bytes,
            omitted: Omitted::default(),
        };
        Node { parent: 0, line, members, below: Vec::new(), shown: false }
    }

    /// Counts what a line represents, and gives the lines below it. What will not be shown is
    /// counted as omitted.
    pub(super) fn expand(&self, node: &mut Node) -> Vec<Node> {
        let members = std::mem::take(&mut node.members);
        let below = match node.line.what {
            TreeItem::Heap | TreeItem::Selection | TreeItem::Root(_) | TreeItem::Part(_) => members,
            TreeItem::Object(object) => {
                let (absorbed, below) = self.chain(members);
                self.count(&mut node.line, &absorbed, &below);
                if absorbed.len() > 1 {
                    node.line.what = TreeItem::Chain(object);
                }
                below
            }
            TreeItem::Chain(_) | TreeItem::Group(_) => {
                let (absorbed, below) = self.nested(members);
                self.count(&mut node.line, &absorbed, &below);
                below
            }
        };
        let mut parts = std::mem::take(&mut node.below);
        if node.line.depth == self.options.depth {
            let own = below.iter().map(|number| self.retained(*number));
            let bytes = own
                .chain(parts.iter().map(|part| part.line.total_bytes))
                .fold(0, u64::saturating_add);
            let count = below.len() as u64 + parts.iter().map(Node::objects).sum::<u64>();
            node.line.omitted = Omitted { count, bytes };
            return Vec::new();
        }
        parts.append(&mut self.group(below));
        parts
    }

    /// Objects have what they retain less what those below them retain.
    fn count(&self, line: &mut TreeLine, objects: &[u32], below: &[u32]) {
        line.count = objects.len() as u64;
        if line.total_bytes < u64::MAX {
            let below = below.iter().map(|number| self.retained(*number));
            line.own_bytes = below.fold(line.total_bytes, u64::saturating_sub);
            return;
        }
        // Sums of damaged files may have come to an end.
        line.own_bytes = objects.iter().fold(0_u64, |sum, number| {
            let object = self.object(*number);
            let own = self
                .heap
                .shallow
                .get(object.index())
                .saturating_add(self.heap.external_bytes(object));
            sum.saturating_add(own)
        });
    }

    /// Follows an object to the only one of its type that it dominates, and so on. Gives these
    /// objects, and all others that they dominate.
    fn chain(&self, start: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
        let mut chain = start;
        let mut below = Vec::new();
        let mut row = 0;
        while let Some(&number) = chain.get(row) {
            row += 1;
            let before = below.len();
            below.extend(self.tree.dominators.children(number));
            let mut same =
                (before..below.len()).filter(|child| self.same(below[*child]) == self.same(number));
            if let (Some(only), None) = (same.next(), same.next()) {
                chain.push(below.swap_remove(only));
            }
        }
        (chain, below)
    }

    /// Adds to objects of one type all of the type that they dominate without another type between.
    /// Gives these, and all others that they dominate.
    fn nested(&self, start: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
        let mut nested = start;
        let mut below = Vec::new();
        let mut row = 0;
        while let Some(&number) = nested.get(row) {
            row += 1;
            let same = self.same(number);
            for child in self.tree.dominators.children(number) {
                if self.same(child) == same { nested.push(child) } else { below.push(child) }
            }
        }
        (nested, below)
    }

    /// Lines for objects below one owner: large ones by themselves, the others by type.
    pub(super) fn group(&self, objects: Vec<u32>) -> Vec<Node> {
        let mut lines = Vec::new();
        let mut by_type: Vec<(TypeId, Vec<u32>)> = Vec::new();
        let mut row_of: FxHashMap<TypeId, usize> = FxHashMap::default();
        // The next one is often of the type of the one before.
        let mut last = None;
        for number in objects {
            if self.retained(number) >= self.smallest_single {
                lines.push(self.child(TreeItem::Object(self.object(number)), vec![number]));
                continue;
            }
            let of = self.same(number);
            let row = match last {
                Some((before, row)) if before == of => row,
                _ => *row_of.entry(of).or_insert_with(|| {
                    by_type.push((of, Vec::new()));
                    by_type.len() - 1
                }),
            };
            last = Some((of, row));
            by_type[row].1.push(number);
        }
        by_type.sort_unstable_by_key(|(of, _)| *of);
        lines.sort_by_key(|line| line.members[0]);
        lines.extend(by_type.into_iter().map(|(of, members)| match members.as_slice() {
            [only] if !self.options.merge_types => {
                self.child(TreeItem::Object(self.object(*only)), members)
            }
            _ => self.child(TreeItem::Group(of), members),
        }));
        lines
    }

    fn object(&self, number: u32) -> ObjectId {
        // Only number 0 has no object, and it is never a member.
        self.tree.dominators.object(number).unwrap_or(ObjectId(0))
    }

    fn retained(&self, number: u32) -> u64 {
        self.tree.retained.of_number(number)
    }

    fn same(&self, number: u32) -> TypeId {
        let of = match self.types {
            Some(types) => types[number as usize - 1],
            None => self.heap.type_id(self.object(number)),
        };
        self.same[of.0 as usize]
    }
}
