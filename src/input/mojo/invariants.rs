use crate::input::Options; use crate::input::check::Findings; use crate::error::Result;
pub fn check(_: &[u8], _: Options<'_>) -> Result<Findings> { todo!() }
