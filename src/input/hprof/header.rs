//! The header of a file.

use super::primitives::IdSize;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::origin::Provenance;
use byteorder::BE;

/// The beginning of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// `1.0.1`, `1.0.2` or `1.0.3`.
    pub version: &'static str,
    pub id_size: IdSize,
    /// When the file was written, in milliseconds since 1970.
    pub timestamp: u64,
}

impl Header {
    /// The runtime after the version, and the width of its ids.
    pub(super) fn origin(&self) -> Provenance {
        let runtime = if self.version == "1.0.3" { "Android" } else { "Java" };
        let bits = self.id_size.bytes().saturating_mul(8);
        Provenance::of(runtime).version(format!("{bits}-bit ids"))
    }

    /// Reads the header. Fails when the magic is unknown, the header is truncated, or ids have
    /// neither 4 nor 8 bytes.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let magics = super::SPEC.magics().iter().zip(["1.0.1", "1.0.2", "1.0.3"]);
        let mut matching = magics.filter(|(magic, _)| cursor.rest().starts_with(magic));
        let Some((magic, version)) = matching.next() else { return Err(super::SPEC.wrong_magic()) };
        cursor.take(magic.len() as u64, "the magic")?;
        let offset = cursor.offset();
        let id_size = match cursor.u32::<BE>("the size of an id")? {
            4 => IdSize::Four,
            8 => IdSize::Eight,
            size => {
                return Err(Error::corrupt(offset, "invalid size of ids")
                    .expected("4 or 8")
                    .found(size.to_string()));
            }
        };
        Ok(Self { version, id_size, timestamp: cursor.u64::<BE>("the time stamp")? })
    }
}
