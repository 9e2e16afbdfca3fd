//! Nodes and edges in columns, read in parallel.
//!
//! An array of numbers can be cut at any comma. Counting commas, which takes a twentieth of the
//! time of reading, gives the first field of each part, so that every part can be read into its own
//! place.

use super::meta::MAX_FIELDS;
use crate::error::{Error, Result};
use crate::input::json::Numbers;
use crate::parallel;

/// Bytes of a part. Small enough that threads end at about the same time, large enough that the
/// overhead of a part is negligible.
const PART: usize = 2 << 20;

/// A part of an array of rows.
pub struct Part<'a> {
    pub first: usize,
    /// The number of rows that begin in the part.
    pub rows: usize,
    numbers: Numbers<'a>,
}

/// An array of rows, in parts.
pub struct Rows<'a> {
    /// The parts of the list, in the order of the file.
    pub parts: Vec<Part<'a>>,
    pub count: usize,
    /// The count of numbers after the last whole row.
    pub left_over: usize,
}

impl<'a> Rows<'a> {
    /// Cuts an array of numbers into parts of rows of `fields` numbers.
    pub fn of(numbers: Option<&Numbers<'a>>, fields: usize) -> Self {
        let Some(numbers) = numbers else {
            return Self { parts: Vec::new(), count: 0, left_over: 0 };
        };
        let (bytes, offset) = (numbers.bytes(), numbers.offset());
        let starts = starts(bytes);
        let counts = parallel::map(starts.iter().enumerate(), |(part, &start)| {
            let end = starts.get(part.wrapping_add(1)).copied().unwrap_or(bytes.len());
            memchr::memchr_iter(b',', bytes.get(start..end).unwrap_or_default()).count()
        });
        // The last number has no comma after it, unless the writer adds a trailing comma.
        let tail = bytes.trim_ascii_end();
        let total = counts
            .iter()
            .sum::<usize>()
            .wrapping_add(usize::from(!tail.is_empty() && !tail.ends_with(b",")));
        let count = total.checked_div(fields).unwrap_or(0);
        let mut before = 0usize;
        let mut parts = Vec::with_capacity(starts.len());
        for (&start, commas) in starts.iter().zip(counts) {
            let first = before.div_ceil(fields);
            before = before.wrapping_add(commas);
            let rest = bytes.get(start..).unwrap_or_default();
            let mut numbers = Numbers::new(rest, offset.saturating_add(start as u64), false);
            let skipped = first.wrapping_mul(fields).wrapping_sub(before.wrapping_sub(commas));
            // Damage here is reported by the part that contains the beginning of the row.
            (0..skipped).for_each(|_| _ = numbers.unsigned());
            parts.push(Part { first: first.min(count), rows: 0, numbers });
        }
        for part in 0..parts.len() {
            let end = parts.get(part.wrapping_add(1)).map_or(count, |next| next.first);
            if let Some(part) = parts.get_mut(part) {
                part.rows = end.saturating_sub(part.first);
            }
        }
        Self { parts, count, left_over: total.wrapping_sub(count.wrapping_mul(fields)) }
    }
}

/// The first bytes of the parts of an array, each after a comma.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = vec![0];
    while let Some(next) = starts.last().and_then(|last: &usize| {
        let from = last.wrapping_add(PART);
        Some(from.wrapping_add(memchr::memchr(b',', bytes.get(from..)?)?).wrapping_add(1))
    }) {
        starts.push(next);
    }
    starts
}

impl Part<'_> {
    /// Absolute offset of the first row of the part.
    pub fn offset(&self) -> u64 {
        self.numbers.offset()
    }

    /// Reads the rows of the part. `each` receives the index of a row in the part, and its fields.
    /// Fails at the first number that is negative or not an integer; `each` has then received the
    /// rows before it.
    #[inline(always)]
    pub fn read(
        &self,
        fields: usize,
        mut each: impl FnMut(usize, &[u64; MAX_FIELDS]),
    ) -> Result<()> {
        let mut numbers = self.numbers.clone();
        let mut row = [0; MAX_FIELDS];
        for index in 0..self.rows {
            for field in row.iter_mut().take(fields) {
                match numbers.unsigned()? {
                    Some(number) => *field = number,
                    None => {
                        return Err(Error::truncated(
                            numbers.offset(),
                            "the last row is incomplete",
                        ));
                    }
                }
            }
            each(index, &row);
        }
        Ok(())
    }
}

/// The outcome of reading parts: the number of rows before the first error, and that error.
pub fn first_error(outcomes: Vec<(usize, Option<Error>)>, count: usize) -> (usize, Option<Error>) {
    for (rows, error) in outcomes {
        if error.is_some() {
            return (rows, error);
        }
    }
    (count, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // The texts are long.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn parts_have_all_rows(numbers in prop::collection::vec(0u64..100_000, 0..60), fields in 1usize..8, newline: bool) {
            let separator = if newline { "\n," } else { "," };
            // Long runs of spaces make parts small.
            let space = " ".repeat(PART / 8);
            let text = numbers.iter().map(|number| format!("{number}{space}")).collect::<Vec<_>>().join(separator);
            let rows = Rows::of(Some(&Numbers::new(text.as_bytes(), 0, false)), fields);
            prop_assert_eq!((rows.count, rows.left_over), (numbers.len() / fields, numbers.len() % fields));
            let mut read = Vec::new();
            for part in &rows.parts {
                prop_assert_eq!(part.first, read.len() / fields);
                part.read(fields, |_, row| read.extend_from_slice(&row[..fields])).unwrap();
            }
            prop_assert_eq!(&read[..], &numbers[..rows.count * fields]);
        }
    }
}
