//! The growth between two heaps: an owner of the newer one, found again in the older one.
//!
//! The two heaps are never in memory together. The newer one is divided first, and each of its
//! owners is described by names. The search in the older heap is for a holder of the same name,
//! with objects of the same types below it.

use super::alike::{MOST_MEMBERS, divide};
use super::candidate::Candidate;
use super::candidates::{Enough, threads};
use super::descent::is_own;
use super::finding::{Holder, Suspect};
use super::holders::Holders;
use super::named::Naming;
use super::partition::Partition;
use super::scene::{Group, Scene};
use super::union::Owners;
use super::{LEAST_BYTES, Surveyed, findings, together};
use crate::analysis::collections::Collections;
use crate::analysis::threads::program_functions;
use crate::model::heap::{Heap, Role, Thread, ThreadKind};
use crate::parallel::{self, PART};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::cmp::Reverse;

/// An owner with less than 1/`LEAST_PART` of the newer heap is not examined.
const LEAST_PART: u64 = 500;

/// The maximum number of owners to find in the older heap.
const MOST_OWNERS: usize = 24;

/// The maximum number of divisions of the objects of one type to examine, largest first.
const MOST_DIVISIONS: usize = 64;

/// The maximum number of objects whose contents are examined for an owner, largest first.
const MOST_EXAMINED: usize = 16;

/// An owner that grew by less than 1/`LEAST_GROWTH` of the growth of the heap does not explain it.
const LEAST_GROWTH: u64 = 10;

/// The maximum number of objects between the holder and the owner.
const MOST_UP: usize = 64;

/// An owner of a heap, with the data to find it in an older heap.
#[derive(Clone, Debug)]
pub struct TracedOwner {
    /// The facts about the owner.
    pub finding: Suspect,
    trace: Trace,
}

/// The size of an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The number of objects in which the memory accumulates.
    pub count: u64,
    /// Bytes that would be freed with the owner.
    pub bytes: u64,
}

impl Size {
    fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, bytes: self.bytes.saturating_add(other.bytes) }
    }
}

/// The owner that grew most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    /// The place of the owner in the list of owners.
    pub owner: usize,
    /// Its size in the older heap.
    pub old: Size,
    /// Its size in the newer heap.
    pub new: Size,
}

impl Grown {
    /// The growth in bytes.
    pub fn bytes(&self) -> u64 {
        self.new.bytes.saturating_sub(self.old.bytes)
    }
}

/// A type by name and namespace.
type TypeName = (String, String);

/// The data that identifies an owner in another heap.
#[derive(Clone, Debug)]
struct Trace {
    stack: Option<Stack>,
    /// The types from the owner to the objects in which the memory accumulates.
    steps: Vec<TypeName>,
    /// The step that is the one holder.
    container: Option<usize>,
    /// The type of the object that dominates the owner.
    above: TypeName,
    /// The bytes that the heads of the owner hold.
    bytes: u64,
    /// The live objects of the type in which the memory accumulates.
    alike: Size,
    /// The bytes of all live objects.
    live: u64,
}

/// The stack of threads.
type Stack = (ThreadKind, String, String);

/// Finds the owners of the newer of two heaps, those with most bytes first.
pub fn owners(measured: Surveyed<'_, '_>, collections: &Collections<'_, '_>) -> Vec<TracedOwner> {
    let live = measured.tree.live_bytes();
    if live == 0 {
        return Vec::new();
    }
    let scene = Scene::new(measured, collections);
    let found = findings(&scene, collections, (live / LEAST_PART).max(LEAST_BYTES), MOST_OWNERS);
    let alike = alike(&scene, found.iter().filter_map(|(candidate, _)| candidate.kin()));
    let owner = |(candidate, finding): (Candidate, Suspect)| {
        let trace = Trace::of(&scene, &candidate, &alike);
        TracedOwner { finding, trace }
    };
    found.into_iter().map(owner).collect()
}

/// Finds the owner that grew most since an older heap. `None` if none did. An owner of the runtime
/// counts half, so that the program's own come first.
pub fn grown(
    measured: Surveyed<'_, '_>,
    collections: &Collections<'_, '_>,
    owners: &[TracedOwner],
) -> Option<Grown> {
    let scene = Scene::new(measured, collections);
    let past = Past::of(&scene, collections, owners);
    let heads = past.heads(owners);
    let sum = |heads: &[u32]| {
        heads.iter().fold(0, |sum: u64, head| sum.saturating_add(scene.bytes(*head)))
    };
    let mut ranked: Vec<(u64, usize)> = (owners.iter().zip(&heads).enumerate())
        .map(|(at, (owner, heads))| {
            (owner.trace.bytes.saturating_sub(sum(heads)) >> u8::from(owner.finding.is_runtime), at)
        })
        .filter(|(rise, _)| *rise > 0)
        .collect();
    ranked.sort_unstable_by_key(|(rise, at)| (Reverse(*rise), *at));
    let may_be = ranked
        .into_iter()
        .filter(|(_, at)| past.may_have_grown(&owners[*at].trace, !heads[*at].is_empty()));
    let mut sized = may_be.map(|(_, at)| {
        let new = Size { count: owners[at].finding.count, bytes: owners[at].finding.bytes };
        Grown { owner: at, old: past.size(&owners[at], &heads[at]), new }
    });
    sized.find(|grown| {
        let trace = &owners[grown.owner].trace;
        grown.bytes() > trace.live.saturating_sub(scene.live()) / LEAST_GROWTH
            && past.is_plausible(trace, &heads[grown.owner], grown)
    })
}

impl Trace {
    fn of(scene: &Scene<'_, '_>, candidate: &Candidate, alike: &Alike) -> Self {
        let heap = scene.heap();
        let first = candidate.threads.first().map(|row| &heap.threads[*row as usize]);
        let steps = &candidate.descent.steps[..=candidate.element];
        let heads = candidate.heads();
        Self {
            stack: first.map(|thread| stack(heap, thread)),
            steps: steps.iter().map(|step| type_name(scene, step.kin)).collect(),
            container: candidate.container,
            above: above(scene, heads[0]),
            bytes: heads.iter().fold(0, |sum, head| sum.saturating_add(scene.bytes(*head))),
            alike: candidate.kin().and_then(|kin| alike.get(&kin)).copied().unwrap_or_default(),
            live: scene.live(),
        }
    }
}

fn type_name(scene: &Scene<'_, '_>, kin: u32) -> TypeName {
    let Some(type_row) = scene.heap().types.get(kin as usize) else { return TypeName::default() };
    let text = |name| scene.heap().names.text(name).to_owned();
    (text(type_row.name), text(type_row.namespace))
}

/// The last part of a holder's name: `sessions` of `app.js: store.sessions`.
fn variable(label: &str) -> &str {
    label.rsplit(['.', ' ']).next().unwrap_or(label)
}

/// The type of the object that dominates an object; empty for roots and synthetic objects.
fn above(scene: &Scene<'_, '_>, number: u32) -> TypeName {
    let above = scene.dominator(number);
    match scene.role(above) {
        Role::Passage | Role::Loader => TypeName::default(),
        _ => type_name(scene, scene.kin(above)),
    }
}

/// The live objects of some types: their number, and the sum of what each retains.
type Alike = FxHashMap<u32, Size>;

fn alike(scene: &Scene<'_, '_>, kins: impl Iterator<Item = u32>) -> Alike {
    let none: Alike = kins.map(|kin| (kin, Size::default())).collect();
    let end = scene.end(0);
    let parts = parallel::map((1..end).step_by(PART), |first| {
        let mut sums = none.clone();
        for number in first..end.min(first.saturating_add(PART as u32)) {
            if let Some(sum) = sums.get_mut(&scene.kin(number)) {
                *sum = sum.and(Size { count: 1, bytes: scene.bytes(number) });
            }
        }
        sums
    });
    parts.into_iter().flatten().fold(none.clone(), |mut all, (kin, more)| {
        let sum = all.entry(kin).or_default();
        *sum = sum.and(more);
        all
    })
}

fn stack(heap: &Heap<'_>, thread: &Thread) -> Stack {
    let function = program_functions(heap, thread).first().map_or("", |(function, _)| function);
    (thread.kind, function.to_owned(), heap.names.text(thread.state).to_owned())
}

/// The older heap.
struct Past<'p, 's, 'a> {
    scene: &'p Scene<'s, 'a>,
    collections: &'p Collections<'p, 'a>,
    /// The types by name. The first of several types with one name represents all of them.
    kins: FxHashMap<TypeName, u32>,
    /// By the types in which the memory of owners accumulates.
    alike: Alike,
    /// The last division of the heap.
    divided: RefCell<Option<(Partition, Owners<'s>)>>,
}

impl<'p, 's, 'a> Past<'p, 's, 'a> {
    fn of(
        scene: &'p Scene<'s, 'a>,
        collections: &'p Collections<'p, 'a>,
        owners: &[TracedOwner],
    ) -> Self {
        let kins = (0..scene.heap().types.len() as u32).rev();
        let kins: FxHashMap<_, _> = kins.map(|kin| (type_name(scene, kin), kin)).collect();
        let elements = owners.iter().filter_map(|owner| kins.get(owner.trace.steps.last()?));
        let alike = alike(scene, elements.copied());
        Self { scene, collections, kins, alike, divided: RefCell::default() }
    }

    /// Whether it is worth finding an owner, or computing its size. If no single holder `is_found`, and its
    /// type has neither more nor larger objects than before, no size is plausible.
    fn may_have_grown(&self, trace: &Trace, is_found: bool) -> bool {
        let before = self.alike(trace);
        (trace.container.is_some() && is_found)
            || trace.stack.is_some()
            || trace.alike.count > before.count
            || trace.alike.bytes > before.bytes
    }

    /// The objects of the type in which the memory accumulates.
    fn alike(&self, trace: &Trace) -> Size {
        let kin = trace.steps.last().and_then(|element| self.kins.get(element));
        kin.and_then(|kin| self.alike.get(kin)).copied().unwrap_or_default()
    }

    /// Whether objects can be new in an owner: its single holder existed before, or all objects of
    /// their type became more. If no holder was found, they became as many more, and the owner is not
    /// larger than the growth of the heap. If as many objects or a single one became larger, so did
    /// all of their type, because others may have been found. Otherwise they have a holder of another
    /// name now.
    fn is_plausible(&self, trace: &Trace, heads: &[u32], grown: &Grown) -> bool {
        let is_held = trace.container.is_some() && !heads.is_empty();
        let more = grown.new.count.saturating_sub(grown.old.count);
        let are_as_many = more == 0 && (!is_held || grown.new.count == 1);
        if is_held && !are_as_many {
            return true;
        }
        if heads.is_empty() && grown.bytes() > trace.live.saturating_sub(self.scene.live()) {
            return false;
        }
        if trace.stack.is_some() {
            return true;
        }
        let before = self.alike(trace);
        if are_as_many {
            return trace.alike.bytes.saturating_sub(before.bytes) >= grown.bytes().div_ceil(2);
        }
        let least = if heads.is_empty() { more - more / 10 } else { more.div_ceil(2) };
        trace.alike.count.saturating_sub(before.count) >= least
    }

    /// The objects that each owner consisted of in the older heap.
    fn heads(&self, owners: &[TracedOwner]) -> Vec<Vec<u32>> {
        let scene = self.scene;
        let objects = self.objects(owners);
        let looked_at =
            objects.iter().flat_map(|objects| objects.iter().copied().take(MOST_MEMBERS));
        let holders = Holders::of(scene, looked_at);
        let mut naming = Naming::new(scene, holders, self.collections);
        let each: Vec<_> = owners.iter().zip(&objects).collect();
        let mut heads =
            naming.of_each(&each, |naming, (owner, objects)| self.found(naming, owner, objects));
        let of_threads = self.of_threads(owners);
        for (heads, found) in heads.iter_mut().zip(of_threads) {
            heads.extend(found);
        }
        heads
    }

    /// For each owner, the objects that may have been its one holder, or its members.
    fn objects(&self, owners: &[TracedOwner]) -> Vec<Vec<u32>> {
        let scene = self.scene;
        let wanted =
            |owner: &TracedOwner| owner.trace.steps[owner.trace.container.unwrap_or(0)].clone();
        let mut of_kin: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        let of_objects = owners.iter().enumerate().filter(|(_, owner)| {
            owner.trace.stack.is_none() && self.may_have_grown(&owner.trace, true)
        });
        for (at, owner) in of_objects {
            if let Some(kin) = self.kins.get(&wanted(owner)) {
                of_kin.entry(*kin).or_default().push(at);
            }
        }
        let mut objects = vec![Vec::new(); owners.len()];
        for number in 1..scene.end(0) {
            for &at in of_kin.get(&scene.kin(number)).into_iter().flatten() {
                if self.may_be(&owners[at].trace, number) {
                    objects[at].push(number);
                }
            }
        }
        for (objects, owner) in objects.iter_mut().zip(owners) {
            if owner.trace.container.is_some() {
                objects.sort_unstable_by_key(|number| (Reverse(scene.bytes(*number)), *number));
                objects.truncate(MOST_MEMBERS);
            }
        }
        objects
    }

    /// Whether an object can have been the holder, or one of the members. Members have a dominator
    /// of the same type as now, or are the program's own.
    fn may_be(&self, trace: &Trace, number: u32) -> bool {
        let scene = self.scene;
        let kin = scene.kin(number);
        let is_top = || scene.kin(scene.dominator(number)) != kin;
        trace.container.is_some()
            || above(scene, number) == trace.above
            || is_own(scene.role_of_kin(kin)) && is_top()
    }

    /// The objects, among these, that the owner consisted of.
    fn found(
        &self,
        naming: &mut Naming<'_, '_, '_>,
        owner: &TracedOwner,
        objects: &[u32],
    ) -> Vec<u32> {
        let (scene, trace) = (self.scene, &owner.trace);
        if trace.container.is_some() {
            let wanted = owner.finding.holders.first().map_or("", |holder| &holder.label);
            let label = |number: u32| {
                naming.holders.place(scene, number).map_or_else(String::new, |place| place.label)
            };
            let heads = || objects.iter().map(|number| (*number, self.head(trace, *number)));
            // Several paths with other names may lead to a variable, such as those of the functions
            // that use it, and each heap has the shortest of its own.
            let is_alike = |(number, head): &(u32, u32)| {
                above(scene, *head) == trace.above && variable(&label(*number)) == variable(wanted)
            };
            let elements =
                |head: u32| self.along(trace, scene.single(head)).and_then(|found| found.kin());
            // Objects of the program's own type say as much as a name.
            let has_own = |(_, head): &(u32, u32)| {
                elements(*head).is_some_and(|kin| is_own(scene.role_of_kin(kin)))
            };
            let mut first = None;
            let same = heads().filter(|(number, _)| label(*number) == wanted).take(MOST_EXAMINED);
            let found = same
                .inspect(|same| _ = first.get_or_insert(*same))
                .find(|(_, head)| elements(*head).is_some())
                .or(first)
                .or_else(|| heads().find(is_alike).filter(|_| !wanted.is_empty()))
                .or_else(|| heads().take(MOST_EXAMINED).find(has_own));
            return found.map(|(_, head)| head).into_iter().collect();
        }
        let Some(first) = objects.first() else { return Vec::new() };
        let bytes = objects.iter().fold(0, |sum, number| scene.bytes(*number).saturating_add(sum));
        let group =
            Group { kin: scene.kin(*first), heads: objects.to_vec(), bytes, ..Group::default() };
        let parts = divide(scene, &naming.holders, &mut naming.outsides, group);
        let is_it = |part: &Group| {
            let candidate = Candidate::of(scene, part.clone());
            let held: Vec<Holder> =
                naming.holders(&candidate).into_iter().map(|named| named.holder).collect();
            let now = &owner.finding.holders;
            let labels = |all: &[Holder], label: &str| all.iter().any(|one| one.label == label);
            (held.is_empty() && now.is_empty()) || held.iter().any(|one| labels(now, &one.label))
        };
        parts.into_iter().take(MOST_DIVISIONS).find(is_it).map_or(Vec::new(), |part| part.heads)
    }

    /// The owner that contains a holder.
    fn head(&self, trace: &Trace, holder: u32) -> u32 {
        let scene = self.scene;
        if trace.container == Some(0) {
            return holder;
        }
        let up = |number: &u32| Some(scene.dominator(*number)).filter(|up| *up > 0);
        let mut above = std::iter::successors(Some(holder), up).take(MOST_UP);
        above
            .find(|number| type_name(scene, scene.kin(*number)) == trace.steps[0])
            .unwrap_or(holder)
    }

    /// The objects that the threads of each owner held.
    fn of_threads(&self, owners: &[TracedOwner]) -> Vec<Vec<u32>> {
        let scene = self.scene;
        let mut heads = vec![Vec::new(); owners.len()];
        if owners.iter().all(|owner| owner.trace.stack.is_none()) {
            return heads;
        }
        for candidate in self.threads() {
            let stack = stack(scene.heap(), &scene.heap().threads[candidate.threads[0] as usize]);
            let at = owners.iter().position(|owner| owner.trace.stack.as_ref() == Some(&stack));
            heads
                .get_mut(at.unwrap_or(usize::MAX))
                .into_iter()
                .for_each(|heads| heads.extend(candidate.heads()));
        }
        heads
    }

    fn threads(&self) -> Vec<Candidate> {
        let enough = Enough { threads: 1, bytes: 0, locals: true };
        self.divided(&[], |partition, owners| threads(self.scene, partition, owners, enough).0)
    }

    /// Divides the heap so that these objects are owners, and calls a function with them. Most are owners
    /// anyway, so that several calls need the same division.
    fn divided<T>(&self, heads: &[u32], with: impl FnOnce(&Partition, &Owners<'s>) -> T) -> T {
        let partition = Partition::around(self.scene, heads);
        let mut last = self.divided.borrow_mut();
        let same = last.take().filter(|(last, _)| last.divides_like(&partition));
        let (partition, owners) = last.insert(same.unwrap_or_else(|| {
            let owners = Owners::of(self.scene, &partition);
            (partition, owners)
        }));
        with(partition, owners)
    }

    /// The size of an owner that consisted of these objects.
    fn size(&self, owner: &TracedOwner, heads: &[u32]) -> Size {
        let (scene, trace) = (self.scene, &owner.trace);
        if let Some(wanted) = &trace.stack {
            let all = &scene.heap().threads;
            let count = all.iter().filter(|thread| stack(scene.heap(), thread) == *wanted).count();
            let bytes =
                self.divided(heads, |partition, owners| owners.bytes(scene, &[heads], partition));
            return Size { count: count as u64, bytes: bytes[0] };
        }
        let Some(first) = heads.first() else { return Size::default() };
        let bytes = heads.iter().fold(0, |sum, head| scene.bytes(*head).saturating_add(sum));
        let group =
            Group { kin: scene.kin(*first), heads: heads.to_vec(), bytes, ..Group::default() };
        let is_element = |candidate: &Candidate| {
            candidate.kin().map(|kin| type_name(scene, kin)).as_ref() == trace.steps.last()
        };
        let found = Some(Candidate::of(scene, group.clone())).filter(is_element);
        let Some(candidate) = found.or_else(|| self.along(trace, group)) else {
            return Size { count: 0, bytes };
        };
        let mut one = vec![candidate];
        self.divided(heads, |partition, owners| together(scene, partition, owners, &mut one));
        one.first()
            .map_or(Size { count: 0, bytes }, |one| Size { count: one.count(), bytes: one.bytes })
    }

    /// The candidate whose path goes down through the same types.
    fn along(&self, trace: &Trace, group: Group) -> Option<Candidate> {
        let scene = self.scene;
        let mut steps = vec![group];
        for wanted in &trace.steps[1..] {
            let mut last = steps.pop()?;
            scene.complete(&mut last);
            let below = scene.below(&last);
            let held = below.iter().find(|held| type_name(scene, held.kin) == *wanted)?;
            let next = scene.group_below(&last, held);
            steps.extend([last, next]);
        }
        scene.complete(steps.last_mut()?);
        Some(Candidate::along(scene, steps))
    }
}
