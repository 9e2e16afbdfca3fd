//! Columns that several threads fill in any order, each row by one of them.
//!
//! Relaxed atomic stores are plain stores; that every row is written at most once makes the result
//! independent of the order.

use crate::model::heap::Offsets;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// A column of numbers that are 0 until they are set.
pub(super) enum Scatter {
    Small(Vec<AtomicU32>),
    Large(Vec<AtomicU64>),
}

impl Scatter {
    /// `count` zeros, with room for numbers up to `max`.
    pub(super) fn new(count: usize, max: u64) -> Self {
        match u32::try_from(max) {
            Ok(_) => Self::Small((0..count).map(|_| AtomicU32::new(0)).collect()),
            Err(_) => Self::Large((0..count).map(|_| AtomicU64::new(0)).collect()),
        }
    }

    /// The number of a row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> u64 {
        match self {
            Self::Small(small) => small.get(row).map_or(0, |number| number.load(Relaxed).into()),
            Self::Large(large) => large.get(row).map_or(0, |number| number.load(Relaxed)),
        }
    }

    /// Sets the number of a row. Too large ones become the largest that there is room for.
    #[inline]
    pub(super) fn set(&self, row: usize, number: u64) {
        match self {
            Self::Small(small) => {
                if let Some(place) = small.get(row) {
                    place.store(u32::try_from(number).unwrap_or(u32::MAX), Relaxed);
                }
            }
            Self::Large(large) => {
                if let Some(place) = large.get(row) {
                    place.store(number, Relaxed);
                }
            }
        }
    }

    /// The finished column, without a copy.
    pub(super) fn into_offsets(self) -> Offsets {
        match self {
            Self::Small(small) => {
                Offsets::Small(small.into_iter().map(AtomicU32::into_inner).collect())
            }
            Self::Large(large) => {
                Offsets::Large(large.into_iter().map(AtomicU64::into_inner).collect())
            }
        }
    }
}
