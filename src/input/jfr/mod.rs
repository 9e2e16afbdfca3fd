//! JFR: recordings of the JDK's Flight Recorder (JDK 11 to 25) and of async-profiler.
//!
//! A file is a sequence of chunks, each with its own metadata, pools and ids:
//!
//! ```text
//! chunk    "FLR\0", u16 major, u16 minor, i64 size, i64 offset of the last checkpoint, i64 offset of the metadata,
//!          i64 start in ns, i64 duration in ns, i64 start in ticks, i64 ticks per second, u32 flags; events
//! event    size, type, fields in the order of the type's metadata
//! metadata (an event of type 0): start, duration, id, strings, and a tree of elements: classes with their fields
//! pools    (events of type 1): start, duration, delta, u8 kind, pools of (class, values of (id, value))
//! field    a pooled field: an id; an array: a count and values; otherwise a number, a string or the fields of its class
//! number   LEB128 of at most nine bytes, the ninth with eight bits; float and double 4 and 8 bytes, big-endian
//! string   u8 encoding: 0 null, 1 empty, 2 pooled, 3 UTF-8, 4 UTF-16, 5 Latin-1
//! ```
//!
//! The header's numbers are big-endian. Metadata and pools lie between the other events. In an
//! unfinished chunk, nothing states where, so a first pass finds them. Pooled values are read where
//! an event refers to them; only their places are kept, for one chunk at a time. Fields are found
//! by name, because versions order them differently.
//!
//! Sources: there is no specification. Chunk headers, metadata and pools as in async-profiler's
//! `JfrReader.java` and OpenJDK's `jdk.jfr.internal.consumer`; seen in recordings of JDK 11, 17, 21 and 25,
//! whose counts, sums, methods, threads and classes equal those of `jdk.jfr.consumer`.

mod by_type;
mod chunk;
mod facts;
mod histogram;
mod load;
mod measures;
mod metadata;
mod metrics;
mod names;
mod old_objects;
mod places;
mod records;
mod summary;
mod survey;
mod values;
mod wire;

pub use histogram::{ClassHistogram, class_histograms};
pub(super) use load::load;
pub use old_objects::{OldObject, OldObjectSample, OldObjects, old_objects};
pub(super) use records::for_each_record;
pub(super) use summary::{check, info};

use crate::input::spec::{Detection, Format, FormatSpec, Origin, ProfileReader, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Jfr,
    name: "jfr",
    title: "JFR recording",
    versions: "JDK 8u262 and 11 to 25, async-profiler",
    extensions: &["jfr"],
    detection: Detection::Magics(&[chunk::MAGIC]),
    origin: Origin::Runtime("Java"),
    record_names: &[records::RECORD_NAMES],
    info,
    check,
    readers: Readers::Profile(ProfileReader { load, has_order: false }),
};
