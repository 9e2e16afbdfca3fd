//! Words of memory.

/// Words of the process that was dumped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The size of a word: 4 or 8 bytes.
    pub(super) size: u64,
    pub(super) big_endian: bool,
}

impl Words {
    /// The word at an offset. `None` if the contents end before its end.
    #[inline]
    pub(super) fn at(self, contents: &[u8], offset: u64) -> Option<u64> {
        let rest = contents.get(usize::try_from(offset).ok()?..)?;
        Some(match (self.size, self.big_endian) {
            (4, false) => u32::from_le_bytes(*rest.first_chunk()?).into(),
            (4, true) => u32::from_be_bytes(*rest.first_chunk()?).into(),
            (_, false) => u64::from_le_bytes(*rest.first_chunk()?),
            (_, true) => u64::from_be_bytes(*rest.first_chunk()?),
        })
    }
}
