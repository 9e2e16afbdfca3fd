//! What grew and what shrank between two heaps.

use super::histogram::{Histogram, HistogramRow};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// What there is of a group in one of the heaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Objects and their bytes.
    pub sum: Sum,
    /// What would go with them. None if the heap has no roots.
    pub retained_bytes: Option<u64>,
}

/// A group in both heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramChange {
    /// The name of the group.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// In the older heap. None: the group is new.
    pub old: Option<Side>,
    /// In the newer heap. None: the group is gone.
    pub new: Option<Side>,
}

/// How much the numbers of a [`HistogramChange`] rose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Of objects.
    pub count: i64,
    /// Of bytes in the managed heap.
    pub shallow_bytes: i64,
    /// Of bytes outside of it.
    pub external_bytes: i64,
    /// Of retained bytes; none unless both heaps have roots.
    pub retained_bytes: Option<i64>,
}

impl HistogramChange {
    /// How much the numbers rose. A group that is not there counts as 0.
    pub fn delta(&self) -> Delta {
        let [old, new] = [self.old, self.new].map(Option::unwrap_or_default);
        // A side that is not there says nothing about roots.
        let retained = match (self.old.map(|side| side.retained_bytes), self.new.map(|side| side.retained_bytes)) {
            (Some(None), _) | (_, Some(None)) => None,
            (old, new) => Some(rise(old.flatten().unwrap_or(0), new.flatten().unwrap_or(0))),
        };
        Delta {
            count: rise(old.sum.count, new.sum.count),
            shallow_bytes: rise(old.sum.shallow_bytes, new.sum.shallow_bytes),
            external_bytes: rise(old.sum.external_bytes, new.sum.external_bytes),
            retained_bytes: retained,
        }
    }
}

/// A difference. Those beyond 63 bits become the largest, or the smallest, there is.
pub fn rise(old: u64, new: u64) -> i64 {
    i64::try_from(i128::from(new) - i128::from(old)).unwrap_or(if new > old { i64::MAX } else { i64::MIN })
}

/// Compares the groups of two heaps, matched by name and namespace: what changed, the largest change of retained bytes first
/// (then of shallow bytes, count, name).
pub fn changes(old: &Histogram, new: &Histogram) -> Vec<HistogramChange> {
    let mut rows: Vec<HistogramChange> = Vec::new();
    let mut index: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    let side = |row: &HistogramRow| Some(Side { sum: row.sum, retained_bytes: row.retained_bytes });
    for row in &old.rows {
        index.insert((&row.name, &row.namespace), rows.len());
        rows.push(HistogramChange { name: row.name.clone(), namespace: row.namespace.clone(), old: side(row), new: None });
    }
    for row in &new.rows {
        match index.get(&(row.name.as_str(), row.namespace.as_str())) {
            Some(&known) => rows[known].new = side(row),
            None => {
                rows.push(HistogramChange { name: row.name.clone(), namespace: row.namespace.clone(), old: None, new: side(row) })
            }
        }
    }
    rows.retain(|row| row.old != row.new);
    rows.sort_by(|a, b| {
        let key = |row: &HistogramChange| {
            let delta = row.delta();
            Reverse((delta.retained_bytes.map(i64::unsigned_abs), delta.shallow_bytes.unsigned_abs(), delta.count.unsigned_abs()))
        };
        key(a).cmp(&key(b)).then_with(|| (&a.name, &a.namespace).cmp(&(&b.name, &b.namespace)))
    });
    rows
}
