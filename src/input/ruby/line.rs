//! A line: an object, a root or a shape.

use crate::error::{Error, Result};
use crate::input::json::{Number, Scanner, Text, Token, ValueKind};

/// The members of a line that dumptool knows. Absent members are `None` or empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line<'a> {
    /// The type: `ROOT`, `SHAPE`, or that of an object.
    pub kind: &'a [u8],
    /// The address of an object.
    pub address: Option<u64>,
    /// The address of the object's class.
    pub class: Option<u64>,
    /// The addresses in `references`.
    pub references: References<'a>,
    /// Bytes that the object takes.
    pub memsize: u64,
    /// Bytes of the object's slot.
    pub slot_size: Option<u64>,
    /// The number of the object's shape.
    pub shape_id: Option<u64>,
    /// The name of a class or module.
    pub name: Option<Text<'a>>,
    /// The address of the superclass.
    pub superclass: Option<u64>,
    /// Whether a class is the class of one object.
    pub singleton: bool,
    /// The address of the default value of a hash.
    pub default: Option<u64>,
    /// The type of an IMEMO.
    pub imemo_type: Option<Text<'a>>,
    /// The type of a DATA.
    pub structure: Option<Text<'a>>,
    /// The number of elements of an array.
    pub length: Option<u64>,
    /// The number of entries of a hash.
    pub size: Option<u64>,
    /// The number of instance variables.
    pub ivars: Option<u64>,
    /// Bytes of a text.
    pub bytesize: Option<u64>,
    /// A text, or a number as text.
    pub value: Option<Text<'a>>,
    /// Where the object was allocated, if that was traced.
    pub file: Option<Text<'a>>,
    /// The line of `file`.
    pub line: Option<u64>,
    /// The method that allocated the object.
    pub method: Option<Text<'a>>,
    /// The garbage collection after which the object was allocated.
    pub generation: Option<u64>,
    /// The name of a root.
    pub root: Option<Text<'a>>,
    /// The number of a shape.
    pub id: Option<u64>,
    /// The number of the shape that a shape extends.
    pub parent_id: Option<u64>,
    /// The instance variable that a shape adds.
    pub edge_name: Option<Text<'a>>,
    /// The type of a shape.
    pub shape_type: Option<Text<'a>>,
}

impl<'a> Line<'a> {
    /// Reads a line up to its flags.
    ///
    /// # Errors
    /// When the line is not JSON, or a member is not of its type.
    #[inline]
    pub fn read(json: &mut Scanner<'a>) -> Result<Self> {
        let mut line = Self::default();
        json.begin_object()?;
        while let Some(key) = json.key()? {
            match key.raw() {
                b"address" => line.address = Some(address(json)?),
                b"type" => line.kind = json.text()?.raw(),
                b"class" => line.class = optional_address(json)?,
                b"references" => line.references = References { bytes: json.numbers()?.bytes() },
                b"memsize" => line.memsize = json.unsigned()?,
                b"slot_size" => line.slot_size = Some(json.unsigned()?),
                b"shape_id" => line.shape_id = Some(json.unsigned()?),
                b"name" => line.name = text(json)?,
                b"superclass" => line.superclass = optional_address(json)?,
                b"singleton" => line.singleton = json.token()? == Some(Token::Bool(true)),
                b"default" => line.default = optional_address(json)?,
                b"imemo_type" => line.imemo_type = text(json)?,
                b"struct" => line.structure = text(json)?,
                b"length" => line.length = number(json)?,
                b"size" => line.size = number(json)?,
                b"ivars" => line.ivars = number(json)?,
                b"bytesize" => line.bytesize = number(json)?,
                b"value" => line.value = text(json)?,
                b"file" => line.file = text(json)?,
                b"line" => line.line = number(json)?,
                b"method" => line.method = text(json)?,
                b"generation" => line.generation = number(json)?,
                b"root" => line.root = text(json)?,
                b"id" => line.id = number(json)?,
                b"parent_id" => line.parent_id = number(json)?,
                b"edge_name" => line.edge_name = text(json)?,
                b"shape_type" => line.shape_type = text(json)?,
                // The last member. What follows the line's end is another one.
                b"flags" => return Ok(line),
                _ => json.skip()?,
            }
        }
        Ok(line)
    }

    /// Whether the line is an object: it has an address and is not a shape.
    pub fn is_object(&self) -> bool {
        self.address.is_some() && self.kind != b"SHAPE"
    }

    /// The address of the object's class, where the dump has it.
    pub fn real_class(&self) -> Option<u64> {
        self.class.filter(|_| self.kind != b"IMEMO")
    }
}

/// A list of addresses: `"0x…", "0x…"`.
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    bytes: &'a [u8],
}

impl References<'_> {
    /// The number of addresses.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The addresses, in order. What is not an address is left out.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let mut rest = self.bytes;
        std::iter::from_fn(move || {
            loop {
                let start = memchr::memchr(b'x', rest.get(..16).unwrap_or(rest)).or_else(|| memchr::memchr(b'x', rest))?;
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
    optional_address(json)?
        .ok_or_else(|| Error::corrupt(offset, "malformed address").expected("a string such as \"0x7f2f3fbcfca8\""))
}

/// An address; `None` if the value is something else.
#[inline]
fn optional_address(json: &mut Scanner<'_>) -> Result<Option<u64>> {
    let Some(text) = text(json)? else { return Ok(None) };
    let digits = text.raw().strip_prefix(b"0x").unwrap_or_default();
    let (value, length) = hexadecimal(digits);
    Ok(Some(value).filter(|_| length > 0 && length == digits.len()))
}

#[inline]
fn text<'a>(json: &mut Scanner<'a>) -> Result<Option<Text<'a>>> {
    match json.peek()? {
        ValueKind::String => json.text().map(Some),
        _ => json.skip().map(|()| None),
    }
}

#[inline]
fn number(json: &mut Scanner<'_>) -> Result<Option<u64>> {
    match json.peek()? {
        ValueKind::Number => json.number().map(|number: Number<'_>| number.unsigned().ok()),
        _ => json.skip().map(|()| None),
    }
}
