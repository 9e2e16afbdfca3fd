//! The different values of a column.

use rustc_hash::FxHashMap;

/// Values below this have a place of their own in a table.
const SMALL: usize = 1 << 16;

/// Numbers values in the order in which they first come.
pub(super) struct Dictionary {
    /// By value: one more than its number. 0: it has none.
    small: Vec<u32>,
    large: FxHashMap<i64, u32>,
    /// By number.
    pub(super) values: Vec<i64>,
}

impl Dictionary {
    pub(super) fn new() -> Self {
        Self { small: vec![0; SMALL], large: FxHashMap::default(), values: Vec::new() }
    }

    /// The number of a value.
    #[inline]
    pub(super) fn number(&mut self, value: i64) -> u32 {
        let next = self.values.len() as u32;
        let number = match self.small.get_mut(value as usize) {
            Some(number) if *number > 0 => *number - 1,
            Some(number) => {
                *number = next + 1;
                next
            }
            None => *self.large.entry(value).or_insert(next),
        };
        if number == next {
            self.values.push(value);
        }
        number
    }

    /// Keeps only the first values.
    pub(super) fn truncate(&mut self, length: usize) {
        for value in self.values.drain(length..) {
            match self.small.get_mut(value as usize) {
                Some(number) => *number = 0,
                None => _ = self.large.remove(&value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_as_they_come() {
        let mut dictionary = Dictionary::new();
        let values = [7, -1, 7, i64::MAX, 0, -1, 1 << 16, i64::MIN];
        let numbers = values.map(|value| dictionary.number(value));
        assert_eq!(numbers, [0, 1, 0, 2, 3, 1, 4, 5]);
        dictionary.truncate(2);
        assert_eq!(dictionary.values, [7, -1]);
        assert_eq!([0, 7, i64::MAX, -1].map(|value| dictionary.number(value)), [2, 0, 3, 1]);
        dictionary.truncate(0);
        assert_eq!([-1, 7].map(|value| dictionary.number(value)), [0, 1]);
    }
}
