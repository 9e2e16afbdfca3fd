//! Go heap dumps, as `runtime/debug.WriteHeapDump` writes them: Go 1.3 to 1.27, and the draft
//! before 1.3.
//!
//! ```text
//! file   = "go1.N heap dump\n" (16 bytes, N = 3 to 7), record*
//! record = uvarint tag, then its fields; a record has no length
//! u      = uvarint: unsigned LEB128 of at most 64 bits          b = a uvarint that is 0 or 1
//! s      = u length, that many bytes                            FL = { u kind, u offset }* , a kind of 0
//! ```
//!
//! | tag | record | fields |
//! |---|---|---|
//! | 0 | eof | nothing follows it |
//! | 1 | object | u addr, s contents, FL; 1.3: u addr, u type, u kind, s contents |
//! | 2 | other root (only in 1.3) | s description, u pointer |
//! | 3 | type | u addr, u size, s name, b indirect; 1.3: and FL |
//! | 4 | goroutine | u addr, u sp, u goid, u gopc, u status, b system, b background, u waitsince, s wait reason, u ctxt, u m, u defer, u panic |
//! | 5 | stack frame | u sp, u depth, u child sp, s contents, u entry, u pc, u contpc, s function, FL |
//! | 6 | params | b big endian, u pointer size, 1.3: u hchan size, u heap start, u heap end, to 1.6: u thechar, 1.7: s GOARCH, s GOEXPERIMENT or build version, u ncpu |
//! | 7, 11 | finalizer, queued finalizer | u object, u funcval, u code pc, u argument type, u object's pointer type |
//! | 8 | itab | u addr, then 1.3: b data is a pointer, 1.4 to 1.6: u type of the data word, 1.7: u dynamic type |
//! | 9 | OS thread | u m, u id, u thread id of the system |
//! | 10 | memstats | 24 u, 256 u (PauseNs), u NumGC |
//! | 12, 13 | data segment, bss segment | u addr, s contents, FL |
//! | 14 | defer | u addr, u g, u argp (1.5: sp), u pc, u funcval, u code pc, u link |
//! | 15 | panic | u addr, u g, u argument type, u argument data, u defer (0 from 1.4 on), u link |
//! | 16 | memprof | u id, u size, u frames, { s function, s file, u line }*, u allocs, u frees |
//! | 17 | alloc sample | u object address, u memprof id |
//!
//! The kinds of an FL are 1 pointer, and in 1.3: 2 string, 3 slice, 4 iface, 5 eface; in 1.4: 2
//! iface, 3 eface; from 1.5 on only pointers are written. Pointers inside contents are words of the
//! target's size and byte order.
//!
//! The **draft** of March 2014 has the magic of 1.3 and other tags: 1 object {u addr, u type, u
//! kind, s contents}, 3 eof, 4 stack root {u pointer, u sp}, 5 data root {u found at, u pointer}, 6
//! other root {u pointer}, 7 type {u addr, u size, s name, u count, count u offsets}, 8 thread {u
//! addr, u sp}, 9 stack frame {u sp, u parent sp, s name}, 10 params {u endian, u pointer size}.
//! [`Version::detect`] documents how it is distinguished from the released 1.3.
//!
//! Params come first. A goroutine is followed by its frames (innermost first), defers and panics.
//! Types may repeat. Since Go 1.22 the writer emits objects that do not exist: see [`phantoms`].
//!
//! Sources: `runtime/heapdump.go` (first `heapdump.c`) at the releases 1.3, 1.4, 1.5, 1.6, 1.7,
//! 1.19.8, 1.22.10 and 1.27.3; the README of randall77/hprof at its first commits for the draft;
//! the pages "heapdump13" to "heapdump15-through-heapdump17" of the Go wiki, corrected where dumps
//! of Go 1.19, 1.22 and 1.27 (amd64, 386, s390x, mips) say otherwise.

pub mod draft;
pub mod fields;
pub mod goroutine;
pub mod invariants;
pub mod load;
pub mod memprof;
pub mod memstats;
pub mod object;
pub mod params;
pub mod phantoms;
mod plain;
mod primitives;
pub mod records;
pub mod roots;
pub mod summary;
pub mod types;
pub mod version;

pub use invariants::check;
pub use load::{histogram, load};
pub use records::{Rec, Records};
pub use summary::info;
pub use version::Version;

use crate::input::origin::Provenance;
use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};
use crate::model::roles::Role::{Closure, Collection, Inside, Library, Runtime, Timer};
use crate::model::roles::Roles;

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Go,
    name: "go",
    title: "Go heap dump",
    versions: "1.3-draft, 1.3, 1.4, 1.5, 1.6, 1.7 (Go 1.7 to 1.27)",
    extensions: &["heapdump", "godump", "dump"],
    detection: Detection::Magics(&[
        b"go1.3 heap dump\n",
        b"go1.4 heap dump\n",
        b"go1.5 heap dump\n",
        b"go1.6 heap dump\n",
        b"go1.7 heap dump\n",
    ]),
    origin: Origin::Read(origin),
    record_names: &[records::Rec::NAMES, &["stack_root", "data_root", "thread"]],
    info,
    check,
    readers: Readers::Heap(HeapReader {
        load,
        histogram,
        least_bytes: (4, 1),
        roles: ROLES,
        identity: Identity::Ids,
    }),
};

/// Reads the parameters and the types, which Go writes before the objects. Damaged parts count as
/// unknown.
pub fn origin(bytes: &[u8]) -> Provenance {
    let mut origin = Provenance::of("Go");
    let Ok(records) = Records::new(bytes) else { return origin };
    for (_, record) in records.map_while(Result::ok) {
        match record {
            Rec::Params(params) => {
                let parts = [params.go_version(), params.goarch()];
                let version = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
                origin = origin.version(version);
            }
            Rec::Type(record) => origin.add_type(record.name, record.addr),
            Rec::Object(_) => break,
            _ => {}
        }
    }
    origin
}

/// The roles of Go's types.
///
/// Sources: `runtime/chan.go`, `internal/runtime/maps` and `runtime/map.go` of Go 1.3 to 1.27.
const ROLES: Roles = &[
    ("chan *", Collection("channel")),
    ("map.group*", Inside),
    ("map.bucket*", Inside),
    ("bucket[*", Inside),
    // Tables of maps, and the directories of pointers to them, which may be for a single table.
    ("*map[* table", Inside),
    ("map[*", Collection("map")),
    ("hash<*", Collection("map")),
    ("sync.Map", Collection("map")),
    ("container/list.List", Collection("list")),
    ("container/list.Element", Inside),
    ("internal/sync.*", Inside),
    ("[]*", Inside),
    ("func*", Closure),
    ("string", Runtime),
    // The words of a string or a slice in an interface.
    ("* header", Inside),
    ("(tiny block)", Runtime),
    ("(weak handle)", Runtime),
    ("time.Ticker", Timer),
    ("time.Timer", Timer),
    ("time.Time", Runtime),
    ("runtime.*", Runtime),
    ("internal/*", Runtime),
    ("sync.*", Runtime),
    ("os.*", Runtime),
    ("syscall.*", Runtime),
    ("unicode.*", Runtime),
    ("reflect.*", Runtime),
    ("archive/*", Library),
    ("bufio.*", Library),
    ("bytes.*", Library),
    ("compress/*", Library),
    ("container/*", Library),
    ("context.*", Library),
    ("crypto.*", Library),
    ("crypto/*", Library),
    ("database/*", Library),
    ("debug/*", Library),
    ("embed.*", Library),
    ("encoding.*", Library),
    ("encoding/*", Library),
    ("errors.*", Library),
    ("expvar.*", Library),
    ("flag.*", Library),
    ("fmt.*", Library),
    ("go/*", Library),
    ("hash.*", Library),
    ("hash/*", Library),
    ("html.*", Library),
    ("html/*", Library),
    ("image.*", Library),
    ("image/*", Library),
    ("io.*", Library),
    ("io/*", Library),
    ("iter.*", Library),
    ("log.*", Library),
    ("log/*", Library),
    ("maps.*", Library),
    ("math.*", Library),
    ("math/*", Library),
    ("mime.*", Library),
    ("mime/*", Library),
    ("net.*", Library),
    ("net/*", Library),
    ("os/*", Library),
    ("path.*", Library),
    ("path/*", Library),
    ("plugin.*", Library),
    ("regexp.*", Library),
    ("regexp/*", Library),
    ("slices.*", Library),
    ("sort.*", Library),
    ("strconv.*", Library),
    ("strings.*", Library),
    ("testing.*", Library),
    ("testing/*", Library),
    ("text/*", Library),
    ("time.*", Library),
    ("unique.*", Library),
    ("vendor/*", Library),
    ("weak.*", Library),
    ("* pointers)", Runtime),
    ("* without pointers*", Runtime),
    ("* B,*", Runtime),
];
