//! The lines below a line.

use super::{Node, Omitted, TreeItem, TreeLine, TreeOptions};
use crate::analysis::dominator_tree::DominatorTree;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeIds};
use crate::model::names::NameId;
use crate::parallel;
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
    /// The types of objects by number, from 1. `None` if too few objects are shown to be worth it.
    types: Option<&'h TypeIds>,
    /// The minimum retained bytes of a line.
    smallest: u64,
    /// The minimum retained bytes of an object that is a line by itself.
    smallest_single: u64,
    /// The buffer for [`Below::rows`] between uses.
    rows: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Objects per task. Fewer than twice as many are not divided.
const PART: usize = 1 << 16;

/// The objects of one line. Most objects of a heap dominate nothing; it is enough to count these,
/// because no lines are below them.
#[derive(Default)]
pub(super) struct Members {
    /// Numbers of objects, including all that dominate others.
    numbers: Vec<u32>,
    /// The number of objects that are not in the list, and the bytes that they retain.
    leaves: u64,
    leaf_bytes: u64,
}

impl Members {
    pub(super) fn len(&self) -> u64 {
        self.numbers.len() as u64 + self.leaves
    }

    /// Adds an object, which retains `bytes`.
    #[inline]
    fn add(&mut self, number: u32, bytes: u64, is_leaf: bool) {
        if is_leaf {
            self.leaves += 1;
            self.leaf_bytes = self.leaf_bytes.saturating_add(bytes);
        } else {
            self.numbers.push(number);
        }
    }

    fn append(&mut self, mut other: Self) {
        self.numbers.append(&mut other.numbers);
        self.leaves += other.leaves;
        self.leaf_bytes = self.leaf_bytes.saturating_add(other.leaf_bytes);
    }
}

impl From<Vec<u32>> for Members {
    fn from(numbers: Vec<u32>) -> Self {
        Self { numbers, ..Self::default() }
    }
}

/// The objects of a type below a line.
struct OfType {
    of: TypeId,
    /// The number of the first object.
    first: u32,
    members: Members,
    /// Retained bytes.
    bytes: u64,
}

/// The objects immediately below a line: their sums and, if they are shown, the lines for them.
#[derive(Default)]
struct Below {
    count: u64,
    bytes: u64,
    /// Objects that are lines by themselves.
    singles: Vec<u32>,
    /// The other objects, by type.
    by_type: Vec<OfType>,
    /// The row of each type, or [`NONE`].
    rows: Vec<u32>,
    /// Whether lines for the objects are shown.
    shown: bool,
}

impl Below {
    /// The objects of a type. If there are none yet, `first` becomes the first.
    #[inline]
    fn of_type(&mut self, of: TypeId, first: u32) -> &mut OfType {
        let row = &mut self.rows[of.0 as usize];
        if *row == NONE {
            *row = self.by_type.len() as u32;
            self.by_type.push(OfType { of, first, members: Members::default(), bytes: 0 });
        }
        &mut self.by_type[*row as usize]
    }

    /// Adds another sum.
    fn append(&mut self, mut other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.singles.append(&mut other.singles);
        for OfType { of, first, members, bytes } in other.by_type {
            let all = self.of_type(of, first);
            all.members.append(members);
            all.bytes = all.bytes.saturating_add(bytes);
        }
    }
}

impl<'h, 'a> Expander<'h, 'a> {
    /// Prepares the lines of a tree of this many objects, which retain `whole`.
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

    /// Counts the objects of a line, and returns the lines below it. Objects that will not be shown
    /// are counted as omitted.
    pub(super) fn expand(&mut self, node: &mut Node) -> Vec<Node> {
        let members = std::mem::take(&mut node.members);
        let mut below = self.below(node.line.depth != self.options.depth);
        match node.line.what {
            TreeItem::Heap | TreeItem::Selection | TreeItem::Root(_) | TreeItem::Part(_) => {
                self.add(members.numbers, &mut below);
            }
            TreeItem::Object(object) => {
                let chain = self.chain(members.numbers, &mut below);
                if chain.len() > 1 {
                    node.line.what = TreeItem::Chain(object);
                }
                self.count(&mut node.line, &chain.into(), &below);
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

    /// The own bytes of objects are what they retain less what the objects below them retain.
    fn count(&self, line: &mut TreeLine, objects: &Members, below: &Below) {
        line.count = objects.len();
        if line.total_bytes < u64::MAX {
            line.own_bytes = line.total_bytes.saturating_sub(below.bytes);
            return;
        }
        // Sums of damaged files may have saturated.
        line.own_bytes = objects.numbers.iter().fold(objects.leaf_bytes, |sum, number| {
            sum.saturating_add(self.heap.own_bytes(self.object(*number)))
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
                        typed if typed == same => alike.push(child),
                        typed => self.add_typed(below, child, typed),
                    }
                }
                alike
            });
            match alike.concat().as_slice() {
                [only] => chain.push(*only),
                several => several.iter().for_each(|child| self.add_typed(below, *child, same)),
            }
        }
        chain
    }

    /// Adds to objects of one type all of the type that they dominate without another type between.
    /// Gives these, and adds all others that they dominate.
    fn nested(&self, start: Members, below: &mut Below) -> Members {
        let Members { numbers, leaves, leaf_bytes } = start;
        let parts = self.in_parts(numbers, below, |numbers, below| {
            let mut nested = Members::from(numbers);
            let same = nested.numbers.first().map(|first| self.same(*first));
            let mut row = 0;
            while let Some(&number) = nested.numbers.get(row) {
                row += 1;
                for child in self.tree.dominators.children(number) {
                    match self.same(child) {
                        typed if Some(typed) == same => {
                            nested.add(child, self.retained(child), self.is_leaf(child));
                        }
                        typed => self.add_typed(below, child, typed),
                    }
                }
            }
            nested
        });
        let mut nested = Members { numbers: Vec::new(), leaves, leaf_bytes };
        parts.into_iter().for_each(|part| nested.append(part));
        nested
    }

    /// Calls `each` with parts of the objects in parallel, and merges the results into `below`.
    /// Returns the result of each part.
    fn in_parts<T: Send>(
        &self,
        objects: Vec<u32>,
        below: &mut Below,
        each: impl Fn(Vec<u32>, &mut Below) -> T + Sync,
    ) -> Vec<T> {
        if objects.len() < 2 * PART {
            return vec![each(objects, below)];
        }
        let shown = below.shown;
        let part = |part: &[u32]| {
            let mut below =
                Below { shown, rows: vec![NONE; self.heap.types.len()], ..Below::default() };
            (each(part.to_vec(), &mut below), below)
        };
        let parts = parallel::map(objects.chunks(PART), part);
        drop(objects);
        let added = parts.into_iter().map(|(part, more)| {
            below.append(more);
            part
        });
        added.collect()
    }

    /// Creates an empty [`Below`].
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
        let all = below.of_type(of, number);
        all.members.add(number, bytes, self.is_leaf(number));
        all.bytes = all.bytes.saturating_add(bytes);
    }

    fn lines(&mut self, below: Below) -> Vec<Node> {
        let Below { mut singles, mut by_type, rows, .. } = below;
        self.rows = rows;
        by_type.iter().for_each(|all| self.rows[all.of.0 as usize] = NONE);
        by_type.sort_unstable_by_key(|all| all.of);
        singles.sort_unstable();
        let single = |number: u32| {
            let what = TreeItem::Object(self.object(number));
            Node::of(what, vec![number].into(), self.retained(number))
        };
        let mut lines: Vec<Node> = singles.into_iter().map(single).collect();
        let group = |OfType { of, first, members, bytes }| match members.len() {
            1 if !self.options.merge_types => single(first),
            _ => Node::of(TreeItem::Group(of), members, bytes),
        };
        lines.extend(by_type.into_iter().map(group));
        lines
    }

    fn object(&self, number: u32) -> ObjectId {
        // Only number 0 has no object, and it is never a member.
        self.tree.dominators.object(number).unwrap_or(ObjectId(0))
    }

    fn retained(&self, number: u32) -> u64 {
        self.tree.retained.of_number(number)
    }

    /// Whether an object dominates no other.
    #[inline]
    fn is_leaf(&self, number: u32) -> bool {
        self.tree.dominators.end(number) == number + 1
    }

    fn same(&self, number: u32) -> TypeId {
        let known = self.types.and_then(|types| types.get(number as usize - 1));
        let type_id = known.unwrap_or_else(|| self.heap.type_id(self.object(number)));
        self.same[type_id.0 as usize]
    }
}
