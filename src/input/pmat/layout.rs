//! The header of a file: the sizes of its numbers and of the parts of its records.

use super::SPEC;
use crate::bytes::Cursor;
use crate::error::{Error, Result};

/// The sizes and the byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    big_endian: bool,
    uint: u8,
    pointer: u8,
}

impl Words {
    /// The number in up to eight bytes.
    #[inline]
    pub fn number(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }

    /// Reads an integer of the size of perl's UV.
    #[inline]
    pub fn uint(self, cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
        cursor.take(self.uint.into(), what).map(|bytes| self.number(bytes))
    }

    /// Reads an address.
    #[inline]
    pub fn pointer(self, cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
        cursor.take(self.pointer.into(), what).map(|bytes| self.number(bytes))
    }

    /// Reads this many PTRs.
    pub fn pointers<'a>(
        self,
        cursor: &mut Cursor<'a>,
        count: u64,
        what: &'static str,
    ) -> Result<Pointers<'a>> {
        let bytes = cursor.take(count.saturating_mul(self.pointer.into()), what)?;
        Ok(Pointers { bytes, words: self })
    }

    /// Reads a STR. `None` if it is undefined.
    #[inline]
    pub fn string<'a>(
        self,
        cursor: &mut Cursor<'a>,
        what: &'static str,
    ) -> Result<Option<&'a [u8]>> {
        let length = self.uint(cursor, what)?;
        let undefined = if self.uint == 8 { u64::MAX } else { u32::MAX.into() };
        if length == undefined { Ok(None) } else { cursor.take(length, what).map(Some) }
    }

    /// Bytes of an integer.
    pub fn uint_size(self) -> usize {
        self.uint.into()
    }

    /// Bytes of an address.
    pub fn pointer_size(self) -> u8 {
        self.pointer
    }

    /// Whether the most significant byte comes first.
    pub fn is_big_endian(self) -> bool {
        self.big_endian
    }
}

/// Addresses, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointers<'a> {
    bytes: &'a [u8],
    words: Words,
}

impl<'a> Pointers<'a> {
    /// The addresses in the order of the file; 0 for none.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.bytes
            .chunks_exact(self.words.pointer.max(1).into())
            .map(move |bytes| self.words.number(bytes))
    }

    /// The pointer at an index; 0 where the file has fewer.
    pub fn get(self, index: usize) -> u64 {
        self.iter().nth(index).unwrap_or(0)
    }
}

/// The sizes of a part of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    header: u8,
    pointers: u8,
    strings: u8,
}

/// The fields of an SV that its kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    /// Numbers, one after the other.
    pub header: &'a [u8],
    pub pointers: Pointers<'a>,
    /// The first two strings. No known record has more.
    pub strings: [Option<&'a [u8]>; 2],
}

impl Part {
    fn read_all(cursor: &mut Cursor<'_>) -> Result<Vec<Self>> {
        let count = cursor.u8("a table of sizes")?;
        let bytes = cursor.take(u64::from(count).saturating_mul(3), "a table of sizes")?;
        let (rows, _) = bytes.as_chunks();
        Ok(rows
            .iter()
            .map(|&[header, pointers, strings]| Self { header, pointers, strings })
            .collect())
    }

    /// Reads a part of these sizes.
    #[inline]
    pub fn read<'a>(
        self,
        cursor: &mut Cursor<'a>,
        words: Words,
        what: &'static str,
    ) -> Result<Fields<'a>> {
        let header = cursor.take(self.header.into(), what)?;
        let pointers = words.pointers(cursor, self.pointers.into(), what)?;
        let mut strings = [None; 2];
        for index in 0..usize::from(self.strings) {
            let string = words.string(cursor, what)?;
            strings.get_mut(index).into_iter().for_each(|place| *place = string);
        }
        Ok(Fields { header, pointers, strings })
    }
}

/// The sizes that the header states.
#[derive(Clone, Debug)]
pub struct Layout {
    pub words: Words,
    /// Whether the perl was built with threads: constants are in pads then.
    pub threads: bool,
    /// The minor version of the format.
    pub minor: u8,
    /// The version of perl: revision, version, subversion.
    pub perl: [u32; 3],
    /// The parts of SVs by type. The first is common to all.
    svs: Vec<Part>,
    extensions: Vec<Part>,
    contexts: Vec<Part>,
    /// The addresses of undef, yes and no, which are not objects of the file.
    pub immortals: [u64; 3],
}

impl Layout {
    /// Reads the header and the addresses of undef, yes and no. Fails when the bytes are not a Perl
    /// heap dump, the header is cut, or its version is unknown.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        SPEC.check_magic(cursor.rest())?;
        cursor.take(4, "the magic")?;
        let at = cursor.offset();
        let flags = cursor.u8("the flags")?;
        if flags & !0x1f != 0 {
            return Err(Error::unsupported(at, "unknown flags")
                .expected("0x1f at most")
                .found(format!("{flags:#x}")));
        }
        let at = cursor.offset();
        let version = [cursor.u8("a zero")?, cursor.u8("the version")?, cursor.u8("the version")?];
        let [0, 0, minor @ 2..=5] = version else {
            return Err(Error::unsupported(at, "unknown version of the format")
                .expected("0.2 to 0.5")
                .found(format!("{}.{}", version[1], version[2])));
        };
        let size = |flag: u8| if flags & flag == 0 { 4 } else { 8 };
        let words = Words { big_endian: flags & 1 != 0, uint: size(2), pointer: size(4) };
        let perl = words.number(cursor.take(4, "the version of perl")?) as u32;
        let at = cursor.offset();
        let svs = Part::read_all(cursor)?;
        let least = words.pointer.saturating_add(words.uint).saturating_add(4);
        if svs.first().is_none_or(|common| common.header < least) {
            return Err(Error::corrupt(at, "the common part of SVs is too short")
                .expected(format!("at least {least} bytes")));
        }
        for kind in [4, 5, 6, 16, 17] {
            if svs.get(kind).is_some_and(|part| part.header < words.uint) {
                return Err(Error::corrupt(at, format!("SVs of type {kind} have no length")));
            }
        }
        let extensions = match minor {
            4.. => Part::read_all(cursor)?,
            _ => vec![Part { header: 2, pointers: 2, strings: 0 }],
        };
        let contexts = Part::read_all(cursor)?;
        let mut immortals = [0; 3];
        for address in &mut immortals {
            *address = words.pointer(cursor, "the addresses of undef, yes and no")?;
        }
        let perl = [perl >> 24, perl >> 16 & 0xff, perl & 0xffff];
        let threads = flags & 0x10 != 0;
        Ok(Self { words, threads, minor, perl, svs, extensions, contexts, immortals })
    }

    /// The part that all SVs have, and the own part of a type.
    pub(super) fn sv(&self, kind: u8) -> Option<(Part, Part)> {
        let common = *self.svs.first()?;
        match kind {
            0x7f | 0xff => Some((common, Part::default())),
            _ => Some((common, *self.svs.get(usize::from(kind))?)),
        }
    }

    pub(super) fn extension(&self, kind: u8) -> Option<Part> {
        self.extensions.get(usize::from(kind.checked_sub(0x80)?)).copied()
    }

    /// The part that all contexts have, and the own part of a type.
    pub(super) fn context(&self, kind: u8) -> Option<(Part, Part)> {
        Some((*self.contexts.first()?, *self.contexts.get(usize::from(kind))?))
    }
}
