//! The contents of an object besides references (`NonReferenceData`).

use super::class::ClassKind;
use super::str;
use super::word_size::WordSize;
use crate::bytes::{Cursor, latin1};
use crate::error::{Error, Result};
use crate::input::info::TAG_NAMES;
use crate::model::fields::FieldSink;
use byteorder::LE;

/// What the VM writes about the contents of an object, by tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Data<'a> {
    /// Tag 0.
    None,
    /// Tag 1: the object is null.
    Null,
    /// Tag 2: 0 or 1.
    Bool(u64),
    /// Tag 3, decoded: see [`super::word_size`].
    Int(i64),
    /// Tag 4.
    Double(f64),
    /// Tag 5: Latin-1.
    Latin1(Text<'a>),
    /// Tag 6: UTF-16, little endian; lone surrogates occur.
    Utf16(Text<'a>),
    /// Tag 7: the length of a list or of typed data in elements; for a map or set, the number of
    /// used slots.
    Length(u64),
    /// Tag 8: the name of the class, function, library … that a VM object represents. In an export
    /// of DevTools, any string.
    Name(&'a [u8]),
}

/// A string, cut by the VM to 128 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Code units of the string in the heap.
    pub length: u64,
    /// Code units in the file.
    pub truncated_length: u64,
    /// The code units in the file.
    pub units: &'a [u8],
}

impl<'a> Text<'a> {
    fn read(cursor: &mut Cursor<'a>, bytes_per_unit: u64) -> Result<Self> {
        let length = cursor.uleb128("the length of a string")?;
        let truncated_length = cursor.uleb128("the truncated length of a string")?;
        let units = cursor.take(truncated_length.saturating_mul(bytes_per_unit), "a string")?;
        Ok(Self { length, truncated_length, units })
    }
}

impl<'a> Data<'a> {
    /// Reads a tag and its data. The int of a `_Mint` is signed, except in exports of DevTools.
    #[inline(always)]
    pub(super) fn read(
        cursor: &mut Cursor<'a>,
        kind: ClassKind,
        word_size: &mut WordSize,
        exported: bool,
    ) -> Result<Self> {
        let offset = cursor.offset();
        Ok(match cursor.uleb128("the data tag of an object")? {
            0 => Self::None,
            1 => Self::Null,
            2 => Self::Bool(cursor.uleb128("a bool")?),
            3 if kind == ClassKind::Mint && !exported => Self::Int(cursor.sleb128("an int")?),
            3 => {
                let stored = cursor.uleb128("an int")?;
                match kind {
                    ClassKind::Smi => {
                        word_size.see_smi(stored);
                        Self::Int(word_size.smi(stored))
                    }
                    _ => Self::Int(stored.cast_signed()),
                }
            }
            4 => Self::Double(f64::from_bits(cursor.u64::<LE>("a double")?)),
            5 => Self::Latin1(Text::read(cursor, 1)?),
            6 => Self::Utf16(Text::read(cursor, 2)?),
            7 => Self::Length(cursor.uleb128("a length")?),
            8 => Self::Name(str(cursor, "a name")?),
            tag => return Err(unknown_tag(offset, tag)),
        })
    }

    /// The tag, 0 to 8.
    #[inline]
    pub fn tag(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Null => 1,
            Self::Bool(_) => 2,
            Self::Int(_) => 3,
            Self::Double(_) => 4,
            Self::Latin1(_) => 5,
            Self::Utf16(_) => 6,
            Self::Length(_) => 7,
            Self::Name(_) => 8,
        }
    }

    /// The name of the tag, as `cat` prints it.
    pub fn tag_name(&self) -> &'static str {
        TAG_NAMES.get(usize::from(self.tag())).copied().unwrap_or_default()
    }

    /// Passes tag and value to the sink. A string also has its length in the heap and in the file,
    /// in code units.
    pub(super) fn fields<S: FieldSink>(&self, sink: &mut S) {
        sink.unsigned("tag", u64::from(self.tag()));
        sink.text("kind", self.tag_name().as_bytes());
        match *self {
            Self::None | Self::Null => {}
            Self::Bool(value @ (0 | 1)) => sink.boolean("value", value == 1),
            Self::Bool(value) => sink.unsigned("value", value),
            Self::Int(value) => sink.signed("value", value.into()),
            Self::Double(value) => sink.float("value", value),
            Self::Length(value) => sink.unsigned("value", value),
            Self::Name(value) => sink.text("value", value),
            Self::Latin1(text) => {
                text_lengths(text, sink);
                sink.text("value", latin1(text.units).as_bytes());
            }
            Self::Utf16(text) => {
                text_lengths(text, sink);
                let (value, exact) = utf16(text.units);
                sink.text("value", value.as_bytes());
                if !exact {
                    sink.contents("utf16", text.units);
                }
            }
        }
    }
}

fn text_lengths<S: FieldSink>(text: Text<'_>, sink: &mut S) {
    sink.unsigned("length", text.length);
    sink.unsigned("truncated_length", text.truncated_length);
}

#[cold]
fn unknown_tag(offset: u64, tag: u64) -> Error {
    Error::corrupt(offset, format!("unknown data tag {tag}"))
        .expected("a tag of 0 to 8")
        .hint("objects have no length field, so nothing after this can be read")
}

/// Decodes UTF-16LE, and returns whether that was exact; a lone surrogate becomes U+FFFD.
pub fn utf16(units: &[u8]) -> (String, bool) {
    let units = units
        .chunks_exact(2)
        .map(|unit| unit.iter().rev().fold(0, |value, &byte| value << 8 | u16::from(byte)));
    let mut exact = true;
    let text = char::decode_utf16(units)
        .map(|decoded| {
            exact &= decoded.is_ok();
            decoded.unwrap_or(char::REPLACEMENT_CHARACTER)
        })
        .collect();
    (text, exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], kind: ClassKind, exported: bool) -> Result<Data<'_>> {
        Data::read(&mut Cursor::new(bytes, 100), kind, &mut WordSize::default(), exported)
    }

    #[test]
    fn a_mint_is_signed_and_other_ints_are_not() {
        assert_eq!(read(&[3, 0x7f], ClassKind::Mint, false).unwrap(), Data::Int(-1));
        assert_eq!(read(&[3, 0x7f], ClassKind::Smi, false).unwrap(), Data::Int(127));
        assert_eq!(read(&[3, 0x7f], ClassKind::Other, false).unwrap(), Data::Int(127));
    }

    #[test]
    fn devtools_exports_mints_unsigned() {
        // 64 is C0 00 as sleb; DevTools reads that as uleb and writes 40, which as sleb would be
        // -64.
        assert_eq!(read(&[3, 0x40], ClassKind::Mint, true).unwrap(), Data::Int(64));
    }

    #[test]
    fn a_smi_of_ten_bytes_is_negative() {
        let minus_two = [3, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(read(&minus_two, ClassKind::Smi, false).unwrap(), Data::Int(-2));
    }

    #[test]
    fn strings_of_both_widths() {
        let Data::Latin1(text) =
            read(&[5, 0xc8, 1, 2, b'a', 0xe9], ClassKind::String, false).unwrap()
        else {
            panic!()
        };
        assert_eq!((text.length, text.truncated_length, &*latin1(text.units)), (200, 2, "aé"));
        let Data::Utf16(text) =
            read(&[6, 3, 3, 0x3d, 0xd8, 0, 0xde, 0, 0xd8], ClassKind::String, false).unwrap()
        else {
            panic!()
        };
        assert_eq!(utf16(text.units), ("\u{1f600}\u{fffd}".to_string(), false));
    }

    #[test]
    fn a_length_that_overflows_is_a_cut_string() {
        let error = read(
            &[6, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            ClassKind::String,
            false,
        )
        .unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Truncated);
    }

    #[test]
    fn an_unknown_tag_is_reported_where_it_stands() {
        let error = read(&[9, 0], ClassKind::Other, false).unwrap_err();
        assert_eq!(
            (error.offset(), error.headline().as_str()),
            (Some(100), "unknown data tag 9 at offset 0x64 (100)")
        );
    }
}
