//! Columns of numbers that are nearly always small.

use super::types::TypeId;
use crate::parallel::{self, PART};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A number per object that is nearly always small. Takes 2 bytes per number as long as few are
/// 65,535 or more, otherwise 4.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    low: Low,
    /// Sizes that do not fit. Their low value is the maximum of its type.
    large: FxHashMap<u32, u64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Low {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// If more sizes of a part than this do not fit into 2 bytes, the part takes 4 bytes per size.
const MANY: usize = 32;

impl Default for Sizes {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl Sizes {
    /// Creates an empty column with capacity for `count` sizes.
    pub fn with_capacity(count: usize) -> Self {
        Self { low: Low::Narrow(Vec::with_capacity(count)), large: FxHashMap::default() }
    }

    /// Appends a size.
    #[inline]
    pub fn push(&mut self, size: u64) {
        match &mut self.low {
            Low::Narrow(low) if size < u16::MAX.into() => low.push(size as u16),
            Low::Wide(low) if size < u32::MAX.into() => low.push(size as u32),
            _ => self.push_large(size),
        }
    }

    #[cold]
    fn push_large(&mut self, size: u64) {
        let index = self.len();
        match &mut self.low {
            Low::Narrow(low) => low.push(0),
            Low::Wide(low) => low.push(0),
        }
        self.set(index, size);
    }

    /// Appends sizes.
    pub fn extend_from_slice(&mut self, sizes: &[u64]) {
        // Combines the bits of all sizes, because the processor combines several at once, which is
        // faster than comparing each.
        let bits = sizes.iter().fold(0, |bits, size| bits | size);
        match &mut self.low {
            Low::Narrow(low) if bits < u16::MAX.into() => {
                low.extend(sizes.iter().map(|&size| size as u16))
            }
            Low::Wide(low) if bits < u32::MAX.into() => {
                low.extend(sizes.iter().map(|&size| size as u32))
            }
            _ => sizes.iter().for_each(|&size| self.push(size)),
        }
    }

    /// Appends the sizes of another column.
    pub(super) fn append(&mut self, other: &Self) {
        match (&mut self.low, &other.low) {
            (Low::Narrow(low), Low::Narrow(more)) if other.large.is_empty() => {
                low.extend_from_slice(more)
            }
            _ => other.iter().for_each(|size| self.push(size)),
        }
    }

    /// Replaces a size.
    pub fn set(&mut self, index: usize, size: u64) {
        if index >= self.len() {
            return;
        }
        match &mut self.low {
            Low::Narrow(low) if size < u16::MAX.into() => low[index] = size as u16,
            Low::Wide(low) if size < u32::MAX.into() => low[index] = size as u32,
            Low::Narrow(low) => {
                low[index] = u16::MAX;
                self.large.insert(index as u32, size);
                if self.large.len() > self.len() / MANY + 64 {
                    self.widen();
                }
            }
            Low::Wide(low) => {
                low[index] = u32::MAX;
                self.large.insert(index as u32, size);
            }
        }
    }

    #[cold]
    fn widen(&mut self) {
        let Low::Narrow(narrow) = &self.low else { return };
        let mut low = Vec::with_capacity(narrow.capacity());
        let wide = |index| u32::try_from(self.get(index)).unwrap_or(u32::MAX);
        low.extend((0..narrow.len()).map(wide));
        self.low = Low::Wide(low);
        self.large.retain(|_, size| *size >= u32::MAX.into());
    }

    /// Returns the same column with 2 bytes per size if few do not fit.
    pub(crate) fn narrow(self) -> Self {
        let Low::Wide(wide) = &self.low else { return self };
        let large = wide.iter().filter(|size| **size >= u16::MAX.into()).count();
        if large > wide.len() / MANY {
            return self;
        }
        let mut narrow = Self::with_capacity(wide.len());
        self.iter().for_each(|size| narrow.push(size));
        narrow
    }

    /// The size of an object.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        let (low, most) = match &self.low {
            Low::Narrow(low) => (low.get(index).map(|&low| low.into()), u16::MAX.into()),
            Low::Wide(low) => (low.get(index).copied(), u32::MAX),
        };
        match low {
            Some(low) if low == most => {
                self.large.get(&(index as u32)).copied().unwrap_or(most.into())
            }
            low => low.unwrap_or(0).into(),
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match &self.low {
            Low::Narrow(low) => low.len(),
            Low::Wide(low) => low.len(),
        }
    }

    /// All sizes, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl From<Vec<u32>> for Sizes {
    /// Creates a column of sizes that fit. [`Sizes::set`] may enlarge one of `u32::MAX`.
    fn from(low: Vec<u32>) -> Self {
        Self { low: Low::Wide(low), large: FxHashMap::default() }
    }
}

/// The type of each object: 2 bytes each as long as there are at most 65,536 types, 4 otherwise.
#[derive(Clone, Debug)]
pub enum TypeIds {
    /// All ids are below 2¹⁶.
    Narrow(Vec<u16>),
    /// Ids of any size.
    Wide(Vec<TypeId>),
}

impl TypeIds {
    /// Creates an empty column with capacity for `count` types.
    pub fn with_capacity(count: usize) -> Self {
        Self::Narrow(Vec::with_capacity(count))
    }

    /// Appends a type.
    #[inline]
    pub fn push(&mut self, id: TypeId) {
        match self {
            Self::Narrow(narrow) => match u16::try_from(id.0) {
                Ok(id) => narrow.push(id),
                Err(_) => self.widen().push(id),
            },
            Self::Wide(wide) => wide.push(id),
        }
    }

    /// Appends the types of another column.
    pub(super) fn append(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Narrow(narrow), Self::Narrow(more)) => narrow.extend_from_slice(more),
            _ => other.iter().for_each(|id| self.push(id)),
        }
    }

    /// Replaces the type of an object.
    pub fn set(&mut self, index: usize, id: TypeId) {
        match self {
            Self::Narrow(narrow) => match u16::try_from(id.0) {
                Ok(id) => narrow[index] = id,
                Err(_) => self.widen()[index] = id,
            },
            Self::Wide(wide) => wide[index] = id,
        }
    }

    #[cold]
    fn widen(&mut self) -> &mut Vec<TypeId> {
        if let Self::Narrow(narrow) = self {
            let mut wide = Vec::with_capacity(narrow.capacity());
            wide.extend(narrow.iter().map(|&id| TypeId(id.into())));
            *self = Self::Wide(wide);
        }
        match self {
            Self::Wide(wide) => wide,
            Self::Narrow(_) => unreachable!("they were made wide"),
        }
    }

    /// The type of an object; `None` if there is no such object.
    #[inline]
    pub fn get(&self, index: usize) -> Option<TypeId> {
        match self {
            Self::Narrow(narrow) => narrow.get(index).map(|&id| TypeId(id.into())),
            Self::Wide(wide) => wide.get(index).copied(),
        }
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(narrow) => narrow.len(),
            Self::Wide(wide) => wide.len(),
        }
    }

    /// All types, in order.
    pub fn iter(&self) -> impl Iterator<Item = TypeId> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

impl From<Vec<TypeId>> for TypeIds {
    fn from(wide: Vec<TypeId>) -> Self {
        Self::Wide(wide)
    }
}

/// Positions in a column: 4 bytes each as long as all fit into 32 bits, 8 otherwise.
#[derive(Clone, Debug)]
pub enum Offsets {
    /// All offsets are below 2³².
    Small(Vec<u32>),
    /// Offsets of any size.
    Large(Vec<u64>),
}

impl Default for Offsets {
    fn default() -> Self {
        Self::with_capacity(0, 0)
    }
}

impl Offsets {
    /// Creates an empty column with capacity for `count` offsets, none of which exceeds `max`.
    pub fn with_capacity(count: usize, max: u64) -> Self {
        match u32::try_from(max) {
            Ok(_) => Self::Small(Vec::with_capacity(count)),
            Err(_) => Self::Large(Vec::with_capacity(count)),
        }
    }

    /// Creates a column of `count` zeros that can store offsets up to `max`.
    pub fn zeros(count: usize, max: u64) -> Self {
        match u32::try_from(max) {
            Ok(_) => Self::Small(vec![0; count]),
            Err(_) => Self::Large(vec![0; count]),
        }
    }

    /// The places at which lists begin that have so many items each, and the end of the last list; also
    /// the number of all items. Places beyond `end` become that one.
    pub(crate) fn of_counts(counts: &[u32], end: u64) -> (Self, u64) {
        let sum = |counts: &[u32]| counts.iter().fold(0u64, |sum, &count| sum + u64::from(count));
        let mut all = 0;
        let mut firsts = Vec::with_capacity(counts.len() / PART + 1);
        for sum in parallel::map(counts.chunks(PART), sum) {
            firsts.push(all);
            all += sum;
        }
        // A column has one place more than there are lists, and maybe one part.
        firsts.push(all);
        let places = |start: usize| {
            let first = firsts.get(start / PART).copied().unwrap_or(all);
            let counts = counts.get(start..).unwrap_or_default();
            let next = |sum: &mut u64, &count: &u32| {
                *sum += u64::from(count);
                Some((*sum).min(end))
            };
            std::iter::once(first.min(end)).chain(counts.iter().scan(first, next))
        };
        let length = counts.len() + 1;
        let column = match u32::try_from(end) {
            Ok(_) => Self::Small(parallel::column(length, |start, column| {
                column.iter_mut().zip(places(start)).for_each(|(at, place)| *at = place as u32)
            })),
            Err(_) => Self::Large(parallel::column(length, |start, column| {
                column.iter_mut().zip(places(start)).for_each(|(at, place)| *at = place)
            })),
        };
        (column, all)
    }

    /// Appends an offset. An offset above the announced maximum makes all offsets wide.
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

    /// Appends offsets, none of which exceeds `max`.
    pub fn extend(&mut self, offsets: impl Iterator<Item = u64>, max: u64) {
        match self {
            Self::Small(small) if u32::try_from(max).is_ok() => {
                small.extend(offsets.map(|offset| offset as u32))
            }
            _ => offsets.for_each(|offset| self.push(offset)),
        }
    }

    /// Inserts zeros, so that they are in these rows, which ascend. All other offsets keep their order.
    pub(crate) fn insert_zeros(&mut self, rows: &[usize]) {
        match self {
            Self::Small(small) => insert_zeros(small, rows),
            Self::Large(large) => insert_zeros(large, rows),
        }
    }

    #[cold]
    fn push_wide(&mut self, offset: u64) {
        self.widen().push(offset);
    }

    /// The last offset, if all are narrow.
    #[inline]
    pub(super) fn last_small(&mut self) -> Option<&mut u32> {
        match self {
            Self::Small(small) => small.last_mut(),
            Self::Large(_) => None,
        }
    }

    /// Replaces the last offset by a larger one, which may exceed the announced number.
    #[cold]
    pub(super) fn set_last(&mut self, offset: u64) {
        self.widen().last_mut().into_iter().for_each(|last| *last = offset);
    }

    fn widen(&mut self) -> &mut Vec<u64> {
        if let Self::Small(small) = self {
            *self = Self::Large(small.iter().map(|&offset| offset.into()).collect());
        }
        match self {
            Self::Large(large) => large,
            Self::Small(_) => unreachable!("they were made wide"),
        }
    }

    /// Replaces an offset. The new offset must not exceed the announced maximum.
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

    /// The offsets in some rows; none if there are fewer rows.
    pub fn range(&self, rows: Range<usize>) -> impl Iterator<Item = u64> + '_ {
        let (small, large): (&[u32], &[u64]) = match self {
            Self::Small(small) => (small.get(rows).unwrap_or_default(), &[]),
            Self::Large(large) => (&[], large.get(rows).unwrap_or_default()),
        };
        small.iter().map(|&offset| offset.into()).chain(large.iter().copied())
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Small(small) => small.len(),
            Self::Large(large) => large.len(),
        }
    }
}

/// Moves items to larger rows, the last ones first, because a copy would take as much memory again.
fn insert_zeros<T: Copy + Default>(column: &mut Vec<T>, rows: &[usize]) {
    let mut end = column.len();
    column.reserve_exact(rows.len());
    column.resize(end + rows.len(), T::default());
    for (before, row) in rows.iter().enumerate().rev() {
        let first = row.saturating_sub(before).min(end);
        column.copy_within(first..end, first + before + 1);
        column[first + before] = T::default();
        end = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EDGES: [u64; 6] = [65_534, 65_535, 65_536, u32::MAX as u64 - 1, u32::MAX as u64, 1 << 40];

    fn sizes() -> impl Strategy<Value = Vec<u64>> {
        let size = |edges| prop_oneof![20 => 0..100_u64, edges => prop::sample::select(&EDGES[..])];
        prop_oneof![prop::collection::vec(size(1), 0..300), prop::collection::vec(size(40), 0..300)]
    }

    proptest! {
        #[test]
        fn sizes_are_those_that_were_given(given in sizes(), later in sizes()) {
            let mut pushed = Sizes::with_capacity(0);
            given.iter().for_each(|size| pushed.push(*size));
            let mut extended = Sizes::default();
            given.chunks(7).for_each(|sizes| extended.extend_from_slice(sizes));
            let mut wide = Sizes::from(vec![0; given.len()]);
            given.iter().enumerate().for_each(|(index, size)| wide.set(index, *size));
            for mut column in [pushed, extended, wide.clone().narrow(), wide] {
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), given.clone());
                let mut expected = given.clone();
                for (index, size) in later.iter().enumerate() {
                    column.set(index, *size);
                    if let Some(place) = expected.get_mut(index) {
                        *place = *size;
                    }
                }
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), expected);
            }
        }

        #[test]
        fn lists_begin_where_the_ones_before_end(counts in prop::collection::vec(0..9_u32, 0..9), parts in 0..3_usize, end in prop::sample::select(&EDGES[..])) {
            // Parts of lists without items, so that these lie in another part.
            let counts: Vec<u32> = std::iter::repeat_n(0, parts * PART).chain(counts).chain([u32::MAX, 7]).collect();
            let places = std::iter::once(0).chain(counts.iter().scan(0, |sum, count| {
                *sum += u64::from(*count);
                Some(*sum)
            }));
            let places: Vec<u64> = places.collect();
            let (column, all) = Offsets::of_counts(&counts, end);
            prop_assert_eq!(Some(&all), places.last());
            prop_assert!(column.range(0..column.len()).eq(places.iter().map(|place| *place.min(&end))));
            prop_assert_eq!(column.len(), places.len());
        }

        #[test]
        fn zeros_go_where_they_are_said_to(are_zeros in prop::collection::vec(any::<bool>(), 0..60), max in prop::sample::select(&EDGES[..])) {
            let mut column = Offsets::with_capacity(0, max);
            let expected: Vec<u64> = (1..).zip(&are_zeros).map(|(offset, is_zero)| if *is_zero { 0 } else { offset }).collect();
            expected.iter().filter(|offset| **offset > 0).for_each(|offset| column.push(*offset));
            let rows: Vec<usize> = (0..expected.len()).filter(|row| expected[*row] == 0).collect();
            column.insert_zeros(&rows);
            prop_assert_eq!(column.range(0..column.len()).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn types_are_those_that_were_given(given in prop::collection::vec(prop_oneof![9 => 0..9_u32, 1 => 65_534..65_538_u32], 1..100), last: u32) {
            let mut column = TypeIds::with_capacity(0);
            given.iter().for_each(|id| column.push(TypeId(*id)));
            prop_assert!(column.iter().map(|id| id.0).eq(given.iter().copied()));
            column.set(0, TypeId(last));
            prop_assert_eq!((column.get(0), column.len(), column.get(given.len())), (Some(TypeId(last)), given.len(), None));
        }
    }
}
