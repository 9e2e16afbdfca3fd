use crate::input::Options; use crate::input::info::Info; use crate::error::Result;
pub fn info(_: &[u8], _: Options<'_>) -> Result<Info> { todo!() }
