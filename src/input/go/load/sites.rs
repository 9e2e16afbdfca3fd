//! Allocation sites: the profile of the heap that the runtime keeps, and the sampled objects.

use super::pointers::Reader;
use crate::input::go::memprof::{AllocSample, Memprof};
use crate::model::heap::StackFrame;
use crate::model::names::Names;
use crate::model::site::{AllocationSite, AllocationSites};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

/// Collects the sites while the records after the objects go by.
#[derive(Default)]
pub(super) struct Sites {
    sites: AllocationSites,
    /// By the id of the profile entry.
    rows: FxHashMap<u64, u32>,
}

impl Sites {
    pub(super) fn add(&mut self, profile: &Memprof<'_>, names: &mut Names) {
        let first = self.sites.frames.len() as u32;
        let frame = |frame: crate::input::go::memprof::Frame<'_>| StackFrame {
            function: names.intern_bytes(frame.function),
            file: names.intern_bytes(frame.file),
            line: u32::try_from(frame.line).unwrap_or(0),
        };
        self.sites.frames.extend(profile.frames.iter().map(frame));
        let count = profile.allocs.saturating_sub(profile.frees);
        let live =
            Sum { count, shallow_bytes: count.saturating_mul(profile.size), external_bytes: 0 };
        self.rows.insert(profile.id, self.sites.sites.len() as u32);
        let frames = first..self.sites.frames.len() as u32;
        self.sites.sites.push(AllocationSite {
            frames,
            live: Some(live),
            ..AllocationSite::default()
        });
    }

    pub(super) fn sample(&mut self, sample: &AllocSample, reader: &Reader<'_, '_>) {
        if let (Some((object, _)), Some(site)) =
            (reader.object_at(sample.addr), self.rows.get(&sample.profile))
        {
            self.sites.of.push((object, *site));
        }
    }

    pub(super) fn finish(mut self) -> AllocationSites {
        self.sites.of.sort_unstable();
        self.sites.of.dedup_by_key(|(object, _)| *object);
        self.sites
    }
}
