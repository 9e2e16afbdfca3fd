//! Types that the program created at run time, with `reflect.StructOf`, `SliceOf`, `MapOf` and
//! similar functions.
//!
//! Their descriptors are objects of the heap. They have no names there: package reflect keeps those
//! in tables of its own, so the names are composed from the parts.
//!
//! Source: `reflect/{type,map}.go` of Go 1.18 to 1.27.

use super::descriptors::{self, Reader};
use super::image::{Image, Memory};
use super::program::Program;
use super::propagate::Ground;
use super::types::Types;
use crate::model::heap::ObjectId;
use rayon::prelude::*;

/// The functions that make types. The linker leaves out those that a program cannot reach.
const MAKERS: [&[u8]; 8] = [
    b"reflect.ArrayOf",
    b"reflect.ChanOf",
    b"reflect.FuncOf",
    b"reflect.MapOf",
    b"reflect.SliceOf",
    b"reflect.StructOf",
    b"reflect.(*rtype).ptrTo",
    b"reflect.ptrTo",
];
/// Bytes of the largest object with a descriptor, that of a function with 128 parameters.
const LARGEST: u64 = 1280;
/// The most types of a program that are read.
const MAX_MADE: usize = 1 << 16;

/// Adds the types of descriptors in the heap. `shift` is that of the descriptors in the executable.
pub(super) fn add(
    program: &Program<'_>,
    types: &mut Types,
    ground: Ground<'_, '_, '_>,
    shift: u64,
) {
    if !program.functions.has_any(&program.image, &MAKERS) {
        return;
    }
    let heap = Heap { image: &program.image, ground, shift };
    let bytes = ground.reader.bytes.len() as u64;
    let word = program.image.pointer_size;
    let rows = u32::try_from(ground.object_count()).unwrap_or(u32::MAX);
    let mut addresses: Vec<u64> = (0..rows)
        .into_par_iter()
        .filter_map(|row| {
            let address = heap.candidate(ObjectId(row))?;
            Reader::of_made(program, &heap, 0).looks_like_one(address).then_some(address)
        })
        .collect();
    addresses.truncate(MAX_MADE);
    if !addresses.is_empty() {
        types.add_described(&Reader::of_made(program, &heap, bytes), &addresses, word);
    }
}

/// The memory of the process by link addresses: the heap, and the stored segments of the
/// executable.
struct Heap<'h, 'p, 's, 'a> {
    image: &'h Image<'a>,
    ground: Ground<'p, 's, 'a>,
    shift: u64,
}

impl Heap<'_, '_, '_, '_> {
    /// The address of an object, if it has the size and the first pointers of a descriptor.
    fn candidate(&self, object: ObjectId) -> Option<u64> {
        let size = self.ground.size(object);
        let word = self.image.pointer_size;
        if size < descriptors::length(word) || size > LARGEST {
            return None;
        }
        let memory = self.ground.read(object);
        let [equal, mask] = descriptors::pointers(word);
        let mut pointers = memory.pointers();
        if pointers.next() != Some(equal) || pointers.next() != Some(mask) {
            return None;
        }
        let start = self.ground.address(object)?.wrapping_add(memory.header);
        Some(start.wrapping_sub(self.shift))
    }

    /// The bytes of the heap from an address to the end of the object.
    fn object_tail(&self, address: u64) -> Option<&[u8]> {
        let (object, inside) = self.ground.object_at(address.wrapping_add(self.shift))?;
        self.ground.read(object).contents.get(usize::try_from(inside).ok()?..)
    }
}

impl Memory for Heap<'_, '_, '_, '_> {
    fn image(&self) -> &Image<'_> {
        self.image
    }

    fn tail(&self, address: u64) -> Option<&[u8]> {
        self.object_tail(address).or_else(|| self.image.tail(address))
    }

    fn contains(&self, address: u64) -> bool {
        self.object_tail(address).is_some() || self.image.contains(address)
    }

    /// Words of the heap are addresses of the process, so they are converted to link addresses.
    fn word(&self, address: u64) -> Option<u64> {
        let word = self.number(address, self.image.pointer_size)?;
        let is_heap = self.object_tail(address).is_some();
        Some(if is_heap && word != 0 { word.wrapping_sub(self.shift) } else { word })
    }
}
