//! A line: an object, a root or a shape.

use crate::error::{Error, Result};
use crate::input::json::{Scanner, Text, Token};
use crate::input::json_lines::JsonLine;

/// The members of a line that dumptool knows. Absent members are `None` or empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line<'a> {
    /// The type: `ROOT`, `SHAPE`, or that of an object.
    pub kind: &'a [u8],
    pub address: Option<u64>,
    /// The address of the object's class.
    pub class: Option<u64>,
    pub references: References<'a>,
    /// Bytes that the object takes.
    pub memsize: u64,
    pub slot_size: Option<u64>,
    /// The number of the object's shape.
    pub shape_id: Option<u64>,
    pub name: Option<Text<'a>>,
    pub superclass: Option<u64>,
    /// Whether a class is the class of one object.
    pub singleton: bool,
    /// The address of the default value of a hash.
    pub default: Option<u64>,
    pub imemo_type: Option<Text<'a>>,
    /// The type of a DATA.
    pub structure: Option<Text<'a>>,
    /// The number of elements of an array.
    pub length: Option<u64>,
    /// The number of entries of a hash.
    pub size: Option<u64>,
    /// The number of instance variables.
    pub ivars: Option<u64>,
    pub bytesize: Option<u64>,
    /// A text, or a number as text.
    pub value: Option<Text<'a>>,
    /// The place where the object was allocated, if that was traced.
    pub file: Option<Text<'a>>,
    pub line: Option<u64>,
    /// The method that allocated the object.
    pub method: Option<Text<'a>>,
    /// The garbage collection after which the object was allocated.
    pub generation: Option<u64>,
    pub root: Option<Text<'a>>,
    pub id: Option<u64>,
    /// The number of the shape that a shape extends.
    pub parent_id: Option<u64>,
    /// The instance variable that a shape adds.
    pub edge_name: Option<Text<'a>>,
    pub shape_type: Option<Text<'a>>,
}

impl<'a> JsonLine<'a> for Line<'a> {
    /// Reads a line up to its flags.
    #[inline]
    fn read(json: &mut Scanner<'a>) -> Result<Self> {
        let mut line = Self::default();
        json.begin_object()?;
        while let Some(key) = json.key()? {
            match exact(key.raw()) {
                keys::ADDRESS => line.address = Some(address(json)?),
                keys::TYPE => line.kind = json.text()?.raw(),
                keys::CLASS => line.class = optional_address(json)?,
                keys::REFERENCES => line.references = References { bytes: json.numbers()?.bytes() },
                keys::MEMSIZE => line.memsize = json.unsigned()?,
                keys::SLOT_SIZE => line.slot_size = Some(json.unsigned()?),
                keys::SHAPE_ID => line.shape_id = Some(json.unsigned()?),
                keys::NAME => line.name = json.optional_text()?,
                keys::SUPERCLASS => line.superclass = optional_address(json)?,
                keys::SINGLETON => line.singleton = json.token()? == Some(Token::Bool(true)),
                keys::DEFAULT => line.default = optional_address(json)?,
                keys::IMEMO_TYPE => line.imemo_type = json.optional_text()?,
                keys::STRUCT => line.structure = json.optional_text()?,
                keys::LENGTH => line.length = json.optional_unsigned()?,
                keys::SIZE => line.size = json.optional_unsigned()?,
                keys::IVARS => line.ivars = json.optional_unsigned()?,
                keys::BYTESIZE => line.bytesize = json.optional_unsigned()?,
                keys::VALUE => line.value = json.optional_text()?,
                keys::FILE => line.file = json.optional_text()?,
                keys::LINE => line.line = json.optional_unsigned()?,
                keys::METHOD => line.method = json.optional_text()?,
                keys::GENERATION => line.generation = json.optional_unsigned()?,
                keys::ROOT => line.root = json.optional_text()?,
                keys::ID => line.id = json.optional_unsigned()?,
                keys::PARENT_ID => line.parent_id = json.optional_unsigned()?,
                keys::EDGE_NAME => line.edge_name = json.optional_text()?,
                keys::SHAPE_TYPE => line.shape_type = json.optional_text()?,
                // Flags are the last member; after the end of the line comes another line.
                keys::FLAGS => return Ok(line),
                _ => json.skip()?,
            }
        }
        Ok(line)
    }

    fn is_known(&self) -> bool {
        !self.kind.is_empty()
    }
}

impl Line<'_> {
    /// Whether the line is an object: it has an address and is not a shape.
    pub fn is_object(&self) -> bool {
        self.address.is_some() && self.kind != b"SHAPE"
    }

    /// The address of the object's class, where the dump has it.
    pub fn real_class(&self) -> Option<u64> {
        self.class.filter(|_| self.kind != b"IMEMO")
    }
}

/// The keys that are known, as numbers: comparing those is several times as fast as comparing
/// texts.
mod keys {
    pub(super) const ADDRESS: (u64, u64, usize) = super::exact(b"address");
    pub(super) const TYPE: (u64, u64, usize) = super::exact(b"type");
    pub(super) const CLASS: (u64, u64, usize) = super::exact(b"class");
    pub(super) const REFERENCES: (u64, u64, usize) = super::exact(b"references");
    pub(super) const MEMSIZE: (u64, u64, usize) = super::exact(b"memsize");
    pub(super) const SLOT_SIZE: (u64, u64, usize) = super::exact(b"slot_size");
    pub(super) const SHAPE_ID: (u64, u64, usize) = super::exact(b"shape_id");
    pub(super) const NAME: (u64, u64, usize) = super::exact(b"name");
    pub(super) const SUPERCLASS: (u64, u64, usize) = super::exact(b"superclass");
    pub(super) const SINGLETON: (u64, u64, usize) = super::exact(b"singleton");
    pub(super) const DEFAULT: (u64, u64, usize) = super::exact(b"default");
    pub(super) const IMEMO_TYPE: (u64, u64, usize) = super::exact(b"imemo_type");
    pub(super) const STRUCT: (u64, u64, usize) = super::exact(b"struct");
    pub(super) const LENGTH: (u64, u64, usize) = super::exact(b"length");
    pub(super) const SIZE: (u64, u64, usize) = super::exact(b"size");
    pub(super) const IVARS: (u64, u64, usize) = super::exact(b"ivars");
    pub(super) const BYTESIZE: (u64, u64, usize) = super::exact(b"bytesize");
    pub(super) const VALUE: (u64, u64, usize) = super::exact(b"value");
    pub(super) const FILE: (u64, u64, usize) = super::exact(b"file");
    pub(super) const LINE: (u64, u64, usize) = super::exact(b"line");
    pub(super) const METHOD: (u64, u64, usize) = super::exact(b"method");
    pub(super) const GENERATION: (u64, u64, usize) = super::exact(b"generation");
    pub(super) const ROOT: (u64, u64, usize) = super::exact(b"root");
    pub(super) const ID: (u64, u64, usize) = super::exact(b"id");
    pub(super) const PARENT_ID: (u64, u64, usize) = super::exact(b"parent_id");
    pub(super) const EDGE_NAME: (u64, u64, usize) = super::exact(b"edge_name");
    pub(super) const SHAPE_TYPE: (u64, u64, usize) = super::exact(b"shape_type");
    pub(super) const FLAGS: (u64, u64, usize) = super::exact(b"flags");
}

/// The first and the last eight bytes of a key of up to 16, and its length, which no other key has.
#[inline]
const fn exact(key: &[u8]) -> (u64, u64, usize) {
    match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) if key.len() <= 16 => {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last), key.len())
        }
        (None, None) => {
            let (mut word, mut rest) = (0u64, key);
            while let [byte, after @ ..] = rest {
                word = word << 8 | *byte as u64;
                rest = after;
            }
            (word, 0, key.len())
        }
        _ => (0, 0, usize::MAX),
    }
}

/// A list of addresses: `"0x…", "0x…"`.
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    bytes: &'a [u8],
}

impl References<'_> {
    pub(super) fn len(&self) -> usize {
        self.iter().count()
    }

    /// The addresses, in order. Elements that are not addresses are dropped.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let mut rest = self.bytes;
        std::iter::from_fn(move || {
            loop {
                let start = memchr::memchr(b'x', rest.get(..16).unwrap_or(rest))
                    .or_else(|| memchr::memchr(b'x', rest))?;
                let digits = rest.get(start.wrapping_add(1)..).unwrap_or_default();
                let (value, length) = hexadecimal(digits);
                rest = digits.get(length..).unwrap_or_default();
                if length > 0 {
                    return Some(value);
                }
            }
        })
    }
}

/// The number at the beginning of the bytes, and its digits.
#[inline]
fn hexadecimal(bytes: &[u8]) -> (u64, usize) {
    let (mut value, mut length) = (0u64, 0usize);
    for &byte in bytes.iter().take(16) {
        let digit = match byte {
            b'0'..=b'9' => byte & 15,
            b'a'..=b'f' | b'A'..=b'F' => (byte & 15).wrapping_add(9),
            _ => break,
        };
        value = value << 4 | u64::from(digit);
        length = length.wrapping_add(1);
    }
    (value, length)
}

/// An address that must be there.
fn address(json: &mut Scanner<'_>) -> Result<u64> {
    let offset = json.offset();
    optional_address(json)?.ok_or_else(|| {
        Error::corrupt(offset, "malformed address").expected("a string such as \"0x7f2f3fbcfca8\"")
    })
}

/// An address; `None` if the value is something else.
#[inline]
fn optional_address(json: &mut Scanner<'_>) -> Result<Option<u64>> {
    let Some(text) = json.optional_text()? else { return Ok(None) };
    let digits = text.raw().strip_prefix(b"0x").unwrap_or_default();
    let (value, length) = hexadecimal(digits);
    Ok(Some(value).filter(|_| length > 0 && length == digits.len()))
}
