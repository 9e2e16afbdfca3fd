//! The dominator tree as weighted stacks, by types.
//!
//! The stack of an object is the path of types that dominate it, under the group of roots that
//! holds the first of them. Class objects appear as the class that they represent. The numbers of a
//! stack are its objects and their bytes. So the self value of a type is its shallow bytes, and its
//! total, which counts every stack with the type once, is the bytes that its objects retain.
//!
//! Objects of a type that are dominated by one of the same type are put into its stack: a list of a
//! million elements is one frame. Objects of equal stacks are one entry, so the tree has as many
//! nodes as there are different paths of types.

use super::dominators::Dominators;
use super::graph::Graph;
use super::owners::TypeOwners;
use super::root_groups::{HeldBy, RootGroups};
use crate::model::heap::{Heap, ObjectId, TypeId, TypeKind};
use crate::model::profile::{StackId, Unit};
use crate::model::stacks::{ValueType, WeightedStacks, WeightedStacksBuilder};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Stacks of types, and the objects that were pruned from them.
pub struct DominatorStacks {
    /// The stacks, with one or two values per entry.
    pub stacks: WeightedStacks,
    /// Objects in subtrees that were pruned.
    pub pruned_objects: u64,
    /// Bytes of the pruned objects.
    pub pruned_bytes: u64,
}

/// The values of each stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// `inuse_objects` and `inuse_space`.
    ObjectsAndBytes,
    /// `inuse_space`, for formats with room for one number.
    Bytes,
}

/// The first frame of stacks that no single group of roots holds.
pub const SEVERAL_ROOTS: &str = "(held by more than one root)";

/// Converts the dominator tree of a heap to weighted stacks.
///
/// Subtrees with less than `min_share` of all bytes (0.01 is 1 %) become one frame `(… N objects,
/// pruned)` below their parent, so totals do not change. Needs 4 bytes for each live object and
/// about 60 for each path of types.
pub fn of(
    heap: &Heap<'_>,
    dominators: &Dominators,
    title: &str,
    min_share: f64,
    counted: Counted,
) -> DominatorStacks {
    let mut tree = TypeTree::default();
    let mut starts = Starts::of(heap, dominators);
    let mut node_of = vec![0u32; dominators.len() + 1];
    for (number, &object) in (1u32..).zip(dominators.order()) {
        let frame = starts.frame(object);
        let dominator = dominators.dominator_of_number(number);
        let above = dominators.object(dominator);
        let parent = if above.is_none_or(|above| heap.is_made_up(above)) {
            starts.start(&mut tree, object, above.map_or(0, |_| node_of[dominator as usize]))
        } else {
            node_of[dominator as usize]
        };
        let node = if tree.nodes[parent as usize].frame == frame {
            parent
        } else {
            tree.child(parent, frame)
        };
        if heap.type_of(object).kind != TypeKind::Root {
            tree.nodes[node as usize].add(1, heap.shallow.get(object.index()));
        }
        node_of[number as usize] = node;
    }
    for (object, bytes) in &heap.external {
        if let Some(number) = dominators.number(*object) {
            tree.nodes[node_of[number as usize] as usize].add(0, *bytes);
        }
    }
    drop(node_of);
    build(&starts, &tree.nodes, title, min_share, counted)
}

/// A path of types.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// A type as returned by [`Heap::merged_type`]; larger numbers are names of [`Starts`].
    frame: u32,
    objects: u64,
    bytes: u64,
}

impl Node {
    fn add(&mut self, objects: u64, bytes: u64) {
        self.objects += objects;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Paths of types. A path's parent has a smaller number; 0 is the empty path.
struct TypeTree {
    nodes: Vec<Node>,
    children: FxHashMap<u64, u32>,
}

impl Default for TypeTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node { parent: 0, frame: u32::MAX, objects: 0, bytes: 0 }],
            children: FxHashMap::default(),
        }
    }
}

impl TypeTree {
    fn child(&mut self, parent: u32, frame: u32) -> u32 {
        *self.children.entry(u64::from(parent) << 32 | u64::from(frame)).or_insert_with(|| {
            self.nodes.push(Node { parent, frame, objects: 0, bytes: 0 });
            self.nodes.len() as u32 - 1
        })
    }
}

/// The first frames of stacks: isolates, groups of roots, and class loaders or libraries.
struct Starts<'h, 'a> {
    heap: &'h Heap<'a>,
    dominators: &'h Dominators,
    roots: RootGroups,
    owners: TypeOwners,
    isolates: Vec<ObjectId>,
    /// The starts in use, by number, and the number of each.
    starts: Vec<Start>,
    numbers: FxHashMap<Start, u32>,
    /// The frame of the first start: the number after those of the types.
    first: u32,
}

/// A frame that is not a type. Groups, kinds and owners are indexes into [`RootGroups`] and
/// [`TypeOwners`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Start {
    Isolate(ObjectId),
    Group(u32),
    Kind(u32),
    Several,
    Owner(u32),
}

impl<'h, 'a> Starts<'h, 'a> {
    fn of(heap: &'h Heap<'a>, dominators: &'h Dominators) -> Self {
        let roots = RootGroups::of_dominators(heap, &Graph::of(heap), dominators);
        let (owners, isolates) = (TypeOwners::of(heap), heap.isolates());
        let first = (heap.types.len() + heap.classes.len()) as u32;
        Self {
            heap,
            dominators,
            roots,
            owners,
            isolates,
            starts: Vec::new(),
            numbers: FxHashMap::default(),
            first,
        }
    }

    #[inline]
    fn frame(&mut self, object: ObjectId) -> u32 {
        if self.heap.is_made_up(object) && self.isolates.contains(&object) {
            self.number(Start::Isolate(object))
        } else {
            self.heap.merged_type(object).0
        }
    }

    /// Returns the path below which to put an object that no object of the program dominates.
    /// `above` is the path of the synthetic object that dominates it: an isolate is the first frame
    /// of its objects, and other synthetic objects represent all roots.
    fn start(&mut self, tree: &mut TypeTree, object: ObjectId, above: u32) -> u32 {
        let start = tree.nodes[above as usize]
            .frame
            .checked_sub(self.first)
            .and_then(|start| self.starts.get(start as usize));
        let path = if let Some(Start::Isolate(_)) = start { above } else { 0 };
        if self.heap.is_made_up(object) {
            return path;
        }
        let (start, is_divided) = match self.roots.holder(self.dominators, object) {
            HeldBy::Group(group) => (Start::Group(group), false),
            HeldBy::Kind(kind) => (Start::Kind(kind), self.owners.divide()),
            HeldBy::Several | HeldBy::None => (Start::Several, self.owners.divide()),
        };
        let path = tree.child(path, self.number(start));
        if is_divided {
            tree.child(path, self.number(Start::Owner(self.owners.owner(self.heap, object))))
        } else {
            path
        }
    }

    fn number(&mut self, start: Start) -> u32 {
        let starts = &mut self.starts;
        let number = *self.numbers.entry(start).or_insert_with(|| {
            starts.push(start);
            starts.len() as u32 - 1
        });
        self.first + number
    }

    /// The name and namespace of a frame.
    fn text(&self, frame: u32) -> (Cow<'_, str>, &str) {
        let Some(start) = frame.checked_sub(self.first) else {
            let shown = self.heap.shown(TypeId(frame));
            let name = self.heap.names.text(shown.name);
            return (
                if name.is_empty() { "<unnamed>" } else { name }.into(),
                self.heap.qualifier(&shown),
            );
        };
        let name: Cow<'_, str> = match self.starts[start as usize] {
            Start::Isolate(object) => {
                let thread = self.heap.threads.iter().find(|thread| thread.object == Some(object));
                thread.map(|thread| thread.text(&self.heap.names)).unwrap_or_default().into()
            }
            Start::Group(group) => {
                let group = &self.roots.groups[group as usize];
                if group.name.is_empty() {
                    format!("({})", group.kind.name()).into()
                } else {
                    group.name.as_str().into()
                }
            }
            Start::Kind(kind) => self.roots.kinds[kind as usize].name.as_str().into(),
            Start::Several => SEVERAL_ROOTS.into(),
            Start::Owner(owner) => self.owners.list[owner as usize].name.as_str().into(),
        };
        (name, "")
    }
}

/// Prunes small subtrees and names the others.
fn build(
    starts: &Starts<'_, '_>,
    nodes: &[Node],
    title: &str,
    min_share: f64,
    counted: Counted,
) -> DominatorStacks {
    let total = sums(nodes);
    let least = (total[0].bytes as f64 * min_share).ceil() as u64;
    let types = [
        ValueType { name: "inuse_objects".into(), unit: Unit::Count },
        ValueType { name: "inuse_space".into(), unit: Unit::Bytes },
    ];
    let skipped = usize::from(counted == Counted::Bytes);
    let mut builder = WeightedStacksBuilder::new(title, types[skipped..].to_vec());
    let track = builder.track("heap");
    let kept = |node: usize| node == 0 || total[node].bytes >= least;
    let mut pruned = vec![(0u64, 0u64); nodes.len()];
    let mut stacks = vec![StackId::EMPTY; nodes.len()];
    let (mut pruned_objects, mut pruned_bytes) = (0, 0u64);
    for (index, node) in nodes.iter().enumerate().skip(1) {
        let parent = node.parent as usize;
        if !kept(index) {
            if kept(parent) {
                pruned[parent].0 += total[index].objects;
                pruned[parent].1 = pruned[parent].1.saturating_add(total[index].bytes);
                pruned_objects += total[index].objects;
                pruned_bytes = pruned_bytes.saturating_add(total[index].bytes);
            }
            continue;
        }
        let (name, namespace) = starts.text(node.frame);
        let frame = builder.function(&name, namespace);
        stacks[index] = builder.push(stacks[parent], frame);
        if node.objects > 0 || node.bytes > 0 {
            builder.add(track, stacks[index], &values(node.objects, node.bytes)[skipped..]);
        }
    }
    for (index, (objects, bytes)) in
        pruned.into_iter().enumerate().filter(|(_, (objects, _))| *objects > 0)
    {
        let noun = if objects == 1 { "object" } else { "objects" };
        let frame = builder.function(&format!("(… {objects} {noun}, pruned)"), "");
        let stack = builder.push(stacks[index], frame);
        builder.add(track, stack, &values(objects, bytes)[skipped..]);
    }
    DominatorStacks { stacks: builder.finish(), pruned_objects, pruned_bytes }
}

/// Returns the sums of each node and all nodes below it.
fn sums(nodes: &[Node]) -> Vec<Node> {
    let mut total = nodes.to_vec();
    for index in (1..total.len()).rev() {
        let Node { parent, objects, bytes, .. } = total[index];
        total[parent as usize].add(objects, bytes);
    }
    total
}

fn values(objects: u64, bytes: u64) -> [i64; 2] {
    [objects, bytes].map(|value| i64::try_from(value).unwrap_or(i64::MAX))
}
