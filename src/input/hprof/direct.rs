//! The memory of direct buffers, which lies outside the heap.
//!
//! A `java.nio.DirectByteBuffer` that allocated its memory has a cleaner that frees it. Slices,
//! duplicates and views use the memory of another buffer and have no cleaner. The buffer of a
//! mapped file, which has an `fd`, has a cleaner too, but its memory is that of the file.
//!
//! Sources: `DirectByteBuffer` and `MappedByteBuffer` of OpenJDK 11 to 25; a dump of OpenJDK 17
//! with each kind of buffer.

use super::hidden::is;
use super::layout::ClassTable;
use super::naming::Strings;
use super::primitives::IdSize;
use super::sizes::positive_int;
use crate::java::FieldType;
use rustc_hash::FxHashMap;

/// Offsets of the fields of a direct buffer, in bytes from the start of its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectBuffer {
    capacity: usize,
    cleaner: usize,
    file: usize,
}

/// The classes that declare these fields, with the type of each field.
const CAPACITY: (&str, &[u8], FieldType) = ("java.nio.Buffer", b"capacity", FieldType::Int);
const CLEANER: (&str, &[u8], FieldType) =
    ("java.nio.DirectByteBuffer", b"cleaner", FieldType::Object);
const FILE: (&str, &[u8], FieldType) = ("java.nio.MappedByteBuffer", b"fd", FieldType::Object);

/// Superclasses of a direct buffer, itself included: `DirectByteBufferR`, `DirectByteBuffer`,
/// `MappedByteBuffer`, `ByteBuffer`, `Buffer`.
const DEPTH: usize = 5;

impl DirectBuffer {
    /// Finds the fields of a class. `names` has the string of each class, which the class table
    /// does not have yet while the file is read. Returns `None` if the class is not a direct
    /// buffer.
    pub(super) fn of(
        class: u64,
        classes: &ClassTable<'_>,
        names: &FxHashMap<u64, u64>,
        strings: &Strings<'_>,
        ids: IdSize,
    ) -> Option<Self> {
        let name = |class| strings.text(names.get(&class).copied().unwrap_or(0));
        if !["java.nio.DirectByteBuffer", "java.nio.DirectByteBufferR"]
            .iter()
            .any(|direct| is(name(class), direct))
        {
            return None;
        }
        let (mut start, mut next) = (0usize, class);
        let mut found = [CAPACITY, CLEANER, FILE].map(|field| (field, None));
        for _ in 0..DEPTH {
            let Some(class) = classes.of_id(next) else { break };
            for ((declaring, field, kind), place) in &mut found {
                if is(name(next), declaring)
                    && let Some((offset, found)) = class.own_field(field, strings, ids)
                    && found == *kind
                {
                    *place = start.checked_add(offset);
                }
            }
            start = start.saturating_add(class.own_data(ids));
            next = class.dump.super_class;
        }
        let [(_, capacity), (_, cleaner), (_, file)] = found;
        Some(Self { capacity: capacity?, cleaner: cleaner?, file: file? })
    }

    /// Bytes of the memory that a buffer with these values has allocated. 0 if it uses the memory
    /// of another buffer or of a file.
    pub(super) fn bytes(&self, values: &[u8], ids: IdSize) -> u64 {
        if ids.at(values, self.cleaner) == 0 || ids.at(values, self.file) != 0 {
            return 0;
        }
        positive_int(values, self.capacity)
    }
}
