//! The places where objects were allocated, in formats that record them.

use super::object::ObjectId;
use super::root::StackFrame;
use super::sum::Sum;
use std::ops::Range;

/// The allocation sites of a heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationSites {
    /// The allocation sites.
    pub sites: Vec<AllocationSite>,
    /// The frames of all sites.
    pub frames: Vec<StackFrame>,
    /// The site of each object for which it is known: a row of `sites`, sorted by object.
    pub of: Vec<(ObjectId, u32)>,
    /// The allocations that [`AllocationSite::live`] counts.
    pub sampling: Sampling,
}

/// The allocations that a file counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// All allocations.
    #[default]
    Complete,
    /// On average, one allocation per this number of bytes.
    Rate(u64),
    /// Some allocations, at an unknown rate.
    Unknown,
}

/// A stack that allocates objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationSite {
    /// The frames of the stack, innermost first: rows of [`AllocationSites::frames`].
    pub frames: Range<u32>,
    /// The site whose frames are the callers of these. It comes before this one in
    /// [`AllocationSites::sites`].
    pub caller: Option<u32>,
    /// The number of garbage collections before the allocation.
    pub generation: Option<u64>,
    /// The live objects that the site has allocated, if the file counts them. They may be a sample:
    /// see [`AllocationSites::sampling`].
    pub live: Option<Sum>,
}

impl AllocationSites {
    /// The file of functions that are part of the engine, such as `push` of JavaScript.
    pub const NATIVE: &'static str = "(native)";

    /// Estimates the allocations that a sample of objects of one size represents, scaled as pprof
    /// does: an object of `size` bytes is sampled with probability `1 - exp(-size / rate)`. `None`
    /// if the rate is unknown, or no scaling is needed.
    pub fn estimate(&self, sampled: &Sum) -> Option<Sum> {
        let Sampling::Rate(rate) = self.sampling else { return None };
        if sampled.count == 0 || sampled.shallow_bytes == 0 {
            return Some(*sampled);
        }
        let size = sampled.shallow_bytes as f64 / sampled.count as f64;
        let chance = -(-size / rate.max(1) as f64).exp_m1();
        let scaled = |number: u64| (number as f64 / chance) as u64;
        Some(Sum {
            count: scaled(sampled.count),
            shallow_bytes: scaled(sampled.shallow_bytes),
            external_bytes: sampled.external_bytes,
        })
    }

    /// The site of an object, if it is known: a row of [`AllocationSites::sites`].
    pub fn site_of(&self, object: ObjectId) -> Option<u32> {
        let row = self.of.binary_search_by_key(&object, |(object, _)| *object).ok()?;
        Some(self.of[row].1)
    }

    /// The frames of a site alone, without those of its callers, innermost first.
    pub fn own_frames(&self, site: &AllocationSite) -> &[StackFrame] {
        self.frames.get(site.frames.start as usize..site.frames.end as usize).unwrap_or_default()
    }

    /// The stack of a site, innermost frame first.
    pub fn stack(&self, site: u32) -> impl Iterator<Item = &StackFrame> {
        let caller =
            |row: &u32| self.sites.get(*row as usize)?.caller.filter(|caller| caller < row);
        let sites = std::iter::successors(Some(site), caller);
        sites.filter_map(|row| self.sites.get(row as usize)).flat_map(|site| self.own_frames(site))
    }
}
