//! The highest owners of a heap: the objects below the roots after opening all objects that hold
//! much but mean little to a person.

use super::descent::{Descent, MANY, is_collection};
use super::scene::{Group, Held, Scene};
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::{ObjectId, Role, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::iter;

/// The maximum number of rounds in which objects are opened. Each round passes one fan-out.
const MOST_ROUNDS: usize = 16;

/// If a type has fewer class loaders than this, they are opened to show their classes.
const MANY_LOADERS: usize = 3;

/// The list of a loader's classes has at most this many levels.
const MOST_NESTED: usize = 8;

/// The highest owners.
pub(super) struct Partition {
    /// The set of objects whose contents are divided, by number.
    opened: ObjectSet,
    /// The numbers of the owners, ascending.
    pub(super) tops: Vec<u32>,
    /// Those that hold enough for a finding, ascending.
    large: Vec<u32>,
    /// The paths down from single owners that stay closed, by the owners' numbers.
    ways: FxHashMap<u32, Descent>,
    /// The numbers of collections that have other contents than others beside them.
    apart: FxHashSet<u32>,
}

impl Partition {
    /// Divides a heap into owners. Single objects with more than `least` bytes are opened down to
    /// the collection in which their memory accumulates.
    pub(super) fn of(scene: &Scene<'_, '_>, least: u64) -> Self {
        let (mut all, mut open) = Self::closed(scene);
        let mut tally =
            Tally { of_kin: vec![0; scene.heap().types.len()], large: Vec::new(), least };
        let mut tops = Vec::new();
        for round in 0..=MOST_ROUNDS {
            all.open(scene, &mut open, |number| {
                tally.add(scene, number);
                tops.push(number);
            });
            if round == MOST_ROUNDS {
                break;
            }
            all.tell_apart(scene, &tally.large);
            for single in &tally.large {
                let is_alone = tally.is_alone(scene, *single) || all.apart.contains(single);
                if !is_alone || all.ways.contains_key(single) {
                    continue;
                }
                let descent = Descent::of(scene, scene.single(*single));
                all.apart.extend(descent.fork.iter().flat_map(|fork| &fork.apart));
                match opened(scene, &descent) {
                    passed if passed.is_empty() => _ = all.ways.insert(*single, descent),
                    passed => open.extend(passed),
                }
            }
            open.retain(|number| all.opened.insert(ObjectId(*number)));
            if open.is_empty() {
                break;
            }
            tally.remove(scene, |number| all.opened.contains(ObjectId(number)));
        }
        tops.retain(|number| !all.is_open(*number));
        tops.sort_unstable();
        all.tops = tops;
        all.large = tally.large;
        all.large.sort_unstable();
        all
    }

    /// Marks large owners that lead to collections with different contents, and these collections.
    /// Their type is that of many other objects, such as the exports of all modules, and says nothing.
    fn tell_apart(&mut self, scene: &Scene<'_, '_>, large: &[u32]) {
        let mut of_contents: FxHashMap<(u32, u32), Vec<Vec<u32>>> = FxHashMap::default();
        for &single in large {
            let kin = scene.kin(single);
            let says_nothing = scene.role_of_kin(kin) == Role::Runtime;
            if !says_nothing || self.apart.contains(&single) || self.ways.contains_key(&single) {
                continue;
            }
            let Descent { steps, .. } = &Descent::of(scene, scene.single(single));
            let of_many = steps.iter().position(|step| step.count() >= MANY);
            let path: Vec<u32> = steps.iter().map_while(Group::single).collect();
            let holder = path.iter().rfind(|number| !scene.role(**number).is_part());
            let is_in_collection = holder.is_some_and(|holder| is_collection(scene.role(*holder)));
            if let Some(contents) = of_many.filter(|many| is_in_collection && *many == path.len()) {
                of_contents.entry((kin, steps[contents].kin)).or_default().push(path);
            }
        }
        let unlike = of_contents.into_values().filter(|alike| alike.len() == 1);
        self.apart.extend(unlike.flatten().flatten());
    }

    /// Divides a heap so that these objects are owners.
    pub(super) fn around(scene: &Scene<'_, '_>, owners: &[u32]) -> Self {
        let (mut all, mut open) = Self::closed(scene);
        for &owner in owners {
            let mut above = scene.dominator(owner);
            while all.opened.insert(ObjectId(above)) {
                open.push(above);
                above = scene.dominator(above);
            }
        }
        let mut tops = Vec::new();
        all.open(scene, &mut open, |number| tops.push(number));
        tops.sort_unstable();
        all.tops = tops;
        all
    }

    /// Whether another partition of the same heap has the same owners.
    pub(super) fn divides_like(&self, other: &Self) -> bool {
        self.opened == other.opened
    }

    /// Creates a partition with only the roots opened, and the list of objects to open.
    fn closed(scene: &Scene<'_, '_>) -> (Self, Vec<u32>) {
        let mut opened = ObjectSet::none(scene.survey.tree.dominators.len() + 1);
        opened.insert(ObjectId(0));
        let (tops, large, ways, apart) = Default::default();
        (Self { opened, tops, large, ways, apart }, vec![0])
    }

    /// Opens passages, and calls `top` with all other children of opened objects.
    fn open(&mut self, scene: &Scene<'_, '_>, open: &mut Vec<u32>, mut top: impl FnMut(u32)) {
        while let Some(number) = open.pop() {
            for child in scene.children(number) {
                if self.is_open(child) {
                    continue;
                }
                if is_passage(scene, child) {
                    self.opened.insert(ObjectId(child));
                    open.push(child);
                } else {
                    top(child);
                }
            }
        }
    }

    /// The path down from a single owner.
    pub(super) fn way(&mut self, scene: &Scene<'_, '_>, single: u32) -> Descent {
        self.ways.remove(&single).unwrap_or_else(|| Descent::of(scene, scene.single(single)))
    }

    /// The members of a group of owners, which are ascending, that are examined one by one, because they
    /// hold enough for it.
    pub(super) fn alone<'g>(
        &'g self,
        scene: &'g Scene<'_, '_>,
        group: &'g Group,
    ) -> impl Iterator<Item = u32> + 'g {
        // With sizes that are too large to be true, all owners are large, and each type may have a group. So
        // the work must not be that of all large owners for each group.
        let (few, many) = match (&self.large, &group.heads) {
            (large, heads) if large.len() < heads.len() => (large, heads),
            (large, heads) => (heads, large),
        };
        let is_chosen = move |number: &u32| {
            many.binary_search(number).is_ok()
                && (is_alone(scene, *number, group.bytes.into()) || self.apart.contains(number))
        };
        few.iter().copied().filter(is_chosen)
    }

    /// Whether the contents of an object are divided.
    pub(super) fn is_open(&self, number: u32) -> bool {
        self.opened.contains(ObjectId(number))
    }
}

/// Whether an object holds more than half of what all objects of its type hold, or its type says nothing
/// about what it holds.
fn is_alone(scene: &Scene<'_, '_>, number: u32, all: u128) -> bool {
    u128::from(scene.bytes(number)) > all / 2 || scene.role(number).is_hidden()
}

/// Whether an object leads to classes and their variables: a class, one of few class loaders, or the
/// list of its classes.
fn is_passage(scene: &Scene<'_, '_>, number: u32) -> bool {
    let is_list = |role: Role| role.is_part() || is_collection(role);
    match scene.role(number) {
        Role::Passage => true,
        Role::Loader => scene.loaders_of(scene.kin(number)) < MANY_LOADERS,
        role if is_list(role) => {
            let mut up = iter::successors(Some(number), |number| Some(scene.dominator(*number)));
            let owner = up.by_ref().take(MOST_NESTED).find(|up| !is_list(scene.role(*up)));
            owner.is_some_and(|owner| scene.role(owner) == Role::Loader && is_passage(scene, owner))
        }
        _ => false,
    }
}

/// The bytes of the tops by type, and the large tops. Only these few are examined again after each
/// round of opening.
struct Tally {
    of_kin: Vec<u128>,
    /// Numbers of the tops with at least `least` bytes.
    large: Vec<u32>,
    least: u64,
}

impl Tally {
    fn add(&mut self, scene: &Scene<'_, '_>, number: u32) {
        let bytes = scene.bytes(number);
        if let Some(sum) = self.of_kin.get_mut(scene.kin(number) as usize) {
            *sum += u128::from(bytes);
        }
        if bytes >= self.least {
            self.large.push(number);
        }
    }

    /// Whether a large top is examined by itself.
    fn is_alone(&self, scene: &Scene<'_, '_>, number: u32) -> bool {
        let all = self.of_kin.get(scene.kin(number) as usize);
        all.is_some_and(|all| is_alone(scene, number, *all))
    }

    /// Removes the tops that were opened, all of which are large.
    fn remove(&mut self, scene: &Scene<'_, '_>, is_open: impl Fn(u32) -> bool) {
        let of_kin = &mut self.of_kin;
        self.large.retain(|number| {
            let stays = !is_open(*number);
            if !stays && let Some(sum) = of_kin.get_mut(scene.kin(*number) as usize) {
                *sum -= u128::from(scene.bytes(*number));
            }
            stays
        });
    }
}

/// The objects on the path from an owner to the objects that it exists for: all but the last.
fn opened(scene: &Scene<'_, '_>, descent: &Descent) -> Vec<u32> {
    let mut singles: Vec<u32> = descent.steps.iter().map_while(Group::single).collect();
    if let Some(fork) = &descent.fork {
        singles.extend(&fork.parts);
        return singles;
    }
    // With several large groups, none of which is nearly all, the object is opened too.
    let is_split = singles.len() == descent.steps.len() && splits(scene, descent);
    let container = || descent.container(scene, descent.element(scene)).unwrap_or(0);
    let stays = if is_split { singles.len() } else { container() };
    singles.into_iter().take(stays).collect()
}

/// Whether the object at the end of the path holds large groups and not only small pieces.
fn splits(scene: &Scene<'_, '_>, descent: &Descent) -> bool {
    let Some(last) = descent.steps.last() else { return false };
    let least = super::least(scene.live());
    let is_large = |group: &&Held| {
        // Many texts or numbers are the contents of a collection.
        let is_value = matches!(scene.kind(group.kin), TypeKind::Text | TypeKind::Number);
        group.bytes >= least && (group.count < MANY || !is_value)
    };
    let large = descent.rest.iter().filter(is_large);
    let large = large.fold(0_u64, |sum, group| sum.saturating_add(group.bytes));
    large > 0 && large >= last.bytes / 2
}
