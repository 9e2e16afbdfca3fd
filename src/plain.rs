//! Columns whose items are integers in memory.
//!
//! The kernel's new memory is zero, and the allocator knows that of columns of plain integers only. So
//! columns of other types that are integers in memory are allocated as such: that leaves out a pass over
//! all of their memory, and each page is first touched by the thread that first writes to it.
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU8, AtomicU32};

/// A type with the size, the bits and the alignment of an integer.
///
/// # Safety
///
/// Each value of the integer is a valid one of the type, and the other way round.
pub(crate) unsafe trait Plain: Sized {
    /// The integer.
    type Integer: Copy + Default;

    /// A column of zeros.
    fn zeros(length: usize) -> Vec<Self>;

    /// The column as integers, without a copy.
    fn plain(column: Vec<Self>) -> Vec<Self::Integer> {
        same(column)
    }

    /// A column of integers as one of this type, without a copy.
    fn of_plain(column: Vec<Self::Integer>) -> Vec<Self> {
        same(column)
    }
}

/// The same memory as a column of another type: of a [`Plain`] type and its integer.
fn same<A, B>(column: Vec<A>) -> Vec<B> {
    const { assert!(size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>()) };
    let mut column = ManuallyDrop::new(column);
    let (first, length, room) = (column.as_mut_ptr(), column.len(), column.capacity());
    // SAFETY: size and alignment are the same, and [`Plain`] says that each value of one type is a valid
    // one of the other. The memory belongs to the new column alone, as the old one is not dropped.
    unsafe { Vec::from_raw_parts(first.cast(), length, room) }
}

/// Implements [`Plain`] for a type that has the memory of an integer.
macro_rules! plain {
    ($like:ty, $integer:ty) => {
        // SAFETY: the type is atomic or transparent, and allows all values.
        #[allow(unsafe_code)]
        unsafe impl crate::plain::Plain for $like {
            type Integer = $integer;

            fn zeros(length: usize) -> Vec<Self> {
                Self::of_plain(vec![0; length])
            }
        }
    };
}
pub(crate) use plain;

// Larger atomic integers have another alignment than plain ones on some machines.
plain!(AtomicU8, u8);
plain!(AtomicU32, u32);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn a_column_of_zeros_becomes_plain_with_what_was_stored() {
        let column = AtomicU32::zeros(5);
        column[3].store(7, Relaxed);
        assert_eq!(AtomicU32::plain(column), [0, 0, 0, 7, 0]);
        assert_eq!(AtomicU8::plain(AtomicU8::zeros(2)), [0, 0]);
    }

    #[test]
    fn a_column_of_integers_keeps_its_values_and_its_room() {
        let mut column = Vec::with_capacity(9);
        column.extend([3, 1, 2]);
        let mut atomic = AtomicU32::of_plain(column);
        assert_eq!((atomic.len(), atomic.capacity()), (3, 9));
        *atomic[1].get_mut() += 4;
        assert_eq!(AtomicU32::plain(atomic), [3, 5, 2]);
    }
}
