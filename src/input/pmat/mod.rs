//! Perl heap dumps (`.pmat` of Devel::MAT::Dumper).
//!
//! ```text
//! file    = "PMAT", flags u8, 0 u8, major u8 (0), minor u8, perl u32,
//!           sizes of SVs, sizes of extensions (from minor 4 on), sizes of contexts,
//!           undef PTR, yes PTR, no PTR,
//!           count u32, (name STR, PTR)*,                        roots
//!           count UINT, PTR*,                                   stack
//!           (SV | extension | structure)*, 0 u8,
//!           context*, 0 u8,
//!           count UINT, PTR*, floor UINT                        temporary values; may be absent
//! sizes   = count u8, (bytes u8, PTRs u8, STRs u8)*             the first is common to all
//! SV      = type u8, common part, own part, body by type
//! STR     = length UINT, bytes                                  all ones: undefined
//! ```
//!
//! The flags give the byte order and the sizes of UINT and PTR. The tables of sizes give the length
//! of a type's parts, so that parts of later versions can be skipped; they do not cover bodies.
//!
//! Sizes are those of the file: an SV with its body and buffers. Perl counts references, so SVs
//! that no root reaches have leaked. Undef, yes and no are not SVs of the file, and references to
//! them are left out. Versions 0.0 and 0.1 are not read.
//!
//! Sources: `format.txt` of Devel::MAT::Dumper 0.46, the reader Devel::MAT 0.51, and dumps of
//! Perl 5.36 (threads, 64 bit).

mod graph;
pub mod layout;
mod links;
pub mod load;
pub mod records;
pub mod summary;
pub mod sv;
mod values;

use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};
use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Hidden, Inside, Passage, Program, Runtime, Sigil};

pub use records::{Rec, Records};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Pmat,
    name: "pmat",
    title: "Perl heap dump",
    versions: "0.2 to 0.5 (Devel::MAT::Dumper)",
    extensions: &["pmat"],
    detection: Detection::Magics(&[b"PMAT"]),
    origin: Origin::Runtime("Perl"),
    record_names: &[Rec::NAMES],
    info: summary::info,
    check: summary::check,
    readers: Readers::Heap(HeapReader {
        load: load::load,
        histogram: load::histogram,
        least_bytes: (13, 4),
        roles: ROLES,
        identity: Identity::Ids,
    }),
};

/// The roles of Perl's values, by `sv.h` of Perl 5 and the type names of Devel::MAT.
const ROLES: Roles = &[
    ("STASH*", Passage),
    ("GLOB*", Passage),
    ("HASH", Collection("hash")),
    ("ARRAY", Collection("array")),
    ("CODE", Closure),
    ("PAD*", Passage),
    ("REF", Inside),
    ("SCALAR*", Runtime),
    ("IO*", Runtime),
    ("REGEXP", Runtime),
    ("INVLIST", Runtime),
    ("the scalar", Sigil("$")),
    ("the array", Sigil("@")),
    ("the hash", Sigil("%")),
    ("the code", Sigil("&")),
    ("the scope", Hidden),
    ("main_cv", Program),
];
