//! An SV: an object of Perl.

use super::layout::{Fields, Layout, Pointers, Words};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

/// The types that this reader distinguishes.
pub mod kind {
    /// A glob: the things that share one name.
    pub const GLOB: u8 = 1;
    /// A string or number, or neither.
    pub const SCALAR: u8 = 2;
    pub const REF: u8 = 3;
    pub const ARRAY: u8 = 4;
    pub const HASH: u8 = 5;
    /// A package.
    pub const STASH: u8 = 6;
    /// A sub.
    pub const CODE: u8 = 7;
    /// A file handle.
    pub const IO: u8 = 8;
    /// The assignable result of functions such as `substr`.
    pub const LVALUE: u8 = 9;
    /// An object of the feature `class`.
    pub const OBJECT: u8 = 16;
    /// A package of the feature `class`.
    pub const CLASS: u8 = 17;
    /// A structure of an extension in C.
    pub const STRUCT: u8 = 0x7f;
}

/// The structures of extensions in C, by number.
pub type Structs<'a> = FxHashMap<u64, Struct<'a>>;

/// A structure of an extension in C.
#[derive(Clone, Debug, Default)]
pub struct Struct<'a> {
    pub name: &'a [u8],
    pub fields: Vec<(&'a [u8], u8)>,
}

/// A value of Perl, whatever its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sv<'a> {
    pub kind: u8,
    pub address: u64,
    /// The number of references that perl counts.
    pub refcount: u32,
    /// Bytes, with those of its body and buffers.
    pub size: u64,
    /// The address of the package that it is blessed into, or 0; of a STRUCT, the structure's
    /// number.
    pub blessed: u64,
    /// The part of the record that only its type has.
    pub own: Fields<'a>,
    pub body: Body<'a>,
}

/// The body of an SV, after its other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    None,
    /// The elements of an ARRAY or the fields of an OBJECT.
    Elements(Pointers<'a>),
    /// The entries of a HASH, STASH or CLASS and their number, then the fields of a CLASS.
    Entries(u64, Cursor<'a>),
    Items(Cursor<'a>),
    Fields(Cursor<'a>),
}

/// Part of the code of a sub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    Constant(u64),
    Glob(u64),
    /// The address of the names of lexicals, if those are an ARRAY.
    PadNames(u64),
    /// The depth of a call and the address of its lexicals.
    Pad(u64, u64),
    /// The position of a lexical and its name.
    PadName(u64, &'a [u8]),
    Other,
}

impl<'a> Item<'a> {
    /// The next item. `None` after the last one.
    #[inline]
    pub fn read(cursor: &mut Cursor<'a>, words: Words) -> Result<Option<Self>> {
        const WHAT: &str = "an item of a CODE";
        let at = cursor.offset();
        Ok(Some(match cursor.u8(WHAT)? {
            0 => return Ok(None),
            1 => Self::Constant(words.pointer(cursor, WHAT)?),
            2 | 4 => {
                words.uint(cursor, WHAT)?;
                Self::Other
            }
            3 => Self::Glob(words.pointer(cursor, WHAT)?),
            5 => {
                let index = words.uint(cursor, WHAT)?;
                let name = words.string(cursor, WHAT)?.unwrap_or_default();
                words.pointer(cursor, WHAT)?;
                Self::PadName(index, name)
            }
            6 | 10 => {
                words.uint(cursor, WHAT)?;
                words.uint(cursor, WHAT)?;
                words.pointer(cursor, WHAT)?;
                Self::Other
            }
            7 => Self::PadNames(words.pointer(cursor, WHAT)?),
            8 => Self::Pad(words.uint(cursor, WHAT)?, words.pointer(cursor, WHAT)?),
            9 => {
                words.uint(cursor, WHAT)?;
                cursor.u8(WHAT)?;
                Self::Other
            }
            kind => return Err(unknown(at, WHAT, kind)),
        }))
    }
}

/// The next field of a CLASS: its position and name. `None` after the last one.
pub fn class_field<'a>(cursor: &mut Cursor<'a>, words: Words) -> Result<Option<(u64, &'a [u8])>> {
    const WHAT: &str = "a field of a CLASS";
    let at = cursor.offset();
    match cursor.u8(WHAT)? {
        0 => Ok(None),
        1 => {
            let index = words.uint(cursor, WHAT)?;
            Ok(Some((index, words.string(cursor, WHAT)?.unwrap_or_default())))
        }
        kind => Err(unknown(at, WHAT, kind)),
    }
}

/// The next entry of a HASH: its key, and the address of its value.
#[inline]
pub fn entry<'a>(cursor: &mut Cursor<'a>, words: Words) -> Result<(&'a [u8], u64)> {
    let key = words.string(cursor, "a key of a HASH")?.unwrap_or_default();
    Ok((key, words.pointer(cursor, "a value of a HASH")?))
}

/// The value of the next field of a STRUCT, which is of this type.
pub fn struct_field(cursor: &mut Cursor<'_>, words: Words, kind: u8) -> Result<u64> {
    const WHAT: &str = "a field of a STRUCT";
    match kind {
        0 => words.pointer(cursor, WHAT),
        1 | 2 => cursor.u8(WHAT).map(u64::from),
        3 => cursor.take(4, WHAT).map(|bytes| words.number(bytes)),
        4 => words.uint(cursor, WHAT),
        kind => Err(unknown(cursor.offset(), WHAT, kind)),
    }
}

/// The error for an unknown type, whose length is therefore unknown too.
#[cold]
pub(super) fn unknown(offset: u64, what: &str, kind: u8) -> Error {
    Error::corrupt(offset, format!("{what} is of an unknown type")).found(format!("{kind:#04x}"))
}

impl<'a> Sv<'a> {
    /// Reads an SV of this type, whose byte has been read. Fails when the input ends, or the type
    /// or an item of the body is unknown.
    #[inline]
    pub fn read(
        cursor: &mut Cursor<'a>,
        kind: u8,
        layout: &Layout,
        structs: &Structs<'a>,
    ) -> Result<Self> {
        let (words, at) = (layout.words, cursor.offset().saturating_sub(1));
        let (common, own) = layout.sv(kind).ok_or_else(|| unknown(at, "an SV", kind))?;
        let common = common.read(cursor, words, "an SV")?;
        let mut header = Cursor::new(common.header, at);
        let address = words.pointer(&mut header, "an SV")?;
        let refcount = words.number(header.take(4, "an SV")?) as u32;
        let size = words.uint(&mut header, "an SV")?;
        let blessed = common.pointers.get(0);
        let own = own.read(cursor, words, "an SV")?;
        let length = words.number(own.header.get(..words.uint_size()).unwrap_or_default());
        let start = *cursor;
        let body = match kind {
            kind::ARRAY | kind::OBJECT => {
                Body::Elements(words.pointers(cursor, length, "the elements of an ARRAY")?)
            }
            kind::HASH | kind::STASH | kind::CLASS => {
                for _ in 0..length {
                    entry(cursor, words)?;
                }
                while kind == kind::CLASS && class_field(cursor, words)?.is_some() {}
                Body::Entries(length, start)
            }
            kind::CODE => {
                while Item::read(cursor, words)?.is_some() {}
                Body::Items(start)
            }
            kind::STRUCT => {
                let structure = structs.get(&blessed).ok_or_else(|| {
                    Error::corrupt(at, "an object of a structure that was not described")
                })?;
                for (_, kind) in &structure.fields {
                    struct_field(cursor, words, *kind)?;
                }
                Body::Fields(start)
            }
            _ => Body::None,
        };
        Ok(Self { kind, address, refcount, size, blessed, own, body })
    }

    /// The address of the package that it is blessed into, or 0.
    pub fn package(&self) -> u64 {
        if self.kind == kind::STRUCT { 0 } else { self.blessed }
    }

    /// The flags of a SCALAR, REF, ARRAY or CODE.
    pub fn flags(&self, words: Words) -> u8 {
        let at = match self.kind {
            kind::ARRAY | kind::CODE => words.uint_size(),
            _ => 0,
        };
        self.own.header.get(at).copied().unwrap_or(0)
    }

    /// The name of the type, as Devel::MAT has it.
    pub fn type_name(&self, words: Words) -> &'static str {
        match self.kind {
            kind::GLOB => "GLOB",
            // It has neither an integer nor a number nor a string.
            kind::SCALAR if self.flags(words) & 0x0d == 0 => "UNDEF",
            kind::SCALAR => "SCALAR",
            kind::REF => "REF",
            kind::ARRAY => "ARRAY",
            kind::HASH => "HASH",
            kind::STASH => "STASH",
            kind::CODE => "CODE",
            kind::IO => "IO",
            kind::LVALUE => "LVALUE",
            10 => "REGEXP",
            11 => "FORMAT",
            12 => "INVLIST",
            13 => "UNDEF",
            14 | 15 => "BOOL",
            kind::OBJECT => "OBJECT",
            kind::CLASS => "CLASS",
            kind::STRUCT => "STRUCT",
            _ => "UNKNOWN",
        }
    }
}
