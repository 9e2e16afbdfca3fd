//! The path down from an owner to the objects in which its memory accumulates.

use super::scene::{Group, Held, Scene};
use crate::model::heap::Role;
use rustc_hash::FxHashMap;

/// The path continues while one group below has this share of its owner's memory, in percent.
const KEEP: u64 = 60;

/// The maximum length of a path. Steps that repeat a type are one.
const MOST_STEPS: usize = 200;

/// Objects of one type that are nested at least this deep are a tree.
const LEAST_LEVELS: usize = 3;

/// If there are this many times as many objects of another type, the memory consists of those and
/// not of their owners: 60 shelves with 6,000 books.
const FAN: usize = 10;

/// Of what the fields of an object hold together, objects of one type count if they take at least
/// 1/`LEAST_SHARED` of its memory.
const LEAST_SHARED: u64 = 20;

/// Entries take at least 1/`LEAST_PART` of their table's memory, and there are at least `MANY`.
const LEAST_PART: u64 = 4;
pub(super) const MANY: usize = 20;

/// No program declares so many fields. An object that holds this many of one type is a collection.
const LEAST_FIELDS: usize = 1000;

/// The maximum number of parts on the way to several large objects.
const MOST_FORKED: usize = 1000;

/// An owner, the largest group below it, the largest group below that one, and so on.
#[derive(Default)]
pub(super) struct Descent {
    pub(super) steps: Vec<Group>,
    /// The groups that the last group holds.
    pub(super) rest: Vec<Held>,
    /// The end of the path at several large objects, if none of them holds nearly all.
    pub(super) fork: Option<Fork>,
}

/// The last object of a path holds several large objects of different types or contents.
pub(super) struct Fork {
    /// The parts of the object on the way to the large ones.
    pub(super) parts: Vec<u32>,
    /// Collections of one type with different contents.
    pub(super) apart: Vec<u32>,
}

impl Descent {
    pub(super) fn of(scene: &Scene<'_, '_>, first: Group) -> Self {
        let mut first = scene.narrowed(first);
        scene.complete(&mut first);
        let mut steps = vec![first];
        let mut last = 0;
        loop {
            let mut rest = scene.below(&steps[last]);
            let is_one = steps.iter().all(|step| step.single().is_some());
            let single = steps[last].single().filter(|_| is_one);
            let fork = single.and_then(|single| fork(scene, single));
            if fork.is_some() {
                return Self { steps, rest, fork };
            }
            let enough = |held: &Held| is_enough(held.bytes, steps[last].bytes);
            let at = if rest.first().is_some_and(enough) || is_most(scene, &steps[last], &rest) {
                Some(0)
            } else {
                content(scene, &steps[last], &rest)
            };
            let Some(at) = at else { return Self { steps, rest, fork } };
            let mut next = scene.narrowed(scene.group_below(&steps[last], &rest.remove(at)));
            scene.complete(&mut next);
            let role = scene.role_of_kin(next.kin);
            let outer = steps.iter().position(|step| step.kin == next.kin);
            if let Some(outer) = outer.filter(|_| is_own(role) && next.count() > 1) {
                let levels = steps.iter().filter(|step| step.kin == next.kin).count();
                if levels >= LEAST_LEVELS {
                    return Self::nested(scene, steps, outer);
                }
            }
            // In a chain, the contents of the parts between the links deserve a name more.
            if steps.len() > MOST_STEPS || steps.len() == MOST_STEPS && !role.is_part() {
                // Types that alternate, as in a list of wrapped entries, are one chain.
                return match steps.iter().position(|step| step.kin == next.kin) {
                    Some(known) => Self::chain(scene, steps, known, next),
                    None => Self { steps, rest, fork },
                };
            }
            steps.push(next);
            last += 1;
        }
    }

    /// Merges all objects of a type below some of them into one group, as in a tree whose nodes
    /// have collections of nodes.
    fn nested(scene: &Scene<'_, '_>, mut steps: Vec<Group>, outer: usize) -> Self {
        steps.truncate(outer + 1);
        let group = &mut steps[outer];
        let below = group.heads.iter().flat_map(|head| head + 1..scene.end(*head));
        group.inner = below.filter(|number| scene.kin(*number) == group.kin).collect();
        group.is_tree = true;
        Self { steps, ..Self::default() }
    }

    /// Follows a chain of alternating types to its end.
    fn chain(scene: &Scene<'_, '_>, mut steps: Vec<Group>, known: usize, next: Group) -> Self {
        let kin = next.kin;
        let passed = steps.split_off(known + 1);
        let same = passed.iter().filter(|step| step.kin == kin);
        steps[known].inner.extend(same.flat_map(Group::members));
        let mut open = next;
        loop {
            steps[known].inner.extend(open.members());
            // Between two members there is at most one object of another type.
            let Some(held) = scene.below(&open).first().copied() else { break };
            let between = scene.group_below(&open, &held);
            match scene.below(&between).iter().find(|held| held.kin == kin) {
                Some(held) => open = scene.group_below(&between, held),
                None => return Self { steps, rest: vec![held], ..Self::default() },
            }
            scene.complete(&mut open);
        }
        Self { steps, ..Self::default() }
    }

    /// The step whose objects are named and counted.
    pub(super) fn element(&self, scene: &Scene<'_, '_>) -> usize {
        let many = |step: &usize| self.steps[*step].count() > 1;
        let role = |step: usize| scene.role_of_kin(self.steps[step].kin);
        let steps = || (0..self.steps.len()).filter(many);
        let first = |wanted: &[Role]| steps().find(|step| wanted.contains(&role(*step)));
        if let Some(own) = first(&[Role::Loader, Role::Timer, Role::Task]) {
            return own;
        }
        let fans = |best: usize, step: usize| {
            self.steps[step].count() >= self.steps[best].count().saturating_mul(FAN)
        };
        let mut programs = steps().filter(|step| is_own(role(*step)));
        if let Some(first) = programs.next() {
            return programs.fold(first, |best, step| {
                if fans(best, step) || self.is_entry(scene, best, step) { step } else { best }
            });
        }
        let more = |best: usize, step: usize| if fans(best, step) { step } else { best };
        let is_plain = |role: Role| role == Role::Runtime || is_collection(role);
        first(&[Role::Slice, Role::Closure])
            .or_else(|| steps().filter(|step| is_plain(role(*step))).reduce(more))
            .or_else(|| first(&[Role::Thread]))
            .or_else(|| steps().reduce(more))
            .unwrap_or(self.steps.len() - 1)
    }

    /// Whether the objects of a step are entries of the program's own collection, each for an object
    /// of the other step: they refer to each other, or name the type of what they hold.
    fn is_entry(&self, scene: &Scene<'_, '_>, entry: usize, owner: usize) -> bool {
        let (entry, owner) = (&self.steps[entry], &self.steps[owner]);
        let name = scene.name(owner.kin);
        let names = scene.name(entry.kin).contains('[') && scene.name(entry.kin).contains(name);
        entry.count() == owner.count() && (names || !entry.inner.is_empty())
    }

    /// The step of the single object that holds the element: the outermost collection around it.
    pub(super) fn container(&self, scene: &Scene<'_, '_>, element: usize) -> Option<usize> {
        let before = (0..=element).take_while(|step| self.steps[*step].single().is_some());
        let mut container = before.last()?;
        let role = |step: usize| scene.role_of_kin(self.steps[step].kin);
        // The table of a map, and the map in a set, but not the value of a key.
        while container > 0
            && match role(container) {
                Role::Inside | Role::Collided => {
                    scene.has_attributes(self.steps[container].heads[0])
                        || role(container - 1).is_part()
                        || is_collection(role(container - 1))
                }
                Role::Collection(_) => {
                    let [outer, inner] =
                        [container - 1, container].map(|at| self.steps[at].heads[0]);
                    is_collection(role(container - 1)) && !scene.is_keyed(outer, inner)
                }
                _ => false,
            }
        {
            container -= 1;
        }
        // The object that keeps a suspended call is more informative than its variables: see `via`.
        let call = (1..=container).find(|step| role(*step) == Role::Frame);
        let above = call.and_then(|call| (0..call).rfind(|step| !role(*step).is_part()));
        Some(above.unwrap_or(container))
    }
}

/// Whether objects belong to the program.
pub(super) fn is_own(role: Role) -> bool {
    matches!(role, Role::Program | Role::Record)
}

pub(super) fn is_collection(role: Role) -> bool {
    matches!(role, Role::Collection(_))
}

/// The parts of an object on the way to its large objects, if these are of different types and
/// no type holds enough for the path to continue: the entries of a map with several services. The
/// values of a map that are collections with different contents are like several types.
fn fork(scene: &Scene<'_, '_>, object: u32) -> Option<Fork> {
    let least = super::least(scene.live());
    let (mut parts, mut open, mut large) = (Vec::new(), vec![object], Vec::new());
    while let Some(number) = open.pop() {
        for child in scene.children(number).filter(|child| scene.bytes(*child) >= least) {
            if scene.role(child).is_part() {
                // A long chain of parts, such as the nodes of a list.
                if parts.len() == MOST_FORKED {
                    return None;
                }
                parts.push(child);
                open.push(child);
            } else {
                large.push(child);
            }
        }
    }
    let kinds = scene.groups(&large);
    let sum = kinds.iter().fold(0_u64, |sum, kind| sum.saturating_add(kind.bytes));
    let (first, all) = (kinds.first()?, scene.bytes(object));
    if !is_enough(sum, all) {
        return None;
    }
    let unlike: Vec<&Group> = kinds.iter().filter(|kind| are_unlike(scene, object, kind)).collect();
    let is_fork = if is_enough(first.bytes, all) {
        unlike.iter().any(|kind| kind.kin == first.kin)
    } else {
        !parts.is_empty() || !unlike.is_empty()
    };
    let apart = unlike.into_iter().flat_map(|kind| kind.heads.iter().copied()).collect();
    is_fork.then_some(Fork { parts, apart })
}

/// Whether these bytes are nearly all of an owner's, so that a path continues with them.
pub(super) fn is_enough(bytes: u64, all: u64) -> bool {
    u128::from(bytes) * 100 >= u128::from(all) * u128::from(KEEP)
}

/// Whether a field of an object holds nearly all of what its fields hold, without what several of
/// them hold together: entries of a set that a registry refers to as well.
fn is_most(scene: &Scene<'_, '_>, owner: &Group, below: &[Held]) -> bool {
    let (Some(number), Some(first)) = (owner.single(), below.first()) else { return false };
    let role = scene.role_of_kin(owner.kin);
    if role.is_part() || is_collection(role) {
        return false;
    }
    let is_field = |held: &Held| scene.refers(number, held.first);
    let large = below.iter().take_while(|held| held.bytes >= owner.bytes / LEAST_SHARED);
    let shared = large.filter(|held| !is_field(held));
    let shared = shared.fold(0, |sum: u64, held| sum.saturating_add(held.bytes));
    is_field(first) && is_enough(first.bytes, owner.bytes.saturating_sub(shared))
}

/// Whether collections that an object holds by keys have different contents, and not several of them
/// the contents of most bytes.
fn are_unlike(scene: &Scene<'_, '_>, object: u32, collections: &Group) -> bool {
    let Group { kin, heads, bytes: all, .. } = collections;
    let are_keyed = || heads.iter().all(|head| scene.is_keyed(object, *head));
    if heads.len() == 1 || !is_collection(scene.role_of_kin(*kin)) {
        return false;
    }
    // The attributes of an object have names of their own.
    if scene.has_attributes(object) {
        return true;
    }
    if !are_keyed() {
        return false;
    }
    let mut contents: FxHashMap<Option<u32>, (u64, usize)> = FxHashMap::default();
    for &head in heads {
        let most = scene.below(&scene.single(head)).first().map(|held| held.kin);
        let (bytes, count) = contents.entry(most).or_default();
        *bytes = bytes.saturating_add(scene.bytes(head));
        *count += 1;
    }
    let most = contents.values().max();
    contents.len() > 1 && most.is_some_and(|(bytes, count)| *count == 1 || !is_enough(*bytes, *all))
}

/// The objects that a collection, or small parts of one, exists for, however much memory the parts
/// take. Objects of the program come first.
fn content(scene: &Scene<'_, '_>, parts: &Group, below: &[Held]) -> Option<usize> {
    let role = scene.role_of_kin(parts.kin);
    let is_program = |at: &usize| is_own(scene.role_of_kin(below[*at].kin));
    if parts.count() == 1 {
        let many = match role {
            _ if role.is_part() || is_collection(role) => MANY,
            Role::Program | Role::Record | Role::Runtime => LEAST_FIELDS,
            _ => return None,
        };
        // A map, or its table, whose keys take memory too.
        let is_large =
            |at: &usize| below[*at].count >= many && below[*at].bytes >= parts.bytes / LEAST_PART;
        let large = || (0..below.len()).filter(is_large);
        return large().find(is_program).or_else(|| large().next());
    }
    // What the runtime puts around objects, such as proxies, is not worth naming either.
    if !role.is_part() && !role.is_hidden() {
        return None;
    }
    let is_for_each = |at: &usize| below[*at].count * 2 >= parts.count();
    let each = || (0..below.len()).filter(is_for_each);
    each().find(is_program).or_else(|| each().next())
}

/// The first step of a path that consists of the entries of thread-local variables.
pub(super) fn thread_local_entries<'w>(
    scene: &Scene<'_, '_>,
    steps: &'w [Group],
) -> Option<&'w Group> {
    steps.iter().find(|step| scene.role_of_kin(step.kin) == Role::ThreadLocal)
}
