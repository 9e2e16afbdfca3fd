//! JSON that is written as it comes, without a document in memory.

use super::quantity::decimal;
use super::syntax::is_disruptive;
use crate::model::profile::Unit;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

pub(super) fn value(out: &mut impl Write, before: &str, value: &impl Serialize) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    line(out, value)
}

/// Writes an amount. Those in [`Unit::MILLIONTHS`] become decimal numbers.
pub(super) fn amount(out: &mut impl Write, amount: i64, unit: &Unit) -> io::Result<()> {
    if !unit.is_millionths() {
        return integer(out, amount);
    }
    let (sign, magnitude) = (if amount < 0 { "-" } else { "" }, amount.unsigned_abs());
    write!(out, "{sign}{}", decimal(magnitude, |whole| whole.to_string()))
}

/// Writes a JSON value on a line of its own.
///
/// JSON allows characters in texts that some readers take for line ends (U+2028 for Python's
/// `splitlines`) or that control a terminal. They are escaped, which makes no difference to a
/// parser.
pub fn line(out: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Escaping(CompactFormatter)))?;
    Ok(())
}

/// Writes a JSON value over several lines, indented, with the same characters escaped as in
/// [`line()`].
pub fn pretty(out: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Escaping(PrettyFormatter::new())))?;
    Ok(())
}

/// The text that [`line`] writes.
pub(crate) fn text(value: &serde_json::Value) -> String {
    let mut text = Vec::new();
    // Writing to a vector cannot fail, and JSON is UTF-8.
    let _ = line(&mut text, value);
    String::from_utf8(text).unwrap_or_default()
}

/// A formatter whose texts have no disruptive characters.
struct Escaping<F>(F);

/// Passes calls on to the formatter that decides about white space.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty)?);)*) => {
        $(
            #[inline]
            fn $name<W: Write + ?Sized>(&mut self, out: &mut W $(, $argument: $type)?) -> io::Result<()> {
                self.0.$name(out $(, $argument)?)
            }
        )*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    pass_on! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // The first bytes in UTF-8 of all disruptive characters that JSON does not escape itself.
        if !fragment.bytes().any(|byte| matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef)) {
            return out.write_all(fragment.as_bytes());
        }
        for part in fragment.split_inclusive(is_disruptive) {
            match part.char_indices().next_back() {
                Some((at, end)) if is_disruptive(end) => {
                    write!(out, "{}\\u{:04x}", &part[..at], u32::from(end))?
                }
                _ => out.write_all(part.as_bytes())?,
            }
        }
        Ok(())
    }
}

/// Writes an array whose elements write themselves.
pub(super) fn array<T, W: Write>(
    out: &mut W,
    before: &str,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    out.write_all(b"[")?;
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        each(out, item)?;
    }
    out.write_all(b"]")
}

pub(crate) fn integer(out: &mut impl Write, number: i64) -> io::Result<()> {
    out.write_all(itoa::Buffer::new().format(number).as_bytes())
}

/// A JSON object whose fields are written one after another.
pub(super) struct Object<'w, W: Write> {
    out: &'w mut W,
    has_fields: bool,
}

impl<'w, W: Write> Object<'w, W> {
    pub(super) fn open(out: &'w mut W) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Self { out, has_fields: false })
    }

    /// Writes a key. Its value has to follow.
    fn key(&mut self, key: &str) -> io::Result<&mut W> {
        value(self.out, if self.has_fields { "," } else { "" }, &key)?;
        self.has_fields = true;
        self.out.write_all(b":")?;
        Ok(self.out)
    }

    pub(super) fn field(&mut self, key: &str, contents: impl Serialize) -> io::Result<()> {
        value(self.key(key)?, "", &contents)
    }

    /// Writes an array whose elements write themselves.
    pub(super) fn array<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        each: impl FnMut(&mut W, T) -> io::Result<()>,
    ) -> io::Result<()> {
        array(self.key(key)?, "", items, each)
    }

    pub(super) fn object(&mut self, key: &str) -> io::Result<Object<'_, W>> {
        Object::open(self.key(key)?)
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.out.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_line_or_controls_a_terminal() {
        let texts = [
            "plain",
            "\u{2028}",
            "a\u{2028}b\u{2029}\u{85}é€\u{2027}",
            "quote \" \n and \u{85}\u{9b}31m",
            "\u{7f}\u{202e}\u{61c}",
        ];
        for text in texts {
            let (mut one, mut several) = (Vec::new(), Vec::new());
            line(&mut one, text).unwrap();
            pretty(&mut several, text).unwrap();
            for json in [one, several] {
                let json = String::from_utf8(json).unwrap();
                assert!(!json.contains(is_disruptive), "{json}");
                assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            }
        }
        let mut out = Vec::new();
        line(&mut out, "a\u{85}\u{2028}b").unwrap();
        assert_eq!(out, br#""a\u0085\u2028b""#);
    }
}
