//! A dominator tree in preorder, so that what an object dominates is a range.

/// Positions of the dominator tree: an object comes right before the objects that it dominates.
/// Position 0 is the set of roots.
///
/// Children of an object are in the order of the search that numbered them. 8 bytes for each live
/// object.
#[derive(Clone, Debug)]
pub(super) struct Preorder {
    /// The number at each position.
    number: Vec<u32>,
    /// By number: the number of positions that the object and everything it dominates take.
    size: Vec<u32>,
}

impl Preorder {
    /// Orders the objects by their dominators; the dominator of number 0 is 0. Numbers of
    /// dominators are smaller than those of the objects that they dominate: one pass backward adds
    /// up sizes, and one forward gives each object the next position inside its dominator's range.
    pub(super) fn of(dominator: &[u32]) -> Self {
        let count = dominator.len();
        let mut size = vec![1_u32; count];
        for number in (1..count).rev() {
            size[dominator[number] as usize] += size[number];
        }
        // The first free position inside each object's range.
        let mut next = vec![1_u32; count];
        let mut number = vec![0; count];
        for own in 1..count {
            let next_of_dominator = &mut next[dominator[own] as usize];
            let position = *next_of_dominator;
            *next_of_dominator += size[own];
            next[own] = position + 1;
            number[position as usize] = own as u32;
        }
        Self { number, size }
    }

    /// Positions, including that of the set of roots.
    pub(super) fn len(&self) -> usize {
        self.number.len()
    }

    /// Returns the number of the object at a position.
    #[inline]
    pub(super) fn number(&self, position: u32) -> u32 {
        self.number[position as usize]
    }

    /// Returns one more than the last position dominated from a position.
    #[inline]
    pub(super) fn end(&self, position: u32) -> u32 {
        position + self.size[self.number(position) as usize]
    }
}
