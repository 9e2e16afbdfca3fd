//! The parts of the `info` summary that only Ruby heap dumps have.

use super::CountsByName;
use serde::Serialize;

/// Details of a dump.
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
