//! Differences between two heaps, by group.

use super::histogram::{Histogram, HistogramRow};
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A group in one of the two heaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Object count and bytes.
    pub sum: Sum,
    /// Retained bytes. `None` if the heap has no roots.
    pub retained_bytes: Option<u64>,
}

/// A group that differs between the two heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramChange {
    /// The name of the group.
    pub name: String,
    /// The namespace of the group.
    pub namespace: String,
    /// The group in the older heap. `None` if it is new.
    pub old: Option<Side>,
    /// The group in the newer heap. `None` if it is gone.
    pub new: Option<Side>,
}

/// The differences of a [`HistogramChange`], newer minus older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Difference in objects.
    pub count: i64,
    /// Difference in bytes in the managed heap.
    pub shallow_bytes: i64,
    /// Difference in bytes outside the managed heap.
    pub external_bytes: i64,
    /// Difference in retained bytes. `None` unless both heaps have roots.
    pub retained_bytes: Option<i64>,
}

impl Delta {
    /// Difference in bytes in and outside the managed heap.
    pub fn bytes(&self) -> i64 {
        self.shallow_bytes.saturating_add(self.external_bytes)
    }
}

impl HistogramChange {
    /// Returns newer minus older. A missing group counts as 0.
    pub fn delta(&self) -> Delta {
        let [old, new] = [self.old, self.new].map(Option::unwrap_or_default);
        // A side that is absent does not show whether its heap has roots.
        let retained = match (
            self.old.map(|side| side.retained_bytes),
            self.new.map(|side| side.retained_bytes),
        ) {
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

/// A difference. Values that do not fit in an `i64` become its maximum or minimum.
pub fn rise(old: u64, new: u64) -> i64 {
    i64::try_from(i128::from(new) - i128::from(old)).unwrap_or(if new > old {
        i64::MAX
    } else {
        i64::MIN
    })
}

/// Compares the groups of two heaps, matched by name and namespace.
///
/// Returns the groups that changed, sorted by the change in retained bytes, then shallow bytes,
/// count and name.
pub fn changes(old: &Histogram, new: &Histogram) -> Vec<HistogramChange> {
    let mut rows: Vec<HistogramChange> = Vec::new();
    let mut index: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    let side = |row: &HistogramRow| Some(Side { sum: row.sum, retained_bytes: row.retained_bytes });
    for row in &old.rows {
        index.insert((&row.name, &row.namespace), rows.len());
        rows.push(HistogramChange {
            name: row.name.clone(),
            namespace: row.namespace.clone(),
            old: side(row),
            new: None,
        });
    }
    for row in &new.rows {
        match index.get(&(row.name.as_str(), row.namespace.as_str())) {
            Some(&known) => rows[known].new = side(row),
            None => rows.push(HistogramChange {
                name: row.name.clone(),
                namespace: row.namespace.clone(),
                old: None,
                new: side(row),
            }),
        }
    }
    rows.retain(|row| row.old != row.new);
    rows.sort_by(|a, b| {
        let key = |row: &HistogramChange| {
            let delta = row.delta();
            Reverse((
                delta.retained_bytes.map(i64::unsigned_abs),
                delta.shallow_bytes.unsigned_abs(),
                delta.count.unsigned_abs(),
            ))
        };
        key(a).cmp(&key(b)).then_with(|| (&a.name, &a.namespace).cmp(&(&b.name, &b.namespace)))
    });
    rows
}
