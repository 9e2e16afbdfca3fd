//! The verdict: what holds the memory of a heap, in a few findings that name the holder.
//!
//! * `partition` divides the live heap among its highest owners, each byte once. What is an owner
//!   only to the runtime is opened: class objects, class loaders, the global object of a page.
//! * `alike` makes one owner of many objects of one type whose holders look alike, even if no
//!   single object dominates them; `union` adds up what they hold together.
//! * `descent` goes down from an owner to where its memory fans out, so that the objects in a
//!   collection are named and not its nodes.
//! * `holders` names what holds an owner: `app.Cache.ENTRIES`;
//! * `via` names the suspended call or the closure through which the owner is held.
//!
//! The [roles](crate::model::heap::Role) of types, which come with the heap, identify collections,
//! threads, timers, and objects that belong to the runtime and not to the program.

mod alike;
mod candidate;
mod candidates;
mod descent;
mod finding;
mod grown;
mod holders;
mod incoming;
mod leaked;
mod named;
mod partition;
mod place;
mod scene;
mod union;
mod via;
mod way;

pub use finding::{AND_OTHERS, EachSize, Holder, Portion, Suspect, SuspectKind, What};
pub use grown::{Grown, Size, TracedOwner, grown, owners};

use super::collections::Collections;
use super::dominator_tree::DominatorTree;
use super::graph::Graph;
use super::object_set::ObjectSet;
use crate::model::heap::{Heap, ObjectId, Unreached};
use crate::parallel::{self, PART};
use alike::MOST_MEMBERS;
use candidate::Candidate;
use candidates::{absorb, adopt, candidates};
use holders::Holders;
use named::Naming;
use partition::Partition;
use rustc_hash::FxHashSet;
use scene::Scene;
use std::cmp::Reverse;
use union::Owners;

/// An owner with a smaller share of the live heap is not a finding, in percent.
pub const LEAST_SHARE: u64 = 5;

/// Smaller owners are not findings, whatever their share.
pub const LEAST_BYTES: u64 = 4096;

/// Smaller owners are findings, but not suspects: they do not harm any process.
pub const LEAST_SUSPECT: u64 = 64 << 10;

/// The maximum number of findings to describe.
const MOST_FINDINGS: usize = 12;

/// A heap with its graph and dominator tree.
#[derive(Clone, Copy)]
pub struct Surveyed<'s, 'a> {
    /// The heap.
    pub heap: &'s Heap<'a>,
    /// The strong references of the heap.
    pub graph: &'s Graph<'s>,
    /// The dominator tree of the heap.
    pub tree: &'s DominatorTree,
}

/// The owners of a heap's memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The owners that belong to the program, those with most bytes first. Their bytes add up to at
    /// most the live heap.
    pub suspects: Vec<Suspect>,
    /// The owners that are the runtime's own, or too small to be suspects, those with most bytes first.
    pub usual: Vec<Suspect>,
    /// Bytes of the objects that leaked or wait in cycles, which are not live: see [`SuspectKind::is_unreached`].
    pub leaked_bytes: u64,
}

impl Verdict {
    /// Finds the largest owners of a heap.
    pub fn of(measured: Surveyed<'_, '_>, collections: &Collections<'_, '_>) -> Self {
        let live = measured.tree.live_bytes();
        if live == 0 {
            return Self::default();
        }
        let scene = Scene::new(measured, collections);
        let suspicious = least(live).max(LEAST_SUSPECT);
        let found = findings(&scene, collections, least(live), MOST_FINDINGS).into_iter();
        let (mut suspects, usual): (Vec<Suspect>, Vec<Suspect>) = found
            .map(|(_, finding)| finding)
            .partition(|finding| !finding.is_runtime && finding.bytes >= suspicious);
        let mut leaked_bytes = 0;
        let kind = match measured.heap.unreached {
            Unreached::Garbage => None,
            // Unreachable objects are certainly a leak, however small.
            Unreached::Leaked => Some((SuspectKind::Leaked, least(live))),
            Unreached::Cycles => Some((SuspectKind::Cycles, suspicious)),
        };
        if let Some((kind, least)) = kind.filter(|_| measured.tree.len() < measured.heap.len()) {
            let (leaked, bytes) = leaked::leaked(measured, collections, kind, least);
            leaked_bytes = bytes;
            suspects.extend(leaked);
            suspects.sort_by_key(|finding| Reverse(finding.bytes));
        }
        Self { suspects, usual, leaked_bytes }
    }

    /// The largest owner of all.
    pub fn first(&self) -> Option<&Suspect> {
        self.suspects.first().or(self.usual.first())
    }
}

/// The minimum bytes of a finding.
fn least(live: u64) -> u64 {
    (u128::from(live) * u128::from(LEAST_SHARE)).div_ceil(100).max(u128::from(LEAST_BYTES)) as u64
}

/// Describes at most `most` owners with at least `least` bytes, those with most bytes first.
fn findings(
    scene: &Scene<'_, '_>,
    collections: &Collections<'_, '_>,
    least: u64,
    most: usize,
) -> Vec<(Candidate, Suspect)> {
    let mut partition = Partition::of(scene, least);
    let owners = Owners::of(scene, &partition);
    let mut candidates = candidates(scene, &mut partition, &owners, least);
    candidates.sort_by_key(|found| (Reverse(found.bytes), found.heads()[0]));
    candidates.truncate(most);
    let holders = together(scene, &partition, &owners, &mut candidates);
    let mut naming = Naming::new(scene, holders, collections);
    let named = naming.of_each(&candidates, Naming::holders);
    let mut found = parallel::map(candidates.into_iter().zip(named), |(one, named)| {
        let finding = one.finding(scene, named);
        (one, finding)
    });
    found.sort_by_key(|(_, finding)| (Reverse(finding.bytes), finding.example));
    found
}

/// Joins owners that belong together, and adds up what each candidate holds. Returns the holders.
fn together(
    scene: &Scene<'_, '_>,
    partition: &Partition,
    owners: &Owners<'_>,
    candidates: &mut Vec<Candidate>,
) -> Holders {
    let kins: FxHashSet<u32> = candidates.iter().filter_map(Candidate::kin).collect();
    let mut heads = ObjectSet::none(scene.survey.tree.dominators.len() + 1);
    for head in candidates.iter().flat_map(Candidate::heads) {
        heads.insert(ObjectId(*head));
    }
    let alike = parallel::map(partition.tops.chunks(PART), |tops| {
        let others = tops.iter().copied().filter(|top| !heads.contains(ObjectId(*top)));
        let alike = others.filter(|top| kins.contains(&scene.kin(*top)));
        alike.take(MOST_MEMBERS).collect()
    });
    let mut alike: Vec<u32> = parallel::joined(alike);
    alike.truncate(MOST_MEMBERS);
    let sample = candidates.iter().flat_map(Candidate::sample);
    let holders = Holders::of(scene, sample.chain(alike.iter().copied()));
    adopt(scene, &holders, candidates, &alike);
    absorb(scene, &holders, candidates);
    let heads: Vec<&[u32]> = candidates.iter().map(Candidate::heads).collect();
    let bytes = owners.bytes(scene, &heads, partition);
    for (candidate, bytes) in candidates.iter_mut().zip(bytes) {
        candidate.bytes = bytes;
    }
    holders
}
