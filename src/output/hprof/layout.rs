//! The width of ids, and the sizes that readers compute.

use super::IdKind;
use crate::model::heap::{Heap, Ids, ObjectId};

/// The widths that determine all sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Whether ids and references take 8 bytes, not 4.
    pub(super) wide: bool,
    /// Ids are multiples of `1 << shift`.
    pub(super) shift: u32,
    /// Whether the ids of objects are their addresses.
    pub(super) addresses: bool,
}

/// The maximum length in bytes of an array that is written to fit a size: Java's readers take
/// lengths as signed, and a record has less than 4 GiB.
const LONGEST: u64 = 1 << 30;

impl Layout {
    /// The narrowest layout in which all ids fit.
    pub(super) fn of(heap: &Heap<'_>, ids: IdKind) -> Self {
        // An upper bound for the number of helpers and classes; the exact number depends on the
        // sizes.
        let most = [
            heap.len(),
            heap.external.len(),
            heap.roots.len(),
            heap.threads.len(),
            heap.frames.len(),
            heap.types.len(),
        ];
        let weak = if heap.references.weak.is_empty() { 0 } else { heap.references.len() };
        let most =
            most.iter().map(|&count| count as u64).sum::<u64>() * 4 + weak as u64 + (1 << 24);
        if let (IdKind::Address, Some(last)) = (ids, last_address(heap)) {
            let end = last.saturating_add(most.saturating_mul(8));
            if end <= i64::MAX as u64 {
                return Self { wide: end > u32::MAX.into(), shift: 3, addresses: true };
            }
        }
        let fits = |shift: u32| most << shift <= u32::MAX.into();
        Self { wide: !fits(0), shift: if fits(3) || !fits(0) { 3 } else { 0 }, addresses: false }
    }

    /// Bytes of an id and of a reference.
    #[inline]
    pub(super) fn reference(&self) -> u64 {
        if self.wide { 8 } else { 4 }
    }

    /// Bytes of an instance before its fields, which is also the size of a `java.lang.Object`.
    #[inline]
    pub(super) fn header(&self) -> u64 {
        2 * self.reference()
    }

    /// Bytes of an array before its elements, as VisualVM counts them.
    fn array_header(&self) -> u64 {
        self.header() + 4
    }

    /// Bytes of the smallest array of references on which all readers agree.
    pub(super) fn least_array(&self) -> u64 {
        align(self.array_header(), self.reference())
    }

    /// The size that VisualVM shows for an array of that many bytes of elements.
    #[inline]
    pub(super) fn array_size(&self, bytes: u64) -> u64 {
        align(self.array_header() + bytes, 8)
    }

    /// The length of the array of references that is `size` bytes large. All readers agree on it.
    pub(super) fn array_length(&self, size: u64) -> u64 {
        (size.saturating_sub(self.least_array()) / self.reference()).min(LONGEST / self.reference())
    }

    /// The length of the byte array that is `size` bytes large. All readers agree on it.
    pub(super) fn bytes_length(&self, size: u64) -> u64 {
        size.saturating_sub(self.least_array()).min(LONGEST)
    }

    /// The fewest bytes of elements of an array that is at least `size` bytes large.
    pub(super) fn least_bytes(&self, size: u64) -> u64 {
        size.saturating_sub(7 + self.array_header())
    }

    /// The size that MAT and hprof-slurp show for an instance with that many bytes of fields.
    pub(super) fn instance_size(&self, fields: u64) -> u64 {
        align(self.header() + fields, 8)
    }
}

/// The next multiple of a power of two.
pub(super) fn align(value: u64, to: u64) -> u64 {
    (value + (to - 1)) & !(to - 1)
}

/// The largest address, if all objects have one and none is 0, which cannot be an id.
fn last_address(heap: &Heap<'_>) -> Option<u64> {
    let Ids::Addresses(addresses) = &heap.ids else { return None };
    let first = addresses.address(ObjectId(0))?;
    (first > 0).then(|| addresses.address(ObjectId(addresses.len() as u32 - 1)))?
}
