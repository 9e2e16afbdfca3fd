//! How large objects are in memory, which no file says for all of them.
//!
//! * **Stated**: when the class java.lang.Object has an instance size above 0, the size of every class is that of its
//!   objects. dumptool, Android and SubstrateVM write it so. Arrays have a header of the size of a java.lang.Object and
//!   4 bytes for the length, and are rounded up to 8, as VisualVM counts them.
//! * **HotSpot** writes the bytes of all fields instead, of which java.lang.Object has none. An object has a header of a
//!   pointer and a reference, the classes of its chain add their fields, and the whole is rounded up to 8. Up to JDK 14 the
//!   fields of each class are rounded up to a reference, as Eclipse MAT counts all versions; since 15 (JDK-8237767), which
//!   the field `classData` of java.lang.Class tells, gaps are filled, as VisualVM counts all versions. References have 4
//!   bytes when ids have 4, or when an array would otherwise overlap the object behind it. Not told by the file: fields that
//!   the JVM injects (a few bytes in java.lang.Module, Thread, invoke.MemberName), a small class pointer beside wide
//!   references, compact headers, and other alignments than 8. In dumps of OpenJDK 17 whose objects lie close together,
//!   no other class than those differs from what the addresses say.
//!
//! A class object counts its static fields, rounded up to 8, as in MAT; in files of dumptool, where classes are not objects
//! of the original heap, it counts nothing.

use super::classes::{Fields, Statics};
use super::objects::Object;
use super::primitives::IdSize;
use crate::java::FieldType;

/// How sizes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// From the classes.
    Stated {
        /// Bytes of a java.lang.Object.
        object: u64,
        /// The file is one of dumptool's.
        ours: bool,
    },
    /// From the fields.
    HotSpot {
        /// Bytes of a pointer.
        pointer: u64,
        /// Bytes of a reference: 4 beside pointers of 8 when references are compressed.
        reference: u64,
        /// Gaps behind the fields of a superclass are filled.
        dense: bool,
    },
}

impl Rule {
    /// An object without fields, in the chain of a class.
    pub(super) fn base(self) -> u64 {
        match self {
            Self::Stated { object, .. } => object,
            Self::HotSpot { pointer, reference, .. } => pointer.saturating_add(reference),
        }
    }

    /// Bytes of an object whose class adds fields to a superclass, before the whole is rounded up.
    pub(super) fn extend(self, super_size: u64, fields: &Fields<'_>, ids: IdSize) -> u64 {
        let Self::HotSpot { reference, dense, .. } = self else { return super_size };
        let size = |kind: FieldType| match kind {
            FieldType::Object => reference,
            kind => kind.size(ids) as u64,
        };
        let own = fields.iter().fold(0, |total: u64, field| total.saturating_add(size(field.kind)));
        let size = super_size.saturating_add(own);
        if dense { size } else { size.next_multiple_of(reference) }
    }

    /// Bytes of an instance: of a class that states `stated` and whose chain comes to `chain`.
    #[inline]
    pub(super) fn instance(self, stated: u32, chain: u64) -> u64 {
        match self {
            Self::Stated { .. } => stated.into(),
            Self::HotSpot { .. } => up(chain),
        }
    }

    /// Bytes of an array of references.
    #[inline]
    pub(super) fn object_array(self, count: u32, ids: IdSize) -> u64 {
        let width = match self {
            Self::Stated { .. } => ids.bytes() as u64,
            Self::HotSpot { reference, .. } => reference,
        };
        up(self.base().saturating_add(4).saturating_add(width.saturating_mul(count.into())))
    }

    /// Bytes of an array of numbers whose elements have `bytes` bytes.
    #[inline]
    pub(super) fn primitive_array(self, bytes: u64) -> u64 {
        let header = self.base().saturating_add(4);
        match self {
            Self::Stated { .. } => up(header.saturating_add(bytes)),
            Self::HotSpot { reference, .. } => up(header.next_multiple_of(reference).saturating_add(bytes)),
        }
    }

    /// Bytes of a class object.
    pub(super) fn class(self, statics: &Statics<'_>, ids: IdSize) -> u64 {
        let size = |kind: FieldType| match (kind, self) {
            (FieldType::Object, Self::HotSpot { reference, .. }) => reference,
            (kind, _) => kind.size(ids) as u64,
        };
        match self {
            Self::Stated { ours: true, .. } => 0,
            _ => up(statics.iter().map(|field| size(field.kind)).sum()),
        }
    }
}

fn up(size: u64) -> u64 {
    size.saturating_add(7) & !7
}

/// Whether references are compressed, found while the objects go by.
///
/// Objects do not overlap: one that begins before the elements of the array before it in the file could end shows that
/// elements are smaller than ids. MAT decides by the same, of arrays only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    last: Option<(u64, u64)>,
    seen: bool,
}

impl Compression {
    /// Takes the next object.
    #[inline]
    pub(super) fn see(&mut self, object: &Object<'_>) {
        let id = object.id();
        if let Some((start, end)) = self.last {
            self.seen |= start < id && id < end;
        }
        self.last = match object {
            Object::ObjectArray(array) => {
                Some((id, id.saturating_add(u64::from(array.count).saturating_mul(8).saturating_add(16))))
            }
            _ => None,
        };
    }

    /// Whether the objects so far show it.
    pub(super) fn seen(&self) -> bool {
        self.seen
    }
}
