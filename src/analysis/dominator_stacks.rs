//! The dominator tree as weighted stacks, by types.
//!
//! The stack of an object is the path of types that dominate it, under the group of roots that holds the first of them. Its
//! numbers are the object and its bytes, so that what a type has by itself is its shallow bytes, and what it has in total, by
//! counting every stack that has the type once, is what its objects retain.
//!
//! Objects of a type that are dominated by one of the same type are put into its stack: a list of a million elements is one
//! frame. Objects of equal stacks are one entry, so the tree has as many nodes as there are different paths of types.

use super::dominators::Dominators;
use crate::model::heap::Heap;
use crate::model::profile::{StackId, Unit};
use crate::model::stacks::{ValueType, WeightedStacks, WeightedStacksBuilder};
use rustc_hash::FxHashMap;

/// Stacks of types, and what was pruned from them.
pub struct DominatorStacks {
    /// The stacks, with one or two values per entry.
    pub stacks: WeightedStacks,
    /// Objects in subtrees that were pruned.
    pub pruned_objects: u64,
    /// Bytes of these objects.
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
/// Subtrees with less than `min_share` of all bytes (0.01 is 1 %) become one frame `(… N objects, pruned)` below their parent, so
/// totals do not change. Needs 4 bytes for each live object and about 60 for each path of types.
pub fn of(heap: &Heap<'_>, dominators: &Dominators, title: &str, min_share: f64, counted: Counted) -> DominatorStacks {
    let mut tree = TypeTree::default();
    let groups = Groups::of(heap, dominators);
    let mut node_of = vec![0u32; dominators.len() + 1];
    for (number, &object) in (1u32..).zip(dominators.order()) {
        let frame = heap.type_of[object.index()].0;
        let parent = match dominators.dominator_of_number(number) {
            0 => groups.of_object(number).map_or(0, |group| tree.child(0, heap.types.len() as u32 + group)),
            dominator => node_of[dominator as usize],
        };
        let node = if tree.nodes[parent as usize].frame == frame { parent } else { tree.child(parent, frame) };
        tree.nodes[node as usize].add(1, heap.shallow.get(object.index()));
        node_of[number as usize] = node;
    }
    for (object, bytes) in &heap.external {
        if let Some(number) = dominators.number(*object) {
            tree.nodes[node_of[number as usize] as usize].add(0, *bytes);
        }
    }
    drop(node_of);
    build(heap, &groups, &tree.nodes, title, min_share, counted)
}

/// A path of types.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// A type, or after all types a group of roots.
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
        Self { nodes: vec![Node { parent: 0, frame: u32::MAX, objects: 0, bytes: 0 }], children: FxHashMap::default() }
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

/// Which group of roots holds the objects that only the set of roots dominates.
struct Groups {
    names: Vec<String>,
    /// By number; [`Groups::SEVERAL`] for objects that several hold.
    of: FxHashMap<u32, u32>,
    /// The heap has an object for the set of roots, which is the first frame then.
    has_root_object: bool,
}

impl Groups {
    const SEVERAL: u32 = 0;

    fn of(heap: &Heap<'_>, dominators: &Dominators) -> Self {
        let mut groups =
            Self { names: vec![SEVERAL_ROOTS.to_owned()], of: FxHashMap::default(), has_root_object: heap.root_object().is_some() };
        if groups.has_root_object {
            return groups;
        }
        let mut numbers = FxHashMap::default();
        for root in &heap.roots {
            let Some(number) = dominators.number(root.object) else { continue };
            let group = *numbers.entry((root.kind, root.group)).or_insert_with(|| {
                let name = heap.names.text(root.group);
                groups.names.push(if name.is_empty() { format!("({})", root.kind.name()) } else { name.to_owned() });
                groups.names.len() as u32 - 1
            });
            let known = groups.of.entry(number).or_insert(group);
            if *known != group {
                *known = Self::SEVERAL;
            }
        }
        groups
    }

    /// The group of a number. An object that is no root but that only the set of roots dominates is reached from several.
    fn of_object(&self, number: u32) -> Option<u32> {
        (!self.has_root_object).then(|| self.of.get(&number).copied().unwrap_or(Self::SEVERAL))
    }
}

/// Cuts what is too small and gives the rest names.
fn build(heap: &Heap<'_>, groups: &Groups, nodes: &[Node], title: &str, min_share: f64, counted: Counted) -> DominatorStacks {
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
        let frame = match heap.types.get(node.frame as usize) {
            Some(of) => match heap.names.text(of.name) {
                "" => builder.function("<unnamed>", heap.names.text(of.namespace)),
                name => builder.function(name, heap.names.text(of.namespace)),
            },
            None => builder.function(&groups.names[node.frame as usize - heap.types.len()], ""),
        };
        stacks[index] = builder.push(stacks[parent], frame);
        if node.objects > 0 || node.bytes > 0 {
            builder.add(track, stacks[index], &values(node.objects, node.bytes)[skipped..]);
        }
    }
    for (index, (objects, bytes)) in pruned.into_iter().enumerate().filter(|(_, (objects, _))| *objects > 0) {
        let noun = if objects == 1 { "object" } else { "objects" };
        let frame = builder.function(&format!("(… {objects} {noun}, pruned)"), "");
        let stack = builder.push(stacks[index], frame);
        builder.add(track, stack, &values(objects, bytes)[skipped..]);
    }
    DominatorStacks { stacks: builder.finish(), pruned_objects, pruned_bytes }
}

/// Each path with all that go on from it.
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
