//! The parts of the `info` summary that only Perl heap dumps have.

use super::CountsByName;
use serde::Serialize;

/// Details of a dump.
#[derive(Clone, Debug, Serialize)]
pub struct PmatDetails {
    /// SVs by type, most first. Pads are among the ARRAYs.
    pub by_type: CountsByName,
    /// SVs that are blessed.
    pub blessed: u64,
}
