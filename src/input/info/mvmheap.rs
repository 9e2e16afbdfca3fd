//! `info` for MoarVM's snapshots only.

use super::facts::{Amount, Summary, phrase};
use super::{Info, SnapshotInfo};
use serde::Serialize;

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
