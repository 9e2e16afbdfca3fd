//! The parts of the `info` summary that only V8 heap snapshots have.

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

/// Counts by names of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountsByName(pub Vec<(String, u64)>);

impl Serialize for CountsByName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}
