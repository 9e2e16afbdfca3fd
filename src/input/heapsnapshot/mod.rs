//! V8 heap snapshots (`.heapsnapshot`, `.heaptimeline`): Node.js, Chrome, Deno, Electron, Bun,
//! Hermes.
//!
//! ```text
//! file     = {"snapshot": {"meta": meta, "node_count": n, "edge_count": n, "trace_function_count": n[, "extra_native_bytes": n]},
//!             "nodes": [number*], "edges": [number*], "trace_function_infos": […], "trace_tree": […], "samples": […],
//!             "locations": […], "strings": [string*]}
//! meta     = {"node_fields": [name*], "node_types": [[name*], …], "edge_fields": …, "edge_types": …, "location_fields": …, …}
//! ```
//!
//! | row of | fields, in the order that `meta` says |
//! |---|---|
//! | `nodes` | type (index into `node_types[0]`), name (string), id, self_size (bytes), edge_count, trace_node_id, detachedness |
//! | `edges` | type (index into `edge_types[0]`), name_or_index, to_node (position of the target in `nodes`) |
//! | `locations` | object_index (position in `nodes`), script_id, line, column (0-based) |
//!
//! The edges of a node follow those of the node before it. `name_or_index` is a number for the
//! types `element` and `hidden`, and a string otherwise. Positions are rows times the number of
//! fields. Which fields there are, their order, and the numbers of types differ between versions of
//! V8: only the names in `meta` are relied on. The members of the document may have any order.
//!
//! **What holds what** follows Chrome DevTools, node by node: see [`load`](mod@load).
//!
//! Odd, but as V8 writes it: characters above U+FFFF are cut to 16 bits, and texts to 1024
//! characters; a process that records its own allocations writes a smaller `trace_function_count`
//! than there are functions. Bun writes lone surrogates as `\ud800`.
//!
//! Sources: V8's `src/profiler/heap-snapshot-generator.cc` (2023), the front end of Chrome DevTools
//! 1.0.1705227 (`heap_snapshot_worker/HeapSnapshot.ts`), and snapshots of Node.js 12 to 24, Deno
//! 2.9, Chromium 156 and Bun 1.4.

pub mod document;
pub mod invariants;
pub mod load;
pub mod meta;
pub mod records;
mod roles;
pub mod rows;
pub mod strings;
pub mod summary;

pub(super) use load::short_names;
pub use records::{Rec, for_each_record};

use crate::input::spec::{Detection, Format, FormatSpec, HeapReader, Identity, Origin, Readers};

pub(super) static SPEC: FormatSpec = FormatSpec {
    format: Format::Heapsnapshot,
    name: "heapsnapshot",
    title: "V8 heap snapshot",
    versions: "Node.js 12 to 24, Chrome, Deno, Electron, Bun, Julia (V8 format)",
    extensions: &["heapsnapshot", "heaptimeline"],
    detection: Detection::MagicsOrContents(
        &[b"{\"snapshot\":{\"meta\":{\"node_fields\":"],
        begins_otherwise,
    ),
    origin: Origin::Runtime("V8"),
    record_names: &[Rec::NAMES],
    info: summary::info,
    check: invariants::check,
    readers: Readers::Heap(HeapReader {
        load: load::load,
        histogram: load::histogram,
        least_bytes: (10, 6),
        roles: roles::ROLES,
        identity: Identity::Ids,
    }),
};

/// Whether the first 4 KiB look like a snapshot that a tool has rewritten, with white space or with
/// members in another order.
fn begins_otherwise(bytes: &[u8]) -> bool {
    let head = bytes.get(..4096).unwrap_or(bytes).trim_ascii_start();
    let has = |name: &[u8]| memchr::memmem::find(head, name).is_some();
    head.starts_with(b"{") && has(b"\"snapshot\"") && has(b"\"meta\"") && has(b"\"node_fields\"")
}
