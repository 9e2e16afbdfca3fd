//! Objects, identified by their rows in the columns.

use crate::plain::plain;

/// An object of a [`Heap`](super::heap::Heap): its row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ObjectId(pub u32);

plain!(ObjectId, u32);

impl ObjectId {
    /// The row as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The largest number of objects: ids are 32 bits wide, and the last two values are kept for "none"
/// and a super root.
pub const MAX_OBJECTS: u64 = u32::MAX as u64 - 1;
