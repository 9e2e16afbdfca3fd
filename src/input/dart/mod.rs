//! Dart VM heap snapshots (`dartheap`): the object graph of an isolate group.
//!
//! ```text
//! file  = "dartheap", flags uleb (0), name str,
//!         shallowSize uleb, capacity uleb, externalSize uleb,
//!         classCount uleb, class*,                  ids 1 to classCount
//!         referenceCount uleb,                      an upper bound of the references that follow
//!         objectCount uleb, object*,                ids 1 to objectCount; object 1 is the root
//!         externalPropertyCount uleb, property*,
//!         identity hash codes: objectCount uleb     absent in files of Dart 2.12 and before
//!         zeros                                     only in exports of DevTools
//! uleb  = unsigned LEB128 of at most 64 bits;  sleb = signed LEB128
//! str   = length uleb, that many bytes, nominally UTF-8
//! ```
//!
//! | record | fields |
//! |---|---|
//! | class | flags (0), name str, libraryName str, libraryUri str, reserved str (empty), fieldCount, field* |
//! | field | flags (1: strong), index (slot in the list of references), name str, reserved str (empty) |
//! | object | classId, shallowSize, tag, data by tag, referenceCount, object id* (0: not an object) |
//! | property | objectId, externalSize, name str |
//!
//! | tag | data |
//! |---|---|
//! | 0, 1 | no data; the object of class Null |
//! | 2 | bool: uleb 0 or 1 |
//! | 3 | int: sleb for class `_Mint`, else uleb of the two's complement in the word size of the VM |
//! | 4 | double: 8 bytes, little endian |
//! | 5, 6 | Latin-1, UTF-16LE string: length, truncatedLength (at most 128), that many code units |
//! | 7 | length of a list, map, set or typed data: uleb |
//! | 8 | name of a class, function, library, isolate …: str |
//!
//! There is no version, no checksum and no length of any part: the file can only be read from front
//! to back, and nothing after an unknown tag can be read at all. Sizes are bytes on the heap;
//! Smis, the synthetic root objects and the objects that all isolates share have size 0. Of all
//! header values only `referenceCount >=` the references and `capacity >= shallowSize` are
//! promised; the sizes are those at the time of writing and differ from the sums.
//!
//! Facts that other descriptions of the format get wrong, each of which was checked on real files:
//! names have tag 8, not 7; hash codes are uleb, not u32; a `_Mint` is signed. DevTools re-encodes
//! what it read before it exports: all strings become names (tag 8), every int becomes an uleb, and
//! the file is padded with zeros to a multiple of 1 048 055 bytes.
//!
//! Sources: the writer, `runtime/vm/object_graph.cc` of the Dart SDK (states of 2020 and 2024), the
//! readers `pkg/vm_service/lib/src/snapshot_graph.dart` and `pkg/heap_snapshot`, DevTools at
//! 054c817, and snapshots taken from Dart 2.17.6, 3.0.5, 3.1.5 and 3.7.3. The layout of 2.12 and
//! before is known from its writer only. Recordings of VM service frames are joined when a source
//! is opened; the JSON that DevTools saves for offline use is not read.

pub mod class;
pub mod data;
pub mod invariants;
pub mod load;
pub mod object;
pub mod records;
pub mod summary;
pub mod tail;
pub mod word_size;

use crate::bytes::Cursor;
use crate::error::Result;
use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};
use crate::model::roles::{Role, Roles};
use Role::{Closure, Inside, Runtime, Timer};

pub use invariants::check;
pub use load::{histogram, load};
pub use records::{Rec, Records, for_each_record, identity_hashes};
pub use summary::info;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Dart,
    name: "dart",
    title: "Dart VM heap snapshot",
    versions: "1 (Dart 2.x and 3.x, DevTools exports)",
    extensions: &["dartheap", "heapsnapshot", "data"],
    detection: Detection::Magics(&[b"dartheap"]),
    origin: Origin::Runtime("Dart"),
    record_names: &[&Rec::NAMES],
    info,
    check,
    readers: Readers::Heap(HeapReader {
        load,
        histogram,
        least_bytes: (4, 1),
        roles: ROLES,
        identity: Identity::Hashes(identity_hashes),
    }),
};

#[inline]
fn uleb(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
    cursor.uleb128(what)
}

/// A `str`: its length in bytes as uleb, then the bytes, which ought to be UTF-8.
fn str<'a>(cursor: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8]> {
    let length = cursor.uleb128(what)?;
    cursor.take(length, what)
}

/// The roles of Dart's classes, by the libraries of Dart 2.17 to 3.7. Objects of the virtual machine
/// itself are in no library.
const ROLES: Roles = &[
    ("_Closure", Closure),
    ("Context", Closure),
    ("_Timer", Timer),
    ("_List", Inside),
    ("_WeakProperty", Inside),
    ("dart:*", Runtime),
    (":*", Runtime),
];
