//! The parts of the `info` summary that only heap dumps of Perl, Ruby, Python, V8 or MoarVM have.

use super::facts::{Amount, Phrase, Summary, phrase};
use super::{Info, SnapshotInfo};
use serde::{Serialize, Serializer};

/// What `info` says of a Perl heap.
#[derive(Clone, Debug, Serialize)]
pub struct PmatDetails {
    /// SVs by type, most first. Pads are among the ARRAYs.
    pub by_type: CountsByName,
    pub blessed: u64,
}

impl PmatDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        to.fact("objects", count(snapshot.objects), self.by_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        to.fact("roots", count(snapshot.roots), Phrase::new());
        to.fact("packages", count(snapshot.types), Phrase::new());
        to.fact("blessed", Amount::Count(self.blessed), Phrase::new());
    }
}

/// What `info` says of a Ruby heap.
#[derive(Clone, Debug, Serialize)]
pub struct RubyDetails {
    /// Objects by type, most first.
    pub by_type: CountsByName,
    /// References of each root. An object may be there many times.
    pub roots: CountsByName,
    /// Shapes, which name instance variables.
    pub shapes: u64,
    /// Objects with the place where they were allocated.
    pub allocations_traced: u64,
    /// Lines that were skipped because they are not valid JSON.
    pub malformed_lines: u64,
}

impl RubyDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        to.fact("objects", count(snapshot.objects), self.by_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        to.fact("roots", count(snapshot.roots), self.roots.most());
        to.fact("classes", count(snapshot.types), Phrase::new());
        if self.allocations_traced > 0 {
            let traced = phrase!["objects with an allocation site"];
            to.fact("traced", Amount::Count(self.allocations_traced), traced);
        }
    }
}

/// What `info` says of a Python heap.
#[derive(Clone, Debug, Serialize)]
pub struct PyheapDetails {
    /// Objects by type, most first.
    pub by_type: CountsByName,
    /// Threads that ran Python code.
    pub threads: u64,
    /// Call frames of all threads.
    pub frames: u64,
    /// Garbage collections before the dump, of all generations.
    pub collections: u64,
    /// Whether the dump has texts and numbers.
    pub contents: bool,
    /// The implementation of Python: `cpython` or `pypy`.
    pub implementation: Option<String>,
    pub python: Option<String>,
}

impl PyheapDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let python = [self.implementation.as_deref(), self.python.as_deref()];
        to.head(python.into_iter().flatten().collect::<Vec<_>>().join(" "));
        let count = |number: Option<u64>| Amount::Count(number.unwrap_or(0));
        to.fact("objects", count(snapshot.objects), self.by_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        let external = snapshot.external_bytes.unwrap_or(0);
        if external > 0 {
            to.fact("external", Amount::Bytes(external), phrase!["in memory maps"]);
        }
        to.fact("references", count(snapshot.references), Phrase::new());
        to.fact("types", count(snapshot.types), Phrase::new());
        let frames = Amount::Counted(self.frames, "frame", "frames");
        to.fact("threads", Amount::Count(self.threads), vec![frames]);
        if !self.contents {
            to.remark("contents", phrase!["left out by the writer: no texts and numbers"]);
        }
    }
}

/// Details of a snapshot. Sizes are in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct HeapsnapshotDetails {
    /// Nodes, synthetic ones included.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Number of strings.
    pub strings: u64,
    /// Nodes that V8 has marked as detached from their document.
    pub detached: u64,
    /// Native memory that no node represents. `None` before V8 12.
    pub extra_native_bytes: Option<u64>,
    /// Nodes by type, in the order of the file's list of types.
    pub by_node_type: CountsByName,
    /// Edges by type, in the order of the file's list of types.
    pub by_edge_type: CountsByName,
}

impl HeapsnapshotDetails {
    pub(super) fn summarize(&self, snapshot: &SnapshotInfo, to: &mut Summary) {
        let objects = Amount::Count(snapshot.objects.unwrap_or(0));
        to.fact("objects", objects, self.by_node_type.most());
        to.fact("size", Amount::Bytes(snapshot.shallow_bytes.unwrap_or(0)), Phrase::new());
        if let Some(bytes) = self.extra_native_bytes.filter(|bytes| *bytes > 0) {
            to.fact("native", Amount::Bytes(bytes), phrase!["outside of all objects"]);
        }
        to.fact("references", Amount::Count(self.edges), self.by_edge_type.most());
        to.fact("strings", Amount::Count(self.strings), Phrase::new());
        if self.detached > 0 {
            let why =
                "marked as detached, like DOM nodes outside of their document (top --detached)";
            to.fact("detached", Amount::Count(self.detached), phrase![why]);
        }
    }
}

/// Counts by names of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountsByName(pub Vec<(String, u64)>);

impl Serialize for CountsByName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}

/// Details that only MoarVM's snapshots have. `None`: not in the file, or not readable.
#[derive(Debug, Default, Serialize)]
pub struct MvmheapDetails {
    /// Number of the garbage collection after which the snapshot was taken.
    pub gc_seq_num: Option<u64>,
    /// Managed and unmanaged bytes of all rows, according to the writer.
    pub total_heap_size: Option<u64>,
    pub by_kind: Option<ByKind>,
    /// Strings known after this snapshot.
    pub strings: Option<u64>,
    /// Static frames known after this snapshot.
    pub frames: Option<u64>,
    /// The time of the snapshot, in microseconds of a clock with an arbitrary start.
    pub snap_time: Option<u64>,
    /// Objects, according to the writer.
    pub total_objects: Option<u64>,
    /// Type objects, according to the writer.
    pub total_typeobjects: Option<u64>,
    /// STables, according to the writer.
    pub total_stables: Option<u64>,
    /// Frames, according to the writer, without those directly under call stack roots.
    pub total_frames: Option<u64>,
    /// References, according to the writer.
    pub total_refs: Option<u64>,
    /// The type whose objects take the most bytes.
    pub biggest_type: Option<BiggestType>,
    /// Bytes of the snapshot in the file.
    pub compressed_bytes: u64,
}

/// The number of MoarVM's collectables, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByKind {
    pub object: u64,
    pub type_object: u64,
    pub stable: u64,
    pub frame: u64,
    pub permanent_roots: u64,
    pub instance_roots: u64,
    pub c_stack_roots: u64,
    pub thread_roots: u64,
    pub root: u64,
    pub inter_generational_roots: u64,
    pub call_stack_roots: u64,
}

/// The type whose objects take the most bytes, managed and unmanaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BiggestType {
    /// The debug name of the type. `None` if names are not readable.
    pub name: Option<String>,
    /// The name of its representation.
    pub repr: Option<String>,
    /// Bytes of the objects of the type.
    pub bytes: u64,
    pub count: Option<u64>,
}

pub(super) fn summarize(info: &Info, snapshots: &[SnapshotInfo], to: &mut Summary) {
    if let Some(pid) = info.metadata.iter().find(|datum| datum.key == "pid") {
        to.head(format!("pid {}", pid.value));
    }
    to.headline.push(phrase![Amount::Counted(snapshots.len() as u64, "snapshot", "snapshots")]);
}
