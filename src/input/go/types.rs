//! Records about types: tags 3 (type) and 8 (itab).

use super::fields::FieldList;
use super::primitives::{boolean, string, uvarint};
use super::version::Version;
use crate::input::record::record;
use crate::model::fields::FieldSink;

record! {
    /// A type. Since 1.5 only those that an itab names are written.
    pub struct Type<'a>(version: Version) {
        /// Address of its descriptor.
        addr: u64 = uvarint("a type address") => address,
        /// Bytes in a value.
        size: u64 = uvarint("a type's size") => unsigned,
        /// Package path, a dot, and the name. From 1.7 to 1.27 a pointer type with methods has an
        /// empty name: `flag.`.
        name: &'a [u8] = string("a type's name") => text,
        /// Whether the data word of an interface that holds the type is a pointer. It is set for
        /// every type of a real dump.
        ifaceptr: bool = boolean("a type's pointer flag") => boolean,
        /// The offsets of the pointers in a value (1.3 only, empty later).
        fields: FieldList<'a> = FieldList::of_type(version) => with(pass_fields),
    }
}

record! {
    /// An itab: the first word of an interface value with methods.
    pub struct Itab(version: Version) {
        addr: u64 = uvarint("an itab address") => address,
        /// Whether the data word is a pointer.
        data_is_pointer: Option<bool> = boolean("an itab's pointer flag") if version <= Version::Go13 => boolean,
        /// The type of the data word, which is `*T` if the interface holds a `T` by reference.
        data_type: Option<u64> = uvarint("an itab's type") if version > Version::Go13 && version < Version::Go17 => address,
        dynamic_type: Option<u64> = uvarint("an itab's type") if version >= Version::Go17 => address as "type",
    }
}

impl Itab {
    /// The address of the itab's type. `None` before 1.4.
    pub fn type_addr(&self) -> Option<u64> {
        self.dynamic_type.or(self.data_type)
    }
}

/// Only types of 1.3 record the offsets of pointers.
fn pass_fields<S: FieldSink>(fields: FieldList<'_>, sink: &mut S) {
    if !fields.is_empty() {
        fields.pass_to(sink);
    }
}
