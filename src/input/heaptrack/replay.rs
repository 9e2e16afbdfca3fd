//! Replays allocations and frees, for the state at the peak.

/// The allocations of one size in one stack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kind {
    pub(super) size: u64,
    /// The row of the stack.
    pub(super) trace: u32,
    pub(super) allocations: u64,
    pub(super) live: u64,
    pub(super) temporary: u64,
    /// Live allocations at the peak with the number `peak`.
    at_peak: u64,
    peak: u64,
}

impl Kind {
    pub(super) fn new(size: u64, trace: u32) -> Self {
        Self { size, trace, ..Self::default() }
    }

    /// Keeps the state at the last peak, before the first change after the peak.
    #[inline]
    fn before_change(&mut self, peaks: u64) {
        if self.peak < peaks {
            (self.peak, self.at_peak) = (peaks, self.live);
        }
    }
}

/// All kinds, and the sums over them.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) kinds: Vec<Kind>,
    /// Live bytes.
    pub(super) total: u64,
    /// The most live bytes so far.
    pub(super) most: u64,
    /// The number of times that there were more live bytes than ever before.
    peaks: u64,
    /// The kind of the last allocation; 0 after a free.
    last: u64,
    /// The current time in milliseconds.
    pub(super) now: u64,
    pub(super) peak_time: u64,
}

impl Replay {
    /// Adds an allocation. `None` if there is no such kind.
    #[inline]
    pub(super) fn allocate(&mut self, number: u64) -> Option<()> {
        let kind = self.kinds.get_mut(usize::try_from(number).ok()?)?;
        kind.before_change(self.peaks);
        kind.allocations = kind.allocations.saturating_add(1);
        kind.live = kind.live.saturating_add(1);
        self.total = self.total.saturating_add(kind.size);
        self.last = number;
        if self.total > self.most {
            self.most = self.total;
            self.peaks = self.peaks.saturating_add(1);
            self.peak_time = self.now;
        }
        Some(())
    }

    /// Ends an allocation. `None` if there is none of that kind.
    ///
    /// The allocation was temporary if no other allocation or free came between. To match
    /// heaptrack, any free of the first kind after another free counts as temporary, too.
    #[inline]
    pub(super) fn free(&mut self, number: u64) -> Option<()> {
        let kind = self.kinds.get_mut(usize::try_from(number).ok()?)?;
        let is_temporary = std::mem::take(&mut self.last) == number;
        kind.before_change(self.peaks);
        kind.live = kind.live.checked_sub(1)?;
        kind.temporary = kind.temporary.saturating_add(is_temporary.into());
        self.total = self.total.saturating_sub(kind.size);
        Some(())
    }

    /// The live allocations of a kind at the peak.
    pub(super) fn at_peak(&self, kind: &Kind) -> u64 {
        if kind.peak < self.peaks { kind.live } else { kind.at_peak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_the_first_moment_with_the_most_bytes() {
        let mut replay =
            Replay { kinds: vec![Kind::new(10, 0), Kind::new(4, 0)], ..Replay::default() };
        for step in [1i64, 1, 0, -1, -1, 1, 1, -2, 0, -1] {
            match step {
                -1 => replay.free(1),
                -2 => replay.free(0),
                kind => replay.allocate(kind.unsigned_abs()),
            }
            .unwrap();
        }
        let at_peak: Vec<_> = replay.kinds.iter().map(|kind| replay.at_peak(kind)).collect();
        assert_eq!((replay.most, at_peak), (18, vec![1, 2]));
        assert_eq!(replay.kinds.iter().map(|kind| kind.live).collect::<Vec<_>>(), [1, 1]);
        assert!(replay.free(9).is_none() && replay.allocate(2).is_none());
    }
}
