//! The dominator tree as the verdict reads it: numbers with roles, and groups of one type.

use super::Surveyed;
use crate::analysis::collections::{CollectionKind, Collections};
use crate::analysis::owners::TypeOwners;
use crate::model::heap::{Heap, Label, LabelKind, ObjectId, Role, TypeId, TypeIds, TypeKind};
use crate::parallel::{self, PART, lock};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::Mutex;

/// A chain or a tree of objects of one type has at least this many below its first.
pub(super) const LEAST_CHAIN: usize = 20;

/// Types that are found again without a look at the hash table, if their numbers differ.
const RECENT: usize = 16;

/// The most objects of a subtree whose types are all read, which is faster than to go from child to child.
const MOST_SCANNED: u32 = 128;

/// The maximum number of references of one object to search for another.
const MOST_REFERENCES: usize = 100_000;

/// Names whose roles are kept.
const MOST_NAMED: usize = 4096;

/// A heap with its dominator tree and the roles of its types.
pub(super) struct Scene<'s, 'a> {
    pub(super) survey: Surveyed<'s, 'a>,
    /// By type.
    roles: Vec<Role>,
    /// By type: the first one of its kind with its name, because class loaders define classes again.
    /// Texts that consist of others have the type of those, and arrays and inner classes of parts that of the
    /// parts.
    kin_of: Vec<u32>,
    /// The same, where each part has its own type.
    shown_as: Vec<u32>,
    /// The type of texts that may consist of others, which are then parts of them.
    rope: Option<u32>,
    /// By number, from 1. The tree is walked in the order of numbers, in which the types of objects
    /// lie far apart.
    types: &'s TypeIds,
    /// The number of class loaders of each type.
    loaders: FxHashMap<u32, usize>,
    /// Whether references have names. Ruby writes none.
    pub(super) has_labels: bool,
    /// Roles of names that were asked for: the same few fields lead up from most objects.
    named: Mutex<FxHashMap<String, Option<Role>>>,
}

/// The objects of one type among those that the members of a group hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The type: the first one of its name.
    pub(super) kin: u32,
    pub(super) count: usize,
    /// The sum of their retained bytes.
    pub(super) bytes: u64,
    /// The number of the first of them.
    pub(super) first: u32,
}

/// Objects of one type that are counted together.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// The type: the first one of its name.
    pub(super) kin: u32,
    /// Numbers of the objects that no other member dominates.
    pub(super) heads: Vec<u32>,
    /// Numbers of members that a member of the same type holds, as in a list or a tree.
    pub(super) inner: Vec<u32>,
    /// The sum of the retained bytes of the heads.
    pub(super) bytes: u64,
    /// Whether the members hold each other in branches, with other objects between them.
    pub(super) is_tree: bool,
}

impl Group {
    pub(super) fn count(&self) -> usize {
        self.heads.len() + self.inner.len()
    }

    pub(super) fn single(&self) -> Option<u32> {
        match self.heads[..] {
            [only] if self.inner.is_empty() => Some(only),
            _ => None,
        }
    }

    pub(super) fn members(&self) -> impl Iterator<Item = u32> + '_ {
        self.heads.iter().chain(&self.inner).copied()
    }

    /// The members in parts, for several threads.
    fn parts(&self) -> impl Iterator<Item = &[u32]> {
        self.heads.chunks(PART).chain(self.inner.chunks(PART))
    }
}

impl<'s, 'a> Scene<'s, 'a> {
    pub(super) fn new(survey: Surveyed<'s, 'a>, collections: &Collections<'_, '_>) -> Self {
        let heap = survey.heap;
        let mut roles = heap.type_roles();
        for (row, role) in roles.iter_mut().enumerate() {
            let kind = collections.kind_of_type(TypeId(row as u32));
            match kind.filter(|_| matches!(role, Role::Runtime | Role::Program)) {
                Some(CollectionKind::Map) => *role = Role::Collection("map"),
                Some(CollectionKind::Set) => *role = Role::Collection("set"),
                Some(CollectionKind::List) => *role = Role::Collection("list"),
                Some(CollectionKind::Buffer) | None => {}
            }
        }
        let mut set = |object: ObjectId, role: Role| roles[heap.type_id(object).0 as usize] = role;
        heap.threads.iter().filter_map(|thread| thread.object).for_each(|thread| {
            if matches!(heap.type_of(thread).kind, TypeKind::Instance) {
                set(thread, Role::Thread);
            }
        });
        let owners = TypeOwners::of(heap);
        owners
            .list
            .iter()
            .filter_map(|owner| owner.object)
            .for_each(|loader| set(loader, Role::Loader));
        let loaders = owners.list.iter().filter_map(|owner| owner.object);
        let mut known = FxHashMap::default();
        let kin = (0u32..).zip(&heap.types);
        let mut kin_of: Vec<u32> = kin
            .map(|(row, type_row)| {
                let key = (type_row.name, type_row.namespace, type_row.kind);
                *known.entry(key).or_insert(row)
            })
            .collect();
        let mut rope = None;
        for row in 0..roles.len() {
            let Role::Rope(pieces) = roles[row] else { continue };
            roles[row] = Role::Runtime;
            let mut kinds = heap.types.iter();
            let piece = kinds.position(|kind| heap.names.text(kind.name) == pieces);
            rope = piece.map(|piece| piece as u32);
            kin_of[row] = rope.unwrap_or(kin_of[row]);
        }
        let shown_as = kin_of.clone();
        join_parts(heap, &roles, &mut kin_of);
        let mut count = FxHashMap::default();
        for loader in loaders {
            *count.entry(kin_of[heap.type_id(loader).0 as usize]).or_default() += 1;
        }
        let (types, named) = (survey.tree.types(heap), Mutex::default());
        let references = heap.objects().take(PART).flat_map(|object| heap.references_of(object));
        let has_labels =
            references.map(|reference| reference.label.kind()).any(|kind| kind != LabelKind::None);
        Self { survey, roles, kin_of, shown_as, rope, types, loaders: count, has_labels, named }
    }

    /// The role of a name in the table of the runtime.
    pub(super) fn named_role(&self, name: &str) -> Option<Role> {
        let mut named = lock(&self.named);
        if let Some(role) = named.get(name) {
            return *role;
        }
        let role = self.heap().named_role(name);
        if named.len() < MOST_NAMED {
            named.insert(name.to_owned(), role);
        }
        role
    }

    /// The name of the field that a label is. `None` for elements, and without a label.
    pub(super) fn field(&self, label: Label) -> Option<&'s str> {
        label.field_name(&self.heap().names)
    }

    pub(super) fn loaders_of(&self, kin: u32) -> usize {
        self.loaders.get(&kin).copied().unwrap_or(0)
    }

    pub(super) fn heap(&self) -> &'s Heap<'a> {
        self.survey.heap
    }

    /// The shallow and external bytes of all live objects.
    pub(super) fn live(&self) -> u64 {
        self.survey.tree.live_bytes()
    }

    #[inline]
    pub(super) fn bytes(&self, number: u32) -> u64 {
        self.survey.tree.retained.of_number(number)
    }

    #[inline]
    pub(super) fn own(&self, number: u32) -> u64 {
        let below =
            self.children(number).fold(0_u64, |sum, child| sum.saturating_add(self.bytes(child)));
        self.bytes(number).saturating_sub(below)
    }

    #[inline]
    pub(super) fn end(&self, number: u32) -> u32 {
        self.survey.tree.dominators.end(number)
    }

    #[inline]
    pub(super) fn children(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        self.survey.tree.dominators.children(number)
    }

    #[inline]
    pub(super) fn dominator(&self, number: u32) -> u32 {
        self.survey.tree.dominators.dominator_of_number(number)
    }

    #[inline]
    pub(super) fn object(&self, number: u32) -> Option<ObjectId> {
        self.survey.tree.dominators.object(number)
    }

    #[inline]
    pub(super) fn number(&self, object: ObjectId) -> Option<u32> {
        self.survey.tree.dominators.number(object)
    }

    #[inline]
    fn type_id(&self, number: u32) -> Option<TypeId> {
        self.types.get(number.checked_sub(1)? as usize)
    }

    #[inline]
    pub(super) fn kin(&self, number: u32) -> u32 {
        self.type_id(number).map_or(0, |type_id| self.kin_of[type_id.0 as usize])
    }

    /// The type as which an object is listed.
    #[inline]
    pub(super) fn shown_as(&self, number: u32) -> u32 {
        self.type_id(number).map_or(0, |type_id| self.shown_as[type_id.0 as usize])
    }

    #[inline]
    pub(super) fn role(&self, number: u32) -> Role {
        self.type_id(number).map_or(Role::Passage, |type_id| self.role_of_kin(type_id.0))
    }

    #[inline]
    pub(super) fn role_of(&self, object: ObjectId) -> Role {
        self.role_of_kin(self.heap().type_id(object).0)
    }

    pub(super) fn role_of_kin(&self, kin: u32) -> Role {
        self.roles.get(kin as usize).copied().unwrap_or(Role::Program)
    }

    /// The row of the reference from one object to another.
    pub(super) fn reference(&self, from: ObjectId, to: ObjectId) -> Option<usize> {
        let references = &self.heap().references;
        let mut rows = references.range(from).take(MOST_REFERENCES);
        rows.find(|row| references.target(*row) == to && !references.is_weak(*row))
    }

    /// Whether an object holds another one as the value of a key, by their numbers.
    pub(super) fn is_keyed(&self, holder: u32, held: u32) -> bool {
        self.between(holder, held).is_some_and(|row| self.heap().reference_key(row).is_some())
    }

    /// Whether an object refers to another one itself, by their numbers.
    pub(super) fn refers(&self, holder: u32, held: u32) -> bool {
        self.between(holder, held).is_some()
    }

    fn between(&self, holder: u32, held: u32) -> Option<usize> {
        self.reference(self.object(holder)?, self.object(held)?)
    }

    /// Whether an object is the dictionary that contains the attributes of another one.
    pub(super) fn has_attributes(&self, number: u32) -> bool {
        self.object(number).is_some_and(|object| self.heap().has_attributes(object))
    }

    pub(super) fn kind(&self, kin: u32) -> TypeKind {
        self.heap().types.get(kin as usize).map_or(TypeKind::Instance, |type_row| type_row.kind)
    }

    pub(super) fn name(&self, kin: u32) -> &'s str {
        self.heap()
            .types
            .get(kin as usize)
            .map_or("", |type_row| self.heap().names.text(type_row.name))
    }

    /// Groups numbers by type, those with most bytes first. Members that a member holds are not
    /// looked for: see [`Scene::complete`].
    pub(super) fn groups(&self, numbers: &[u32]) -> Vec<Group> {
        let parts = parallel::map(numbers.chunks(PART), |numbers| {
            let mut groups = ByKin::default();
            for &number in numbers {
                let kin = self.kin(number);
                let group = groups.of(kin, || Group { kin, ..Group::default() });
                group.heads.push(number);
                group.bytes = group.bytes.saturating_add(self.bytes(number));
            }
            groups.list
        });
        let mut lengths = ByKin::default();
        for part in parts.iter().flatten() {
            *lengths.of(part.kin, || 0) += part.heads.len();
        }
        let mut lengths = lengths.list.into_iter();
        let mut groups = ByKin::default();
        for part in parts.into_iter().flatten() {
            let group = groups.of(part.kin, || {
                let heads = Vec::with_capacity(lengths.next().unwrap_or(0));
                Group { kin: part.kin, heads, ..Group::default() }
            });
            group.heads.extend_from_slice(&part.heads);
            group.bytes = group.bytes.saturating_add(part.bytes);
        }
        let mut groups = groups.list;
        groups.sort_by_key(|group| (Reverse(group.bytes), group.heads[0]));
        groups
    }

    /// A group without the members that hold next to nothing, if one member holds nearly all. Parts
    /// of collections stay together, so that no entry is missing.
    pub(super) fn narrowed(&self, group: Group) -> Group {
        if group.heads.len() == 1 || self.role_of_kin(group.kin).is_part() {
            return group;
        }
        let is_nearly_all =
            |head: &&u32| u128::from(self.bytes(**head)) * 10 >= u128::from(group.bytes) * 9;
        let largest = group.heads.iter().find(is_nearly_all).copied();
        largest.map_or(group, |head| self.single(head))
    }

    /// A group of one object.
    pub(super) fn single(&self, number: u32) -> Group {
        let (kin, bytes) = (self.kin(number), self.bytes(number));
        Group { kin, heads: vec![number], bytes, ..Group::default() }
    }

    /// Adds the members that members hold directly. A few in a single object, some that hold little of
    /// what it holds, or those of which it holds most itself are no chain, but its contents, unless they
    /// are parts of a collection.
    pub(super) fn complete(&self, group: &mut Group) {
        let kin = group.kin;
        if self.rope == Some(kin) {
            return;
        }
        let same = |member: u32| self.children(member).filter(move |child| self.kin(*child) == kin);
        // Depth first, so that the members stand in the order of numbers, in which they are read.
        let below = |heads: &[u32]| {
            let (mut inner, mut open) = (Vec::new(), Vec::new());
            for &head in heads {
                open.push(head);
                while let Some(member) = open.pop() {
                    if member != head {
                        inner.push(member);
                    }
                    if self.end(member) - member <= MOST_SCANNED {
                        self.scan(member, &mut inner);
                        continue;
                    }
                    let from = open.len();
                    open.extend(same(member));
                    open[from..].reverse();
                }
            }
            inner
        };
        group.inner = parallel::joined(parallel::map(group.heads.chunks(PART), below));
        let is_part = self.role_of_kin(kin).is_part();
        let [head] = group.heads[..] else { return };
        let sum = |(count, bytes): (usize, u64), member: u32| {
            (count + 1, bytes.saturating_add(self.bytes(member)))
        };
        let (direct, held) = same(head).fold((0, 0), sum);
        let is_chain = group.inner.len() >= LEAST_CHAIN
            && direct < group.inner.len().div_ceil(2)
            && held >= self.bytes(head) / 2;
        if !is_chain && !is_part {
            group.inner = Vec::new();
        }
    }

    /// Adds the objects of a member's type that it dominates without one of another type between, in
    /// the order of numbers. Reads the types of all that it dominates.
    fn scan(&self, member: u32, inner: &mut Vec<u32>) {
        let kin = self.kin(member);
        let first = inner.len();
        for number in (member + 1..self.end(member)).filter(|number| self.kin(*number) == kin) {
            let by = self.dominator(number);
            if by == member || inner[first..].binary_search(&by).is_ok() {
                inner.push(number);
            }
        }
    }

    /// The objects that a completed group holds, counted by type, those with most bytes first.
    pub(super) fn below(&self, group: &Group) -> Vec<Held> {
        let parts = parallel::map(group.parts(), |members| {
            let one =
                |first| Held { kin: self.kin(first), count: 1, bytes: self.bytes(first), first };
            added(self.held(group, members).map(one))
        });
        let mut held = added(parts.into_iter().flatten());
        held.sort_by_key(|held| (Reverse(held.bytes), held.first));
        held
    }

    /// The member that retains most.
    pub(super) fn largest(&self, group: &Group) -> Option<u32> {
        let size = |number: &u32| (self.bytes(*number), Reverse(*number));
        let of_part = |members: &[u32]| members.iter().copied().max_by_key(size);
        parallel::map(group.parts(), of_part).into_iter().flatten().max_by_key(size)
    }

    /// The objects of one type that a completed group holds.
    pub(super) fn group_below(&self, group: &Group, held: &Held) -> Group {
        let of_kin = |members: &[u32]| {
            let all = self.held(group, members);
            all.filter(|number| self.kin(*number) == held.kin).collect::<Vec<u32>>()
        };
        let heads = parallel::joined(parallel::map(group.parts(), of_kin));
        Group { kin: held.kin, heads, bytes: held.bytes, ..Group::default() }
    }

    /// The objects that some members of a completed group hold, without other members.
    fn held<'m>(&'m self, group: &'m Group, members: &'m [u32]) -> impl Iterator<Item = u32> + 'm {
        let is_whole = group.inner.is_empty() && self.rope != Some(group.kin);
        let is_other = move |child: &u32| is_whole || self.kin(*child) != group.kin;
        members.iter().flat_map(|member| self.children(*member)).filter(is_other)
    }
}

/// Gives arrays and inner classes of parts the kin of the parts. The overflow buckets of a Go map are parts like
/// those in its array, and a map of Guava has entries of the class `ImmutableMapEntry` and of an inner one.
fn join_parts(heap: &Heap<'_>, roles: &[Role], kin_of: &mut [u32]) {
    let name = |row: usize| heap.names.text(heap.types[row].name);
    let parts = || (0..roles.len()).filter(|row| roles[*row] == Role::Inside);
    let rows: FxHashMap<&str, usize> = parts().map(|row| (name(row), row)).collect();
    for row in parts() {
        let outer = || {
            name(row)
                .rsplit_once('$')
                .filter(|(_, inner)| !inner.ends_with(']'))
                .map(|(outer, _)| outer)
        };
        let part = name(row).strip_prefix("[]").or_else(outer);
        if let Some(part) = part.and_then(|part| rows.get(part)) {
            kin_of[row] = kin_of[*part];
        }
    }
}

/// Adds up what is held by type, in the order of the first of each.
fn added(parts: impl Iterator<Item = Held>) -> Vec<Held> {
    let mut all = ByKin::default();
    for part in parts {
        let held = all.of(part.kin, || Held { count: 0, bytes: 0, ..part });
        held.count += part.count;
        held.bytes = held.bytes.saturating_add(part.bytes);
    }
    all.list
}

/// A list with one item for each type, in the order of the first object of each.
struct ByKin<T> {
    list: Vec<T>,
    slots: FxHashMap<u32, usize>,
    recent: [(u32, usize); RECENT],
}

impl<T> Default for ByKin<T> {
    fn default() -> Self {
        Self { list: Vec::new(), slots: FxHashMap::default(), recent: [(u32::MAX, 0); RECENT] }
    }
}

impl<T> ByKin<T> {
    /// The item of a type, which `new` makes if there is none.
    #[inline]
    fn of(&mut self, kin: u32, new: impl FnOnce() -> T) -> &mut T {
        let Self { list, slots, recent } = self;
        let recent = &mut recent[kin as usize % RECENT];
        if recent.0 != kin {
            let slot = *slots.entry(kin).or_insert_with(|| {
                list.push(new());
                list.len() - 1
            });
            *recent = (kin, slot);
        }
        &mut list[recent.1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dominator_tree::DominatorTree;
    use crate::analysis::graph::Graph;
    use crate::model::builder::HeapBuilder;
    use crate::model::heap::{Ids, Root, RootKind};
    use crate::model::names::Names;

    #[test]
    fn groups_of_many_objects_keep_the_order_of_their_members() {
        let count = PART as u32 * 2 + 9;
        let mut builder = HeapBuilder::with_capacity(0, 0);
        let kinds =
            ["app.A", "app.B", "app.C"].map(|name| builder.add_type(name, "", TypeKind::Instance));
        for object in 0..count {
            // Only the last part has objects of the third type.
            let kind = if object > count - 5 { 2 } else { object as usize % 7 / 6 };
            builder.add_object(kinds[kind], u64::from(object) + 1);
            builder.add_root(Root::new(ObjectId(object), RootKind::Global, Names::EMPTY));
        }
        let heap = builder.finish(Ids::Rows(0), None);
        let graph = Graph::of(&heap);
        let tree = DominatorTree::of_graph(&heap, &graph);
        let survey = Surveyed { heap: &heap, graph: &graph, tree: &tree };
        let scene = Scene::new(survey, &Collections::of(&heap));
        let tops: Vec<u32> = scene.children(0).collect();

        let groups = scene.groups(&tops);
        assert_eq!(groups.iter().map(|group| group.kin).collect::<Vec<_>>(), [0, 1, 2]);
        for group in groups {
            let of_kin = tops.iter().copied().filter(|top| scene.kin(*top) == group.kin);
            assert!(of_kin.clone().eq(group.heads));
            assert_eq!(group.bytes, of_kin.map(|top| scene.bytes(top)).sum::<u64>());
        }
    }
}
