//! Allocation sites: the profile of the heap that the runtime keeps, and the sampled objects.

use super::pointers::Reader;
use crate::input::go::memprof::{AllocSample, Memprof};
use crate::model::columns::Sizes;
use crate::model::heap::StackFrame;
use crate::model::names::Names;
use crate::model::site::{AllocationSite, AllocationSites, Sampling};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;

/// Collects the sites while the records after the objects are read.
#[derive(Default)]
pub(super) struct Sites {
    sites: AllocationSites,
    /// The row of each site, by the id of the profile entry.
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

    pub(super) fn finish(mut self, sizes: &Sizes) -> AllocationSites {
        self.sites.of.sort_unstable();
        self.sites.of.dedup_by_key(|(object, _)| *object);
        if !self.sites.sites.is_empty() {
            self.sites.sampling = sampling(sizes, self.sites.of.len() as f64);
        }
        self.sites
    }
}

/// `runtime.MemProfileRate`, unless the program sets it.
const DEFAULT_RATE: f64 = (512 << 10) as f64;
/// The least number of samples for an estimate of the rate, whose error is then an eighth.
const ENOUGH: f64 = 64.0;
/// The approximate number of objects whose sizes are examined.
const ENOUGH_SIZES: usize = 1 << 18;

/// Infers the sampling rate of the runtime from the number of live objects and of samples: the
/// default one if it agrees. The dump does not contain the rate.
fn sampling(sizes: &Sizes, samples: f64) -> Sampling {
    // A part of a large heap is enough to know its sizes.
    let step = (sizes.len() / ENOUGH_SIZES).saturating_add(1);
    let mut by_size: FxHashMap<u64, usize> = FxHashMap::default();
    for size in (0..sizes.len()).step_by(step).map(|row| sizes.get(row)) {
        let count = by_size.entry(size).or_default();
        *count = count.saturating_add(step);
    }
    // The chance of an object to be sampled rises with its size.
    let expected = |rate: f64| {
        let of_size =
            |(size, count): (&u64, &usize)| *count as f64 * -(-(*size as f64) / rate).exp_m1();
        by_size.iter().map(of_size).sum::<f64>()
    };
    let usual = expected(DEFAULT_RATE);
    if (samples - usual).abs() <= 1.0 + 4.0 * usual.sqrt() {
        return Sampling::Rate(DEFAULT_RATE as u64);
    }
    if samples < ENOUGH {
        return Sampling::Unknown;
    }
    let (mut low, mut high) = (1.0f64, (1u64 << 40) as f64);
    while high / low > 1.01 {
        let middle = (low * high).sqrt();
        if expected(middle) > samples { low = middle } else { high = middle }
    }
    Sampling::Rate(low as u64)
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_RATE, sampling};
    use crate::model::columns::Sizes;
    use crate::model::site::{AllocationSites, Sampling};
    use crate::model::sum::Sum;

    /// Objects of 64 bytes and of 4 KiB, and the expected number of samples at a rate.
    fn heap(rate: f64) -> (Sizes, [f64; 2]) {
        let groups = [(64u64, 40_000usize), (4096, 2_000)];
        let mut sizes = Sizes::with_capacity(0);
        let sampled = groups.map(|(size, count)| {
            (0..count).for_each(|_| sizes.push(size));
            (count as f64 * (1.0 - (-(size as f64) / rate).exp())).round()
        });
        (sizes, sampled)
    }

    #[test]
    fn the_rate_of_samples_is_found_and_scales_them_to_all_allocations() {
        for rate in [4096.0, 65_536.0] {
            let (sizes, sampled) = heap(rate);
            let found = sampling(&sizes, sampled[0] + sampled[1]);
            let Sampling::Rate(near) = found else { panic!("{rate}: {found:?}") };
            assert!((near as f64 / rate - 1.0).abs() < 0.05, "{near} for {rate}");
            let sites = AllocationSites { sampling: found, ..AllocationSites::default() };
            let count = sampled[0] as u64;
            let sample = Sum { count, shallow_bytes: count * 64, external_bytes: 0 };
            let estimate = sites.estimate(&sample).unwrap();
            assert!((estimate.count as f64 / 40_000.0 - 1.0).abs() < 0.05, "{estimate:?}");
            assert_eq!(estimate.shallow_bytes / 64, estimate.count);
        }
    }

    #[test]
    fn the_default_rate_counts_unless_samples_contradict_it() {
        let (sizes, sampled) = heap(DEFAULT_RATE);
        assert_eq!(sampling(&sizes, sampled[0] + sampled[1]), Sampling::Rate(512 << 10));
        // A few samples show that the rate is not the default, but not which rate it is.
        assert_eq!(sampling(&sizes, 60.0), Sampling::Unknown);
    }
}
