//! The lines below the live heap: groups of roots, and isolates with theirs.

use super::{Node, TreeItem};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::owners::{TypeOwner, TypeOwners};
use crate::analysis::root_groups::{HeldBy, RootGroups};
use crate::model::heap::{Heap, ObjectId, ThreadKind, TypeKind};
use std::collections::BTreeMap;

/// Returns the objects that no object of the program dominates, by what keeps them alive, and the
/// number of synthetic objects above them.
pub(super) fn of(heap: &Heap<'_>, tree: &DominatorTree, roots: &RootGroups) -> (Vec<Node>, u64) {
    let finder =
        Finder { tree, roots, heap, owners: TypeOwners::of(heap), isolates: heap.isolates() };
    let mut made_up = 0;
    let mut members = ByHolder::default();
    let mut isolates = Vec::new();
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        for child in tree.dominators.children(number) {
            let object = finder.object(child);
            if !heap.is_made_up(object) {
                finder.add(&mut members, child);
                continue;
            }
            made_up += u64::from(heap.type_of(object).kind != TypeKind::Root);
            let list = if finder.isolates.contains(&object) { &mut isolates } else { &mut open };
            list.push(child);
        }
    }
    let mut nodes: Vec<Node> =
        isolates.into_iter().map(|isolate| finder.isolate(isolate)).collect();
    nodes.append(&mut finder.by_group(members));
    (nodes, made_up)
}

/// Objects by what keeps them alive. There may be millions, so they are in no other list.
#[derive(Default)]
struct ByHolder {
    groups: BTreeMap<u32, Vec<u32>>,
    kinds: BTreeMap<u32, Vec<u32>>,
    several: Vec<u32>,
}

struct Finder<'t, 'h, 'a> {
    heap: &'h Heap<'a>,
    tree: &'t DominatorTree,
    roots: &'t RootGroups,
    owners: TypeOwners,
    isolates: Vec<ObjectId>,
}

impl Finder<'_, '_, '_> {
    fn object(&self, number: u32) -> ObjectId {
        // Only number 0 has no object, and it is never a child.
        self.tree.dominators.object(number).unwrap_or(ObjectId(0))
    }

    fn isolate(&self, number: u32) -> Node {
        let object = self.object(number);
        let mut threads =
            self.heap.threads.iter().filter(|thread| thread.kind == ThreadKind::Isolate);
        let thread = threads.find(|thread| thread.object == Some(object));
        let name = thread.map(|thread| thread.text(&self.heap.names)).unwrap_or_default();
        let mut members = ByHolder::default();
        self.tree.dominators.children(number).for_each(|child| self.add(&mut members, child));
        let below = self.by_group(members);
        self.node(TreeItem::Part(TypeOwner { name, object: Some(object) }), Vec::new(), below)
    }

    fn add(&self, members: &mut ByHolder, member: u32) {
        match self.roots.holder(&self.tree.dominators, self.object(member)) {
            HeldBy::Group(group) => members.groups.entry(group).or_default(),
            HeldBy::Kind(kind) => members.kinds.entry(kind).or_default(),
            HeldBy::Several | HeldBy::None => &mut members.several,
        }
        .push(member);
    }

    /// Returns a line for each group of roots, and one for the objects that several groups hold.
    fn by_group(&self, ByHolder { groups, kinds, several }: ByHolder) -> Vec<Node> {
        let group = |(number, members): (u32, Vec<u32>)| {
            let group = &self.roots.groups[number as usize];
            self.node(TreeItem::Root(Some((group.kind, group.name.clone()))), members, Vec::new())
        };
        let mut nodes: Vec<Node> = groups.into_iter().map(group).collect();
        let kind = |(number, members): (u32, Vec<u32>)| {
            let name = self.roots.kinds[number as usize].name.clone();
            let (members, below) = self.by_owner(members);
            self.node(TreeItem::Part(TypeOwner { name, object: None }), members, below)
        };
        let mut below: Vec<Node> = kinds.into_iter().map(kind).collect();
        let (members, mut owners) = self.by_owner(several);
        below.append(&mut owners);
        if !members.is_empty() || !below.is_empty() {
            nodes.push(self.node(TreeItem::Root(None), members, below));
        }
        nodes
    }

    /// Returns a line for each class loader or library, in formats that have them.
    fn by_owner(&self, members: Vec<u32>) -> (Vec<u32>, Vec<Node>) {
        if !self.owners.divide() {
            return (members, Vec::new());
        }
        let mut by_owner: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for member in members {
            by_owner
                .entry(self.owners.owner(self.heap, self.object(member)))
                .or_default()
                .push(member);
        }
        if by_owner.len() == 1 {
            return (by_owner.into_values().flatten().collect(), Vec::new());
        }
        let part = |(owner, members): (u32, Vec<u32>)| {
            self.node(TreeItem::Part(self.owners.list[owner as usize].clone()), members, Vec::new())
        };
        (Vec::new(), by_owner.into_iter().map(part).collect())
    }

    fn node(&self, what: TreeItem, mut members: Vec<u32>, below: Vec<Node>) -> Node {
        members.sort_unstable();
        let retained = |member: &u32| self.tree.retained.of_number(*member);
        let own = members.iter().map(retained);
        let total_bytes =
            own.chain(below.iter().map(|node| node.line.total_bytes)).fold(0, u64::saturating_add);
        let own =
            members.iter().map(|member| u64::from(self.tree.dominators.end(*member) - member));
        let count = own.chain(below.iter().map(|node| node.line.count)).sum();
        Node { members: members.into(), below, ..Node::new(what, count, total_bytes) }
    }
}
