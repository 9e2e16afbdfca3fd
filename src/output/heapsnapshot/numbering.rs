//! The node number of each object.

use crate::analysis::set_bits::SetBits;
use crate::model::heap::ObjectId;

/// A block of 64 objects.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// Bit i is set if object i of the block is written.
    written: u64,
    /// The number of objects before the block that are written.
    rank: u32,
}

/// The nodes of objects, in the order of objects after the nodes that are not objects.
pub(super) struct Numbering {
    words: Vec<Word>,
    /// Number of the first node that is an object.
    pub(super) first: u32,
    /// The object that is node 1, whatever its row is.
    root: Option<ObjectId>,
    /// The number of written objects.
    pub(super) count: u64,
}

impl Numbering {
    /// Numbers the objects for which `written` returns `true`.
    pub(super) fn of(
        objects: usize,
        root: Option<ObjectId>,
        written: impl Fn(ObjectId) -> bool,
    ) -> Self {
        let mut rank = 0;
        let words = (0..objects as u32).step_by(64).map(|first| {
            let last = first.saturating_add(64).min(objects as u32);
            let bits = (first..last)
                .filter(|row| written(ObjectId(*row)))
                .fold(0, |bits, row| bits | 1u64 << (row % 64));
            let word = Word { written: bits, rank };
            rank += bits.count_ones();
            word
        });
        let words: Vec<Word> = words.collect();
        Self { words, first: 0, root, count: u64::from(rank) }
    }

    #[inline]
    pub(super) fn has(&self, object: ObjectId) -> bool {
        self.words[object.index() / 64].written >> (object.0 % 64) & 1 == 1
    }

    /// The node of an object that is written.
    #[inline]
    pub(super) fn node(&self, object: ObjectId) -> u64 {
        let word = self.words[object.index() / 64];
        let before = word.rank + (word.written & ((1 << (object.0 % 64)) - 1)).count_ones();
        match self.root {
            Some(root) if root == object => 1,
            Some(root) if root < object => u64::from(self.first) + u64::from(before) - 1,
            _ => u64::from(self.first) + u64::from(before),
        }
    }

    /// The objects that are written, without the one that is node 1, in the order of their nodes.
    pub(super) fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let root = self.root.map(ObjectId::index);
        let words = self.words.iter().enumerate().map(move |(at, word)| match root {
            Some(root) if root / 64 == at => word.written & !(1 << (root % 64)),
            _ => word.written,
        });
        SetBits::of(0, words).map(|at| ObjectId(at as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_follow_the_order_of_objects() {
        for root in [None, Some(ObjectId(0)), Some(ObjectId(70)), Some(ObjectId(199))] {
            let mut numbering =
                Numbering::of(200, root, |object| object.0 % 3 == 0 || Some(object) == root);
            numbering.first = 5;
            let objects: Vec<_> = numbering.objects().collect();
            assert_eq!(objects.len() as u64 + u64::from(root.is_some()), numbering.count);
            assert!(objects.iter().zip(5..).all(|(object, node)| numbering.has(*object) && numbering.node(*object) == node));
            assert!(root.is_none_or(|root| numbering.node(root) == 1));
            assert!(!numbering.has(ObjectId(1)));
        }
    }
}
