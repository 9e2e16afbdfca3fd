//! A possible finding: an owner with its parts and its kind.

use super::alike::sample;
use super::descent::{Descent, MANY, is_own};
use super::finding::{EachSize, Holder, Portion, Suspect, SuspectKind, What};
use super::scene::{Group, LEAST_CHAIN, Scene};
use crate::model::heap::{ObjectId, Role, ThreadKind, TypeId};
use crate::parallel::{self, PART};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::iter;
use std::ops::Range;

/// A collection of the runtime's own objects is a finding if it holds at least 1/`GROWN` of the
/// live heap.
const GROWN: u64 = 5;

/// No runtime has so many functions in one place.
const MANY_CLOSURES: u64 = 1000;

/// In a tree, at least one in this many objects holds several others.
const BRANCHES: usize = 10;

/// The maximum number of types named below a finding.
const MOST_PARTS: usize = 3;

/// The number of objects of which most must hold what each is said to hold, the number of objects
/// below each that are searched for it, and the number of types that may be it.
const MOST_LOOKED_AT: usize = 100;
const MOST_BELOW: u32 = 10_000;
const MOST_CONTENTS: usize = 16;

/// A holder of the objects of a finding.
pub(super) struct Named {
    pub(super) holder: Holder,
    /// Whether the holder's name is the program's. `None` if that is not known.
    pub(super) is_program: Option<bool>,
}

impl Named {
    /// Sets the number of entries that were counted, unless the holder states one or is not a
    /// collection.
    pub(super) fn count(&mut self, entries: usize) {
        if !self.holder.noun.is_empty() && entries > 1 {
            self.holder.entries.get_or_insert(entries as u64);
        }
    }
}

/// An owner that has not been described yet.
pub(super) struct Candidate {
    pub(super) bytes: u64,
    pub(super) descent: Descent,
    pub(super) threads: Vec<u32>,
    /// The step that is named and counted.
    pub(super) element: usize,
    /// The step that is the single holder of the element.
    pub(super) container: Option<usize>,
}

impl Candidate {
    pub(super) fn of(scene: &Scene<'_, '_>, group: Group) -> Self {
        let bytes = group.bytes;
        Self { bytes, ..Self::along_way(scene, Descent::of(scene, group)) }
    }

    /// Creates a candidate from a known path down.
    pub(super) fn along_way(scene: &Scene<'_, '_>, mut descent: Descent) -> Self {
        let bytes = descent.steps[0].bytes;
        let element = descent.element(scene);
        let container = descent.container(scene, element);
        // Functions in the functions of a collection are parts of its entries.
        let step = &mut descent.steps[element];
        let are_entries = container.is_some() && step.heads.len() >= MANY;
        if are_entries && scene.role_of_kin(step.kin) == Role::Closure {
            step.inner.clear();
        }
        Self { bytes, descent, threads: Vec::new(), element, container }
    }

    pub(super) fn of_threads(threads: Vec<u32>, group: Group) -> Self {
        let bytes = group.bytes;
        let descent = Descent { steps: vec![group], ..Descent::default() };
        Self { bytes, descent, threads, element: 0, container: None }
    }

    /// Creates a candidate from a known path to its element.
    pub(super) fn along(scene: &Scene<'_, '_>, steps: Vec<Group>) -> Self {
        let (bytes, element) = (steps[0].bytes, steps.len() - 1);
        let descent = Descent { steps, ..Descent::default() };
        let container = descent.container(scene, element);
        Self { bytes, descent, threads: Vec::new(), element, container }
    }

    /// The number of named objects, or of threads.
    pub(super) fn count(&self) -> u64 {
        match self.threads.len() {
            0 => self.descent.steps[self.element].count() as u64,
            threads => threads as u64,
        }
    }

    /// The objects that own everything else.
    pub(super) fn heads(&self) -> &[u32] {
        &self.descent.steps[0].heads
    }

    /// The number of objects that the one holder holds, directly or in one part: what is further
    /// below may be in the arrays that are its entries.
    pub(super) fn entries(&self, scene: &Scene<'_, '_>) -> usize {
        let Some(container) = self.container else { return 0 };
        let mut below = self.descent.steps[container..].iter().skip(1).take(2);
        below.find(|step| !scene.role_of_kin(step.kin).is_part()).map_or(0, |step| step.heads.len())
    }

    /// Adds owners to those of the finding.
    pub(super) fn adopt(&mut self, scene: &Scene<'_, '_>, adopted: &[u32]) {
        let element = self.element;
        for &number in adopted {
            self.descent.steps[0].heads.push(number);
            if element > 0 {
                self.descent.steps[element].heads.push(number);
            }
            self.bytes = self.bytes.saturating_add(scene.bytes(number));
        }
    }

    /// The type of the objects that hold the named ones, and its role.
    pub(super) fn before(&self, scene: &Scene<'_, '_>) -> Option<(u32, Role)> {
        let kin = self.descent.steps[self.element.checked_sub(1)?].kin;
        Some((kin, scene.role_of_kin(kin)))
    }

    /// The type of the named objects.
    pub(super) fn kin(&self) -> Option<u32> {
        self.threads.is_empty().then(|| self.descent.steps[self.element].kin)
    }

    /// The objects whose holders are needed.
    pub(super) fn sample(&self) -> impl Iterator<Item = u32> + '_ {
        let steps = &self.descent.steps;
        let container = self.container.map(|step| steps[step].heads[0]);
        sample(&steps[0]).chain(sample(&steps[self.element])).chain(container)
    }

    pub(super) fn finding(&self, scene: &Scene<'_, '_>, named: Vec<Named>) -> Suspect {
        let element = &self.descent.steps[self.element];
        let kind = self.kind(scene);
        let what = match self.threads.first() {
            Some(first) => {
                let thread = &scene.heap().threads[*first as usize];
                let object = thread.object.filter(|_| thread.kind == ThreadKind::Thread);
                What::Threads(thread.kind, object.map(|object| scene.heap().type_id(object)))
            }
            None => What::Objects(TypeId(element.kin), self.declared(scene)),
        };
        let is_runtime = self.is_runtime(scene, kind, &what, &named);
        let largest = scene.largest(element);
        Suspect {
            kind,
            bytes: self.bytes,
            count: self.count(),
            what,
            holders: named.into_iter().map(|named| named.holder).filter(Holder::is_known).collect(),
            each: self.each(scene),
            with: self.with(scene),
            via: super::via::via(scene, &self.descent, self.element),
            threads: self.holding_threads(scene),
            consists_of: self.consists_of(scene),
            example: largest.and_then(|number| scene.object(number)).unwrap_or(ObjectId(0)),
            is_runtime,
        }
    }

    /// The type of the program's objects that the elements exist for: the work of tasks, or the
    /// contents of the links of a chain.
    fn with(&self, scene: &Scene<'_, '_>) -> Option<TypeId> {
        let (element, below) = self.descent.steps[self.element..].split_first()?;
        let is_chain = element.heads.len() == 1 && element.inner.len() >= LEAST_CHAIN;
        if element.count() == 1 || is_own(scene.role_of_kin(element.kin)) && !is_chain {
            return None;
        }
        let steps = below.iter().map(|step| (step.kin, step.count()));
        let held = steps.chain(self.descent.rest.iter().map(|held| (held.kin, held.count)));
        let enough = held.filter(|(kin, count)| {
            scene.role_of_kin(*kin) == Role::Program && count * 2 >= element.count()
        });
        let looked_at = element.count().min(MOST_LOOKED_AT);
        let of_most = |kin: &u32| {
            let members = element.members().take(looked_at);
            let holds = |member: &u32| {
                let end = scene.end(*member).min(member.saturating_add(MOST_BELOW));
                (member + 1..end).any(|number| scene.kin(number) == *kin)
            };
            members.filter(holds).count() * 2 > looked_at
        };
        enough.map(|(kin, _)| kin).take(MOST_CONTENTS).find(of_most).map(TypeId)
    }

    fn roles<'c>(&'c self, scene: &'c Scene<'_, '_>) -> impl Iterator<Item = Role> + 'c {
        self.descent.steps[..=self.element].iter().map(|step| scene.role_of_kin(step.kin))
    }

    fn kind(&self, scene: &Scene<'_, '_>) -> SuspectKind {
        let element = &self.descent.steps[self.element];
        let has = |wanted: Role| self.roles(scene).any(|role| role == wanted);
        let role = scene.role_of_kin(element.kin);
        if !self.threads.is_empty() {
            return SuspectKind::Threads;
        }
        if scene.heap().detached_types.contains(&TypeId(element.kin)) {
            return SuspectKind::Detached;
        }
        if self.external(scene) > self.bytes / 2 {
            return SuspectKind::External;
        }
        if element.count() == 1 {
            let single = element.heads[0];
            return if scene.own(single) >= scene.bytes(single) / 2 {
                SuspectKind::Large
            } else {
                SuspectKind::Single
            };
        }
        match role {
            Role::Loader => return SuspectKind::Loaders,
            Role::Timer => return SuspectKind::Timers,
            Role::Task => return SuspectKind::Tasks,
            Role::Slice => return SuspectKind::Slices,
            Role::Closure => return SuspectKind::Closures,
            _ => {}
        }
        if has(Role::Finalizer) {
            return SuspectKind::Finalizers;
        }
        if has(Role::Collided) {
            return SuspectKind::Collisions;
        }
        if has(Role::Thread) {
            return SuspectKind::Threads;
        }
        let chain = |step: &Group| step.heads.len() == 1 && step.inner.len() >= LEAST_CHAIN;
        if chain(element) && self.container.is_none_or(|step| !self.is_collection(scene, step)) {
            return if self.branches(scene) { SuspectKind::Tree } else { SuspectKind::Chain };
        }
        match self.container {
            Some(_) => SuspectKind::Collection,
            None => SuspectKind::Many,
        }
    }

    /// Whether many of the objects hold several others of their type.
    fn branches(&self, scene: &Scene<'_, '_>) -> bool {
        let element = &self.descent.steps[self.element];
        let holds_several = |member: &u32| {
            scene
                .children(*member)
                .filter(|child| scene.kin(*child) == element.kin)
                .nth(1)
                .is_some()
        };
        element.is_tree
            || element.members().filter(holds_several).count() * BRANCHES >= element.count()
    }

    fn is_collection(&self, scene: &Scene<'_, '_>, step: usize) -> bool {
        matches!(scene.role_of_kin(self.descent.steps[step].kin), Role::Collection(_))
    }

    /// Bytes outside of the managed heap.
    fn external(&self, scene: &Scene<'_, '_>) -> u64 {
        self.externals(scene).fold(0_u64, |sum, (_, bytes)| sum.saturating_add(bytes))
    }

    /// The numbers of the objects below the heads that hold bytes outside of the managed heap, with
    /// these bytes.
    fn externals(&self, scene: &Scene<'_, '_>) -> impl Iterator<Item = (u32, u64)> {
        let externals = scene.heap().externals();
        let heads = if externals.is_empty() { &[] } else { self.heads() };
        let mut ranges: Vec<_> = heads.iter().map(|head| (*head, scene.end(*head))).collect();
        ranges.sort_unstable();
        let holds = move |number: &u32| {
            let after = ranges.partition_point(|(start, _)| start <= number);
            after > 0 && *number < ranges[after - 1].1
        };
        let numbered = |(object, bytes): &(ObjectId, u64)| Some((scene.number(*object)?, *bytes));
        externals.iter().filter_map(numbered).filter(move |(number, _)| holds(number))
    }

    /// The element type that the array declares, if the objects' own type is not the program's.
    fn declared(&self, scene: &Scene<'_, '_>) -> Option<String> {
        let element = &self.descent.steps[self.element];
        let role = |name: &str| scene.named_role(name).unwrap_or(Role::Program);
        if scene.role_of_kin(element.kin) == Role::Program {
            return None;
        }
        let array = self.element.checked_sub(1).filter(|_| element.count() > 1)?;
        let name = scene.name(self.descent.steps[array].kin);
        let inner = name.strip_prefix("[]").or(name.strip_suffix("[]"))?;
        let inner = inner.trim_start_matches('*');
        let says_more = matches!(role(inner), Role::Program | Role::Timer | Role::Task)
            && !inner.contains(['[', '(', ' '])
            && inner.contains('.');
        says_more.then(|| inner.to_owned())
    }

    fn is_runtime(
        &self,
        scene: &Scene<'_, '_>,
        kind: SuspectKind,
        what: &What,
        named: &[Named],
    ) -> bool {
        let declared = matches!(what, What::Objects(_, Some(_)));
        let of_program = self.roles(scene).any(is_own);
        let of_names = named.iter().filter(|named| named.is_program == Some(true)).count();
        let held = of_names > 0 && of_names * 2 >= named.len();
        let element = &self.descent.steps[self.element];
        let (role, count) = (scene.role_of_kin(element.kin), element.count() as u64);
        let entries = named.iter().filter_map(|named| named.holder.entries).max();
        let are_entries = !role.is_hidden() && entries.is_some_and(|entries| entries >= count / 2);
        // This much is a finding even if the runtime allocated it, for open archives, say.
        let is_much = self.bytes >= scene.live() / GROWN;
        let by_kind = match kind {
            SuspectKind::Threads
            | SuspectKind::Timers
            | SuspectKind::Tasks
            | SuspectKind::Detached => true,
            SuspectKind::Loaders => {
                let name = scene.name(element.kin);
                scene.named_role(name).is_none_or(|role| role == Role::Program)
            }
            SuspectKind::Slices => is_much,
            // The text of code has no holder.
            SuspectKind::Large | SuspectKind::Single => {
                is_much && !named.is_empty() && !role.is_part() && !role.is_hidden()
            }
            SuspectKind::Closures => is_much && (are_entries || count >= MANY_CLOSURES),
            SuspectKind::Collection | SuspectKind::Many | SuspectKind::External => {
                is_much && are_entries
            }
            _ => false,
        };
        !(declared || of_program || held || by_kind)
    }

    /// The retained bytes of the objects, without those of other objects of the finding.
    fn each(&self, scene: &Scene<'_, '_>) -> EachSize {
        let element = &self.descent.steps[self.element];
        let is_whole = element.inner.is_empty();
        let size = |member: u32| {
            let is_same = |child: &u32| !is_whole && scene.kin(*child) == element.kin;
            let same = scene.children(member).filter(is_same);
            same.fold(scene.bytes(member), |bytes, child| bytes.saturating_sub(scene.bytes(child)))
        };
        if !self.threads.is_empty() {
            let bytes = self.bytes / self.threads.len() as u64;
            return EachSize { min: bytes, median: bytes, max: bytes };
        }
        // Half of the memory will do, unless one of the objects is that large.
        let short = |member| u32::try_from(size(member)).unwrap_or(u32::MAX);
        let [min, median, max] = match least_middle_most(element, short) {
            [_, _, u32::MAX] => least_middle_most(element, size),
            sizes => sizes.map(u64::from),
        };
        EachSize { min, median, max }
    }

    /// The threads among the owners.
    fn holding_threads(&self, scene: &Scene<'_, '_>) -> Vec<u32> {
        if !self.threads.is_empty() {
            return self.threads.clone();
        }
        let steps = &self.descent.steps[..=self.element];
        let Some(step) = steps.iter().find(|step| scene.role_of_kin(step.kin) == Role::Thread)
        else {
            return Vec::new();
        };
        let mut elements: Vec<u32> = steps[self.element].members().collect();
        elements.sort_unstable();
        let holds = |number: &u32| {
            let at = elements.partition_point(|element| element < number);
            elements.get(at).is_some_and(|element| *element < scene.end(*number))
        };
        let objects: FxHashSet<ObjectId> =
            step.members().filter(holds).filter_map(|number| scene.object(number)).collect();
        let threads = (0..).zip(&scene.heap().threads);
        let found = threads
            .filter(|(_, thread)| thread.object.is_some_and(|object| objects.contains(&object)));
        found.map(|(row, _)| row).collect()
    }

    /// The types of the objects that the heads dominate, with their shallow bytes.
    fn consists_of(&self, scene: &Scene<'_, '_>) -> Vec<Portion> {
        let whole = |head: &u32| *head..scene.end(*head);
        let sums = match self.heads() {
            [only] => {
                let all = whole(only);
                let part = |start: u32| start..all.end.min(start.saturating_add(PART as u32));
                let parts = all.clone().into_par_iter().step_by(PART).map(part);
                sums_by_type(scene, parts.map(iter::once))
            }
            heads => {
                let parts = heads.par_chunks(PART);
                sums_by_type(scene, parts.map(|heads| heads.iter().map(whole)))
            }
        };
        let parts = (0..).zip(sums).filter(|(_, (_, bytes))| *bytes > 0);
        let mut parts: Vec<Portion> =
            parts.map(|(kin, (count, bytes))| Portion { of: TypeId(kin), count, bytes }).collect();
        parts.sort_unstable_by_key(|part| (Reverse(part.bytes), part.of));
        parts.truncate(MOST_PARTS);
        parts
    }
}

/// The least, the middle and the greatest of the sizes of a group's members.
fn least_middle_most<T: Copy + Default + Ord + Send>(
    group: &Group,
    size: impl Fn(u32) -> T + Sync,
) -> [T; 3] {
    let mut sizes = parallel::column(group.count(), |first, sizes| {
        for (place, member) in sizes.iter_mut().zip(group.members().skip(first)) {
            *place = size(member);
        }
    });
    let (Some(&least), Some(&most)) = (sizes.iter().min(), sizes.iter().max()) else {
        return [T::default(); 3];
    };
    let middle = sizes.len() / 2;
    [least, *sizes.select_nth_unstable(middle).1, most]
}

/// The counts and shallow bytes, by type, of the objects with the numbers of some ranges.
fn sums_by_type(
    scene: &Scene<'_, '_>,
    parts: impl ParallelIterator<Item: Iterator<Item = Range<u32>>>,
) -> Vec<(u64, u64)> {
    let none = || vec![(0_u64, 0_u64); scene.heap().types.len()];
    let add = |(count, sum): &mut (u64, u64), more: u64, bytes: u64| {
        *count += more;
        *sum = sum.saturating_add(bytes);
    };
    parts
        .fold(none, |mut sums, part| {
            for range in part {
                for number in range {
                    let bytes =
                        scene.object(number).map_or(0, |object| scene.heap().shallow_bytes(object));
                    add(&mut sums[scene.shown_as(number) as usize], 1, bytes);
                }
            }
            sums
        })
        .reduce(none, |mut sums, others| {
            sums.iter_mut().zip(others).for_each(|(sum, (count, bytes))| add(sum, count, bytes));
            sums
        })
}
