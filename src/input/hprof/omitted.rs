//! Counts the elements of arrays that refer to nothing in the file, for `info`.

use super::objects::Object;
use super::primitives::IdSize;
use crate::model::addresses::AddressesBuilder;

/// Larger files are not counted: on a file of 400 MB, the table of ids takes an eighth of the time of
/// `info`. `check` counts in files of any size, because it needs the table anyway.
const LARGEST_FILE: usize = 64 << 20;
/// The maximum memory for ids and arrays, which is reached if ids are far from each other.
const MEMORY: usize = 40 << 20;
/// The number of objects between two checks of the memory used.
const INTERVAL: u64 = 1 << 12;

/// Collects ids and arrays while the records of a file are read.
#[derive(Debug, Default)]
pub(super) struct OmittedElements<'a> {
    ids: AddressesBuilder,
    arrays: Vec<&'a [u8]>,
    seen: u64,
    given_up: bool,
}

impl<'a> OmittedElements<'a> {
    /// Returns an empty collection for a file of `bytes` bytes.
    pub(super) fn of_file(bytes: usize) -> Self {
        Self { given_up: bytes > LARGEST_FILE, ..Self::default() }
    }

    #[inline]
    pub(super) fn object(&mut self, object: &Object<'a>) {
        if self.given_up {
            return;
        }
        self.add(object.id());
        if let Object::ObjectArray(array) = object {
            self.arrays.push(array.elements);
        }
    }

    pub(super) fn class(&mut self, id: u64) {
        if !self.given_up {
            self.add(id);
        }
    }

    #[inline]
    fn add(&mut self, id: u64) {
        self.ids.add(id);
        self.seen = self.seen.wrapping_add(1);
        if self.seen.is_multiple_of(INTERVAL) {
            self.limit();
        }
    }

    #[cold]
    fn limit(&mut self) {
        let arrays = self.arrays.capacity().saturating_mul(size_of::<&[u8]>());
        if self.ids.memory().saturating_add(arrays) > MEMORY {
            *self = Self { given_up: true, ..Self::default() };
        }
    }

    /// The number of elements with an id that is not in the file. `None` if the heap is too large.
    pub(super) fn count(self, size: IdSize) -> Option<u64> {
        if self.given_up {
            return None;
        }
        let ids = self.ids.finish();
        let elements = self.arrays.into_iter().flat_map(|elements| size.all(elements));
        Some(elements.filter(|id| *id != 0 && ids.at(*id).is_none()).count() as u64)
    }
}
