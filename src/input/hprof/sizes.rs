//! Sizes of objects in memory, which no file states for all objects.
//!
//! * **Stated**: if the class java.lang.Object has an instance size above 0, the instance size of
//!   every class is that of its objects. dumptool, Android and SubstrateVM write such files. Arrays
//!   have a header of the size of a java.lang.Object and 4 bytes for the length, and are rounded up
//!   to 8, as VisualVM counts them.
//! * **HotSpot** writes the bytes of all fields instead, of which java.lang.Object has none.
//!   `inference` finds the layout, and the size of each class, from the addresses of the objects.
//! * **HotSpot with ids of 4 bytes**: the header has 8 bytes, and the whole is rounded up to 8. Up
//!   to JDK 14 the fields of each class are rounded up to 4, as Eclipse MAT counts all versions;
//!   since 15, which has the field `classData` in java.lang.Class, gaps are filled, as VisualVM
//!   counts all versions.
//!
//! A class object is an instance of java.lang.Class with the static fields of its class after it.
//! With ids of 4 bytes and in stated sizes it counts its static fields, rounded up to 8, as in MAT;
//! in files of dumptool, where classes are not objects of the original heap, it counts nothing.

use super::classes::Statics;
use super::fields::{Gaps, Widths};
use super::naming::Strings;
use super::objects::PrimitiveArray;
use super::primitives::IdSize;
use crate::java::FieldType;

/// How the size of an object follows from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The class records state the sizes.
    Stated {
        /// Bytes of a java.lang.Object.
        object: u64,
        /// Whether dumptool wrote the file.
        ours: bool,
    },
    /// Sizes are computed from the fields and the addresses.
    HotSpot(Layout),
}

/// HotSpot's object layout. All numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The size of a reference: 4 with pointers of 8 if references are compressed.
    pub reference: u64,
    pub header: u64,
    /// The offset of the elements of an array, if they take at most 4 bytes.
    pub array: u64,
    /// The offset of elements of 8 bytes.
    pub wide_array: u64,
    pub alignment: u64,
    /// The treatment of gaps between fields.
    pub gaps: Gaps,
    /// The size of a java.lang.Class without static fields; 0 if class objects count only these.
    pub mirror: u64,
}

impl Layout {
    /// The layout of a JVM with pointers of 8 bytes. With a header of 16 bytes, array elements
    /// begin at 24, but since JDK 23 (JDK-8139457) at 20 if they have at most 4 bytes. `slack` is
    /// the smallest number of bytes that an array has besides its elements.
    pub(super) fn new(reference: u64, header: u64, alignment: u64, gaps: Gaps, slack: u64) -> Self {
        let array = match header {
            8 => 12,
            12 => 16,
            _ if (20..24).contains(&slack) => 20,
            _ => 24,
        };
        Self { reference, header, array, wide_array: up(array, 8), alignment, gaps, mirror: 0 }
    }

    /// The layout of a JVM with pointers of 4 bytes. Array elements of 8 bytes are assumed to begin
    /// at the same offset as others.
    pub(super) fn narrow_pointers(gaps: Gaps) -> Self {
        Self { reference: 4, header: 8, array: 12, wide_array: 12, alignment: 8, gaps, mirror: 0 }
    }

    /// The offset of the references of an array.
    #[inline]
    pub(super) fn before_references(&self) -> u64 {
        if self.reference == 8 { self.wide_array } else { self.array }
    }

    /// Rounds a size up to the alignment, which is a power of two.
    #[inline]
    pub(super) fn up(&self, size: u64) -> u64 {
        up(size, self.alignment)
    }

    /// Bytes of the references and numbers of static fields, after a java.lang.Class: references
    /// come first, longs are aligned.
    pub(super) fn statics(&self, statics: &Statics<'_>, strings: &Strings<'_>) -> u64 {
        let mut widths = Widths::default();
        // HotSpot lists two references of the class that are not static fields.
        let real = |name| !matches!(strings.text(name), b"<init_lock>" | b"<resolved_references>");
        statics
            .iter()
            .filter(|field| field.kind != FieldType::Object || real(field.name))
            .for_each(|field| widths.add(field.kind));
        let references =
            Widths { references: widths.references, ..Widths::default() }.total(self.reference);
        let numbers = widths.total(0);
        if widths.longs > 0 {
            up(references, 8).saturating_add(numbers)
        } else {
            references.saturating_add(numbers)
        }
    }
}

impl Rule {
    /// The size of an object without fields.
    pub(super) fn base(&self) -> u64 {
        match self {
            Self::Stated { object, .. } => *object,
            Self::HotSpot(layout) => layout.header,
        }
    }

    /// Bytes of a stack in a StackChunk: its words, and a bit for each that may be a reference (two
    /// for two narrow ones).
    pub(super) fn stack(&self, words: u64) -> u64 {
        let Self::HotSpot(layout) = self else { return 0 };
        let bits = words.saturating_mul(if layout.reference == 4 { 2 } else { 1 });
        layout.up(words.saturating_add(bits.div_ceil(64)).saturating_mul(8))
    }

    /// Bytes of an array of references.
    #[inline]
    pub(super) fn object_array(&self, count: u32, ids: IdSize) -> u64 {
        match self {
            Self::Stated { object, .. } => up(
                object
                    .saturating_add(4)
                    .saturating_add((ids.bytes() as u64).saturating_mul(count.into())),
                8,
            ),
            Self::HotSpot(layout) => {
                let start = layout.before_references();
                layout.up(start.saturating_add(layout.reference.saturating_mul(count.into())))
            }
        }
    }

    /// Bytes of an array of numbers.
    #[inline]
    pub(super) fn primitive_array(&self, array: &PrimitiveArray<'_>, ids: IdSize) -> u64 {
        self.numbers(array.size(ids), array.element.size(ids) as u64)
    }

    /// Bytes of an array of numbers that have `bytes` bytes together and `width` each.
    #[inline]
    pub(super) fn numbers(&self, bytes: u64, width: u64) -> u64 {
        match self {
            Self::Stated { object, .. } => up(object.saturating_add(4).saturating_add(bytes), 8),
            Self::HotSpot(layout) => {
                let start = if width == 8 { layout.wide_array } else { layout.array };
                layout.up(start.saturating_add(bytes))
            }
        }
    }

    pub(super) fn class(&self, statics: &Statics<'_>, ids: IdSize, strings: &Strings<'_>) -> u64 {
        match self {
            Self::Stated { ours: true, .. } => 0,
            Self::HotSpot(layout) if layout.mirror > 0 => {
                layout.up(layout.mirror.saturating_add(layout.statics(statics, strings)))
            }
            _ => {
                let reference = if let Self::HotSpot(layout) = self {
                    layout.reference
                } else {
                    ids.bytes() as u64
                };
                let mut widths = Widths::default();
                statics.iter().for_each(|field| widths.add(field.kind));
                up(widths.total(reference), 8)
            }
        }
    }
}

/// The int field of an instance at this offset among its values; 0 if it is negative or missing.
pub(super) fn positive_int(values: &[u8], offset: usize) -> u64 {
    let bytes = values.get(offset..).and_then(|rest| rest.first_chunk());
    bytes.and_then(|bytes| i32::from_be_bytes(*bytes).try_into().ok()).unwrap_or(0)
}

/// Rounds up to a power of two.
#[inline]
fn up(size: u64, alignment: u64) -> u64 {
    let mask = alignment.saturating_sub(1);
    size.saturating_add(mask) & !mask
}
