//! Allocation sites: ALLOC_SITES records, with the traces that they name.

use super::scan::Scan;
use super::statistics::AllocSite;
use super::threads::stack;
use crate::model::names::Names;
use crate::model::site::{AllocationSite, AllocationSites};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The live objects of each trace. A trace is one site, even if it allocates objects of several
/// classes, so that its frames are stored once.
pub(super) fn of(scan: &Scan<'_>, names: &mut Names) -> AllocationSites {
    let mut sites = AllocationSites::default();
    let mut rows: FxHashMap<u32, usize> = FxHashMap::default();
    for site in scan.sites.iter().flat_map(|record| record.sites.iter()) {
        let row = match rows.entry(site.trace) {
            Entry::Occupied(row) => *row.get(),
            Entry::Vacant(row) => {
                let Some(trace) = scan.traces.get(&site.trace) else { continue };
                let first = sites.frames.len() as u32;
                stack(trace, scan, names, &mut sites.frames);
                let frames = first..sites.frames.len() as u32;
                sites.sites.push(AllocationSite {
                    frames,
                    live: Some(Sum::default()),
                    ..AllocationSite::default()
                });
                *row.insert(sites.sites.len().saturating_sub(1))
            }
        };
        let live = sites.sites.get_mut(row).and_then(|site| site.live.as_mut());
        live.into_iter().for_each(|live| live.add_sum(&sum(&site)));
    }
    sites
}

fn sum(site: &AllocSite) -> Sum {
    Sum {
        count: site.live_instances.into(),
        shallow_bytes: site.live_bytes.into(),
        external_bytes: 0,
    }
}
