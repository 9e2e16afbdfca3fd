//! MoarVM's heap snapshots, versions 2 and 3.
//!
//! A file begins with 16 bytes of ASCII, `MoarHeapDumpv003` or `…v002`, and holds one snapshot for
//! each garbage collection that was profiled. All numbers are little-endian, nothing is aligned,
//! and blocks follow each other directly.
//!
//! # Version 3: blocks
//!
//! ```text
//! file     = magic, filemeta, snapshot*, [closing group]
//! snapshot = snapmeta, colkind, colsize, coltofi, colrfcnt, colrfstr, colusize, refdescr, reftrget,
//!            [strings], [reprname, typename], [sfname, sfcuid, sfline, sffile], topIDs, topscore, inner toc, outer toc
//! meta     = name (8 bytes, padded with NULs), u64 size, JSON and a NUL
//! column   = name, u16 entry size, u64 0, one zstd frame
//! strings  = name, u64 0, one zstd frame of { u32 length, bytes }
//! toc      = name, u64 count, count × { name, u64 start, u64 end }, u64 position of this toc
//! ```
//!
//! | block | entry | what |
//! |---|---|---|
//! | `filemeta`, `snapmeta` | JSON | process id, start time; time, totals |
//! | `colkind` | u16 | kind of a collectable, see below |
//! | `colsize` | u16 | managed bytes |
//! | `coltofi` | u32 | index of its type (kinds 1 to 3) or frame (kind 4) |
//! | `colrfcnt`, `colrfstr` | u32, u64 | number and first index of its references |
//! | `colusize` | u64 | unmanaged bytes |
//! | `refdescr` | u64 | what a reference is: two bits of kind (unknown, index, string), then a value |
//! | `reftrget` | u64 | row of the collectable that it refers to |
//! | `strings`, `reprname`, `typename`, `sfname`, `sfcuid`, `sfline`, `sffile` | string, u32 | what this snapshot adds to the strings, types and frames |
//! | `topIDs`, `topscore` | u64 | the largest types and frames |
//! | `toc` | | positions: an inner one of a snapshot's blocks, an outer one of the file so far |
//!
//! Kinds: 1 object, 2 type object, 3 STable, 4 frame, and the parts of the root set: 5 permanent, 6
//! instance, 7 C stack, 8 thread, 9 the root itself (row 0), 10 inter-generational, 11 call stack.
//!
//! An outer toc follows every snapshot, so that a file of a killed process still ends in one; an
//! orderly end adds a group with an empty inner toc. `end` is exclusive, and for an inner toc it
//! excludes the last field.
//!
//! # Version 2: sections
//!
//! ```text
//! coll = "coll", u64 count, u64 28, rows { u16 kind, u32 type or frame, u16 size, u64 unmanaged, u64 first, u32 references }
//! refs = "refs", u64 count, u64 17, rows { '0' '1' '3' '6' for 1, 2, 4, 8 bytes; u8 kind; value; target }
//! strs = "strs", u64 n, rows { u64 length, bytes }
//! type = "type", u64 count, u64 16, rows { u64 repr, u64 name }
//! fram = "fram", u64 count, u64 32, rows { u64 name, u64 cuid, u64 line, u64 file }
//! file = magic, (coll refs [strs type fram])*, strs type fram, index: (snapshots + 1) × 4 u64
//! ```
//!
//! Releases before 2019.11 write the tables at the end; those of 2017.09 to 2017.11 also after each
//! snapshot, and then once more in full. Releases since 2019.11 that were built without libzstd
//! write them after each snapshot and empty ones at the end; there `n` is the index of the first
//! string and not a count, and the upper halves of the fields of `type` and `fram` hold a
//! neighbour. All are read by one rule, see `dump`.
//!
//! Sources: MoarVM's `src/profiler/heapsnapshot.c` and `src/gc/roots.c` of the releases 2017.08 to
//! 2022.12 and of August 2026, and the readers App::MoarVM::HeapAnalyzer and Comma; statements were
//! checked on files of MoarVM 2022.12, except the dialects of version 2 before 2019.11, which are
//! known from source only. Version 1, which is text, is not read.

mod blocks;
mod column;
mod dump;
mod frame;
mod highscores;
pub mod invariants;
pub mod load;
mod meta;
mod ranges;
pub mod records;
mod rows;
mod scan;
mod sections;
pub mod summary;
mod sums;
mod tables;
mod tally;
mod toc;

use crate::error::{Error, Result};
use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};
use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Hidden, Inside, Runtime, Thread};

pub use invariants::check;
pub use load::{histogram, load};
pub use records::{Rec, Records, for_each_record};
pub use summary::info;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Mvmheap,
    name: "mvmheap",
    title: "MoarVM heap snapshot",
    versions: "2 (MoarVM from 2017.09; later ones without libzstd), 3 (MoarVM from 2019.11)",
    extensions: &["mvmheap"],
    detection: Detection::Magics(&[b"MoarHeapDumpv002", b"MoarHeapDumpv003"]),
    origin: Origin::Runtime("MoarVM"),
    record_names: &[RECORD_NAMES],
    info,
    check,
    readers: Readers::Heap(HeapReader {
        load,
        histogram,
        least_bytes: (4, 1),
        roles: ROLES,
        identity: Identity::Nothing,
    }),
};

/// The names of blocks of version 3, then those of sections of version 2. `unknown` stands for
/// blocks of any other name.
pub const RECORD_NAMES: &[&str] = &[
    "filemeta", "snapmeta", "colkind", "colsize", "coltofi", "colrfcnt", "colrfstr", "colusize",
    "refdescr", "reftrget", "strings", "reprname", "typename", "sfname", "sfcuid", "sfline",
    "sffile", "topIDs", "topscore", "toc", "unknown", "coll", "refs", "strs", "type", "fram",
    "index",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V2,
    V3,
}

impl Version {
    fn read(bytes: &[u8]) -> Result<Self> {
        let magic = bytes.get(..16).unwrap_or(bytes);
        let is_cut = (1..16).contains(&magic.len())
            && b"MoarHeapDumpv00".starts_with(magic.get(..15).unwrap_or(magic));
        match magic.strip_prefix(b"MoarHeapDumpv") {
            Some(b"002") => Ok(Self::V2),
            Some(b"003") => Ok(Self::V3),
            Some(version) if version.len() == 3 => {
                let what = format!("mvmheap version {} is not known", version.escape_ascii());
                Err(Error::unsupported(13, what).expected("version 002 or 003"))
            }
            _ if is_cut => {
                Err(Error::truncated(magic.len() as u64, "the input ends inside the magic"))
            }
            _ => Err(SPEC.wrong_magic()),
        }
    }
}

/// The roles of MoarVM's types, by `src/6model/reprs` and `src/profiler/heapsnapshot.c` of MoarVM, and
/// the types of NQP and Rakudo that exist before any program does.
const ROLES: Roles = &[
    ("BOOTHash", Collection("hash")),
    ("Hash", Collection("hash")),
    ("Map", Collection("map")),
    ("BOOTArray", Inside),
    ("IterationBuffer", Inside),
    ("Scalar", Inside),
    ("Array", Collection("array")),
    ("List", Collection("list")),
    ("BOOTThread", Thread),
    ("BOOTCode", Closure),
    ("Block", Closure),
    ("Sub", Closure),
    ("Method", Closure),
    ("BOOT*", Runtime),
    ("VMString", Runtime),
    ("Str", Runtime),
    ("Int", Runtime),
    ("Num", Runtime),
    // The serialization context of a module: its precompiled objects.
    ("SCRef", Runtime),
    ("SpeshLog", Runtime),
    ("StaticFrameSpesh", Hidden),
    ("STable<*", Hidden),
    ("*HOW", Runtime),
    ("NQP*", Runtime),
    ("QAST::*", Runtime),
    // The automata of the compiler's own grammar are 16 MiB in every program of Rakudo.
    ("QRegex::NFA", Hidden),
    ("QRegex::*", Runtime),
    ("HLL::*", Runtime),
    ("Perl6::*", Runtime),
    ("Rakudo::*", Runtime),
    ("CompUnit*", Runtime),
    ("Method+{*", Closure),
    ("Sub+{*", Closure),
    ("KnowHOW*", Runtime),
    ("* (type object)", Runtime),
];
