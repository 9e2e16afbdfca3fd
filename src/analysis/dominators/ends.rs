//! The ends of the subtrees of numbers in preorder.

use crate::parallel::{self, PART};

/// Numbers of a block, and blocks of a block of the next level.
const BLOCK: usize = 64;

/// Finds the number after a subtree: its size is known if it fits into a byte. The end of a larger
/// subtree is the first later number whose dominator is before the subtree.
///
/// The sizes of all subtrees would take 4 bytes for each number, these take little more than one.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// The [`short`] size of the subtree of each number.
    size: Vec<u8>,
    least: Least,
}

/// The smallest dominator of each block of numbers, then of each block of those blocks, and so on.
pub(super) type Least = Vec<Vec<u32>>;

/// A size in a byte; 255 if it does not fit.
pub(super) fn short(size: u32) -> u8 {
    u8::try_from(size).unwrap_or(LARGE)
}

const LARGE: u8 = u8::MAX;

/// For the dominator of each number, which is smaller than the number.
pub(super) fn least(dominator: &[u32]) -> Least {
    let mut least = Least::new();
    loop {
        let below = least.last().map_or(dominator, Vec::as_slice);
        if below.len() <= BLOCK {
            return least;
        }
        let of_block = |block: &[u32]| block.iter().copied().min().unwrap_or(0);
        let of_part = |part: &[u32]| part.chunks(BLOCK).map(of_block).collect::<Vec<u32>>();
        least.push(parallel::map(below.chunks(PART), of_part).concat());
    }
}

impl Ends {
    /// For the [`short`] size of each number's subtree.
    pub(super) fn of(size: Vec<u8>, least: Least) -> Self {
        Self { size, least }
    }

    /// The first number after those that a number dominates.
    #[inline]
    pub(super) fn end(&self, dominator: &[u32], number: u32) -> u32 {
        match self.size[number as usize] {
            LARGE => self.find(dominator, number),
            size => number + u32::from(size),
        }
    }

    #[cold]
    fn find(&self, dominator: &[u32], number: u32) -> u32 {
        let mut at = number as usize + usize::from(LARGE);
        let level = |level: usize| match level.checked_sub(1) {
            None => Some(dominator),
            Some(above) => self.least.get(above).map(Vec::as_slice),
        };
        let search = |column: &[u32], at: usize| {
            let end = column.len().min((at / BLOCK + 1) * BLOCK);
            (at..end).find(|at| column[*at] < number)
        };
        let mut height = 0;
        let mut found = loop {
            let Some(column) = level(height) else { return dominator.len() as u32 };
            if let Some(found) = search(column, at) {
                break found;
            }
            at = at / BLOCK + 1;
            height += 1;
        };
        while let Some(column) = height.checked_sub(1).and_then(level) {
            found = search(column, found * BLOCK).unwrap_or(dominator.len());
            height -= 1;
        }
        found as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The end of each number by definition.
    fn ends(dominator: &[u32]) -> Vec<u32> {
        let mut end: Vec<u32> = (1..=dominator.len() as u32).collect();
        for number in (1..dominator.len()).rev() {
            let above = dominator[number] as usize;
            end[above] = end[above].max(end[number]);
        }
        end
    }

    proptest! {
        #[test]
        fn a_subtree_ends_after_its_last_number(steps in prop::collection::vec((0..9_u8, 0..300_u32), 0..9000)) {
            // Preorder: the dominator of each number is the number before or one of its dominators.
            let mut dominator = vec![0];
            for (kind, up) in steps {
                let mut above = dominator.len() as u32 - 1;
                // Mostly siblings and deep chains, sometimes far up.
                let up = match kind { 0..4 => 0, 4..8 => 1, _ => up };
                for _ in 0..up {
                    above = dominator[above as usize];
                }
                dominator.push(above);
            }
            let expected = ends(&dominator);
            let size = (0..).zip(&expected).map(|(number, end)| short(end - number)).collect();
            let found = Ends::of(size, least(&dominator));
            let found: Vec<u32> = (0..dominator.len() as u32).map(|number| found.end(&dominator, number)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
