//! The order of the rows' references in the file.

use crate::input::mvmheap::column::Numbers;
use crate::model::heap::Offsets;

/// The rows that have references, in the order of the references.
pub(super) struct Order {
    /// The rows in the order of their references. `None` if that is the order of the rows.
    pub(super) rows: Option<Vec<u32>>,
    pub(super) references: u64,
}

impl Order {
    /// Finds the order without sorting: sets a bit for the first reference of each row, so that the
    /// number of bits before a row's bit is the row's place. `None` if the ranges of rows do not
    /// cover all references exactly once.
    pub(super) fn find(starts: &Offsets, first: &Offsets, references: u64) -> Option<Self> {
        let length = |row: usize| first.get(row.wrapping_add(1)).wrapping_sub(first.get(row));
        if (0..starts.len()).all(|row| length(row) == 0 || starts.get(row) == first.get(row)) {
            return (first.get(starts.len()) == references)
                .then_some(Self { rows: None, references });
        }
        let words = usize::try_from(references / 64).ok()?.checked_add(1)?;
        let mut begins = vec![0u64; words];
        for row in 0..starts.len() {
            if length(row) > 0 {
                let start = starts.get(row);
                let word = begins.get_mut(usize::try_from(start / 64).ok()?)?;
                let bit = 1 << (start % 64);
                if *word & bit != 0 {
                    return None;
                }
                *word |= bit;
            }
        }
        let mut count = 0u32;
        let ranks: Vec<u32> = begins
            .iter()
            .map(|word| {
                let rank = count;
                count = count.wrapping_add(word.count_ones());
                rank
            })
            .collect();
        let mut rows = vec![0u32; count as usize];
        for row in 0..starts.len() {
            if length(row) > 0 {
                let start = starts.get(row);
                let at = (start / 64) as usize;
                let before = begins.get(at)? & !(u64::MAX << (start % 64));
                *rows.get_mut(ranks.get(at)?.wrapping_add(before.count_ones()) as usize)? =
                    row as u32;
            }
        }
        // Each row has to begin where the one before it ends.
        let mut at = 0u64;
        for &row in &rows {
            if begins.get((at / 64) as usize)? >> (at % 64) & 1 == 0 {
                return None;
            }
            at = at.checked_add(length(row as usize))?;
        }
        (at == references).then_some(Self { rows: Some(rows), references })
    }
}

/// Puts numbers, which arrive in the order of the file, into the order of the rows.
pub(super) struct Placement<'a> {
    order: std::slice::Iter<'a, u32>,
    first: &'a Offsets,
    column: Vec<u32>,
    /// The position of the next number; `left` is the count of numbers left for the current row.
    at: usize,
    left: usize,
    placed: u64,
    unknown: u64,
}

impl<'a> Placement<'a> {
    /// Begins with a column of zeros, which take no physical memory until they are overwritten.
    pub(super) fn new(order: &'a Order, first: &'a Offsets) -> Self {
        let references = usize::try_from(order.references).unwrap_or(0);
        // References in the order of their rows stay in place, as if they belonged to one row.
        let (rows, left): (&[u32], _) = match &order.rows {
            None => (&[], references),
            Some(rows) => (rows, 0),
        };
        Self {
            order: rows.iter(),
            first,
            column: vec![0; references],
            at: 0,
            left,
            placed: 0,
            unknown: 0,
        }
    }

    /// Places the next numbers of a column, which nearly always has entries of 8 bytes.
    pub(super) fn put_stored(
        &mut self,
        numbers: &Numbers<'_>,
        narrow: impl Fn(u64) -> (u32, bool),
    ) {
        if let Numbers::U64(numbers) = numbers {
            return self.put(numbers, |number| narrow(u64::from_le_bytes(number)));
        }
        let mut values = Vec::new();
        numbers.widen(&mut values);
        self.put(&values, narrow);
    }

    /// Places the next numbers. Numbers beyond the ranges of all rows are only counted. `narrow`
    /// returns the narrowed number, and whether the number refers to something not in the file.
    #[inline]
    pub(super) fn put<N: Copy>(&mut self, values: &[N], narrow: impl Fn(N) -> (u32, bool)) {
        self.placed = self.placed.saturating_add(values.len() as u64);
        let mut values = values;
        while !values.is_empty() {
            if self.left == 0 {
                let Some(&row) = self.order.next() else { return };
                let range =
                    (self.first.get(row as usize), self.first.get((row as usize).wrapping_add(1)));
                (self.at, self.left) = (range.0 as usize, range.1.wrapping_sub(range.0) as usize);
            }
            let (now, later) = values.split_at(self.left.min(values.len()));
            let places = self.column.get_mut(self.at..).unwrap_or_default();
            // A local variable stays in a register; a field would be written with every number.
            let mut unknown = 0u64;
            for (place, &value) in places.iter_mut().zip(now) {
                let (narrowed, is_unknown) = narrow(value);
                *place = narrowed;
                unknown = unknown.wrapping_add(is_unknown.into());
            }
            self.unknown = self.unknown.wrapping_add(unknown);
            self.at = self.at.wrapping_add(now.len());
            self.left = self.left.wrapping_sub(now.len());
            values = later;
        }
    }

    /// The count of placed numbers that refer to something not in the file.
    pub(super) fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Returns the column, and the count of all numbers, placed or not.
    pub(super) fn finish(self) -> (Vec<u32>, u64) {
        (self.column, self.placed)
    }
}

/// Narrows a target. A row beyond 32 bits becomes `u32::MAX`, which no object has.
pub(super) fn target(row: u64) -> (u32, bool) {
    (row.min(u32::MAX.into()) as u32, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(values: &[u64]) -> Offsets {
        let mut offsets = Offsets::with_capacity(values.len(), 0);
        values.iter().for_each(|&value| offsets.push(value));
        offsets
    }

    #[test]
    fn numbers_come_to_their_rows() {
        // Row 0 has two references at 3, row 1 none, row 2 three at 0.
        let (starts, first) = (offsets(&[3, 5, 0]), offsets(&[0, 2, 2, 5]));
        let order = Order::find(&starts, &first, 5).unwrap();
        assert_eq!(order.rows.as_deref(), Some(&[2, 0][..]));
        let mut placement = Placement::new(&order, &first);
        placement.put(&[10, 11], target);
        placement.put(&[12, 13, 14], target);
        assert_eq!(placement.finish(), (vec![13, 14, 10, 11, 12], 5));
    }

    #[test]
    fn references_in_the_order_of_rows_stay_where_they_are() {
        // Row 1 has no references, so its start does not matter.
        let (starts, first) = (offsets(&[0, 7, 2]), offsets(&[0, 2, 2, 5]));
        let order = Order::find(&starts, &first, 5).unwrap();
        assert_eq!(order.rows, None);
        let mut placement = Placement::new(&order, &first);
        placement.put_stored(&Numbers::U64(&[10u64.to_le_bytes(), u64::MAX.to_le_bytes()]), target);
        placement.put_stored(&Numbers::U8(&[12, 13, 14, 15]), target);
        assert_eq!(placement.finish(), (vec![10, u32::MAX, 12, 13, 14], 6));
    }

    #[test]
    fn ranges_that_overlap_or_leave_gaps_have_no_order() {
        for (starts, first) in [
            ([0, 1], [0, 2, 4]),
            ([0, 0], [0, 2, 4]),
            ([0, 3], [0, 2, 4]),
            ([1, 3], [0, 2, 4]),
            ([0, 9], [0, 2, 4]),
            ([0, u64::MAX], [0, 2, 4]),
        ] {
            assert!(Order::find(&offsets(&starts), &offsets(&first), 4).is_none(), "{starts:?}");
        }
        assert!(Order::find(&offsets(&[2, 0]), &offsets(&[0, 2, 4]), 4).is_some());
        assert!(Order::find(&offsets(&[]), &offsets(&[0]), 0).is_some());
    }
}
