//! The header: everything in front of the classes.

use super::{SPEC, str};
use crate::bytes::Cursor;
use crate::error::Result;

/// The header, as the VM wrote it. Sizes are in bytes and describe the heap at the time of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// 0 in every file seen.
    pub flags: u64,
    /// Name of the isolate (`main`), not of the program.
    pub name: &'a [u8],
    /// Used bytes of the heap and of its image pages; at least the sum over the objects in every
    /// file seen.
    pub shallow_size: u64,
    pub capacity: u64,
    /// External bytes, rounded to words; counted differently from the properties when there are
    /// several isolates.
    pub external_size: u64,
    /// The number of classes that follow.
    pub class_count: u64,
}

impl<'a> Header<'a> {
    /// Reads the header and leaves the cursor at the first class. Fails when the magic is not
    /// `dartheap` or the header is truncated.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let magic = cursor.rest();
        if !SPEC
            .magics()
            .iter()
            .any(|known| known.starts_with(magic.get(..known.len()).unwrap_or(magic)))
        {
            return Err(super::SPEC.wrong_magic());
        }
        cursor.take(8, "the magic")?;
        Ok(Self {
            flags: cursor.uleb128("the flags")?,
            name: str(cursor, "the isolate's name")?,
            shallow_size: cursor.uleb128("shallowSize")?,
            capacity: cursor.uleb128("capacity")?,
            external_size: cursor.uleb128("externalSize")?,
            class_count: cursor.uleb128("classCount")?,
        })
    }
}
