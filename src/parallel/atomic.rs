//! Columns that several threads fill in any order.
//!
//! The kernel's new memory is zero, and the allocator knows that of columns of plain integers only. So
//! columns of atomic integers are allocated as such: that leaves out a pass over all of their memory, and
//! each page is first touched by the thread that first writes to it.
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU8, AtomicU32};

/// An atomic integer of at most 32 bits. Larger ones have another alignment than plain integers on some
/// machines.
pub(crate) trait Atomic: Sized {
    /// The plain integer of the same size.
    type Plain: Sized;

    /// A column of zeros.
    fn zeros(length: usize) -> Vec<Self>;

    /// The column as plain integers, without a copy.
    fn plain(column: Vec<Self>) -> Vec<Self::Plain>;
}

macro_rules! atomic {
    ($atomic:ty, $plain:ty) => {
        const _: () = assert!(align_of::<$atomic>() == align_of::<$plain>());

        impl Atomic for $atomic {
            type Plain = $plain;

            fn zeros(length: usize) -> Vec<Self> {
                let mut column = ManuallyDrop::new(vec![0 as $plain; length]);
                let (first, room) = (column.as_mut_ptr(), column.capacity());
                // SAFETY: an atomic integer has the size and the bits of the plain one, and here its
                // alignment. The memory belongs to the new column alone, as the old one is not dropped.
                unsafe { Vec::from_raw_parts(first.cast(), length, room) }
            }

            fn plain(column: Vec<Self>) -> Vec<$plain> {
                let mut column = ManuallyDrop::new(column);
                let (first, length, room) = (column.as_mut_ptr(), column.len(), column.capacity());
                // SAFETY: as above.
                unsafe { Vec::from_raw_parts(first.cast(), length, room) }
            }
        }
    };
}

atomic!(AtomicU8, u8);
atomic!(AtomicU32, u32);

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
}
