//! Ruby heap dumps (`ObjectSpace.dump_all`): a JSON object a line.
//!
//! ```text
//! {"type":"ROOT", "root":"vm", "references":["0x7f…", …]}
//! {"address":"0x…", "type":"SHAPE", "id":14, "parent_id":10, "depth":3, "shape_type":"IVAR", "edge_name":"@name", "memsize":…}
//! {"address":"0x…", "type":"OBJECT", "shape_id":14, "slot_size":40, "class":"0x…", "ivars":3, "references":["0x…", …],
//!  "file":"shop.rb", "line":9, "method":"new", "generation":15, "memsize":40, "flags":{"wb_protected":true, …}}
//! ```
//!
//! Roots come first, then shapes (Ruby 3.2 and later), then objects, page by page. Which keys a
//! line has depends on the type of the object and the version of Ruby; unknown ones are skipped.
//! `memsize` is what the object takes: its slot and the memory that it has allocated. `references`
//! leaves the object's class out, which is in `class`; in an IMEMO, `class` may be anything.
//!
//! Up to Ruby 3.0, names of classes, files and methods are written without escapes, so that a line
//! may not be JSON: such a line is counted and skipped. A dump with `since:` has no roots: objects
//! that nothing refers to count as roots.
//!
//! Sources: `ext/objspace/objspace_dump.c` of Ruby 3.0, and dumps of Ruby 3.1 (64 bit), 3.3, 3.4
//! and 4.0 (WebAssembly).

mod invariants;
pub mod line;
pub mod load;
pub mod records;
mod roles;
mod sites;
pub mod summary;
mod types;
mod values;

pub use records::{Rec, for_each_record};

use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Ruby,
    name: "ruby",
    title: "Ruby heap dump",
    versions: "ObjectSpace.dump_all of Ruby 2.7 to 4.0",
    extensions: &["json", "dump"],
    detection: Detection::Magics(&[b"{\"type\":\"ROOT\"", b"{\"address\":\"0x"]),
    origin: Origin::Runtime("Ruby"),
    record_names: &[Rec::NAMES],
    info: summary::info,
    check: invariants::check,
    readers: Readers::Heap(HeapReader {
        load: load::load,
        histogram: load::histogram,
        least_bytes: (30, 5),
        roles: roles::ROLES,
        identity: Identity::Ids,
    }),
};
