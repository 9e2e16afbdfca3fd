//! Placeholder until the reader lands.
use super::check::Findings;
use super::info::Info;
use super::{Options, Visitor};
use crate::error::{Error, Result};
/// Title.
pub const TITLE: &str = "go";
/// Versions.
pub const VERSIONS: &str = "";
/// Extensions.
pub const EXTENSIONS: &[&str] = &["go"];
/// Magics.
pub const MAGICS: &[&[u8]] = &[b"go1.3 heap dump\n", b"go1.4 heap dump\n", b"go1.5 heap dump\n", b"go1.6 heap dump\n", b"go1.7 heap dump\n"];
/// Records.
pub const RECORD_NAMES: &[&str] = &[];
/// Details.
#[derive(Debug, serde::Serialize)]
pub struct Details {}
/// Info.
pub fn info(_: &[u8], _: Options<'_>) -> Result<Info> { Err(Error::unsupported(0, "not yet")) }
/// Records.
pub fn for_each_record(_: &[u8], _: Options<'_>, _: &mut impl Visitor) -> Result<()> { Err(Error::unsupported(0, "not yet")) }
/// Check.
pub fn check(_: &[u8], _: Options<'_>) -> Result<Findings> { Err(Error::unsupported(0, "not yet")) }
