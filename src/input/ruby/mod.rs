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

pub mod line;
pub mod load;
pub mod records;
mod sites;
pub mod summary;
mod types;
mod values;

use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};
use crate::model::roles::{Role, Roles};
use Role::{Closure, Collection, Hidden, Method, Runtime, Thread, Variables};

pub use records::{Rec, for_each_record};

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
    check: summary::check,
    readers: Readers::Heap(HeapReader {
        load: load::load,
        histogram: load::histogram,
        least_bytes: (30, 5),
        roles: ROLES,
        identity: Identity::Ids,
    }),
};

/// The roles of Ruby's classes, by `ext/objspace/objspace_dump.c` and the core classes of Ruby 2.7 to
/// 3.4.
const ROLES: Roles = &[
    ("imemo env", Closure),
    ("imemo ment", Method),
    ("imemo callcache", Hidden),
    ("imemo callinfo", Hidden),
    ("imemo constcache", Hidden),
    ("imemo iseq", Hidden),
    ("imemo *", Hidden),
    ("included module", Hidden),
    ("RubyVM*", Hidden),
    ("Proc", Closure),
    ("Method", Closure),
    // The constant TOPLEVEL_BINDING holds the local variables of the main program.
    ("Binding", Variables("a local variable of a Binding")),
    // The name of the group of roots that are global variables.
    ("global_tbl", Variables("a global variable")),
    ("Thread", Thread),
    ("Fiber", Thread),
    ("Set", Collection("set")),
    ("Thread::Queue", Collection("queue")),
    ("Queue", Collection("queue")),
    ("String", Runtime),
    ("Symbol", Runtime),
    ("Object", Runtime),
    ("Regexp", Runtime),
    ("Float", Runtime),
    ("Integer", Runtime),
    ("Rational", Runtime),
    ("MatchData", Runtime),
    ("Encoding*", Runtime),
    ("Gem::*", Runtime),
    ("Monitor", Runtime),
    ("Ractor*", Runtime),
    // The table of `ObjectSpace.trace_object_allocations_start`: the observer, not the program.
    ("ObjectTracing/*", Hidden),
];
