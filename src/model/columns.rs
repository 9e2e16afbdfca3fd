//! Columns of numbers that are nearly always small.

use rustc_hash::FxHashMap;

/// A number per object that is nearly always below 2³², in 4 bytes each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sizes {
    low: Vec<u32>,
    /// Sizes of `u32::MAX` and more, whose low value is `u32::MAX`.
    large: FxHashMap<u32, u64>,
}

impl Sizes {
    /// Room for this many.
    pub fn with_capacity(count: usize) -> Self {
        Self { low: Vec::with_capacity(count), large: FxHashMap::default() }
    }

    /// All zero.
    pub fn zeros(count: usize) -> Self {
        Self { low: vec![0; count], large: FxHashMap::default() }
    }

    /// Appends a size.
    #[inline]
    pub fn push(&mut self, size: u64) {
        let low = u32::try_from(size).unwrap_or(u32::MAX);
        if low == u32::MAX {
            self.large.insert(self.low.len() as u32, size);
        }
        self.low.push(low);
    }

    /// Appends sizes.
    pub fn extend_from_slice(&mut self, sizes: &[u64]) {
        // All bits of all sizes: the processor computes several at once, so that this takes less
        // time than to compare each.
        let bits = sizes.iter().fold(0, |bits, size| bits | size);
        match bits < u32::MAX.into() {
            true => self.low.extend(sizes.iter().map(|&size| size as u32)),
            false => sizes.iter().for_each(|&size| self.push(size)),
        }
    }

    /// Replaces a size.
    pub fn set(&mut self, index: usize, size: u64) {
        let Some(low) = self.low.get_mut(index) else { return };
        *low = u32::try_from(size).unwrap_or(u32::MAX);
        if *low == u32::MAX {
            self.large.insert(index as u32, size);
        }
    }

    /// Appends zeros until there are this many.
    pub fn grow(&mut self, count: usize) {
        self.low.resize(count.max(self.low.len()), 0);
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.low.clear();
        self.large.clear();
    }

    /// The size of an object.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        match self.low.get(index) {
            Some(&u32::MAX) => self.large.get(&(index as u32)).copied().unwrap_or(u32::MAX.into()),
            Some(&low) => low.into(),
            None => 0,
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl From<Vec<u32>> for Sizes {
    /// From sizes that fit. One of `u32::MAX` may be replaced by a larger one with [`Sizes::set`].
    fn from(low: Vec<u32>) -> Self {
        Self { low, large: FxHashMap::default() }
    }
}

/// Positions in a column: 4 bytes each as long as all fit into 32 bits, 8 otherwise.
#[derive(Clone, Debug)]
pub enum Offsets {
    /// All below 2³².
    Small(Vec<u32>),
    /// Any.
    Large(Vec<u64>),
}

impl Offsets {
    /// Room for `count` offsets of which none exceeds `max`.
    pub fn with_capacity(count: usize, max: u64) -> Self {
        match u32::try_from(max) {
            Ok(_) => Self::Small(Vec::with_capacity(count)),
            Err(_) => Self::Large(Vec::with_capacity(count)),
        }
    }

    /// `count` zeros, with room for offsets up to `max`.
    pub fn zeros(count: usize, max: u64) -> Self {
        match u32::try_from(max) {
            Ok(_) => Self::Small(vec![0; count]),
            Err(_) => Self::Large(vec![0; count]),
        }
    }

    /// Appends an offset. One that is larger than what was announced makes all of them wide.
    #[inline]
    pub fn push(&mut self, offset: u64) {
        match self {
            Self::Small(small) => match u32::try_from(offset) {
                Ok(offset) => small.push(offset),
                Err(_) => self.push_wide(offset),
            },
            Self::Large(large) => large.push(offset),
        }
    }

    /// Appends offsets of which none exceeds `max`.
    pub fn extend(&mut self, offsets: impl Iterator<Item = u64>, max: u64) {
        match self {
            Self::Small(small) if u32::try_from(max).is_ok() => {
                small.extend(offsets.map(|offset| offset as u32))
            }
            _ => offsets.for_each(|offset| self.push(offset)),
        }
    }

    #[cold]
    fn push_wide(&mut self, offset: u64) {
        let mut large: Vec<u64> = (0..self.len()).map(|row| self.get(row)).collect();
        large.push(offset);
        *self = Self::Large(large);
    }

    /// Replaces an offset, which is not larger than what was announced.
    #[inline]
    pub fn set(&mut self, index: usize, offset: u64) {
        match self {
            Self::Small(small) => {
                small.get_mut(index).into_iter().for_each(|place| *place = offset as u32)
            }
            Self::Large(large) => {
                large.get_mut(index).into_iter().for_each(|place| *place = offset)
            }
        }
    }

    /// The offset in a row; 0 if there is none.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        match self {
            Self::Small(small) => small.get(index).map_or(0, |&offset| offset.into()),
            Self::Large(large) => large.get(index).copied().unwrap_or(0),
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Small(small) => small.len(),
            Self::Large(large) => large.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
