//! What `check` says of a file.
use super::records::Records;
use crate::error::Result;
use crate::input::Options;
use crate::input::check::Findings;
pub fn check(bytes: &[u8], _options: Options<'_>) -> Result<Findings> {
    Records::new(bytes)?;
    Ok(Findings::default())
}
