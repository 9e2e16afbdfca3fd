//! Writes a heap as a `.heapsnapshot` of V8, which the Memory panel of Chrome DevTools and memlab
//! open.
//!
//! The file is one JSON document whose keys have a fixed order: the meta data, then flat arrays of
//! numbers for nodes and edges, then the strings that both refer to. Readers keep every number in
//! 32 bits.
//!
//! | in the heap | in the snapshot |
//! |---|---|
//! | the set of roots | node 0, and `(GC roots)` below it: the heap's own root object if it has one |
//! | a group of roots of one kind | a synthetic node below `(GC roots)`, with an edge for each root |
//! | an object | a node of the type `object`, named after its type, which is what DevTools groups by; of the original's type if that was a snapshot of V8 |
//! | a text | a node of the type `string`, named by the text's first KiB |
//! | shallow and external bytes | the node's own size, up to 4 GiB |
//! | a reference with a name | an edge `property`, or `internal` to the shape, properties and elements of an object of V8; the place in memory is a name too |
//! | an element | an edge `element` |
//! | a reference that is not called anything | `element` in arrays, otherwise `hidden`, with its number |
//! | a weak reference | an edge `weak`, which readers do not follow |
//! | an ephemeron in effect | an edge `internal` from the holder to the value |
//!
//! The node of the object in row r has the id 2·r + 1; other nodes have even ids.
//!
//! **Unreachable objects** are left out by default, as V8 leaves them out. With
//! [`HeapSnapshotObjects::All`] they are below a synthetic node `(unreachable)`, and what they hold
//! of live objects is weak: otherwise readers would count garbage among the owners of live objects,
//! and retained sizes would be wrong.

mod edges;
mod json;
mod labels;
mod nodes;
mod numbering;
mod plan;
mod report;
mod roots;
mod strings;

pub use report::HeapSnapshotReport;

use crate::analysis::graph::Graph;
use crate::analysis::object_set::ObjectSet;
use crate::model::heap::Heap;
use json::Out;
use plan::Plan;
use std::io::{self, Write};

/// Options for writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapSnapshotOptions {
    /// The objects to write.
    pub objects: HeapSnapshotObjects,
}

impl HeapSnapshotOptions {
    /// Sets which objects are written.
    #[must_use]
    pub fn objects(self, objects: HeapSnapshotObjects) -> Self {
        Self { objects }
    }
}

/// The objects to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapSnapshotObjects {
    /// The objects that the roots keep alive.
    #[default]
    Live,
    /// Unreachable objects, too.
    All,
}

/// The maximum number of nodes: readers number the fields of all nodes in 32 bits.
pub const MAX_NODES: u64 = u32::MAX as u64 / nodes::FIELDS;
/// The maximum number of edges, for the same reason.
pub const MAX_EDGES: u64 = u32::MAX as u64 / edges::FIELDS;

/// Writes a heap, in one go and without seeking. `live` is what [`crate::analysis::live::live`]
/// finds in `graph`.
///
/// Memory: a quarter of a byte for each object and 4 bytes for each root. With
/// [`HeapSnapshotObjects::All`] another quarter of a byte, and 4 bytes for each object that nothing
/// refers to. Fails when the output cannot be written, and with [`io::ErrorKind::FileTooLarge`],
/// before anything is written, when there are more than [`MAX_NODES`] or [`MAX_EDGES`].
pub fn write<W: Write>(
    heap: &Heap<'_>,
    graph: &Graph<'_>,
    live: &ObjectSet,
    options: &HeapSnapshotOptions,
    out: W,
) -> io::Result<HeapSnapshotReport> {
    let plan = Plan::of(heap, graph, live, options.objects);
    let mut report = HeapSnapshotReport {
        nodes: plan.nodes,
        edges: plan.edges,
        ..HeapSnapshotReport::default()
    };
    if plan.nodes > MAX_NODES || plan.edges > MAX_EDGES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the heap has more objects or references than the heapsnapshot format allows",
        ));
    }
    let mut out = Out::new(out);
    let mut labels = labels::Labels::default();
    json::head(&plan, &mut out)?;
    nodes::write(&plan, &mut out, &mut report)?;
    edges::write(&plan, &mut labels, &mut out, &mut report)?;
    out.text("],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":[")?;
    strings::write(&plan, &labels, &mut out, &mut report)?;
    out.text("]}\n")?;
    out.finish()?;
    report.note_what_is_left_out(&plan);
    Ok(report)
}
