//! The parts of the `info` summary that only V8 heap snapshots have.

use super::SnapshotInfo;
use super::facts::{Amount, Phrase, Summary, phrase};
use serde::{Serialize, Serializer};

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
