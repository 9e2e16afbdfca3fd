//! The memory of a program over time.

use super::Unit;

/// The bytes that a program had in use at points in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryCurve {
    /// The unit of the times: milliseconds, or another unit of the profiler.
    pub time: Unit,
    /// A sentence that explains the numbers.
    pub note: &'static str,
    /// Times and bytes, in the order of time.
    pub points: Vec<(u64, u64)>,
}

impl MemoryCurve {
    /// Returns about `most` points, including the largest and the smallest point of each interval.
    pub fn thinned(&self, most: usize) -> Vec<(u64, u64)> {
        let run = (2 * self.points.len()).div_ceil(most.max(2)).max(1);
        if run <= 2 {
            return self.points.clone();
        }
        let ends = |run: &[(u64, u64)]| {
            let by_bytes = |at: &usize| run[*at].1;
            let least = (0..run.len()).min_by_key(by_bytes).unwrap_or(0);
            let most = (0..run.len()).max_by_key(by_bytes).unwrap_or(0);
            [run[least.min(most)], run[least.max(most)]]
        };
        self.points.chunks(run).flat_map(ends).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks_and_lows() {
        let points = (0..10_000).map(|at| (at, [5, 6][at as usize % 2])).collect();
        let mut curve = MemoryCurve { time: Unit::Milliseconds, note: "", points };
        (curve.points[4321].1, curve.points[8765].1) = (100, 0);
        let thinned = curve.thinned(100);
        assert!(thinned.len() <= 100 && thinned.is_sorted());
        assert!(thinned.contains(&(4321, 100)) && thinned.contains(&(8765, 0)));
        curve.points.truncate(60);
        assert_eq!(curve.thinned(100), curve.points);
    }
}
