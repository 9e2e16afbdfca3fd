//! The lines below a line.

use super::{Node, Omitted, TreeItem, TreeLine, TreeOptions};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, ObjectId, TypeId};
use crate::model::names::NameId;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// An object is a line by itself only with this share of the live heap; smaller siblings of one
/// type are one line together.
const SINGLE_SHARE: f64 = 0.01;

pub(super) struct Expander<'h, 'a> {
    pub(super) heap: &'h Heap<'a>,
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
    /// [`Below::rows`] while there is no such list.
    rows: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Objects per task. Fewer than twice as many are not divided.
const PART: usize = 1 << 16;

/// The objects immediately below a line: their sums and, if they are shown, the lines for them.
#[derive(Default)]
struct Below {
    count: u64,
    bytes: u64,
    /// Objects that are lines by themselves.
    singles: Vec<u32>,
    /// The others by type, with the bytes that they retain.
    by_type: Vec<(TypeId, Vec<u32>, u64)>,
    /// The row of each type, or [`NONE`].
    rows: Vec<u32>,
    /// Whether there are lines for them.
    shown: bool,
}

impl Below {
    /// The members of a type, and what they retain.
    #[inline]
    fn of_type(&mut self, of: TypeId) -> &mut (TypeId, Vec<u32>, u64) {
        let row = &mut self.rows[of.0 as usize];
        if *row == NONE {
            *row = self.by_type.len() as u32;
            self.by_type.push((of, Vec::new(), 0));
        }
        &mut self.by_type[*row as usize]
    }

    /// Adds another sum.
    fn append(&mut self, mut other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.singles.append(&mut other.singles);
        for (of, mut more, bytes) in other.by_type {
            let (_, members, total) = self.of_type(of);
            members.append(&mut more);
            *total = total.saturating_add(bytes);
        }
    }
}

impl<'h, 'a> Expander<'h, 'a> {
    /// Prepares the lines of this number of objects, which retain `whole`.
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
        let smallest_single =
            if options.merge_types { u64::MAX } else { share(SINGLE_SHARE).max(smallest) };
        let rows = vec![NONE; heap.types.len()];
        Self { heap, tree, options, same, types: by_number, smallest, smallest_single, rows }
    }

    /// Whether a line is large and near enough.
    pub(super) fn is_shown(&self, node: &Node) -> bool {
        node.line.depth <= self.options.depth && node.line.total_bytes >= self.smallest
    }

    /// A line that represents objects at some numbers, which retain `total_bytes`.
    pub(super) fn child(&self, what: TreeItem, members: Vec<u32>, total_bytes: u64) -> Node {
        let line = TreeLine {
            depth: 0,
            what,
            count: members.len() as u64,
            own_bytes: 0,
            total_bytes,
            omitted: Omitted::default(),
            reference: None,
        };
        Node { parent: 0, line, members, below: Vec::new(), shown: false }
    }

    /// Counts what a line represents, and gives the lines below it. What will not be shown is
    /// counted as omitted.
    pub(super) fn expand(&mut self, node: &mut Node) -> Vec<Node> {
        let members = std::mem::take(&mut node.members);
        let mut below = self.below(node.line.depth != self.options.depth);
        match node.line.what {
            TreeItem::Heap | TreeItem::Selection | TreeItem::Root(_) | TreeItem::Part(_) => {
                self.add(members, &mut below);
            }
            TreeItem::Object(object) => {
                let chain = self.chain(members, &mut below);
                self.count(&mut node.line, &chain, &below);
                if chain.len() > 1 {
                    node.line.what = TreeItem::Chain(object);
                }
            }
            TreeItem::Chain(_) | TreeItem::Group(_) => {
                let nested = self.nested(members, &mut below);
                self.count(&mut node.line, &nested, &below);
            }
        }
        let mut parts = std::mem::take(&mut node.below);
        if !below.shown {
            self.rows = below.rows;
            let bytes = parts
                .iter()
                .fold(below.bytes, |sum, part| sum.saturating_add(part.line.total_bytes));
            let count = below.count + parts.iter().map(Node::objects).sum::<u64>();
            node.line.omitted = Omitted { count, bytes };
            return Vec::new();
        }
        parts.append(&mut self.lines(below));
        parts
    }

    /// Objects have what they retain less what those below them retain.
    fn count(&self, line: &mut TreeLine, objects: &[u32], below: &Below) {
        line.count = objects.len() as u64;
        if line.total_bytes < u64::MAX {
            line.own_bytes = line.total_bytes.saturating_sub(below.bytes);
            return;
        }
        // Sums of damaged files may have saturated.
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
    /// objects, and adds all others that they dominate.
    fn chain(&self, start: Vec<u32>, below: &mut Below) -> Vec<u32> {
        let mut chain = start;
        let mut row = 0;
        while let Some(&number) = chain.get(row) {
            row += 1;
            let same = self.same(number);
            let children = self.tree.dominators.children(number).collect();
            let alike = self.in_parts(children, below, |part, below| {
                let mut alike = Vec::new();
                for child in part {
                    match self.same(child) {
                        of if of == same => alike.push(child),
                        of => self.add_typed(below, child, of),
                    }
                }
                alike
            });
            match alike.as_slice() {
                [only] => chain.push(*only),
                several => several.iter().for_each(|child| self.add_typed(below, *child, same)),
            }
        }
        chain
    }

    /// Adds to objects of one type all of the type that they dominate without another type between.
    /// Gives these, and adds all others that they dominate.
    fn nested(&self, start: Vec<u32>, below: &mut Below) -> Vec<u32> {
        self.in_parts(start, below, |mut nested, below| {
            let mut row = 0;
            while let Some(&number) = nested.get(row) {
                row += 1;
                let same = self.same(number);
                for child in self.tree.dominators.children(number) {
                    match self.same(child) {
                        of if of == same => nested.push(child),
                        of => self.add_typed(below, child, of),
                    }
                }
            }
            nested
        })
    }

    /// Calls `each` with parts of many objects side by side, and puts together what it adds and
    /// returns.
    fn in_parts(
        &self,
        objects: Vec<u32>,
        below: &mut Below,
        each: impl Fn(Vec<u32>, &mut Below) -> Vec<u32> + Sync,
    ) -> Vec<u32> {
        if objects.len() < 2 * PART {
            return each(objects, below);
        }
        let shown = below.shown;
        let part = |part: &[u32]| {
            let mut below =
                Below { shown, rows: vec![NONE; self.heap.types.len()], ..Below::default() };
            (each(part.to_vec(), &mut below), below)
        };
        let parts: Vec<(Vec<u32>, Below)> = objects.par_chunks(PART).map(part).collect();
        drop(objects);
        let mut all = Vec::new();
        for (mut part, more) in parts {
            all.append(&mut part);
            below.append(more);
        }
        all
    }

    /// An empty list.
    fn below(&mut self, shown: bool) -> Below {
        Below { shown, rows: std::mem::take(&mut self.rows), ..Below::default() }
    }

    /// Lines for objects below one owner: large ones by themselves, the others by type.
    pub(super) fn group(&mut self, objects: Vec<u32>) -> Vec<Node> {
        let mut below = self.below(true);
        self.add(objects, &mut below);
        self.lines(below)
    }

    fn add(&self, objects: Vec<u32>, below: &mut Below) {
        self.in_parts(objects, below, |part, below| {
            part.into_iter().for_each(|number| self.add_typed(below, number, self.same(number)));
            Vec::new()
        });
    }

    /// Adds an object with the first type of its name.
    #[inline]
    fn add_typed(&self, below: &mut Below, number: u32, of: TypeId) {
        let bytes = self.retained(number);
        below.count += 1;
        below.bytes = below.bytes.saturating_add(bytes);
        if !below.shown {
            return;
        }
        if bytes >= self.smallest_single {
            below.singles.push(number);
            return;
        }
        let (_, members, total) = below.of_type(of);
        members.push(number);
        *total = total.saturating_add(bytes);
    }

    fn lines(&mut self, below: Below) -> Vec<Node> {
        let Below { mut singles, mut by_type, rows, .. } = below;
        self.rows = rows;
        by_type.iter().for_each(|(of, ..)| self.rows[of.0 as usize] = NONE);
        by_type.sort_unstable_by_key(|(of, ..)| *of);
        singles.sort_unstable();
        let single = |number: u32| {
            let what = TreeItem::Object(self.object(number));
            self.child(what, vec![number], self.retained(number))
        };
        let mut lines: Vec<Node> = singles.into_iter().map(single).collect();
        lines.extend(by_type.into_iter().map(|(of, members, total)| match members.as_slice() {
            [only] if !self.options.merge_types => single(*only),
            _ => self.child(TreeItem::Group(of), members, total),
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
