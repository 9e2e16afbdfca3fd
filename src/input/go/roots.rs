//! Roots outside stacks: tags 2 (other root), 7 and 11 (finalizers), 12 and 13 (data and bss
//! segment).

use super::fields::FieldList;
use super::primitives::{pass_contents, string, uvarint};
use super::version::Version;
use crate::input::record::record;

record! {
    /// A root of 1.3 that is in no segment.
    pub struct OtherRoot<'a> {
        /// The description, such as `runtime type info`.
        description: &'a [u8] = string("a root's description") => text,
        /// The target address.
        pointer: u64 = uvarint("a root") => address,
    }
}

record! {
    /// A finalizer, registered (tag 7) or about to run (tag 11).
    pub struct Finalizer {
        /// The object that it is for.
        object: u64 = uvarint("a finalizer's object") => address,
        funcval: u64 = uvarint("a finalizer's closure") => address,
        /// The code of the closure.
        code: u64 = uvarint("a finalizer's code") => address,
        /// Type of the argument of the function.
        arg_type: u64 = uvarint("a finalizer's argument type") => address,
        /// Type of the pointer to the object.
        object_type: u64 = uvarint("a finalizer's object type") => address,
    }
}

record! {
    /// The global variables: initialized (tag 12) or zero at the start (tag 13).
    pub struct Segment<'a>(version: Version) {
        addr: u64 = uvarint("a segment's address") => address,
        /// Its memory.
        contents: &'a [u8] = string("a segment's contents") => with(pass_contents),
        /// The offsets of its pointers.
        fields: FieldList<'a> = FieldList::read(version) => with(FieldList::pass_to),
    }
}
