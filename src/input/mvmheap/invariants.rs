//! What `check` verifies.

use crate::error::Result;
use crate::input::Options;
use crate::input::check::Findings;

/// Checks every invariant.
///
/// # Errors
/// When the magic is none of this format.
pub fn check(_bytes: &[u8], _options: Options<'_>) -> Result<Findings> {
    Ok(Findings::default())
}
