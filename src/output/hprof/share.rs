//! A budget that many amounts share.
//!
//! Sizes and sums are numbers in a dump: 47 bytes can claim 2⁶². The output for such claims has a
//! budget that grows with the size of the input. No single claim uses up the budget of the others:
//! each gets the amount that it asks for, up to a limit that is the same for all.

/// Amounts by their number of bits: count and sum.
#[derive(Clone, Debug)]
pub(super) struct Share {
    counts: [u64; 65],
    sums: [u64; 65],
}

impl Default for Share {
    fn default() -> Self {
        Self { counts: [0; 65], sums: [0; 65] }
    }
}

impl Share {
    #[inline]
    pub(super) fn add(&mut self, amount: u64) {
        let row = (u64::BITS - amount.leading_zeros()) as usize;
        self.counts[row] += 1;
        self.sums[row] = self.sums[row].saturating_add(amount);
    }

    /// Returns the limit for each amount that keeps their sum within the budget, or `u64::MAX` if
    /// no limit is needed.
    pub(super) fn limit(&self, budget: u64) -> u64 {
        // The smallest amounts get all they ask for as long as all larger ones can get as much.
        let mut spent = 0u64;
        let mut larger: u64 = self.counts.iter().sum();
        let mut limit = 0;
        for row in 0..self.counts.len() {
            // The amounts of this row and of the following rows are at least `least`.
            let least = if row == 0 { 0 } else { 1u64 << (row - 1) };
            if spent.saturating_add(larger.saturating_mul(least)) > budget {
                return limit;
            }
            limit = (budget - spent).checked_div(larger).unwrap_or(u64::MAX);
            spent = spent.saturating_add(self.sums[row]);
            larger -= self.counts[row];
            if spent > budget {
                return limit;
            }
        }
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(amounts: &[u64], budget: u64) -> u64 {
        let mut share = Share::default();
        amounts.iter().for_each(|&amount| share.add(amount));
        share.limit(budget)
    }

    #[test]
    fn amounts_within_the_budget_have_no_limit() {
        for (amounts, budget) in
            [(&[][..], 0), (&[0, 0], 0), (&[1, 2, 3], 6), (&[u64::MAX], u64::MAX)]
        {
            assert_eq!(limit(amounts, budget), u64::MAX, "{amounts:?}");
        }
    }

    #[test]
    fn large_amounts_share_what_small_ones_leave() {
        assert_eq!(limit(&[1 << 62], 1000), 1000);
        assert_eq!(limit(&[1 << 62, 1 << 40, 100], 1100), 500);
        assert_eq!(limit(&[8; 4], 3), 0);
    }

    /// For any requests, at most the budget is spent, and at least half of it.
    #[test]
    fn the_budget_is_kept_and_used() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        for _ in 0..2000 {
            let amounts: Vec<u64> = (0..1 + next() % 20).map(|_| next() >> (next() % 31)).collect();
            let budget = next() >> (next() % 31);
            let limit = limit(&amounts, budget);
            let spent: u64 = amounts.iter().map(|&amount| amount.min(limit)).sum();
            assert!(spent <= budget, "{amounts:?} {budget} {limit}");
            let total: u64 = amounts.iter().sum();
            assert!(
                spent >= total.min((budget / 2).saturating_sub(amounts.len() as u64)),
                "{amounts:?} {budget} {limit}"
            );
        }
    }
}
