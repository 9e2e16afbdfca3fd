//! Numbers of either byte order.

use crate::bytes::Cursor;
use crate::error::Result;
use byteorder::{BE, LE};

/// Reads numbers in the byte order of the machine that recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) is_big: bool,
}

impl<'a> Words<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8], offset: u64, is_big: bool) -> Self {
        Self { cursor: Cursor::new(bytes, offset), is_big }
    }

    #[inline]
    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64> {
        if self.is_big { self.cursor.u64::<BE>(what) } else { self.cursor.u64::<LE>(what) }
    }

    #[inline]
    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32> {
        if self.is_big { self.cursor.u32::<BE>(what) } else { self.cursor.u32::<LE>(what) }
    }

    #[inline]
    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16> {
        if self.is_big { self.cursor.u16::<BE>(what) } else { self.cursor.u16::<LE>(what) }
    }

    #[inline]
    pub(super) fn take(&mut self, length: u64, what: &'static str) -> Result<&'a [u8]> {
        self.cursor.take(length, what)
    }

    /// A count and that many numbers.
    #[inline]
    pub(super) fn list(&mut self, what: &'static str) -> Result<U64s<'a>> {
        let count = self.u64(what)?;
        Ok(U64s { bytes: self.take(count.saturating_mul(8), what)?, is_big: self.is_big })
    }

    /// A text that ends with its first zero, or with the bytes.
    pub(super) fn text(&self) -> &'a [u8] {
        until_zero(self.cursor.rest())
    }

    /// A length and that many bytes of text, filled with zeros.
    pub(super) fn counted_text(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let length = self.u32(what)?;
        self.take(length.into(), what).map(until_zero)
    }
}

/// The bytes before the first zero.
pub(super) fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

/// Numbers of 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct U64s<'a> {
    bytes: &'a [u8],
    is_big: bool,
}

impl<'a> U64s<'a> {
    #[inline]
    pub(super) fn iter(self) -> impl Iterator<Item = u64> + use<'a> {
        let is_big = self.is_big;
        let (words, _) = self.bytes.as_chunks::<8>();
        words.iter().map(
            move |word| {
                if is_big { u64::from_be_bytes(*word) } else { u64::from_le_bytes(*word) }
            },
        )
    }

    /// The numbers in these bytes.
    pub(super) fn of(bytes: &'a [u8], is_big: bool) -> Self {
        Self { bytes, is_big }
    }
}
