//! Objects by the place that allocated them.

use super::threads::is_library;
use crate::model::heap::{Heap, ObjectId, StackFrame};
use crate::model::site::AllocationSites;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The groups of objects whose allocation was recorded.
#[derive(Default)]
pub(super) struct SiteGroups {
    /// Name and namespace of each group.
    pub(super) names: Vec<(String, String)>,
    /// The group of each site, or [`SiteGroups::NONE`].
    of_site: Vec<u32>,
}

impl SiteGroups {
    pub(super) const NONE: u32 = u32::MAX;

    /// Groups sites by the innermost function of the program, with its file and line as namespace.
    pub(super) fn by_frame(heap: &Heap<'_>) -> Self {
        let name = |frame: StackFrame| {
            let file = heap.names.text(frame.file);
            let place = match frame.line {
                0 => file.to_owned(),
                line => format!("{file}:{line}"),
            };
            (heap.names.text(frame.function).to_owned(), place)
        };
        Self::of(program_frames(heap).into_iter(), name)
    }

    /// Groups sites by the number of garbage collections before the allocation.
    pub(super) fn by_generation(heap: &Heap<'_>) -> Self {
        let generations = heap.sites.sites.iter().map(|site| site.generation);
        Self::of(generations, |generation| (generation.to_string(), String::new()))
    }

    fn of<K: Copy + Eq + Hash>(
        keys: impl Iterator<Item = Option<K>>,
        name: impl Fn(K) -> (String, String),
    ) -> Self {
        let mut names = Vec::new();
        let mut seen: FxHashMap<K, u32> = FxHashMap::default();
        let group = |key: Option<K>| {
            let Some(key) = key else { return Self::NONE };
            *seen.entry(key).or_insert_with(|| {
                names.push(name(key));
                names.len() as u32 - 1
            })
        };
        let of_site = keys.map(group).collect();
        Self { names, of_site }
    }

    /// The group of each object, or [`SiteGroups::NONE`] where no allocation was recorded.
    pub(super) fn of_objects(&self, heap: &Heap<'_>) -> Vec<u32> {
        let mut groups = vec![Self::NONE; heap.type_of.len()];
        for &(ObjectId(object), site) in &heap.sites.of {
            if let (Some(group), Some(site_group)) =
                (groups.get_mut(object as usize), self.of_site.get(site as usize))
            {
                *group = *site_group;
            }
        }
        groups
    }

    /// Returns the live allocations of each group as the file counts them, and, if they are
    /// samples, the estimated totals.
    pub(super) fn counted(&self, heap: &Heap<'_>) -> Vec<(Sum, Option<Sum>)> {
        let mut sums = vec![(Sum::default(), None); self.names.len()];
        for (site, group) in heap.sites.sites.iter().zip(&self.of_site) {
            if let (Some((sum, estimate)), Some(live)) = (sums.get_mut(*group as usize), &site.live)
            {
                sum.add_sum(live);
                if let Some(more) = heap.sites.estimate(live) {
                    estimate.get_or_insert_with(Sum::default).add_sum(&more);
                }
            }
        }
        sums
    }
}

/// The innermost frame of each site that is of the program; if there is none, the innermost one.
fn program_frames(heap: &Heap<'_>) -> Vec<Option<StackFrame>> {
    let sites = &heap.sites;
    let is_program = |frame: &&StackFrame| {
        let file = heap.names.text(frame.file);
        !(is_library(heap.names.text(frame.function))
            || file == AllocationSites::NATIVE
            || file.starts_with("node:"))
    };
    // Callers have smaller numbers than their callees, so one pass is enough for stacks of any
    // depth.
    let mut known: Vec<[Option<StackFrame>; 2]> = Vec::with_capacity(sites.sites.len());
    for site in &sites.sites {
        let frames = sites.own_frames(site);
        let caller = site.caller.and_then(|caller| known.get(caller as usize));
        let [program, first] = caller.copied().unwrap_or_default();
        known.push([
            frames.iter().find(is_program).copied().or(program),
            frames.first().copied().or(first),
        ]);
    }
    known.into_iter().map(|[program, first]| program.or(first)).collect()
}
