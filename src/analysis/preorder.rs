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
    /// By number: one more than the last position of what the object dominates.
    end: Vec<u32>,
}

impl Preorder {
    /// Orders the objects by their dominators; the dominator of number 0 is 0. Numbers of
    /// dominators are smaller than those of the objects that they dominate: one pass backward adds
    /// up sizes, and one forward gives each object the next position inside its dominator's range.
    pub(super) fn of(dominator: &[u32]) -> Self {
        let count = dominator.len();
        // Holds the sizes of ranges first. Once an object has its position, the next free position in its
        // range takes the place of the size. After the last child, that is the end of the range.
        let mut end = vec![1_u32; count];
        for number in (1..count).rev() {
            end[dominator[number] as usize] += end[number];
        }
        end[0] = 1;
        let mut number = vec![0; count];
        for own in 1..count {
            let size = end[own];
            let next = &mut end[dominator[own] as usize];
            let position = *next;
            *next += size;
            end[own] = position + 1;
            number[position as usize] = own as u32;
        }
        Self { number, end }
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
        self.end[self.number(position) as usize]
    }
}
