//! Differences between two profiles.

use super::{GroupLabel, Sums, Top};
use crate::model::profile::Metric;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A function (or file, thread, …) in two profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChange {
    /// The label, which is the same in both.
    pub label: GroupLabel,
    /// The cost in the older profile. `None` if absent.
    pub old: Option<Sums>,
    /// The cost in the newer profile. `None` if absent.
    pub new: Option<Sums>,
}

impl ProfileChange {
    /// Returns the change of the self value. Each profile has its own metric.
    pub fn own(&self, metrics: (&Metric, &Metric)) -> i64 {
        self.delta(metrics, |sums, metric| sums.own.get(metric))
    }

    /// Returns the change of the total value.
    pub fn total(&self, metrics: (&Metric, &Metric)) -> i64 {
        self.delta(metrics, |sums, metric| sums.total.get(metric))
    }

    fn delta(&self, (old, new): (&Metric, &Metric), read: impl Fn(&Sums, &Metric) -> i64) -> i64 {
        let before = self.old.as_ref().map_or(0, |sums| read(sums, old));
        self.new.as_ref().map_or(0, |sums| read(sums, new)).saturating_sub(before)
    }
}

/// Compares two profiles. Returns every row of either, sorted by the change of its self value, then
/// of its total value; rows that did not change come last.
pub fn changes(old: Top, new: Top, metrics: (&Metric, &Metric)) -> Vec<ProfileChange> {
    let mut changes: Vec<_> = old
        .rows
        .into_iter()
        .map(|row| ProfileChange { label: row.label, old: Some(row.sums), new: None })
        .collect();
    let known: HashMap<GroupLabel, usize> =
        changes.iter().enumerate().map(|(i, change)| (change.label.clone(), i)).collect();
    for row in new.rows {
        match known.get(&row.label) {
            Some(&i) => changes[i].new = Some(row.sums),
            None => {
                changes.push(ProfileChange { label: row.label, old: None, new: Some(row.sums) })
            }
        }
    }
    changes.sort_by_cached_key(|change| {
        let (own, total) =
            (change.own(metrics).unsigned_abs(), change.total(metrics).unsigned_abs());
        (Reverse((own, total)), change.label.clone())
    });
    changes
}
