//! The owners of a heap that hold enough to be examined.

use super::alike::{divide, is_divisible, sample, sample_of};
use super::candidate::Candidate;
use super::descent::{Descent, is_enough, thread_local_entries};
use super::holders::{Holders, Outsides};
use super::partition::Partition;
use super::scene::{Group, Scene};
use super::union::Owners;
use crate::analysis::flood::{ALL, NOTHING};
use crate::model::heap::Role;
use rustc_hash::{FxHashMap, FxHashSet};

/// The owners that hold enough.
pub(super) fn candidates(
    scene: &Scene<'_, '_>,
    partition: &mut Partition,
    owners: &Owners<'_>,
    least: u64,
) -> Vec<Candidate> {
    let (mut candidates, tops) =
        threads(scene, partition, owners, Enough { threads: 2, bytes: least, locals: false });
    let mut many = Vec::new();
    for mut group in scene.groups(&tops) {
        let singles: Vec<u32> = partition.alone(scene, &group).collect();
        if !singles.is_empty() {
            // The singles are in the order of the heads.
            let mut rest = singles.iter().copied().peekable();
            group.heads.retain(|head| rest.next_if_eq(head).is_none());
        }
        for single in singles {
            group.bytes = group.bytes.saturating_sub(scene.bytes(single));
            candidates.push(Candidate::along_way(scene, partition.way(scene, single)));
        }
        if group.bytes >= least {
            many.push(group);
        }
    }
    let divided = many.iter().filter(|group| is_divisible(group));
    let holders = Holders::of(scene, divided.flat_map(sample));
    let mut outsides = Outsides::default();
    for group in many {
        let parts = divide(scene, &holders, &mut outsides, group);
        let large = parts.into_iter().enumerate().filter(|(at, part)| {
            (*at == 0 || part.bytes >= least) && !are_mixed(scene, part, least)
        });
        candidates.extend(large.map(|(_, part)| Candidate::of(scene, part)));
    }
    candidates
}

/// Whether one object of a type that says nothing holds most of a group, but it alone and the others
/// too little for a finding: they have nothing in common.
fn are_mixed(scene: &Scene<'_, '_>, group: &Group, least: u64) -> bool {
    let largest = group.heads.iter().map(|head| scene.bytes(*head)).max().unwrap_or(0);
    scene.role_of_kin(group.kin) == Role::Runtime
        && group.heads.len() > 2
        && largest < least
        && is_enough(largest, group.bytes)
        && group.bytes - largest < least
}

/// Adds to a finding the owners of its named type that also have a holder outside: one of the
/// entries of a queue is being processed, so a thread holds it as well. `alike` are the owners in
/// no finding.
pub(super) fn adopt(
    scene: &Scene<'_, '_>,
    holders: &Holders,
    candidates: &mut [Candidate],
    alike: &[u32],
) {
    let mut taken = FxHashSet::default();
    for candidate in candidates {
        let ranges = Ranges::of(scene, candidate.heads());
        let Some(before) = candidate.before(scene) else { continue };
        let mut adopted = Vec::new();
        for &top in alike.iter().filter(|top| Some(scene.kin(**top)) == candidate.kin()) {
            let mut sources = holders.of_number(scene, top);
            let is_held = sources.any(|held| {
                scene.kin(held.from) == before.0
                    && (before.1 == Role::Finalizer || ranges.contain(held.from))
            });
            if is_held && taken.insert(top) {
                adopted.push(top);
            }
        }
        candidate.adopt(scene, &adopted);
    }
}

/// Removes candidates that only objects of a larger one hold, because several of these share them.
pub(super) fn absorb(scene: &Scene<'_, '_>, holders: &Holders, candidates: &mut Vec<Candidate>) {
    let mut kept: Vec<Candidate> = Vec::new();
    let mut ranges: Vec<Ranges> = Vec::new();
    for candidate in candidates.drain(..) {
        let is_within = |ranges: &Ranges| {
            sample_of(candidate.heads()).all(|head| {
                let is_root =
                    scene.object(head).is_some_and(|object| holders.root(object).is_some());
                let mut sources = holders.of_number(scene, head).peekable();
                !is_root
                    && sources.peek().is_some()
                    && sources.all(|held| ranges.contain(held.from))
            })
        };
        if !ranges.iter().any(is_within) {
            ranges.push(Ranges::of(scene, candidate.heads()));
            kept.push(candidate);
        }
    }
    *candidates = kept;
}

/// The objects that some objects dominate, as ranges of numbers.
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn of(scene: &Scene<'_, '_>, heads: &[u32]) -> Self {
        let mut ranges: Vec<_> = heads.iter().map(|head| (*head, scene.end(*head))).collect();
        ranges.sort_unstable();
        Self(ranges)
    }

    fn contain(&self, number: u32) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= number);
        after > 0 && number < self.0[after - 1].1
    }
}

/// The minimum size of a finding about threads.
#[derive(Clone, Copy)]
pub(super) struct Enough {
    pub(super) threads: usize,
    pub(super) bytes: u64,
    /// Whether threads count that mostly hold the values of thread-local variables. The variable is
    /// more informative than their stack, which is often that of waiting for work.
    pub(super) locals: bool,
}

/// The owners that only threads with one stack hold, and all other owners.
pub(super) fn threads(
    scene: &Scene<'_, '_>,
    partition: &Partition,
    owners: &Owners<'_>,
    enough: Enough,
) -> (Vec<Candidate>, Vec<u32>) {
    if scene.heap().threads.len() < enough.threads {
        return (Vec::new(), partition.tops.clone());
    }
    let (group_of, holder) = owners.by_threads(scene, &partition.tops);
    let mut groups: Vec<(Vec<u32>, Group)> = Vec::new();
    for (thread, group) in (0..).zip(&group_of) {
        if groups.len() <= *group as usize {
            groups.resize_with(*group as usize + 1, Default::default);
        }
        groups[*group as usize].0.push(thread);
    }
    for (&top, &holder) in partition.tops.iter().zip(&holder) {
        if !is_shared(holder) {
            let group = &mut groups[holder as usize - 1].1;
            group.heads.push(top);
            group.bytes = group.bytes.saturating_add(scene.bytes(top));
        }
    }
    // The object of a thread belongs to the objects that its stack holds.
    let of_object: FxHashMap<u32, u32> = (scene.heap().threads.iter().zip(&group_of))
        .filter_map(|(thread, group)| Some((scene.number(thread.object?)?, *group)))
        .collect();
    let mut own = vec![0_u64; groups.len()];
    for (&top, _) in partition.tops.iter().zip(&holder).filter(|(_, holder)| is_shared(**holder)) {
        if let Some(own) = of_object.get(&top).and_then(|group| own.get_mut(*group as usize)) {
            *own = own.saturating_add(scene.own(top));
        }
    }
    let is_found = |((threads, group), own): (&(Vec<u32>, Group), &u64)| {
        threads.len() >= enough.threads
            && group.bytes.saturating_add(*own) >= enough.bytes
            && (enough.locals || !is_thread_local(scene, group))
    };
    let found: Vec<bool> = groups.iter().zip(&own).map(is_found).collect();
    let mut others = Vec::new();
    for (&top, &holder) in partition.tops.iter().zip(&holder) {
        let is_thread = is_shared(holder);
        let group = if is_thread { of_object.get(&top).copied() } else { Some(holder - 1) };
        match group.filter(|group| found[*group as usize]) {
            None => others.push(top),
            Some(group) if is_thread => {
                let group = &mut groups[group as usize].1;
                group.heads.push(top);
                group.bytes = group.bytes.saturating_add(scene.bytes(top));
            }
            Some(_) => {}
        }
    }
    let groups = groups.into_iter().zip(found).filter(|(_, found)| *found);
    let candidates = groups.map(|((threads, group), _)| Candidate::of_threads(threads, group));
    (candidates.collect(), others)
}

/// Whether an owner is not held by threads with one stack only.
fn is_shared(holder: u32) -> bool {
    matches!(holder, ALL | NOTHING)
}

/// Whether most of the memory that threads hold is in their thread-local variables.
fn is_thread_local(scene: &Scene<'_, '_>, group: &Group) -> bool {
    let objects = group.heads.iter().copied();
    let objects = objects.filter(|number| scene.role(*number) == Role::Thread);
    let Some(threads) = scene.groups(&objects.collect::<Vec<u32>>()).into_iter().next() else {
        return false;
    };
    threads.bytes >= group.bytes / 2 && {
        thread_local_entries(scene, &Descent::of(scene, threads).steps).is_some()
    }
}
