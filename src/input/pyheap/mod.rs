//! Heap dumps of Python programs, which the package `dumptool_heap` writes: a JSON value a line.
//!
//! `docs/formats/pyheap.md` specifies the format.

mod invariants;
mod line;
mod load;
mod records;
mod roles;
mod roots;
mod summary;
mod types;
mod values;

pub(super) use records::for_each_record;

use super::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Pyheap,
    name: "pyheap",
    title: "Python heap dump",
    versions: "dumptool_heap 1 (CPython 3.8 to 3.14)",
    extensions: &["pyheap"],
    detection: Detection::Magics(&[b"{\"pyheap\":"]),
    origin: Origin::Runtime("Python"),
    record_names: &[records::NAMES],
    info: summary::info,
    check: invariants::check,
    readers: Readers::Heap(HeapReader {
        load: load::load,
        histogram: load::histogram,
        least_bytes: (20, 2),
        roles: roles::ROLES,
        identity: Identity::Ids,
    }),
};
