//! Ids: those of objects first, then those of classes, names and helper objects.

use super::class_table::Classes;
use super::layout::Layout;
use crate::model::heap::{Heap, Ids, ObjectId};
use crate::model::names::NameId;

/// Assigns ids. No id is 0, no id is assigned twice, and not all are multiples of 16: MAT takes the
/// largest power of two that divides all distances as the alignment of objects and rounds sizes up
/// to it.
#[derive(Default)]
pub(super) struct IdSpace {
    shift: u32,
    /// The addresses of objects, if they are used as ids.
    addresses: Option<Vec<u64>>,
    classes: u64,
    names: u64,
    frames: u64,
    threads: u64,
    next: u64,
}

impl IdSpace {
    pub(super) fn new(heap: &Heap<'_>, layout: &Layout, classes: &Classes) -> Self {
        let addresses: Option<Vec<u64>> = match &heap.ids {
            Ids::Addresses(addresses) if layout.addresses => Some(addresses.iter().collect()),
            _ => None,
        };
        let next = match addresses.as_deref().and_then(<[u64]>::last) {
            // An id that is not a multiple of 16.
            Some(last) => (last | 15) + 9,
            None => (heap.len() as u64 + 1) << layout.shift,
        };
        let mut ids = Self { shift: layout.shift, addresses, next, ..Self::default() };
        ids.classes = ids.reserve(classes.list.len() as u64);
        ids.names = ids.reserve(classes.names.len() as u64);
        ids.frames = ids.reserve(heap.frames.len() as u64);
        ids.threads = ids.reserve(heap.threads.len() as u64);
        ids
    }

    #[inline]
    pub(super) fn object(&self, object: ObjectId) -> u64 {
        match &self.addresses {
            None => (u64::from(object.0) + 1) << self.shift,
            Some(addresses) => addresses[object.index()],
        }
    }

    /// The id of a class, by its row.
    #[inline]
    pub(super) fn class(&self, class: u32) -> u64 {
        self.classes + (u64::from(class) << self.shift)
    }

    /// The id of a name of [`Classes::names`].
    pub(super) fn name(&self, name: NameId) -> u64 {
        self.names + (u64::from(name.0) << self.shift)
    }

    /// The id of a call frame, by its row.
    pub(super) fn frame(&self, frame: u32) -> u64 {
        self.frames + (u64::from(frame) << self.shift)
    }

    /// The id of the instance that represents a thread, by its row.
    pub(super) fn thread(&self, thread: u32) -> u64 {
        self.threads + (u64::from(thread) << self.shift)
    }

    /// The first of `count` new ids.
    fn reserve(&mut self, count: u64) -> u64 {
        let first = self.next;
        self.next += count << self.shift;
        first
    }

    /// A new id, for a helper object.
    #[inline]
    pub(super) fn fresh(&mut self) -> u64 {
        self.reserve(1)
    }

    /// The first id after those of the objects of the heap.
    pub(super) fn first_helper(&self) -> u64 {
        self.classes
    }
}
