//! What changed from one profile to another.

use super::{GroupLabel, Sums, Top};
use crate::model::profile::Metric;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A function, or what else rows are, in two profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChange {
    /// What it is called in both.
    pub label: GroupLabel,
    /// What it cost; None if it was not there.
    pub old: Option<Sums>,
    /// What it costs now; None if it is gone.
    pub new: Option<Sums>,
}

impl ProfileChange {
    /// How much more it costs by itself now.
    pub fn own(&self, metric: Metric) -> i64 {
        self.delta(|sums| sums.own.get(metric))
    }

    /// How much more it costs in all now.
    pub fn total(&self, metric: Metric) -> i64 {
        self.delta(|sums| sums.total.get(metric))
    }

    fn delta(&self, read: impl Fn(Sums) -> i64) -> i64 {
        self.new.map_or(0, &read).saturating_sub(self.old.map_or(0, &read))
    }
}

/// All that is in one of both, sorted by how much its own cost changed, and then its cost in all.
pub fn changes(old: Top, new: Top, metric: Metric) -> Vec<ProfileChange> {
    let mut changes: Vec<_> =
        old.rows.into_iter().map(|row| ProfileChange { label: row.label, old: Some(row.sums), new: None }).collect();
    let known: HashMap<GroupLabel, usize> = changes.iter().enumerate().map(|(i, change)| (change.label.clone(), i)).collect();
    for row in new.rows {
        match known.get(&row.label) {
            Some(&i) => changes[i].new = Some(row.sums),
            None => changes.push(ProfileChange { label: row.label, old: None, new: Some(row.sums) }),
        }
    }
    changes.sort_by_cached_key(|change| {
        let (own, total) = (change.own(metric).unsigned_abs(), change.total(metric).unsigned_abs());
        (Reverse((own, total)), change.label.clone())
    });
    changes
}
