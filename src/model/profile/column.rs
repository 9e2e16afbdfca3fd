//! Sums by row, in columns.

use super::Values;
use rustc_hash::FxHashMap;

/// Sums by row, one column for each value type. Columns without values take no memory, and most
/// others take 4 bytes per row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ValueColumns {
    first: [Column; Values::INLINE],
    more: Vec<Column>,
}

impl ValueColumns {
    /// The sums of a row; zero if nothing was added to it.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Values {
        let more = if self.more.is_empty() {
            None
        } else {
            Some(self.more.iter().map(|column| column.get(row)).collect())
        };
        Values { first: self.first.each_ref().map(|column| column.get(row)), more }
    }

    #[inline]
    pub(crate) fn add(&mut self, row: usize, values: &Values) {
        let (first, more) = (&values.first, values.more.as_deref().unwrap_or_default());
        self.first.iter_mut().zip(first).for_each(|(column, change)| column.add(row, *change));
        if self.more.len() < more.len() {
            self.more.resize(more.len(), Column::default());
        }
        self.more.iter_mut().zip(more).for_each(|(column, change)| column.add(row, *change));
    }
}

/// Sums of one value type, which are nearly always small. Rows at the end that are zero may be
/// missing.
#[derive(Clone, Debug, Default)]
struct Column {
    low: Vec<i32>,
    /// Sums that do not fit. Their low value is [`ELSEWHERE`].
    large: FxHashMap<u32, i64>,
    /// All rows, if many do not fit. The others are empty then.
    wide: Vec<i64>,
}

const ELSEWHERE: i32 = i32::MIN;

/// A column becomes wide when one in this many of its sums is large.
const MANY: usize = 16;

impl Column {
    #[inline]
    fn get(&self, row: usize) -> i64 {
        match self.low.get(row) {
            Some(&ELSEWHERE) => self.large.get(&(row as u32)).copied().unwrap_or(0),
            Some(&low) => low.into(),
            None => self.wide.get(row).copied().unwrap_or(0),
        }
    }

    #[inline]
    fn add(&mut self, row: usize, change: i64) {
        if change == 0 {
            return;
        }
        if !self.wide.is_empty() {
            self.wide.resize(self.wide.len().max(row + 1), 0);
            self.wide[row] = self.wide[row].saturating_add(change);
            return;
        }
        if self.low.len() <= row {
            self.low.resize(row + 1, 0);
        }
        let low = &mut self.low[row];
        let small = i32::try_from(i64::from(*low).saturating_add(change))
            .ok()
            .filter(|_| *low != ELSEWHERE);
        match small.filter(|small| *small != ELSEWHERE) {
            Some(small) => *low = small,
            None => self.add_large(row, change),
        }
    }

    #[cold]
    fn add_large(&mut self, row: usize, change: i64) {
        let sum = self.get(row).saturating_add(change);
        self.low[row] = ELSEWHERE;
        self.large.insert(row as u32, sum);
        if self.large.len() > self.low.len() / MANY + 1024 {
            self.wide = (0..self.low.len()).map(|row| self.get(row)).collect();
            (self.low, self.large) = (Vec::new(), FxHashMap::default());
        }
    }

    fn len(&self) -> usize {
        self.low.len().max(self.wide.len())
    }
}

/// Columns are equal if their sums are.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        (0..self.len().max(other.len())).all(|row| self.get(row) == other.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Columns change their form only when many rows are large.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn columns_add_up_as_a_list_does(
            rows in 1usize..3000,
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), prop_oneof![Just(0i64), -9i64..9, any::<i32>().prop_map(i64::from), any::<i64>()]),
                0..4000,
            )
        ) {
            let (mut column, mut expected) = (Column::default(), vec![0i64; rows]);
            for (row, change) in changes {
                let row = row.index(rows);
                column.add(row, change);
                expected[row] = expected[row].saturating_add(change);
            }
            prop_assert_eq!((0..rows).map(|row| column.get(row)).collect::<Vec<_>>(), expected);
        }
    }
}
